/**
 * `npm run demo`: a whole production on this machine, for viewing. It runs a private PKI, the ADN simulator with mutual
 * TLS, and the service. A municipality with three providers issues ten signed notes in sequence. It stays up until
 * Ctrl-C; `--encerrar` makes it end by itself. `--pasta DIR` names another folder than `data-demo`, `PORT` another
 * port.
 */
import { createPrivateKey } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { certificatesOfPem } from '../src/documents/certificate.ts';
import { type Signer, signXml } from '../src/documents/signing.ts';
import { zoneOf } from '../src/fiscal/catalogs/catalogs.ts';
import { momentIn } from '../src/fiscal/moment.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { lockFolder } from '../src/simulador/lock.ts';
import type { CertificateFiles } from '../src/subjects/municipios/make-pki.ts';
import {
  openStage,
  ROOT,
  type Running,
  registerTenant,
  type Simulator,
  startService,
  startSimulator,
} from './stage.ts';

const SLUG = 'exemplo';
const EXAMPLE = 'examples/dps-producao.xml';
const IBGE = '3550308';
const NOTES = 10;
const PORT = 8080;
const AUTHORISED_WITHIN_MS = 30_000;
const PROVIDERS = [
  { documento: '11222333000181', razaoSocial: 'Padaria e Confeitaria Exemplo Ltda' },
  { documento: '12345678000195', razaoSocial: 'Oficina de Software Exemplo Ltda' },
  { documento: '11444777000161', razaoSocial: 'Consultoria Exemplo S/A' },
];

const LOCK = { name: 'demonstracao.pid', who: 'outra demonstração', option: '--pasta' };
/** The folder of the PKI and of the simulator's data. */
const STAGE = 'palco';

type Wishes = { readonly encerrar: boolean; readonly pasta: string };

let service: Running | undefined;
let simulator: Simulator | undefined;
let unlock: (() => Promise<void>) | undefined;
try {
  const wishes = wishesOf(process.argv.slice(2));
  unlock = await takeFolder(wishes.pasta);
  await demonstrate(wishes);
} catch (error) {
  console.error(`\nA demonstração parou: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await service?.end('SIGINT');
  await simulator?.end('SIGINT');
  await unlock?.();
}

function wishesOf(args: readonly string[]): Wishes {
  try {
    const options = {
      encerrar: { type: 'boolean', default: false },
      pasta: { type: 'string', default: path.join(ROOT, 'data-demo') },
    } as const;
    const { encerrar, pasta } = parseArgs({ args: [...args], options }).values;
    return { encerrar, pasta: path.resolve(pasta) };
  } catch {
    throw new Error(`não entendi ${args.join(' ')}. Há duas opções: npm run demo -- --encerrar --pasta PASTA`);
  }
}

/**
 * Every demonstration begins anew: the last one made the content of its folder. A running demonstration is left alone,
 * because it uses that content.
 */
async function takeFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const there = await readdir(folder);
  if (there.length > 0 && !there.includes(STAGE) && !there.includes(LOCK.name)) {
    throw new Error(`${folder} tem arquivos que não são de uma demonstração; escolha outra pasta.`);
  }
  await chmod(folder, 0o755);
  const free = await lockFolder(folder, LOCK);
  const left = there.filter((name) => name !== LOCK.name);
  await Promise.all(left.map((name) => rm(path.join(folder, name), { recursive: true, force: true })));
  return free;
}

async function demonstrate({ pasta: folder, encerrar }: Wishes): Promise<void> {
  say('Fazendo uma "ICP-Brasil" de teste: raiz, intermediária, três prestadores, o município…');
  const stage = await openStage(
    path.join(folder, STAGE),
    PROVIDERS.map(({ documento }) => documento),
    Date.now(),
  );
  say(`  ${path.relative(process.cwd(), stage.pki.pasta)}`);
  say('Subindo o ADN simulado, com TLS mútuo…');
  simulator = await startSimulator(stage);
  say(`  ${simulator.address}`);
  say('Subindo o serviço, com o PostgreSQL embutido…');
  const env = { NFSE_DATA_DIR: folder, PORT: process.env['PORT'] ?? String((await isFree(PORT)) ? PORT : 0) };
  service = await startService(env);
  say(`  ${service.address}`);
  say(`Cadastrando o município ${SLUG}, em produção, e os três prestadores…`);
  await registerTenant(stage, { slug: SLUG, ibge: IBGE, adn: simulator.address, providers: PROVIDERS }, env);
  say('');
  say(`Emitindo ${NOTES} notas assinadas, uma depois da outra:`);
  const signers = await Promise.all(stage.pki.prestadores.slice(0, PROVIDERS.length).map(signerOf));
  const keys: string[] = [];
  for (let place = 0; place < NOTES; place += 1) {
    keys.push(await issueOne(service.address, place, signers[place % PROVIDERS.length]!));
  }
  const { documentos } = await simulator.ask('/estado');
  say('');
  say(`O ADN simulado guarda ${documentos} notas. Olhe:`);
  say(`  uma nota               curl -s ${service.address}/${SLUG}/api/v1/nfse/${keys[0]}`);
  say(`  o que o ADN guarda     curl -s ${simulator.control}/documentos/${keys[0]}`);
  say(`  estado do ADN          curl -s ${simulator.control}/estado`);
  say(`  tabela de erros        ${service.address}/docs/erros`);
  say(`  chaves e certificados  ${path.relative(process.cwd(), stage.pki.pasta)}`);
  const [provider] = stage.pki.prestadores;
  const [certificate, key] = [provider!.certificado, provider!.chave].map((file) => path.relative(process.cwd(), file));
  say('');
  say('Assine e emita a sua:');
  const own = path.relative(process.cwd(), path.join(folder, 'minha.xml'));
  say(`  npm run -s nfse -- assinar ${EXAMPLE} --certificado ${certificate} --chave ${key} --saida ${own}`);
  say(`  npm run -s nfse -- emitir ${own} --municipio ${SLUG} --url ${service.address}`);
  if (encerrar) return;
  say('');
  say('Ctrl-C encerra.');
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

async function issueOne(address: string, place: number, signer: Signer): Promise<string> {
  const provider = PROVIDERS[place % PROVIDERS.length]!;
  const value = `${(place + 1) * 150}.00`;
  // The date in the municipality, which may differ from the date in UTC.
  const today = momentIn(zoneOf(IBGE), Date.now()).date;
  const xml = exampleXml({
    tpAmb: '1',
    // The series differs from the example's, which the user is advised to issue next.
    serie: '2',
    nDPS: String(place + 1),
    dCompet: today,
    'prest/CNPJ': provider.documento,
    'prest/xNome': provider.razaoSocial,
    'valores/vServPrest/vServ': value,
  });
  const began = performance.now();
  const response = await fetch(`${address}/${SLUG}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: signXml(Buffer.from(xml), signer) as Uint8Array<ArrayBuffer>,
  });
  const issued = (await response.json()) as { chave_acesso: string; mensagem: string };
  if (response.status !== 201) throw new Error(issued.mensagem);
  const answered = performance.now() - began;
  for (;;) {
    const query = await fetch(`${address}/${SLUG}/api/v1/nfse/${issued.chave_acesso}`);
    const { nota, protocolo } = (await query.json()) as {
      nota: { status: string; numero: string };
      protocolo: { status: string; mensagem_retorno: string };
    };
    const elapsed = performance.now() - began;
    if (nota.status === 'autorizada') {
      say(
        `  ${String(place + 1).padStart(2)}  ${provider.razaoSocial.padEnd(36)} R$ ${value.padStart(8)}  ${issued.chave_acesso}  emitida em ${answered.toFixed(0)} ms, autorizada em ${elapsed.toFixed(0)} ms`,
      );
      return issued.chave_acesso;
    }
    if (protocolo.status === 'rejeitado') throw new Error(protocolo.mensagem_retorno);
    if (elapsed > AUTHORISED_WITHIN_MS) throw new Error(`a nota ${issued.chave_acesso} não foi autorizada a tempo`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function signerOf({ certificado, chave }: CertificateFiles): Promise<Signer> {
  const [pem, key] = await Promise.all([readFile(certificado, 'utf8'), readFile(chave, 'utf8')]);
  return { key: createPrivateKey(key), certificate: certificatesOfPem(pem)[0]! };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

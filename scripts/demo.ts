/**
 * `npm run demo`: a municipality at work on this machine, for showing. It runs a private PKI, the ADN simulator with
 * mutual TLS, and the service. Three people can enter its console. Six months of notes follow while the console
 * is open. It stays up until Ctrl-C; `--encerrar` makes it end by itself. `--pasta DIR` names another folder than
 * `data-demo`, `PORT` another port.
 */
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { PAPEIS_NAMES } from '../src/base/world/papeis.ts';
import { lockFolder } from '../src/simulador/lock.ts';
import { codeAt } from '../src/subjects/contas/one-time-code.ts';
import { MUNICIPIO_PADRAO } from '../src/subjects/municipios/make-pki.ts';
import { type Login, makeLogin } from './demo-logins.ts';
import { type Cidade, holdOne, importPersonas, issueMonths, readSigners, SIGNING_CNPJS } from './demo-notas.ts';
import { createTenant, openStage, ROOT, type Running, type Simulator, startService, startSimulator } from './stage.ts';

const SLUG = 'exemplo';
const EXAMPLE = 'examples/dps-producao.xml';
const IBGE = '3550308';
const PORT = 8080;
const PAINEL_PORT = 8081;
/** The provider of the example DPS, beside the personas. */
const PADARIA = '11222333000181';
const PESSOAS = [
  { login: 'atendente', nome: 'Ana Atendente', papel: 'atendimento' },
  { login: 'auditora', nome: 'Aurora Auditora', papel: 'leitura' },
  { login: 'chefe', nome: 'Clara Chefe', papel: 'administracao' },
] as const;
/** The part of the notes that the simulated ADN refuses while they are made. */
const RECUSAS = [{ codigo: 'E1289', tipo: 'nota', parte: 0.02 }];

const LOCK = { name: 'demonstracao.pid', who: 'outra demonstração', option: '--pasta' };
/** The folder of the PKI and of the simulator's data. */
const STAGE = 'palco';

type Wishes = { readonly encerrar: boolean; readonly pasta: string };

let service: Running | undefined;
let simulator: Simulator | undefined;
let unlock: (() => Promise<void>) | undefined;
/** Ctrl-C while the notes are made ends after their month. */
let isOver = false;
const ended = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isOver = true;
      resolve();
    });
  }
});
try {
  const wishes = wishesOf(process.argv.slice(2));
  unlock = await takeFolder(wishes.pasta);
  await demonstrate(wishes);
} catch (error) {
  console.error(`\nA demonstração parou: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  process.stdin.pause();
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
  const began = performance.now();
  const stageFolder = path.join(folder, STAGE);
  say('Fazendo uma "ICP-Brasil" de teste: raiz, intermediária, os prestadores, o município…');
  const stage = await openStage(stageFolder, [PADARIA, ...SIGNING_CNPJS, MUNICIPIO_PADRAO], Date.now());
  say('Subindo o ADN simulado, com TLS mútuo, e o serviço, com o PostgreSQL embutido…');
  const env = await localEnv(folder);
  [simulator, service] = await Promise.all([startSimulator(stage), startService(env)]);
  const { address } = service;
  const origin = /console do município +(\S+)/.exec(service.output())![1]!;
  say(`Criando o município ${SLUG}, em produção, e as contas de três pessoas…`);
  await createTenant(stage, { slug: SLUG, ibge: IBGE, adn: simulator.address }, [], env);
  const logins = await Promise.all(PESSOAS.map((pessoa) => makeLogin(pessoa, SLUG, origin, env)));
  tellLogins(origin, logins, (performance.now() - began) / 1000);

  say('Cadastrando os prestadores, e emitindo seis meses de notas; o console já mostra as que há:');
  await importPersonas(stageFolder, SLUG, env);
  await simulator.ask('/recusas', { method: 'PUT', body: JSON.stringify(RECUSAS) });
  const cidade: Cidade = { endereco: `${address}/${SLUG}`, signers: await readSigners(stage.pki.prestadores) };
  const retida = await holdOne(address);
  const chave = await issueMonths(
    cidade,
    (mes, { notas, eventos, recusas }) => {
      say(`  competência ${mes}  ${notas} notas, ${eventos} eventos, ${recusas} recusas`);
      return !isOver;
    },
    Date.now(),
  );
  if (isOver) return;
  await simulator.ask('/recusas', { method: 'PUT', body: '[]' });
  say('');
  say('Pronto. Olhe:');
  say(`  o console                    ${origin}`);
  say(`  uma nota, como o tomador vê  ${address}/${SLUG}/nota/${chave}`);
  say(`  uma nota retida, de ensaio   ${address}/integracao/nota/${retida}`);
  say(`  a nota em JSON               curl -s ${address}/${SLUG}/api/v1/nfse/${chave}`);
  say(`  o que o ADN guarda           curl -s ${simulator.control}/estado`);
  say(`  documentação                 ${address}/docs`);
  const [provider] = stage.pki.prestadores;
  const [certificate, key] = [provider!.certificado, provider!.chave].map((file) => path.relative(process.cwd(), file));
  const { pfx } = stage.pki.prestadores.find(({ documento }) => documento === MUNICIPIO_PADRAO)!;
  say('');
  say(`Troque o certificado do município, com o login ${PESSOAS[2].login}, em Município, Certificados:`);
  say(`  o arquivo  ${path.relative(process.cwd(), pfx)}`);
  say(`  a senha    ${stage.pki.senha}`);
  say('');
  say('Assine e emita a sua:');
  const own = path.relative(process.cwd(), path.join(folder, 'minha.xml'));
  say(`  npm run -s nfse -- assinar ${EXAMPLE} --certificado ${certificate} --chave ${key} --saida ${own}`);
  say(`  npm run -s nfse -- emitir ${own} --municipio ${SLUG} --url ${address}`);
  if (encerrar) return;
  say('');
  say('Ctrl-C encerra.');
  await ended;
}

/** Nothing of the demonstration is reached from another machine, nor reaches a database of the municipality. */
async function localEnv(folder: string): Promise<NodeJS.ProcessEnv> {
  const local = '127.0.0.1';
  return {
    NFSE_DATA_DIR: folder,
    DATABASE_URL: '',
    NFSE_HOST: local,
    NFSE_PAINEL_HOST: local,
    NFSE_PAINEL_URL: '',
    NFSE_VIGIA_PORTA: '0',
    PORT: process.env['PORT'] ?? String(await freePort(PORT)),
    NFSE_PAINEL_PORTA: process.env['NFSE_PAINEL_PORTA'] ?? String(await freePort(PAINEL_PORT)),
  };
}

/** The logins are shown once: nothing keeps the passwords. Enter shows a code anew, as the app of the person would. */
function tellLogins(origin: string, logins: readonly Login[], seconds: number): void {
  say('');
  say(`O console está aberto, depois de ${seconds.toFixed(0)} s: ${origin}`);
  for (const { nome, login, papel, senha, segredo } of logins) {
    say(`  ${nome.padEnd(16)} login ${login.padEnd(10)} senha ${senha}   (papel ${PAPEIS_NAMES[papel]})`);
    if (segredo !== undefined) say(`  ${''.padEnd(16)} segredo dos códigos ${segredo}`);
  }
  const tellCode = (): void => {
    for (const { login, segredo } of logins) {
      if (segredo !== undefined) say(`  código de ${login} agora: ${codeAt(segredo, Date.now())}`);
    }
  };
  tellCode();
  say('  Um código serve uma vez, por meio minuto: Enter mostra o de agora. Sem terminal, o segredo os dá num');
  say('  aplicativo de códigos, ou em: oathtool --totp -b SEGREDO');
  say('  Só esta máquina entra, e só enquanto a demonstração dura.');
  say('');
  process.stdin.on('data', tellCode);
}

/** This port, or another one that is free. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(freePort(0)));
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

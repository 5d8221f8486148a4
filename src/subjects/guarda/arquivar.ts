/** The operator's work on the archive: past months are moved into files, checked there, and brought back. */
import { hash, sign as signBytes, verify, X509Certificate } from 'node:crypto';
import path from 'node:path';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import type { Problem } from '../../base/world/operator.ts';
import { loadSigner } from '../../documents/key-files.ts';
import { pemOf } from '../../documents/pki.ts';
import type { Signer } from '../../documents/signing.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { DAY_MS, nameMes } from '../../fiscal/moment.ts';
import { type Arquivado, ArquivoRecusado, endOfMes, type SignArquivo } from './arquivar.rows.ts';

/** A month is closed no earlier: events come late, and frequent queries are about recent months. */
const AFTER_DAYS = 62;

const NOWHERE =
  'NFSE_ARQUIVO não está definida. Dê a ela o caminho absoluto da pasta do arquivo, ou s3://bucket/prefixo, o mesmo para este comando e para o serviço.';

/** `2026-01` as 202601. */
export function readMes(text: string): number | undefined {
  const [, year, month] = /^(20\d\d)-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  return year === undefined ? undefined : Number(year) * 100 + Number(month);
}

export function wrongMes(text: string): Problem {
  return { problem: `${text} não é um mês: escreva-o como 2026-01.` };
}

/** Turns a refusal of the store into a problem. */
export async function orProblem<Result>(work: () => Promise<Result>): Promise<Result | Problem> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ArquivoRecusado) return { problem: error.message };
    throw error;
  }
}

type Tell = (line: string) => void;

/** Closes a month; `tell` gets a line for each file. `lockedMs`: how long its tables were locked. */
export async function fecharMes(
  world: RegistryWorld,
  text: string,
  tell: Tell,
): Promise<{ readonly lockedMs: number | undefined } | Problem> {
  const { arquivo } = world.store;
  const mes = readMes(text);
  if (mes === undefined) return wrongMes(text);
  if (arquivo.lugar() === undefined) return { problem: NOWHERE };
  const from = endOfMes(mes) + AFTER_DAYS * DAY_MS;
  if (world.now() < from) {
    const day = dayOf(from);
    return { problem: `${text} só pode ser fechado ${AFTER_DAYS} dias depois do seu fim, a partir de ${day}.` };
  }
  const known = (await arquivo.listMeses()).some((one) => one.mes === mes);
  if (!known) return { problem: `Não há nada de ${text} neste banco.` };
  // A file is never deleted: expired rehearsals must not enter one, nor keep the month open.
  while (await world.store.guarda.forgetRehearsals(world.now()));
  const underWay = await arquivo.listEmAndamento(mes);
  if (underWay.length > 0) {
    const each = underWay.map(({ tenant, tipo, quantos }) => `${tenant}: ${quantos} (${tipo})`);
    return {
      problem: `${text} ainda tem o que está em andamento, e só fecha quando nada mais se mover nele: ${each.join(', ')}. nfse municipio mostrar diz por que espera.`,
    };
  }
  const sign = await signersOf(world, tell);
  return orProblem(async () => ({ lockedMs: await arquivo.closeMes(mes, { now: world.now, sign, tell }) }));
}

/** `2026-01-31`, of a moment in milliseconds. */
function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/**
 * Loads the keys that sign notes of the municipalities, before anything is written. A municipality without a key, or with an invalid
 * certificate, signs nothing. Throws when a key cannot be read.
 */
async function signersOf(world: RegistryWorld, tell: Tell): Promise<SignArquivo> {
  const signers = new Map<string, Signer>();
  const now = world.now();
  for (const { tenant, adn } of await world.store.municipios.list()) {
    if (adn === undefined) continue;
    const signer = await loadSigner(adn.chaves);
    const { inicio, fim } = signer.certificate;
    if (inicio <= now && now <= fim) signers.set(tenant, signer);
    else tell(`${tenant}: o certificado vale de ${dayOf(inicio)} a ${dayOf(fim)}, e por isso nada é assinado com ele`);
  }
  return (tenant, text) => {
    const signer = signers.get(tenant);
    if (signer === undefined) return undefined;
    const { key, certificate } = signer;
    return {
      assinatura: signBytes('sha256', text, key),
      certificado: pemOf('CERTIFICATE', certificate.der),
      impressao: Buffer.from(certificate.fingerprint, 'hex'),
    };
  };
}

/** Checks the archive, or some months of it, and returns one line for each problem. `tell` gets a line for each sound file. */
export async function conferirArquivo(
  world: RegistryWorld,
  texts: readonly string[],
  tell: Tell,
): Promise<{ readonly problemas: readonly string[]; readonly conferidos: number } | Problem> {
  const { arquivo, municipios } = world.store;
  const wrong = texts.find((text) => readMes(text) === undefined);
  if (wrong !== undefined) return wrongMes(wrong);
  if (arquivo.lugar() === undefined) return { problem: NOWHERE };
  const meses = texts.map(readMes);
  const known = await arquivo.listArquivos();
  const never = texts.find(
    (_, place) => !known.some(({ mes, pronto_em }) => mes === meses[place] && pronto_em !== null),
  );
  if (never !== undefined) return { problem: `De ${never} não há arquivo. nfse arquivo listar diz de que meses há.` };
  // The files of an eliminated month are gone.
  const all = known.filter(
    ({ mes, pronto_em, eliminado_em }) =>
      pronto_em !== null && eliminado_em === null && (meses.length === 0 || meses.includes(mes)),
  );
  const forgets = (await municipios.list()).filter(({ ambiente }) => AMBIENTES[ambiente].guardaDias !== undefined);
  // Listing a bucket may take many requests.
  const names = meses.length === 0 || forgets.length > 0 ? new Set(await arquivo.listNames()) : undefined;
  const problemas: string[] = [];
  for (const one of all) {
    if (names?.has(one.nome) === false && forgets.some(({ tenant }) => tenant === one.tenant)) {
      tell(`${one.nome}: de ensaios, e já não está lá`);
      continue;
    }
    const found = await inspectArquivo(world, one);
    problemas.push(...found.problemas.map((problem) => `${one.nome} ${problem}`));
    if (found.problemas.length === 0) tell(`${one.nome}: íntegro, ${found.assinatura}`);
  }
  if (meses.length === 0) {
    problemas.push(...chainProblems(known));
    for (const line of describeOthers([...names!], known)) tell(line);
  }
  return { problemas, conferidos: all.length };
}

type Inspected = { readonly problemas: readonly string[]; readonly assinatura: string };

/** Reads a file back. `assinatura`: the signer and the moment of a valid signature. */
async function inspectArquivo(world: RegistryWorld, one: Arquivado): Promise<Inspected> {
  try {
    const damage = await world.store.arquivo.findDamage(one);
    const beside = await inspectBeside(world, one);
    return { ...beside, problemas: [...(damage === undefined ? [] : [damage]), ...beside.problemas] };
  } catch (error) {
    return { problemas: [`não pôde ser lido: ${(error as Error).message}`], assinatura: '' };
  }
}

/** Checks the small files beside it. */
async function inspectBeside(
  world: RegistryWorld,
  { nome, sha256, certificado, pronto_em }: Arquivado,
): Promise<Inspected> {
  const wrong = (problem: string): Inspected => ({ problemas: [problem], assinatura: '' });
  const [sum, assinatura, pem] = await Promise.all(
    ['sha256', 'assinatura', 'pem'].map((ending) => world.store.arquivo.readBeside(`${nome}.${ending}`)),
  );
  if (sum?.toString() !== `${sha256.toString('hex')}  ${path.basename(nome)}\n`) {
    return wrong('não tem ao lado o seu .sha256, ou ele diz outro número');
  }
  if (certificado === null) return { problemas: [], assinatura: 'sem assinatura' };
  if (assinatura === undefined || pem === undefined) return wrong('não tem ao lado a .assinatura e o .pem');
  const by = readPem(pem);
  if (by === undefined || !hash('sha256', by.raw, 'buffer').equals(certificado)) {
    return wrong('tem ao lado um .pem que não é o do certificado que o assinou');
  }
  if (!verify('sha256', sum, by.publicKey, assinatura)) return wrong('tem ao lado uma assinatura que não é dele');
  return { problemas: [], assinatura: describeSignature(by, pronto_em!, world.now()) };
}

function readPem(pem: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** The certificate must have been valid when the signature was made; its later state does not matter. */
function describeSignature({ subject, validToDate }: X509Certificate, at: Date, now: number): string {
  const who = /^CN=(.*)$/m.exec(subject)?.[1] ?? subject;
  const end = dayOf(validToDate.getTime());
  const state = validToDate.getTime() < now ? `venceu em ${end}, e valia quando assinou` : `vale até ${end}`;
  return `assinado em ${dayOf(at.getTime())} por ${who}, cujo certificado ${state}`;
}

/** Each file names its predecessor, so that a missing file is noticed. */
function chainProblems(all: readonly Arquivado[]): readonly string[] {
  const known = new Set(all.map(({ tenant, sha256 }) => `${tenant}/${sha256.toString('hex')}`));
  return all
    .filter(({ tenant, anterior }) => anterior !== null && !known.has(`${tenant}/${anterior.toString('hex')}`))
    .map(({ nome }) => `${nome} nomeia um arquivo anterior que o banco não conhece`);
}

/** Files in the archive that do not count. */
function describeOthers(names: readonly string[], known: readonly Arquivado[]): readonly string[] {
  const registered = new Map(known.map((one) => [one.nome, one]));
  return names.flatMap((name) => {
    if (name.endsWith('.parcial'))
      return [`${name}: um rascunho; se o comando que o escrevia morreu, o próximo fechar o apaga`];
    const one = registered.get(name.replace(/(\.nfse)\.\w+$/, '$1'));
    if (one === undefined)
      return [`${name}: este banco não o conhece; não o apague se outro banco escreve no mesmo lugar`];
    return one.pronto_em === null ? [`${name}: de um comando que não terminou; o próximo fechar cuida dele`] : [];
  });
}

export async function trazerMes(
  world: RegistryWorld,
  text: string,
  tell: Tell,
): Promise<{ readonly trazido: boolean } | Problem> {
  const { arquivo } = world.store;
  const mes = readMes(text);
  if (mes === undefined) return wrongMes(text);
  if (arquivo.lugar() === undefined) return { problem: NOWHERE };
  return orProblem(async () => ({ trazido: (await arquivo.bringMes(mes, { now: world.now, tell })) === true }));
}

/** A month in the archive: rows and bytes of all its files that count. */
export type MesArquivado = {
  readonly mes: string;
  readonly arquivado_em: string | null;
  readonly arquivos: readonly {
    readonly municipio: string;
    readonly nome: string;
    readonly bytes: number;
    readonly sha256: string;
    readonly assinado: boolean;
    readonly linhas: Readonly<Record<string, number>>;
  }[];
};

export async function listArquivo(world: RegistryWorld): Promise<readonly MesArquivado[]> {
  const { arquivo } = world.store;
  const ready = (await arquivo.listArquivos()).filter(({ pronto_em }) => pronto_em !== null);
  const byMes = Map.groupBy(ready, ({ mes }) => mes);
  return (await arquivo.listMeses()).map(({ mes, arquivado_em }) => ({
    mes: nameMes(mes),
    arquivado_em: arquivado_em?.toISOString() ?? null,
    arquivos: (byMes.get(mes) ?? []).map(({ tenant, nome, bytes, sha256, certificado, linhas }) => ({
      municipio: tenant,
      nome,
      bytes,
      sha256: sha256.toString('hex'),
      assinado: certificado !== null,
      linhas,
    })),
  }));
}

/**
 * Six months of a municipality for the demonstration: every scenario of every persona once a month, with its
 * event and its substitute. DPS that are refused come between. All are signed, and go to the simulated ADN.
 */
import { createPrivateKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EVENTO_SIGNATURE_HEADER } from '../src/base/world/sent-documents.ts';
import { certificatesOfPem } from '../src/documents/certificate.ts';
import { signCms } from '../src/documents/cms-sign.ts';
import { type Signer, signXml } from '../src/documents/signing.ts';
import { BRASILIA, DAY_MS, momentIn } from '../src/fiscal/moment.ts';
import {
  type Cenario,
  csvDe,
  eventoDe,
  PERSONAS,
  REGISTROS_DAS_PERSONAS,
  substitutaDe,
  xmlDe,
} from '../src/fiscal/personas.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { tipoBySlug } from '../src/fiscal/tipos-evento.ts';
import type { CertificateFiles } from '../src/subjects/municipios/make-pki.ts';
import { run } from './stage.ts';

const MONTHS = 6;
/** The end of a day in UTC is the same day in Brazil. */
const EVENING_HOUR = 22;
/** The series of all notes of the demonstration; the user is advised to issue in another. */
const SERIE = '2';
/** Requests under way: the service answers faster than one signer signs. */
const AT_ONCE = 4;

/** Documents that sign, besides the personas: the companies that take their services, or stand between. */
const OTHER_SIGNERS = PERSONAS.flatMap(({ cenarios }) =>
  cenarios.flatMap(({ dps }) => [dps['toma/CNPJ'], dps['interm/CNPJ']]),
).filter((cnpj) => typeof cnpj === 'string');

/** Every CNPJ that signs something. */
export const SIGNING_CNPJS: readonly string[] = [
  ...new Set([...PERSONAS.map(({ prestador }) => prestador.documento), ...OTHER_SIGNERS]),
].filter((documento) => documento.length === 14);

/** Commands to import the registers of the personas, each under the name of its command. */
const COMMANDS: Readonly<Partial<Record<(typeof REGISTROS_DAS_PERSONAS)[number], string>>> = {
  prestadores: 'prestador',
  nao_incidencias: 'nao-incidencias',
};

/** The provider of the example DPS, as a line of the providers' file: the user is advised to issue for it. */
const DO_EXEMPLO = '11222333000181;Empresa Exemplo Ltda;1000;1;;;Rua dos Ensaios;Sé;01001000\n';

export async function importPersonas(folder: string, slug: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const registro of REGISTROS_DAS_PERSONAS) {
    const file = path.join(folder, `${registro}.csv`);
    await writeFile(file, csvDe(registro) + (registro === 'prestadores' ? DO_EXEMPLO : ''));
    await run([COMMANDS[registro] ?? registro, 'importar', file, '--municipio', slug, '--confirmar'], env);
  }
}

export async function readSigners(files: readonly CertificateFiles[]): Promise<ReadonlyMap<string, Signer>> {
  const read = async ({ documento, certificado, chave }: CertificateFiles): Promise<[string, Signer]> => {
    const [pem, key] = await Promise.all([readFile(certificado, 'utf8'), readFile(chave, 'utf8')]);
    return [documento, { key: createPrivateKey(key), certificate: certificatesOfPem(pem)[0]! }];
  };
  return new Map(await Promise.all(files.map(read)));
}

export type Feitas = { readonly notas: number; readonly eventos: number; readonly recusas: number };

/** `endereco`: of the municipality, such as `http://127.0.0.1:8080/exemplo`. */
export type Cidade = { readonly endereco: string; readonly signers: ReadonlyMap<string, Signer> };

/**
 * Issues month by month, the oldest first. `tell`: is told each month with its counts; false: it is enough. Resolves
 * with the key of the last note.
 */
export async function issueMonths(
  cidade: Cidade,
  tell: (mes: string, feitas: Feitas) => boolean,
  now: number,
): Promise<string | undefined> {
  let last: string | undefined;
  const numbers = new Map<string, number>();
  const next = (documento: string): string => {
    const number = (numbers.get(documento) ?? 0) + 1;
    numbers.set(documento, number);
    return String(number);
  };
  const cenarios = PERSONAS.flatMap((persona) => persona.cenarios.map((cenario) => ({ persona, cenario })));
  for (let ago = MONTHS - 1; ago >= 0; ago -= 1) {
    const until = lastMomentOf(ago, now);
    const days = Number(localDate(until).at(-1));
    const feitas = { notas: 0, eventos: 0, recusas: 0 };
    const jobs = cenarios.map(({ persona, cenario }, place) => async (): Promise<void> => {
      const { documento } = persona.prestador;
      const at = until - (place % days) * DAY_MS;
      const issue = (one: Cenario) => send(cidade, documento, xmlDe(one, at, propria(next(documento))));
      last = (await liveScenario(cidade, documento, cenario, issue, feitas)) ?? last;
    });
    jobs.push(...refused(cidade, until, next, feitas));
    await inTurns(jobs);
    if (!tell(momentIn(BRASILIA, until).date.slice(0, 7), feitas)) break;
  }
  return last;
}

/** The last day of a month before this one, or now. The month is the one of the municipality. */
function lastMomentOf(monthsAgo: number, now: number): number {
  const [year, month] = localDate(now).map(Number) as [number, number];
  return monthsAgo === 0 ? now : Date.UTC(year, month - monthsAgo, 0, EVENING_HOUR);
}

/** Year, month and day in the municipality. */
function localDate(at: number): readonly string[] {
  return momentIn(BRASILIA, at).date.split('-');
}

const propria = (nDPS: string) => ({ tpAmb: '1', serie: SERIE, nDPS });

/** Resolves with the key of a note to which nothing more happened. */
async function liveScenario(
  cidade: Cidade,
  documento: string,
  cenario: Cenario,
  issue: (one: Cenario) => Promise<string | undefined>,
  feitas: { notas: number; eventos: number; recusas: number },
): Promise<string | undefined> {
  const nota = await issue(cenario);
  feitas[nota === undefined ? 'recusas' : 'notas'] += 1;
  if (nota === undefined) return undefined;
  const other = substitutaDe(cenario, nota);
  const substituta = other && (await issue(other));
  if (substituta !== undefined) feitas.notas += 1;
  const body = eventoDe(cenario, { nota, substituta });
  if (body === undefined) return nota;
  const authors = {
    prestador: documento,
    tomador: cenario.dps['toma/CNPJ'],
    intermediario: cenario.dps['interm/CNPJ'],
  };
  const signer = cidade.signers.get(authors[tipoBySlug(cenario.evento!.tipo)!.autor!] ?? '');
  if (signer !== undefined && (await register(cidade, nota, body, signer))) feitas.eventos += 1;
  return undefined;
}

/** Two mistakes that providers make every month: a value of nothing, and a DPS without signature. */
function refused(
  cidade: Cidade,
  at: number,
  next: (documento: string) => string,
  feitas: { recusas: number },
): (() => Promise<void>)[] {
  const { documento } = PERSONAS[0]!.prestador;
  const dCompet = momentIn(BRASILIA, at).date;
  const wrong = (): string =>
    exampleXml({ ...propria(next(documento)), dCompet, 'prest/CNPJ': documento, 'valores/vServPrest/vServ': '0.00' });
  return [
    async () => {
      if ((await send(cidade, documento, wrong())) === undefined) feitas.recusas += 1;
    },
    async () => {
      if ((await post(cidade, Buffer.from(wrong()))) === undefined) feitas.recusas += 1;
    },
  ];
}

/** The key of the note; undefined: the DPS was refused. */
function send(cidade: Cidade, documento: string, xml: string): Promise<string | undefined> {
  return post(cidade, signXml(Buffer.from(xml), cidade.signers.get(documento)!));
}

async function post({ endereco }: Cidade, body: Buffer): Promise<string | undefined> {
  const response = await fetch(`${endereco}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: new Uint8Array(body),
  });
  const { chave_acesso } = (await response.json()) as { readonly chave_acesso?: string };
  return response.status === 201 ? chave_acesso : undefined;
}

async function register({ endereco }: Cidade, nota: string, text: string, signer: Signer): Promise<boolean> {
  const body = Buffer.from(text);
  const response = await fetch(`${endereco}/api/v1/nfse/${nota}/eventos`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      [EVENTO_SIGNATURE_HEADER]: signCms(body, signer).toString('base64'),
    },
    body: new Uint8Array(body),
  });
  await response.arrayBuffer();
  return response.ok;
}

async function inTurns(jobs: readonly (() => Promise<void>)[]): Promise<void> {
  const left = [...jobs];
  const work = async (): Promise<void> => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) await job();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** A rehearsal whose competence has no rate yet: the note is held. Returns its key. */
export async function holdOne(address: string): Promise<string | undefined> {
  const unpublished = { dCompet: '2099-01-04' };
  return post({ endereco: `${address}/integracao`, signers: new Map() }, Buffer.from(exampleXml(unpublished)));
}

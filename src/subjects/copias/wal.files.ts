/**
 * The archived log: its transfer from the embedded server, its storage beside the copies, and the part that a restoration needs. A segment
 * is a file of a fixed size whose name is its place. Every restoration begins a new timeline, and a history file records the place.
 */
import { createReadStream } from 'node:fs';
import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { takeLogTurn } from '../../base/pg/embedded.ts';
import { CopiaRecusada, collectUpTo, endingOf, seal, unseal } from './cifra.files.ts';
import { type Copia, type Manifesto, makeBelow, readSmall, syncFolder, walOf, writeSynced } from './lugar.files.ts';
import { type Julgado, judgeArquivo, resumoOf, writeResumo } from './resumo.files.ts';

const SEGMENT = /^[0-9A-F]{24}$/;
const HISTORY = /^[0-9A-F]{8}\.history$/;
/** Names of files that the service wrote, or that an administrator's own command put there. */
const SEALED = /^([0-9A-F]{24}|[0-9A-F]{8}\.history)(?:\.gz(?:\.age)?)?$/;
/** The end of the folder's log, written with each segment: it reveals the loss of the last one. */
const UP_TO = 'ultimo.json';
const PARTIAL = '.parcial';
/** An unfinished file of this age has no writer any more. */
const LEFT_MS = 3_600_000;
const HISTORY_MAX = 2 ** 20;
const PER_LOG = 0x1_0000_0000n;

/** `linhas`: first moment of each timeline. Moments are ISO texts of this machine. */
export type Ate = { readonly segmento: string; readonly em: string; readonly linhas: Readonly<Record<string, string>> };

/** Segments that wait for the transfer to the copies. */
export type Espera = { readonly segmentos: number; readonly bytes: number; readonly desde: Date | undefined };

export async function readEspera(logFolder: string): Promise<Espera> {
  let [segmentos, bytes] = [0, 0];
  let desde: Date | undefined;
  for (const name of await listReady(logFolder)) {
    const found = await stat(path.join(logFolder, name)).catch(() => undefined);
    if (found === undefined) continue;
    segmentos += 1;
    bytes += found.size;
    if (desde === undefined || found.mtime < desde) desde = found.mtime;
  }
  return { segmentos, bytes, desde };
}

/** Whole files only: the one that is being written has another name. The history of a timeline comes before its segments. */
async function listReady(logFolder: string): Promise<readonly string[]> {
  const names = await readdir(logFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  // The server's note of each base backup only helps a manual search.
  for (const name of names.filter((one) => one.endsWith('.backup')))
    await rm(path.join(logFolder, name), { force: true });
  const files = names.filter((name) => SEGMENT.test(name) || HISTORY.test(name));
  return files.sort((a, b) => Number(HISTORY.test(b)) - Number(HISTORY.test(a)) || (a < b ? -1 : 1));
}

const TURN_MS = 50;

/**
 * Transfers finished segments to the copies; returns their number. A segment whose transfer fails stays there, and the next call tries it
 * again. A service and its commands do this one after the other.
 */
export async function shipWal(
  logFolder: string,
  pasta: string,
  sistema: string,
  recipients: readonly string[],
): Promise<number> {
  let turn = await takeLogTurn(logFolder);
  for (; turn === undefined; turn = await takeLogTurn(logFolder)) await pause(TURN_MS);
  try {
    const names = await listReady(logFolder);
    if (names.length === 0) return 0;
    const folder = walOf(pasta, sistema);
    await makeBelow(pasta, folder);
    let shipped = 0;
    for (const name of names) {
      if (await shipOne(name, path.join(logFolder, name), folder, sistema, recipients)) shipped += 1;
    }
    return shipped;
  } finally {
    turn();
  }
}

/** Whether it was transferred: without turns, another process may have been first. */
async function shipOne(
  name: string,
  ready: string,
  folder: string,
  sistema: string,
  recipients: readonly string[],
): Promise<boolean> {
  const target = path.join(folder, `${name}${endingOf(recipients)}`);
  const partial = `${target}.${process.pid}-${Math.random().toString(36).slice(2)}${PARTIAL}`;
  let mtime: Date;
  try {
    ({ mtime } = await stat(ready));
    const written = await seal(partial, createReadStream(ready), recipients);
    await utimes(partial, mtime, mtime);
    await writeResumo(target, sistema, mtime, written);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    const { code, path: missing } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && missing === ready) return false;
    throw error;
  }
  await syncFolder(folder);
  await noteShipped(folder, name, mtime);
  await rm(ready, { force: true });
  return true;
}

/** A later segment that another process transferred meanwhile stays noted. */
async function noteShipped(folder: string, name: string, mtime: Date): Promise<void> {
  const before = await readAte(folder);
  const linhas = { ...before?.linhas };
  if (HISTORY.test(name)) linhas[name.slice(0, 8)] ??= mtime.toISOString();
  const isLast = !HISTORY.test(name) && name > (before?.segmento ?? '');
  const ate: Ate = { segmento: isLast ? name : (before?.segmento ?? ''), em: mtime.toISOString(), linhas };
  await writeSynced(path.join(folder, UP_TO), `${JSON.stringify(ate)}\n`);
}

export async function readAte(folder: string): Promise<Ate | undefined> {
  try {
    const ate: Ate = JSON.parse(await readSmall(path.join(folder, UP_TO)));
    const isPlace = ate.segmento === '' || SEGMENT.test(ate.segmento);
    if (!isPlace || [ate.em, ...Object.values(ate.linhas)].some((em) => Number.isNaN(Date.parse(em)))) {
      throw new Error('malformed');
    }
    return ate;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CopiaRecusada(`${path.join(folder, UP_TO)} está danificado, ou não pôde ser lido.`);
  }
}

/** A place in the log, counted in segments. */
function segmentOf(lsn: string, bytes: number): bigint {
  const [high, low] = lsn.split('/') as [string, string];
  return (BigInt(`0x${high}`) * PER_LOG + BigInt(`0x${low}`)) / BigInt(bytes);
}

function nameSegment(linha: number, number: bigint, bytes: number): string {
  const perLog = PER_LOG / BigInt(bytes);
  const hex = (value: bigint | number): string => value.toString(16).toUpperCase().padStart(8, '0');
  return `${hex(linha)}${hex(number / perLog)}${hex(number % perLog)}`;
}

const numberOf = (name: string, bytes: number): bigint =>
  BigInt(`0x${name.slice(8, 16)}`) * (PER_LOG / BigInt(bytes)) + BigInt(`0x${name.slice(16)}`);

/** The archived log that continues a copy, up to the first gap. */
export type Caminho = {
  readonly folder: string;
  readonly linha: number;
  /** Names as PostgreSQL asks for them → files. */
  readonly arquivos: ReadonlyMap<string, string>;
  readonly segmentos: readonly string[];
  /** Judgements of the segments and of their history files, by the same names; empty if nothing was judged. */
  readonly julgados: ReadonlyMap<string, Julgado>;
  /** Moment at which the last segment was complete: no later moment can be restored. Undefined: the copy stands alone. */
  readonly ate: Date | undefined;
  /** Missing parts, in Portuguese; the way ends before them. */
  readonly faltas: readonly string[];
};

/** A symbolic link or a folder is not a file of the log. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return found.filter((one) => one.isFile()).map(({ name }) => name);
}

/** Judges a file of the log. */
export type Juiz = (file: string) => Promise<Julgado>;

/** `momento`: the way follows the timeline that was in use then. `judge` undefined: every existing file is good. */
export async function findWay(
  pasta: string,
  { manifesto }: Copia,
  identities: readonly string[],
  momento: Date | undefined,
  judge?: Juiz,
): Promise<Caminho> {
  const folder = walOf(pasta, manifesto.sistema);
  const names = await filesOf(folder);
  const arquivos = new Map(
    names.flatMap((name) => {
      const [, own] = SEALED.exec(name) ?? [];
      return own === undefined ? [] : [[own, path.join(folder, name)] as const];
    }),
  );
  const ate = await readAte(folder);
  const branches = await readBranches(arquivos, manifesto, identities, judge);
  const chosen = chooseLinha(branches, manifesto, ate, momento);
  const julgados = new Map(chosen.julgados);
  const own = { folder, linha: chosen.linha, arquivos, julgados };
  const at = (segment: bigint): string => {
    const linha = chosen.since.findLast(({ from }) => from <= segment)!.linha;
    return nameSegment(linha, segment, manifesto.segmento);
  };
  const first = segmentOf(manifesto.inicio, manifesto.segmento);
  // The history of a new timeline is archived long before its first segment. Segments of the earlier timelines are therefore on the way
  // too.
  const isOnTheWay = (name: string): boolean => SEGMENT.test(name) && at(numberOf(name, manifesto.segmento)) === name;
  const end = [...arquivos.keys(), ate?.segmento ?? '']
    .filter(isOnTheWay)
    .map((name) => numberOf(name, manifesto.segmento))
    .reduce((most, one) => (one > most ? one : most), -1n);
  const segmentos: string[] = [];
  // The copy itself has the log up to its end.
  const own_end = segmentOf(manifesto.fim, manifesto.segmento);
  for (let segment = first; segment <= end; segment += 1n) {
    const name = at(segment);
    const file = arquivos.get(name);
    const julgado = file === undefined ? undefined : await judge?.(file);
    if (file !== undefined && julgado?.problema === undefined) {
      segmentos.push(name);
      if (julgado !== undefined) julgados.set(name, julgado);
    } else if (segment > own_end) {
      const why = julgado?.problema ?? `falta o segmento ${name} do WAL em ${folder}`;
      const faltas = [`${why}: o que veio depois dele não se alcança`];
      return { ...own, segmentos, ate: await whenComplete(own, segmentos), faltas };
    }
  }
  return { ...own, segmentos, ate: await whenComplete(own, segmentos), faltas: [] };
}

async function whenComplete(
  { arquivos, julgados }: Pick<Caminho, 'arquivos' | 'julgados'>,
  segmentos: readonly string[],
): Promise<Date | undefined> {
  const last = segmentos.at(-1);
  return last === undefined ? undefined : (julgados.get(last)?.em ?? (await stat(arquivos.get(last)!)).mtime);
}

/** Faults of single files of the log, each judged once: `judge` returns the results afterwards. */
export async function judgeLog(
  pasta: string,
  sistema: string,
  show: (part: number, what: string) => void,
): Promise<{ readonly problemas: readonly string[]; readonly judge: Juiz }> {
  const folder = walOf(pasta, sistema);
  const names = (await filesOf(folder)).filter((name) => SEALED.test(name)).sort();
  const julgados = new Map<string, Julgado>();
  for (const [at, name] of names.entries()) {
    show(at / names.length, `conferindo o WAL arquivado de ${sistema}`);
    const file = path.join(folder, name);
    julgados.set(file, await judgeArquivo(file, sistema));
  }
  return {
    problemas: [...julgados.values()].flatMap(({ problema }) => problema ?? []),
    judge: async (file) => julgados.get(file) ?? judgeArquivo(file, sistema),
  };
}

/** `julgados`: its history file, by its name, if it was judged. */
type Branch = {
  readonly linha: number;
  readonly since: readonly { readonly linha: number; readonly from: bigint }[];
  readonly julgados: readonly (readonly [string, Julgado])[];
};

/** The timelines that begin on the way of a copy, by their history files. */
async function readBranches(
  arquivos: ReadonlyMap<string, string>,
  { linha, segmento, fim }: Manifesto,
  identities: readonly string[],
  judge: Juiz | undefined,
): Promise<readonly Branch[]> {
  const branches: Branch[] = [{ linha, since: [{ linha, from: 0n }], julgados: [] }];
  for (const [name, file] of arquivos) {
    const other = Number.parseInt(name.slice(0, 8), 16);
    if (!HISTORY.test(name) || other <= linha) continue;
    const julgado = await judge?.(file);
    if (julgado?.problema !== undefined) throw new CopiaRecusada(`${julgado.problema}.`);
    const text = (await unseal(file, identities, collectUpTo(HISTORY_MAX))).toString();
    const parents = [...text.matchAll(/^(\d+)\t([0-9A-F]+\/[0-9A-F]+)/gm)].map(([, parent, lsn]) => ({
      parent: Number(parent),
      from: segmentOf(lsn!, segmento),
    }));
    const at = parents.findIndex(({ parent }) => parent === linha);
    if (at < 0 || parents[at]!.from < segmentOf(fim, segmento)) continue;
    const later = parents.slice(at);
    const since = later.map(({ from }, place) => ({ linha: later[place + 1]?.parent ?? other, from }));
    const julgados = julgado === undefined ? [] : [[name, julgado] as const];
    branches.push({ linha: other, since: [{ linha, from: 0n }, ...since], julgados });
  }
  return branches.sort((a, b) => a.linha - b.linha);
}

/** The newest timeline, or the newest of those that existed at the moment. */
function chooseLinha(
  branches: readonly Branch[],
  { linha }: Manifesto,
  ate: Ate | undefined,
  momento: Date | undefined,
): Branch {
  const bornBefore = ({ linha: own }: Branch): boolean => {
    const born = ate?.linhas[own.toString(16).toUpperCase().padStart(8, '0')];
    return own === linha || momento === undefined || born === undefined || new Date(born) <= momento;
  };
  return branches.findLast(bornBefore)!;
}

/** Deleted segments, and bytes. */
export type Podado = { readonly segmentos: number; readonly bytes: number };

/** Deletes all that no kept copy needs. Histories stay: they are small, and distinguish timelines. */
export async function pruneWal(pasta: string, sistema: string, kept: readonly Copia[]): Promise<Podado> {
  const own = kept.filter(({ manifesto }) => manifesto.sistema === sistema);
  if (own.length === 0) return { segmentos: 0, bytes: 0 };
  const first = own
    .map(({ manifesto: { linha, inicio, segmento } }) =>
      nameSegment(linha, segmentOf(inicio, segmento), segmento).slice(8),
    )
    .reduce((least, one) => (one < least ? one : least));
  const folder = walOf(pasta, sistema);
  let [segmentos, bytes] = [0, 0];
  for (const name of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, name);
    const [, segment] = SEALED.exec(name) ?? [];
    const isOld = segment !== undefined && SEGMENT.test(segment) && segment.slice(8) < first;
    if (!isOld && !name.endsWith(PARTIAL)) continue;
    const found = await stat(file).catch(() => undefined);
    // Another process may still be writing an unfinished file.
    if (found === undefined || (!isOld && Date.now() - found.mtimeMs < LEFT_MS)) continue;
    await rm(file, { force: true });
    await rm(resumoOf(file), { force: true });
    segmentos += isOld ? 1 : 0;
    bytes += found.size;
  }
  return { segmentos, bytes };
}

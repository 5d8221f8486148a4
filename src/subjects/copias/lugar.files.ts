/**
 * The folder of copies has one folder for each cluster, named by the number that initdb drew. Such a folder contains `copias`, with a
 * folder for each copy, and `wal`, the archived log. A copy appears under its name by a rename, whole and synced, or not at all. Its
 * manifest lists its parts.
 */
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { authenticate, autoriaOfDito } from './autoria.files.ts';
import type { Base } from './base.files.ts';
import { CopiaRecusada } from './cifra.files.ts';

type Arquivo = { readonly nome: string; readonly bytes: number; readonly sha256: string };

/** The description of a copy. Moments are ISO texts, in UTC. */
export type Manifesto = Omit<Base, 'iniciada' | 'concluida'> & {
  readonly formato: 1;
  readonly id: string;
  readonly iniciada: string;
  /** The copy can restore any moment from this one on. */
  readonly concluida: string;
  readonly programa: string;
  readonly embutido: boolean;
  readonly cifrada: boolean;
  readonly rotulo: string | null;
  /** Size of the cluster, with the log that came along. */
  readonly bytes: number;
  readonly arquivos: readonly Arquivo[];
  /** Objects of the server that prevent a restoration, as the restoration would report them. */
  readonly recusas: readonly string[];
  readonly autenticador: string | null;
};

/** The description of a copy that has no name yet. */
export type Dito = Omit<Manifesto, 'id' | 'autenticador'>;

export type Copia = { readonly pasta: string; readonly manifesto: Manifesto };
export type Lista = {
  readonly copias: readonly Copia[];
  /** Entries of the folder that are no copies, with the reason, for the operator. */
  readonly problemas: readonly string[];
};

const MANIFEST = 'manifesto.json';
const MODE = 0o700;
const UNFINISHED = '.fazendo-';
const OWN_UNFINISHED = `${UNFINISHED}${hostname()}-`;
/** Age after which another machine's unfinished copy is abandoned. */
const UNFINISHED_MAX_MS = 86_400_000;
const DOOMED = '.apagando-';
const SISTEMA = /^\d{10,20}$/;
const ID = /^\d{8}T\d{6}Z(-\d+)?$/;

const copiasOf = (pasta: string, sistema: string): string => path.join(pasta, sistema, 'copias');
export const walOf = (pasta: string, sistema: string): string => path.join(pasta, sistema, 'wal');

/** The folder itself must exist: a new one at the place of an unmounted disk would fill the wrong disk. */
export async function ensurePasta(pasta: string): Promise<void> {
  try {
    if ((await stat(pasta)).isDirectory()) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'não existe: monte o disco, ou crie a pasta' : `não pode ser aberta (${code})`;
    throw new CopiaRecusada(`a pasta das cópias, ${pasta}, ${why}.`);
  }
  throw new CopiaRecusada(`NFSE_COPIAS=${pasta} não é uma pasta.`);
}

/** All copies, the oldest first. */
export async function listCopias(pasta: string): Promise<Lista> {
  await ensurePasta(pasta);
  const problemas: string[] = [];
  const copias: Copia[] = [];
  for (const sistema of (await readdir(pasta)).filter((name) => SISTEMA.test(name))) {
    const folder = copiasOf(pasta, sistema);
    for (const id of (await readdir(folder).catch(() => [])).filter((name) => ID.test(name))) {
      const one = await readManifesto(path.join(folder, id));
      if (typeof one === 'string') problemas.push(one);
      else copias.push({ pasta: path.join(folder, id), manifesto: one });
    }
  }
  copias.sort((a, b) => (a.manifesto.concluida < b.manifesto.concluida ? -1 : 1));
  return { copias, problemas };
}

async function readManifesto(folder: string): Promise<Manifesto | string> {
  const file = path.join(folder, MANIFEST);
  let manifesto: Manifesto;
  try {
    manifesto = JSON.parse(await readSmall(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `${folder}: ${code === 'ENOENT' ? `falta ${MANIFEST}` : `${MANIFEST} está danificado, ou não pôde ser lido`}.`;
  }
  if (manifesto?.formato !== 1) return `${folder}: é de um formato que esta versão não conhece.`;
  const sistema = path.basename(path.dirname(path.dirname(folder)));
  if (!isWellFormed(manifesto) || manifesto.id !== path.basename(folder) || manifesto.sistema !== sistema) {
    return `${folder}: ${MANIFEST} está danificado.`;
  }
  for (const { nome, bytes } of manifesto.arquivos) {
    const found = await lstat(path.join(folder, nome)).catch(() => undefined);
    if (found === undefined) return `${folder}: falta ${nome}.`;
    if (!found.isFile()) return `${folder}: ${nome} não é um arquivo comum.`;
    if (found.size !== bytes) return `${folder}: ${nome} tem ${found.size} bytes, e foi escrito com ${bytes}.`;
  }
  if (autoriaOfDito('manifesto', manifesto) === 'falsa') return `${CHANGED(file)}. ${BRING_BACK}`;
  return manifesto;
}

const SMALL_MAX = 2 ** 20;

/** Reads a small file of ours about other files; refuses anything else in its place. */
export async function readSmall(file: string): Promise<string> {
  const found = await lstat(file);
  if (!found.isFile() || found.size > SMALL_MAX) throw new Error(`${file} is none of ours`);
  return readFile(file, 'utf8');
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const LSN = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/;
const isMoment = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const isText = (value: unknown, form: RegExp): boolean => typeof value === 'string' && form.test(value);
/** Names of a database and a role are cut at this length. */
const NAME = /^[^\0-]{1}[^\0]{0,62}$/;
const SEGMENT_BYTES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024].map((megabytes) => megabytes * 2 ** 20);

/** Names of files, programs and places in the log are checked: a copy may have come from anywhere. */
function isWellFormed(one: Manifesto): boolean {
  const isArquivo = ({ nome, bytes, sha256 }: Arquivo): boolean =>
    isText(nome, /^(?:base\.tar|backup_manifest)\.gz(?:\.age)?$/) && isCount(bytes) && isText(sha256, /^[0-9a-f]{64}$/);
  return (
    Array.isArray(one.arquivos) &&
    one.arquivos.every((arquivo) => arquivo !== null && isArquivo(arquivo)) &&
    [one.bytes, one.linha].every(isCount) &&
    one.linha <= 0xffff_ffff &&
    SEGMENT_BYTES.includes(one.segmento) &&
    [one.iniciada, one.concluida].every(isMoment) &&
    [one.inicio, one.fim].every((lsn) => isText(lsn, LSN)) &&
    [one.banco, one.usuario].every((name) => isText(name, NAME)) &&
    isText(one.versao, /^\d{2}[\w .()~+:-]{0,80}$/)
  );
}

/** The key is known, but the authenticator belongs to another text. */
export const CHANGED = (file: string): string =>
  `${file} foi mudado depois de escrito: o autenticador, da chave deste serviço, é de outro conteúdo`;
const BRING_BACK =
  'Traga de volta o arquivo de antes, se há outra cópia desta pasta; senão use outra cópia do banco, e veja quem pode gravar aqui.';

/** A folder for a new copy. Unfinished copies are deleted: the caller has the turn (`takeTurn`) of this machine. */
export async function beginCopia(pasta: string, sistema: string): Promise<string> {
  const folder = copiasOf(pasta, sistema);
  await makeBelow(pasta, folder);
  await sweep(folder);
  const fresh = path.join(folder, `${OWN_UNFINISHED}${process.pid}`);
  await mkdir(fresh, { mode: MODE });
  return fresh;
}

/** Makes the folders below the folder of copies, and never that one: its disk may have gone a moment ago. */
export async function makeBelow(pasta: string, folder: string): Promise<void> {
  if (folder === pasta) return;
  await makeBelow(pasta, path.dirname(folder));
  await mkdir(folder, { mode: MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    if (name.startsWith(DOOMED) || (name.startsWith(UNFINISHED) && (await isAbandoned(file)))) {
      await rm(file, { recursive: true, force: true });
    }
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  if (path.basename(file).startsWith(OWN_UNFINISHED)) return true;
  const began = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
  return Date.now() - began > UNFINISHED_MAX_MS;
}

/** Writes the manifest and names the copy by its first moment. The name gets a number if another copy began in the same second. */
export async function publishCopia(fresh: string, about: Dito): Promise<Copia> {
  for (let place = 1; ; place += 1) {
    const id = nameCopia(about.iniciada, place);
    const manifesto = authenticate('manifesto', { ...about, id });
    await writeSynced(path.join(fresh, MANIFEST), `${JSON.stringify(manifesto, null, 2)}\n`);
    await syncFolder(fresh);
    const pasta = path.join(path.dirname(fresh), id);
    if (await isNamed(fresh, pasta)) return { pasta, manifesto };
  }
}

/** A folder that already exists is not empty, so a rename does not replace it. */
async function isNamed(fresh: string, pasta: string): Promise<boolean> {
  try {
    await rename(fresh, pasta);
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  await syncFolder(path.dirname(pasta));
  return true;
}

function nameCopia(iniciada: string, place: number): string {
  return `${iniciada.slice(0, 19).replaceAll(/[-:]/g, '')}Z${place === 1 ? '' : `-${place}`}`;
}

/** The copy is renamed first: a partly deleted one must not count as a copy. */
export async function removeCopia({ pasta }: Copia): Promise<void> {
  const doomed = path.join(path.dirname(pasta), `${DOOMED}${path.basename(pasta)}`);
  await rename(pasta, doomed);
  await syncFolder(path.dirname(pasta));
  await rm(doomed, { recursive: true });
}

export async function writeSynced(file: string, text: string): Promise<void> {
  const partial = `${file}.${process.pid}.parcial`;
  const handle = await open(partial, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial, file);
}

/** A name is permanent once its folder was synced. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** The last copy that was verified as good. */
type Conferida = { readonly copia: string; readonly em: string };

const conferidaOf = (pasta: string, sistema: string): string => path.join(pasta, sistema, 'conferida.json');

export async function noteConferida(pasta: string, { id, sistema }: Manifesto, em: number): Promise<void> {
  const conferida: Conferida = { copia: id, em: new Date(em).toISOString() };
  await writeSynced(conferidaOf(pasta, sistema), `${JSON.stringify(authenticate('conferida', conferida))}\n`);
}

/** Undefined: no copy was verified, or the note was changed. */
export async function readConferida(pasta: string, sistema: string): Promise<Date | undefined> {
  try {
    const conferida: Conferida = { ...JSON.parse(await readSmall(conferidaOf(pasta, sistema))) };
    const em = new Date(conferida.em);
    return autoriaOfDito('conferida', conferida) === 'falsa' || Number.isNaN(em.getTime()) ? undefined : em;
  } catch {
    return undefined;
  }
}

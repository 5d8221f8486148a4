/**
 * Reads and follows a folder that the operator keeps (anchors, revocation lists). An added, replaced or removed file takes effect a few
 * seconds later, without a restart. The caller gives the reader of one file.
 *
 * The first reading and small changes happen at once. A big change is read beside the requests: no request waits for it.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The folder is listed again after this time. */
const LOOK_MS = 2_000;
/** A change of up to this many bytes is read in a few milliseconds, so it is read at once. */
const AT_ONCE_BYTES_MAX = 524_288;
/** The longest revocation lists of ICP-Brasil have some ten million bytes. */
const FILE_BYTES_MAX = 134_217_728;
const FILES_MAX = 2_000;

/** The values of a file, and its problems. A file with problems alone does not replace the values it had before. */
export type Contents<Value> = { readonly values: readonly Value[]; readonly problems: readonly string[] };

/** Reads one file, and pauses regularly for other work. It does not throw. */
export type ReadFile<Value> = (bytes: Buffer) => Generator<void, Contents<Value>, void>;

/** Takes warnings for the operator, in Portuguese. */
export type FolderLog = { warn(fields: object, message: string): void };

export type FileOf<Value> = { readonly arquivo: string; readonly values: readonly Value[] };

export type Folder<Value> = {
  /** The files as they were at most a few seconds ago, by name. The array stays the same while nothing changes. */
  current(): readonly FileOf<Value>[];
};

type Known<Value> = { readonly stamp: string; readonly values: readonly Value[] };
type Listed = { readonly name: string; readonly stamp: string; readonly bytes: number };

/** Opens a folder and reads it. An unreadable folder counts as empty until it can be read. */
export function openFolder<Value>(where: string, read: ReadFile<Value>, log: FolderLog): Folder<Value> {
  const known = new Map<string, Known<Value>>();
  let files: readonly FileOf<Value>[] = [];
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  let isLoading = false;
  let trouble: string | undefined;

  function list(): readonly Listed[] | undefined {
    try {
      const names = readdirSync(where).filter((name) => !name.startsWith('.'));
      if (names.length > FILES_MAX) throw new Error(`tem ${names.length} arquivos; o limite é ${FILES_MAX}`);
      const listed = names.sort().flatMap((name) => listedFile(path.join(where, name), name));
      trouble = undefined;
      return listed;
    } catch (error) {
      const message = `a pasta ${where} não pôde ser lida (${(error as Error).message}); vale o que já se sabia dela`;
      if (message !== trouble) log.warn({ pasta: where }, message);
      trouble = message;
      return undefined;
    }
  }

  function* load(listed: readonly Listed[]): Generator<void, void, void> {
    for (const { name, stamp, bytes } of listed) {
      const before = known.get(name);
      if (before?.stamp === stamp) continue;
      const contents = yield* readOne(name, bytes);
      for (const problem of contents.problems) log.warn({ arquivo: path.join(where, name) }, `${name}: ${problem}`);
      const isUseless = contents.values.length === 0 && contents.problems.length > 0;
      const values = isUseless ? (before?.values ?? []) : contents.values;
      if (isUseless && values.length > 0) {
        log.warn({ arquivo: path.join(where, name) }, `${name}: continua valendo o conteúdo anterior do arquivo`);
      }
      known.set(name, { stamp, values });
      yield;
    }
    const names = new Set(listed.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    files = listed.map(({ name }) => ({ arquivo: name, values: known.get(name)!.values }));
  }

  function* readOne(name: string, bytes: number): Generator<void, Contents<Value>, void> {
    if (bytes > FILE_BYTES_MAX) {
      return { values: [], problems: [`o arquivo tem ${bytes} bytes; o limite é ${FILE_BYTES_MAX}`] };
    }
    try {
      return yield* read(readFileSync(path.join(where, name)));
    } catch (error) {
      return { values: [], problems: [`o arquivo não pôde ser lido (${(error as Error).message})`] };
    }
  }

  function look(): void {
    const wasFirst = isFirst;
    isFirst = false;
    const listed = list();
    if (listed === undefined) return;
    const changed = listed.filter(({ name, stamp }) => known.get(name)?.stamp !== stamp);
    if (changed.length === 0 && listed.length === known.size) return;
    const bytes = changed.reduce((total, file) => total + file.bytes, 0);
    if (wasFirst || bytes <= AT_ONCE_BYTES_MAX) {
      runToEnd(load(listed));
      return;
    }
    isLoading = true;
    runBeside(load(listed))
      .catch((error: unknown) => log.warn({ pasta: where, err: error }, `a leitura da pasta ${where} falhou`))
      .finally(() => {
        isLoading = false;
      });
  }

  return {
    current() {
      const now = performance.now();
      if (!isLoading && now - lookedAt >= LOOK_MS) {
        lookedAt = now;
        look();
      }
      return files;
    },
  };
}

/** The stamp changes with the content, even when the new file has the same size and time. */
function listedFile(file: string, name: string): readonly Listed[] {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return [];
  return [{ name, bytes: stat.size, stamp: `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}` }];
}

function runToEnd(steps: Generator<void, void, void>): void {
  while (!steps.next().done);
}

async function runBeside(steps: Generator<void, void, void>): Promise<void> {
  do await nextTurn();
  while (!steps.next().done);
}

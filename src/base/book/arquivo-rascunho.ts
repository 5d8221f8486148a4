/** A file of the archive while it is written, on a disk of this machine. The index grows in a file of its own beside the records. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { ignoring } from '../traces/ignoring.ts';

/** Bytes that are gathered before a part of a file is written to the disk. */
const WRITTEN_TOGETHER = 1024 * 1024;
/** Names of drafts. A killed command leaves its drafts behind. */
const NAME = /^nfse-[0-9a-f-]{36}\.(?:corpo|indice)\.parcial$/;

/** A file that was written whole and synced, and has no name in the archive yet. `sha256`: of the whole file. */
export type Escrito = { readonly file: string; readonly bytes: number; readonly sha256: Buffer };

export type Rascunho = {
  append(bytes: Buffer): Promise<void>;
  /** Adds to the index, which follows everything else. */
  appendIndex(bytes: Buffer): Promise<void>;
  /** Writes the index and the end, and syncs. */
  finish(end: Buffer): Promise<Escrito>;
  /** Removes both files of the draft. */
  drop(): Promise<void>;
};

class Part {
  private waiting: Buffer[] = [];
  private size = 0;
  bytes = 0;
  readonly file: string;
  readonly handle: FileHandle;

  constructor(file: string, handle: FileHandle) {
    this.file = file;
    this.handle = handle;
  }

  async append(bytes: Buffer): Promise<void> {
    this.waiting.push(bytes);
    this.size += bytes.length;
    this.bytes += bytes.length;
    if (this.size >= WRITTEN_TOGETHER) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.waiting);
    this.waiting = [];
    this.size = 0;
    await this.handle.appendFile(bytes);
  }
}

/** `folder`: where the draft grows; it must exist. `mode`: permissions of the files. */
export async function createRascunho(folder: string, mode: number): Promise<Rascunho> {
  const name = randomUUID();
  const make = async (kind: string): Promise<Part> => {
    const file = path.join(folder, `nfse-${name}.${kind}.parcial`);
    return new Part(file, await open(file, 'wx+', mode));
  };
  const [body, index] = [await make('corpo'), await make('indice')];
  const sum = createHash('sha256');
  const append = async (bytes: Buffer): Promise<void> => {
    sum.update(bytes);
    await body.append(bytes);
  };
  return {
    append,
    appendIndex: (bytes) => index.append(bytes),
    finish: async (end) => {
      await index.flush();
      for (let at = 0; at < index.bytes; ) {
        const part = Buffer.alloc(Math.min(WRITTEN_TOGETHER, index.bytes - at));
        await readWhole(index.handle, part, at);
        await append(part);
        at += part.length;
      }
      await append(end);
      await body.flush();
      await body.handle.sync();
      await Promise.all([body.handle.close(), index.handle.close()]);
      await unlink(index.file);
      return { file: body.file, bytes: body.bytes, sha256: sum.digest() };
    },
    drop: async () => {
      for (const { handle, file } of [body, index]) {
        await handle.close().catch(ignoring('the file may be closed already, and is removed'));
        await rm(file, { force: true });
      }
    },
  };
}

/** Fills `into` with the bytes of the file from this place on. */
export async function readWhole(handle: FileHandle, into: Buffer, at: number): Promise<Buffer> {
  for (let got = 0; got < into.length; ) {
    const { bytesRead } = await handle.read(into, got, into.length - got, at + got);
    if (bytesRead === 0) throw new Error('o arquivo acaba antes do fim');
    got += bytesRead;
  }
  return into;
}

/** Deletes the drafts of a folder that were not written to since this moment, in milliseconds. Returns their number. */
export async function removeRascunhos(folder: string, before: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder)) {
    if (!NAME.test(name)) continue;
    const file = path.join(folder, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs >= before) continue;
    await rm(file).then(
      () => (removed += 1),
      ignoring('the draft may belong to another account if the folder is shared'),
    );
  }
  return removed;
}

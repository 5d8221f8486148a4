/** The archive in a folder. */
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ArquivoLugar } from './arquivo-lugar.ts';
import { createRascunho, readWhole, removeRascunhos } from './arquivo-rascunho.ts';

/** Mode of a file: its account writes, and its group reads. */
const MODE = 0o640;

/** The folder must exist. A folder made in place of an unmounted disk would fill the wrong disk. */
export function arquivoFolder(folder: string): ArquivoLugar {
  const placeOf = (nome: string): string => path.join(folder, nome);
  return {
    lugar: folder,
    ensure: async () => void (await stat(folder)),
    create: async (tenant) => {
      await mkdir(placeOf(tenant), { recursive: true });
      return createRascunho(placeOf(tenant), MODE);
    },
    publish: async ({ file }, nome) => {
      const handle = await open(file, 'r+');
      await giveToNeighbour(handle, folder).finally(() => handle.close());
      await rename(file, placeOf(nome));
      await syncFolders(folder, path.dirname(placeOf(nome)));
    },
    writeBeside: async (nome, content) => {
      const file = placeOf(nome);
      const partial = `${file}.parcial`;
      const handle = await open(partial, 'w', MODE);
      try {
        await handle.writeFile(content);
        await giveToNeighbour(handle, folder);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(partial, file);
      await syncFolders(path.dirname(file));
    },
    readBeside: (nome) => orUndefined(readFile(placeOf(nome))),
    sizeOf: async (nome) => (await orUndefined(stat(placeOf(nome))))?.size,
    list: async () => {
      const all = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = all.filter((one) => one.isFile());
      return files.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name))).sort();
    },
    reading: async (nome, work) => {
      const handle = await open(placeOf(nome), 'r');
      try {
        return await work((at, length) => readWhole(handle, Buffer.alloc(length), at));
      } finally {
        await handle.close();
      }
    },
    remove: async (nome) => {
      for (const ending of ['', '.pem', '.assinatura', '.sha256']) await rm(placeOf(nome + ending), { force: true });
    },
    removeDrafts: async (before) => {
      let removed = 0;
      for (const one of await readdir(folder, { withFileTypes: true })) {
        if (one.isDirectory()) removed += await removeRascunhos(placeOf(one.name), before);
      }
      return removed;
    },
  };
}

/** Undefined if there is no such file. */
async function orUndefined<Result>(work: Promise<Result>): Promise<Result | undefined> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
}

/** A new name survives a crash only after its folder was synced. */
async function syncFolders(...folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  }
}

/** Gives a file written by root to the owner of the folder, so that the owner can read it. */
async function giveToNeighbour(handle: FileHandle, folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await handle.chown(uid, gid);
}

/**
 * Files and folders that commands leave behind. What root makes among the files of an account is that account's, who must be able to use it
 * and to delete it. The owner is changed through what was opened: behind a name may stand something else by then.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';

/** Makes a folder, and those around it that are missing. Throws what the system says. */
export async function makeFolder(folder: string): Promise<void> {
  const wanted = path.resolve(folder);
  const first = await mkdir(wanted, { recursive: true });
  if (first === undefined || !isRoot()) return;
  const inside = path.relative(first, wanted).split(path.sep).filter(Boolean);
  const made = [first, ...inside.map((_, at) => path.join(first, ...inside.slice(0, at + 1)))];
  for (const one of made) {
    const handle = await open(one, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    await giveToNeighbour(handle, one).finally(() => handle.close());
  }
}

/** How a file is written: `wx` is for a new one only, `w` replaces, `a` adds to what is there. */
export type Writing = { readonly mode?: number; readonly flag?: 'wx' | 'w' | 'a' };

/** Writes a file. Throws what the system says. */
export async function writeFileFor(file: string, content: string | Uint8Array, writing: Writing = {}): Promise<void> {
  const { mode = 0o666, flag = 'w' } = writing;
  const { handle, isNew } = await openFor(file, flag, mode);
  try {
    if (isNew && isRoot()) await giveToNeighbour(handle, file);
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

async function openFor(
  file: string,
  flag: 'wx' | 'w' | 'a',
  mode: number,
): Promise<{ readonly handle: FileHandle; readonly isNew: boolean }> {
  try {
    return { handle: await open(file, 'wx', mode), isNew: true };
  } catch (error) {
    if (flag === 'wx' || (error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { handle: await open(file, flag, mode), isNew: false };
  }
}

async function giveToNeighbour(handle: FileHandle, place: string): Promise<void> {
  const { uid, gid } = await stat(path.dirname(path.resolve(place)));
  await handle.chown(uid, gid);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

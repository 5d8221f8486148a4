/**
 * Files and folders that commands create. A file that root makes among those of an account belongs to that account. The account must be
 * able to use and delete it. The owner is changed through the open handle: the name may refer to another file by then.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';

/** Makes a folder and its missing parents. It throws the error of the system. */
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

/** The way of writing a file: `wx` makes a new one only, `w` replaces, `a` appends. */
export type Writing = { readonly mode?: number; readonly flag?: 'wx' | 'w' | 'a' };

/** Writes a file. It throws the error of the system. */
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

/** A folder is used by one process at a time: two that write to its files would overwrite each other. */
import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * `name`: the file with the number of the process. `who`: the other possible owner of the folder. `option`: the option that names another
 * folder.
 */
export type FolderLock = { readonly name: string; readonly who: string; readonly option: string };

/** Folders that this process has locked. The processes of a container may all have the number of a killed one. */
const lockedHere = new Set<string>();

/**
 * Locks a folder, and returns the function that unlocks it. A killed process leaves its number behind, which is then ignored. Throws in
 * Portuguese.
 */
export async function lockFolder(folder: string, { name, who, option }: FolderLock): Promise<() => Promise<void>> {
  const place = path.resolve(folder, name);
  for (let attempt = 0; ; attempt += 1) {
    try {
      const file = await open(place, 'wx', 0o600);
      await file.writeFile(String(process.pid));
      await file.close();
      lockedHere.add(place);
      return () => {
        lockedHere.delete(place);
        return rm(place, { force: true });
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') {
        throw new Error(
          `a pasta ${folder} não aceita escrita (${code}). Confira as permissões, ou escolha outra com ${option}.`,
        );
      }
    }
    const holder = Number(await readFile(place, 'utf8').catch(() => ''));
    const isHeld = holder === process.pid ? lockedHere.has(place) : holder > 0 && isAlive(holder);
    if (attempt > 0 || isHeld) {
      throw new Error(
        `a pasta ${folder} está em uso por ${who} (processo ${holder}). Encerre esse processo, ou escolha outra com ${option}.`,
      );
    }
    await rm(place, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** One process at a time works in a folder: two that write to its files would overwrite each other. */
import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

/** `name`: of the file that holds the number of the process. `who` else may have the folder, and the `option` that names another. */
export type FolderLock = { readonly name: string; readonly who: string; readonly option: string };

/** In a container every process may have the number of the one that was killed. */
const lockedHere = new Set<string>();

/** Takes a folder, and answers how to give it back. A killed process leaves its number behind, which counts no more. Throws in Portuguese. */
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

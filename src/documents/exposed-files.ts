/** Files with secrets that other users of this machine may read or write. */
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * A warning for each file that other users of this machine may read or write. The rights of a group are not checked: the group may have
 * been made for the service. A missing file gives no warning.
 */
export async function exposedFiles(files: readonly string[]): Promise<readonly string[]> {
  if (process.platform === 'win32') return [];
  const found = await Promise.all(files.map(async (file) => ({ file, isExposed: await isExposed(file) })));
  return found
    .filter(({ isExposed }) => isExposed)
    .map(
      ({ file }) =>
        `Outros usuários desta máquina podem ler ou mudar ${file}, que é segredo. Deixe-o só ao usuário que executa o serviço: chmod 600 ${file}`,
    );
}

/** Permission bits of other users: reading or writing a file, entering a folder. */
const OTHERS_FILE = 0o006;
const OTHERS_ENTER = 0o001;

/** True when other users of this machine may read or write a file; false for a missing file. */
export async function isExposed(file: string): Promise<boolean> {
  try {
    const real = await realpath(file);
    if (((await stat(real)).mode & OTHERS_FILE) === 0) return false;
    for (let folder = path.dirname(real); ; folder = path.dirname(folder)) {
      if (((await stat(folder)).mode & OTHERS_ENTER) === 0) return false;
      if (folder === path.dirname(folder)) return true;
    }
  } catch {
    return false;
  }
}

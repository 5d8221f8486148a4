/**
 * Settings in a copy. None is in force while the copy is judged. Those that run something are reported before a server starts with them.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The file that `alter system` writes. */
export const SYSTEM_SETTINGS = 'postgresql.auto.conf';

/** Settings that run a command, load a library, read another file of settings or reach another server. */
const RUNS =
  /_command$|_librar(?:y|ies)$|^include(?:_dir|_if_exists)?$|^(?:config|hba|ident|external_pid)_file$|^(?:dynamic_library|extension_control)_path$|^jit_provider$|^primary_conninfo$/i;
const LINE = /^\s*([A-Za-z_][\w.$]*)\s*=?\s*(.*)$/;
const NOTHING = /^''\s*(?:#.*)?$/;
/** Settings as `file: setting`, each once. The file of the embedded server is rewritten before each start. */
export async function findRunningSettings(cluster: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const name of ['postgresql.conf', SYSTEM_SETTINGS]) {
    const text = await readFile(path.join(cluster, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    for (const line of text.split('\n')) {
      const [, setting, value = ''] = LINE.exec(line) ?? [];
      if (setting !== undefined && RUNS.test(setting) && !NOTHING.test(value)) found.add(`${name}: ${setting}`);
    }
  }
  return [...found];
}

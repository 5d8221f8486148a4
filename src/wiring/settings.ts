/**
 * The settings file, put beneath the environment of this process before anything is opened. Threads and child processes thus have it as
 * well. A variable of the environment precedes the file: it is closer to the command, as when it is written in front of one.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { SettingsKnown } from '../base/terminal/command.ts';
import { faultText, readSettingsText, type SettingsText } from '../base/terminal/settings-file.ts';
import { ConfigError, VARIABLES, type Variable } from '../base/terminal/variables.ts';
import { isExposed } from '../documents/exposed-files.ts';
import { readConfig } from './config.ts';

/** The file that is read if no other is named. */
const SETTINGS_FILE = '/etc/nfse.env';

/** No settings file is larger. Reading another file by mistake stays cheap. */
const BYTES_MAX = 1024 * 1024;

/** `text`: undefined if the default file does not exist. */
export type SettingsFile = { readonly file: string; readonly text: SettingsText | undefined };

/** Reads the file of `--config`, which must exist, or the default one. Throws a {@link ConfigError} if it cannot be read. */
export function readSettingsFile(asked: string | undefined): SettingsFile {
  const file = asked === undefined ? SETTINGS_FILE : path.resolve(asked);
  try {
    const bytes = readFileSync(file);
    if (bytes.length > BYTES_MAX)
      throw new ConfigError(`${file} tem ${bytes.length} bytes; não é um arquivo de ajustes.`);
    return { file, text: readSettingsText(bytes) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code === 'ENOENT' && asked === undefined) return { file, text: undefined };
    throw new ConfigError(`${file}: ${REASONS[code] ?? `não pôde ser lido (${code}).`}`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'o arquivo de ajustes não existe. Confira o caminho; nfse config --exemplo escreve um para começar.',
  ENOTDIR: 'o arquivo de ajustes não existe. Confira o caminho.',
  EISDIR: 'é uma pasta, e não um arquivo de ajustes.',
  EACCES: 'esta conta não pode ler os ajustes. Dê o comando como a conta do serviço: sudo -u nfse nfse …',
};

/** Puts the settings of the file beneath the environment. Throws a {@link ConfigError} with every fault of the file. */
export function takeSettings({ file, text }: SettingsFile, env: NodeJS.ProcessEnv): void {
  if (text === undefined) return;
  if (text.faults.length > 0) throw new ConfigError(describeFaults(file, text.faults));
  // An empty variable counts as unset.
  for (const { name, value } of text.assignments) if (!env[name]) env[name] = value;
}

function describeFaults(file: string, faults: SettingsText['faults']): string {
  return [`${file} tem o que corrigir:`, ...faults.map((fault) => `  ${faultText(fault)}`)].join('\n');
}

/** A warning if other users of this machine can read a file with a secret. */
export async function exposedSettings({ file, text }: SettingsFile): Promise<readonly string[]> {
  const secrets = Object.entries<Variable<unknown>>(VARIABLES).flatMap(([name, { mask }]) => (mask ? [name] : []));
  const held = text?.assignments.find(({ name, value }) => secrets.includes(name) && value !== '');
  if (held === undefined || !(await isExposed(file))) return [];
  return [
    `Outros usuários desta máquina podem ler ou mudar ${file}, que tem um segredo (${held.name}). Deixe-o só a root e à conta do serviço: chmod o= ${file}`,
  ];
}

/** A description of a command's settings, correct or not. */
export async function describeSettings(
  read: SettingsFile,
  env: NodeJS.ProcessEnv,
  isTerminal: boolean,
): Promise<SettingsKnown> {
  return { ...read, env, problem: problemOf(), warnings: await exposedSettings(read) };

  function problemOf(): string | undefined {
    const together = { ...env };
    try {
      takeSettings(read, together);
      readConfig(together, isTerminal);
      return undefined;
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  }
}

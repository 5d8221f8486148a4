/**
 * The storage of the key of the audit chain: a file in the data folder, beside the embedded database and outside of it. A service creates a
 * missing file. Several machines on one database get the same file, or one with the lines of all (D-761).
 */
import { randomBytes } from 'node:crypto';
import { link, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { CHAVE_BYTES, holdChaves, lackChave, type Prazo } from '../base/book/auditoria-chave.ts';
import { exposedFiles } from '../documents/exposed-files.ts';
import { makeFolder, writeFileFor } from '../documents/new-files.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import type { Store } from './store.ts';

const NAME = 'auditoria.chave';
const HEAD = `# A chave da auditoria (nfse auditoria verificar). Guarde uma cópia fora da máquina, e nunca no banco nem junto das cópias dele.
# Várias máquinas no mesmo banco: o mesmo arquivo em todas. Uma chave por linha: grava-se com a primeira, e conferem-se todas.
# A linha «desde» diz a partir de quando tudo o que se grava é autenticado: deixe-a como está.
`;
const SINCE = /^# desde (\S+)$/;
/** Processes of a version without a key may run for so long beside the first one with it. */
const UPGRADING_MS = 1_800_000;

const fileOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => path.resolve(dataDir, NAME);

/** Loads the keys of this machine; the result is whether there are any. Threads and further processes need no more. */
export async function holdOwnChaves(config: Pick<Config, 'dataDir'>): Promise<boolean> {
  const file = fileOf(config);
  let text: string;
  let changed: number;
  try {
    text = await readFile(file, 'utf8');
    changed = (await stat(file)).mtimeMs;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new Error(
      `A chave da auditoria, ${file}, não pode ser lida (${code}): dê o comando como o usuário do serviço, ou entregue o arquivo a ele.`,
      { cause: error },
    );
  }
  holdChaves(readChaves(text, file), readPrazo(text, file) ?? { entradas: changed + UPGRADING_MS });
  return true;
}

/** The earliest of the dates in the lines of several machines; undefined: no line has one, as in a hand-made or older file. */
function readPrazo(text: string, file: string): Prazo | undefined {
  const said = text.split('\n').flatMap((line, place) => {
    const [, moment] = SINCE.exec(line.trim()) ?? [];
    if (moment === undefined) return [];
    const since = Date.parse(moment);
    if (!Number.isNaN(since)) return [since];
    throw new Error(
      `${file}, linha ${place + 1}: «${moment}» não é um momento, como 2026-11-29T12:00:00.000Z. Restaure o arquivo da cópia que guardou.`,
    );
  });
  if (said.length === 0) return undefined;
  const since = Math.min(...said);
  return { entradas: since, lugares: since };
}

function readChaves(text: string, file: string): readonly Buffer[] {
  const chaves = text.split('\n').flatMap((line, place) => {
    const said = line.trim();
    if (said === '' || said.startsWith('#')) return [];
    if (!new RegExp(`^[0-9a-f]{${2 * CHAVE_BYTES}}$`).test(said)) {
      throw new Error(
        `${file}, linha ${place + 1}: não é uma chave da auditoria (${2 * CHAVE_BYTES} dígitos hexadecimais). Restaure o arquivo da cópia que guardou.`,
      );
    }
    return [Buffer.from(said, 'hex')];
  });
  if (chaves.length > 0) return chaves;
  throw new Error(`${file} não traz nenhuma chave. Restaure o arquivo da cópia que guardou; perdida, apague-o.`);
}

type Opened = { readonly store: Store; readonly log: Logger; readonly isCommand: boolean };

/** The same with an open database: a service creates a missing key, and so does a command with an embedded database. */
export async function takeChave(config: Config, { store, log, isCommand }: Opened): Promise<void> {
  const file = fileOf(config);
  const isHeld = await holdOwnChaves(config).catch((error: Error) => {
    if (!isCommand) throw error;
    // Commands that only read continue.
    lackChave(error.message);
    return true;
  });
  if (isHeld) {
    if (!isCommand) await dateChave(config, log);
    for (const warning of await exposedFiles([file])) log.warn(warning);
    return;
  }
  const hasOther = await store.auditoria.hasChave();
  if (isCommand && config.databaseUrl !== undefined) {
    if (hasOther) lackChave(whyLacking(file));
    return;
  }
  try {
    await makeFolder(path.dirname(file));
    const isBeside = await store.auditoria.hasEntradas();
    await makeChave(file, isBeside ? Date.now() + UPGRADING_MS : 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') return log.warn(`${whyUnmade(file)} (${code}).`);
  }
  await holdOwnChaves(config);
  if (hasOther) log.warn(whyOther(file));
}

/** An older file without `# desde` gets one when a service starts: processes of that version may run for a while beside it. */
async function dateChave(config: Config, log: Logger): Promise<void> {
  const file = fileOf(config);
  const text = await readFile(file, 'utf8');
  if (text.split('\n').some((line) => SINCE.test(line.trim()))) return;
  try {
    await writeFileFor(file, `# desde ${new Date(Date.now() + UPGRADING_MS).toISOString()}\n${text}`);
  } catch (error) {
    log.warn(`${whyUndated(file)} (${(error as NodeJS.ErrnoException).code}).`);
  }
  await holdOwnChaves(config);
}

/**
 * The file appears complete under its name, or not at all: if two start at once, one creates it, and the other reads it. `since`:
 * milliseconds.
 */
async function makeChave(file: string, since: number): Promise<void> {
  const fresh = `${file}.${process.pid}`;
  try {
    await writeFileFor(
      fresh,
      `${HEAD}# desde ${new Date(since).toISOString()}\n${randomBytes(CHAVE_BYTES).toString('hex')}\n`,
      { mode: 0o600 },
    );
    await link(fresh, file);
  } finally {
    await rm(fresh, { force: true });
  }
}

const whyLacking = (file: string): string =>
  `a corrente de auditoria deste banco é autenticada por uma chave que este comando não tem: não há ${file}. Dê o comando na máquina que serve, com o NFSE_DATA_DIR do serviço, ou ponha ali uma cópia do auditoria.chave dela (chmod 600). Nada foi gravado`;
const whyUnmade = (file: string): string =>
  `a corrente de auditoria fica sem chave, e quem escreve no banco escreve também entradas dela: ${file} não pôde ser feito. Dê em NFSE_DATA_DIR uma pasta em que o serviço grave, e que fique`;
const whyUndated = (file: string): string =>
  `${file} não diz desde quando a chave vale, e o serviço não pôde escrevê-lo nele: vale a data do arquivo. Deixe-o ser escrito uma vez pelo usuário do serviço`;
const whyOther = (file: string): string =>
  `esta máquina não tinha a chave da auditoria, e fez uma nova, ${file}; este banco já tem entradas de outra. Se outra máquina serve o mesmo banco, ponha nas duas o mesmo arquivo; se a anterior se perdeu, o que é de antes fica dito assim`;

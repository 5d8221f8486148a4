/**
 * The command line, in Portuguese. The rows of the commands make the help, and only the requested command is loaded. Exit codes: 0 done, 1
 * refused or failed, 2 wrong usage, 75 not possible yet; `wiring/program.ts` ends with 75 when the database cannot be used.
 */

import { readArguments } from '../../base/terminal/arguments.ts';
import { type CliWorld, type Command, type Option, type Options, textOf } from '../../base/terminal/command.ts';
import { findNearest } from '../../base/terminal/nearest.ts';
import { columns } from '../../base/terminal/text.ts';
import { VARIABLES_HELP } from '../../base/terminal/variables.ts';
import { DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { versionText } from '../../published/versao.ts';

export type { CliWorld } from '../../base/terminal/command.ts';

/** Options of every command. */
const ALWAYS: Options = {
  config: { takes: 'ARQUIVO', help: 'lê os ajustes deste arquivo, e não de /etc/nfse.env' },
};

/** Runs one command; resolves with the exit code. Failures of the machine are thrown, with a message for the operator. */
export async function runCli(argv: readonly string[], world: CliWorld): Promise<number> {
  const [name] = argv;
  if (name === undefined || HELP.includes(name)) {
    world.out(await help());
    return name === undefined ? 2 : 0;
  }
  if (VERSION.includes(name)) {
    world.out(`${versionText()}, leiaute ${DPS_VERSAO} da NFS-e nacional\n`);
    return 0;
  }
  const { loadCommands } = await loadCommandList();
  const family = await loadCommands(name);
  const command = commandOf(argv, family);
  if (command === undefined) return refuseCommand(argv, family, world);
  const rest = argv.slice(command.name.split(' ').length);
  if (asksHelp(rest)) {
    world.out(await commandHelp(command, world));
    return 0;
  }
  const asked = readArguments({ ...command, options: { ...command.options, ...ALWAYS } }, rest);
  if ('problems' in asked) {
    world.err(`${asked.problems.join('\n')}\n\n${await commandHelp(command, world)}`);
    return 2;
  }
  const file = textOf(asked.values, 'config');
  if (file !== undefined) world.useSettings(file);
  return command.run(world, asked.values, asked.args);
}

/** The version is told without this list, which names a file of each subject. */
const loadCommandList = () => import('./commands.ts');

const HELP = ['ajuda', 'help', '--help', '-h'];

const VERSION = ['--version', '--versao', '-v', 'versao'];

function asksHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

function commandOf([first, second]: readonly string[], family: readonly Command[]): Command | undefined {
  return family.find((one) => one.name === `${first} ${second}`) ?? family.find((one) => one.name === first);
}

/** A family (`municipio`) alone or with `--help` shows its commands; an unknown command is refused. */
async function refuseCommand(argv: readonly string[], loaded: readonly Command[], world: CliWorld): Promise<number> {
  const [name, second] = argv as readonly [string, string?];
  if (/^--config(?:=|$)/.test(name)) {
    world.err('--config vem depois do comando: nfse COMANDO --config ARQUIVO.\n');
    return 2;
  }
  const { loadAllCommands } = await loadCommandList();
  const family = loaded.filter((one) => one.name.startsWith(`${name} `));
  if (family.length > 0 && (second === undefined || HELP.includes(second) || asksHelp(argv))) {
    const isHelp = second !== undefined;
    (isHelp ? world.out : world.err)(familyHelp(name, family));
    return isHelp ? 0 : 2;
  }
  const asked = family.length > 0 ? `${name} ${second}` : name;
  const known = (family.length > 0 ? family : await loadAllCommands()).map((one) => one.name);
  const whole = known.find((one) => one.split(' ')[1] === asked);
  const near = whole ?? findNearest(asked, [...known, ...known.map((one) => one.split(' ')[0]!)]);
  const hint = near === undefined ? '' : ` Seria ${near}?`;
  world.err(`Não existe o comando ${asked}.${hint} Os comandos são: ${known.join(', ')}.\n`);
  return 2;
}

async function help(): Promise<string> {
  const { loadAllCommands } = await loadCommandList();
  const commands = await loadAllCommands();
  return [
    'nfse: emissão de NFS-e do município',
    '',
    'Uso: nfse COMANDO [opções]',
    '',
    'Comandos:',
    ...columns(commands.map((command) => [nameWithArguments(command), command.summary])),
    '',
    'nfse COMANDO --help mostra as opções de um comando; nfse --version, a versão do programa e do leiaute.',
    '',
    'Ajustes, no ambiente ou em /etc/nfse.env (nfse COMANDO --config ARQUIVO lê outro); o ambiente vale mais. nfse config mostra o que vale:',
    ...columns(VARIABLES_HELP),
    '',
  ].join('\n');
}

function familyHelp(name: string, family: readonly Command[]): string {
  return [
    `Uso: nfse ${name} COMANDO`,
    '',
    ...columns(family.map((command) => [nameWithArguments(command), command.summary])),
    '',
    `nfse ${family[0]!.name} --help, e assim cada um, mostra as opções.`,
    '',
  ].join('\n');
}

function nameWithArguments({ name, arguments: taken }: Command): string {
  return taken === undefined ? name : `${name} ${taken}`;
}

async function commandHelp(command: Command, world: CliWorld): Promise<string> {
  const rows = [...Object.entries(command.options ?? {}).flatMap(optionRows), ...(command.notes ?? [])];
  const options = rows.length === 0 ? [] : ['', 'Opções:', ...columns(rows)];
  const more = (await command.moreHelp?.(world)) ?? [];
  return [`Uso: nfse ${nameWithArguments(command)}`, '', command.summary, ...options, ...more, ''].join('\n');
}

function optionRows([name, { takes, help, note }]: readonly [string, Option]): readonly (readonly [string, string])[] {
  const row = [takes === undefined ? `--${name}` : `--${name} ${takes}`, help] as const;
  return note === undefined ? [row] : [row, ['', note]];
}

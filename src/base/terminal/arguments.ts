/** Reads the arguments after the name of a command by its options, and lists all faults. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ownOf } from '../../fiscal/own.ts';
import type { Command, Option, Options, Values } from './command.ts';
import { findNearest } from './nearest.ts';

export type Arguments = { readonly values: Values; readonly args: readonly string[] };

/** `problems`: sentences in Portuguese for the person who typed the command. */
export function readArguments(
  command: Command,
  typed: readonly string[],
): Arguments | { readonly problems: readonly string[] } {
  const { options = {} } = command;
  // The strict mode is off: Node's messages are in English and name the first problem only.
  const { values, positionals, tokens } = parseArgs({
    args: [...typed],
    options: toNodeOptions(options),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const problems = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = ownOf<Option>(options, name);
    // No option has a short name, so a single hyphen is always a mistake. Node reads each of its letters as an option.
    if (option === undefined || !rawName.startsWith('--')) {
      problems.add(describeUnknown(typed[token.index]!.split('=', 1)[0]!, Object.keys(options)));
    } else if (option.takes === undefined && inlineValue) problems.add(`A opção ${rawName} não leva valor.`);
    else if (option.takes !== undefined && value === undefined)
      problems.add(describeMissingValue(rawName, option.takes));
    else if (option.takes !== undefined && inlineValue === false && /^-./.test(value!)) {
      const isOption = Object.hasOwn(options, value!.replace(/^--/, '').split('=', 1)[0]!);
      const way = isOption ? '' : ` Se ele começa mesmo por hífen, escreva ${rawName}=VALOR.`;
      problems.add(`${describeMissingValue(rawName, option.takes)}${way}`);
    }
  }
  // A word after an unknown option may be its value, so arguments are counted only when all options are known.
  const all = problems.size > 0 ? [...problems] : countProblems(command, positionals);
  return all.length > 0 ? { problems: all } : { values: values as Values, args: positionals };
}

function describeUnknown(rawName: string, names: readonly string[]): string {
  const options = names.map((name) => `--${name}`);
  const near = findNearest(rawName, options);
  return `Não existe a opção ${rawName}.${near === undefined ? '' : ` Seria ${near}?`}`;
}

function describeMissingValue(rawName: string, takes: string | undefined): string {
  return `Falta o valor da opção ${rawName}: ${rawName} ${takes}.`;
}

/** The options in the form of Node's `parseArgs`. */
function toNodeOptions(options: Options): NonNullable<ParseArgsConfig['options']> {
  const rows = Object.entries(options).map(([name, { takes, isRepeated = false }]) => [
    name,
    { type: takes === undefined ? 'boolean' : 'string', multiple: isRepeated },
  ]);
  return Object.fromEntries(rows);
}

function countProblems({ name, arguments: wanted }: Command, args: readonly string[]): readonly string[] {
  if (wanted?.includes('…')) return [];
  const names = wanted?.split(' ') ?? [];
  const needed = names.filter((one) => !one.startsWith('['));
  if (args.length < needed.length) return [`${name} pede ${wanted}.`];
  const empty = names.find((_, place) => args[place]?.trim() === '');
  if (empty !== undefined) return [`${name} pede ${empty}, que veio vazio.`];
  const extra = args.slice(names.length);
  if (extra.length === 0) return [];
  const what = extra.length === 1 ? 'um argumento a mais' : 'argumentos a mais';
  const takesOnly = names.length === 0 ? 'não leva nenhum além das opções' : `leva só ${wanted}`;
  return [`Há ${what}: ${extra.join(' ')}. ${name} ${takesOnly}.`];
}

/** What follows the name of a command, read against what the command takes; everything that does not fit is told. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ownOf } from '../../fiscal/own.ts';
import type { Command, Option, Options, Values } from './command.ts';

export type Arguments = { readonly values: Values; readonly args: readonly string[] };

/** Problems are sentences in Portuguese, for whoever typed them. */
export function readArguments(
  command: Command,
  typed: readonly string[],
): Arguments | { readonly problems: readonly string[] } {
  const { options } = command;
  // Not strict: its messages are English, and it tells the first problem only.
  const { values, positionals, tokens } = parseArgs({
    args: [...typed],
    options: parsable(options),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const problems = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = ownOf<Option>(options, name);
    // Nothing here has a short name, so a single hyphen is always a slip; node sees each letter of it as an option.
    if (option === undefined || !rawName.startsWith('--')) {
      problems.add(unknown(typed[token.index]!.split('=', 1)[0]!, Object.keys(options)));
    } else if (option.takes === undefined && inlineValue) problems.add(`A opção ${rawName} não leva valor.`);
    else if (option.takes !== undefined && value === undefined) problems.add(withoutValue(rawName, option.takes));
    else if (option.takes !== undefined && inlineValue === false && /^-./.test(value!)) {
      const isOption = Object.hasOwn(options, value!.replace(/^--/, '').split('=', 1)[0]!);
      const way = isOption ? '' : ` Se ele começa mesmo por hífen, escreva ${rawName}=VALOR.`;
      problems.add(`${withoutValue(rawName, option.takes)}${way}`);
    }
  }
  // What follows an unknown option may be its value, so arguments are counted only when all options are known.
  const all = problems.size > 0 ? [...problems] : countProblems(command, positionals);
  return all.length > 0 ? { problems: all } : { values: values as Values, args: positionals };
}

function unknown(rawName: string, names: readonly string[]): string {
  const near = nearest(
    rawName,
    names.map((name) => `--${name}`),
  );
  return `Não existe a opção ${rawName}.${near === undefined ? '' : ` Seria ${near}?`}`;
}

function withoutValue(rawName: string, takes: string | undefined): string {
  return `Falta o valor da opção ${rawName}: ${rawName} ${takes}.`;
}

/** As node wants them. */
function parsable(options: Options): NonNullable<ParseArgsConfig['options']> {
  const rows = Object.entries(options).map(([name, { takes, isRepeated = false }]) => [
    name,
    { type: takes === undefined ? 'boolean' : 'string', multiple: isRepeated },
  ]);
  return Object.fromEntries(rows);
}

function countProblems(
  { name, takes, takesMore, arguments: wanted }: Command,
  args: readonly string[],
): readonly string[] {
  if (args.length < takes) return [`${name} pede ${wanted}.`];
  if (args.slice(0, takes).some((one) => one.trim() === '')) return [`${name} pede ${wanted}, que veio vazio.`];
  const extra = takesMore ? [] : args.slice(takes);
  if (extra.length === 0) return [];
  const what = extra.length === 1 ? 'um argumento a mais' : 'argumentos a mais';
  const takesOnly = takes === 0 ? 'não leva nenhum além das opções' : `leva só ${wanted}`;
  return [`Há ${what}: ${extra.join(' ')}. ${name} ${takesOnly}.`];
}

/** Further than this from every name, a text is no slip of one. */
const SLIPS_MAX = 3;

/** The name that was probably meant, when there is one. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const bare = (text: string): string => text.replace(/^-+/, '').toLowerCase();
  const wanted = bare(typed);
  let best: string | undefined;
  let least = Math.min(SLIPS_MAX, Math.max(1, Math.floor(wanted.length / 3))) + 1;
  for (const name of names) {
    const slips = slipsBetween(wanted, bare(name));
    if (slips < least) [best, least] = [name, slips];
  }
  return best ?? names.find((name) => wanted.length > 2 && bare(name).startsWith(wanted));
}

/** Letters to insert, to leave out, to change, or to swap with the next: the distance of optimal string alignment. */
export function slipsBetween(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let least = Math.min(
        rows[row - 1]![column]! + 1,
        line[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) least = Math.min(least, rows[row - 2]![column - 2]! + 1);
      line.push(least);
    }
    rows.push(line);
  }
  return rows[one.length]![other.length]!;
}

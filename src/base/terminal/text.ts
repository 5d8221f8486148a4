/** Forms of output at a terminal: columns, JSON, faults, trails and events. */

import type { Fault } from '../../fiscal/fault.ts';
import { quoteShell } from '../world/quote-shell.ts';

/** Two columns, the left one as wide as its longest text. */
export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

export function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A change of state in the output of a command. */
type TrailStep = {
  readonly em: string;
  readonly de: string | null;
  readonly gatilho: string;
  readonly para: string;
  readonly mensagem: string | null;
  readonly quem: string | null;
};

/** One row for each change of state of a note or an event: moment, states, author and reason. */
export function trailRows(trilha: readonly TrailStep[]): readonly string[] {
  return columns(
    trilha.map(({ em, de, gatilho, para, mensagem, quem }) => [
      em,
      `${de === null ? '' : `${de} → `}${para} (${gatilho}${quem === null ? '' : `, por ${printable(quem)}`})${mensagem === null ? '' : `: ${printable(mensagem)}`}`,
    ]),
  );
}

/** The published fields of an event by their names, without the empty ones. `after`: additional rows of the command. */
export function eventoLines(
  evento: Readonly<Record<string, unknown>>,
  after: readonly (readonly [string, string])[] = [],
): string {
  const rows = Object.entries(evento).flatMap(([name, value]): (readonly [string, string])[] => {
    if (value === null || value === undefined) return [];
    return [[name, printable(typeof value === 'object' ? JSON.stringify(value) : String(value))]];
  });
  return columns([...rows, ...after])
    .map((line) => `${line}\n`)
    .join('');
}

/** A text as one argument of a shell. */
export function quoteArgument(text: string): string {
  return /^[\w=.,:/-]+$/.test(text) ? text : quoteShell(text);
}

/** Text from outside, without the control characters that would move the cursor. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

/**
 * Columns as wide as their longest cell, one line a row. `width`: of a terminal. Columns of several words are cut to fit it; text for
 * copying (keys, documents) stays whole. Undefined: no terminal, and nothing is cut. `cuttable`: positions of further columns that may be
 * cut.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  width?: number,
  cuttable: readonly number[] = [],
): readonly string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const isProse = head.map(
    (_, column) => cuttable.includes(column) || rows.some((row) => /\p{L}\S* \S/u.test(row[column]!)),
  );
  const whole = (): number => widths.reduce((sum, one) => sum + one + 2, -2);
  const widestProse = (): number => Math.max(...widths.filter((_, column) => isProse[column]));
  while (width !== undefined && whole() > width && widestProse() > CELL_MIN) {
    widths[widths.findIndex((one, column) => isProse[column] && one === widestProse())]! -= 1;
  }
  const cut = (text: string, column: number): string =>
    text.length <= widths[column]! ? text : `${text.slice(0, widths[column]! - 1)}…`;
  return rows.map((row) =>
    row
      .map((cell, column) => cut(cell, column).padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

const CELL_MIN = 8;

/** A moment of ISO 8601 in the form of a table: `2026-11-27 10:30`, in its original time zone. */
export function shortMoment(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

/** A fault from the service, or from a local flow. */
export type FaultText = Pick<
  Fault,
  'codigo' | 'xpath' | 'mensagem' | 'campo' | 'linha' | 'coluna' | 'encontrado' | 'esperado' | 'correcao'
>;

/** Faults as lines, with the place first, as in compiler messages. */
export function faultLines(faults: readonly FaultText[]): string {
  return faults.map(faultLine).join('\n');
}

function faultLine(fault: FaultText): string {
  const { codigo, mensagem, linha, coluna, correcao } = fault;
  const place = linha === undefined ? '' : `${linha}:${coluna}  `;
  const details = [
    ['em', fault.xpath],
    ['campo', fault.campo],
    ['encontrado', fault.encontrado],
    ['esperado', fault.esperado],
    ['correção', correcao === '' ? 'retire-o' : correcao],
  ].flatMap(([name, value]) => (value ? [`      ${name}: ${value}`] : []));
  return [`  ${place}${codigo}  ${mensagem}`, ...details].join('\n');
}

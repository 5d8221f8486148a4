/**
 * Tables that are exported as a file: as CSV, in one dialect (`documents/write-csv.ts`), or as a line of JSON for each row. They are
 * written while the rows are read.
 */
import { writeCsv } from '../../documents/write-csv.ts';

export const STREAM_TYPES = ['text/csv', 'application/x-ndjson'] as const;
export type StreamType = (typeof STREAM_TYPES)[number];

/** The numeric columns of all tables; other columns are text. Days are AAAA-MM-DD, moments ISO 8601. */
const NUMEROS: ReadonlySet<string> = new Set([
  ...['id', 'numero_dps', 'codigo_situacao_nfse', 'valor_servico', 'valor_issqn', 'valor_base_calculo'],
  ...['aliquota_issqn', 'id_evento', 'numero_sequencial', 'reprocessamentos_count', 'aliquota', 'reducao', 'linha'],
]);

/** A table as CSV, a line at a time; the cells have the service's usual form. */
export function writeTabela(
  columns: readonly string[],
  rows: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): AsyncGenerator<string> {
  return writeCsv(columns, rows, NUMEROS);
}

/** `columns`: of a CSV, in their order. */
export function writeTable(
  type: StreamType,
  columns: readonly string[],
  rows: AsyncIterable<object> | Iterable<object>,
): AsyncIterable<string> {
  return type === 'text/csv' ? writeTabela(columns, cellsOf(columns, rows)) : linesOf(rows);
}

async function* linesOf(rows: AsyncIterable<object> | Iterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}

async function* cellsOf(
  columns: readonly string[],
  rows: AsyncIterable<object> | Iterable<object>,
): AsyncGenerator<readonly string[]> {
  for await (const row of rows) {
    yield columns.map((column) => {
      const value: unknown = (row as Readonly<Record<string, unknown>>)[column];
      if (value === null || value === undefined) return '';
      if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(' ');
      return typeof value === 'object' ? JSON.stringify(value) : isoOf(column, String(value));
    });
  }
}

const DAY = /^(\d\d)\/(\d\d)\/(\d{4})$/;
const SPACED_MOMENT = /^(\S{10}) (\S{8}) ([+-]\d\d)(\d\d)$/;

/** The JSON answers write days, and most moments, in forms of their own (D-05). */
function isoOf(column: string, text: string): string {
  if (!column.startsWith('data_')) return text;
  return text.replace(DAY, '$3-$2-$1').replace(SPACED_MOMENT, '$1T$2$3:$4');
}

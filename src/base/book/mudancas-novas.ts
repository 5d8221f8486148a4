/** Changes of notas and eventos for their subscribers. They are written with the moves that made them, in one row a transaction. */
import { randomUUID } from 'node:crypto';
import type { PoolClient } from '../pg/pg.ts';
import { insertRows } from '../pg/sql.ts';
import type { Traced } from '../traces/traces.ts';
import type { Ref } from './fila.ts';

/** Kind of the changed row: a nota, or an evento. */
type Item = 'nota' | 'evento';

/**
 * A change of state. `movimento`: its number among the moves of its row; `em`: milliseconds; `para`: the new state. `estadoDaNota`: for an
 * evento, the state of its nota at that moment, known once the change has its place.
 */
export type Mudou = Ref &
  Traced & {
    readonly item: Item;
    readonly movimento: number;
    readonly em: number;
    readonly para: string;
    readonly estadoDaNota?: string | undefined;
  };

const LETTERS = { nota: 'n', evento: 'e' } as const;

export function writeMudou({ item, id, mes, movimento, em, para, estadoDaNota }: Mudou): string {
  const line = `${LETTERS[item]} ${id} ${mes} ${movimento} ${em} ${para}`;
  return estadoDaNota === undefined ? line : `${line} ${estadoDaNota}`;
}

const LINE =
  /^(?<letter>[ne]) (?<id>\d+) (?<mes>\d{6}) (?<movimento>\d+) (?<em>-?\d+) (?<para>\w+)(?: (?<estadoDaNota>\w+))?$/;
const ITEMS: Readonly<Record<string, Item>> = { n: 'nota', e: 'evento' };

/** Undefined: a newer version wrote the line. A partial reading would report it wrongly, or lose it. */
export function readMudou(line: string): Mudou | undefined {
  const found = LINE.exec(line)?.groups;
  if (found === undefined) return undefined;
  const { letter, id, mes, movimento, em, para, estadoDaNota } = found as Record<string, string>;
  return {
    ...{ item: ITEMS[letter!]!, id: id!, mes: Number(mes), movimento: Number(movimento), em: Number(em), para: para! },
    ...(estadoDaNota === undefined ? {} : { estadoDaNota }),
  };
}

/** A row as a transaction wrote it. `traceparents`: one line a change, empty without a trace; null: no change has one. */
export type Nova = { readonly id: string; readonly mudancas: string; readonly traceparents: string | null };

/**
 * The changes of rows, and the rows that are left to a newer version. Those are the rows that only it can read, and rows that would
 * overtake them for the same item.
 */
export function readNovas(rows: readonly Nova[]): {
  readonly mudadas: readonly Mudou[];
  readonly left: readonly Nova[];
} {
  const read = rows.map((row) => ({ row, lines: row.mudancas.split('\n'), mudadas: [] as Mudou[] }));
  let left = read.filter(({ row, lines, mudadas }) => {
    const traces = row.traceparents?.split('\n');
    for (const [place, line] of lines.entries()) {
      const mudou = readMudou(line);
      if (mudou !== undefined) mudadas.push(traces?.[place] ? { ...mudou, traceparent: traces[place] } : mudou);
    }
    return mudadas.length < lines.length;
  });
  for (let before = 0; left.length > before; ) {
    before = left.length;
    const places = left.flatMap(({ lines }) => lines.map(placeOf));
    const held = new Map([...Map.groupBy(places, ({ key }) => key)].map(([key, of]) => [key, firstOf(of)]));
    left = read.filter(
      (one) => left.includes(one) || one.lines.map(placeOf).some(({ key, at }) => at > (held.get(key) ?? at)),
    );
  }
  return {
    mudadas: read.flatMap((one) => (left.includes(one) ? [] : one.mudadas)),
    left: left.map(({ row }) => row),
  };
}

/** The item of a line, and the place of the change among its moves, as far as readable. */
function placeOf(line: string): { readonly key: string; readonly at: number } {
  const [letter, id, , movimento] = line.split(' ');
  return { key: `${letter} ${id}`, at: Number(movimento) || 0 };
}

function firstOf(places: readonly { readonly at: number }[]): number {
  return Math.min(...places.map(({ at }) => at));
}

export const INSERT_NOVAS = insertRows<Nova>('insert_mudancas_novas', 'mudancas_novas', [
  ['id uuid', ({ id }) => id],
  ['mudancas text', ({ mudancas }) => mudancas],
  ['traceparents text', ({ traceparents }) => traceparents],
]);

/** Writes the changes of moves. A move that returns to its own state, such as a postponed sending, is no change. */
export async function insertNovas(
  client: PoolClient,
  tenant: string,
  item: Item,
  moves: readonly (Omit<Mudou, 'item'> & { readonly de: string | null })[],
): Promise<void> {
  const changes = moves.filter(({ de, para }) => de !== para);
  if (changes.length === 0) return;
  const mudancas = changes.map((move) => writeMudou({ item, ...move })).join('\n');
  const isTraced = changes.some(({ traceparent }) => traceparent != null);
  const traceparents = isTraced ? changes.map(({ traceparent }) => traceparent ?? '').join('\n') : null;
  await client.query(INSERT_NOVAS(tenant, [{ id: randomUUID(), mudancas, traceparents }]));
}

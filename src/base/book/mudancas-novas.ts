/** Changes of notas and eventos for their subscribers. They are written in the transaction that made them, in one row. */
import { randomUUID } from 'node:crypto';
import { type ItemMudado, LETRAS, MUDANCAS, type TipoDescrito, type TipoMudanca } from '../../fiscal/mudanca.ts';
import { insertRows } from '../pg/mergeable.ts';
import type { PoolClient } from '../pg/pg.ts';
import type { Traced } from '../traces/traces.ts';
import type { Ref } from './fila.ts';

/**
 * A change of a nota or an evento. `tipo`: name of its kind, `nota.autorizada`; `movimento`: number among the moves of its row, of the
 * latest one if it is no move; `em`: milliseconds; `para`: state of the row with it. `estadoDaNota`: for an evento, the state of its nota
 * at that moment, known once the change has its place.
 */
export type Mudou = Ref &
  Traced & {
    readonly tipo: string;
    readonly item: ItemMudado;
    readonly movimento: number;
    readonly em: number;
    readonly para: string;
    readonly estadoDaNota?: string | undefined;
  };

/** A change as it is written. */
export type NovaMudanca = Omit<Mudou, 'tipo' | 'estadoDaNota'> & { readonly tipo: TipoMudanca };

/** Whether a change is a move to another state. */
export function isMove({ tipo, item, para }: Pick<Mudou, 'tipo' | 'item' | 'para'>): boolean {
  return tipo === nameEstado(item, para);
}

/** Order of the changes of one nota or evento. Those that are no moves come after the move of their number, by their moments. */
export function compareNumbers(one: Mudou, other: Mudou): number {
  const emOf = (mudou: Mudou): number => (isMove(mudou) ? 0 : mudou.em);
  return one.movimento - other.movimento || emOf(one) - emOf(other);
}

function nameEstado(item: ItemMudado, estado: string): string {
  return `${item}.${estado}`;
}

const LINE =
  /^(?<codigo>[a-z]+) (?<id>\d+) (?<mes>\d{6}) (?<movimento>\d+) (?<em>-?\d+) (?<para>\w+)(?: (?<estadoDaNota>\w+))?$/;

/** Writes and reads the stored lines of changes of some kinds. */
export type Coding = {
  readonly write: (mudou: Omit<Mudou, keyof Traced>) => string;
  /** Undefined: a newer version wrote the line. A partial reading would report it wrongly, or lose it. */
  readonly read: (line: string) => Mudou | undefined;
};

export function createCoding(tipos: readonly TipoDescrito[]): Coding {
  const codes = new Map<string, string>(tipos.map(({ tipo, codigo }) => [tipo, codigo]));
  const kinds = new Map<string, TipoDescrito>(tipos.map((one) => [one.codigo, one]));
  return {
    write: ({ tipo, item, id, mes, movimento, em, para, estadoDaNota }) => {
      // A state of a newer version has no code of its own either.
      const line = `${codes.get(tipo) ?? LETRAS[item]} ${id} ${mes} ${movimento} ${em} ${para}`;
      return estadoDaNota === undefined ? line : `${line} ${estadoDaNota}`;
    },
    read: (line) => {
      const found = LINE.exec(line)?.groups;
      const kind = kinds.get(found?.['codigo'] ?? '');
      if (found === undefined || kind === undefined) return undefined;
      const { id, mes, movimento, em, para, estadoDaNota } = found as Record<string, string>;
      const { item, estado } = kind;
      const tipo = estado === null ? kind.tipo : nameEstado(item, para!);
      return {
        ...{ tipo, item, id: id!, mes: Number(mes), movimento: Number(movimento), em: Number(em), para: para! },
        ...(estadoDaNota === undefined ? {} : { estadoDaNota }),
      };
    },
  };
}

export const CODING = createCoding(MUDANCAS);

/** A row as a transaction wrote it. `traceparents`: one line a change, empty without a trace; null: no change has one. */
export type Nova = { readonly id: string; readonly mudancas: string; readonly traceparents: string | null };

/**
 * The changes of rows, and the rows that are left to a newer version. Those are the rows that only it can read, and rows that would
 * overtake them for the same item.
 */
export function readNovas(
  rows: readonly Nova[],
  { read: readMudou }: Pick<Coding, 'read'> = CODING,
): {
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

/** The item of a line, and the place of the change among its moves, as far as readable. A change that is no move comes after its number. */
function placeOf(line: string): { readonly key: string; readonly at: number } {
  const [codigo = '', id, , movimento] = line.split(' ');
  return { key: `${codigo[0]} ${id}`, at: (Number(movimento) || 0) + (codigo.length > 1 ? 0.5 : 0) };
}

function firstOf(places: readonly { readonly at: number }[]): number {
  return Math.min(...places.map(({ at }) => at));
}

export const INSERT_NOVAS = insertRows<Nova>('insert_mudancas_novas', 'mudancas_novas', [
  ['id uuid', ({ id }) => id],
  ['mudancas text', ({ mudancas }) => mudancas],
  ['traceparents text', ({ traceparents }) => traceparents],
]);

/** Writes changes, in the transaction that made them. */
export async function insertNovas(client: PoolClient, tenant: string, mudadas: readonly NovaMudanca[]): Promise<void> {
  if (mudadas.length === 0) return;
  const mudancas = mudadas.map(CODING.write).join('\n');
  const isTraced = mudadas.some(({ traceparent }) => traceparent != null);
  const traceparents = isTraced ? mudadas.map(({ traceparent }) => traceparent ?? '').join('\n') : null;
  await client.query(INSERT_NOVAS(tenant, [{ id: randomUUID(), mudancas, traceparents }]));
}

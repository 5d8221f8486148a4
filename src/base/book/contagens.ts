/** Buckets that all processes and machines on one database take from. The clock of the database fills them. */
import type { Db } from '../pg/open.ts';
import { type Planned, planOnce } from '../pg/planned.ts';
import { unnestRows } from '../pg/sql.ts';

/** `rede`: owner of the bucket. `tamanho`: its capacity. */
export type Tomada = { readonly rede: string; readonly tamanho: number; readonly custo: number };
export type Tomado = { readonly resta: number; readonly coube: boolean };

/** Every bucket here is full again after this time. */
export const CHEIO_EM_MS = 60_000;
const CHEIO_EM_S = CHEIO_EM_MS / 1_000;

const TOMADAS = unnestRows<Tomada>(
  [
    ['rede text', ({ rede }) => rede],
    ['tamanho float8', ({ tamanho }) => tamanho],
    ['custo float8', ({ custo }) => custo],
  ],
  2,
);

/**
 * Current content of a bucket. The cost comes as the difference of two columns. Parameters are avoided, because Citus loses those of an `on
 * conflict`.
 */
const FILLED = `least(excluded.tamanho, c.resta + greatest(0, excluded.em - c.em) * excluded.tamanho / ${CHEIO_EM_S})`;
const COST = '(excluded.tamanho - excluded.resta)';

/** `otherwise`: the content that remains if it is too small. The fixed order prevents deadlocks. */
const taking = (name: string, otherwise: string) =>
  planOnce(
    name,
    `insert into contagens as c (contagem, rede, tamanho, resta, em, coube)
    select $1::text, x.rede, x.tamanho, x.tamanho - x.custo, extract(epoch from clock_timestamp())::float8, true
    from ${TOMADAS.relation} order by x.rede
    on conflict (contagem, rede) do update set tamanho = excluded.tamanho, em = greatest(c.em, excluded.em),
      coube = ${FILLED} >= ${COST},
      resta = case when ${FILLED} >= ${COST} then ${FILLED} - ${COST} else ${otherwise} end
    returning rede, resta, coube`,
  );
const TAKE = taking('take_contagens', FILLED);
const SPEND = taking('spend_contagens', '0');

const FORGET = `delete from contagens where em < extract(epoch from now())::float8 - ${CHEIO_EM_S}`;

export function contagemStore(pool: Db) {
  const run = async (take: Planned, contagem: string, tomadas: readonly Tomada[]): Promise<readonly Tomado[]> => {
    type Row = Tomado & { readonly rede: string };
    const { rows } = await pool.query<Row>(take([contagem, ...TOMADAS.valuesOf(tomadas)]));
    const found = new Map(rows.map((row) => [row.rede, row]));
    return tomadas.map(({ rede }) => found.get(rede)!);
  };
  return {
    /** Takes from each bucket that has enough. The results have the order of the requests. */
    take: (contagem: string, tomadas: readonly Tomada[]) => run(TAKE, contagem, tomadas),
    /** Takes the cost from each bucket, or its whole content if that is less. */
    spend: (contagem: string, tomadas: readonly Tomada[]) => run(SPEND, contagem, tomadas),
    /** Deletes the buckets that are full again. */
    forget: async (): Promise<void> => {
      await pool.query(FORGET);
    },
  };
}

/**
 * The months of tables that grow with every note. Such a table has one partition a month, made ahead or when the first row of a month
 * arrives. A full partition is left alone, and may be removed as a whole (D-406).
 */
import { nameMes } from '../../fiscal/moment.ts';
import { type Db, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { AUDITADAS } from './auditoria-tabelas.ts';

/** Tables that are kept by month. */
export const MENSAIS = Object.values(AUDITADAS).flatMap(({ mensal, ...one }) =>
  mensal ? [{ ...one, ...mensal }] : [],
);

/** Months after the current one that are made in advance. */
const AHEAD = 2;

/** Cache for a pool's database: months that have partitions, as far as this process knows. */
const known = new WeakMap<Db, Set<number>>();

/** The month (`202611`) of a moment in milliseconds, in UTC. */
export function mesOf(instant: number): number {
  const date = new Date(instant);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

function monthAfter(mes: number): number {
  return mes % 100 === 12 ? mes + 89 : mes + 1;
}

/** The months from one moment to another, in milliseconds. */
export function mesesBetween(from: number, until: number): readonly number[] {
  const meses = [mesOf(from)];
  while (meses.at(-1)! < mesOf(until)) meses.push(monthAfter(meses.at(-1)!));
  return meses;
}

/** The months among these whose partitions are unknown to this process. */
function unknownMeses(pool: Db, meses: Iterable<number>): readonly number[] {
  const all = known.get(pool);
  return [...new Set(meses)].filter((mes) => !all?.has(mes));
}

const FORBIDDEN = '42501';

/** The role of the service may not create tables, and the owner's role has not created those of a month. */
export class MesesForbidden extends Error {
  constructor(mes: number) {
    super(
      `as tabelas de ${nameMes(mes)} não foram criadas, porque o usuário do banco não é o dono das tabelas: a partir desse mês nada se emite. Dê nfse migrar com o usuário que é, uma vez por mês`,
    );
  }
}

/** A new connection may lead to another database at the same address. A restored one may lack the latest months. */
function learnFrom(pool: Db): Set<number> {
  pool.once('connect', () => known.delete(pool));
  return new Set();
}

/** Creates the missing partitions of these months. A known month costs nothing. Throws {@link MesesForbidden}. */
export async function ensureMeses(pool: Db, meses: Iterable<number>): Promise<void> {
  if (unknownMeses(pool, meses).length === 0) return;
  const { rows } = await pool.query<{ mes: number }>('select mes from meses');
  const all = known.getOrInsertComputed(pool, () => learnFrom(pool));
  for (const { mes } of rows) all.add(mes);
  for (const mes of unknownMeses(pool, meses)) {
    try {
      await runTransaction(pool, (client) => createMes(client, mes));
    } catch (error) {
      throw (error as { readonly code?: string }).code === FORBIDDEN ? new MesesForbidden(mes) : error;
    }
    all.add(mes);
  }
}

/** Creates the current month and some later ones, weeks before they are needed. `now`: milliseconds. Throws {@link MesesForbidden}. */
export async function ensureMesesAhead(pool: Db, now: number): Promise<void> {
  const meses = [mesOf(now)];
  while (meses.length <= AHEAD) meses.push(monthAfter(meses.at(-1)!));
  await ensureMeses(pool, meses);
}

/**
 * Creates a month. A second transaction for the same month waits for the row, and finds the work done. Attaching does not block the other
 * months.
 */
export async function createMes(client: PoolClient, mes: number): Promise<void> {
  const { rowCount } = await client.query('insert into meses (mes) values ($1) on conflict (mes) do nothing', [mes]);
  if (rowCount === 0) return;
  for (const mensal of MENSAIS) {
    const { tabela: table, storage } = mensal;
    const partition = `${table}_${mes}`;
    const stored = storage === undefined ? '' : ` with (${storage})`;
    await client.query(`create table ${partition} (like ${table} including all)${stored}`);
    await limitStatistics(client, mensal, partition);
    await client.query(`alter table ${table} attach partition ${partition} for values in (${mes})`);
  }
  // A table that is truncated in the subtransaction that filled it counts as empty. Otherwise its statistics would count as unknown.
  await client.query('savepoint criado');
  for (const mensal of MENSAIS) await describeMes(client, mensal, mes);
  await client.query('release savepoint criado');
}

/** The server samples 300 rows for each unit, and reads that many pages: few suffice for a column whose values are unique. */
const KEY_STATISTICS = 10;

/** Leaves statistics to the columns of conditions (D-881). A month that has just begun is analysed every minute, all columns at each turn. */
async function limitStatistics(
  client: PoolClient,
  { keys, procuradas = [] }: (typeof MENSAIS)[number],
  partition: string,
): Promise<void> {
  const text = `select attname as name from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all ($2::text[])`;
  const brief = ['mes', ...Object.keys(keys)];
  const { rows } = await client.query<{ name: string }>(text, [partition, procuradas]);
  const limits = rows.map(
    ({ name }) => `alter column ${name} set statistics ${brief.includes(name) ? KEY_STATISTICS : 0}`,
  );
  await client.query(`alter table ${partition} ${limits.join(', ')}`);
}

/** Number of rows, one tenant each, so that each shard of a distributed table gets some. */
const ROWS_DESCRIBED = 500;

/**
 * Gives the planner statistics of an empty partition: all rows are of its month, and each is unique by its keys. The planner would
 * otherwise rate any index with the month as high as a whole key. The sample rows are never visible to others and are deleted; the
 * statistics stay until the next ones.
 */
async function describeMes(
  client: PoolClient,
  { tabela, keys, others }: (typeof MENSAIS)[number],
  mes: number,
): Promise<void> {
  const partition = `${tabela}_${mes}`;
  const columns = Object.entries({ tenant: 'i', mes: 'mes', ...keys, ...others });
  await client.query(`insert into ${partition} (${columns.map(([name]) => name).join(', ')})
    select ${columns.map(([, value]) => value).join(', ')}
    from generate_series(1, ${ROWS_DESCRIBED}) i, (values (${mes})) x (mes)`);
  await client.query(`analyze ${partition} (${['mes', ...Object.keys(keys)].join(', ')})`);
  await client.query(`truncate ${partition}`);
}

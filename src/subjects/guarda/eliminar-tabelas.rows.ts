/**
 * Detaches and drops the empty tables of an eliminated month. Readers and writers do not wait for this; this waits for open transactions
 * (D-676).
 */

import { MENSAIS } from '../../base/book/meses.ts';
import { isDistributed } from '../../base/pg/distributed.ts';
import type { Db } from '../../base/pg/open.ts';
import { nameMes } from '../../fiscal/moment.ts';
import { ArquivoRecusado } from './arquivar.rows.ts';

/** The state of a table; `isPending`: an earlier command was killed in between. */
const STATE = `select c.relispartition as "isPart", coalesce(i.inhdetachpending, false) as "isPending"
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid where c.oid = to_regclass($1)`;

/** Existing partitions of a month. A distributed schema keeps them: Citus does not detach partitions concurrently. */
export async function countTabelas(pool: Db, mes: number): Promise<number> {
  if (isDistributed(pool)) return 0;
  const names = MENSAIS.map(({ tabela }) => `${tabela}_${mes}`);
  const text = 'select count(to_regclass(x.name))::int as count from unnest($1::text[]) as x (name)';
  return (await pool.query<{ count: number }>(text, [names])).rows[0]!.count;
}

/**
 * Drops the partitions without rows; returns their number. Each statement stands alone, since the server detaches in two transactions of
 * its own. A repeated command finishes an interrupted one.
 */
export async function dropTabelas(pool: Db, mes: number): Promise<number> {
  if (isDistributed(pool)) return 0;
  let dropped = 0;
  for (const { tabela: table } of MENSAIS) {
    const partition = `${table}_${mes}`;
    const [state] = (await pool.query<{ isPart: boolean; isPending: boolean }>(STATE, [partition])).rows;
    if (state === undefined) continue;
    const { rowCount } = await pool.query(`select 1 from only ${partition} limit 1`);
    if (rowCount !== 0) continue;
    try {
      if (state.isPending) await pool.query(`alter table ${table} detach partition ${partition} finalize`);
      else if (state.isPart) await pool.query(`alter table ${table} detach partition ${partition} concurrently`);
      await pool.query(`drop table ${partition}`);
    } catch (error) {
      throw WAITED.has((error as { readonly code?: string }).code ?? '') ? new ArquivoRecusado(IN_USE(mes)) : error;
    }
    dropped += 1;
  }
  return dropped;
}

/** A statement or a lock exceeded its time limit. */
const WAITED = new Set(['57014', '55P03']);
const IN_USE = (mes: number): string =>
  `${nameMes(mes)} foi eliminado. As tabelas dele, vazias, esperam por quem tem uma transação aberta no banco: dê o comando outra vez, e elas saem.`;

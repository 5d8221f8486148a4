/** Private sandboxes that exist beside one that was made, without the work of making them. */
import type { Db } from '../../src/base/pg/open.ts';

const OPEN = `insert into municipios (tenant, ambiente, criado_em, ensaio_ate)
  select 'ensaio-copia' || n, m.ambiente, m.criado_em, m.ensaio_ate from municipios m, generate_series(1, $2::int) n where m.tenant = $1`;
const OWN = `insert into ensaios (tenant, chave, nome, rede, criado_em)
  select 'ensaio-copia' || n, e.chave, e.nome, e.rede, e.criado_em from ensaios e, generate_series(1, $2::int) n where e.tenant = $1`;

/** Adds so many sandboxes of the same network and moment. */
export async function addAmbientes(pool: Db, tenant: string, count: number): Promise<void> {
  for (const text of [OPEN, OWN]) await pool.query(text, [tenant, count]);
}

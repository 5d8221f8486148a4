/** Notas that were refused after their issuance, by moment: an index by state would be written with every move of a nota (D-825). */
import type { PoolClient } from '../pg/pg.ts';
import { insertRows } from '../pg/sql.ts';
import type { Ref } from './fila.ts';

const INSERT = insertRows<Ref & { readonly em: number }>(
  'insert_notas_recusadas',
  'notas_recusadas',
  [
    ['nota bigint', ({ id }) => id],
    ['mes integer', ({ mes }) => mes],
    ['em timestamptz', ({ em }) => new Date(em).toISOString()],
  ],
  'on conflict (tenant, nota) do nothing',
);

/** Lists notas as refused, in the transaction that refuses them. `now`: milliseconds. */
export function insertRecusadas(
  client: PoolClient,
  tenant: string,
  now: number,
  refused: readonly Ref[],
): readonly Promise<unknown>[] {
  if (refused.length === 0) return [];
  return [
    client.query(
      INSERT(
        tenant,
        refused.map(({ id, mes }) => ({ id, mes, em: now })),
      ),
    ),
  ];
}

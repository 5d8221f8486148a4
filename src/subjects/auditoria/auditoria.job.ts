/** Gives waiting entries their places in the audit chain of a municipality. */

import { PLACED_MAX } from '../../base/book/auditoria-elos.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Delivered } from '../../base/delivery/deliver.ts';
import type { World } from '../../base/world/world.ts';

/** Time in which entries gather: placed together they cost one commit. */
const GATHER_MS = 400;

export async function placeAuditoria({ store }: World, { tenant }: Municipio): Promise<Delivered> {
  const placed = await store.auditoria.place(tenant);
  return {
    delivered: placed,
    isFull: placed === PLACED_MAX,
    pauseMs: placed < PLACED_MAX && placed > 0 ? GATHER_MS : 0,
  };
}

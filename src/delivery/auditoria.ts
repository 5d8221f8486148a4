/** Gives what was written its place in the audit chain of a municipality. */
import type { World } from '../flows/world.ts';
import { PLACED_MAX } from '../store/auditoria-elos.ts';
import type { Municipio } from '../store/municipios.ts';
import type { Delivered } from './deliver.ts';

/** So long entries gather: placed together they cost one commit. */
const GATHER_MS = 400;

export async function placeAuditoria({ store }: World, { tenant }: Municipio): Promise<Delivered> {
  const placed = await store.auditoria.place(tenant);
  return {
    delivered: placed,
    isFull: placed === PLACED_MAX,
    pauseMs: placed < PLACED_MAX && placed > 0 ? GATHER_MS : 0,
  };
}

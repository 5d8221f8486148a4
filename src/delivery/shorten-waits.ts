/**
 * The clock of the machine may be set. What waits is due at a moment of that clock, so after it was set ahead and back everything would be
 * due too late. No wait of ours is longer than it can be: what is due later than that is due now, whoever wrote it, and whenever.
 */
import { SIMULAR_MAX_MS } from '../fiscal/simular.ts';
import type { World } from '../flows/world.ts';
import { LEASE_MS, WAIT_MAX_MS } from './backoff.ts';
import { EVENTO_DE_RASCUNHO_WAIT_MAX_MS, EVENTO_WAIT_MAX_MS } from './eventos.ts';
import { LOTE_LEASE_MS } from './lotes.ts';
import { SUBSTITUTA_WAIT_MAX_MS } from './notas.ts';

const ESPERAS = {
  reserva: LEASE_MS,
  reservaDeLote: LOTE_LEASE_MS,
  nota: WAIT_MAX_MS,
  substituta: SUBSTITUTA_WAIT_MAX_MS,
  evento: EVENTO_WAIT_MAX_MS,
  eventoDeRascunho: EVENTO_DE_RASCUNHO_WAIT_MAX_MS,
  ensaio: SIMULAR_MAX_MS,
};

/** Brings back what is due later than anything of ours can be; how many rows. */
export async function shortenWaits(world: World): Promise<number> {
  const now = world.now();
  let rows = 0;
  for (const tenant of await world.store.esperas.listTenants(now + LEASE_MS)) {
    rows += await world.store.esperas.shorten(tenant, now, ESPERAS);
  }
  return rows;
}

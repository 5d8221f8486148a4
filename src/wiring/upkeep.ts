/** The work that the worker repeats: that of the base, and that of each subject. */
import { MesesForbidden } from '../base/book/meses.ts';
import { LEASE_MS, WAIT_MAX_MS } from '../base/delivery/backoff.ts';
import type { Repeated } from '../base/delivery/repetition.ts';
import { worldOf } from '../base/world/relogio.ts';
import type { World } from '../base/world/world.ts';
import { DAY_MS, MINUTE_MS } from '../fiscal/moment.ts';
import { SIMULAR_MAX_MS } from '../fiscal/simular.ts';
import { EVENTO_DE_RASCUNHO_WAIT_MAX_MS, EVENTO_WAIT_MAX_MS } from '../subjects/eventos/deliver.job.ts';
import { LOTE_LEASE_MS } from '../subjects/lotes/lotes.job.ts';
import { SUBSTITUTA_WAIT_MAX_MS } from '../subjects/notas/deliver.job.ts';
import { loadParts } from '../subjects/subjects.ts';

const ESPERAS = {
  reserva: LEASE_MS,
  reservaDeLote: LOTE_LEASE_MS,
  nota: WAIT_MAX_MS,
  substituta: SUBSTITUTA_WAIT_MAX_MS,
  evento: EVENTO_WAIT_MAX_MS,
  eventoDeRascunho: EVENTO_DE_RASCUNHO_WAIT_MAX_MS,
  ensaio: SIMULAR_MAX_MS,
};

/**
 * Makes rows due now that are due later than our longest wait, and returns their number. A clock that was set ahead and back leaves such
 * rows.
 */
export async function shortenWaits(world: World): Promise<number> {
  const now = world.now();
  let rows = 0;
  for (const tenant of await world.store.esperas.listTenants(now + LEASE_MS)) {
    const municipio = await world.store.municipios.findBySlug(tenant);
    if (municipio === undefined) continue;
    rows += await world.store.esperas.shorten(tenant, worldOf(world, municipio).now(), ESPERAS);
  }
  return rows;
}

const OF_BASE: readonly Repeated[] = [
  {
    trabalho: 'esperas',
    isOfClock: true,
    everyMs: MINUTE_MS,
    trouble: 'o que espera por uma hora longe demais não pôde ser visto',
    work: async (world) => {
      await world.store.contagens.forget();
      const rows = await shortenWaits(world);
      if (rows > 0)
        world.log.warn({ rows }, 'o relógio foi atrasado; o que esperava por uma hora que ficou longe segue já');
      return false;
    },
  },
  {
    trabalho: 'meses',
    everyMs: DAY_MS,
    trouble: 'as tabelas dos próximos meses não foram criadas',
    work: async ({ store, log, now }) => {
      try {
        await store.ensureMesesAhead(now());
      } catch (error) {
        // A separate measure reports the number of months ahead.
        if (!(error instanceof MesesForbidden)) throw error;
        log.warn({}, error.message);
      }
      return false;
    },
  },
];

export const REPEATED: readonly Repeated[] = [...OF_BASE, ...(await loadParts(({ repeated }) => repeated)).flat()];

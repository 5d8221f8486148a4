/** Gives waiting entries their places in the audit chain of a municipality. */

import { PLACED_MAX } from '../../base/book/auditoria-elos.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Delivered } from '../../base/delivery/deliver.ts';
import type { Kind } from '../../base/delivery/lanes.ts';
import type { Repeated } from '../../base/delivery/repetition.ts';
import type { World } from '../../base/world/world.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { sealDays } from './auditoria.ts';

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

export const JOBS: readonly Kind[] = [{ kind: 'auditoria', lanes: 1, deliver: placeAuditoria }];

/** The time limit of one round of opening audit chains. */
const OPENING_MS = 250;

/** Chains of tenants without one are opened a part at a time, and finished days are sealed. */
export const REPEATED: readonly Repeated[] = [
  {
    trabalho: 'auditoria',
    everyMs: MINUTE_MS,
    trouble: 'a corrente de auditoria não pôde ser aberta',
    work: async ({ store, now }) => {
      const began = performance.now();
      let isMore = false;
      for (const tenant of await store.auditoria.listSemAbertura()) {
        let isOpening = true;
        while (isOpening && performance.now() - began < OPENING_MS) {
          isOpening = await store.auditoria.openEtapa(tenant, now());
        }
        isMore ||= isOpening;
      }
      return isMore;
    },
  },
  {
    trabalho: 'selos',
    everyMs: 10 * MINUTE_MS,
    trouble: 'a corrente de auditoria não pôde ser selada',
    work: async (world) => {
      if ((await world.store.auditoria.listSemAbertura()).length > 0) return true;
      await sealDays(world);
      return false;
    },
  },
];

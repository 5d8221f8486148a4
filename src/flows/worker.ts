/**
 * The worker: wakes when something was stored, polls anyway, and delivers tenant by tenant until nothing is due. It
 * keeps nothing in memory that matters; several may run beside each other on one database.
 */
import { deliverNotas } from './deliver.ts';
import type { World } from './world.ts';

/** A wake-up may be lost with the process that held it; this look catches what it left. */
const POLL_MS = 1_000;
/** Between two rounds, so that what is issued under load is delivered in batches: a commit a round, not a note. */
const GATHER_MS = 100;
/** Pause after the database or a bug stopped a round. */
const TROUBLE_MS = 1_000;

export type Worker = {
  wake(tenant: string): void;
  /** Stops after the batch that is under way. */
  stop(): Promise<void>;
};

export function startWorker(world: World): Worker {
  let stopped = false;
  let wakeUp: (() => void) | undefined;
  let awake = false;

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        awake = false;
        const { delivered, isBacklog } = await deliverDue(world, () => stopped);
        if (isBacklog || stopped) continue;
        if (delivered === 0 && !awake) await sleep(POLL_MS);
        if (!stopped) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      } catch (error) {
        world.log.error({ err: error }, 'the worker could not deliver; it goes on');
        await sleep(TROUBLE_MS);
      }
    }
  };

  const running = run();
  return {
    wake: () => {
      awake = true;
      wakeUp?.();
    },
    stop: async () => {
      stopped = true;
      wakeUp?.();
      await running;
    },
  };
}

/** One round over the tenants that have something due; one tenant's trouble is not another's. */
async function deliverDue(
  world: World,
  isStopped: () => boolean,
): Promise<{ readonly delivered: number; readonly isBacklog: boolean }> {
  let delivered = 0;
  let isBacklog = false;
  for (const tenant of await world.store.tenantsWithNotasDue(world.now())) {
    if (isStopped()) break;
    const municipio = await world.store.municipioBySlug(tenant);
    if (municipio === undefined) continue;
    try {
      const batch = await deliverNotas(world, municipio);
      delivered += batch.delivered;
      isBacklog ||= batch.isFull;
    } catch (error) {
      world.log.error({ err: error, tenant }, 'delivery of a tenant failed; its notes stay due');
    }
  }
  return { delivered, isBacklog };
}

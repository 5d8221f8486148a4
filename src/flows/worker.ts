/**
 * The worker: wakes when something was stored, polls anyway, and delivers tenant by tenant until nothing is due. It
 * keeps nothing in memory that matters; several may run beside each other on one database.
 */
import { deliverNotas } from './deliver.ts';
import type { World } from './world.ts';

/** A wake-up may be lost with the process that held it; this look catches what it left. */
const POLL_MS = 1_000;
/** Waking waits this long, so that what is being issued under load is delivered in batches. */
const GATHER_MS = 20;
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
        if ((await deliverDue(world, () => stopped)) > 0) continue;
        if (!awake && !stopped) await sleep(POLL_MS);
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
async function deliverDue(world: World, isStopped: () => boolean): Promise<number> {
  let delivered = 0;
  for (const tenant of await world.store.tenantsWithNotasDue(world.now())) {
    if (isStopped()) break;
    const municipio = await world.store.municipioBySlug(tenant);
    if (municipio === undefined) continue;
    try {
      delivered += await deliverNotas(world, municipio);
    } catch (error) {
      world.log.error({ err: error, tenant }, 'delivery of a tenant failed; its notes stay due');
    }
  }
  return delivered;
}

/**
 * The worker: wakes when something was stored, polls anyway, and delivers tenant by tenant until nothing is due. It
 * keeps nothing in memory that matters; several may run beside each other on one database.
 *
 * A tenant's trouble is not another's: each has lanes of its own, and one that has to pause is left alone meanwhile.
 */
import { deliverNotas } from './deliver.ts';
import type { World } from './world.ts';

/** A wake-up may be lost with the process that held it; this look catches what it left. */
const POLL_MS = 1_000;
/** Between two looks, so that what is issued under load is delivered in batches: a commit a look, not a note. */
const GATHER_MS = 100;
/** Pause after the database or a bug stopped a delivery. */
const TROUBLE_MS = 1_000;
/** Batches of one tenant at once: while one waits for its answers the next is signed. */
const LANES_PER_TENANT = 2;
/** Batches of all tenants at once; each holds a database connection only while it claims and settles. */
const LANES_MAX = 6;

export type Worker = {
  wake(tenant: string): void;
  /** Stops after the batches that are under way. */
  stop(): Promise<void>;
};

export function startWorker(world: World): Worker {
  let stopped = false;
  let awake = false;
  let wakeUp: (() => void) | undefined;
  const lanes = new Map<string, Set<Promise<void>>>();
  /** Tenants that are not worth a look before a moment. */
  const pauses = new Map<string, number>();

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const pause = (tenant: string, ms: number): void => {
    if (ms > 0) pauses.set(tenant, performance.now() + ms);
  };

  /** Batch after batch of one tenant, until there is nothing more or a reason to wait. */
  const runLane = async (tenant: string): Promise<void> => {
    try {
      while (!stopped) {
        const municipio = await world.store.municipioBySlug(tenant);
        if (municipio === undefined) return;
        const { isFull, pauseMs } = await deliverNotas(world, municipio);
        pause(tenant, pauseMs);
        if (!isFull || pauseMs > 0) return;
      }
    } catch (error) {
      world.log.error({ err: error, tenant }, 'a transmissão de um município falhou; as notas seguem na fila');
      pause(tenant, TROUBLE_MS);
    }
  };

  const startLane = (tenant: string): void => {
    const running = lanes.get(tenant) ?? new Set();
    lanes.set(tenant, running);
    const lane = runLane(tenant).finally(() => {
      running.delete(lane);
      if (running.size === 0) lanes.delete(tenant);
      wakeUp?.();
    });
    running.add(lane);
  };

  const lanesOpen = (): number => [...lanes.values()].reduce((total, { size }) => total + size, 0);

  /** Opens lanes for what is due; whether it opened any. */
  const look = async (): Promise<boolean> => {
    const due = await world.store.tenantsWithNotasDue(world.now());
    let opened = false;
    for (const tenant of due) {
      const until = pauses.get(tenant);
      if (until !== undefined && until > performance.now()) continue;
      pauses.delete(tenant);
      if (stopped || lanesOpen() >= LANES_MAX) break;
      if ((lanes.get(tenant)?.size ?? 0) >= LANES_PER_TENANT) continue;
      startLane(tenant);
      opened = true;
    }
    return opened;
  };

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        awake = false;
        const opened = await look();
        if (!opened && !awake && !stopped) await sleep(POLL_MS);
        if (!stopped) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      } catch (error) {
        world.log.error({ err: error }, 'não foi possível ver o que há a transmitir; tenta-se de novo');
        await sleep(TROUBLE_MS);
      }
    }
    await Promise.all([...lanes.values()].flatMap((running) => [...running]));
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

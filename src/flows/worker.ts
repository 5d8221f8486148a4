/**
 * The worker: wakes when something was stored, polls anyway, and delivers tenant by tenant until nothing is due. It
 * keeps nothing in memory that matters; several may run beside each other on one database.
 *
 * A tenant's trouble is not another's: each has lanes of its own, and one that has to pause is left alone meanwhile.
 */
import type { Municipio } from '../store/municipios.ts';
import { avisosDeAliquotas } from './avisos-aliquotas.ts';
import { type Delivered, deliverNotas } from './deliver.ts';
import { processLotes } from './process-lotes.ts';
import { releaseNotas, tenantsToRelease } from './release-notas.ts';
import { deliverEventos } from './send-evento.ts';
import type { World } from './world.ts';

/** A wake-up may be lost with the process that held it; this look catches what it left. */
const POLL_MS = 1_000;
/** Between two looks, so that what is issued under load is delivered in batches: a commit a look, not a note. */
const GATHER_MS = 100;
/** Pause after the database or a bug stopped a delivery. */
const TROUBLE_MS = 1_000;
/** How often answers that are past their time are looked for. */
const FORGET_EVERY_MS = 3_600_000;
/** How often the log says that a tribute has no rate for a competence that is near. */
const WARN_EVERY_MS = 24 * 3_600_000;
/** What is delivered, and in how many batches of one tenant at once: while one waits for its answers the next is signed. */
const KINDS: readonly {
  readonly kind: 'notas' | 'eventos' | 'lotes' | 'retidas';
  readonly lanes: number;
  readonly due: (world: World, now: number) => Promise<readonly string[]>;
  readonly deliver: (world: World, municipio: Municipio) => Promise<Delivered>;
}[] = [
  { kind: 'notas', lanes: 2, due: ({ store }, now) => store.tenantsWithNotasDue(now), deliver: deliverNotas },
  { kind: 'eventos', lanes: 1, due: ({ store }, now) => store.tenantsWithEventosDue(now), deliver: deliverEventos },
  { kind: 'lotes', lanes: 1, due: ({ store }, now) => store.tenantsWithLotesDue(now), deliver: processLotes },
  { kind: 'retidas', lanes: 1, due: tenantsToRelease, deliver: releaseNotas },
];

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
  /** By kind and tenant, and so are the pauses. */
  const lanes = new Map<string, Set<Promise<void>>>();
  /** What is not worth a look before a moment. */
  const pauses = new Map<string, number>();

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const pause = (key: string, ms: number): void => {
    if (ms > 0) pauses.set(key, performance.now() + ms);
  };

  /** Batch after batch of one tenant, until there is nothing more or a reason to wait. */
  const runLane = async ({ kind, deliver }: (typeof KINDS)[number], tenant: string): Promise<void> => {
    const key = `${kind}/${tenant}`;
    try {
      while (!stopped) {
        const municipio = await world.store.municipioBySlug(tenant);
        if (municipio === undefined) return;
        const { isFull, pauseMs } = await deliver(world, municipio);
        pause(key, pauseMs);
        if (!isFull || pauseMs > 0) return;
      }
    } catch (error) {
      world.log.error(
        { err: error, tenant, kind },
        'a transmissão de um município falhou; o que esperava segue na fila',
      );
      pause(key, TROUBLE_MS);
    }
  };

  const startLane = (of: (typeof KINDS)[number], tenant: string): void => {
    const key = `${of.kind}/${tenant}`;
    const running = lanes.get(key) ?? new Set();
    lanes.set(key, running);
    const lane = runLane(of, tenant).finally(() => {
      running.delete(lane);
      if (running.size === 0) lanes.delete(key);
      wakeUp?.();
    });
    running.add(lane);
  };

  const lanesOpen = (): number => [...lanes.values()].reduce((total, { size }) => total + size, 0);

  /** Opens lanes for what is due; whether it opened any. */
  const look = async (): Promise<boolean> => {
    const due = await Promise.all(KINDS.map(async (of) => ({ of, tenants: await of.due(world, world.now()) })));
    let opened = false;
    for (const { of, tenants } of due) {
      for (const tenant of tenants) {
        const key = `${of.kind}/${tenant}`;
        const until = pauses.get(key);
        if (until !== undefined && until > performance.now()) continue;
        pauses.delete(key);
        if (stopped || lanesOpen() >= LANES_MAX) break;
        if ((lanes.get(key)?.size ?? 0) >= of.lanes) continue;
        startLane(of, tenant);
        opened = true;
      }
    }
    return opened;
  };

  let forgetAt = Number.NEGATIVE_INFINITY;
  /** Answers that are kept for a repetition (D-19), a part at a time, so that what is due need not wait. */
  const forget = async (): Promise<void> => {
    const now = world.now();
    if (now < forgetAt) return;
    try {
      if (await world.store.forgetAnswers(now)) return;
    } catch (error) {
      world.log.warn(
        { err: error },
        'respostas guardadas além do seu prazo não puderam ser apagadas; tenta-se mais tarde',
      );
    }
    forgetAt = now + FORGET_EVERY_MS;
  };

  let warnAt = Number.NEGATIVE_INFINITY;
  /** What is missing in the rates, once a day and at the start. */
  const warn = async (): Promise<void> => {
    const now = world.now();
    if (now < warnAt) return;
    for (const aviso of await avisosDeAliquotas(world)) world.log.warn({}, aviso);
    warnAt = now + WARN_EVERY_MS;
  };

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        awake = false;
        const opened = await look();
        await forget();
        await warn();
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

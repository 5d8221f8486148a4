/**
 * The worker: wakes when something was stored, polls anyway, and delivers until nothing is due. It keeps nothing in memory
 * that matters; several may run beside each other on one database. Whose turn it is, `lanes.ts` decides.
 */
import { AMBIENTES } from '../fiscal/ambiente.ts';
import { avisosDeAliquotas } from '../flows/avisos-aliquotas.ts';
import { tellTrouble } from '../flows/store-trouble.ts';
import type { World } from '../flows/world.ts';
import { deliverEventos } from './eventos.ts';
import { type Kind, openLanes, type Turn } from './lanes.ts';
import { processLotes } from './lotes.ts';
import { deliverNotas } from './notas.ts';
import { releaseNotas, tenantsToRelease } from './release-notas.ts';
import { shortenWaits } from './shorten-waits.ts';

/** A wake-up may be lost with the process that held it; this look catches what it left. */
const POLL_MS = 1_000;
/** Between two looks, so that what is issued under load is delivered in batches: a commit a look, not a note. */
const GATHER_MS = 100;
/** Pause after the database or a bug stopped a delivery. */
const TROUBLE_MS = 1_000;
/** How often waits are looked over though the clock was not seen to be set. */
const SHORTEN_EVERY_MS = 60_000;
/** Less than this is a clock that is being adjusted. */
const LEAP_MS = 2_000;
/** How often answers that are past their time are looked for. */
const FORGET_EVERY_MS = 3_600_000;
/** How often the log says that a tribute has no rate for a competence that is near. */
const WARN_EVERY_MS = 24 * 3_600_000;
/** What is delivered. */
const KINDS: readonly Kind[] = [
  {
    kind: 'notas',
    lanes: 2,
    due: ({ store }, now) => store.notas.listTenantsDue(now),
    deliver: deliverNotas,
    isSent: true,
  },
  {
    kind: 'eventos',
    lanes: 1,
    due: ({ store }, now) => store.eventos.listTenantsDue(now),
    deliver: deliverEventos,
    isSent: true,
  },
  {
    kind: 'lotes',
    lanes: 1,
    due: ({ store }, now) => store.lotes.listTenantsDue(now),
    deliver: processLotes,
    isSent: false,
  },
  { kind: 'retidas', lanes: 1, due: tenantsToRelease, deliver: releaseNotas, isSent: false },
];

export type Worker = {
  wake(): void;
  /** Stops after the batches that are under way. */
  stop(): Promise<void>;
};

export function startWorker(world: World, pollMs = POLL_MS): Worker {
  let stopped = false;
  let awake = false;
  let wakeUp: (() => void) | undefined;
  const lanes = openLanes(world, () => {
    awake = true;
    wakeUp?.();
  });

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** Opens lanes for what is due; whether it opened any. */
  const look = async (): Promise<boolean> => {
    const due = await Promise.all(KINDS.map(async (of) => ({ of, tenants: await of.due(world, world.now()) })));
    const turns = await Promise.all(
      due.flatMap(({ of, tenants }) => tenants.map((tenant) => turnOf(world, of, tenant))),
    );
    return !stopped && lanes.offer(turns);
  };

  let shortenAt = Number.NEGATIVE_INFINITY;
  let forgetAt = Number.NEGATIVE_INFINITY;
  let offset = world.now() - performance.now();
  /** What waits for a clock that was set back, as soon as that is seen; what an earlier process left, within a minute. */
  const shorten = async (): Promise<void> => {
    const now = world.now() - performance.now();
    const isBack = now < offset - LEAP_MS;
    // By another date other things are past their time.
    if (Math.abs(now - offset) > LEAP_MS) forgetAt = Number.NEGATIVE_INFINITY;
    offset = now;
    if (!isBack && performance.now() < shortenAt) return;
    shortenAt = performance.now() + SHORTEN_EVERY_MS;
    const rows = await shortenWaits(world);
    if (rows > 0)
      world.log.warn({ rows }, 'o relógio foi atrasado; o que esperava por uma hora que ficou longe segue já');
  };

  /** Answers that are kept for a repetition (D-19), and rehearsals (D-264), a part at a time, so that what is due need not wait. */
  const forget = async (): Promise<void> => {
    if (performance.now() < forgetAt) return;
    try {
      if (await world.store.idempotencia.forget(world.now())) return;
      if (await world.store.guarda.forgetRehearsals(world.now())) return;
    } catch (error) {
      tellTrouble(world.log, error, {}, 'o que passou do prazo de guarda não pôde ser apagado; tenta-se mais tarde');
    }
    forgetAt = performance.now() + FORGET_EVERY_MS;
  };

  let warnAt = Number.NEGATIVE_INFINITY;
  /** What is missing in the rates, once a day and at the start. */
  const warn = async (): Promise<void> => {
    if (performance.now() < warnAt) return;
    for (const aviso of await avisosDeAliquotas(world)) world.log.warn({}, aviso);
    warnAt = performance.now() + WARN_EVERY_MS;
  };

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        awake = false;
        await shorten();
        const opened = await look();
        await forget();
        await warn();
        if (!opened && !awake && !stopped) await sleep(pollMs);
        if (!stopped) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      } catch (error) {
        tellTrouble(world.log, error, {}, 'não foi possível ver o que há a transmitir; tenta-se de novo');
        await sleep(TROUBLE_MS);
      }
    }
    await lanes.end();
  };

  const running = run();
  return {
    wake: () => {
      awake = true;
      wakeUp?.();
    },
    stop: async () => {
      stopped = true;
      lanes.close();
      wakeUp?.();
      await running;
    },
  };
}

async function turnOf(world: World, of: Kind, tenant: string): Promise<Turn> {
  const municipio = of.isSent ? await world.store.municipios.findBySlug(tenant) : undefined;
  const isLocal = municipio !== undefined && !AMBIENTES[municipio.ambiente].transmits;
  return { of, tenant, key: `${of.kind}/${tenant}`, room: isLocal ? 'local' : of.kind };
}

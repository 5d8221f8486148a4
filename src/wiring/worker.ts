/**
 * The worker wakes when something was stored, polls anyway, and delivers until nothing is due. It keeps no essential state in memory;
 * several may run on one database. The order of turns is decided by `lanes.ts`.
 */
import type { AnnouncedClaim } from '../base/book/claim-notas.ts';
import { AnnouncedClaims, type OnLeave } from '../base/delivery/announced.ts';
import { type Kind, Lanes, type Turn } from '../base/delivery/lanes.ts';
import { Repetition } from '../base/delivery/repetition.ts';
import { createAlarm } from '../base/delivery/wake.ts';
import { lookAt } from '../base/measures/counters.ts';
import { tellTrouble } from '../base/world/store-trouble.ts';
import type { World } from '../base/world/world.ts';
import type { Ambiente } from '../fiscal/ambiente.ts';
import { loadParts } from '../subjects/subjects.ts';
import { REPEATED } from './upkeep.ts';

/**
 * The interval of a look at the due work of all tenants. It finds rows that another process stored, rows that became due later, and
 * wake-ups lost with their process. The look queries every server of a distributed schema. Only the tenants with a wake-up are queried in
 * between.
 */
const POLL_MS = 1_000;
/**
 * The pause between two looks, so that notes issued under load are delivered in batches: one commit per look, not per note. A full batch
 * ends the pause; the first note after a quiet time finds none.
 */
const GATHER_MS = 400;
/** Pause after the database or a bug stopped a delivery. */
const TROUBLE_MS = 1_000;

/** The kinds of due work. */
export const KINDS: readonly Kind[] = (await loadParts(({ jobs }) => jobs)).flat();

export type Worker = {
  /** Looks at once at the due work of a tenant, or of all. */
  wake(tenant?: string): void;
  /** Takes the claim that was announced when it was stored; a wake-up comes for it as for all due work. */
  readonly take: (tenant: string, claim: AnnouncedClaim) => void;
  /** Stops after the batches that are under way. */
  stop(): Promise<void>;
};

/**
 * `pollMs`: the poll interval. `onLeave`: receives permissions to announce notas when they are stored. `isSecond`: this
 * worker only delivers, and another one performs the other tasks.
 */
export type WorkerOptions = {
  readonly pollMs?: number | undefined;
  readonly onLeave?: OnLeave;
  readonly isSecond?: boolean | undefined;
};

export function startWorker(
  world: World,
  { pollMs = POLL_MS, onLeave = () => undefined, isSecond = false }: WorkerOptions = {},
): Worker {
  const alarm = createAlarm();
  const announced = new AnnouncedClaims(onLeave);
  // A finished batch may have made other work due.
  const lanes = new Lanes(world, announced, alarm.ring);
  const repetition = new Repetition(world, isSecond ? [] : REPEATED);
  let isStopped = false;
  let lookedAt = Date.now();
  const endLooking = lookAt(() => [
    { name: 'nfse_transmissor_volta_timestamp_seconds', labels: {}, value: lookedAt / 1_000 },
    ...repetition.look(),
  ]);
  const run = async (): Promise<void> => {
    let wholeAt = Number.NEGATIVE_INFINITY;
    while (!isStopped) {
      const rung = alarm.hush();
      const began = performance.now();
      const isAll = rung === undefined || began >= wholeAt;
      try {
        await repetition.followClock();
        const turns = await listTurns(world, announced.tenants(), rung ?? [], isAll);
        if (!isStopped) lanes.offer(turns, isAll);
        if (isAll && lanes.isFree('notas')) announced.giveOthersLeave();
        lookedAt = Date.now();
        if (isAll) wholeAt = began + pollMs;
        await repetition.work();
        if (!isStopped) await alarm.sleep(Math.max(0, wholeAt - performance.now()));
        if (!isStopped) await alarm.gather(GATHER_MS);
      } catch (error) {
        tellTrouble(world.log, error, {}, 'não foi possível ver o que há a transmitir; tenta-se de novo');
        // The wake-ups are lost, so all tenants are examined.
        wholeAt = Number.NEGATIVE_INFINITY;
        alarm.hush();
        if (!isStopped) await alarm.sleep(TROUBLE_MS);
      }
    }
    await lanes.end();
    endLooking();
  };
  const running = run();
  return {
    wake: alarm.ring,
    take: (tenant, claim) => {
      if (announced.put(tenant, claim)) alarm.hurry();
    },
    stop: async () => {
      isStopped = true;
      lanes.close();
      alarm.ring();
      alarm.hurry();
      await running;
    },
  };
}

/** The work that is due now, by kind and tenant, of some tenants or of all. Tenants with announced notas are included. */
async function listTurns(
  world: World,
  announced: readonly string[],
  rung: readonly string[],
  isAll: boolean,
): Promise<readonly Turn[]> {
  const { versao } = await world.store.aliquotas.readTabela();
  const isAsked = isAll || rung.length > 0;
  const due = isAsked ? await world.store.listDue(world.now(), versao, isAll ? undefined : rung, rung) : [];
  const tenants = [...new Set([...due.map(({ tenant }) => tenant), ...announced])];
  const ambientes = new Map(
    await Promise.all(tenants.map(async (tenant) => [tenant, await ambienteOf(world, tenant)] as const)),
  );
  const turnOf = (of: Kind, tenant: string, isDue: boolean): Turn => {
    return { of, tenant, key: `${of.kind}/${tenant}`, ambiente: ambientes.get(tenant)!, isDue };
  };
  return KINDS.flatMap((of) => {
    const here = due.filter(({ kind }) => kind === of.kind).map(({ tenant }) => tenant);
    const others = of.kind === 'notas' ? announced.filter((tenant) => !here.includes(tenant)) : [];
    return [...here.map((tenant) => turnOf(of, tenant, true)), ...others.map((tenant) => turnOf(of, tenant, false))];
  });
}

/** A tenant that is unreadable just now, or no longer exists, has that failure in its own lane. */
async function ambienteOf({ store }: World, tenant: string): Promise<Ambiente> {
  const municipio = await store.municipios.findBySlug(tenant).catch(() => undefined);
  return municipio?.ambiente ?? 'producao';
}

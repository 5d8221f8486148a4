/** The worker's tasks besides delivering, each at its own pace. */

import { MesesForbidden, mesOf } from '../base/book/meses.ts';
import { LEASE_MS, WAIT_MAX_MS } from '../base/delivery/backoff.ts';
import type { Sample } from '../base/measures/metrics.ts';
import { avisosDeAliquotas } from '../base/world/avisos-aliquotas.ts';
import { SALAS } from '../base/world/lugares.ts';
import { worldOf } from '../base/world/relogio.ts';
import { tellTrouble } from '../base/world/store-trouble.ts';
import type { World } from '../base/world/world.ts';
import { SIMULAR_MAX_MS } from '../fiscal/simular.ts';
import { sealDays } from '../subjects/auditoria/auditoria.ts';
import { EVENTO_DE_RASCUNHO_WAIT_MAX_MS, EVENTO_WAIT_MAX_MS } from '../subjects/eventos/deliver.job.ts';
import { LOTE_LEASE_MS } from '../subjects/lotes/lotes.job.ts';
import { SUBSTITUTA_WAIT_MAX_MS } from '../subjects/notas/deliver.job.ts';

/** The interval for shortening waits when no change of the clock was noticed. */
const SHORTEN_EVERY_MS = 60_000;
/** A smaller difference means that the clock is being adjusted. */
const LEAP_MS = 2_000;
/** The interval of the search for expired answers, and for documents to be compressed. */
const FORGET_EVERY_MS = 3_600_000;
/**
 * `RECENT_MS`: the period of the names that are learned each minute. `WARN_EVERY_MS`: the interval of the warnings about missing rates, and
 * of the creation of months ahead.
 */
const RECENT_MS = 31 * 24 * 3_600_000;
const WARN_EVERY_MS = 24 * 3_600_000;
/** The time limit of one round of opening audit chains. */
const OPENING_MS = 250;
/** The interval of the search for finished days, which are then sealed. */
const SEAL_EVERY_MS = 10 * 60_000;
/** Sandboxes of tenants that are deleted in one turn. */
const EXPIRED_AT_ONCE = 20;

/** Repeated work by the label of its measure, with its period. */
export const REPETIDOS = {
  esperas: SHORTEN_EVERY_MS,
  guarda: FORGET_EVERY_MS,
  compressao: FORGET_EVERY_MS,
  nomes: SHORTEN_EVERY_MS,
  aliquotas: WARN_EVERY_MS,
  meses: WARN_EVERY_MS,
  auditoria: SHORTEN_EVERY_MS,
} as const;
type Repetido = keyof typeof REPETIDOS;

export class Upkeep {
  private readonly world: World;
  /** The time at which each work was last done, at least in part; initially the start of this object. */
  private readonly done: Map<Repetido, number>;
  private shortenAt = Number.NEGATIVE_INFINITY;
  private forgetAt = Number.NEGATIVE_INFINITY;
  private compressAt = Number.NEGATIVE_INFINITY;
  private learnAt = Number.NEGATIVE_INFINITY;
  private learnAllAt = Number.NEGATIVE_INFINITY;
  private warnAt = Number.NEGATIVE_INFINITY;
  private mesesAt = Number.NEGATIVE_INFINITY;
  private auditAt = Number.NEGATIVE_INFINITY;
  private sealAt = Number.NEGATIVE_INFINITY;
  /** The difference between the machine's clock and a clock that is never set. */
  private offset: number;

  constructor(world: World) {
    this.world = world;
    this.offset = world.now() - performance.now();
    this.done = new Map(Object.keys(REPETIDOS).map((one) => [one as Repetido, performance.now()]));
  }

  /** The delay of each work. */
  readonly look = (): readonly Sample[] =>
    [...this.done].map(([trabalho, at]) => ({
      name: 'nfse_trabalho_atraso_seconds',
      labels: { trabalho },
      value: Math.max(0, performance.now() - at - REPETIDOS[trabalho]) / 1_000,
    }));

  private did(trabalho: Repetido): void {
    this.done.set(trabalho, performance.now());
  }

  /** Shortens waits as soon as the clock is seen to be set back. Waits that an earlier process left are shortened within a minute. */
  async shorten(): Promise<void> {
    const offset = this.world.now() - performance.now();
    const isBack = offset < this.offset - LEAP_MS;
    // A new date makes other answers expire.
    if (Math.abs(offset - this.offset) > LEAP_MS) this.forgetAt = Number.NEGATIVE_INFINITY;
    this.offset = offset;
    if (!isBack && performance.now() < this.shortenAt) return;
    this.shortenAt = performance.now() + SHORTEN_EVERY_MS;
    try {
      await this.world.store.contagens.forget();
      const rows = await shortenWaits(this.world);
      this.did('esperas');
      if (rows > 0)
        this.world.log.warn({ rows }, 'o relógio foi atrasado; o que esperava por uma hora que ficou longe segue já');
    } catch (error) {
      // Due work is delivered even if a lost server prevents a look at all of it.
      tellTrouble(
        this.world.log,
        error,
        {},
        'o que espera por uma hora longe demais não pôde ser visto; tenta-se mais tarde',
      );
    }
  }

  /** Deletes expired answers that are kept for a repetition (D-19), and rehearsals (D-264), a part at a time: due work need not wait. */
  async forget(): Promise<void> {
    if (performance.now() < this.forgetAt) return;
    const { store, log, now } = this.world;
    try {
      const isPart = (await store.idempotencia.forget(now())) || (await store.guarda.forgetRehearsals(now()));
      this.did('guarda');
      if (isPart) return;
      const expired = await store.ensaios.listExpired(now(), EXPIRED_AT_ONCE);
      for (const tenant of expired) await store.ensaios.delete(tenant);
      if (expired.length === EXPIRED_AT_ONCE) return;
    } catch (error) {
      tellTrouble(log, error, {}, 'o que passou do prazo de guarda não pôde ser apagado; tenta-se mais tarde');
    }
    this.forgetAt = performance.now() + FORGET_EVERY_MS;
  }

  /** Compresses the documents of finished notes, a part at a time. The pause between two parts is as long as a part took. */
  async compress(): Promise<void> {
    const began = performance.now();
    if (began < this.compressAt) return;
    const { store, log, now } = this.world;
    try {
      const more = await store.documentos.compress(now());
      this.did('compressao');
      this.compressAt = more ? 2 * performance.now() - began : began + FORGET_EVERY_MS;
    } catch (error) {
      this.compressAt = began + FORGET_EVERY_MS;
      tellTrouble(log, error, {}, 'documentos antigos não puderam ser comprimidos; tenta-se mais tarde');
    }
  }

  /** Learns the names on notes for the search of the console. Those of this month and the one before are learned within a minute. */
  async learn(): Promise<void> {
    const began = performance.now();
    if (began < this.learnAt) return;
    const { store, log, now } = this.world;
    const isAll = began >= this.learnAllAt;
    try {
      const isMore = await store.nomes.learn(isAll ? 0 : mesOf(now() - RECENT_MS), SALAS.nomes);
      this.did('nomes');
      if (isAll && !isMore) this.learnAllAt = began + FORGET_EVERY_MS;
      this.learnAt = isMore ? 2 * performance.now() - began : began + SHORTEN_EVERY_MS;
    } catch (error) {
      this.learnAt = began + SHORTEN_EVERY_MS;
      tellTrouble(log, error, {}, 'os nomes das notas novas não puderam ser lidos para a busca; tenta-se mais tarde');
    }
  }

  /** Logs the missing rates, at the start and once a day. */
  async warn(): Promise<void> {
    if (performance.now() < this.warnAt) return;
    for (const aviso of await avisosDeAliquotas(this.world)) this.world.log.warn({}, aviso);
    this.warnAt = performance.now() + WARN_EVERY_MS;
    this.did('aliquotas');
  }

  /** Opens the audit chain of tenants without one, a part at a time, and seals the finished days. */
  async audit(): Promise<void> {
    const began = performance.now();
    if (began < this.auditAt) return;
    const { store, log } = this.world;
    try {
      let isMore = false;
      for (const tenant of await store.auditoria.listSemAbertura()) {
        let isOpening = true;
        // Due work need not wait for the opening.
        while (isOpening && performance.now() - began < OPENING_MS) {
          isOpening = await store.auditoria.openEtapa(tenant, this.world.now());
        }
        isMore ||= isOpening;
      }
      this.did('auditoria');
      this.auditAt = isMore ? 2 * performance.now() - began : began + SHORTEN_EVERY_MS;
      if (isMore || began < this.sealAt) return;
      this.sealAt = began + SEAL_EVERY_MS;
      await sealDays(this.world);
    } catch (error) {
      this.auditAt = began + SHORTEN_EVERY_MS;
      tellTrouble(log, error, {}, 'a corrente de auditoria não pôde ser aberta ou selada; tenta-se mais tarde');
    }
  }

  /** Creates the months ahead, at the start and once a day; if another role must create them, a warning is logged as often. */
  async makeMeses(): Promise<void> {
    if (performance.now() < this.mesesAt) return;
    const { store, log, now } = this.world;
    this.mesesAt = performance.now() + WARN_EVERY_MS;
    try {
      await store.ensureMesesAhead(now());
      this.did('meses');
    } catch (error) {
      if (error instanceof MesesForbidden) {
        // A separate measure reports the number of months ahead.
        this.did('meses');
        return log.warn({}, error.message);
      }
      this.mesesAt = performance.now() + FORGET_EVERY_MS;
      tellTrouble(log, error, {}, 'as tabelas dos próximos meses não foram criadas; tenta-se mais tarde');
    }
  }
}

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

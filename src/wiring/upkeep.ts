/** What the worker does beside delivering, each at its own pace. */

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

/** How often waits are looked over though the clock was not seen to be set. */
const SHORTEN_EVERY_MS = 60_000;
/** Less than this is a clock that is being adjusted. */
const LEAP_MS = 2_000;
/** How often answers that are past their time, and documents that may be compressed, are looked for. */
const FORGET_EVERY_MS = 3_600_000;
/** How often the log says that a tribute has no rate for a competence that is near, and months ahead are looked for. */
const RECENT_MS = 31 * 24 * 3_600_000;
const WARN_EVERY_MS = 24 * 3_600_000;
/** How long audit chains are begun at a time. */
const OPENING_MS = 250;
/** How often days that are over are looked for, to be sealed. */
const SEAL_EVERY_MS = 10 * 60_000;
/** Sandboxes of one's own that are taken away in one turn. */
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
  /** When each was last done, or done in part; of what was not yet, when this began. */
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
  /** The clock of the machine against one that nobody sets. */
  private offset: number;

  constructor(world: World) {
    this.world = world;
    this.offset = world.now() - performance.now();
    this.done = new Map(Object.keys(REPETIDOS).map((one) => [one as Repetido, performance.now()]));
  }

  /** How late each is. */
  readonly look = (): readonly Sample[] =>
    [...this.done].map(([trabalho, at]) => ({
      name: 'nfse_trabalho_atraso_seconds',
      labels: { trabalho },
      value: Math.max(0, performance.now() - at - REPETIDOS[trabalho]) / 1_000,
    }));

  private did(trabalho: Repetido): void {
    this.done.set(trabalho, performance.now());
  }

  /** What waits for a clock that was set back, as soon as that is seen; what an earlier process left, within a minute. */
  async shorten(): Promise<void> {
    const offset = this.world.now() - performance.now();
    const isBack = offset < this.offset - LEAP_MS;
    // By another date other things are past their time.
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
      // What is due is delivered, though not all of it can be looked at: where one server of several is lost.
      tellTrouble(
        this.world.log,
        error,
        {},
        'o que espera por uma hora longe demais não pôde ser visto; tenta-se mais tarde',
      );
    }
  }

  /** Deletes answers that are kept for a repetition (D-19), and rehearsals (D-264), a part at a time: what is due need not wait. */
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

  /** Compresses documents of notes at their end, a part at a time, and between two rests as long as it takes. */
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

  /** Learns the names that stand on notes, by which the console looks them up: of this month and the one before within a minute. */
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

  /** Tells what is missing in the rates, at the start and once a day. */
  async warn(): Promise<void> {
    if (performance.now() < this.warnAt) return;
    for (const aviso of await avisosDeAliquotas(this.world)) this.world.log.warn({}, aviso);
    this.warnAt = performance.now() + WARN_EVERY_MS;
    this.did('aliquotas');
  }

  /** Begins the audit chain of who has none, a part at a time, and seals the days that are over. */
  async audit(): Promise<void> {
    const began = performance.now();
    if (began < this.auditAt) return;
    const { store, log } = this.world;
    try {
      let isMore = false;
      for (const tenant of await store.auditoria.listSemAbertura()) {
        let isOpening = true;
        // What is due need not wait for it.
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

  /** Makes the months ahead, at the start and once a day; where another role has to, it is told as often. */
  async makeMeses(): Promise<void> {
    if (performance.now() < this.mesesAt) return;
    const { store, log, now } = this.world;
    this.mesesAt = performance.now() + WARN_EVERY_MS;
    try {
      await store.ensureMesesAhead(now());
      this.did('meses');
    } catch (error) {
      if (error instanceof MesesForbidden) {
        // How many there are is told by a measure of its own.
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

/** Makes what is due later than any wait of ours due now; how many rows. A clock that was set ahead and back leaves such rows. */
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

/**
 * A few municipalities with their integrators, operators and workers, for the length of a seed. The flows and the database are real. The
 * environment fails (`simulation-adn.ts`), and the clock jumps.
 *
 * One action runs at a time, so a seed always gives the same history. Each actor is a task. It runs until it ends, or until the seed pauses
 * it at a call of the store or the environment. A paused task may resume much later, when other tasks have continued the same work, or
 * never. The end is calm, and everything has to come to rest.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { AnnouncedClaim, Claim } from '../../src/base/book/claim-notas.ts';
import type { Municipio } from '../../src/base/book/municipios.ts';
import { AnnouncedClaims } from '../../src/base/delivery/announced.ts';
import type { Delivered } from '../../src/base/delivery/deliver.ts';
import type { Db } from '../../src/base/pg/open.ts';
import type { World } from '../../src/base/world/world.ts';
import { readJson } from '../../src/documents/json.ts';
import type { Signer } from '../../src/documents/signing.ts';
import { type Aliquota, tabelaEmbarcada, tabelaIbsCbs } from '../../src/fiscal/aliquotas-ibs-cbs.ts';
import { type EventoEstado, eventoMove } from '../../src/fiscal/evento.ts';
import { eventoId } from '../../src/fiscal/layout/evento.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/fiscal/moment.ts';
import { readPedido } from '../../src/fiscal/pedido-evento.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { exemploDe, TIPOS_EVENTO, type TipoEvento, tipoBySlug } from '../../src/fiscal/tipos-evento.ts';
import type { EventoClaim, EventoSettlement } from '../../src/subjects/eventos/claim.rows.ts';
import { deliverEventos } from '../../src/subjects/eventos/deliver.job.ts';
import type { MoveResult, OperatorTrigger } from '../../src/subjects/eventos/operate.rows.ts';
import { type EventoPublico, eventosOfNota } from '../../src/subjects/eventos/queries.ts';
import {
  type EventoRefused,
  type EventoRegistrado,
  registerEvento,
  registerPedido,
} from '../../src/subjects/eventos/register.ts';
import { deliverNotas } from '../../src/subjects/notas/deliver.job.ts';
import { issueNota } from '../../src/subjects/notas/issue.ts';
import { notaByChave, notaByProtocolo } from '../../src/subjects/notas/queries.ts';
import { releaseNotas } from '../../src/subjects/notas/release.job.ts';
import { createStore, type Store } from '../../src/wiring/store.ts';
import { shortenWaits } from '../../src/wiring/upkeep.ts';
import { tenantsDue } from './due.ts';
import { asSandbox } from './municipio.ts';
import { noAvisos } from './no-avisos.ts';
import { Ambiente, authorityReachedBy, ENSAIOS, type Line, type Weather } from './simulation-adn.ts';
import { type Chance, chanceOf } from './simulation-chance.ts';
import { nobodyTrusted } from './trust.ts';

const START = Date.parse('2026-11-21T13:00:00-03:00');
const STEPS = 90;
/** The maximum of final worker rounds in which faults may still occur. */
const TAIL_MAX = 24;
const WAITING_MAX = 5;
const ROUNDS_MAX = 400;
/** Rounds after which the clock advances by hours. */
const PATIENCE_ROUNDS = 60;
/** Rounds in which the only due work is work that may wait for ever. */
const QUIET_ROUNDS = 3;
/** The providers of each municipality: a DPS identifies its provider everywhere. */
const PROVIDERS = [
  ['11222333000181', '11444777000161'],
  ['33000167000101', '00000000000191'],
  ['60746948000112', '90400888000142'],
  ['61186680000174', '03017677000120'],
] as const;
const INTERMEDIARIO: Patch = { 'interm/CNPJ': '60746948000112', 'interm/xNome': 'Intermediário Exemplo Ltda' };
const CNPJ_MUNICIPIO = '46395000000139';

/** The share of the groups of notes that are announced when they are stored. */
const ANNOUNCED_SHARE = 0.6;
/** The share of the notes with a competence whose CBS is not published at first. */
const HELD_SHARE = 0.12;
const CBS_2027: Aliquota = {
  tributo: 'CBS',
  uf: '',
  municipio: '',
  cClassTrib: '',
  inicio: '2027-01-01',
  fim: '2027-12-31',
  aliquota: '8.80',
  fonte: 'DOU',
  ato: 'Resolução do Senado',
};

/** The reason that an operator gives. */
export const BY_HAND = 'por ordem do operador';

/** The answer to an integrator about a note, which must stay true. */
export type NotaRespondida = {
  readonly municipio: Municipio;
  readonly chave: string;
  readonly protocolo: string;
  readonly prestador: string;
  readonly xml_nfse: string;
  readonly body: Buffer;
};

/** The same about an event. */
export type EventoRespondido = {
  readonly municipio: Municipio;
  readonly evento: EventoPublico;
  readonly pedido: Pedido;
};

/** A request to register an event: `answer` is undefined while there is none. */
export type Pedido = {
  readonly municipio: Municipio;
  readonly chave: string;
  readonly tipo: TipoEvento;
  readonly body: Buffer;
  answer: 'registrado' | 'recusado' | undefined;
};

type Resend = { readonly municipio: Municipio; readonly prestador: string; readonly body: Buffer };

class Crash extends Error {}

/** Claims on their way to a worker; the seed decides whether the queue accepts more. */
function newQueue(): AnnouncedClaims {
  return new AnnouncedClaims(() => undefined);
}

/** An actor that runs until it ends or waits. */
type Task = {
  readonly name: string;
  resume: (() => void) | undefined;
  isOver: boolean;
  failure: unknown;
  still: PromiseWithResolvers<void>;
  /** The end of the lease on its claims. */
  leaseUntil: number;
};

/** The probability that a task crashes, or waits, at one of its steps. */
type Nerves = { readonly crash: number; readonly wait: number };

const WEATHERS: readonly (Weather & Nerves)[] = [
  { fault: 0.05, refused: 0.05, unrecognised: 0.1, outage: 0, crash: 0.004, wait: 0.01 },
  { fault: 0.25, refused: 0.1, unrecognised: 0.25, outage: 0.02, crash: 0.012, wait: 0.02 },
  { fault: 0.5, refused: 0.15, unrecognised: 0.4, outage: 0.05, crash: 0.02, wait: 0.03 },
  { fault: 0.1, refused: 0.05, unrecognised: 0.1, outage: 0.01, crash: 0.01, wait: 0.08 },
];

export type Signers = readonly [Signer, Signer];

/** Store calls at which a task may crash or wait; calls that a flow makes concurrently are not among them. */
const GATED = [
  'notas.claim',
  'notas.claimAnunciadas',
  'retidas.release',
  'notas.settle',
  'eventos.claim',
  'eventos.settle',
  'eventos.readXml',
  'eventos.listOnNotas',
  'notas.issue',
  'eventos.register',
  'eventos.findNota',
  'eventos.move',
] as const satisfies { [Part in keyof Store]: `${Part}.${Extract<keyof Store[Part], string>}` }[keyof Store][];

/** A store call, with any arguments and result. */
type Step = (...all: readonly unknown[]) => Promise<unknown>;

const GATED_BY_PART = [...Map.groupBy(GATED, (name) => name.split('.')[0] as keyof Store)].map(
  ([part, names]) => [part, names.map((name) => name.slice(part.length + 1))] as const,
);

export class Simulacao {
  readonly seed: number;
  readonly pool: Db;
  readonly clock = { now: START };
  readonly ambiente: Ambiente;
  readonly municipios: Municipio[] = [];
  /** Tenants whose authority is the local one: nothing leaves the host (D-60). */
  readonly sandboxes = new Set<string>();
  readonly notas: NotaRespondida[] = [];
  readonly eventos: EventoRespondido[] = [];
  readonly pedidos: Pedido[] = [];
  readonly violations: string[] = [];
  /** The history of the run, in order. */
  readonly trace: string[] = [];
  /** Refused registrations, counted by code. */
  readonly refused = new Map<string, number>();
  private readonly chance: Chance;
  private readonly digits: Chance;
  private readonly nerve: Chance;
  private readonly signers: Signers;
  private signer = 0;
  private nerves: Nerves;
  private stores: readonly [Store, Store];
  /** The queue of each process: claims announced on storage that wait for its worker. */
  private readonly announced = [newQueue(), newQueue()];
  /** The random source for announced claims, and for their fate on the way to the worker. */
  private readonly handing: Chance;
  private waiting: Task[] = [];
  private readonly resends: Resend[] = [];
  private dps = 0;
  private readonly rates: Chance;
  /** The table has no CBS of 2027 until it is published. */
  private tabela = tabelaEmbarcada();
  /** The number of steps until its publication; a number past the last step means: in the calm end. */
  private readonly publishedAt: number;
  private isCalm = false;
  private hasSubstitutes = false;
  /** The holder and the end of each claim, as observed. */
  private readonly held = new Map<string, { readonly token: string; readonly until: number }>();

  private constructor(pool: Db, seed: number, signers: Signers) {
    this.seed = seed;
    this.pool = pool;
    this.chance = chanceOf(seed);
    this.digits = chanceOf(seed + 7_000_001);
    this.nerve = chanceOf(seed + 17_000_003);
    this.rates = chanceOf(seed + 37_000_009);
    this.handing = chanceOf(seed + 47_000_017);
    this.publishedAt = this.rates.below(STEPS + STEPS / 2);
    this.signers = signers;
    const weather = this.chance.pick(WEATHERS);
    this.nerves = weather;
    this.ambiente = new Ambiente(chanceOf(seed + 27_000_007), weather, () => this.clock.now);
    this.stores = [this.openStore(0), this.openStore(1)];
  }

  /** `run`: distinguishes the tenants of this run from those of another run of the same seed. */
  static async run(pool: Db, seed: number, signers: Signers, run: string): Promise<Simulacao> {
    const simulacao = new Simulacao(pool, seed, signers);
    try {
      await simulacao.open(run);
      for (let step = 0; step < STEPS; step += 1) {
        if (step === simulacao.publishedAt) simulacao.publish();
        await simulacao.step();
      }
      await simulacao.settle();
    } catch (error) {
      simulacao.violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    simulacao.violations.push(...simulacao.ambiente.violations);
    return simulacao;
  }

  private async open(run: string): Promise<void> {
    const count = 1 + this.chance.below(PROVIDERS.length);
    for (let place = 0; place < count; place += 1) {
      const municipio = asSandbox(`s${this.seed}-${run}-${place}`);
      await this.stores[0].municipios.create(municipio, this.clock.now);
      this.municipios.push(municipio);
      if (this.chance.is(0.2)) this.sandboxes.add(municipio.tenant);
    }
  }

  // The actions.

  private async step(): Promise<void> {
    if (this.waiting.length > WAITING_MAX) return this.resume();
    const what = this.chance.weighted({
      emite: this.notas.length < 8 ? 8 : 1,
      repete: 2,
      substitui: 2,
      registra: 16,
      oficio: 9,
      juntos: 2,
      ronda: 26,
      entregaNotas: 4,
      entregaEventos: 10,
      retoma: 8,
      abandona: 2,
      relogio: 12,
      operador: 5,
      queda: 1.5,
      barra: 0.5,
      tempo: 1.5,
      certificado: 1,
      reinicio: 0.5,
      consulta: 5,
    });
    switch (what) {
      case 'emite':
        return this.issue();
      case 'repete':
        return this.resend();
      case 'substitui':
        return this.substitute();
      case 'registra':
        return this.register(false);
      case 'oficio':
        return this.register(true);
      case 'juntos':
        return this.registerAtOnce();
      case 'ronda':
        return this.round();
      case 'entregaNotas':
        return this.deliver('notas');
      case 'entregaEventos':
        return this.deliver('eventos');
      case 'retoma':
        return this.resume();
      case 'abandona':
        return void this.abandon();
      case 'relogio':
        return this.jump();
      case 'operador':
        return this.operate();
      case 'queda':
        this.tell('o ADN cai');
        return this.ambiente.outage(SECOND_MS + this.chance.below(10 * MINUTE_MS));
      case 'barra':
        this.tell('o certificado deixa de ser aceito');
        return this.ambiente.bar(SECOND_MS + this.chance.below(3 * MINUTE_MS));
      case 'tempo': {
        const weather = this.chance.pick(WEATHERS);
        this.nerves = weather;
        this.ambiente.weather = weather;
        return this.tell('o tempo muda');
      }
      case 'certificado':
        this.signer = 1 - this.signer;
        return this.tell('o município renova o certificado');
      case 'reinicio':
        this.stores = [this.openStore(0), this.stores[1]];
        this.announced[0] = newQueue();
        return this.tell('um processo reinicia');
      case 'consulta':
        return this.look();
    }
  }

  /** The store of a process whose worker sends some of its issued notes at once: those announced on storage. */
  private openStore(process: 0 | 1): Store {
    const onStored = (
      tenant: string,
      documents: readonly (readonly [string, string])[],
      claim?: AnnouncedClaim,
    ): void => {
      this.stores[process].notas.keepForTransmission(tenant, documents);
      if (claim !== undefined) this.handOver(process, tenant, claim);
    };
    return createStore(this.pool, onStored, () => {
      if (!this.handing.is(ANNOUNCED_SHARE)) return undefined;
      const at = this.clock.now;
      return { token: randomUUID(), at, until: at + MINUTE_MS };
    });
  }

  /** Runs after the commit. The claim reaches the worker; or only the news of the commit is lost; or the process dies in between. */
  private handOver(process: 0 | 1, tenant: string, claim: AnnouncedClaim): void {
    for (const { id } of claim.notas)
      this.held.set(`n/${tenant}/${id}`, { token: claim.token, until: claim.at + MINUTE_MS });
    const how = this.handing.weighted({ entregue: 8, calado: 1, perdido: 1 });
    this.tell(`anunciadas ao gravar: ${claim.notas.length}, ${how}`);
    if (how === 'entregue') this.announced[process]!.put(tenant, claim);
    if (how === 'calado') this.announced[process]!.put(tenant, { ...claim, notas: [] });
  }

  /** The work of a lane: it takes the announced notes, and gives back those that it does not send. */
  private async deliverNotas(task: Task, process: 0 | 1, municipio: Municipio): Promise<Delivered> {
    const { tenant } = municipio;
    const { fresh, stale } = this.announced[process]!.take(tenant, this.clock.now);
    task.leaseUntil = Math.min(...fresh.map(({ at }) => at + MINUTE_MS), task.leaseUntil);
    const isDue = fresh.length === 0 || this.handing.is(0.5);
    const done = await deliverNotas(this.worldOf(task, process), municipio, { announced: fresh, isDue });
    const left = done.delivered === 0 ? [...fresh.map(({ token }) => token), ...stale] : stale;
    if (left.length > 0) await this.stores[process].esperas.endClaims(tenant, left, this.clock.now);
    for (const [key, { token }] of this.held) if (left.includes(token)) this.held.delete(key);
    return done;
  }

  /** The worker's reaction to a clock that was set back: due times are shortened, and claim holders keep their claims. */
  private async shorten(): Promise<void> {
    const { now } = this.clock;
    // Other simulations in this database have clocks of their own.
    const [{ esperas, ...rest }] = this.stores;
    const store: Store = { ...rest, esperas: { ...esperas, listTenants: async () => this.tenants() } };
    await shortenWaits({ store, now: () => now } as World);
    for (const [key, one] of this.held) this.held.set(key, { ...one, until: Math.min(one.until, now + MINUTE_MS) });
    for (const task of this.waiting) task.leaseUntil = Math.min(task.leaseUntil, now + MINUTE_MS);
    const text = `select 'n/' || n.id as row from notas n ${queued('nota', 'n')} and f.due_at > $2
      union all select 'e/' || e.id from eventos e ${queued('evento', 'e')} and f.due_at > $3`;
    const values = [this.tenants(), new Date(now + 15 * MINUTE_MS), new Date(now + HOUR_MS + MINUTE_MS)];
    for (const { row } of await this.ask<{ row: string }>('far', text, values))
      this.violations.push(`${row} waits for a clock that was set back`);
  }

  /** The query has a name, so each connection plans it once. */
  private async ask<Row extends object>(name: string, text: string, values: unknown[]): Promise<readonly Row[]> {
    return (await this.pool.query<Row>({ name: `simulation_${name}`, text, values })).rows;
  }

  private tenants(): readonly string[] {
    return this.municipios.map(({ tenant }) => tenant);
  }

  private tell(what: string): void {
    this.trace.push(`${((this.clock.now - START) / SECOND_MS).toFixed(0)}s ${what}`);
  }

  private async jump(): Promise<void> {
    const kind = this.chance.weighted({ instante: 10, minuto: 5, prazo: 5, hora: 2, dia: 1, atras: 1, longe: 1 });
    const ms = {
      instante: this.chance.below(4 * SECOND_MS),
      minuto: this.chance.below(70 * SECOND_MS),
      prazo: MINUTE_MS + this.chance.below(5 * SECOND_MS),
      hora: this.chance.below(3 * HOUR_MS),
      dia: this.chance.below(30 * HOUR_MS),
      atras: -this.chance.below(5 * SECOND_MS),
      longe: -this.chance.below(3 * HOUR_MS),
    }[kind];
    this.clock.now = Math.max(START, this.clock.now + ms);
    this.tell(`o relógio salta ${ms} ms`);
    if (kind === 'longe') await this.shorten();
  }

  // Tasks.

  private async act(name: string, run: (task: Task) => Promise<string>): Promise<void> {
    const task: Task = {
      name,
      resume: undefined,
      isOver: false,
      failure: undefined,
      still: Promise.withResolvers<void>(),
      leaseUntil: Number.POSITIVE_INFINITY,
    };
    run(task)
      .then((came) => this.tell(`${name}: ${came}`))
      .catch((error: unknown) => {
        if (error instanceof Crash) this.tell(`${name}: quebra em ${error.message}`);
        else task.failure = error ?? new Error('nothing was thrown');
      })
      .finally(() => {
        task.isOver = true;
        task.still.resolve();
      });
    await this.untilStill(task);
  }

  private async untilStill(task: Task): Promise<void> {
    await task.still.promise;
    if (task.failure !== undefined) throw task.failure;
    if (!task.isOver) this.waiting.push(task);
  }

  private async resume(): Promise<void> {
    if (this.waiting.length === 0) return;
    const [task] = this.waiting.splice(this.chance.below(this.waiting.length), 1);
    this.tell(`retoma ${task!.name}`);
    task!.still = Promise.withResolvers<void>();
    task!.resume?.();
    await this.untilStill(task!);
  }

  private abandon(): void {
    if (this.waiting.length === 0) return;
    const [task] = this.waiting.splice(this.chance.below(this.waiting.length), 1);
    this.tell(`abandona ${task!.name}`);
  }

  private async gate(task: Task, place: string): Promise<void> {
    if (this.isCalm) return;
    const { crash, wait } = this.nerves;
    if (this.nerve.is(crash)) throw new Crash(place);
    if (!this.nerve.is(wait)) return;
    this.tell(`${task.name}: espera em ${place}`);
    await new Promise<void>((resolve) => {
      task.resume = resolve;
      task.still.resolve();
    });
  }

  private worldOf(task: Task, process: 0 | 1): World {
    const line: Line = {
      gate: (place) => this.gate(task, place),
      isLate: () => this.clock.now >= task.leaseUntil,
    };
    const national = { adn: this.ambiente.reachedBy(line), signer: this.signers[this.signer]! };
    const local = { adn: authorityReachedBy(line, () => this.clock.now), signer: undefined };
    return {
      store: this.gatedStore(task, this.stores[process]),
      transmission: async ({ tenant }) => (this.sandboxes.has(tenant) ? local : national),
      trust: () => nobodyTrusted,
      now: () => this.clock.now,
      randomDigits: (count) => this.digits.digits(count),
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (about, message) => {
          if (message !== 'o ADN não aceita os documentos do município') {
            this.violations.push(`logged as an error: ${message} ${JSON.stringify(about)}`);
          }
        },
      },
      postAviso: noAvisos,
      wake: () => undefined,
    };
  }

  private gatedStore(task: Task, store: Store): Store {
    // The table of rates belongs to the whole database, and each simulation has its own.
    const aliquotas = { ...store.aliquotas, readTabela: async () => this.tabela };
    const parts = GATED_BY_PART.map(([part, names]) => {
      const methods = store[part] as unknown as Readonly<Record<string, Step>>;
      const gated = names.map((own) => [own, this.gated(task, `${part}.${own}`, methods[own]!)]);
      return [part, { ...methods, ...Object.fromEntries(gated) }];
    });
    return { ...store, aliquotas, ...Object.fromEntries(parts) };
  }

  private gated(task: Task, name: string, method: Step): Step {
    return async (...args) => {
      if (name === 'eventos.settle') this.seesSettlements(args[0] as string, args[3] as readonly EventoSettlement[]);
      await this.gate(task, `antes de ${name}`);
      const result = await method(...args);
      if (name === 'notas.claim' || name === 'eventos.claim') this.seesClaim(task, name, args, result);
      if (name === 'notas.claimAnunciadas') {
        const [tenant, token, now, leaseUntil] = args as [string, string, number, number];
        const notas = result as Claim['notas'];
        this.seesClaim(task, 'notas.claim', [tenant, now, leaseUntil], { token, notas });
      }
      // An operator's move takes an event away from the holder of its claim.
      if (name === 'eventos.move' && 'evento' in ((result ?? {}) as MoveResult))
        this.held.delete(`e/${args[0]}/${args[1]}`);
      if (name === 'eventos.claim') await this.seesOrder(args[0] as string, result as EventoClaim);
      if (name === 'notas.settle' || name === 'eventos.settle') this.seesSettled(name, args, result as number);
      await this.gate(task, `depois de ${name}`);
      return result;
    };
  }

  /** No two workers hold the same claim at once, by their common clock. */
  private seesClaim(task: Task, name: string, args: readonly unknown[], result: unknown): void {
    const [tenant, now, leaseUntil] = args as [string, number, number];
    task.leaseUntil = Math.min(leaseUntil, task.leaseUntil);
    const claim = result as Claim | EventoClaim;
    for (const { id } of 'notas' in claim ? claim.notas : claim.eventos) {
      const key = `${name === 'notas.claim' ? 'n' : 'e'}/${tenant}/${id}`;
      const before = this.held.get(key);
      if (before !== undefined && before.until > now) this.violations.push(`${key} is claimed while somebody holds it`);
      this.held.set(key, { token: claim.token, until: leaseUntil });
    }
  }

  /** A claim skips no event of a note before one that it sends. */
  private async seesOrder(tenant: string, { eventos }: EventoClaim): Promise<void> {
    if (eventos.length === 0) return;
    const text = `select e.id from eventos e where e.tenant = $1 and e.id = any ($2::bigint[]) and exists (
      select 1 from eventos b where b.tenant = $1 and b.nota = e.nota and b.ordem < e.ordem and b.aberto
        and b.id <> all ($2::bigint[]))`;
    const ids = eventos.map(({ id }) => id);
    for (const { id } of await this.ask<{ id: string }>('order', text, [tenant, ids]))
      this.violations.push(`event ${id} of ${tenant} goes before an earlier one of its note`);
  }

  /** A worker with an expired claim writes nothing: its rows belong to another worker. */
  private seesSettled(name: string, args: readonly unknown[], written: number): void {
    const [tenant, tokens, , settlements] = args as [string, readonly string[], number, readonly { id: string }[]];
    const keys = settlements.map(({ id }) => `${name === 'notas.settle' ? 'n' : 'e'}/${tenant}/${id}`);
    const own = keys.filter((key) => tokens.includes(this.held.get(key)?.token ?? ''));
    if (written !== own.length) this.violations.push(`${name} wrote ${written} of ${own.length} that were its own`);
    for (const key of own) this.held.delete(key);
  }

  /** D-52: an event is not charged with attempts while the environment is unreachable. */
  private seesSettlements(tenant: string, settlements: readonly EventoSettlement[]): void {
    if (this.sandboxes.has(tenant) || this.ambiente.pauseMs() === 0) return;
    for (const { id, move } of settlements) {
      if (move.on === 'falha' || move.on === 'esgotamento') {
        this.violations.push(`event ${id}: ${move.on} is counted while the circuit is open`);
      }
    }
  }

  // The integrators.

  private async issue(
    patch: Patch = {},
    municipio = this.chance.pick(this.municipios),
    prestador?: string,
  ): Promise<void> {
    this.dps += 1;
    const provider = prestador ?? this.chance.pick(PROVIDERS[this.municipios.indexOf(municipio)]!);
    const isNumbered = this.chance.is(0.85);
    const body = exampleXml({
      'prest/CNPJ': provider,
      ...(isNumbered
        ? { serie: '1', nDPS: String(this.chance.is(0.08) ? 1 + this.chance.below(this.dps) : this.dps) }
        : {}),
      ...(this.chance.is(0.4) ? INTERMEDIARIO : {}),
      ...(this.chance.is(0.1) ? { 'toma/CPF': null, 'toma/CNPJ': provider } : {}),
      ...(this.rates.is(HELD_SHARE) ? { dCompet: '2027-01-04' } : {}),
      ...patch,
      'serv/cServ/xDescServ': `Serviço ${this.dps}`,
    });
    await this.send({ municipio, prestador: provider, body: Buffer.from(body) });
  }

  private send(sent: Resend): Promise<void> {
    const { municipio, prestador, body } = sent;
    return this.act('emite', async (task) => {
      const open = this.resends.push(sent) - 1;
      const answer = await issueNota(this.worldOf(task, this.process()), municipio, {
        kind: 'xml',
        body,
        simular: this.rehearsal(municipio),
      });
      delete this.resends[open];
      if ('faults' in answer) {
        const codes = answer.faults.map(({ codigo }) => codigo).join(' ');
        // The replaced note may rule a substitute out; otherwise only a repetition is refused.
        const isExpected = codes === 'E0014' || answer.faults.every(({ xpath }) => xpath.includes('/subst'));
        if (!isExpected) this.violations.push(`a DPS is refused with ${codes}: ${answer.faults[0].mensagem}`);
        return codes;
      }
      const { chave_acesso: chave, numero_protocolo: protocolo, xml_nfse } = answer;
      this.notas.push({ municipio, chave, protocolo, prestador, xml_nfse, body });
      return chave;
    });
  }

  /** Repeats a request that was not answered, or was answered long ago. */
  private async resend(): Promise<void> {
    const lost = this.resends.filter((one) => one !== undefined);
    const again = lost.length > 0 ? lost : this.notas;
    if (again.length > 0) await this.send(this.chance.pick<Resend>(again));
  }

  private async substitute(): Promise<void> {
    if (this.notas.length === 0) return;
    const { municipio, chave, prestador } = this.chance.pick(this.notas);
    this.hasSubstitutes = true;
    const subst = {
      'subst/chSubstda': chave,
      'subst/cMotivo': '99',
      'subst/xMotivo': 'Descrição do serviço incorreta',
    };
    await this.issue(subst, municipio, prestador);
  }

  private async register(byOffice: boolean): Promise<void> {
    const pedido = this.pedidoOf(byOffice);
    if (pedido === undefined) return;
    await this.act(`registra ${pedido.tipo.slug}`, async (task) => {
      const answer = await this.registration(this.worldOf(task, this.process()), pedido);
      return this.registered(pedido, answer);
    });
  }

  /** The same request several times at once, through two processes; the order among equal requests makes no difference. */
  private async registerAtOnce(): Promise<void> {
    const pedido = this.pedidoOf(this.chance.is(0.2));
    if (pedido === undefined) return;
    await this.act(`registra juntos ${pedido.tipo.slug}`, async (task) => {
      const world = this.worldOf(task, 0);
      const all = Array.from({ length: 2 + this.chance.below(4) }, (_, place) => ({
        pedido: { ...pedido },
        world: { ...world, store: this.stores[place % 2]! },
      }));
      // All requests are equal; otherwise the first to arrive would change the history.
      const drawn: (string | undefined)[] = [];
      const alike = (): string | undefined => {
        drawn.push(this.rehearsal(pedido.municipio));
        return drawn[0];
      };
      const answers = await Promise.all(all.map((one) => this.registration(one.world, one.pedido, alike)));
      const order = (answer: EventoRegistrado | EventoRefused): number =>
        typeof answer === 'object' && 'evento' in answer ? answer.evento.numero_sequencial : 0;
      const told = answers
        .map((answer, place) => ({ answer, pedido: all[place]!.pedido }))
        .toSorted((a, b) => order(a.answer) - order(b.answer))
        .map((one) => this.registered(one.pedido, one.answer));
      this.pedidos.push(...all.map((one) => one.pedido));
      this.pedidos.splice(this.pedidos.indexOf(pedido), 1);
      return told.join(', ');
    });
  }

  private registration(
    world: World,
    { municipio, chave, tipo, body }: Pedido,
    rehearsal = () => this.rehearsal(municipio),
  ): Promise<EventoRegistrado | EventoRefused> {
    const protocolo = this.notas.find((nota) => nota.chave === chave)?.protocolo;
    const named = protocolo !== undefined && this.dps % 2 === 0 ? { protocolo } : { chave };
    if (!tipo.porOficio)
      return registerEvento(world, municipio, named, {
        kind: 'json',
        body,
        assinatura: undefined,
        simular: rehearsal(),
      });
    const read = readPedido(readJson(body) as never, 'municipio');
    assert.ok('pedido' in read, JSON.stringify(read));
    return registerPedido(world, municipio, named, { pedido: read.pedido, municipio: CNPJ_MUNICIPIO });
  }

  private registered(pedido: Pedido, answer: EventoRegistrado | EventoRefused): string {
    if (answer === 'not_found') {
      this.violations.push(`${pedido.chave} was answered and is not found`);
      return 'não há nota';
    }
    if ('faults' in answer) {
      pedido.answer = 'recusado';
      const codes = answer.faults.map(({ codigo }) => codigo);
      for (const codigo of codes) this.refused.set(codigo, (this.refused.get(codigo) ?? 0) + 1);
      return codes.join(' ');
    }
    pedido.answer = 'registrado';
    const { evento } = answer;
    if (evento.status_evento !== 'pendente') this.violations.push(`registered as ${evento.status_evento}`);
    this.eventos.push({ municipio: pedido.municipio, evento, pedido });
    return `${evento.tipo_evento} ${evento.numero_sequencial}`;
  }

  private pedidoOf(byOffice: boolean): Pedido | undefined {
    if (this.notas.length === 0) return undefined;
    const nota = this.chance.pick(this.notas);
    const { municipio, chave, prestador } = nota;
    const ofNote = this.eventos.filter((one) => one.evento.chave_acesso === chave);
    const has = (wanted: RegExp, often: number): number =>
      ofNote.some(({ evento }) => wanted.test(evento.tipo_evento)) ? often : 0.3;
    const substitutes = this.notas.filter((one) => one.body.includes(`<chSubstda>${chave}<`));
    const interm = nota.body.includes('<interm>') ? 1.5 : 0.1;
    const slug = byOffice
      ? this.chance.weighted({
          cancelamento_deferido_por_analise_fiscal: has(/^solicitacao/, 5),
          cancelamento_indeferido_por_analise_fiscal: has(/^solicitacao/, 5),
          confirmacao_tacita: 1,
          anulacao_rejeicao: has(/^rejeicao/, 5),
          cancelamento_por_oficio: 2,
          bloqueio_por_oficio: 3,
          desbloqueio_por_oficio: has(/^bloqueio/, 6),
        })
      : this.chance.weighted({
          cancelamento: 5,
          cancelamento_por_substituicao: substitutes.length > 0 ? 8 : 0.3,
          solicitacao_analise_fiscal_para_cancelamento: 4,
          confirmacao_prestador: 2,
          confirmacao_tomador: 2,
          confirmacao_intermediario: interm,
          rejeicao_prestador: 2,
          rejeicao_tomador: 2,
          rejeicao_intermediario: interm,
        });
    const tipo = tipoBySlug(slug)!;
    const campos: Record<string, string> = { ...exemploDe(tipo) };
    const named = (wanted: RegExp): string => {
      const found = ofNote.filter(({ evento }) => wanted.test(evento.tipo_evento));
      if (found.length === 0)
        return eventoId(
          chave,
          tipoBySlug(tipo.slug === 'anulacao_rejeicao' ? 'rejeicao_tomador' : 'bloqueio_por_oficio')!.codigo,
          1,
        );
      const { evento } = this.chance.pick(found);
      return eventoId(chave, evento.codigo_tipo_evento, evento.numero_sequencial);
    };
    if ('id_evento_rejeicao' in campos) campos['id_evento_rejeicao'] = named(/^rejeicao/);
    if ('id_evento_bloqueio' in campos) campos['id_evento_bloqueio'] = named(/^bloqueio/);
    if ('codigo_evento_bloqueado' in campos)
      campos['codigo_evento_bloqueado'] = this.chance.pick(['e101101', 'e105102', 'e305101']);
    if ('chave_acesso_substituta' in campos) {
      const others = this.notas.filter((one) => one.municipio === municipio && one.prestador === prestador);
      campos['chave_acesso_substituta'] = this.chance.pick(substitutes.length > 0 ? substitutes : others).chave;
    }
    // White space tells one request from another: the received bytes are stored unchanged.
    const body = Buffer.from(`${JSON.stringify(campos)}${' '.repeat(this.pedidos.length)}`);
    const pedido: Pedido = { municipio, chave, tipo, body, answer: undefined };
    this.pedidos.push(pedido);
    return pedido;
  }

  /** The rehearsal that some sandbox users request; elsewhere it has no effect. */
  private rehearsal({ tenant }: Municipio): string | undefined {
    return this.sandboxes.has(tenant) && this.chance.is(0.4) ? this.chance.pick(ENSAIOS) : undefined;
  }

  private process(): 0 | 1 {
    return this.chance.is(0.5) ? 0 : 1;
  }

  // The workers and the operators.

  private deliver(what: 'notas' | 'eventos', municipio = this.chance.pick(this.municipios)): Promise<void> {
    return this.act(`entrega ${what}`, async (task) => {
      const { delivered, pauseMs } = await this.deliverOf(what, task, this.process(), municipio);
      return `${delivered}${pauseMs > 0 ? ' e pausa' : ''}`;
    });
  }

  private deliverOf(what: 'notas' | 'eventos', task: Task, process: 0 | 1, municipio: Municipio): Promise<Delivered> {
    if (what === 'notas') return this.deliverNotas(task, process, municipio);
    return deliverEventos(this.worldOf(task, process), municipio);
  }

  /** The tenants with notes that a newer table releases. The workers hold no new notes back in a round. */
  private async releasable(): Promise<ReadonlySet<string>> {
    const { versao } = this.tabela;
    return new Set(versao === 1 ? [] : await tenantsDue(this.stores[0], 'retidas', this.clock.now, versao));
  }

  private async release(municipio: Municipio): Promise<void> {
    await this.act('solta retidas', async (task) => {
      const { delivered } = await releaseNotas(this.worldOf(task, 0), municipio);
      return String(delivered);
    });
  }

  /** An operator imports the missing rate. */
  private publish(): void {
    if (this.tabela.versao > 1) return;
    this.tell('a CBS de 2027 é publicada');
    this.tabela = tabelaIbsCbs(2, [...tabelaEmbarcada().linhas, CBS_2027]);
  }

  /** One look of a worker: held notes, then notes, then events. */
  private async round(): Promise<void> {
    const releasable = await this.releasable();
    for (const municipio of this.municipios) {
      if (releasable.has(municipio.tenant)) await this.release(municipio);
      await this.deliver('notas', municipio);
      await this.deliver('eventos', municipio);
    }
  }

  private async operate(): Promise<void> {
    const troubled = await this.answeredIn(['erro', 'erro_reprocessamento']);
    const event = this.chance.pick(troubled.length > 0 && this.chance.is(0.6) ? troubled : this.eventos);
    if (event === undefined) return;
    const move = this.chance.weighted<Exclude<OperatorTrigger, 'arquivamento'>>({
      reprocessamento: 4,
      separacao: 3,
      retirada: 2,
      dispensa: 2,
    });
    await this.moveByHand(event, move);
  }

  /** Answered events in some states, as an operator sees them. */
  private async answeredIn(estados: readonly EventoEstado[]): Promise<readonly EventoRespondido[]> {
    const text = 'select tenant, id from eventos where tenant = any ($1::text[]) and estado = any ($2::text[])';
    const rows = await this.ask<{ tenant: string; id: string }>('answered', text, [this.tenants(), estados]);
    const named = new Set(rows.map(({ tenant, id }) => `${tenant}/${id}`));
    return this.eventos.filter(({ municipio, evento }) => named.has(`${municipio.tenant}/${evento.id_evento}`));
  }

  private async moveByHand({ municipio, evento }: EventoRespondido, move: OperatorTrigger): Promise<void> {
    await this.act(`${move} de ${evento.tipo_evento} ${evento.numero_sequencial}`, async (task) => {
      const { store } = this.worldOf(task, this.process());
      const id = String(evento.id_evento);
      const result = await store.eventos.move(municipio.tenant, id, move, this.clock.now, BY_HAND);
      if (result === undefined) {
        this.violations.push(`event ${id} was answered and is not found`);
        return 'não há evento';
      }
      if ('conflict' in result) return result.conflict;
      if ('found' in result) {
        if (eventoMove(result.found, move) !== undefined)
          this.violations.push(`${move} from ${result.found} is refused`);
        return `não, está ${result.found}`;
      }
      return result.evento.estado;
    });
  }

  // Public queries.

  private async look(): Promise<void> {
    this.tell('consulta');
    if (this.notas.length === 0) return;
    const nota = this.chance.pick(this.notas);
    const { municipio, chave, protocolo } = nota;
    const world = { store: this.stores[1], now: () => this.clock.now } as World;
    const [byKey, byProtocol, lidos] = await Promise.all([
      notaByChave(world, municipio, chave),
      notaByProtocolo(world, municipio, protocolo),
      eventosOfNota(world, municipio, chave),
    ]);
    assert.ok(byKey !== undefined && byProtocol !== undefined && lidos !== undefined, `${chave} is lost`);
    const { eventos } = lidos;
    assert.equal(byKey.nota.chave_acesso, chave);
    assert.equal(byProtocol.nota.chave_acesso, chave);
    assert.equal(byKey.protocolo.numero_protocolo, protocolo);
    const cancelling = eventos.filter(
      ({ status_evento, codigo_tipo_evento }) =>
        status_evento === 'processado' &&
        TIPOS_EVENTO.some(({ codigo, cancela }) => cancela && codigo === codigo_tipo_evento),
    );
    assert.equal(byKey.nota.status === 'cancelada', cancelling.length > 0, `${chave} is ${byKey.nota.status}`);
    for (const { evento } of this.eventos.filter((one) => one.evento.chave_acesso === chave)) {
      const found: EventoPublico | undefined = eventos.find(({ id_evento }) => id_evento === evento.id_evento);
      assert.ok(found, `event ${evento.id_evento} was answered and is lost`);
      assert.equal(found.numero_sequencial, evento.numero_sequencial);
    }
    await this.looksForTwoCancellations();
  }

  private async looksForTwoCancellations(): Promise<void> {
    const text = `select nota from eventos where tenant = any ($1::text[]) and cancela and (
        estado in ('pendente', 'enviado', 'aguardando_autorizacao_nota')
        or (estado = 'erro' and reprocessamentos_count < 3 and aberto))
      group by tenant, nota having count(*) > 1`;
    const rows = await this.ask('cancellations', text, [this.tenants()]);
    assert.equal(rows.length, 0, 'a note has two open cancellations');
  }

  // The end.

  /** The calm end: waiting tasks are resumed or dropped, and unanswered requests are repeated. The workers go on until nothing is due. */
  private async settle(): Promise<void> {
    for (let round = this.chance.below(TAIL_MAX); round > 0; round -= 1) {
      const next = await this.nextDue();
      if (next !== undefined) this.clock.now = next;
      await this.round();
      if (this.waiting.length > WAITING_MAX) await this.resume();
    }
    this.tell('calmaria');
    while (this.waiting.length > 0) {
      if (this.chance.is(0.2)) this.abandon();
      else await this.resume();
    }
    this.isCalm = true;
    this.publish();
    this.ambiente.calm();
    for (const sent of this.resends.filter((one) => one !== undefined)) await this.send(sent);
    await this.comeToRest();
    await this.replaceForSubstitutes();
    await this.withdrawSubstitutes();
    if (!this.chance.is(0.3)) {
      for (const one of await this.answeredIn(['erro', 'erro_reprocessamento']))
        await this.moveByHand(one, this.chance.is(0.7) ? 'reprocessamento' : 'dispensa');
      await this.comeToRest();
    }
    const refused = await this.answeredIn(['rejeitado']);
    if (refused.length > 0) await this.moveByHand(this.chance.pick(refused)!, 'arquivamento');
  }

  /** Substitutes of a note that still stands: they wait for the event on it, for ever if that event is never registered. */
  async waitingSubstitutes(): Promise<readonly { chave: string; replaced: string }[]> {
    if (!this.hasSubstitutes) return [];
    const text = `select chave, replaced from (
        select n.tenant, n.chave_acesso as chave, substring(convert_from(d.nfse, 'UTF8') from '<chSubstda>([^<]+)<') as replaced
        from notas n join documentos d on d.tenant = n.tenant and d.nota = n.id
          join fila f on f.tenant = n.tenant and f.tipo = 'nota' and f.id = n.id
        where n.tenant = any ($1::text[])) x
      where exists (select 1 from notas r where r.tenant = x.tenant and r.chave_acesso = x.replaced
        and r.estado in ('emitida', 'retida', 'transmitida', 'autorizada')) order by chave`;
    return this.ask('substitutes', text, [this.tenants()]);
  }

  private async waitingKeys(): Promise<readonly string[]> {
    return (await this.waitingSubstitutes()).map(({ chave }) => chave);
  }

  /** An integrator's documented reaction to a waiting substitute. */
  private async replaceForSubstitutes(): Promise<void> {
    for (const { chave, replaced } of await this.waitingSubstitutes()) {
      const substitute = this.notas.find((nota) => nota.chave === chave);
      if (substitute === undefined || this.chance.is(0.2)) continue;
      const tipo = tipoBySlug('cancelamento_por_substituicao')!;
      const body = Buffer.from(
        `${JSON.stringify({ ...exemploDe(tipo), chave_acesso_substituta: chave })}${' '.repeat(this.pedidos.length)}`,
      );
      const pedido: Pedido = { municipio: substitute.municipio, chave: replaced, tipo, body, answer: undefined };
      this.pedidos.push(pedido);
      await this.act('registra a substituição', async (task) =>
        this.registered(pedido, await this.registration(this.worldOf(task, 0), pedido)),
      );
    }
    await this.comeToRest();
  }

  /** An operator withdraws the substitutes whose event will not come; some are left. */
  private async withdrawSubstitutes(): Promise<void> {
    const withdrawn = new Set<string>();
    for (const { chave, replaced } of await this.waitingSubstitutes()) {
      const municipio = this.notas.find((nota) => nota.chave === chave)?.municipio;
      if (municipio === undefined || this.chance.is(0.5)) continue;
      await this.act(`retira ${chave}`, async (task) => {
        const { store } = this.worldOf(task, 0);
        const by = { mensagem: 'Retirada', motivo: BY_HAND, quem: 'operador', via: 'comando' } as const;
        const result = await store.notas.withdraw(municipio.tenant, chave, this.clock.now, by);
        if (result === 'retirada') withdrawn.add(chave);
        // The substitute of a note that was just withdrawn no longer waits: it is about to be refused.
        const known =
          result === 'retirada' ||
          (typeof result === 'object' && ('evento' in result || ('substituida' in result && withdrawn.has(replaced))));
        if (!known) this.violations.push(`${chave} waits, and cannot be withdrawn: ${JSON.stringify(result)}`);
        return typeof result === 'string' ? result : 'um evento a traz';
      });
    }
    await this.comeToRest();
  }

  private async comeToRest(): Promise<void> {
    let quiet = 0;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const releasable = await this.releasable();
      for (const municipio of this.municipios) {
        if (releasable.has(municipio.tenant)) await this.release(municipio);
        for (const what of ['notas', 'eventos'] as const) {
          await this.act('entrega', async (task) => String((await this.deliverOf(what, task, 0, municipio)).delivered));
        }
      }
      const next = await this.nextDue();
      if (next === undefined) quiet += 1;
      if (quiet > QUIET_ROUNDS) return;
      // An event that is polled each minute may be polled for a day.
      const far = round > PATIENCE_ROUNDS ? this.clock.now + HOUR_MS : 0;
      this.clock.now = Math.max(next ?? this.clock.now + 2 * MINUTE_MS, far);
    }
    throw new Error(`after ${ROUNDS_MAX} rounds in calm weather something is still due`);
  }

  /**
   * The next due time. An event behind an earlier event of its note is due but not claimed, so only later times count. A substitute may
   * wait for ever for the event on the replaced note, and so may its own events.
   */
  private async nextDue(): Promise<number | undefined> {
    const text = `select min(x.due_at) as next from (
        select f.tenant, f.id as nota, f.due_at from fila f where f.tenant = any ($1::text[]) and f.tipo = 'nota' and f.due_at > $2
        union all select e.tenant, e.nota, f.due_at from fila f join eventos e on e.tenant = f.tenant and e.id = f.id
          where f.tenant = any ($1::text[]) and f.tipo = 'evento' and f.due_at > $2) x
      join notas n on n.tenant = x.tenant and n.id = x.nota where n.chave_acesso <> all ($3::text[])`;
    const values = [this.tenants(), new Date(this.clock.now), await this.waitingKeys()];
    const rows = await this.ask<{ next: Date | null }>('next', text, values);
    return rows[0]!.next?.getTime();
  }
}

/** Joins the queue rows of the tenants $1 that are not rehearsals. */
function queued(tipo: 'nota' | 'evento', of: string): string {
  return `join fila f on f.tenant = ${of}.tenant and f.tipo = '${tipo}' and f.id = ${of}.id
    where ${of}.tenant = any ($1::text[]) and ${of}.simular is null`;
}

/**
 * The national environment of a simulation, in this process. It keeps accepted documents, judges by the real matrix, and fails as the seed
 * says. Each document of a lot draws its own fault, so some arrive and others do not.
 *
 * It keeps the contract of `src/adn/adn.ts` as `national.ts` does. A note's events go in the given order, and those after an undecided
 * event are not sent. Each forbidden request is a violation, and is reported.
 */
import type {
  Adn,
  AdnAnswer,
  AdnErro,
  AdnKnowledge,
  DocumentToShare,
  EventoAnswer,
  EventoAsked,
  EventoToShare,
  NotaAnswer,
  NotaAsked,
} from '../../src/adn/adn.ts';
import { localAdn } from '../../src/adn/local.ts';
import { conflictOf, type EventoNaNota } from '../../src/fiscal/conflitos-evento.ts';
import { tipoByCodigo } from '../../src/fiscal/tipos-evento.ts';
import type { Chance } from './simulation-chance.ts';

export type NotaGuardada = {
  readonly tenant: string;
  readonly chave: string;
  readonly idDps: string;
  readonly xml: Buffer;
  readonly nsu: string;
  /** The time from which registrations of events find the note. */
  readonly reconhecida: number;
};

export type EventoGuardado = EventoNaNota & {
  readonly tenant: string;
  readonly id: string;
  readonly chave: string;
  readonly xml: Buffer;
  readonly nsu: string;
};

/** The severity of the faults; each is a share of the documents, or of the calls. */
export type Weather = {
  /** The share of documents that suffer one of the faults below. */
  readonly fault: number;
  /** The share of notes and events that are refused, now and at every repetition. */
  readonly refused: number;
  /** The share of notes that registrations of events do not find for a while. */
  readonly unrecognised: number;
  /** The share of accepted deliveries after which nothing answers for a while. */
  readonly outage: number;
};

/**
 * Faults of a document on its way. `lost`: accepted, but the answer does not arrive; `dropped`: the request does not arrive; `away`: surely
 * not accepted; `forgotten`: accepted, but missing in the answer; `skipped`: missing in the answer and not accepted; `repeated`: it arrives
 * twice, and the second answer is returned; `strange`: an answer that cannot be understood.
 */
const FAULTS = ['lost', 'lost', 'dropped', 'away', 'forgotten', 'skipped', 'repeated', 'strange'] as const;
type Fault = (typeof FAULTS)[number];

/** Questions to the simulated network before and after a document is processed: the call may wait there, or fail. */
export type Line = {
  readonly gate: (place: string) => Promise<void>;
  /** Whether the worker's claim has expired, so that other workers may have come first. */
  readonly isLate: () => boolean;
};

/** The interval of probes to an unavailable environment. */
const PROBE_MS = 20_000;
/** The number of failed calls after which the circuit opens. */
const FAILURES_TO_OPEN = 2;

export class Ambiente {
  readonly notas = new Map<string, NotaGuardada>();
  readonly eventos = new Map<string, EventoGuardado>();
  readonly violations: string[] = [];
  /** Notes and events with a request that arrived after another request for the same had been answered. */
  readonly arrivedLate = new Set<string>();
  /** Notes of which only the second arrival was answered: the stored signature is unknown. */
  readonly repeated = new Set<string>();
  /** Answers about events, by kind. */
  readonly answered = new Map<string, number>();
  weather: Weather;
  /** Whether the environment accepts from a municipality the event types that the parties send themselves. */
  readonly takesManifestations: boolean;
  private readonly chance: Chance;
  private readonly now: () => number;
  private readonly refusals = new Map<string, readonly AdnErro[] | undefined>();
  private readonly held = new Map<string, EventoGuardado[]>();
  private readonly numbers = new Map<string, number>();
  /** The number of failures left for a document, in any weather: some documents make the environment fail. */
  private readonly stumbles = new Map<string, number>();
  private awayUntil = Number.NEGATIVE_INFINITY;
  private barredUntil = Number.NEGATIVE_INFINITY;
  private failures = 0;
  private probeAt = Number.NEGATIVE_INFINITY;

  constructor(chance: Chance, weather: Weather, now: () => number) {
    this.chance = chance;
    this.weather = weather;
    this.now = now;
    this.takesManifestations = chance.is(0.5);
  }

  /** No call is answered for so long. */
  outage(ms: number): void {
    this.awayUntil = this.now() + ms;
  }

  /** The certificate of the municipality is refused for so long. */
  bar(ms: number): void {
    this.barredUntil = this.now() + ms;
  }

  calm(): void {
    this.weather = { fault: 0, refused: this.weather.refused, unrecognised: 0, outage: 0 };
    this.awayUntil = Number.NEGATIVE_INFINITY;
    this.barredUntil = Number.NEGATIVE_INFINITY;
    this.failures = 0;
    this.stumbles.clear();
  }

  /** The environment as one worker reaches it. */
  reachedBy(line: Line): Adn {
    return {
      wantsDocuments: true,
      batchMax: 50,
      searchMax: 20,
      share: (tenant, documents) => this.share(line, tenant, documents),
      find: (tenant, notas) => this.find(line, tenant, notas),
      shareEventos: (tenant, eventos) => this.shareEventos(line, tenant, eventos),
      findEventos: (tenant, eventos) => this.findEventos(line, tenant, eventos),
      pauseMs: () => this.pauseMs(),
    };
  }

  /** The circuit breaker: while it is open, only a probe goes out now and then. */
  pauseMs(): number {
    if (this.failures < FAILURES_TO_OPEN) return 0;
    return Math.max(0, this.probeAt - this.now());
  }

  private failed(): void {
    this.failures += 1;
    this.probeAt = this.now() + PROBE_MS;
  }

  private isAway(): boolean {
    return this.now() < this.awayUntil;
  }

  // Notes.

  private async share(
    line: Line,
    tenant: string,
    documents: readonly DocumentToShare[],
  ): Promise<ReadonlyMap<string, NotaAnswer>> {
    await line.gate('notas a caminho');
    const answers = new Map<string, NotaAnswer>();
    if (documents.length === 0) this.violations.push('a lot without notes');
    const whole = this.wholeCall();
    for (const { chave_acesso: chave, xml } of this.chance.shuffled(documents)) {
      if (whole !== undefined) {
        answers.set(chave, whole);
        continue;
      }
      const fault = this.faultOf(chave);
      if (fault === 'dropped') answers.set(chave, { kind: 'unknown', why: 'o pedido se perdeu' });
      if (fault === 'away') answers.set(chave, { kind: 'unavailable', why: 'conexão recusada' });
      if (lacksIbsCbs(xml)) this.violations.push(`${chave} is sent to a certain refusal (E1515)`);
      if (fault === 'dropped' || fault === 'away' || fault === 'skipped') continue;
      const answer = this.takeNota(line, tenant, chave, xml);
      await line.gate('nota processada');
      if (fault === 'repeated') {
        if (answer.kind === 'accepted') this.repeated.add(chave);
        answers.set(chave, this.takeNota(line, tenant, chave, xml));
      } else if (fault === 'lost') answers.set(chave, { kind: 'unknown', why: 'a resposta se perdeu' });
      else if (fault === 'strange') answers.set(chave, { kind: 'unknown', why: 'a resposta não é JSON' });
      else if (fault !== 'forgotten') answers.set(chave, answer);
    }
    await line.gate('notas respondidas');
    return answers;
  }

  private takeNota(line: Line, tenant: string, chave: string, xml: Uint8Array | undefined): NotaAnswer {
    const before = this.notas.get(chave);
    if (xml === undefined) throw new Error('a note without document');
    if (before !== undefined) {
      if (before.tenant !== tenant) this.violations.push(`${chave} comes from two municipalities`);
      return { kind: 'accepted', nsu: undefined };
    }
    const text = Buffer.from(xml).toString('utf8');
    if (!text.includes(`Id="NFS${chave}"`)) this.violations.push(`under ${chave} came another document`);
    const idDps = /<infDPS[^>]*\bId="(DPS[^"]+)"/.exec(text)?.[1] ?? '';
    const twin = [...this.notas.values()].find((nota) => nota.idDps === idDps);
    const refused = this.refusalOf(chave);
    if (refused !== undefined) return { kind: 'refused', erros: refused };
    if (twin !== undefined) {
      if (!this.arrivedLate.has(twin.chave)) this.violations.push(`${idDps} is in ${chave} and in ${twin.chave}`);
      return { kind: 'refused', erros: [{ codigo: 'E0014', descricao: 'A DPS já foi usada' }] };
    }
    const replaced = /<chSubstda>([^<]+)</.exec(text)?.[1];
    const objection = replaced === undefined ? undefined : this.objectionToSubstitute(chave, replaced);
    if (objection !== undefined) return objection;
    if (line.isLate()) this.arrivedLate.add(chave);
    const nsu = this.nextNsu(tenant);
    const reconhecida = this.chance.is(this.weather.unrecognised) ? this.now() + this.chance.below(400_000) : 0;
    this.notas.set(chave, { tenant, chave, idDps, xml: Buffer.from(xml), nsu, reconhecida });
    return { kind: 'accepted', nsu };
  }

  /** E0044, E0046, E1308 and E1310: a note that replaces another comes after the event on that note that names it. */
  private objectionToSubstitute(chave: string, replaced: string): NotaAnswer | undefined {
    const erros = (codigo: string): readonly AdnErro[] => [{ codigo, descricao: 'Substituição fora de ordem' }];
    if (!this.notas.has(replaced)) return { kind: 'refused', erros: erros('E0044') };
    const cancelling = this.held.get(replaced)?.find(({ codigo }) => tipoByCodigo(codigo)?.cancela);
    if (cancelling === undefined) return { kind: 'too_early', erros: erros('E1308') };
    const named = cancelling.campos['chave_acesso_substituta'];
    if (named === chave) return undefined;
    return { kind: 'refused', erros: erros(named === undefined ? 'E0046' : 'E1310') };
  }

  private async find(
    line: Line,
    tenant: string,
    notas: readonly NotaAsked[],
  ): Promise<ReadonlyMap<string, AdnKnowledge>> {
    await line.gate('consulta de notas a caminho');
    const away = this.awayCall();
    const known = new Map<string, AdnKnowledge>();
    for (const { chave_acesso: chave, nsu_antes } of notas) {
      const nota = this.notas.get(chave);
      const last = this.numbers.get(tenant) ?? 0;
      if (away !== undefined) known.set(chave, { kind: 'unavailable', why: away, place: nsu_antes });
      else if (this.chance.is(this.weather.fault / 3)) {
        // The scan stopped in part: it continues from there, at once or after a while.
        const to = Math.max(
          Number(nsu_antes),
          this.chance.below((nota === undefined ? last : Number(nota.nsu) - 1) + 1),
        );
        const why = 'a consulta não chegou ao fim';
        known.set(chave, { kind: 'unavailable', why, place: String(to), goesOn: this.chance.is(0.5) });
      } else if (nota === undefined) known.set(chave, { kind: 'absent', place: String(last) });
      else {
        if (nota.tenant !== tenant) this.violations.push(`${tenant} asks about ${chave}`);
        if (BigInt(nota.nsu) <= BigInt(nsu_antes)) {
          this.violations.push(`${chave} has the number ${nota.nsu}, and is looked for from ${nsu_antes} on`);
        }
        known.set(chave, { kind: 'known', nsu: nota.nsu, xml: nota.xml });
      }
    }
    await line.gate('consulta de notas respondida');
    return known;
  }

  // Events.

  private async shareEventos(
    line: Line,
    tenant: string,
    eventos: readonly EventoToShare[],
  ): Promise<ReadonlyMap<string, EventoAnswer>> {
    await line.gate('eventos a caminho');
    if (eventos.length === 0) this.violations.push('a lot without events');
    const answers = new Map<string, EventoAnswer>();
    const whole = this.wholeCall();
    const perNote = [...Map.groupBy(eventos, ({ chave_acesso }) => chave_acesso).values()];
    for (const ofNote of this.chance.shuffled(perNote)) {
      let rest: EventoAnswer | undefined = whole;
      for (const evento of ofNote) {
        if (rest !== undefined) {
          answers.set(evento.id, rest);
          continue;
        }
        const answer = await this.passage(line, tenant, evento, this.faultOf(evento.id));
        this.answered.set(answer?.kind ?? 'nothing', (this.answered.get(answer?.kind ?? 'nothing') ?? 0) + 1);
        if (answer !== undefined) answers.set(evento.id, answer);
        rest = restAfter(answer);
      }
    }
    await line.gate('eventos respondidos');
    return answers;
  }

  private async passage(
    line: Line,
    tenant: string,
    evento: EventoToShare,
    fault: Fault | undefined,
  ): Promise<EventoAnswer | undefined> {
    if (fault === 'dropped') return { kind: 'unknown', why: 'o pedido se perdeu' };
    if (fault === 'away') return { kind: 'unavailable', why: 'conexão recusada' };
    if (fault === 'skipped') return undefined;
    await line.gate('evento a caminho');
    const answer = this.takeEvento(line, tenant, evento);
    await line.gate('evento processado');
    switch (fault) {
      case 'repeated':
        return this.takeEvento(line, tenant, evento);
      case 'lost':
        return { kind: 'unknown', why: 'a resposta se perdeu' };
      case 'forgotten':
        return undefined;
      case 'strange':
        return { kind: 'not_understood', why: 'código desconhecido (X99)', erros: NASTY };
      default:
        return answer;
    }
  }

  private takeEvento(
    line: Line,
    tenant: string,
    { id, chave_acesso: chave, xml, evento }: EventoToShare,
  ): EventoAnswer {
    if (xml === undefined) throw new Error('an event without document');
    const text = Buffer.from(xml).toString('utf8');
    if (!text.includes(`<infEvento Id="${id}">`)) this.violations.push(`under ${id} came another document`);
    if (!text.includes(`<nSeqEvento>${evento.numero_sequencial}<`)) this.violations.push(`${id} has another sequence`);
    const nota = this.notas.get(chave);
    if (nota === undefined) this.violations.push(`${id} comes before its note`);
    else if (nota.tenant !== tenant) this.violations.push(`${id} is about the note of another municipality`);
    if (this.eventos.has(id)) {
      return { kind: 'already_there', erros: [{ codigo: 'E1805', descricao: 'Evento já existe' }] };
    }
    if (nota === undefined || this.now() < nota.reconhecida) {
      return { kind: 'note_unknown', erros: [{ codigo: 'E1831', descricao: 'Nota inexistente no ADN' }] };
    }
    if (tipoByCodigo(evento.codigo)?.soAqui && !this.takesManifestations) {
      return { kind: 'not_taken_here', erros: [{ codigo: 'E1818', descricao: 'Não compartilhado por município' }] };
    }
    const held = this.held.get(chave) ?? [];
    const conflict = conflictOf(held, { ...evento, chave_acesso: chave });
    if (conflict !== undefined) {
      return { kind: 'refused', erros: [{ codigo: conflict.codigo, descricao: conflict.mensagem }] };
    }
    const refused = this.refusalOf(id);
    if (refused !== undefined) return { kind: 'refused', erros: refused };
    const nsu = this.nextNsu(tenant);
    const taken = { ...evento, tenant, id, chave, xml: Buffer.from(xml), nsu };
    if (line.isLate()) this.arrivedLate.add(id);
    this.eventos.set(id, taken);
    this.held.set(chave, [...held, taken]);
    return { kind: 'accepted', nsu };
  }

  private async findEventos(
    line: Line,
    tenant: string,
    eventos: readonly EventoAsked[],
  ): Promise<ReadonlyMap<string, AdnKnowledge>> {
    await line.gate('consulta de eventos a caminho');
    const away = this.awayCall();
    const known = new Map<string, AdnKnowledge>();
    for (const [chave, ofNote] of Map.groupBy(eventos, ({ chave_acesso }) => chave_acesso)) {
      // The question is about the note, and so is the fault.
      const isAway = away !== undefined || this.chance.is(this.weather.fault / 3);
      for (const { id } of ofNote) {
        const evento = this.eventos.get(id);
        if (this.notas.get(chave)?.tenant !== tenant) this.violations.push(`${tenant} asks about ${id}`);
        if (isAway) known.set(id, { kind: 'unavailable', why: away ?? 'a consulta não chegou ao fim' });
        else known.set(id, evento ? { kind: 'known', nsu: evento.nsu, xml: evento.xml } : { kind: 'absent' });
      }
    }
    await line.gate('consulta de eventos respondida');
    return known;
  }

  // Random faults of whole calls.

  private wholeCall(): Extract<AdnAnswer, { kind: 'unknown' | 'unavailable' | 'misconfigured' }> | undefined {
    if (this.now() < this.barredUntil) return { kind: 'misconfigured', why: 'o certificado não foi aceito' };
    const away = this.awayCall();
    if (away === undefined) return undefined;
    return { kind: this.chance.is(0.5) ? 'unknown' : 'unavailable', why: away };
  }

  private awayCall(): string | undefined {
    if (this.isAway()) {
      this.failed();
      return 'o ADN não está respondendo';
    }
    this.failures = 0;
    if (this.chance.is(this.weather.outage)) this.outage(1_000 + this.chance.below(200_000));
    return undefined;
  }

  private faultOf(id: string): Fault | undefined {
    const { fault } = this.weather;
    const left = this.stumbles.get(id) ?? (this.chance.is(fault / 2) ? 1 + this.chance.below(9) : 0);
    this.stumbles.set(id, Math.max(0, left - 1));
    if (left > 0 && fault > 0) return this.chance.is(0.1) ? 'lost' : 'dropped';
    return this.chance.is(this.weather.fault) ? this.chance.pick(FAULTS) : undefined;
  }

  private refusalOf(id: string): readonly AdnErro[] | undefined {
    if (!this.refusals.has(id)) {
      const isRefused = this.chance.is(this.weather.refused);
      this.refusals.set(id, isRefused ? (this.chance.is(0.5) ? NASTY : PLAIN) : undefined);
    }
    return this.refusals.get(id);
  }

  private nextNsu(tenant: string): string {
    const nsu = (this.numbers.get(tenant) ?? 0) + 1;
    this.numbers.set(tenant, nsu);
    return String(nsu);
  }
}

/** The answer for later events of a note, which are not sent; undefined if the event before them was decided. */
function restAfter(answer: EventoAnswer | undefined): EventoAnswer | undefined {
  switch (answer?.kind) {
    case 'note_unknown':
      return answer;
    case undefined:
    case 'unknown':
    case 'unavailable':
    case 'misconfigured':
      return { kind: 'unavailable', why: 'um evento anterior da mesma nota ainda não foi decidido' };
    default:
      return undefined;
  }
}

const PLAIN: readonly AdnErro[] = [{ codigo: 'E0822', descricao: 'Prazo de cancelamento vencido' }];

/** Errors that exceed the storage limits: long, deep, with invalid characters and with secrets. */
const NASTY: readonly AdnErro[] = [
  { codigo: 'E1999', descricao: `${'motivo longo '.repeat(200)}`, complemento: 'com \0 dentro e \ud800 pela metade' },
  {
    codigo: 'E0813',
    descricao: 'Autor',
    token: 'segredo',
    stack: 'at main.ts:1',
    interno: { a: { b: { c: { senha: 'x' } } } },
  } as AdnErro,
];

/** The local authority of the sandbox for one worker: it fails only as the integrator asks (D-60). */
export function authorityReachedBy({ gate }: Line, now: () => number): Adn {
  const authority = localAdn(now);
  const along = async <Result>(what: string, ask: () => Promise<Result>): Promise<Result> => {
    await gate(`${what} a caminho`);
    const answers = await ask();
    await gate(`${what} com resposta`);
    return answers;
  };
  return {
    ...authority,
    batchMax: 50,
    share: (tenant, documents) => along('notas', () => authority.share(tenant, documents)),
    find: (tenant, notas) => along('consulta de notas', () => authority.find(tenant, notas)),
    shareEventos: (tenant, eventos) => along('eventos', () => authority.shareEventos(tenant, eventos)),
    findEventos: (tenant, eventos) => along('consulta de eventos', () => authority.findEventos(tenant, eventos)),
  };
}

/** The faults that integrators of the sandbox request from the authority. */
export const ENSAIOS = [
  'adn:rejeita=E0840',
  'adn:rejeita=E1234',
  'adn:rejeita=E999',
  'adn:rejeita=E1831',
  'adn:rejeita=E1818',
  'adn:rejeita=E1308',
  'adn:atraso=30s',
  'adn:atraso=20m adn:rejeita=E0813',
  'adn:indisponivel=5m',
  'adn:resposta-perdida',
  'adn:resposta-perdida adn:indisponivel=2m',
] as const;

/** Whether the declaration has the group of the IBS and the CBS, and its note has none. */
function lacksIbsCbs(xml: Uint8Array | undefined): boolean {
  const [own = '', declaration = ''] = Buffer.from(xml ?? [])
    .toString('utf8')
    .split('<DPS');
  return declaration.includes('<IBSCBS>') && !own.includes('<IBSCBS>');
}

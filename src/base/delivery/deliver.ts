/**
 * Delivers the due documents of one tenant, notas or eventos: announces, asks, signs, sends and settles.
 *
 * Claiming commits the announcement. A document that was announced before may have arrived: the ADN is asked about it first. It is sent
 * again only when the ADN does not have it. Settling writes only rows that still carry our claim.
 */
import type { Adn, AdnAnswer, AdnKnowledge } from '../../adn/adn.ts';
import { type Move, requireMove } from '../../fiscal/machine.ts';
import type { AnnouncedClaim } from '../book/claim-notas.ts';
import type { Settlement } from '../book/claims.ts';
import type { Ref } from '../book/fila.ts';
import type { Municipio } from '../book/municipios.ts';
import type { Recebida } from '../book/recepcoes.ts';
import { inSpan, inTraces, noteInSpan, type Traced } from '../traces/traces.ts';
import type { Transmission, World } from '../world/world.ts';
import { backoff, MISCONFIGURED_PAUSE_MS } from './backoff.ts';
import { countAnswers } from './count-answers.ts';
import { type Document, recover, type Signable, signDocuments } from './documents.ts';

/** Pause before the files of a municipality are checked again. */
const PROBLEM_PAUSE_MS = 30_000;

/** `isFull`: more rows may be due. `pauseMs`: least time until the next batch. `isDoubtful`: one batch at a time. */
export type Delivered = {
  readonly delivered: number;
  readonly isFull: boolean;
  readonly pauseMs: number;
  readonly isDoubtful?: boolean;
};

export const NOTHING: Delivered = { delivered: 0, isFull: false, pauseMs: 0 };

/** World and tenant of a delivery. */
export type On = { readonly world: World; readonly tenant: string };

type Kind = { readonly kind: string; readonly resposta?: string };
type Accepted = Extract<AdnAnswer, { kind: 'accepted' }>;
type Misconfigured = Extract<AdnAnswer, { kind: 'misconfigured' }>;

/**
 * Input of a batch: due rows, claimed under `token`, and rows that were claimed as they were stored. No due rows are taken if `isDue` is
 * false.
 */
export type Taking = {
  readonly token?: string | undefined;
  readonly announced?: readonly AnnouncedClaim[];
  readonly isDue?: boolean;
  /** Called with the number of documents, once it is known. */
  readonly onTaken?: (documents: number) => void;
};

/** Rows that a batch took, and their tokens. */
export type Taken<Row> = {
  readonly tokens: readonly string[];
  readonly rows: readonly Row[];
  readonly isFull: boolean;
};

/** A row that is claimed. */
type Claimed = Ref & Traced & { readonly found: string; readonly tentativas: number };

/** Possible answers about a document: those of the contract, and those that only its kind has. */
type Answer<More> = AdnAnswer | More;
export type Answers<More> = ReadonlyMap<string, Answer<More>>;

/** The trigger of a row, and the moment of the next attempt if it differs from the usual backoff. */
export type Outcome<One extends Settlement> = Omit<One, keyof Ref | 'move' | 'dueAt' | 'recebida' | 'lugar'> & {
  readonly on: One['move']['on'];
  readonly waitMs?: number;
  readonly dueAt?: number;
};

/** Asks and sends for one batch. `foregone`: answers, by key, of rows that are neither asked about nor sent. */
export type Exchange<Row, More> = {
  readonly foregone: Answers<More>;
  readonly find: (rows: readonly Row[]) => Promise<ReadonlyMap<string, AdnKnowledge>>;
  readonly share: (rows: readonly Row[], xmlOf: (row: Row) => Uint8Array | undefined) => Promise<Answers<More>>;
};

/** Differences between the kinds of delivered documents. */
export type DeliveryKind<Row extends Claimed, More extends Kind, One extends Settlement> = Signable & {
  /** Name of a row in the log, and messages of the log in Portuguese. */
  readonly item: 'nota' | 'evento';
  readonly messages: Readonly<Record<'untransmitted' | 'another' | 'unshown' | 'lost', string>>;
  readonly moves: readonly Move[];
  /** The announced state, in which every outcome begins. */
  readonly announced: string;
  /** States in which the ADN certainly has nothing of a row. */
  readonly unsent: readonly string[];
  /** The answer for a row under whose key the ADN shows another document. */
  readonly another: Answer<More>;
  /** Key or identifier by which the ADN knows the document. */
  readonly keyOf: (row: Row) => string;
  /** Runs while nothing can be sent. `problem`: a fault that an operator must repair; undefined while the ADN is unreachable. */
  readonly rest: (on: On, problem: string | undefined) => Promise<void>;
  readonly claim: (on: On, adn: Adn, taking: Taking) => Promise<Taken<Row>>;
  readonly open: (on: On, adn: Adn, rows: readonly Row[]) => Promise<Exchange<Row, More>>;
  /** Documents by id. */
  readonly read: (on: On, rows: readonly Row[]) => Promise<ReadonlyMap<string, string>>;
  /** `isAway`: the environment is unreachable at the moment. */
  readonly outcomeOf: (
    on: On,
    row: Row,
    answer: Answer<More> | undefined,
    at: { readonly now: number; readonly isAway: boolean },
  ) => Outcome<One>;
  readonly settle: (on: On, tokens: readonly string[], now: number, settlements: readonly One[]) => Promise<number>;
  /** Runs at the end, with all answers; `isTried`: the ADN received a request. */
  readonly end?: (on: On, answers: Answers<More>, isTried: boolean) => Promise<void>;
};

/** A batch in progress: answers, reception numbers and stored copies by key, documents by id. */
type Batch<Row extends Claimed, More extends Kind, One extends Settlement> = {
  readonly kind: DeliveryKind<Row, More, One>;
  readonly on: On;
  readonly transmission: Transmission;
  readonly exchange: Exchange<Row, More>;
  readonly rows: readonly Row[];
  readonly answers: Map<string, Answer<More>>;
  /** The reception number up to which a search for a row found nothing. */
  readonly places: Map<string, string | undefined>;
  readonly held: Map<string, Recebida>;
  documents: ReadonlyMap<string, Document>;
};

/** Delivers one batch of a tenant. */
export async function deliver<Row extends Claimed, More extends Kind, One extends Settlement>(
  kind: DeliveryKind<Row, More, One>,
  world: World,
  municipio: Municipio,
  taking: Taking = {},
): Promise<Delivered> {
  const { tenant } = municipio;
  const on: On = { world, tenant };
  const transmission = await world.transmission(municipio);
  if ('problem' in transmission) {
    world.log.error({ tenant, problem: transmission.problem }, kind.messages.untransmitted);
    await kind.rest(on, transmission.problem);
    return { ...NOTHING, pauseMs: PROBLEM_PAUSE_MS };
  }
  const { adn } = transmission;
  // Nothing is announced, sent or counted while the environment is unreachable (D-52).
  const pauseMs = adn.pauseMs();
  if (pauseMs > 0) {
    await kind.rest(on, undefined);
    return { ...NOTHING, pauseMs };
  }
  const { tokens, rows, isFull } = await kind.claim(on, adn, taking);
  taking.onTaken?.(rows.length);
  if (rows.length === 0) return { ...NOTHING, isFull };
  const about = { 'nfse.municipio': tenant, 'nfse.documentos': rows.length };
  const done = () => deliverClaimed(kind, on, transmission, tokens, rows);
  return { isFull, ...(await inTraces('transmitir', rows, about, done, kind.keyOf)) };
}

async function deliverClaimed<Row extends Claimed, More extends Kind, One extends Settlement>(
  kind: DeliveryKind<Row, More, One>,
  on: On,
  transmission: Transmission,
  tokens: readonly string[],
  rows: readonly Row[],
): Promise<Omit<Delivered, 'isFull'>> {
  const { world, tenant } = on;
  const exchange = await kind.open(on, transmission.adn, rows);
  const answers = new Map(exchange.foregone);
  const fresh = { places: new Map(), held: new Map(), documents: new Map() };
  const batch = { kind, on, transmission, exchange, rows, answers, ...fresh };
  const { wasAsked, wasSent } = await exchangeBatch(batch);
  await settleBatch(batch, tokens);
  const misconfigured = [...answers.values()].find(
    (answer): answer is Misconfigured => answer.kind === 'misconfigured',
  );
  if (misconfigured !== undefined) {
    world.log.error({ tenant, problem: misconfigured.why }, 'o ADN não aceita os documentos do município');
  }
  await kind.end?.(on, answers, wasAsked || wasSent);
  const isDoubtful = wasAsked || [...answers.values()].some((answer) => answer.kind === 'unknown');
  return {
    delivered: rows.length,
    pauseMs: misconfigured === undefined ? 0 : MISCONFIGURED_PAUSE_MS,
    ...(isDoubtful ? { isDoubtful } : {}),
  };
}

/** Asks about documents that may have arrived, and sends the missing ones. */
async function exchangeBatch<Row extends Claimed, More extends Kind, One extends Settlement>(
  batch: Batch<Row, More, One>,
): Promise<{ readonly wasAsked: boolean; readonly wasSent: boolean }> {
  const { kind, on, exchange, rows, answers, transmission } = batch;
  const unanswered = (): readonly Row[] => rows.filter((row) => !answers.has(kind.keyOf(row)));
  const announced = unanswered().filter(({ found }) => !kind.unsent.includes(found));
  const known = announced.length === 0 ? new Map<string, AdnKnowledge>() : await find(batch, announced);
  for (const row of announced) noteUndecided(batch, row, known.get(kind.keyOf(row)));
  // A row is not signed if the question about it got no answer.
  if (transmission.adn.wantsDocuments) {
    const signing = async () => signDocuments(await kind.read(on, unanswered()), transmission.signer, kind);
    batch.documents = await inSpan('assinar', {}, signing, { only: keysOf(batch, unanswered()) });
  }
  for (const row of announced) noteKnown(batch, row, known.get(kind.keyOf(row)));
  const toSend = unanswered();
  if (toSend.length > 0) {
    const sending = () => exchange.share(toSend, ({ id }) => batch.documents.get(id)?.xml);
    const shared = await inSpan('enviar ao ADN', {}, sending, { only: keysOf(batch, toSend) });
    for (const [key, answer] of shared) answers.set(key, answer);
    await askAboutTaken(batch, toSend);
  }
  return { wasAsked: announced.length > 0, wasSent: toSend.length > 0 };
}

function find<Row extends Claimed, More extends Kind, One extends Settlement>(
  batch: Batch<Row, More, One>,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, AdnKnowledge>> {
  return inSpan('perguntar ao ADN', {}, () => batch.exchange.find(rows), { only: keysOf(batch, rows) });
}

function keysOf<Row extends Claimed, More extends Kind, One extends Settlement>(
  { kind }: Batch<Row, More, One>,
  rows: readonly Row[],
): ReadonlySet<string> {
  return new Set(rows.map(kind.keyOf));
}

/** Asks which document the environment has, if it answered that the key of a sent document is taken. */
async function askAboutTaken<Row extends Claimed, More extends Kind, One extends Settlement>(
  batch: Batch<Row, More, One>,
  sent: readonly Row[],
): Promise<void> {
  const { kind, on, answers } = batch;
  const taken = sent.filter((row) => answers.get(kind.keyOf(row))?.kind === 'already_there');
  if (taken.length === 0) return;
  const known = await find(batch, taken);
  for (const row of taken) {
    const knowledge = known.get(kind.keyOf(row));
    // A question without an answer is not a failure of the row, which may have arrived. The question is repeated.
    noteUndecided(batch, row, knowledge);
    noteKnown(batch, row, knowledge);
    if (knowledge === undefined || knowledge.kind === 'absent') {
      on.world.log.warn({ tenant: on.tenant, [kind.item]: row.id }, kind.messages.unshown);
    }
  }
}

function noteUndecided<Row extends Claimed, More extends Kind, One extends Settlement>(
  { kind, answers, places }: Batch<Row, More, One>,
  row: Row,
  knowledge: AdnKnowledge | undefined,
): void {
  if (knowledge === undefined || knowledge.kind === 'known') return;
  places.set(kind.keyOf(row), knowledge.place);
  if (knowledge.kind !== 'unavailable') return;
  // An unfinished search makes the row due at once.
  const { why, goesOn } = knowledge;
  answers.set(kind.keyOf(row), { kind: 'unavailable', why, ...(goesOn ? { at: 0 } : {}) });
}

/** Stored text of an answer if the environment was asked and showed the document. `before`: its earlier answer to the sending. */
function describeShown(nsu: string | undefined, before: string | undefined): string {
  const number = nsu === undefined ? '' : `, sob o número ${nsu}`;
  const shown = `consulta\nPerguntado, o ADN mostrou o documento${number}.`;
  return before === undefined ? shown : `${before}\n${shown}`;
}

/** Accepts a document that the environment shows as ours only if its content is the one we wrote. */
function noteKnown<Row extends Claimed, More extends Kind, One extends Settlement>(
  { kind, on, answers, documents, held }: Batch<Row, More, One>,
  row: Row,
  knowledge: AdnKnowledge | undefined,
): void {
  if (knowledge?.kind !== 'known') return;
  const key = kind.keyOf(row);
  const copy = recover(knowledge, documents.get(row.id), kind.profile);
  if (copy === 'another') {
    on.world.log.error({ tenant: on.tenant, [kind.item]: row.id }, kind.messages.another);
    answers.set(key, kind.another);
    return;
  }
  const { nsu } = knowledge;
  answers.set(key, { kind: 'accepted', nsu, resposta: describeShown(nsu, answers.get(key)?.resposta) });
  if (copy !== undefined) held.set(key, copy);
}

/** Writes the outcome of every row, from the announced state. */
async function settleBatch<Row extends Claimed, More extends Kind, One extends Settlement>(
  { kind, on, transmission, rows, answers, places, held, documents }: Batch<Row, More, One>,
  tokens: readonly string[],
): Promise<void> {
  const { world, tenant } = on;
  const now = world.now();
  const isAway = transmission.adn.pauseMs() > 0;
  const settlements = rows.map((row) => {
    const key = kind.keyOf(row);
    const answer = answers.get(key);
    const { on: trigger, waitMs, dueAt, ...columns } = kind.outcomeOf(on, row, answer, { now, isAway });
    const move = requireMove(kind.moves, kind.announced, trigger);
    noteInSpan({ [`nfse.${kind.item}`]: row.id, 'nfse.gatilho': trigger }, key);
    const due = move.due === 'never' ? undefined : (dueAt ?? now + (waitMs ?? backoff(world, row.tentativas)));
    const assinatura = documents.get(row.id)?.assinatura;
    const more =
      answer?.kind === 'accepted'
        ? { recebida: held.get(key) ?? { nsu: (answer as Accepted).nsu, assinatura } }
        : { lugar: places.get(key) };
    const said = answer?.resposta === undefined ? {} : { resposta: answer.resposta };
    const settlement: Settlement = { id: row.id, mes: row.mes, move, dueAt: due, ...columns, ...more, ...said };
    // Columns that only one kind has are in `columns`.
    return settlement as One;
  });
  const written = await inSpan('gravar', {}, () => kind.settle(on, tokens, now, settlements));
  countAnswers(
    kind.item,
    tenant,
    rows.map((row) => answers.get(kind.keyOf(row))?.kind),
  );
  if (written < settlements.length) {
    world.log.warn({ tenant, lost: settlements.length - written }, kind.messages.lost);
  }
}

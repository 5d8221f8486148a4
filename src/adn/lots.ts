/** Documents travel to the ADN in lots, which are packed, sent, and divided if one was refused as a whole. Each `id` has one answer. */
import { setImmediate } from 'node:timers/promises';
import type { AdnAnswer, Log } from './adn.ts';
import type { Asking } from './asking.ts';
import type { Limits } from './limits.ts';
import type { Pack } from './packing.ts';
import type { Matter } from './reading.ts';
import { respostasTo } from './resposta.ts';
import { type LotVerdict, lotVerdict } from './verdict.ts';
import { RECEPTION_PATH } from './wire.ts';

/** A document whose lots failed this often travels alone: it may be the cause. */
const TROUBLES_TO_ISOLATE = 3;

/** A document to be sent. `id` distinguishes it from others of its note. */
export type Piece = { readonly id: string; readonly chave: string; readonly xml: Uint8Array };

/** A document in its packed form. */
type Parcel = { readonly id: string; readonly chave: string; readonly text: string };

export type Sending = {
  readonly asking: Asking;
  readonly log: Log;
  /** The host of the ADN, for the log. */
  readonly host: string;
  readonly limits: Limits;
  readonly pack: Pack;
  /** The number of failed lots of a document, by its `id`. */
  readonly troubles: Map<string, number>;
};

/** One call of {@link sendLots}. */
type Round<A> = Sending & {
  readonly matter: Matter<A>;
  readonly deadline: number;
  readonly lots: Generator<readonly Parcel[], undefined>;
  readonly answers: Map<string, A | AdnAnswer>;
  /** Why the outcome of a document is unknown. */
  readonly doubts: Map<string, string>;
  packing: Promise<void>;
};

/** Sends documents of one kind, no two of one note among them. */
export async function sendLots<A>(
  sending: Sending,
  documents: readonly Piece[],
  matter: Matter<A>,
  deadline: number,
): Promise<Map<string, A | AdnAnswer>> {
  const { troubles, limits, log, host, asking, pack } = sending;
  const answers = new Map<string, A | AdnAnswer>();
  const doubts = new Map<string, string>();
  const parcel = ({ id, chave, xml }: Piece): Parcel => ({ id, chave, text: pack(xml) });
  const lots = lotsOf(documents, limits, parcel, (id) => (troubles.get(id) ?? 0) >= TROUBLES_TO_ISOLATE);
  const round: Round<A> = { ...sending, matter, deadline, lots, answers, doubts, packing: Promise.resolve() };
  await runAtOnce(() => sendNext(round), asking.isClear(), limits.lotsAtOnce);
  for (const { id } of documents) {
    if (!answers.has(id)) {
      const why = 'o envio foi interrompido por uma falha';
      answers.set(id, { kind: 'unknown', why });
      doubts.set(id, why);
    } else if (!doubts.has(id)) troubles.delete(id);
  }
  if (doubts.size > 0)
    log.warn(
      { adn: host, doubts: [...new Set(doubts.values())].slice(0, 5) },
      `não se sabe se o ADN recebeu ${matter.some}; antes do novo envio, o ADN é consultado`,
    );
  return answers;
}

/**
 * Calls `next` until it returns false, several at once. One call goes first unless all circuits are closed (`isClear`): only one would be
 * let through.
 */
export async function runAtOnce(next: () => Promise<boolean>, isClear: boolean, atOnce: number): Promise<void> {
  const run = async (): Promise<void> => {
    while (await next());
  };
  if (!isClear) await next();
  await Promise.all(Array.from({ length: atOnce }, run));
}

/** False if there is no lot left, or if a fault of this service made the sending fail. */
async function sendNext<A>(round: Round<A>): Promise<boolean> {
  try {
    // One lot is packed per turn of the event loop; four at a time would delay all other work.
    round.packing = round.packing.then(() => setImmediate());
    await round.packing;
    const lot = round.lots.next();
    if (!lot.done) await sendLot(round, lot.value);
    return !lot.done;
  } catch (error) {
    round.log.error(
      { err: error },
      `o envio de um lote ao ADN foi interrompido por uma falha deste serviço; ${round.matter.plural} seguem na fila`,
    );
    return false;
  }
}

/** The outcome of a lot, and the answer about each of its documents. */
type Told<A> = { readonly verdict: LotVerdict<A>; readonly respostaAt: ReturnType<typeof respostasTo> };

async function sendLot<A>(round: Round<A>, lot: readonly Parcel[]): Promise<void> {
  const { asking, matter, deadline, doubts, troubles, host } = round;
  const chaves = lot.map(({ chave }) => chave);
  const { verdict, respostaAt } = await asking.ask<Told<A>>({
    method: 'POST',
    path: RECEPTION_PATH,
    body: bodyOf(lot),
    what: 'lote',
    of: new Set(lot.map(({ id }) => id)),
    bytesMax: round.limits.answerMaxBytes,
    deadline,
    read: (outcome) => {
      const { value, ...others } = lotVerdict(outcome, chaves, matter);
      return { ...others, value: { verdict: value, respostaAt: respostasTo(outcome, host, chaves) } };
    },
  });
  if ('each' in verdict) {
    for (const [place, { id, chave }] of lot.entries()) settle(round, id, verdict.each.get(chave)!, respostaAt(place));
  } else if ('all' in verdict) {
    for (const [place, { id }] of lot.entries()) settle(round, id, verdict.all, respostaAt(place));
    if (lot.every(({ id }) => doubts.has(id))) {
      for (const { id } of lot) remember(troubles, id, (troubles.get(id) ?? 0) + 1);
    }
  } else {
    // No document of a lot that is refused as a whole was accepted: each half is sent again, until the faulty ones are isolated.
    const half = Math.ceil(lot.length / 2);
    await sendLot(round, lot.slice(0, half));
    await sendLot(round, lot.slice(half));
  }
}

function settle<A>(
  { answers, doubts }: Round<A>,
  id: string,
  answer: A | AdnAnswer,
  resposta: string | undefined,
): void {
  answers.set(id, resposta === undefined ? answer : { ...answer, resposta });
  const { kind, why } = answer as Extract<AdnAnswer, { readonly kind: 'unknown' }>;
  if (kind === 'unknown') doubts.set(id, why);
}

const BODY_START = '{"LoteXmlGZipB64":["';
const BODY_BETWEEN = '","';
const BODY_END = '"]}';

function bodyOf(lot: readonly Parcel[]): Buffer {
  // Base64 needs no escaping.
  return Buffer.from(BODY_START + lot.map(({ text }) => text).join(BODY_BETWEEN) + BODY_END, 'latin1');
}

/**
 * Lots in the given order, each packed when it is needed; documents that travel alone come last. A document beyond the limit is still a
 * lot. A repeated one goes once.
 */
function* lotsOf(
  documents: readonly Piece[],
  { lotDocumentsMax, lotBodyMaxBytes }: Limits,
  pack: (document: Piece) => Parcel,
  isAlone: (id: string) => boolean,
): Generator<readonly Parcel[], undefined> {
  const seen = new Set<string>();
  const alone: Piece[] = [];
  const empty = BODY_START.length + BODY_END.length;
  let lot: Parcel[] = [];
  let bytes = empty;
  for (const document of documents) {
    if (seen.has(document.id)) continue;
    seen.add(document.id);
    if (isAlone(document.id)) {
      alone.push(document);
      continue;
    }
    const parcel = pack(document);
    const more = parcel.text.length + BODY_BETWEEN.length;
    if (lot.length > 0 && (lot.length >= lotDocumentsMax || bytes + more >= lotBodyMaxBytes)) {
      yield lot;
      lot = [];
      bytes = empty;
    }
    lot.push(parcel);
    bytes += more;
  }
  if (lot.length > 0) yield lot;
  for (const document of alone) yield [pack(document)];
}

/** The maximum number of remembered documents. All of it may be forgotten; it only saves requests. */
const REMEMBERED_MAX = 20_000;

/** The oldest entry is forgotten if there are too many. */
export function remember<T>(memory: Map<string, T>, key: string, value: T): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size > REMEMBERED_MAX) memory.delete(memory.keys().next().value!);
}

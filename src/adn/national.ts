/**
 * The national environment (ADN) as a municipality's own system meets it: documents are shared in lots over mutual TLS,
 * and what became of them is asked for by reception number. Every answer is data, and every doubt is `unknown`.
 *
 * How a request travels is `line.ts`, what a body says is `reading.ts`, what a whole exchange means for each document `verdict.ts`;
 * here is what is sent when. Nothing of an answer goes to the log but codes and sizes.
 */
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type {
  Adn,
  AdnAnswer,
  AdnKnowledge,
  DocumentToShare,
  EventoAnswer,
  EventoAsked,
  EventoToShare,
  NotaAnswer,
  NotaAsked,
} from './adn.ts';
import { type Breaker, openBreaker } from './breaker.ts';
import { type LineSettings, type Outcome, openLine } from './line.ts';
import { type Distributed, EVENTO, eventoIdIn, keyOf, type Matter, NOTA, readArquivo } from './reading.ts';
import { searchReceived } from './received.ts';
import { type LotVerdict, lotVerdict, type PageVerdict, pageVerdict, type Ways } from './verdict.ts';
import {
  distributionPath,
  eventosPath,
  LOTE_BODY_MAX_BYTES,
  LOTE_DOCUMENTS_MAX,
  NO_EVENTO,
  NOTHING_AFTER,
  RECEPTION_PATH,
} from './wire.ts';

/** All durations together stay below the lease of a claim (60 s): asking first, then sending, then writing it down. */
const LIMITS = {
  connectMs: 4_000,
  /** Of a connection: until a server is taken to believe our certificate, if it does not tell before. */
  verdictMs: 150,
  headersMs: 15_000,
  bodyMs: 5_000,
  /** One request, whatever happens in it. */
  requestMs: 18_000,
  /** A whole {@link Adn.share}, lots sent again in parts included. */
  shareMs: 28_000,
  /** A whole {@link Adn.find}. */
  findMs: 14_000,
  /** A request that has less time than this is not begun. */
  requestMinMs: 3_000,
  /** Lots on their way at once, each on a connection of its own. */
  lotsAtOnce: 4,
  lotDocumentsMax: LOTE_DOCUMENTS_MAX,
  lotBodyMaxBytes: LOTE_BODY_MAX_BYTES,
  /** Fifty entries with long reasons stay far below. */
  answerMaxBytes: 4_000_000,
  /** A hundred documents, each many times the usual size. */
  pageMaxBytes: 16_000_000,
  pagesMax: 2_000,
  /** Notes in doubt that one look is for: their documents are put together when they are found. */
  searchMax: 2_000,
  /** How long nothing is sent after the municipality's certificate or permission was refused. */
  refusedFirstMs: 60_000,
  refusedMaxMs: 900_000,
  /** How long nothing is sent for this municipality after several tries came to nothing that may work for others. */
  troubledFirstMs: 1_000,
  troubledMaxMs: 30_000,
};

/**
 * CPU counts more than size: on signed notes of 6 KB level 9 saves 3 % of the bytes for a third more time. A window of
 * 8 KB covers such a document, and most of what compressing it costs is making ready the tables for larger ones: half the
 * time with these. On the thread pool the same work takes half as much CPU again.
 */
const GZIP = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 8_192 };

/** A document whose lots came to nothing this often travels alone: it may be what the ADN stumbles over. */
const TROUBLES_TO_ISOLATE = 3;
/** Documents about which something is remembered. All of it may be forgotten; it saves requests. */
const REMEMBERED_MAX = 20_000;

export type NationalLog = {
  info(about: object, message: string): void;
  warn(about: object, message: string): void;
  error(about: object, message: string): void;
};

export type NationalSettings = {
  /** Without the paths of the contract: `https://adn.nfse.gov.br`. */
  readonly url: string;
  /** PEM texts. `ca` undefined: Mozilla's roots and the system's. */
  readonly tls: LineSettings['tls'];
  /** One for all municipalities that speak to this address. */
  readonly breaker: Breaker;
  readonly log: NationalLog;
  readonly limits?: Partial<typeof LIMITS>;
};

/** The ADN for one municipality, whose certificate it shows. */
export function nationalAdn(settings: NationalSettings): Adn & { close(): Promise<void> } {
  const limits = { ...LIMITS, ...settings.limits };
  const { breaker, log } = settings;
  const url = new URL(settings.url);
  const { connectMs, verdictMs, headersMs, bodyMs, lotsAtOnce } = limits;
  const line = openLine({ url, tls: settings.tls, connections: lotsAtOnce, connectMs, verdictMs, headersMs, bodyMs });
  /** What the operator has to mend; said again, at growing intervals, until it is. */
  let refusal = '';
  const permission = openBreaker({
    failuresToOpen: 1,
    pauseFirstMs: limits.refusedFirstMs,
    pauseMaxMs: limits.refusedMaxMs,
    onOpen: ({ pauseMs }) =>
      log.error(
        { adn: url.host, why: refusal, pauseMs },
        'o ADN recusa o certificado ou a permissão do município; os documentos dele esperam',
      ),
    onClose: () => log.info({ adn: url.host }, 'o ADN voltou a aceitar o certificado do município'),
  });
  /** What came to nothing last, when that may be the fault of this municipality alone. */
  let trouble = '';
  const progress = openBreaker({
    pauseFirstMs: limits.troubledFirstMs,
    pauseMaxMs: limits.troubledMaxMs,
    onOpen: ({ isAgain }) => {
      const about = { adn: url.host, why: trouble };
      if (!isAgain)
        log.warn(
          about,
          'o ADN não atende este município; os documentos dele esperam, e o envio é tentado de novo sozinho',
        );
    },
    onClose: ({ openMs }) =>
      log.info({ adn: url.host, seconds: Math.round(openMs / 1_000) }, 'o ADN voltou a atender este município'),
  });
  /** As what this municipality shares the circuit with the others. */
  const party = {};
  /** Why nothing came of a request, as it was logged last, until there is an answer. */
  let told: string | undefined;
  const troubles = new Map<string, number>();
  /** Notes under whose key the ADN has something, though they were not found among what was received. */
  const there = new Map<string, true>();
  /** Of the last notes that were sent nobody knows what became of some. */
  let isInDoubt = false;

  /** Sends one request if it is worth trying, and lets the circuits learn from what `read` makes of it. */
  async function ask<T>(ways: Ways<T>): Promise<T> {
    const allowed = permission.enter();
    if (allowed === undefined) return ways.barred(refusal);
    const hopeful = progress.enter();
    if (hopeful === undefined) {
      allowed.withdrawn();
      return ways.unsent(trouble);
    }
    const open = breaker.enter(party);
    if (open === undefined) {
      allowed.withdrawn();
      hopeful.withdrawn();
      return ways.unsent('o ADN não está respondendo; novas tentativas são feitas de tempos em tempos');
    }
    try {
      const left = ways.deadline - performance.now();
      if (left < limits.requestMinMs) return ways.unsent('não houve tempo para o envio nesta rodada');
      const { method, path, body, bytesMax } = ways;
      const totalMs = Math.min(left, limits.requestMs);
      const outcome = await line.request({ method, path, body, totalMs, bytesMax });
      const { value, health, why, refused } = ways.read(outcome);
      // Of an address that nobody reaches the circuit tells, once for all.
      if (health === 'answered') told = undefined;
      else if (health !== 'failed' && why !== told) {
        told = why;
        log.warn({ adn: url.host, method, why, ...aboutOf(outcome) }, 'o ADN não deu uma resposta que sirva');
      }
      if (health === 'suspected') {
        trouble = why ?? trouble;
        hopeful.failed();
      } else if (health === 'answered') hopeful.answered();
      if (health === 'failed' || health === 'suspected') open[health](why);
      else open[health]();
      if (refused !== undefined) {
        refusal = refused;
        allowed.failed();
      } else if (health === 'answered') allowed.answered();
      return value;
    } finally {
      // Whoever ended before is deaf to this.
      for (const pass of [allowed, hopeful, open]) pass.withdrawn();
    }
  }

  /** Sends documents of one kind in lots, no two of one note in the same; one answer for each `id`. */
  async function sendAll<A>(
    documents: readonly Piece[],
    matter: Matter<A>,
    deadline: number,
  ): Promise<Map<string, A | AdnAnswer>> {
    const answers = new Map<string, A | AdnAnswer>();
    const doubts = new Map<string, string>();
    const settle = ({ id }: Parcel, answer: A | AdnAnswer): void => {
      answers.set(id, answer);
      const { kind, why } = answer as Extract<AdnAnswer, { readonly kind: 'unknown' }>;
      if (kind === 'unknown') doubts.set(id, why);
    };

    const send = async (lot: readonly Parcel[]): Promise<void> => {
      const chaves = lot.map(({ chave }) => chave);
      const verdict = await ask<LotVerdict<A>>({
        method: 'POST',
        path: RECEPTION_PATH,
        body: bodyOf(lot),
        bytesMax: limits.answerMaxBytes,
        deadline,
        read: (outcome) => lotVerdict(outcome, chaves, matter),
        barred: (why) => ({ all: { kind: 'misconfigured', why } }),
        unsent: (why) => ({ all: { kind: 'unavailable', why } }),
      });
      if ('each' in verdict) {
        for (const parcel of lot) settle(parcel, verdict.each.get(parcel.chave)!);
      } else if ('all' in verdict) {
        for (const parcel of lot) settle(parcel, verdict.all);
        if (lot.every(({ id }) => doubts.has(id))) {
          for (const { id } of lot) remember(troubles, id, (troubles.get(id) ?? 0) + 1);
        }
      } else {
        // Refused as a whole, so nothing of it was taken: each half is sent again, until the guilty ones stand alone.
        const half = Math.ceil(lot.length / 2);
        await send(lot.slice(0, half));
        await send(lot.slice(half));
      }
    };

    const lots = lotsOf(documents, limits, (id) => (troubles.get(id) ?? 0) >= TROUBLES_TO_ISOLATE);
    let packing = Promise.resolve();
    const sendNext = async (): Promise<boolean> => {
      try {
        // One lot is packed in a turn of the loop, or four at a time would make everybody else wait.
        packing = packing.then(() => setImmediate());
        await packing;
        const lot = lots.next();
        if (!lot.done) await send(lot.value);
        return !lot.done;
      } catch (error) {
        log.error(
          { err: error },
          `o envio de um lote ao ADN foi interrompido por uma falha deste serviço; ${matter.plural} seguem na fila`,
        );
        return false;
      }
    };
    const run = async (): Promise<void> => {
      for (let isMore = true; isMore; ) isMore = await sendNext();
    };
    // While only one would be let through, the others wait for its luck instead of being turned away.
    const isDoubtful = [breaker, permission, progress].some((circuit) => !circuit.isClosed());
    if (isDoubtful) await sendNext();
    await Promise.all(Array.from({ length: lotsAtOnce }, run));

    for (const { id } of documents) {
      if (!answers.has(id)) {
        const why = 'o envio foi interrompido por uma falha';
        answers.set(id, { kind: 'unknown', why });
        doubts.set(id, why);
      } else if (!doubts.has(id)) troubles.delete(id);
    }
    if (doubts.size > 0)
      log.warn(
        { adn: url.host, doubts: [...new Set(doubts.values())].slice(0, 5) },
        `não se sabe se o ADN recebeu ${matter.some}; antes do novo envio, o ADN é consultado`,
      );
    return answers;
  }

  async function share(documents: readonly DocumentToShare[]): Promise<ReadonlyMap<string, NotaAnswer>> {
    const pieces = documents.map(({ chave_acesso, xml }) => ({ id: chave_acesso, chave: chave_acesso, xml }));
    const answers: Map<string, NotaAnswer> = withoutDocument(pieces, 'a nota não tem documento assinado');
    const sent = await sendAll(pieces.filter(hasDocument), NOTA, performance.now() + limits.shareMs);
    const kinds = new Set([...sent.values()].map(({ kind }) => kind));
    if (kinds.has('unknown')) isInDoubt = true;
    else if (kinds.has('accepted') || kinds.has('refused')) isInDoubt = false;
    for (const [id, answer] of sent) answers.set(id, answer);
    return answers;
  }

  /**
   * Events of one note go one after the other. An entry of an answer bears the key of the note and nothing of the event, and
   * the order of the entries is promised nowhere: of two events in one lot nobody could tell whose answer is whose.
   */
  async function shareEventos(eventos: readonly EventoToShare[]): Promise<ReadonlyMap<string, EventoAnswer>> {
    const deadline = performance.now() + limits.shareMs;
    const pieces = eventos.map(({ id, chave_acesso, xml }) => ({ id, chave: chave_acesso, xml }));
    const answers: Map<string, EventoAnswer> = withoutDocument(pieces, 'o evento não tem documento assinado');
    const waiting = new Map<string, Map<string, Piece>>();
    for (const piece of pieces.filter(hasDocument)) {
      const ofNote = waiting.get(keyOf(piece.chave)) ?? new Map<string, Piece>();
      if (!ofNote.has(piece.id)) ofNote.set(piece.id, piece);
      waiting.set(keyOf(piece.chave), ofNote);
    }
    while (waiting.size > 0) {
      const first = [...waiting.values()].map((ofNote) => ofNote.values().next().value!);
      const sent = await sendAll<EventoAnswer>(first, EVENTO, deadline);
      for (const { id, chave } of first) {
        const answer = sent.get(id)!;
        answers.set(id, answer);
        const ofNote = waiting.get(keyOf(chave))!;
        ofNote.delete(id);
        const rest = answerToTheNext(answer);
        if (rest !== undefined) {
          for (const later of ofNote.keys()) answers.set(later, rest);
          ofNote.clear();
        }
        if (ofNote.size === 0) waiting.delete(keyOf(chave));
      }
    }
    return answers;
  }

  async function findEventos(eventos: readonly EventoAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>> {
    const deadline = performance.now() + limits.findMs;
    const found = new Map<string, AdnKnowledge>();
    const chaves = [...new Set(eventos.map(({ chave_acesso }) => chave_acesso))].values();
    const askNext = async (): Promise<boolean> => {
      const { value: chave, done } = chaves.next();
      if (done) return false;
      const wanted = new Set(eventos.filter((one) => one.chave_acesso === chave).map(({ id }) => id));
      const reading = await ask<PageVerdict>({
        method: 'GET',
        path: eventosPath(chave),
        body: undefined,
        bytesMax: limits.pageMaxBytes,
        deadline,
        read: (outcome) => pageVerdict(outcome, EVENTO, NO_EVENTO),
        barred: (why) => ({ stop: { kind: 'unavailable', why } }),
        unsent: (why) => ({ stop: { kind: 'unavailable', why } }),
      });
      const held = 'entries' in reading ? await eventosIn(reading.entries) : new Map<string, AdnKnowledge>();
      const rest: AdnKnowledge = 'stop' in reading ? reading.stop : { kind: 'absent' };
      for (const id of wanted) found.set(id, held.get(id) ?? rest);
      return true;
    };
    const run = async (): Promise<void> => {
      for (let isMore = true; isMore; ) isMore = await askNext();
    };
    try {
      const isDoubtful = [breaker, permission, progress].some((circuit) => !circuit.isClosed());
      if (isDoubtful) await askNext();
      await Promise.all(Array.from({ length: lotsAtOnce }, run));
    } catch (error) {
      log.error(
        { err: error },
        'a consulta ao ADN foi interrompida por uma falha deste serviço; os eventos seguem na fila',
      );
    }
    const why = 'a consulta ao ADN não chegou ao fim nesta rodada';
    for (const { id } of eventos) if (!found.has(id)) found.set(id, { kind: 'unavailable', why });
    return found;
  }

  async function find(notas: readonly NotaAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>> {
    const { pageMaxBytes, pagesMax, requestMinMs } = limits;
    const deadline = performance.now() + limits.findMs;
    const look = async (path: string, matter: Matter<unknown>, nothing: ReadonlySet<string>): Promise<PageVerdict> => {
      if (deadline - performance.now() < requestMinMs) return { late: true };
      return ask<PageVerdict>({
        method: 'GET',
        path,
        body: undefined,
        bytesMax: pageMaxBytes,
        deadline,
        read: (outcome) => pageVerdict(outcome, matter, nothing),
        barred: (why) => ({ stop: { kind: 'unavailable', why } }),
        unsent: (why) => ({ stop: { kind: 'unavailable', why } }),
      });
    };
    return searchReceived(notas, {
      page: (after) => look(distributionPath(after, 'RECEPCAO'), NOTA, NOTHING_AFTER),
      events: (chave) => look(eventosPath(chave), EVENTO, NO_EVENTO),
      pagesMax,
      atOnce: lotsAtOnce,
      isThere: (chave) => there.has(chave),
      wasThere: (chave) => remember(there, chave, true),
      onBug: (error) =>
        log.error(
          { err: error },
          'a consulta ao ADN foi interrompida por uma falha deste serviço; as notas seguem na fila',
        ),
    });
  }

  return {
    wantsDocuments: true,
    // While it is not known what becomes of a lot, no more is announced than one.
    get batchMax() {
      const isAlone = isInDoubt || [breaker, permission, progress].some((circuit) => !circuit.isClosed());
      return limits.lotDocumentsMax * (isAlone ? 1 : lotsAtOnce);
    },
    searchMax: limits.searchMax,
    share: (_tenant, documents) => share(documents),
    find: (_tenant, notas) => find(notas),
    shareEventos: (_tenant, eventos) => shareEventos(eventos),
    findEventos: (_tenant, eventos) => findEventos(eventos),
    // Who pauses for its own sake takes no turn of the others.
    pauseMs: () => Math.max(permission.pauseMs(), progress.pauseMs()) || breaker.pauseMs(party),
    close: () => line.close(),
  };
}

function hasDocument(piece: { readonly xml: Uint8Array | undefined }): piece is Piece {
  return piece.xml !== undefined;
}

function withoutDocument(
  pieces: readonly { readonly id: string; readonly xml: Uint8Array | undefined }[],
  why: string,
): Map<string, AdnAnswer> {
  return new Map(pieces.filter((piece) => !hasDocument(piece)).map(({ id }) => [id, { kind: 'unavailable', why }]));
}

/**
 * What later events of a note are told without being sent, after this answer to the one before them; undefined when that
 * was decided, and the next may go.
 */
function answerToTheNext(answer: EventoAnswer): EventoAnswer | undefined {
  switch (answer.kind) {
    case 'note_unknown':
      return answer;
    case 'unknown':
    case 'unavailable':
    case 'misconfigured':
      return { kind: 'unavailable', why: 'um evento anterior da mesma nota ainda não foi decidido' };
    default:
      return undefined;
  }
}

/** The events in the answer to a query, by their `Id`. What cannot be read is nobody's. */
async function eventosIn(entries: readonly Distributed[]): Promise<Map<string, AdnKnowledge>> {
  const held = new Map<string, AdnKnowledge>();
  for (const { nsu, chave, arquivo } of entries) {
    if (chave === undefined || arquivo === undefined) continue;
    const xml = await readArquivo(arquivo);
    const id = xml && eventoIdIn(xml);
    if (id !== undefined) held.set(id, { kind: 'known', nsu, xml });
  }
  return held;
}

/** A document to be sent. `id` tells it from others of its note. */
type Piece = { readonly id: string; readonly chave: string; readonly xml: Uint8Array };

/** A document as it travels. */
type Parcel = { readonly id: string; readonly chave: string; readonly text: string };

const BODY_START = '{"LoteXmlGZipB64":["';
const BODY_BETWEEN = '","';
const BODY_END = '"]}';

function bodyOf(lot: readonly Parcel[]): Buffer {
  // Base64 needs no escaping.
  return Buffer.from(BODY_START + lot.map(({ text }) => text).join(BODY_BETWEEN) + BODY_END, 'latin1');
}

/**
 * Lots in the order given, each packed when it is asked for; those that must be alone come last. A document that fills
 * more than a lot is a lot all the same: what the ADN says to it is an answer. One that comes twice goes once.
 */
function* lotsOf(
  documents: readonly Piece[],
  { lotDocumentsMax, lotBodyMaxBytes }: { readonly lotDocumentsMax: number; readonly lotBodyMaxBytes: number },
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
    const parcel = packed(document);
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
  for (const document of alone) yield [packed(document)];
}

function packed({ id, chave, xml }: Piece): Parcel {
  return { id, chave, text: gzipSync(xml, GZIP).toString('base64') };
}

function aboutOf(outcome: Outcome): object {
  if (outcome.kind === 'answered') return { status: outcome.status, bytes: outcome.body.length };
  return { code: outcome.code };
}

/** The oldest is forgotten when there are too many. */
function remember<T>(memory: Map<string, T>, key: string, value: T): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size > REMEMBERED_MAX) memory.delete(memory.keys().next().value!);
}

/**
 * The national environment (ADN) as a municipality's own system meets it: documents are shared in lots over mutual TLS,
 * and what became of them is asked for by reception number. Every answer is data, and every doubt is `unknown`.
 *
 * How a request travels is `line.ts`, whether it is sent `asking.ts`, how documents are packed `lots.ts`, what a body says `reading.ts`,
 * and what a whole exchange means for each document `verdict.ts`. Here is what is asked when. Of an answer the log takes codes and sizes.
 */
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
import { type Asking, openAsking } from './asking.ts';
import type { Breaker } from './breaker.ts';
import { type LineSettings, openLine } from './line.ts';
import { type Piece, remember, runAtOnce, type Sending, sendLots } from './lots.ts';
import { type Distributed, EVENTO, eventoIdIn, keyOf, type Matter, NOTA, readArquivo } from './reading.ts';
import { searchReceived } from './received.ts';
import { type PageVerdict, pageVerdict } from './verdict.ts';
import {
  distributionPath,
  eventosPath,
  LOTE_BODY_MAX_BYTES,
  LOTE_DOCUMENTS_MAX,
  NO_EVENTO,
  NOTHING_AFTER,
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

type NationalLog = {
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

/** What the functions of one municipality share. */
type National = {
  readonly limits: typeof LIMITS;
  readonly log: NationalLog;
  readonly asking: Asking;
  readonly sending: Sending;
  /** Notes under whose key the ADN has something, though they were not found among what was received. */
  readonly there: Map<string, true>;
  /** Nobody knows what became of some of the notes that were sent last. */
  isInDoubt: boolean;
};

/** The ADN for one municipality, whose certificate it shows. */
export function nationalAdn(settings: NationalSettings): Adn & { close(): Promise<void> } {
  const limits = { ...LIMITS, ...settings.limits };
  const { breaker, log } = settings;
  const url = new URL(settings.url);
  const { host } = url;
  const { connectMs, verdictMs, headersMs, bodyMs, lotsAtOnce } = limits;
  const line = openLine({ url, tls: settings.tls, connections: lotsAtOnce, connectMs, verdictMs, headersMs, bodyMs });
  const asking = openAsking({ line, host, breaker, log, limits });
  const sending = { asking, log, host, limits, troubles: new Map() };
  const national: National = { limits, log, asking, sending, there: new Map(), isInDoubt: false };
  return {
    wantsDocuments: true,
    // While it is not known what becomes of a lot, no more is announced than one.
    get batchMax() {
      const isAlone = national.isInDoubt || !asking.isClear();
      return limits.lotDocumentsMax * (isAlone ? 1 : lotsAtOnce);
    },
    searchMax: limits.searchMax,
    share: (_tenant, documents) => share(national, documents),
    find: (_tenant, notas) => find(national, notas),
    shareEventos: (_tenant, eventos) => shareEventos(national, eventos),
    findEventos: (_tenant, eventos) => findEventos(national, eventos),
    pauseMs: () => asking.pauseMs(),
    close: () => line.close(),
  };
}

async function share(
  national: National,
  documents: readonly DocumentToShare[],
): Promise<ReadonlyMap<string, NotaAnswer>> {
  const { sending, limits } = national;
  const pieces = documents.map(({ chave_acesso, xml }) => ({ id: chave_acesso, chave: chave_acesso, xml }));
  const answers: Map<string, NotaAnswer> = withoutDocument(pieces, 'a nota não tem documento assinado');
  const sent = await sendLots(sending, pieces.filter(hasDocument), NOTA, performance.now() + limits.shareMs);
  const kinds = new Set([...sent.values()].map(({ kind }) => kind));
  if (kinds.has('unknown')) national.isInDoubt = true;
  else if (kinds.has('accepted') || kinds.has('refused')) national.isInDoubt = false;
  for (const [id, answer] of sent) answers.set(id, answer);
  return answers;
}

/**
 * Events of one note go one after the other. An entry of an answer bears the key of the note and nothing of the event, and
 * the order of the entries is promised nowhere: of two events in one lot nobody could tell whose answer is whose.
 */
async function shareEventos(
  { sending, limits }: National,
  eventos: readonly EventoToShare[],
): Promise<ReadonlyMap<string, EventoAnswer>> {
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
    const sent = await sendLots<EventoAnswer>(sending, first, EVENTO, deadline);
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

async function findEventos(
  national: National,
  eventos: readonly EventoAsked[],
): Promise<ReadonlyMap<string, AdnKnowledge>> {
  const { limits, asking, log } = national;
  const deadline = performance.now() + limits.findMs;
  const found = new Map<string, AdnKnowledge>();
  const chaves = [...new Set(eventos.map(({ chave_acesso }) => chave_acesso))].values();
  const askNext = async (): Promise<boolean> => {
    const { value: chave, done } = chaves.next();
    if (done) return false;
    const wanted = new Set(eventos.filter((one) => one.chave_acesso === chave).map(({ id }) => id));
    const reading = await askPage(national, { path: eventosPath(chave), matter: EVENTO, nothing: NO_EVENTO, deadline });
    const held = 'entries' in reading ? await eventosIn(reading.entries) : new Map<string, AdnKnowledge>();
    const rest: AdnKnowledge = 'stop' in reading ? reading.stop : { kind: 'absent' };
    for (const id of wanted) found.set(id, held.get(id) ?? rest);
    return true;
  };
  try {
    await runAtOnce(askNext, asking.isClear(), limits.lotsAtOnce);
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

async function find(national: National, notas: readonly NotaAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>> {
  const { limits, there, log } = national;
  const deadline = performance.now() + limits.findMs;
  const look = async (path: string, matter: Matter<unknown>, nothing: ReadonlySet<string>): Promise<PageVerdict> => {
    if (deadline - performance.now() < limits.requestMinMs) return { late: true };
    return askPage(national, { path, matter, nothing, deadline });
  };
  return searchReceived(notas, {
    page: (after) => look(distributionPath(after, 'RECEPCAO'), NOTA, NOTHING_AFTER),
    events: (chave) => look(eventosPath(chave), EVENTO, NO_EVENTO),
    pagesMax: limits.pagesMax,
    atOnce: limits.lotsAtOnce,
    isThere: (chave) => there.has(chave),
    wasThere: (chave) => remember(there, chave, true),
    onBug: (error) =>
      log.error(
        { err: error },
        'a consulta ao ADN foi interrompida por uma falha deste serviço; as notas seguem na fila',
      ),
  });
}

type Query = {
  readonly path: string;
  readonly matter: Matter<unknown>;
  /** Codes that say that there are none. */
  readonly nothing: ReadonlySet<string>;
  readonly deadline: number;
};

function askPage({ asking, limits }: National, { path, matter, nothing, deadline }: Query): Promise<PageVerdict> {
  return asking.ask<PageVerdict>({
    method: 'GET',
    path,
    body: undefined,
    bytesMax: limits.pageMaxBytes,
    deadline,
    read: (outcome) => pageVerdict(outcome, matter, nothing),
    barred: (why) => ({ stop: { kind: 'unavailable', why } }),
    unsent: (why) => ({ stop: { kind: 'unavailable', why } }),
  });
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

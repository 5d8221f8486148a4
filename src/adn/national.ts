/**
 * The national environment (ADN) for a municipality's own system: documents are shared in lots over mutual TLS, and lost answers are
 * queried by reception number. Every doubt is `unknown`. The log contains codes and sizes of an answer, never its text.
 */
import {
  type Adn,
  type AdnAnswer,
  type AdnKnowledge,
  answerToTheNext,
  type DocumentToShare,
  type EventoAnswer,
  type EventoAsked,
  type EventoToShare,
  type Log,
  type NotaAnswer,
  type NotaAsked,
  type Recebidos,
} from './adn.ts';
import { type AskingSettings, openAsking } from './asking.ts';
import type { Breaker } from './breaker.ts';
import { LIMITS, type Limits } from './limits.ts';
import { type LineSettings, openLine } from './line.ts';
import { type Piece, remember, runAtOnce, type Sending, sendLots } from './lots.ts';
import { openPacker } from './packing.ts';
import { type Distributed, EVENTO, eventoIdIn, keyOf, type Matter, NOTA, readArquivo } from './reading.ts';
import { listReceived, searchReceived } from './received.ts';
import { type PageVerdict, pageVerdict } from './verdict.ts';
import { distributionPath, eventosPath, NO_EVENTO, NOTHING_AFTER } from './wire.ts';

export type NationalSettings = {
  /** The address without the paths of the contract: `https://adn.nfse.gov.br`. */
  readonly url: string;
  /** PEM texts. `ca` undefined: Mozilla's roots and the system's. */
  readonly tls: LineSettings['tls'];
  /** One breaker for all municipalities that use this address. */
  readonly breaker: Breaker;
  readonly log: Log;
  /** Documents travel as stored blocks of gzip, which costs less time and more bytes. */
  readonly isStored?: boolean;
  readonly onHeard?: AskingSettings['onHeard'];
  readonly limits?: Partial<Limits>;
};

/** The shared state of the functions of one municipality. */
type National = Sending & {
  /** Keys of notes under which the ADN has something, although the list of received documents did not show it. */
  readonly there: Map<string, true>;
  /** The outcome of some of the last sent notes is unknown. */
  isInDoubt: boolean;
};

/** The ADN for one municipality, whose certificate it shows. */
export function nationalAdn(settings: NationalSettings): Adn & { close(): Promise<void> } {
  const limits = { ...LIMITS, ...settings.limits };
  const { breaker, log, isStored = false, onHeard } = settings;
  const url = new URL(settings.url);
  const { host } = url;
  const line = openLine({ url, tls: settings.tls, limits });
  const asking = openAsking({ line, host, breaker, log, limits, onHeard });
  const memory = { troubles: new Map(), there: new Map(), isInDoubt: false };
  const national: National = { asking, log, host, limits, pack: openPacker(isStored), ...memory };
  return {
    wantsDocuments: true,
    // Only one lot is announced while the outcome of a lot is unknown.
    get batchMax() {
      const isAlone = national.isInDoubt || !asking.isClear();
      return limits.lotDocumentsMax * (isAlone ? 1 : limits.lotsAtOnce);
    },
    searchMax: limits.searchMax,
    share: (_tenant, documents) => share(national, documents),
    find: (_tenant, notas) => find(national, notas),
    shareEventos: (_tenant, eventos) => shareEventos(national, eventos),
    findEventos: (_tenant, eventos) => findEventos(national, eventos),
    received: (after) => received(national, after),
    pauseMs: () => asking.pauseMs(),
    close: () => line.close(),
  };
}

async function share(
  national: National,
  documents: readonly DocumentToShare[],
): Promise<ReadonlyMap<string, NotaAnswer>> {
  const named = documents.map((one) => ({ ...one, id: one.chave_acesso }));
  const { pieces, answers } = partDocuments<NotaAnswer>(named, NOTA);
  const sent = await sendLots(national, pieces, NOTA, performance.now() + national.limits.shareMs);
  const kinds = new Set([...sent.values()].map(({ kind }) => kind));
  if (kinds.has('unknown')) national.isInDoubt = true;
  else if (kinds.has('accepted') || kinds.has('refused')) national.isInDoubt = false;
  for (const [id, answer] of sent) answers.set(id, answer);
  return answers;
}

/**
 * Events of one note go one after the other: an entry of an answer has only the key of the note, and the order of entries is promised
 * nowhere.
 */
async function shareEventos(
  national: National,
  eventos: readonly EventoToShare[],
): Promise<ReadonlyMap<string, EventoAnswer>> {
  const deadline = performance.now() + national.limits.shareMs;
  const { pieces, answers } = partDocuments<EventoAnswer>(eventos, EVENTO);
  const waiting = new Map<string, Map<string, Piece>>();
  for (const piece of pieces) {
    waiting.getOrInsertComputed(keyOf(piece.chave), () => new Map()).getOrInsert(piece.id, piece);
  }
  while (waiting.size > 0) {
    const first = [...waiting.values()].map((ofNote) => ofNote.values().next().value!);
    const sent = await sendLots<EventoAnswer>(national, first, EVENTO, deadline);
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
    const reading = await askPage(national, 'events', chave, deadline);
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
  for (const { id } of eventos) found.getOrInsert(id, { kind: 'unavailable', why });
  return found;
}

async function find(national: National, notas: readonly NotaAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>> {
  const { limits, there, log } = national;
  const deadline = performance.now() + limits.findMs;
  const look = (page: keyof typeof PAGES) => async (of: string) =>
    deadline - performance.now() < limits.requestMinMs
      ? ({ late: true } as const)
      : askPage(national, page, of, deadline);
  return searchReceived(notas, {
    page: look('received'),
    events: look('events'),
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

/** Each page has the time of a whole search. */
function received(national: National, after: string): Promise<Recebidos> {
  return listReceived((from) => askPage(national, 'received', from, performance.now() + national.limits.findMs), after);
}

/** The queries: documents after a number, or the events of a note. `nothing`: codes that say that there are none. */
const PAGES = {
  received: {
    what: 'documentos recebidos',
    pathOf: (nsu: string) => distributionPath(nsu, 'RECEPCAO'),
    tipo: NOTA.tipo,
    nothing: NOTHING_AFTER,
  },
  events: { what: 'eventos de uma nota', pathOf: eventosPath, tipo: EVENTO.tipo, nothing: NO_EVENTO },
} as const;

function askPage(
  { asking, limits }: National,
  page: keyof typeof PAGES,
  of: string,
  deadline: number,
): Promise<PageVerdict> {
  const { what, pathOf, tipo, nothing } = PAGES[page];
  return asking.ask<PageVerdict>({
    method: 'GET',
    path: pathOf(of),
    what,
    body: undefined,
    bytesMax: limits.pageMaxBytes,
    deadline,
    read: (outcome) => pageVerdict(outcome, tipo, nothing),
  });
}

/** Separates the documents to be sent from entries without a document, which are answered at once. */
function partDocuments<Answer>(
  documents: readonly { readonly id: string; readonly chave_acesso: string; readonly xml: Uint8Array | undefined }[],
  { one }: Matter<unknown>,
): { readonly pieces: readonly Piece[]; readonly answers: Map<string, Answer | AdnAnswer> } {
  const answers = new Map<string, Answer | AdnAnswer>();
  const pieces = documents.flatMap(({ id, chave_acesso: chave, xml }) => {
    if (xml !== undefined) return [{ id, chave, xml }];
    answers.set(id, { kind: 'unavailable', why: `${one} não tem documento assinado` });
    return [];
  });
  return { pieces, answers };
}

/** The events in the answer to a query, by their `Id`. An unreadable one is ignored. */
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

/** The meaning of one exchange with the ADN: for the documents of a lot or a query, for the circuits, and for the certificate. */
import type { AdnAnswer, AdnErro, AdnKnowledge } from './adn.ts';
import type { Pass } from './breaker.ts';
import type { Outcome } from './line.ts';
import {
  answersOf,
  codesOf,
  credentialWhy,
  type Distributed,
  type Matter,
  meaningsOf,
  readLot,
  readPage,
} from './reading.ts';
import type { TipoDocumento } from './wire.ts';

type Health = keyof Pass;

/**
 * The meaning of an exchange for the caller, the circuits, and a refused certificate. `why`: the reason of the health `failed` or
 * `suspected`.
 */
export type Read<T> = { readonly value: T; readonly health: Health; readonly why?: string; readonly refused?: string };

type Uncertain = Extract<AdnAnswer, { readonly kind: 'unknown' | 'unavailable' }>;

/** `split`: refused as a whole, for a possible fault of a few. */
export type LotVerdict<A> =
  | { readonly each: ReadonlyMap<string, A | AdnAnswer> }
  | { readonly all: A | AdnAnswer }
  | { readonly split: true };

/** Business refusals have these statuses too; the body is read first. */
const BODY_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 422]);
const CREDENTIAL_STATUSES: ReadonlySet<number> = new Set([401, 403]);
/**
 * A server with one of these did not process the request. 502, 503 and 504 are excluded, because a proxy sends them even after the server
 * took the request. 408 is excluded too.
 */
const UNTAKEN_STATUSES: ReadonlySet<number> = new Set([405, 411, 414, 415, 417, 421, 429, 431]);
const TOO_LARGE_STATUS = 413;

export function lotVerdict<A>(outcome: Outcome, chaves: readonly string[], matter: Matter<A>): Read<LotVerdict<A>> {
  const all = (answer: Uncertain, health: Health): Read<LotVerdict<A>> => ({
    value: { all: answer },
    health,
    why: answer.why,
  });
  const barred = (why: string, health: Health): Read<LotVerdict<A>> => ({
    value: { all: { kind: 'misconfigured', why } },
    health,
    refused: why,
  });
  if (outcome.kind === 'barred') return barred(outcome.why, healthOf(outcome));
  if (outcome.kind === 'unsent') return all({ kind: 'unavailable', why: outcome.why }, healthOf(outcome));
  if (outcome.kind === 'lost') return all({ kind: 'unknown', why: outcome.why }, healthOf(outcome));

  const { status, type, body } = outcome;
  const said = `o ADN respondeu com HTTP ${status}`;
  if (status === TOO_LARGE_STATUS) {
    if (chaves.length > 1) return { value: { split: true }, health: 'withdrawn' };
    return all({ kind: 'unavailable', why: `${said}: ${matter.one} é grande demais` }, 'withdrawn');
  }
  if (UNTAKEN_STATUSES.has(status)) return all({ kind: 'unavailable', why: said }, 'suspected');
  const isCredential = CREDENTIAL_STATUSES.has(status);
  const isBody = (status >= 200 && status < 300) || BODY_STATUSES.has(status);
  if (!isBody && !isCredential) return all({ kind: 'unknown', why: said }, 'suspected');

  const reading = readLot(type, body);
  if (reading.kind === 'refusal') return refusalVerdict(reading.erros, chaves.length, matter);
  if (isCredential) {
    return barred(`${said}: o certificado do município não foi aceito para esta transmissão`, 'answered');
  }
  if (reading.kind === 'unreadable') return all({ kind: 'unknown', why: unreadable(reading.why, status) }, 'suspected');
  const each = answersOf(chaves, reading.entries, matter);
  const whys = [...each.values()].map(whyMisconfigured);
  const refused = whys.includes(undefined) ? undefined : whys[0];
  return { value: { each }, health: 'answered', ...(refused === undefined ? {} : { refused }) };
}

/** Why nothing of the municipality is accepted, if an answer says so. */
function whyMisconfigured(answer: unknown): string | undefined {
  const { kind, why } = answer as AdnAnswer & { readonly why?: string };
  return kind === 'misconfigured' ? why : undefined;
}

function refusalVerdict<A>(
  erros: readonly AdnErro[],
  documents: number,
  { verdictOf }: Matter<A>,
): Read<LotVerdict<A>> {
  const meanings = meaningsOf(erros);
  if (documents > 1 && !['credential', 'passing', 'unheard'].some((one) => meanings.has(one as never))) {
    return { value: { split: true }, health: 'answered' };
  }
  const all = verdictOf(erros);
  const refused = whyMisconfigured(all);
  if (refused !== undefined) return { value: { all }, health: 'answered', refused };
  const { kind, why } = all as Extract<AdnAnswer, { readonly kind: 'unknown' }>;
  if (kind !== 'unknown' || !meanings.has('passing')) return { value: { all }, health: 'answered' };
  return { value: { all }, health: 'suspected', why };
}

/** `end`: nothing there, with the codes. `late`: not queried, because the time of this search is over. */
export type PageVerdict =
  | { readonly entries: readonly Distributed[] }
  | { readonly end: readonly string[] }
  | { readonly late: true }
  | { readonly stop: Extract<AdnKnowledge, { readonly kind: 'unavailable' }> };

export function pageVerdict(outcome: Outcome, wanted: TipoDocumento, nothing: ReadonlySet<string>): Read<PageVerdict> {
  const unavailable = (why: string, health: Health): Read<PageVerdict> => ({
    value: { stop: { kind: 'unavailable', why } },
    health,
    why,
  });
  if (outcome.kind === 'barred') return { ...unavailable(outcome.why, healthOf(outcome)), refused: outcome.why };
  if (outcome.kind !== 'answered') return unavailable(outcome.why, healthOf(outcome));
  const { status, type, body } = outcome;
  const said = `o ADN respondeu à consulta com HTTP ${status}`;
  const isCredential = CREDENTIAL_STATUSES.has(status);
  if (!(status >= 200 && status < 300) && !BODY_STATUSES.has(status) && !isCredential)
    return unavailable(said, 'suspected');
  const reading = readPage(type, body, wanted, nothing);
  if (reading.kind === 'refusal') {
    const meanings = meaningsOf(reading.erros);
    // A municipality that may not query may still be allowed to share: sharing continues.
    if (meanings.has('credential')) return unavailable(credentialWhy(reading.erros), 'answered');
    const why = `o ADN recusou a consulta (${codesOf(reading.erros)})`;
    return unavailable(why, meanings.has('passing') ? 'suspected' : 'answered');
  }
  if (isCredential) return { ...unavailable(said, 'answered'), refused: said };
  if (reading.kind === 'unreadable') return unavailable(unreadable(reading.why, status), 'suspected');
  if (reading.kind === 'end') return { value: { end: reading.codigos }, health: 'answered' };
  return { value: { entries: reading.entries }, health: 'answered' };
}

/**
 * The lesson for the circuits if nothing was answered. A request that never left says nothing about the other side. An unreachable address
 * is unreachable for all municipalities. Any other failure may concern one certificate, one address or one note.
 */
function healthOf(outcome: Exclude<Outcome, { readonly kind: 'answered' }>): Health {
  if (outcome.kind === 'barred') return outcome.isHere ? 'withdrawn' : 'answered';
  if (/^UND_ERR_(CLOSED|DESTROYED)$/.test(outcome.code)) return 'withdrawn';
  return outcome.kind === 'unsent' && outcome.isUnreachable ? 'failed' : 'suspected';
}

/** An answer without meaning; if the path is unknown there, the address is probably not that of the ADN. */
function unreadable(why: string, status: number): string {
  const advice = status === 404 || status === 405 ? '; se isso persiste, confira o endereço (--adn)' : '';
  return `${why} (HTTP ${status})${advice}`;
}

/** What one exchange with the ADN means for the documents of a lot or a query, for the circuits, and for the certificate. */
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

/** What an exchange means for who asked, the circuits, and a refused certificate. `why`: of the health `failed` or `suspected`. */
export type Read<T> = { readonly value: T; readonly health: Health; readonly why?: string; readonly refused?: string };

type Uncertain = Extract<AdnAnswer, { readonly kind: 'unknown' | 'unavailable' }>;

/** `split`: refused as a whole, for what may be the fault of a few. */
export type LotVerdict<A> =
  | { readonly each: ReadonlyMap<string, A | AdnAnswer> }
  | { readonly all: A | AdnAnswer }
  | { readonly split: true };

/** Business refusals come with these too; the body is read first. */
const BODY_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 422]);
const CREDENTIAL_STATUSES: ReadonlySet<number> = new Set([401, 403]);
/**
 * By these a server says that it did not go into the request. Not so 502, 503 and 504, which a box in between gives too after the server
 * took the request, and 408.
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

/** Why nothing of the municipality is taken, when an answer says so. */
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

/** `end`: nothing there, in what codes. `late`: not asked, because the time for this look is over. */
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
    // Who may not ask may be allowed to share all the same: sharing goes on.
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
 * What the circuits learn where nothing was answered. A request that never left says nothing of the other side. An address that nobody
 * reaches is so for all municipalities; any other failure may be about one certificate, one address or one note.
 */
function healthOf(outcome: Exclude<Outcome, { readonly kind: 'answered' }>): Health {
  if (outcome.kind === 'barred') return outcome.isHere ? 'withdrawn' : 'answered';
  if (/^UND_ERR_(CLOSED|DESTROYED)$/.test(outcome.code)) return 'withdrawn';
  return outcome.kind === 'unsent' && outcome.isUnreachable ? 'failed' : 'suspected';
}

/** An answer that says nothing; where nobody knows the address, it is most likely not the one of the ADN. */
function unreadable(why: string, status: number): string {
  const advice = status === 404 || status === 405 ? '; se isso persiste, confira o endereço (--adn)' : '';
  return `${why} (HTTP ${status})${advice}`;
}

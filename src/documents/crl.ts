/**
 * Reads revocation lists (RFC 5280, 5): the serial numbers with their dates, and the signature of an authority. `trust-lists.ts` decides
 * which signatures make a list count.
 *
 * A list may have a hundred thousand entries: no object is made of an entry, only its position is kept.
 */

import { verify } from 'node:crypto';
import { promisify } from 'node:util';
import { LIST_DIGESTS } from './algorithms.ts';
import {
  type Asn1,
  Asn1Error,
  bitsOf,
  isContext,
  isUniversal,
  octetsOf,
  oidOf,
  readAsn1,
  TAG,
  timeOf,
} from './asn1.ts';
import { attempt } from './attempt.ts';
import type { Certificate } from './certificate.ts';
import { displayNameOf, normalizeName } from './distinguished-name.ts';
import { EXTENSION } from './oids.ts';

/** Entries read before other work gets its turn: about a millisecond. */
const ENTRIES_A_STEP = 500;
/** Bytes of a list whose signature is checked in about a millisecond. */
const AT_ONCE_BYTES_MAX = 262_144;

/** Authorities remembered as signers or not. A second one of the same name is nearly always made up. */
const SIGNERS_MAX = 64;

/** CRLReason of RFC 5280, 5.3.1; number 7 is not used. */
const REASONS: readonly (string | undefined)[] = [
  undefined,
  'comprometimento da chave',
  'comprometimento da autoridade certificadora',
  'mudança de vínculo',
  'substituição',
  'encerramento das atividades',
  'suspensão',
  undefined,
  undefined,
  'retirada de privilégio',
  'comprometimento da autoridade de atributos',
];

export type Revocation = {
  /** Milliseconds since 1970. */
  readonly em: number;
  /** A Portuguese text; undefined: the list gives no reason. */
  readonly motivo: string | undefined;
};

export type Crl = {
  readonly der: Buffer;
  /** The authority whose certificates the list covers: in a comparable form, and for people. */
  readonly issuerName: string;
  readonly emissor: string;
  /** Milliseconds since 1970: the issue of the list, and the due date of the next one (undefined: not stated). */
  readonly emitida: number;
  readonly proxima: number | undefined;
  /** The scope of the list, because an authority may divide it. The newer of two lists with the same scope replaces the older. */
  readonly scope: string;
  /** True: the list covers every certificate of its issuer, and has no critical part that is not read here. */
  readonly isWhole: boolean;
  readonly count: number;
  /** Finds a serial number in lower hex. The cost does not depend on the length of the list. */
  find(serial: string): Revocation | undefined;
  /** True when the authority's key signed the list and is allowed to. The answer is kept. */
  isSignedBy(authority: Certificate): boolean;
  /** True when the authority's key signed the list, allowed to or not. The answer is not kept. */
  isByKeyOf(authority: Certificate): boolean;
  /** True when {@link isSignedBy} answers at once, because the list is short or was checked before. */
  isReady(): boolean;
  /** Checks the signature beside the requests, for the authorities that may be asked about. */
  prepare(authorities: readonly Certificate[]): Promise<void>;
};

/** The reason why a list is not used, as one Portuguese sentence; `isList`: the bytes are a list all the same. */
export type CrlProblem = { readonly problem: string; readonly isList: boolean };

/** Reads a list, in steps. Deltas and indirect lists (of several authorities) are refused. */
export function* readCrl(bytes: Uint8Array): Generator<void, Crl | CrlProblem, void> {
  try {
    return yield* parse(Buffer.from(bytes));
  } catch (error) {
    if (error instanceof Asn1Error || error instanceof TypeError || error instanceof RangeError) {
      const problem = 'não é uma lista de certificados revogados (LCR) em DER ou PEM, ou está corrompida';
      return { problem, isList: false };
    }
    throw error;
  }
}

type Extent = { readonly start: number; readonly end: number };

/** The signed fields of a list (RFC 5280, 5.1.2). `places`: the position of each serial number's entry. */
type SignedFields = {
  readonly issuer: Asn1;
  readonly emitida: number;
  readonly proxima: number | undefined;
  readonly places: ReadonlyMap<string, number>;
  readonly extensions: Asn1 | undefined;
};

/** `digest` null: the algorithm has a fixed one. */
type ListSignature = { readonly content: Buffer; readonly digest: string | null; readonly value: Buffer };

function* parse(der: Buffer): Generator<void, Crl | CrlProblem, void> {
  const whole = valueAt(der, 0, der.length, SEQUENCE);
  if (whole.end !== der.length) throw new Asn1Error('bytes after the end');
  const tbs = valueAt(der, whole.start, whole.end, SEQUENCE);
  const algorithm = valueAt(der, tbs.end, whole.end, SEQUENCE);
  const value = bitsOf(readAsn1(der.subarray(algorithm.end, whole.end)));
  const digest = LIST_DIGESTS[oidOf(readAsn1(der.subarray(tbs.end, algorithm.end)).children[0])];
  const fields = yield* readSignedFields(der, tbs);
  const emissor = displayNameOf(fields.issuer);
  const values = extensionsOf(fields.extensions);
  if (values.has(EXTENSION.deltaIndicator)) {
    return refuseList(`é uma lista parcial (delta) de ${emissor}, que não é usada; ponha no lugar a lista completa`);
  }
  const distribution = values.get(EXTENSION.distributionPoint);
  if (distribution !== undefined && isIndirect(readAsn1(distribution))) {
    return refuseList(`é uma lista indireta, de várias autoridades, que não é usada; ponha a lista de cada uma`);
  }
  if (digest === undefined) {
    return refuseList(`a lista de ${emissor} é assinada com um algoritmo que não é aceito (use SHA-256 ou maior)`);
  }
  const { emitida, proxima, places, extensions } = fields;
  const issuerName = normalizeName(fields.issuer);
  return {
    der,
    issuerName,
    emissor,
    emitida,
    proxima,
    scope: distribution?.toString('hex') ?? '',
    isWhole: distribution === undefined && !hasCritical(extensions),
    count: places.size,
    find(serial) {
      const at = places.get(serial);
      return at === undefined ? undefined : revocationAt(der, at, emitida);
    },
    ...signatureChecks(issuerName, { content: der.subarray(whole.start, tbs.end), digest, value }),
  };
}

function refuseList(problem: string): CrlProblem {
  return { problem, isList: true };
}

function* readSignedFields(der: Buffer, tbs: Extent): Generator<void, SignedFields, void> {
  let place = tbs.start;
  const next = (): Asn1 => {
    const { end } = valueAt(der, place, tbs.end);
    const value = readAsn1(der.subarray(place, end));
    place = end;
    return value;
  };
  if (der[place] === TAG.integer) next();
  next();
  const issuer = next();
  const emitida = timeOf(next());
  const hasNext = der[place] === TAG.utcTime || der[place] === TAG.generalizedTime;
  const proxima = hasNext ? timeOf(next()) : undefined;
  const places = new Map<string, number>();
  if (place < tbs.end && der[place] === SEQUENCE) {
    const list = valueAt(der, place, tbs.end, SEQUENCE);
    yield* findEntries(der, list, places);
    place = list.end;
  }
  const extensions = place < tbs.end ? next() : undefined;
  return {
    issuer,
    emitida,
    proxima,
    places,
    extensions: isContext(extensions, 0) ? extensions.children[0] : undefined,
  };
}

/** Puts the position of each entry into a map by its serial number, in steps. */
function* findEntries(der: Buffer, list: Extent, places: Map<string, number>): Generator<void, void, void> {
  let left = ENTRIES_A_STEP;
  for (let at = list.start; at < list.end; ) {
    const entry = valueAt(der, at, list.end, SEQUENCE);
    const serial = valueAt(der, entry.start, entry.end, TAG.integer);
    places.set(plainHex(der, serial.start, serial.end), at);
    at = entry.end;
    left -= 1;
    if (left > 0) continue;
    left = ENTRIES_A_STEP;
    yield;
  }
}

function signatureChecks(
  issuerName: string,
  signature: ListSignature,
): Pick<Crl, 'isSignedBy' | 'isByKeyOf' | 'isReady' | 'prepare'> {
  const signers = new Map<string, boolean>();
  let isReady = signature.content.length <= AT_ONCE_BYTES_MAX;
  const mayBeOf = ({ subjectName, keyUsage }: Certificate): boolean =>
    subjectName === issuerName && (keyUsage?.includes('cRLSign') ?? true);
  return {
    isSignedBy(authority) {
      const known = signers.get(authority.fingerprint);
      if (known !== undefined) return known;
      const isIt = mayBeOf(authority) && verifies(signature, authority);
      if (signers.size >= SIGNERS_MAX) signers.clear();
      signers.set(authority.fingerprint, isIt);
      return isIt;
    },
    isByKeyOf: (authority) => authority.subjectName === issuerName && verifies(signature, authority),
    isReady: () => isReady,
    async prepare(authorities) {
      for (const authority of authorities.filter(mayBeOf)) {
        signers.set(authority.fingerprint, await verifiesBeside(signature, authority));
      }
      isReady = true;
    },
  };
}

function verifies({ digest, content, value }: ListSignature, { publicKey }: Certificate): boolean {
  // A key of another kind than the algorithm needs throws.
  return attempt(() => verify(digest, content, publicKey, value)) ?? false;
}

const verifyBeside = promisify(verify);

/** The same check on the thread pool. */
function verifiesBeside({ digest, content, value }: ListSignature, { publicKey }: Certificate): Promise<boolean> {
  return verifyBeside(digest, content, publicKey, value).catch(() => false);
}

const SEQUENCE = 0x30;

/** The content of the value at a position, from its beginning to its end. Lengths are definite, because lists are DER. */
function valueAt(der: Buffer, at: number, limit: number, tag?: number): Extent {
  const first = der[at + 1];
  if (first === undefined || (tag !== undefined && der[at] !== tag)) throw new Asn1Error('not the value expected');
  const octets = first < 0x80 ? 0 : first & 0x7f;
  if (octets > 4 || first === 0x80) throw new Asn1Error('a length that DER does not have');
  const start = at + 2 + octets;
  if (start > limit) throw new Asn1Error('the bytes end inside of a value');
  const end = start + (octets === 0 ? first : der.readUIntBE(at + 2, octets));
  if (end > limit) throw new Asn1Error('the bytes end inside of a value');
  return { start, end };
}

/** A serial number in the form of {@link Certificate}, without making a value of each of a hundred thousand. */
function plainHex(der: Buffer, start: number, end: number): string {
  let from = start;
  while (der[from] === 0 && from < end - 1) from += 1;
  return der.toString('hex', from, end);
}

/** The revocation that an entry states. An unreadable entry revokes from the date of the list. */
function revocationAt(der: Buffer, at: number, emitida: number): Revocation {
  const stated = attempt(() => {
    const [, em, extensions] = readAsn1(der.subarray(at, valueAt(der, at, der.length).end)).children;
    const reason = extensionsOf(extensions).get(EXTENSION.reason);
    const motivo = reason === undefined ? undefined : REASONS[readAsn1(reason).content[0] ?? 0];
    return { em: timeOf(em), motivo };
  });
  return stated ?? { em: emitida, motivo: undefined };
}

function extensionsOf(list: Asn1 | undefined): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const { children } of list?.children ?? []) {
    const value = children.find((part) => isUniversal(part, TAG.octetString));
    if (value !== undefined) found.set(oidOf(children[0]), octetsOf(value));
  }
  return found;
}

/** True when a list has a critical extension: it may then omit revoked certificates (RFC 5280, 5.2). */
function hasCritical(list: Asn1 | undefined): boolean {
  return (list?.children ?? []).some(
    ({ children: [, critical] }) => isUniversal(critical, TAG.boolean) && critical.content[0] !== 0,
  );
}

function isIndirect(distributionPoint: Asn1): boolean {
  return distributionPoint.children.some((part) => isContext(part, 4) && part.content[0] !== 0);
}

/**
 * Name constraints (RFC 5280, 4.2.1.10): the names that an authority may certify. This module reads the extension, and finds the first name
 * of a certificate outside the constraints. A chain never widens: no authority readmits a name that one above it excludes or omits.
 *
 * It understands directory names, DNS, e-mail, IP and URI. It also understands the other names of ICP-Brasil (2.16.76.1.3), compared as
 * text (D-232). Names of any other kind are refused if an authority constrains that kind.
 */
import { domainToASCII } from 'node:url';
import { type Asn1, Asn1Error, isContext, isUniversal, octetsOf, oidOf, readAsn1, TAG, textOf } from './asn1.ts';
import { attributesOf, childrenOf, commonNameOf, normalizeName } from './distinguished-name.ts';
import { ICP_BRASIL, NAME_PART, SMTP_UTF8_MAILBOX } from './oids.ts';

/** Limit of names of one certificate times subtrees of one authority; more is an attempt to keep the service busy. */
const COMPARISONS_MAX = 4_096;

/** The part of an extension that breaks RFC 5280, in Portuguese, without a full stop. */
export class ConstraintsError extends Error {}

/** A name, or the subtree of names of a constraint. */
type Name = {
  /** The number of its choice in GeneralName; for an otherName also the identifier of its type. */
  readonly kind: string;
  /** The comparable form: a directory name as {@link normalizeName} makes it, an address in hex. */
  readonly value: string;
};

export type NameConstraints = {
  readonly permitted: readonly Name[];
  readonly excluded: readonly Name[];
};

const [EMAIL, DNS, DIRECTORY, URI, IP] = ['1', '2', '4', '6', '7'] as const;

type Kind = {
  /** The kind of name, for messages. */
  readonly nome: string;
  isName(value: string): boolean;
  isBase(value: string): boolean;
  /** True when the name is within the base; both have the form that the kind demands. */
  isWithin(name: string, base: string): boolean;
};

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, 'i');
const WILDCARD_HOST = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`, 'i');
/** A host, or with a leading dot every host below it. */
const HOST_OR_BELOW = new RegExp(`^\\.?${LABEL}(?:\\.${LABEL})*$`, 'i');
/** An authority with user, escape or brackets is refused: readers disagree on its host. */
const URI_HOST = /^[a-z][a-z0-9+.-]*:\/\/([a-z0-9._-]+)(?::\d*)?(?:[/?#]|$)/i;
const ADDRESS = /^(?:[0-9a-f]{8}|[0-9a-f]{32})$/;

const KINDS: Readonly<Record<string, Kind>> = {
  [EMAIL]: {
    nome: 'um e-mail',
    isName: isMailbox,
    isBase: (value) => isMailbox(value) || HOST_OR_BELOW.test(value),
    isWithin(name, base) {
      const [user, host] = mailboxOf(name);
      if (!base.includes('@')) return isHostWithin(host, base);
      const [baseUser, baseHost] = mailboxOf(base);
      return user === baseUser && host === baseHost;
    },
  },
  [DNS]: {
    nome: 'um nome DNS',
    isName: (value) => WILDCARD_HOST.test(value),
    isBase: (value) => value === '' || HOST.test(value),
    isWithin: (name, base) => base === '' || isAtOrBelow(name.toLowerCase(), base.toLowerCase()),
  },
  [DIRECTORY]: {
    nome: 'um nome de titular (directoryName)',
    isName: () => true,
    isBase: () => true,
    isWithin: (name, base) => base === '' || name === base || name.startsWith(`${base},`),
  },
  [URI]: {
    nome: 'um endereço (URI)',
    isName: (value) => HOST.test(URI_HOST.exec(value)?.[1] ?? ''),
    isBase: (value) => HOST_OR_BELOW.test(value),
    isWithin: (name, base) => isHostWithin(URI_HOST.exec(name)![1]!.toLowerCase(), base),
  },
  [IP]: {
    nome: 'um endereço IP',
    isName: (value) => ADDRESS.test(value),
    isBase: (value) => ADDRESS.test(value.slice(0, value.length / 2)) && isMask(value.slice(value.length / 2)),
    isWithin(name, base) {
      const [network, mask] = [base.slice(0, base.length / 2), base.slice(base.length / 2)];
      const masked = (address: string): bigint => BigInt(`0x${address}`) & BigInt(`0x${mask}`);
      return name.length === network.length && masked(name) === masked(network);
    },
  },
};

/** A field of ICP-Brasil is constrained to one exact text: these fields have no hierarchy, so no prefix applies. */
const FIELD: Kind = {
  nome: 'um campo da ICP-Brasil (otherName)',
  isName: () => true,
  isBase: () => true,
  isWithin: (name, base) => name === base,
};

function kindOf(kind: string): Kind | undefined {
  return kind.startsWith(ICP_BRASIL) ? FIELD : KINDS[kind];
}

function isMailbox(value: string): boolean {
  const [user, host, ...more] = value.split('@');
  return more.length === 0 && /^[!-~\x80-\u{10ffff}]+$/u.test(user!) && HOST.test(host ?? '');
}

/** RFC 5280, 7.5 compares the user as written, and the host in lower case. */
function mailboxOf(value: string): [user: string, host: string] {
  const at = value.lastIndexOf('@');
  return [value.slice(0, at), value.slice(at + 1).toLowerCase()];
}

function isAtOrBelow(host: string, base: string): boolean {
  return host === base || host.endsWith(`.${base}`);
}

/** True for the host itself, or with a leading dot for every host below it. */
function isHostWithin(host: string, base: string): boolean {
  const low = base.toLowerCase();
  return low.startsWith('.') ? host.endsWith(low) : host === low;
}

/** True for ones followed by zeros alone. */
function isMask(hex: string): boolean {
  return /^1*0*$/.test(BigInt(`0x1${hex}`).toString(2).slice(1));
}

/** Reads the value of the extension; a {@link ConstraintsError} tells the breach of RFC 5280. */
export function readNameConstraints(value: Asn1): NameConstraints {
  const parts = isUniversal(value, TAG.sequence) ? childrenOf(value) : [];
  const [permitted, excluded] = [0, 1].map((tag) => parts.find((part) => isContext(part, tag)));
  const known = [permitted, excluded].filter((part) => part !== undefined);
  // The order is fixed, each part occurs at most once, and at least one part occurs (RFC 5280, 4.2.1.10).
  if (parts.length === 0 || known.length !== parts.length || known.some((part, at) => part !== parts[at])) {
    throw new ConstraintsError('a extensão está vazia ou não é uma lista de nomes permitidos e excluídos');
  }
  return { permitted: subtreesIn(permitted), excluded: subtreesIn(excluded) };
}

function subtreesIn(list: Asn1 | undefined): readonly Name[] {
  if (list === undefined) return [];
  const subtrees = childrenOf(list);
  if (subtrees.length === 0) throw new ConstraintsError('uma lista de nomes está vazia');
  return subtrees.map((subtree) => {
    if (!isUniversal(subtree, TAG.sequence)) throw new ConstraintsError('um nome não está na sua forma');
    const [base, ...bounds] = childrenOf(subtree);
    // The default of minimum is zero; RFC 5280 admits no other, and no maximum.
    if (base === undefined || bounds.some((one) => !isContext(one, 0) || !/^0+$/.test(one.content.toString('hex')))) {
      throw new ConstraintsError('um nome traz distância mínima ou máxima, que a RFC 5280 não admite');
    }
    const name = nameIn(base);
    const kind = kindOf(name.kind);
    if (kind?.isBase(name.value) === false) {
      throw new ConstraintsError(`há entre elas ${kind.nome} que não tem a forma de uma restrição`);
    }
    return name;
  });
}

/** A GeneralName. A mailbox with letters beyond ASCII is an e-mail like any other (RFC 9598, 6). */
function nameIn(value: Asn1): Name {
  // The choices of a GeneralName; those with parts are constructed, those of one text or number are primitive.
  const isChoice = value.class === 2 && value.tag <= 8;
  if (!isChoice || value.isConstructed !== [0, 3, 4, 5].includes(value.tag)) throw new Asn1Error('no general name');
  switch (String(value.tag)) {
    case '0':
      return otherNameIn(value);
    case DIRECTORY:
      if (value.children.length !== 1) throw new Asn1Error('no directory name');
      return { kind: DIRECTORY, value: normalizeName(childrenOf(value)[0]!) };
    case IP:
      return { kind: IP, value: octetsOf(value).toString('hex') };
    default:
      return { kind: String(value.tag), value: octetsOf(value).toString('latin1') };
  }
}

function otherNameIn(value: Asn1): Name {
  const [id, wrapped] = childrenOf(value);
  const kind = oidOf(id);
  const inner = isContext(wrapped, 0) ? wrapped.children[0] : undefined;
  if (inner === undefined) throw new Asn1Error('an otherName without value');
  const text = textOf(inner);
  if (kind !== SMTP_UTF8_MAILBOX) return { kind, value: trimFiller(text) };
  const [user, host] = mailboxOf(text);
  return { kind: EMAIL, value: `${user}@${domainToASCII(host)}` };
}

/** The text without the spaces or zero octets with which authorities fill fields. */
export function trimFiller(text: string): string {
  return text.replace(/^[\s\0]+|[\s\0]+$/g, '');
}

/** The parts of a certificate that constraints apply to. */
export type Named = { readonly subject: Buffer; readonly subjectAltName: Buffer | undefined };

/** Every name of a certificate: of the extension, of the subject, and those that older customs put into the subject. */
function namesOf({ subject, subjectAltName }: Named): readonly Name[] {
  const holder = readAsn1(subject);
  const alternative = subjectAltName === undefined ? [] : childrenOf(readAsn1(subjectAltName)).map(nameIn);
  const names = [...alternative];
  if (childrenOf(holder).length > 0) names.push({ kind: DIRECTORY, value: normalizeName(holder) });
  for (const [oid, value] of attributesOf(holder))
    if (oid === NAME_PART.emailAddress) names.push({ kind: EMAIL, value });
  const commonName = commonNameOf(holder);
  // Programs accept a common name that looks like a DNS name when the extension has none.
  const isHost = commonName?.includes('.') === true && WILDCARD_HOST.test(commonName);
  if (isHost && !alternative.some(({ kind }) => kind === DNS)) names.push({ kind: DNS, value: commonName });
  return names;
}

/**
 * The reason why an authority may not have certified the names of a certificate; undefined: it may. The text is a clause in Portuguese that
 * continues "O certificado" and calls the constraints "elas".
 */
export function constraintFault(certificate: Named, constraints: NameConstraints): string | undefined {
  try {
    return findFault(namesOf(certificate), constraints);
  } catch (error) {
    if (error instanceof Asn1Error || error instanceof TypeError) return 'traz nomes que não se leem';
    throw error;
  }
}

function findFault(names: readonly Name[], { permitted, excluded }: NameConstraints): string | undefined {
  if (names.length * (permitted.length + excluded.length) > COMPARISONS_MAX) {
    return `traz ${names.length} nomes, e as restrições são ${permitted.length + excluded.length}: é demais para conferir`;
  }
  for (const { kind, value } of names) {
    const [open, closed] = [permitted, excluded].map((list) => list.filter((one) => one.kind === kind));
    if (open!.length + closed!.length === 0) continue;
    const known = kindOf(kind);
    if (known === undefined) return `traz um nome de tipo que este serviço não sabe comparar (${describeKind(kind)})`;
    if (!known.isName(value)) return `traz ${known.nome} malformado, que não se pode comparar`;
    if (closed!.some((one) => known.isWithin(value, one.value) || coversByWildcard(kind, value, one.value))) {
      return `traz ${known.nome} que elas excluem`;
    }
    if (open!.length > 0 && !open!.some((one) => known.isWithin(value, one.value))) {
      return `traz ${known.nome} fora do que elas admitem`;
    }
  }
  return undefined;
}

/** `*.example.com` also covers `secret.example.com`, and nothing deeper. */
function coversByWildcard(kind: string, name: string, base: string): boolean {
  if (kind !== DNS || !name.startsWith('*.')) return false;
  return base.toLowerCase().endsWith(name.slice(1).toLowerCase());
}

function describeKind(kind: string): string {
  const choices: Readonly<Record<string, string>> = { 3: 'x400Address', 5: 'ediPartyName', 8: 'registeredID' };
  return choices[kind] ?? `otherName ${kind}`;
}

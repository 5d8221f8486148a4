/**
 * Distinguished names (X.501) of certificates and revocation lists: the text for people, and a comparable form. A missing field throws a
 * TypeError, which the caller's reader catches.
 */

import { cutText } from '../fiscal/fault.ts';
import { type Asn1, isUniversal, oidOf, TAG, textOf } from './asn1.ts';
import { NAME_PART } from './oids.ts';

const NAME_SHOWN_MAX = 120;

/** The parts of a value; a value without parts throws. */
export function childrenOf(value: Asn1 | undefined): readonly Asn1[] {
  if (value === undefined || !value.isConstructed) throw new TypeError('a field that should have parts has none');
  return value.children;
}

/** Every attribute of a name, in its order. */
function attributesOf(name: Asn1): readonly (readonly [oid: string, text: string])[] {
  return childrenOf(name).flatMap((set) =>
    childrenOf(set).map((attribute) => {
      const [id, value] = childrenOf(attribute);
      if (value === undefined) throw new TypeError('a name attribute without value');
      return [oidOf(id), textOf(value)] as const;
    }),
  );
}

/** The common name; the last of several, which is the most specific. */
export function commonNameOf(name: Asn1): string | undefined {
  return attributesOf(name).findLast(([oid]) => oid === NAME_PART.commonName)?.[1];
}

/**
 * The common name, or else the last attribute, for messages and logs. The text may come from anybody: characters that move a cursor or
 * reverse a line are replaced.
 */
export function displayNameOf(name: Asn1): string {
  const text = commonNameOf(name) ?? attributesOf(name).at(-1)?.[1] ?? '(sem nome)';
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd').trim();
  return cutText(plain, NAME_SHOWN_MAX);
}

const TEXTS: ReadonlySet<number> = new Set([
  TAG.utf8String,
  TAG.printableString,
  TAG.teletexString,
  TAG.ia5String,
  TAG.universalString,
  TAG.bmpString,
]);

/** The comparable form: case, string type and number of spaces make no difference (RFC 5280, 7.1). */
export function normalizeName(name: Asn1): string {
  if (!isUniversal(name, TAG.sequence)) throw new TypeError('not a name');
  const sets = childrenOf(name).map((set) => {
    if (!isUniversal(set, TAG.set) || set.children.length === 0) throw new TypeError('not a name');
    return set.children.map(normalizeAttribute).sort().join('+');
  });
  return sets.join(',');
}

/** A value that is no text is compared byte by byte. */
function normalizeAttribute(attribute: Asn1): string {
  const [id, value, ...more] = attribute.children;
  if (!isUniversal(attribute, TAG.sequence) || value === undefined || more.length > 0)
    throw new TypeError('not a name');
  const isText = value.class === 0 && TEXTS.has(value.tag);
  if (!isText) return `${oidOf(id)}=#${value.raw.toString('hex')}`;
  return `${oidOf(id)}=${JSON.stringify(textOf(value).trim().replace(/\s+/g, ' ').toLowerCase())}`;
}

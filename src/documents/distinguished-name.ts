/**
 * Distinguished names (X.501, as certificates and revocation lists carry them): what is shown of one to people, and the
 * form in which two are compared. Fields that are not there throw a TypeError, for whoever reads the whole to catch.
 */

import { type Asn1, isUniversal, oidOf, TAG, textOf } from './asn1.ts';
import { NAME_PART } from './oids.ts';

const NAME_SHOWN_MAX = 120;

/** The parts of a value that must have some. */
export function childrenOf(value: Asn1 | undefined): readonly Asn1[] {
  if (value === undefined || !value.isConstructed) throw new TypeError('a field that should have parts has none');
  return value.children;
}

/** Every attribute of a name, in its order. */
export function attributesOf(name: Asn1): readonly (readonly [oid: string, text: string])[] {
  return childrenOf(name).flatMap((set) =>
    childrenOf(set).map((attribute) => {
      const [id, value] = childrenOf(attribute);
      if (value === undefined) throw new TypeError('a name attribute without value');
      return [oidOf(id), textOf(value)] as const;
    }),
  );
}

/** The last one is the most specific. */
export function commonNameOf(name: Asn1): string | undefined {
  return attributesOf(name).findLast(([oid]) => oid === NAME_PART.commonName)?.[1];
}

/**
 * The common name, or whatever a name ends with, for messages and logs. It comes from anybody: nothing stays in it that
 * moves a cursor or turns a line around.
 */
export function shownName(name: Asn1): string {
  const text = commonNameOf(name) ?? attributesOf(name).at(-1)?.[1] ?? '(sem nome)';
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd').trim();
  return plain.length > NAME_SHOWN_MAX ? `${plain.slice(0, NAME_SHOWN_MAX)}…` : plain;
}

function isAttribute(value: Asn1): boolean {
  return isUniversal(value, TAG.sequence) && value.children.length === 2;
}

const TEXTS: ReadonlySet<number> = new Set([
  TAG.utf8String,
  TAG.printableString,
  TAG.teletexString,
  TAG.ia5String,
  TAG.universalString,
  TAG.bmpString,
]);

/** A value of another type is compared as it stands. */
function isText(value: Asn1): boolean {
  return value.class === 0 && TEXTS.has(value.tag);
}

/** RFC 5280, 7.1: neither case, nor the kind of string, nor the width of a space makes a difference. */
export function comparable(name: Asn1): string {
  const isName = isUniversal(name, TAG.sequence) && name.children.every((set) => isUniversal(set, TAG.set));
  if (!isName || !name.children.every(({ children }) => children.length > 0 && children.every(isAttribute))) {
    throw new TypeError('not a name');
  }
  const sets = childrenOf(name).map((set) =>
    childrenOf(set)
      .map((attribute) => {
        const [id, value] = childrenOf(attribute);
        if (value === undefined) throw new TypeError('a name attribute without value');
        if (!isText(value)) return `${oidOf(id)}=#${value.raw.toString('hex')}`;
        return `${oidOf(id)}=${JSON.stringify(textOf(value).trim().replace(/\s+/g, ' ').toLowerCase())}`;
      })
      .sort()
      .join('+'),
  );
  return sets.join(',');
}

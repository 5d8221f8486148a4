/** ASN.1 values with one change: a part removed, doubled, moved, of another type, with other bytes, or encoded as BER allows. */
import { type Asn1, readAsn1 } from '../../src/documents/asn1.ts';

export type Draw = (below: number) => number;

/** All parts of a value, itself first. */
function partsOf(value: Asn1): readonly Asn1[] {
  return [value, ...value.children.flatMap(partsOf)];
}

function withLength(identifier: Buffer, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([identifier, Buffer.from([length]), content]);
  const hex = length.toString(16);
  const octets = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([identifier, Buffer.from([0x80 | octets.length]), octets, content]);
}

function identifierOf({ raw }: Asn1): Buffer {
  return raw.subarray(0, 1);
}

/** The value with some of its parts replaced, and every enclosing length corrected. */
export function replaced(value: Asn1, parts: ReadonlyMap<Asn1, Buffer>): Buffer {
  const whole = parts.get(value);
  if (whole !== undefined) return whole;
  if (!value.isConstructed || value.children.length === 0) return value.raw;
  return withLength(identifierOf(value), Buffer.concat(value.children.map((child) => replaced(child, parts))));
}

const CHANGES: readonly ((part: Asn1, other: Asn1, draw: Draw) => Buffer)[] = [
  () => Buffer.alloc(0),
  ({ raw }) => Buffer.concat([raw, raw]),
  (_, { raw }) => raw,
  ({ raw }, other) => Buffer.concat([raw, other.raw]),
  ({ raw }, _, draw) => Buffer.concat([Buffer.from([raw[0]! ^ (1 << draw(8))]), raw.subarray(1)]),
  (part, _, draw) => withLength(identifierOf(part), part.content.subarray(0, draw(part.content.length + 1))),
  (part, _, draw) => withLength(identifierOf(part), Buffer.concat([part.content, Buffer.from([draw(256)])])),
  ({ raw }, _, draw) => {
    const copy = Buffer.from(raw);
    const at = draw(copy.length);
    copy[at] = copy[at]! ^ (1 + draw(255));
    return copy;
  },
  // A length with more octets than necessary.
  (part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.content.length);
    return Buffer.concat([identifierOf(part), Buffer.from([0x84]), length, part.content]);
  },
  // An indefinite length, closed by end-of-contents octets.
  (part) =>
    part.isConstructed
      ? Buffer.concat([identifierOf(part), Buffer.from([0x80]), part.content, Buffer.alloc(2)])
      : part.raw,
];

/** The bytes with one change, whose kind and place are drawn at random. */
export function mutatedAsn1(bytes: Buffer, draw: Draw): Buffer {
  const value = readAsn1(bytes);
  const parts = partsOf(value);
  const [part, other] = [parts[draw(parts.length)]!, parts[draw(parts.length)]!];
  return replaced(value, new Map([[part, CHANGES[draw(CHANGES.length)]!(part, other, draw)]]));
}

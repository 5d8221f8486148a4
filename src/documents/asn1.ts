/**
 * ASN.1: reads DER and BER, writes DER. The callers know the meaning of the fields of a certificate, a list or a CMS.
 *
 * Nothing is copied while reading: contents are views on the given bytes. Depth and count are bounded, because the bytes come from outside.
 */

/** No certificate and no CMS is deeper. */
const DEPTH_MAX = 24;
/** A CMS with a chain of certificates has about two thousand values. */
const VALUES_MAX = 50_000;

/** A value. Its octets are cut out on demand: most values of a certificate never need them. */
export class Asn1 {
  /** 0 universal, 1 application, 2 context specific, 3 private. */
  readonly class: 0 | 1 | 2 | 3;
  readonly isConstructed: boolean;
  readonly tag: number;
  /** Empty for a primitive value. */
  readonly children: readonly Asn1[];
  private readonly buffer: Buffer;
  private readonly places: Places;

  constructor(buffer: Buffer, identifier: number, tag: number, places: Places, children: readonly Asn1[]) {
    this.class = (identifier >> 6) as Asn1['class'];
    this.isConstructed = (identifier & CONSTRUCTED) !== 0;
    this.tag = tag;
    this.children = children;
    this.buffer = buffer;
    this.places = places;
  }

  /** The content octets; a constructed value in indefinite form has them without the end mark. */
  get content(): Buffer {
    return this.buffer.subarray(this.places.content, this.places.contentEnd);
  }

  /** The whole value, tag and length included. */
  get raw(): Buffer {
    return this.buffer.subarray(this.places.start, this.places.end);
  }
}

/** The positions of a value in its bytes. */
type Places = {
  readonly start: number;
  readonly content: number;
  readonly contentEnd: number;
  readonly end: number;
};

/** The bit of an identifier octet for a constructed value. */
const CONSTRUCTED = 0x20;

/** The bytes are no ASN.1, end too early, or are nested too deep. */
export class Asn1Error extends Error {}

/** The result of a reading; undefined when it throws an {@link Asn1Error}. */
export function tryAsn1<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Asn1Error) return undefined;
    throw error;
  }
}

/** Requires a value to be present. */
export function requireValue(value: Asn1 | undefined): Asn1 {
  if (value === undefined) throw new Asn1Error('something is missing');
  return value;
}

export const TAG = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  null: 5,
  oid: 6,
  enumerated: 10,
  utf8String: 12,
  sequence: 16,
  set: 17,
  printableString: 19,
  teletexString: 20,
  ia5String: 22,
  utcTime: 23,
  generalizedTime: 24,
  universalString: 28,
  bmpString: 30,
} as const;

/** Types whose values never have parts, in BER as in DER (X.690, 8.2 to 8.19). */
const PRIMITIVE: ReadonlySet<number> = new Set([TAG.boolean, TAG.integer, TAG.null, TAG.oid, TAG.enumerated]);

/** Reads the single value of the bytes. Lengths are definite or indefinite; anything after the value is an error. */
export function readAsn1(bytes: Uint8Array): Asn1 {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reader = new Reader(buffer);
  const value = reader.readValue(1, buffer.length);
  if (reader.at !== buffer.length) throw new Asn1Error(`${buffer.length - reader.at} bytes after the end of the value`);
  return value;
}

/** Reads the values of a buffer, one after the other. */
class Reader {
  at = 0;
  private readonly buffer: Buffer;
  private values = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  /** Reads a value that ends at `limit` or before. */
  readValue(depth: number, limit: number): Asn1 {
    this.values += 1;
    if (depth > DEPTH_MAX || this.values > VALUES_MAX) throw new Asn1Error('nested too deep, or too many values');
    const start = this.at;
    const identifier = this.readOctet(limit);
    const isConstructed = (identifier & CONSTRUCTED) !== 0;
    const tag = this.readTag(identifier, limit);
    const first = this.readOctet(limit);
    if (isConstructed && identifier < 0x40 && PRIMITIVE.has(tag)) throw new Asn1Error('parts where there is one value');
    if (first === 0x80) {
      if (!isConstructed) throw new Asn1Error('a primitive value of indefinite length');
      const content = this.at;
      const children: Asn1[] = [];
      while (this.octetAt(this.at, limit) !== 0 || this.octetAt(this.at + 1, limit) !== 0)
        children.push(this.readValue(depth + 1, limit));
      const contentEnd = this.at;
      this.at += 2;
      return new Asn1(this.buffer, identifier, tag, { start, content, contentEnd, end: this.at }, children);
    }
    const length = this.readLength(first, limit);
    const content = this.at;
    const end = content + length;
    if (end > limit) throw new Asn1Error(`a value of ${length} bytes where ${limit - content} are left`);
    const children: Asn1[] = [];
    if (isConstructed) while (this.at < end) children.push(this.readValue(depth + 1, end));
    this.at = end;
    return new Asn1(this.buffer, identifier, tag, { start, content, contentEnd: end, end }, children);
  }

  private readTag(identifier: number, limit: number): number {
    if ((identifier & 0x1f) !== 0x1f) return identifier & 0x1f;
    let tag = 0;
    for (let more = true; more; ) {
      const octet = this.readOctet(limit);
      if (tag > 0xff_ffff) throw new Asn1Error('a tag number beyond all use');
      tag = tag * 128 + (octet & 0x7f);
      more = (octet & 0x80) !== 0;
    }
    return tag;
  }

  private readLength(first: number, limit: number): number {
    if (first < 0x80) return first;
    const octets = first & 0x7f;
    if (octets > 4) throw new Asn1Error('a length beyond all use');
    let length = 0;
    for (let i = 0; i < octets; i += 1) length = length * 256 + this.readOctet(limit);
    return length;
  }

  private readOctet(limit: number): number {
    const octet = this.octetAt(this.at, limit);
    this.at += 1;
    return octet;
  }

  private octetAt(place: number, limit: number): number {
    if (place >= limit) throw new Asn1Error('the bytes end inside of a value');
    return this.buffer[place]!;
  }
}

/** True when every length in a value is definite and minimal, as DER demands and BER does not. */
export function hasDerLengths({ content, raw, tag, children }: Asn1): boolean {
  const { length } = content;
  const octets = length < 0x80 ? 1 : 1 + Math.ceil((32 - Math.clz32(length)) / 8);
  const identifier = tag < 0x1f ? 1 : 1 + Math.ceil((32 - Math.clz32(tag)) / 7);
  return raw.length === identifier + octets + length && children.every(hasDerLengths);
}

export function isUniversal(value: Asn1 | undefined, tag: number): value is Asn1 {
  return value !== undefined && value.class === 0 && value.tag === tag;
}

/** True for every `[n]`, of any content. */
export function isContext(value: Asn1 | undefined, tag: number): value is Asn1 {
  return value !== undefined && value.class === 2 && value.tag === tag;
}

/** Dotted text of an OBJECT IDENTIFIER. */
export function oidOf(value: Asn1 | undefined): string {
  const content = isUniversal(value, TAG.oid) ? value.content : NOTHING;
  if (content.length === 0) throw new Asn1Error('no object identifier here');
  // An arc has an end, and no leading zeros (X.690, 8.19.2).
  if (content.at(-1)! >= 0x80) throw new Asn1Error('an object identifier without end');
  let dotted = '';
  for (let start = 0, at = 0; at < content.length; at += 1) {
    if (at === start && content[at] === 0x80) throw new Asn1Error('an object identifier with zeros before an arc');
    if (content[at]! >= 0x80) continue;
    const arc = arcIn(content, start, at);
    // The first two arcs are encoded as one: 40 times the root, and the second.
    const root = arc < 80 ? Math.floor(Number(arc) / 40) : 2;
    dotted += start === 0 ? `${root}.${typeof arc === 'bigint' ? arc - 80n : arc - root * 40}` : `.${arc}`;
    start = at + 1;
  }
  return dotted;
}

const NOTHING = Buffer.alloc(0);
/** Octets of seven bits that a number holds exactly. */
const EXACT_OCTETS = 7;

/** One arc of an object identifier, from its first octet to its last. */
function arcIn(content: Buffer, first: number, last: number): number | bigint {
  let arc = 0;
  if (last - first >= EXACT_OCTETS) {
    return content.subarray(first, last + 1).reduce((sum, octet) => sum * 128n + BigInt(octet & 0x7f), 0n);
  }
  for (let at = first; at <= last; at += 1) arc = arc * 128 + (content[at]! & 0x7f);
  return arc;
}

/** The octets of an OCTET STRING, also under an implicit tag. Pieces that BER cut are joined. */
export function octetsOf(value: Asn1): Buffer {
  return value.isConstructed ? Buffer.concat(value.children.map(octetsOf)) : value.content;
}

/** The octets of a BIT STRING that fills whole octets. */
export function bitsOf(value: Asn1): Buffer {
  const octets = octetsOf(value);
  const [unused] = octets;
  if (unused === undefined || unused > 7 || (unused > 0 && octets.length === 1)) throw new Asn1Error('no bit string');
  // DER: unused bits are zero (X.690, 11.2.1).
  if ((octets.at(-1)! & ((1 << unused) - 1)) !== 0 && octets.length > 1) throw new Asn1Error('bits after the end');
  return octets.subarray(1);
}

/** Text of any of the string types, or of an implicit one read as Latin-1. */
export function textOf(value: Asn1): string {
  const octets = octetsOf(value);
  if (value.class === 0 && value.tag === TAG.utf8String) return octets.toString('utf8');
  if (value.class === 0 && value.tag === TAG.bmpString && octets.length % 2 === 0) {
    return Buffer.from(octets).swap16().toString('utf16le');
  }
  return octets.toString('latin1');
}

/** Milliseconds of a UTCTime or GeneralizedTime. */
export function timeOf(value: Asn1 | undefined): number {
  if (value === undefined) throw new Asn1Error('no time here');
  const text = textOf(value);
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(?:\.\d+)?(Z|[+-]\d{4})?$/.exec(text);
  if (match === null) throw new Asn1Error('a time that is none');
  const [, year, month, day, hour, minute, second = '00', zone = 'Z'] = match;
  // RFC 5280: two digits from 50 on belong to the last century.
  const full = year!.length === 4 ? year : `${Number(year) < 50 ? '20' : '19'}${year}`;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  const time = Date.parse(`${full}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  if (Number.isNaN(time)) throw new Asn1Error('a time that is none');
  return time;
}

// Writing. Everything below makes DER.

function tlv(identifier: number, content: Uint8Array): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([identifier, length]), content]);
  const octets: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) octets.unshift(left % 256);
  return Buffer.concat([Buffer.from([identifier, 0x80 | octets.length, ...octets]), content]);
}

/** Values in DER, by the name of their type. */
export const der = {
  sequence: (...parts: readonly Uint8Array[]): Buffer => tlv(0x30, Buffer.concat(parts)),
  /** The members of a SET OF are sorted, as DER demands. */
  set: (...parts: readonly Uint8Array[]): Buffer => tlv(0x31, Buffer.concat([...parts].sort(Buffer.compare))),
  boolean: (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0])),
  /** The number must not be negative. */
  integer: (value: bigint | number): Buffer => {
    let hex = BigInt(value).toString(16);
    if (hex.length % 2 === 1) hex = `0${hex}`;
    const octets = Buffer.from(hex, 'hex');
    return tlv(0x02, octets[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), octets]) : octets);
  },
  enumerated: (value: number): Buffer => tlv(0x0a, Buffer.from([value])),
  bitString: (octets: Uint8Array, unused = 0): Buffer => tlv(0x03, Buffer.concat([Buffer.from([unused]), octets])),
  octetString: (octets: Uint8Array): Buffer => tlv(0x04, octets),
  null: (): Buffer => tlv(0x05, Buffer.alloc(0)),
  oid: (dotted: string): Buffer => {
    const [first, second, ...rest] = dotted.split('.').map(BigInt);
    const octets = [first! * 40n + second!, ...rest].flatMap((arc) => {
      const sevens = [Number(arc & 0x7fn)];
      for (let left = arc >> 7n; left > 0n; left >>= 7n) sevens.unshift(Number(left & 0x7fn) | 0x80);
      return sevens;
    });
    return tlv(0x06, Buffer.from(octets));
  },
  utf8: (text: string): Buffer => tlv(0x0c, Buffer.from(text, 'utf8')),
  printable: (text: string): Buffer => tlv(0x13, Buffer.from(text, 'latin1')),
  ia5: (text: string): Buffer => tlv(0x16, Buffer.from(text, 'latin1')),
  /** UTCTime until 2049 and GeneralizedTime after, as RFC 5280 demands. Milliseconds. */
  time: (instant: number): Buffer => {
    const text = `${new Date(instant).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
    return new Date(instant).getUTCFullYear() < 2050
      ? tlv(0x17, Buffer.from(text.slice(2), 'latin1'))
      : tlv(0x18, Buffer.from(text, 'latin1'));
  },
  /** `[n]` around complete values, or implicit over the content of a constructed one. */
  context: (tag: number, ...parts: readonly Uint8Array[]): Buffer => tlv(0xa0 | tag, Buffer.concat(parts)),
  /** `[n]` implicit over primitive content. */
  contextPrimitive: (tag: number, content: Uint8Array): Buffer => tlv(0x80 | tag, content),
} as const;

/** The part of ASN.1 that signing needs: values in DER are written, and those of a certificate or a PKCS#12 are read. */

/** No certificate and no key store is deeper or larger. */
const DEPTH_MAX = 24;
const VALUES_MAX = 20_000;

export type Asn1 = {
  /** The identifier octet: class, constructed bit, and tag. One octet holds every tag that is read here. */
  readonly id: number;
  readonly conteudo: Buffer;
  /** Empty for a primitive value. */
  readonly filhos: readonly Asn1[];
  /** The whole value. */
  readonly inteiro: Buffer;
};

/** The bytes are no ASN.1. */
export class Asn1Ilegivel extends Error {}

export function lerAsn1(bytes: Uint8Array): Asn1 {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [value, end] = readValue(buffer, 0, 1, { values: 0 });
  if (end !== buffer.length) throw new Asn1Ilegivel('something after the value');
  return value;
}

/** Lengths are definite or indefinite: key stores are written in BER too. */
function readValue(buffer: Buffer, start: number, depth: number, count: { values: number }): [Asn1, number] {
  count.values += 1;
  if (depth > DEPTH_MAX || count.values > VALUES_MAX) throw new Asn1Ilegivel('nested too deep, or too many values');
  const id = octetAt(buffer, start);
  let at = start + 2;
  let length = octetAt(buffer, start + 1);
  const isConstructed = (id & 0x20) !== 0;
  const filhos: Asn1[] = [];
  if (length === 0x80 && isConstructed) {
    const from = at;
    while (octetAt(buffer, at) !== 0 || octetAt(buffer, at + 1) !== 0) {
      const [child, next] = readValue(buffer, at, depth + 1, count);
      filhos.push(child);
      at = next;
    }
    return [{ id, conteudo: buffer.subarray(from, at), filhos, inteiro: buffer.subarray(start, at + 2) }, at + 2];
  }
  if (length >= 0x80) {
    const octets = length & 0x7f;
    if (octets === 0 || octets > 4) throw new Asn1Ilegivel('a length beyond all use');
    length = 0;
    for (let place = 0; place < octets; place += 1) length = length * 256 + octetAt(buffer, at + place);
    at += octets;
  }
  const end = at + length;
  if (end > buffer.length) throw new Asn1Ilegivel('the bytes end inside of a value');
  if (isConstructed) {
    for (let place = at; place < end; ) {
      const [child, next] = readValue(buffer.subarray(0, end), place, depth + 1, count);
      filhos.push(child);
      place = next;
    }
  }
  return [{ id, conteudo: buffer.subarray(at, end), filhos, inteiro: buffer.subarray(start, end) }, end];
}

function octetAt(buffer: Buffer, place: number): number {
  const octet = buffer[place];
  if (octet === undefined) throw new Asn1Ilegivel('the bytes end inside of a value');
  return octet;
}

export const ID = {
  inteiro: 0x02,
  octetos: 0x04,
  oid: 0x06,
  sequencia: 0x30,
  conjunto: 0x31,
  contexto0: 0xa0,
  /** The same tag around primitive values. */
  contexto0Simples: 0x80,
} as const;

/** The octets of an OCTET STRING, joined when BER has split them. */
export function octetosDe({ filhos, conteudo }: Asn1): Buffer {
  return filhos.length === 0 ? conteudo : Buffer.concat(filhos.map(octetosDe));
}

/** Dotted text of an OBJECT IDENTIFIER with small arcs, as all algorithms have. */
export function oidDe(value: Asn1 | undefined): string {
  if (value?.id !== ID.oid || value.conteudo.length === 0 || value.conteudo.at(-1)! >= 0x80)
    throw new Asn1Ilegivel('no object identifier');
  const arcs: number[] = [];
  let arc = 0;
  for (const octet of value.conteudo) {
    arc = arc * 128 + (octet & 0x7f);
    if (octet >= 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...rest] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join('.');
}

function tlv(id: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([id, content.length]), content]);
  const octets: number[] = [];
  for (let left = content.length; left > 0; left = Math.floor(left / 256)) octets.unshift(left % 256);
  return Buffer.concat([Buffer.from([id, 0x80 | octets.length, ...octets]), content]);
}

/** Values in DER. */
export const der = {
  sequencia: (...parts: readonly Uint8Array[]): Buffer => tlv(ID.sequencia, ...parts),
  /** The order is that of DER for a SET OF. */
  conjunto: (...parts: readonly Uint8Array[]): Buffer => tlv(ID.conjunto, ...[...parts].sort(Buffer.compare)),
  /** Integers from 0 to 127. */
  inteiro: (value: number): Buffer => tlv(ID.inteiro, Buffer.from([value])),
  octetos: (octets: Uint8Array): Buffer => tlv(ID.octetos, octets),
  nulo: (): Buffer => tlv(0x05),
  oid: (dotted: string): Buffer => {
    const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
    const octets = [first * 40 + second, ...rest].flatMap((arc) => {
      const sevens = [arc % 128];
      for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
        sevens.unshift((left % 128) | 0x80);
      return sevens;
    });
    return tlv(ID.oid, Buffer.from(octets));
  },
  /** UTCTime, which CMS requires until 2049. */
  momento: (instant: number): Buffer => {
    const digits = new Date(instant).toISOString().replace(/\D/g, '').slice(0, 14);
    return digits < '2050' ? tlv(0x17, Buffer.from(`${digits.slice(2)}Z`)) : tlv(0x18, Buffer.from(`${digits}Z`));
  },
  /** [0] around complete values, or implicit over those of a SET. */
  contexto0: (...parts: readonly Uint8Array[]): Buffer => tlv(ID.contexto0, ...parts),
} as const;

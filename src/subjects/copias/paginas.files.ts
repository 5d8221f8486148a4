/** Reads the rows of a table from its file, in all their versions and without a server: no content of the file is executed (D-804). */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { CopiaRecusada } from './cifra.files.ts';

/** Length and alignment from `pg_attribute`: bytes, or -1 for a variable length; and `c`, `s`, `i` or `d`. */
export type Coluna = { readonly nome: string; readonly tipo: number; readonly len: number; readonly align: string };

/** Values by the names of their columns; undefined: null. */
export type Linha = Readonly<Record<string, Buffer | undefined>>;

const PAGE = 8_192;
const PAGE_HEADER = 24;
const LOWER_AT = 12;
const SIZE_AT = 18;
const NORMAL = 1;
const ALIGN: Readonly<Record<string, number>> = { c: 1, s: 2, i: 4, d: 8 };
/** A pointer to a value in another table: its sizes, and its place. */
const POINTER_BYTES = 18;
const EXTERNAL = 0x01;
const SIZE_MASK = 0x3fff_ffff;
/** Limits above the sizes of PostgreSQL's own rows. */
const UNPACKED_MAX = 2 ** 20;
const PIECES_MAX = 1_000;

/** Values in another table, by the numbers in their pointers. */
type Fora = ReadonlyMap<number, Buffer>;

/** Rows of a file and of its continuation files. */
export async function readLinhas(
  folder: string,
  file: string,
  columns: readonly Coluna[],
  fora: Fora = new Map(),
): Promise<readonly Linha[]> {
  const parts = (await readdir(folder)).filter((name) => name === file || name.startsWith(`${file}.`)).sort();
  const linhas: Linha[] = [];
  for (const part of parts) {
    const data = await readFile(path.join(folder, part));
    try {
      for (let at = 0; at + PAGE <= data.length; at += PAGE) {
        for (const tuple of tuplesOf(data.subarray(at, at + PAGE))) linhas.push(readLinha(tuple, columns, fora));
      }
    } catch {
      throw new CopiaRecusada(`${part}, um catálogo do PostgreSQL na cópia, não se lê.`);
    }
  }
  return linhas;
}

const CHUNK: readonly Coluna[] = [
  { nome: 'id', tipo: 26, len: 4, align: 'i' },
  { nome: 'seq', tipo: 23, len: 4, align: 'i' },
  { nome: 'data', tipo: 17, len: -1, align: 'i' },
];

/** Long values of a table, from its TOAST file. A value with a repeated piece is unreadable. */
export async function readFora(folder: string, file: string): Promise<Fora> {
  const pieces = new Map<number, Buffer[]>();
  for (const { id, seq, data } of await readLinhas(folder, file, CHUNK)) {
    const own = pieces.get(id!.readUInt32LE(0)) ?? [];
    const place = seq!.readUInt32LE(0);
    if (place < PIECES_MAX) own[place] = own[place] === undefined ? data! : Buffer.of();
    pieces.set(id!.readUInt32LE(0), own);
  }
  return new Map([...pieces].map(([id, own]) => [id, Buffer.concat(Array.from(own, (piece) => piece ?? Buffer.of()))]));
}

function* tuplesOf(page: Buffer): Generator<Buffer> {
  const lower = page.readUInt16LE(LOWER_AT);
  if (lower === 0) return;
  if ((page.readUInt16LE(SIZE_AT) & 0xff00) !== PAGE) throw new Error('page size');
  for (let at = PAGE_HEADER; at < lower; at += 4) {
    const item = page.readUInt32LE(at);
    const from = item & 0x7fff;
    if (((item >>> 15) & 3) === NORMAL) yield page.subarray(from, from + (item >>> 17));
  }
}

function readLinha(tuple: Buffer, columns: readonly Coluna[], fora: Fora): Linha {
  const count = tuple.readUInt16LE(18) & 0x7ff;
  const hasNulls = (tuple.readUInt16LE(20) & 1) === 1;
  let at = tuple.readUInt8(22);
  const linha: Record<string, Buffer | undefined> = {};
  for (const [place, { nome, len, align }] of columns.entries()) {
    const isNull = place >= count || (hasNulls && (tuple.readUInt8(23 + (place >> 3)) & (1 << (place & 7))) === 0);
    if (isNull) continue;
    // A short value stands directly after the one before it.
    if (len >= 0 || tuple.readUInt8(at) === 0) at = Math.ceil(at / ALIGN[align]!) * ALIGN[align]!;
    const end = at + (len >= 0 ? len : lengthAt(tuple, at));
    if (end > tuple.length) throw new Error('tuple length');
    linha[nome] = len >= 0 ? tuple.subarray(at, end) : openValue(tuple.subarray(at, end), fora);
    at = end;
  }
  return linha;
}

function lengthAt(tuple: Buffer, at: number): number {
  const first = tuple.readUInt8(at);
  if (first === EXTERNAL) return POINTER_BYTES;
  return (first & 1) === 1 ? first >>> 1 : tuple.readUInt32LE(at) >>> 2;
}

/** A value without its header, wherever it is stored and however it is compressed. */
function openValue(value: Buffer, fora: Fora): Buffer {
  const first = value[0]!;
  if (first === EXTERNAL) {
    const found = fora.get(value.readUInt32LE(10)) ?? Buffer.of();
    const isPacked = (value.readUInt32LE(6) & SIZE_MASK) < value.readUInt32LE(2) - 4;
    return isPacked && found.length > 4 ? unpack(found) : found;
  }
  if ((first & 1) === 1) return value.subarray(1);
  return (first & 3) === 2 ? unpack(value.subarray(4)) : value.subarray(4);
}

/** Decompresses PostgreSQL's own format; another one is left as it is. */
function unpack(packed: Buffer): Buffer {
  const about = packed.readUInt32LE(0);
  const size = about & SIZE_MASK;
  if (about >>> 30 !== 0 || size > UNPACKED_MAX) return packed;
  const out = Buffer.alloc(size);
  let [at, filled] = [4, 0];
  while (at < packed.length && filled < size) {
    let control = packed[at++]!;
    for (let bit = 0; bit < 8 && at < packed.length && filled < size; bit += 1, control >>= 1) {
      if ((control & 1) === 0) {
        out[filled++] = packed[at++]!;
        continue;
      }
      const [head, low] = [packed[at]!, packed.readUInt8(at + 1)];
      at += 2;
      const back = ((head & 0xf0) << 4) | low;
      let length = (head & 0x0f) + 3;
      if (length === 18) length += packed.readUInt8(at++);
      for (; length > 0 && filled < size; length -= 1, filled += 1) out[filled] = out[filled - back]!;
    }
  }
  return out;
}

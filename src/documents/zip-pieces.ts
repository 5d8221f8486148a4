/**
 * A ZIP in pieces that are made separately: complete entries in sequence, and the directory of each piece beside it. The file is all
 * pieces, then all their directories, then its end. Sizes are known before they are written, so nothing is rewritten (APPNOTE 6.3.10).
 */
import { crc32, deflateRawSync } from 'node:zlib';
import type { Moment } from '../fiscal/moment.ts';

/** An entry of the ZIP. Its name must be unique in the file; this is not checked. */
type Entry = { readonly nome: string; readonly conteudo: Buffer };

/** `diretorio`: the directory of its entries. */
export type ZipPiece = { readonly conteudo: Buffer; readonly diretorio: Buffer; readonly entradas: number };

/** The totals in the end record: entries, their bytes, and the bytes of their directory. */
export type ZipTotals = { readonly entradas: number; readonly bytes: number; readonly diretorio: number };

const LOCAL = { signature: 0x04034b50, length: 30 } as const;
const CENTRAL = { signature: 0x02014b50, length: 46 } as const;
const END = { signature: 0x06054b50, length: 22 } as const;
const END_64 = { signature: 0x06064b50, length: 56 } as const;
const LOCATOR_64 = { signature: 0x07064b50, length: 20 } as const;
/** Tag and length of the field that has an offset of 64 bits, and the field. */
const EXTRA_64 = { tag: 1, data: 8, length: 12 } as const;

/** Versions of the format: with deflated entries, and with numbers of 64 bits. */
const [VERSION, VERSION_64] = [20, 45];
/** The origin is UNIX, whose permissions follow. */
const MADE_BY = (3 << 8) | VERSION_64;
const PERMISSIONS = (0o100644 << 16) >>> 0;
/** Names are UTF-8. */
const FLAGS = 0x0800;
const [STORED, DEFLATED] = [0, 8];
/** Fewer bytes than this never become shorter by deflating: the frame and an end take 10 bits, a letter 8, a repetition 12. */
const DEFLATABLE_BYTES_MIN = 5;
/** Placeholders for a number that does not fit, and stands in its 64-bit field. */
const [FULL_16, FULL_32] = [0xffff, 0xffffffff];

/** Makes a piece of entries that begins at an offset of the file. `em`: the local time of the entries. */
export function makeZipPiece(entries: readonly Entry[], offset: number, em: Moment): ZipPiece {
  const conteudo: Buffer[] = [];
  const diretorio: Buffer[] = [];
  let at = offset;
  for (const entry of entries) {
    const made = makeEntry(entry, at, em);
    conteudo.push(...made.local);
    diretorio.push(made.central);
    at += made.local.reduce((sum, { length }) => sum + length, 0);
  }
  return { conteudo: Buffer.concat(conteudo), diretorio: Buffer.concat(diretorio), entradas: entries.length };
}

function makeEntry({ nome, conteudo }: Entry, offset: number, em: Moment) {
  const name = Buffer.from(nome, 'utf8');
  if (name.length > FULL_16) throw new RangeError('the name of an entry is too long');
  const deflated = conteudo.length < DEFLATABLE_BYTES_MIN ? conteudo : deflateRawSync(conteudo);
  const isDeflated = deflated.length < conteudo.length;
  const data = isDeflated ? deflated : conteudo;
  // The common part of both headers, from the needed version to the length of the name.
  const shared = Buffer.alloc(24);
  shared.writeUInt16LE(FLAGS, 2);
  shared.writeUInt16LE(isDeflated ? DEFLATED : STORED, 4);
  shared.writeUInt32LE(dosMoment(em), 6);
  shared.writeUInt32LE(crc32(conteudo), 10);
  shared.writeUInt32LE(data.length, 14);
  shared.writeUInt32LE(conteudo.length, 18);
  shared.writeUInt16LE(name.length, 22);
  const local = Buffer.alloc(LOCAL.length);
  local.writeUInt32LE(LOCAL.signature, 0);
  shared.copy(local, 4);
  local.writeUInt16LE(VERSION, 4);
  return { local: [local, name, data], central: makeCentral(shared, name, offset) };
}

function makeCentral(shared: Buffer, name: Buffer, offset: number): Buffer {
  const isFar = offset >= FULL_32;
  const central = Buffer.alloc(CENTRAL.length);
  central.writeUInt32LE(CENTRAL.signature, 0);
  central.writeUInt16LE(MADE_BY, 4);
  shared.copy(central, 6);
  central.writeUInt16LE(isFar ? VERSION_64 : VERSION, 6);
  central.writeUInt16LE(isFar ? EXTRA_64.length : 0, 30);
  central.writeUInt32LE(PERMISSIONS, 38);
  central.writeUInt32LE(Math.min(offset, FULL_32), 42);
  if (!isFar) return Buffer.concat([central, name]);
  const extra = Buffer.alloc(EXTRA_64.length);
  extra.writeUInt16LE(EXTRA_64.tag, 0);
  extra.writeUInt16LE(EXTRA_64.data, 2);
  extra.writeBigUInt64LE(BigInt(offset), 4);
  return Buffer.concat([central, name, extra]);
}

/** The records after the directory. */
export function makeZipEnd({ entradas, bytes, diretorio }: ZipTotals): Buffer {
  const end = Buffer.alloc(END.length);
  end.writeUInt32LE(END.signature, 0);
  end.writeUInt16LE(Math.min(entradas, FULL_16), 8);
  end.writeUInt16LE(Math.min(entradas, FULL_16), 10);
  end.writeUInt32LE(Math.min(diretorio, FULL_32), 12);
  end.writeUInt32LE(Math.min(bytes, FULL_32), 16);
  if (entradas < FULL_16 && diretorio < FULL_32 && bytes < FULL_32) return end;
  const end64 = Buffer.alloc(END_64.length);
  end64.writeUInt32LE(END_64.signature, 0);
  // The length of the record itself, without these two fields.
  end64.writeBigUInt64LE(BigInt(END_64.length - 12), 4);
  end64.writeUInt16LE(MADE_BY, 12);
  end64.writeUInt16LE(VERSION_64, 14);
  end64.writeBigUInt64LE(BigInt(entradas), 24);
  end64.writeBigUInt64LE(BigInt(entradas), 32);
  end64.writeBigUInt64LE(BigInt(diretorio), 40);
  end64.writeBigUInt64LE(BigInt(bytes), 48);
  const locator = Buffer.alloc(LOCATOR_64.length);
  locator.writeUInt32LE(LOCATOR_64.signature, 0);
  locator.writeBigUInt64LE(BigInt(bytes + diretorio), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end]);
}

/** Date and time in MS-DOS format: the date in the upper half, and the seconds in steps of two. */
function dosMoment({ date, time }: Moment): number {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const [hour, minute, second] = time.split(':').map(Number) as [number, number, number];
  const days = ((year - 1980) << 9) | (month << 5) | day;
  const seconds = (hour << 11) | (minute << 5) | (second >> 1);
  return ((days << 16) | seconds) >>> 0;
}

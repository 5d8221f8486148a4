/**
 * The file in which a month of a municipality is archived. `docs/site/arquivo.md` describes the format for other programs. The first line
 * names the format, and a line of JSON says all that a reader needs. The records and an index of fixed width follow. The last line, of
 * JSON, says where the index is.
 */
import { createHash, hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { DICIONARIO, dictionaryOf } from './pacote.ts';

const MAGIC = 'NFSE-ARQUIVO 1\n';
const END = Buffer.from('NFSEFIM1');
/** Place of the last line, as eight octets, and {@link END}. */
const TAIL_BYTES = 16;
/** Kind (1), id (8), place (8), length (4), SHA-256 (32). */
const ENTRY_BYTES = 53;
const KEY_BYTES = 9;
/** Entries that are read together to find one. */
const PAGE_ENTRIES = 256;

const TIPOS_DE_REGISTRO = ['nota', 'evento', 'lote', 'certificado'] as const;
export type TipoDeRegistro = (typeof TIPOS_DE_REGISTRO)[number];

/** A row of a table as JSON has it; `bytes`: those of its columns that are documents. */
export type Linha = {
  readonly colunas: Readonly<Record<string, unknown>>;
  readonly bytes: Readonly<Record<string, Buffer>>;
};
/** All rows that one note, event or lot has in the tables of its month, or a certificate. */
export type Registro = {
  readonly tipo: TipoDeRegistro;
  readonly id: bigint;
  readonly linhas: Readonly<Record<string, readonly Linha[]>>;
};

/** The second line of the file. `anterior`: SHA-256 of the file of the municipality that was written before. */
export type Cabecalho = {
  readonly formato: 1;
  readonly municipio: string;
  readonly codigo_ibge: string | null;
  readonly mes: number;
  readonly criado_em: string;
  readonly anterior: string | null;
};

/** The last line: place of the index, first key of each index page, and number of rows of each table. */
type Rodape = {
  readonly indice: number;
  readonly registros: number;
  readonly paginas: string;
  readonly linhas: Readonly<Record<string, number>>;
};

/** Reads a part of a file by its place. Throws if the whole part cannot be read. */
export type ReadRange = (at: number, length: number) => Promise<Buffer>;

/** The parts of the file contradict each other. */
export class ArquivoDanificado extends Error {}

const COMPRESSED = { params: { [constants.ZSTD_c_compressionLevel]: 9, [constants.ZSTD_c_checksumFlag]: 1 } };

function pack(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes, { ...COMPRESSED, dictionary: dictionaryOf(DICIONARIO) });
}

function unpack(bytes: Uint8Array, dicionario: number): Buffer {
  return zstdDecompressSync(bytes, { dictionary: dictionaryOf(dicionario) });
}

/** The first two lines. They contain every dictionary that a record names, whole. */
export function writeHead(cabecalho: Cabecalho): Buffer {
  const dicionarios = Array.from({ length: DICIONARIO }, (_, before) => [
    before + 1,
    dictionaryOf(before + 1).toString('base64'),
  ]);
  const all = { ...cabecalho, dicionario: DICIONARIO, dicionarios: Object.fromEntries(dicionarios) };
  return Buffer.from(`${MAGIC}${JSON.stringify(all)}\n`);
}

/** Columns that are compressed already, by the dictionary that their row names. */
const PACKED = 'pacote';

/** Length of the JSON (4), the JSON, and the documents whose lengths the JSON states. Each is a frame of zstd. */
function writeRegistro({ tipo, id, linhas }: Registro): Buffer {
  const parts: Buffer[] = [];
  const told = Object.entries(linhas).map(([table, rows]) => {
    const each = rows.map(({ colunas, bytes }) => {
      const lengths = Object.entries(bytes).map(([name, value]) => {
        const part = name === PACKED ? value : pack(value);
        parts.push(part);
        return [name, part.length];
      });
      return lengths.length === 0 ? colunas : { ...colunas, bytes: Object.fromEntries(lengths) };
    });
    return [table, each];
  });
  const json = pack(Buffer.from(JSON.stringify({ tipo, id: String(id), linhas: Object.fromEntries(told) })));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(json.length);
  return Buffer.concat([head, json, ...parts]);
}

function readRegistro(bytes: Buffer, dicionario: number): Registro {
  let at = 4 + bytes.readUInt32LE(0);
  type Told = Readonly<Record<string, unknown>> & { readonly bytes?: Readonly<Record<string, number>> };
  const told: { tipo: TipoDeRegistro; id: string; linhas: Readonly<Record<string, readonly Told[]>> } = JSON.parse(
    unpack(bytes.subarray(4, at), dicionario).toString('utf8'),
  );
  const linhas = Object.entries(told.linhas).map(([table, rows]) => {
    const each = rows.map(({ bytes: lengths = {}, ...colunas }): Linha => {
      const found = Object.entries(lengths).map(([name, length]) => {
        const part = bytes.subarray(at, at + length);
        at += length;
        return [name, name === PACKED ? part : unpack(part, dicionario)] as const;
      });
      return { colunas, bytes: Object.fromEntries(found) };
    });
    return [table, each] as const;
  });
  if (at !== bytes.length) throw new ArquivoDanificado('um registro não tem o comprimento que diz');
  return { tipo: told.tipo, id: BigInt(told.id), linhas: Object.fromEntries(linhas) };
}

function keyOf(tipo: TipoDeRegistro, id: bigint): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeUInt8(TIPOS_DE_REGISTRO.indexOf(tipo));
  key.writeBigUInt64BE(BigInt.asUintN(64, id), 1);
  return key;
}

/**
 * Produces the parts of a file, whose records come in the order of their keys. The caller writes each part in order, and the index after
 * all records.
 */
export class ArquivoWriter {
  readonly linhas: Record<string, number> = {};
  private readonly pages: Buffer[] = [];
  private registros = 0;
  private at = 0;
  private last: Buffer | undefined;

  constructor(headBytes: number) {
    this.at = headBytes;
  }

  /** The record as it is written, and its entry. */
  add(registro: Registro): { readonly bytes: Buffer; readonly entry: Buffer } {
    const key = keyOf(registro.tipo, registro.id);
    if (this.last !== undefined && Buffer.compare(this.last, key) >= 0) throw new Error('records are not in order');
    this.last = key;
    const bytes = writeRegistro(registro);
    const entry = Buffer.alloc(ENTRY_BYTES);
    key.copy(entry);
    entry.writeBigUInt64BE(BigInt(this.at), 9);
    entry.writeUInt32BE(bytes.length, 17);
    hash('sha256', bytes, 'buffer').copy(entry, 21);
    if (this.registros % PAGE_ENTRIES === 0) this.pages.push(key);
    this.registros += 1;
    this.at += bytes.length;
    for (const [table, rows] of Object.entries(registro.linhas)) {
      this.linhas[table] = (this.linhas[table] ?? 0) + rows.length;
    }
    return { bytes, entry };
  }

  /** The bytes after the index. */
  end(): Buffer {
    const rodape: Rodape = {
      indice: this.at,
      registros: this.registros,
      paginas: Buffer.concat(this.pages).toString('base64'),
      linhas: this.linhas,
    };
    const tail = Buffer.alloc(8);
    tail.writeBigUInt64BE(BigInt(this.at + this.registros * ENTRY_BYTES));
    return Buffer.concat([Buffer.from(`${JSON.stringify(rodape)}\n`), tail, END]);
  }
}

/** The data that is kept of an opened file. It is enough to find any record by two readings. */
export type Aberto = {
  readonly cabecalho: Cabecalho & { readonly dicionario: number };
  readonly rodape: Omit<Rodape, 'paginas'>;
  readonly pages: Buffer;
};

const HEAD_STEP = 65_536;

/** Reads what is needed to find records. Throws {@link ArquivoDanificado} if the file has another format. */
export async function openArquivo(read: ReadRange, size: number): Promise<Aberto> {
  const tail = await read(size - TAIL_BYTES, TAIL_BYTES);
  if (!tail.subarray(8).equals(END)) throw new ArquivoDanificado('o arquivo não termina como devia');
  const footAt = Number(tail.readBigUInt64BE(0));
  if (footAt >= size) throw new ArquivoDanificado('o arquivo não diz onde está o seu índice');
  const foot = await read(footAt, size - TAIL_BYTES - footAt);
  let head = await read(0, Math.min(size, HEAD_STEP));
  while (head.indexOf('\n', MAGIC.length) < 0 && head.length < size) {
    head = await read(0, Math.min(size, head.length * 2));
  }
  if (head.indexOf(MAGIC) !== 0) throw new ArquivoDanificado('o arquivo não começa como devia');
  try {
    const { paginas, ...rodape }: Rodape = JSON.parse(foot.toString('utf8'));
    const { dicionarios, ...cabecalho } = JSON.parse(
      head.toString('utf8', MAGIC.length, head.indexOf('\n', MAGIC.length)),
    );
    return { cabecalho, rodape, pages: Buffer.from(paginas, 'base64') };
  } catch (cause) {
    throw new ArquivoDanificado('as linhas do começo e do fim do arquivo não se leem', { cause });
  }
}

/** Reads one record by its key; undefined if the file has none. */
export async function findRegistro(
  read: ReadRange,
  { cabecalho, rodape, pages }: Aberto,
  tipo: TipoDeRegistro,
  id: bigint,
): Promise<Registro | undefined> {
  const key = keyOf(tipo, id);
  let [low, high] = [0, pages.length / KEY_BYTES];
  while (low < high) {
    const middle = (low + high) >> 1;
    const first = pages.subarray(middle * KEY_BYTES, (middle + 1) * KEY_BYTES);
    if (Buffer.compare(first, key) <= 0) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return undefined;
  const from = (low - 1) * PAGE_ENTRIES;
  const count = Math.min(PAGE_ENTRIES, rodape.registros - from);
  const page = await read(rodape.indice + from * ENTRY_BYTES, count * ENTRY_BYTES);
  for (let at = 0; at < page.length; at += ENTRY_BYTES) {
    const entry = page.subarray(at, at + ENTRY_BYTES);
    if (!entry.subarray(0, KEY_BYTES).equals(key)) continue;
    return readEntry(await read(Number(entry.readBigUInt64BE(9)), entry.readUInt32BE(17)), entry, cabecalho.dicionario);
  }
  return undefined;
}

function readEntry(bytes: Buffer, entry: Buffer, dicionario: number): Registro {
  const key = entry.subarray(0, KEY_BYTES);
  const name = `${TIPOS_DE_REGISTRO[key[0]!]} ${key.readBigUInt64BE(1)}`;
  if (!hash('sha256', bytes, 'buffer').equals(entry.subarray(21))) {
    throw new ArquivoDanificado(`o registro ${name} não é o que foi escrito`);
  }
  const registro = readRegistro(bytes, dicionario);
  if (!keyOf(registro.tipo, registro.id).equals(key)) throw new ArquivoDanificado(`o registro ${name} é de outro`);
  return registro;
}

/** All records in their order, each compared with its hash. Several thousand are read at once. */
export async function* eachRegistro(read: ReadRange, { cabecalho, rodape }: Aberto): AsyncGenerator<Registro> {
  for (let from = 0; from < rodape.registros; from += PAGE_ENTRIES) {
    const count = Math.min(PAGE_ENTRIES, rodape.registros - from);
    const page = await read(rodape.indice + from * ENTRY_BYTES, count * ENTRY_BYTES);
    const entries = Array.from({ length: count }, (_, at) => page.subarray(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES));
    const start = Number(entries[0]!.readBigUInt64BE(9));
    const last = entries.at(-1)!;
    const bytes = await read(start, Number(last.readBigUInt64BE(9)) + last.readUInt32BE(17) - start);
    for (const entry of entries) {
      const at = Number(entry.readBigUInt64BE(9)) - start;
      yield readEntry(bytes.subarray(at, at + entry.readUInt32BE(17)), entry, cabecalho.dicionario);
    }
  }
}

/** SHA-256 of a whole file, read in parts. */
export async function hashOf(read: ReadRange, size: number): Promise<Buffer> {
  const sum = createHash('sha256');
  const STEP = 4 * 1024 * 1024;
  for (let at = 0; at < size; at += STEP) sum.update(await read(at, Math.min(STEP, size - at)));
  return sum.digest();
}

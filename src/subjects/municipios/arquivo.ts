/**
 * The file of a municipality: all its rows, in a form that needs no program of ours (D-436). It is a tar in zstd. The tables are PostgreSQL
 * text (tab-separated lines, with a head of names), described in JSON, with reading instructions.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { digestRows, LINE_END, type Passed, type Resumo, readResumo } from '../../base/book/linhas.ts';
import type { Tabela } from '../../base/pg/tabelas.ts';
import { BrokenTar, readTar, TAR_END, type TarEntry, tarFile } from '../../documents/tar.ts';

const FORMATO = 'nfse-municipio';
const VERSAO = 1;
/** Bytes of lines in one file of the archive: the memory holds this amount a few times. */
const PART_BYTES = 16 * 2 ** 20;
/** The same with a line that is longer than any of ours. */
const PART_BYTES_MAX = 8 * PART_BYTES;
/** Level 3 takes twice as long and 6 four times, for a file of equal size (measured on 4,000 notes). */
const LEVEL = 1;

/** The manifest of the archive, before the tables. */
export type Manifesto = {
  readonly formato: typeof FORMATO;
  readonly versao: typeof VERSAO;
  readonly municipio: string;
  readonly ambiente: string;
  readonly codigo_ibge: string | null;
  /** Whether the municipality was closed, and neither issued nor transmitted. */
  readonly fechado: boolean;
  /** Moment of the snapshot, ISO 8601. */
  readonly em: string;
  /** Migrations of the database. */
  readonly esquema: readonly string[];
  /** Months of its rows, as 202611. */
  readonly meses: readonly number[];
  /** The tables, in an order in which they can be filled. */
  readonly tabelas: readonly Tabela[];
};

export type ResumoDeTabela = Resumo & { readonly nome: string };

/** A damaged file; the message is for the operator. */
class ArquivoDanificado extends Error {}

export const manifestoOf = (about: Omit<Manifesto, 'formato' | 'versao'>): Manifesto => ({
  formato: FORMATO,
  versao: VERSAO,
  ...about,
});

const [MANIFESTO, CONFERENCIA] = ['municipio.json', 'conferencia.json'];

/** Writes a new file; returns the result of each table. `extras`: additional files, by name. */
export async function writeArquivo(
  file: string,
  manifesto: Manifesto,
  extras: ReadonlyMap<string, Uint8Array>,
  rowsOf: (tabela: Tabela) => AsyncIterable<Buffer>,
  note: Passed,
): Promise<readonly ResumoDeTabela[]> {
  const at = Date.parse(manifesto.em);
  const resumos: ResumoDeTabela[] = [];
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield* tarFile('LEIA-ME.txt', Buffer.from(LEIA_ME), at);
    for (const [name, bytes] of extras) yield* tarFile(name, bytes, at);
    yield* tarFile(MANIFESTO!, jsonOf(manifesto), at);
    for (const tabela of manifesto.tabelas) {
      const head = Buffer.from(`${tabela.colunas.map(({ nome }) => nome).join('\t')}\n`);
      const done = (resumo: Resumo): void => void resumos.push({ nome: tabela.nome, ...resumo });
      let number = 0;
      for await (const part of partsOf(digestRows(rowsOf(tabela), done, note))) {
        number += 1;
        const name = `${tabela.nome}/${String(number).padStart(6, '0')}.tsv`;
        yield* tarFile(name, Buffer.concat([head, ...part]), at);
      }
    }
    yield* tarFile(CONFERENCIA!, jsonOf({ tabelas: resumos }), at);
    yield TAR_END;
  }
  const params = { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 };
  const writing = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(Readable.from(pieces(), { objectMode: false }), createZstdCompress({ params }), writing);
  return resumos;
}

const jsonOf = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`);

/** Whole lines, some megabytes at a time. */
async function* partsOf(rows: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const piece of rows) {
    const end = length + piece.length < PART_BYTES ? 0 : piece.lastIndexOf(LINE_END) + 1;
    if (end > 0) {
      yield [...held, piece.subarray(0, end)];
      [held, length] = [[], 0];
    }
    held.push(piece.subarray(end));
    length += piece.length - end;
  }
  if (length > 0) yield held;
}

/** A file while it is read: its manifest, then its tables, each to its end, then the expected results. */
export class Arquivo {
  readonly manifesto: Manifesto;
  private readonly entries: AsyncIterator<TarEntry>;
  private next: TarEntry | undefined;
  private readonly resumos: ResumoDeTabela[] = [];
  private readonly note: Passed;

  private constructor(manifesto: Manifesto, entries: AsyncIterator<TarEntry>, note: Passed) {
    this.manifesto = manifesto;
    this.entries = entries;
    this.note = note;
  }

  /** Opens a file and hands it to `work`. Throws {@link ArquivoDanificado}. */
  static async open<Result>(file: string, work: (arquivo: Arquivo) => Promise<Result>, note: Passed): Promise<Result> {
    const source = createReadStream(file);
    const plain = source.on('error', (error) => plain.destroy(error)).pipe(createZstdDecompress());
    try {
      const entries = readTar(plain, PART_BYTES_MAX);
      return await work(new Arquivo(await readManifesto(entries), entries, note));
    } catch (error) {
      const isOf = error instanceof BrokenTar || /^(ZSTD|Z_)/.test((error as { code?: string }).code ?? '');
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Error(`o arquivo ${file} não existe.`);
      throw isOf ? new ArquivoDanificado(DANIFICADO, { cause: error }) : error;
    } finally {
      source.destroy();
      plain.destroy();
    }
  }

  /** The rows of the next table of the manifest. */
  async *rows({ nome, colunas }: Tabela): AsyncGenerator<Buffer> {
    const done = (resumo: Resumo): void => void this.resumos.push({ nome, ...resumo });
    yield* digestRows(this.parts(`${nome}/`, colunas), done, this.note);
  }

  /** Compares the results of all tables; it is called after the last table. Throws {@link ArquivoDanificado} on a difference. */
  async check(): Promise<readonly ResumoDeTabela[]> {
    if (this.next?.name !== CONFERENCIA) throw new ArquivoDanificado(DANIFICADO);
    const said = parseJson(this.next.bytes);
    needShape<Conferencia>(said, isConferencia);
    const { tabelas } = said;
    for (const [place, { nome, linhas, sha256 }] of this.resumos.entries()) {
      const said = tabelas[place];
      if (said?.nome !== nome || said.linhas !== linhas || said.sha256 !== sha256) {
        throw new ArquivoDanificado(
          `a tabela ${nome} não confere: lidas ${linhas} linhas, e o arquivo diz ${said?.linhas}. ${DANIFICADO}`,
        );
      }
    }
    if (tabelas.length !== this.resumos.length) throw new ArquivoDanificado(DANIFICADO);
    // The checksum of the stream is verified only at its end.
    if (!(await this.entries.next()).done) throw new ArquivoDanificado(DANIFICADO);
    return tabelas;
  }

  private async *parts(folder: string, colunas: Tabela['colunas']): AsyncGenerator<Buffer> {
    const head = `${colunas.map(({ nome }) => nome).join('\t')}\n`;
    for (;;) {
      const entry = this.next ?? (await this.entries.next()).value;
      this.next = entry;
      if (entry === undefined || !entry.name.startsWith(folder)) return;
      this.next = undefined;
      if (entry.bytes.toString('utf8', 0, Buffer.byteLength(head)) !== head) throw new ArquivoDanificado(DANIFICADO);
      yield entry.bytes.subarray(Buffer.byteLength(head));
    }
  }
}

/** Reads a file to its end. Throws {@link ArquivoDanificado} when its content differs from its description. */
export function checkArquivo(file: string, note: Passed): Promise<void> {
  const work = async (arquivo: Arquivo): Promise<void> => {
    for (const tabela of arquivo.manifesto.tabelas) await readResumo(arquivo.rows(tabela));
    await arquivo.check();
  };
  return Arquivo.open(file, work, note);
}

const DANIFICADO =
  'O arquivo está danificado, ou incompleto: copie-o de novo, e compare o SHA-256 (sha256sum) com o que a exportação disse.';

async function readManifesto(entries: AsyncIterator<TarEntry>): Promise<Manifesto> {
  let entry = await entries.next();
  // The entries before the manifest are for people.
  while (!entry.done && entry.value.name !== MANIFESTO) entry = await entries.next();
  const said = entry.done ? undefined : parseJson(entry.value.bytes);
  const { formato, versao } = (said ?? {}) as Partial<Record<keyof Manifesto, unknown>>;
  if (formato !== FORMATO) throw new ArquivoDanificado('não é um arquivo de nfse municipio exportar.');
  if (versao !== VERSAO) {
    throw new ArquivoDanificado(`o arquivo é da versão ${versao} do formato, que este programa não conhece.`);
  }
  needShape<Manifesto>(said, isManifesto);
  return said;
}

const LEIA_ME = `Tudo o que um serviço de NFS-e guarda de um município, tal como está no seu banco PostgreSQL.

municipio.json      de quem é, de que momento, e as tabelas: nome, colunas com o seu tipo, chave primária
TABELA/000001.tsv   as linhas de uma tabela, na ordem da chave; a primeira linha de cada arquivo tem os nomes das colunas
dicionarios/        o que é preciso para abrir documentos.pacote
conferencia.json    de cada tabela, quantas linhas são e o SHA-256 delas (todas juntas, sem as dos nomes)

Os .tsv são UTF-8, no formato de texto do COPY do PostgreSQL: colunas separadas por tabulação, \\N é nulo, e dentro de um valor \\t, \\n, \\r e \\\\
são tabulação, fim de linha, retorno e barra. Instantes estão em UTC, números têm ponto decimal, bytes são \\\\x e dois dígitos hexadecimais cada.
Com o psql: \\copy notas (id, …) from 'notas/000001.tsv' with (header)

documentos.recebido é a DPS tal como chegou; documentos.nfse, a NFS-e. Onde os dois são nulos estão juntos em documentos.pacote, em zstd com o
dicionário dicionarios/N.zstd, sendo N a coluna dicionario (zstd -d -D dicionarios/1.zstd). Aberto, ele começa por dois inteiros de quatro bytes, o
menor primeiro: o tamanho da DPS, e o lugar nela, contado do fim deles, em que falta o certificado (0: não falta). Seguem a DPS e a NFS-e. O que
falta é o certificado em base64: certificados.der, da linha em que impressao é documentos.certificado.

A coluna tenant, o endereço do município no serviço, não está nas linhas: é a mesma em todas, e está em municipio.json. Chaves privadas, senhas
e certificados de autoridades não estão aqui: são arquivos, e a tabela municipios diz os seus caminhos na máquina de onde isto veio.
`;

/** Our own output is JSON; anything else is damage. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (cause) {
    throw new ArquivoDanificado(DANIFICADO, { cause });
  }
}

/** Throws when a value has another shape than ours. */
function needShape<Shape>(value: unknown, hasShape: Check): asserts value is Shape {
  if (!hasShape(value)) throw new ArquivoDanificado(DANIFICADO);
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const listOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem);
const recordOf =
  <Of>(fields: Readonly<Record<keyof Of, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries<Check>(fields).every(([name, isSo]) => isSo((value as Readonly<Record<string, unknown>>)[name]));

const isColuna = recordOf<Tabela['colunas'][number]>({ nome: isText, tipo: isText });
const isTabela = recordOf<Tabela>({
  nome: isText,
  isOfTenant: isFlag,
  colunas: listOf(isColuna),
  chave: listOf(isColuna),
});
const isManifesto = recordOf<Manifesto>({
  formato: isText,
  versao: Number.isInteger,
  municipio: isText,
  ambiente: isText,
  codigo_ibge: (value) => value === null || isText(value),
  fechado: isFlag,
  em: isText,
  esquema: listOf(isText),
  meses: listOf(Number.isInteger),
  tabelas: listOf(isTabela),
});
type Conferencia = { readonly tabelas: readonly ResumoDeTabela[] };
const isResumo = recordOf<ResumoDeTabela>({ nome: isText, linhas: Number.isInteger, sha256: isText });
const isConferencia = recordOf<Conferencia>({ tabelas: listOf(isResumo) });

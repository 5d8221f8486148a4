/**
 * Verifies rows that are in files of the archive instead of the database against the audit chain. Each file is read once, some hundred
 * records at a time. Its rows are digested as the database would digest them.
 */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { certificateId, linhasOf, readArquivado, readCertificado } from '../../base/book/arquivo.ts';
import {
  type Aberto,
  ArquivoDanificado,
  eachRegistro,
  findRegistro,
  hashOf,
  type Linha,
  openArquivo,
  type ReadRange,
} from '../../base/book/arquivo-formato.ts';
import type { ArquivoLugar } from '../../base/book/arquivo-lugar.ts';
import { digestOf } from '../../base/book/auditoria-hash.ts';
import { AUDITADAS, folhaOf, itemOf, textoOf, type Vista } from '../../base/book/auditoria-tabelas.ts';
import { partesOf } from '../../base/book/documentos.ts';
import { openPacote } from '../../base/book/pacote.ts';
import type { Db } from '../../base/pg/open.ts';
import type { ClientBase } from '../../base/pg/pg.ts';
import { NAMES } from '../guarda/arquivo-registros.rows.ts';

/** A file with the rows of a month. `linhas`: the number of rows that the chain recorded for it. */
export type ArquivoLido = {
  readonly nome: string;
  readonly linhas: number;
  /** The reason why it was not read to its end, in Portuguese. */
  readonly problema: string | undefined;
  /** The content differs from the written one; otherwise the file could not be reached. */
  readonly isDanificado: boolean;
  readonly isAusente: boolean;
};

/** Receives the content of a file. `damaged`: documents that cannot be taken out of their pack. */
export type Leitor = {
  readonly found: (item: string, resumo: string) => Promise<void> | undefined;
  /** A row of a file that is older than the chain, which may record only the file as a whole. */
  readonly older: (item: string, resumo: string) => Promise<void> | undefined;
  /** A note that was held when it was issued. */
  readonly held: (nota: string, mes: string) => Promise<void> | undefined;
  readonly damaged: (item: string) => void;
  readonly passed: (linhas: number) => void;
};

type Conhecido = {
  readonly nome: string;
  readonly mes: number;
  readonly bytes: number;
  readonly linhas: Readonly<Record<string, number>>;
  readonly sha256: Buffer;
  /** The file was written before the chain had recorded all rows of the database. */
  readonly isOlder: boolean;
};

/** The current file of each month that is in the archive. */
const ARQUIVADOS = `select distinct on (a.mes) a.nome, a.mes, a.bytes::float8 as bytes, a.linhas, a.sha256,
    coalesce(a.criado_em < (select e.aberta_em from auditoria_ate e where e.tenant = $1), true) as "isOlder"
  from arquivos a join meses m on m.mes = a.mes and m.arquivado_em is not null
  where a.tenant = $1 and a.pronto_em is not null order by a.mes, a.geracao desc`;

/** Rows that may be missing in the database because the file that has them was not read, by `table month`. */
export type NaoLidas = Map<string, { left: number }>;

/** Reads all files of a tenant. `lugar` undefined: the place of the archive is unknown, and no file is read. */
export async function readArquivos(
  client: Pick<ClientBase, 'query'>,
  tenant: string,
  lugar: ArquivoLugar | undefined,
  leitor: Leitor,
): Promise<{ readonly arquivos: readonly ArquivoLido[]; readonly naoLidas: NaoLidas }> {
  const { rows } = await client.query<Conhecido>(ARQUIVADOS, [tenant]);
  const arquivos: ArquivoLido[] = [];
  const naoLidas: NaoLidas = new Map();
  for (const one of rows) {
    const lido = await readOne(one, lugar, leitor);
    arquivos.push(lido);
    if (lido.problema === undefined) continue;
    // This month has one finding, and not one for each of its rows.
    for (const [tabela, left] of Object.entries(one.linhas)) naoLidas.set(`${tabela} ${one.mes}`, { left });
  }
  return { arquivos, naoLidas };
}

async function readOne(
  { nome, bytes, sha256, isOlder }: Conhecido,
  lugar: ArquivoLugar | undefined,
  { found, older, held, damaged, passed }: Leitor,
): Promise<ArquivoLido> {
  const tell = { found: isOlder ? older : found, held, damaged };
  let linhas = 0;
  const ended = (problema?: string, more: Partial<ArquivoLido> = {}): ArquivoLido => {
    return { nome, linhas, problema, isDanificado: false, isAusente: false, ...more };
  };
  if (lugar === undefined) return ended('NFSE_ARQUIVO não diz onde está o arquivo');
  try {
    const size = await lugar.sizeOf(nome);
    if (size === undefined) return ended(`não está em ${lugar.lugar}`, { isAusente: true });
    if (size !== bytes) return ended(`tem ${size} bytes em vez de ${bytes}`, { isDanificado: true });
    await lugar.reading(nome, async (read) => {
      if (isOlder && !(await hashOf(read, size)).equals(sha256)) throw new ArquivoDanificado(ANOTHER);
      const aberto = await openArquivo(read, size);
      const certificados = certificatesOf(read, aberto);
      for await (const registro of eachRegistro(read, aberto)) {
        for (const vista of Object.keys(registro.linhas).filter(isVista)) {
          for (const linha of linhasOf(registro, vista)) {
            await tellLinha(vista, linha, certificados, tell);
            linhas += 1;
          }
        }
        passed(linhas);
      }
    });
    return ended();
  } catch (error) {
    const isDanificado = error instanceof ArquivoDanificado;
    return ended(isDanificado ? error.message : `não pôde ser lido: ${(error as Error).message}`, { isDanificado });
  }
}

function isVista(table: string): table is Vista {
  return table in AUDITADAS;
}

const ANOTHER = 'não tem o SHA-256 que foi registrado';

type Contador = Pick<Leitor, 'found' | 'held' | 'damaged'>;
type Certificados = (impressao: string) => Promise<Buffer | null>;

/** Certificates held in memory at a time: some megabytes. */
const CERTIFICATES_MAX = 1_000;

/** Certificates that were left out of compressed documents and stand at the end of the file. */
function certificatesOf(read: ReadRange, aberto: Aberto): Certificados {
  const known = new Map<string, Buffer | null>();
  return async (hex) => {
    const before = known.get(hex);
    if (before !== undefined) return before;
    const print = Buffer.from(hex, 'hex');
    const registro = await findRegistro(read, aberto, 'certificado', certificateId(print));
    const der = linhasOf(registro, 'certificados')[0]?.bytes['der'];
    const own = der !== undefined && hash('sha256', der, 'buffer').equals(print) ? der : null;
    if (known.size >= CERTIFICATES_MAX) known.clear();
    known.set(hex, own);
    return own;
  };
}

async function tellLinha(vista: Vista, linha: Linha, certificados: Certificados, leitor: Contador): Promise<void> {
  const chave = chaveOf(vista, linha);
  const valores = await readValores(vista, linha, certificados);
  if (valores === undefined) leitor.damaged(itemOf(vista, chave));
  const { item, resumo } =
    valores === undefined ? { item: itemOf(vista, chave), resumo: '' } : folhaOf(vista, chave, valores);
  await leitor.found(item, resumo);
  const isHeld = vista === 'trilha_notas' && valores?.['movimento'] === '1' && valores['para'] === 'retida';
  if (isHeld) await leitor.held(chave[0]!, chave[1]!);
}

/** Answers as `readTexto` (auditoria-linhas.ts) does, for a row of a month in the archive. Only one record of its file is read. */
export async function readTextoArquivado(
  pool: Db,
  tenant: string,
  vista: Vista,
  chave: readonly string[],
): Promise<string | undefined> {
  const { familia } = AUDITADAS[vista];
  if (familia === undefined || !NAMES.includes(vista)) return undefined;
  // The keys begin with the id of the parent object and its month.
  const [id, mes] = [chave[0]!, Number(chave[1])];
  const registro = await readArquivado(pool, tenant, familia, { id, mes });
  const linha = linhasOf(registro, vista).find((one) => isDeepStrictEqual(chaveOf(vista, one), chave));
  if (linha === undefined) return undefined;
  const certificado: Certificados = (hex) => readCertificado(pool, tenant, mes, `\\x${hex}`);
  const valores = await readValores(vista, linha, certificado);
  return valores && textoOf(vista, valores);
}

type Valores = Readonly<Record<string, string | undefined>>;

/** The key's columns as text, in the order of the key. */
function chaveOf(vista: Vista, { colunas }: Linha): readonly string[] {
  return AUDITADAS[vista].chave.map((column) => String(colunas[column] ?? ''));
}

/** The values of a row that the chain records; undefined: its documents cannot be taken out of their pack. */
async function readValores(vista: Vista, linha: Linha, certificados: Certificados): Promise<Valores | undefined> {
  const plain = valoresOf(vista, linha);
  if (linha.bytes['pacote'] === undefined) return plain;
  const documents = await openDocuments(linha, certificados);
  return documents && { ...plain, ...documents };
}

/** The columns that the chain records, in the form in which it writes them. */
function valoresOf(vista: Vista, { colunas, bytes }: Linha): Valores {
  const valores: Record<string, string | undefined> = {};
  for (const { nome, forma } of AUDITADAS[vista].colunas) {
    const value = colunas[nome];
    const document = bytes[nome];
    if (forma === 'bytes') valores[nome] = document && digestOf(document);
    else if (value !== null && value !== undefined) {
      valores[nome] = forma === 'momento' ? microsecondsOf(String(value)) : String(value);
    }
  }
  return valores;
}

/** Digests of the documents of a pack; undefined: they cannot be unpacked, or differ from the text that searches use. */
async function openDocuments({ colunas, bytes }: Linha, certificados: Certificados): Promise<Valores | undefined> {
  const { certificado, dicionario, partes } = colunas;
  const der = typeof certificado === 'string' ? await certificados(certificado.slice(2)) : null;
  try {
    const { received, nfse } = openPacote(bytes['pacote']!, Number(dicionario));
    if (typeof partes === 'string' && partesOf(nfse.toString()) !== partes) return undefined;
    // A whole document beside the pack would be read in its place.
    if (bytes['recebido'] !== undefined || bytes['nfse'] !== undefined) return undefined;
    return { recebido: digestOf(received(der)), nfse: digestOf(nfse) };
  } catch {
    return undefined;
  }
}

const MOMENT = /^(.{19})(?:\.(\d{1,6}))?(Z|[+-]\d\d(?::?\d\d)?)$/;

/** A moment in PostgreSQL's JSON format, in microseconds since 1970. */
function microsecondsOf(text: string): string {
  const [, second, fraction = '', zone] = MOMENT.exec(text) ?? [];
  const whole = Date.parse(`${second}${zone?.length === 3 ? `${zone}:00` : zone}`);
  // The text is no moment, so it equals no moment of an entry.
  if (Number.isNaN(whole)) return text;
  return String(BigInt(whole) * 1_000n + BigInt(fraction.padEnd(6, '0')));
}

/**
 * Rows that stand in files of the archive instead of the database, as the audit chain tells them: each file is read once, some hundred
 * records at a time, and its rows are digested as the database would digest them (D-687).
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
import { AUDITADAS, type Auditada, folhaOf, itemOf, textoOf, type Vista } from '../../base/book/auditoria-tabelas.ts';
import { partesOf } from '../../base/book/documentos.ts';
import { openPacote } from '../../base/book/pacote.ts';
import type { Db } from '../../base/pg/open.ts';
import type { ClientBase } from '../../base/pg/pg.ts';
import { NAMES } from '../guarda/arquivo-registros.rows.ts';

/** A file that has the rows of a month. `linhas`: of how many it was told. */
export type ArquivoLido = {
  readonly nome: string;
  readonly linhas: number;
  /** Why it was not read to its end, in Portuguese. */
  readonly problema: string | undefined;
  /** It is not what was written; otherwise it could not be reached. */
  readonly isDanificado: boolean;
  /** It is not in the archive. */
  readonly isAusente: boolean;
};

/** What is done with what a file says. `damaged`: documents that do not come out of their pack. */
export type Leitor = {
  readonly found: (item: string, resumo: string) => Promise<void> | undefined;
  /** Of a file from before the chain: only what it says of the file as a whole can be compared. */
  readonly older: (item: string, resumo: string) => Promise<void> | undefined;
  /** A note that was held as it was issued. */
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
  /** It was written before all rows of the database had been told. */
  readonly isOlder: boolean;
};

/** The file that counts of each month that is in the archive. */
const ARQUIVADOS = `select distinct on (a.mes) a.nome, a.mes, a.bytes::float8 as bytes, a.linhas, a.sha256,
    coalesce(a.criado_em < (select e.aberta_em from auditoria_ate e where e.tenant = $1), true) as "isOlder"
  from arquivos a join meses m on m.mes = a.mes and m.arquivado_em is not null
  where a.tenant = $1 and a.pronto_em is not null order by a.mes, a.geracao desc`;

/** What may be missing in the database of a table and month, since the file that has it was not read: by `table month`. */
export type NaoLidas = Map<string, { left: number }>;

/** Reads all files of a tenant. `lugar` undefined: nobody has said where the archive is, and none is read. */
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

/** Held at a time: some megabytes. */
const CERTIFICATES_MAX = 1_000;

/** Those that documents were compressed without, which stand at the end of the file. */
function certificatesOf(read: ReadRange, aberto: Aberto): Certificados {
  const known = new Map<string, Buffer | null>();
  return async (hex) => {
    const before = known.get(hex);
    if (before !== undefined) return before;
    const print = Buffer.from(hex, 'hex');
    const registro = await findRegistro(read, aberto, 'certificado', certificateId(print));
    const der = linhasOf(registro, 'certificados')[0]?.bytes.der;
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
  const isHeld = vista === 'trilha_notas' && valores?.movimento === '1' && valores.para === 'retida';
  if (isHeld) await leitor.held(chave[0]!, chave[1]!);
}

/** As `readTexto` (auditoria-linhas.ts) answers, of a row of a month in the archive: of its file one record is read, and no other. */
export async function readTextoArquivado(
  pool: Db,
  tenant: string,
  vista: Vista,
  chave: readonly string[],
): Promise<string | undefined> {
  const { familia } = AUDITADAS[vista] as Auditada;
  if (familia === undefined || !NAMES.includes(vista)) return undefined;
  // Their keys begin with what they are of, and its month.
  const [id, mes] = [chave[0]!, Number(chave[1])];
  const registro = await readArquivado(pool, tenant, familia, { id, mes });
  const linha = linhasOf(registro, vista).find((one) => isDeepStrictEqual(chaveOf(vista, one), chave));
  if (linha === undefined) return undefined;
  const certificado: Certificados = (hex) => readCertificado(pool, tenant, mes, `\\x${hex}`);
  const valores = await readValores(vista, linha, certificado);
  return valores && textoOf(vista, valores);
}

type Valores = Readonly<Record<string, string | undefined>>;

/** As text, in the order of the key. */
function chaveOf(vista: Vista, { colunas }: Linha): readonly string[] {
  return (AUDITADAS[vista] as Auditada).chave.map((column) => String(colunas[column] ?? ''));
}

/** What the chain tells of a row; undefined: its documents do not come out of their pack. */
async function readValores(vista: Vista, linha: Linha, certificados: Certificados): Promise<Valores | undefined> {
  const plain = valoresOf(vista, linha);
  if (linha.bytes.pacote === undefined) return plain;
  const documents = await openDocuments(linha, certificados);
  return documents && { ...plain, ...documents };
}

/** The columns that the chain tells, as it writes them. */
function valoresOf(vista: Vista, { colunas, bytes }: Linha): Valores {
  const valores: Record<string, string | undefined> = {};
  for (const { nome, forma } of (AUDITADAS[vista] as Auditada).colunas) {
    const value = colunas[nome];
    const document = bytes[nome];
    if (forma === 'bytes') valores[nome] = document && digestOf(document);
    else if (value !== null && value !== undefined) {
      valores[nome] = forma === 'momento' ? microsecondsOf(String(value)) : String(value);
    }
  }
  return valores;
}

/** The documents of a pack by their digests; undefined: they do not come out of it, or are not what a search looks in. */
async function openDocuments({ colunas, bytes }: Linha, certificados: Certificados): Promise<Valores | undefined> {
  const { certificado, dicionario, partes } = colunas;
  const der = typeof certificado === 'string' ? await certificados(certificado.slice(2)) : null;
  try {
    const { received, nfse } = openPacote(bytes.pacote!, Number(dicionario));
    if (typeof partes === 'string' && partesOf(nfse.toString()) !== partes) return undefined;
    // A whole document beside the pack would be read in its place.
    if (bytes.recebido !== undefined || bytes.nfse !== undefined) return undefined;
    return { recebido: digestOf(received(der)), nfse: digestOf(nfse) };
  } catch {
    return undefined;
  }
}

const MOMENT = /^(.{19})(?:\.(\d{1,6}))?(Z|[+-]\d\d(?::?\d\d)?)$/;

/** A moment as PostgreSQL's JSON has it, in microseconds since 1970. */
function microsecondsOf(text: string): string {
  const [, second, fraction = '', zone] = MOMENT.exec(text) ?? [];
  const whole = Date.parse(`${second}${zone?.length === 3 ? `${zone}:00` : zone}`);
  // It is none, and so no moment of any entry.
  if (Number.isNaN(whole)) return text;
  return String(BigInt(whole) * 1_000n + BigInt(fraction.padEnd(6, '0')));
}

/**
 * Reads archived rows for queries: one record of the file of its month. A row that is missing in the database is looked up here. A month
 * that is still in the database costs nothing.
 */
import { hash } from 'node:crypto';
import type { Db } from '../pg/open.ts';
import { StoreUnavailable } from '../pg/unavailable.ts';
import {
  type Aberto,
  ArquivoDanificado,
  findRegistro,
  type Linha,
  openArquivo,
  type Registro,
  type TipoDeRegistro,
} from './arquivo-formato.ts';
import type { ArquivoLugar } from './arquivo-lugar.ts';
import { arquivoFolder } from './arquivo-pasta.ts';
import { arquivoBucket, type Bucket } from './arquivo-s3.ts';
import type { Ref } from './fila.ts';

const lugares = new WeakMap<Db, ArquivoLugar>();

/** Sets where the months of a pool's database are archived: a folder, by its absolute path, or a bucket. */
export function useArquivo(pool: Db, lugar: string | Bucket): void {
  lugares.set(pool, typeof lugar === 'string' ? arquivoFolder(lugar) : arquivoBucket(lugar));
}

/** Undefined if no place was set. */
export function arquivoOf(pool: Db): ArquivoLugar | undefined {
  return lugares.get(pool);
}

/** Maximum number of opened files in memory. Each keeps the first key of every index page, 40 kB for a million notes. */
const OPEN_MAX = 100;
const opened = new Map<string, Aberto>();

const LAST = `select nome, bytes from arquivos where tenant = $1 and mes = $2 and pronto_em is not null
  order by geracao desc limit 1`;

/** An archived record of this month. Undefined if the month was not archived, or has no such record. */
export async function readArquivado(
  pool: Db,
  tenant: string,
  tipo: TipoDeRegistro,
  { id, mes }: Ref,
): Promise<Registro | undefined> {
  const [last] = (await pool.query<{ nome: string; bytes: string }>(LAST, [tenant, mes])).rows;
  if (last === undefined) return undefined;
  const { nome, bytes } = last;
  const lugar = lugares.get(pool);
  if (lugar === undefined) {
    throw new StoreUnavailable('archived', `NFSE_ARQUIVO não diz onde está ${nome}: dê-a ao serviço, e reinicie-o`);
  }
  const key = `${lugar.lugar}\n${nome}`;
  try {
    return await lugar.reading(nome, async (read) => {
      const aberto = opened.get(key) ?? (await openArquivo(read, Number(bytes)));
      opened.delete(key);
      opened.set(key, aberto);
      if (opened.size > OPEN_MAX) opened.delete(opened.keys().next().value!);
      return findRegistro(read, aberto, tipo, BigInt(id));
    });
  } catch (cause) {
    if (cause instanceof ArquivoDanificado) {
      throw new Error(`o arquivo ${nome} está danificado: ${cause.message}; restaure-o de uma cópia`, { cause });
    }
    const why = (cause as Error).message;
    throw new StoreUnavailable('archived', `o arquivo ${nome} não pôde ser lido em ${lugar.lugar}: ${why}`, cause);
  }
}

/** Rows of a table in a record. */
export function linhasOf(registro: Registro | undefined, table: string): readonly Linha[] {
  return registro?.linhas[table] ?? [];
}

/** The id of a certificate in a file. The first octets of its SHA-256 are enough to tell all certificates apart. */
export function certificateId(impressao: Buffer): bigint {
  return impressao.readBigUInt64BE(0);
}

/** A certificate that was left out when the papers of a note were compressed. `impressao`: as JSON has it, `\x…`. */
export async function readCertificado(pool: Db, tenant: string, mes: number, impressao: string): Promise<Buffer> {
  const print = Buffer.from(impressao.slice(2), 'hex');
  const ref = { id: String(certificateId(print)), mes };
  const [found] = linhasOf(await readArquivado(pool, tenant, 'certificado', ref), 'certificados');
  const der = found?.bytes['der'];
  if (der === undefined || !hash('sha256', der, 'buffer').equals(print)) {
    throw new Error(`o arquivo de ${mes} de ${tenant} não tem o certificado ${print.toString('hex')}`);
  }
  return der;
}

type EventoArquivado = {
  readonly recebido: Buffer | null;
  readonly recebido_assinatura: string | null;
  readonly xml: Buffer;
};

/** The documents of an event that was archived. Throws if no archive has them. */
export async function readEventoArquivado(pool: Db, tenant: string, ref: Ref): Promise<EventoArquivado> {
  const found = await findEventoArquivado(pool, tenant, ref);
  if (found !== undefined) return found;
  throw new Error(`os documentos do evento ${ref.id} não estão no banco nem num arquivo; restaure-os de uma cópia`);
}

/** The documents of an archived event; undefined if there are none. */
export async function findEventoArquivado(pool: Db, tenant: string, ref: Ref): Promise<EventoArquivado | undefined> {
  const [found] = linhasOf(await readArquivado(pool, tenant, 'evento', ref), 'documentos_eventos');
  if (found === undefined) return undefined;
  const { xml, recebido = null } = found.bytes;
  return { recebido, recebido_assinatura: found.colunas['recebido_assinatura'] as string | null, xml: xml! };
}

/** A move as JSON has it, except for its moment. */
type Archived = Readonly<Record<'de' | 'gatilho' | 'para' | 'mensagem' | 'quem', unknown>> & {
  readonly movimento: number;
  readonly em: Date;
};

/** The moves that a note or an event had when its month was archived; empty if the month was not archived. */
export async function readTrailArquivada(
  pool: Db,
  tenant: string,
  item: 'nota' | 'evento',
  ref: Ref,
): Promise<readonly Archived[]> {
  const rows = linhasOf(await readArquivado(pool, tenant, item, ref), `trilha_${item}s`);
  return rows.map(({ colunas }) => {
    const { movimento, em, de, gatilho, para, mensagem, quem } = colunas;
    return { movimento: Number(movimento), em: new Date(String(em)), de, gatilho, para, mensagem, quem };
  });
}

/**
 * The documents of a note: the received document and the NFS-e. A new note has both whole in one row (D-890). They are compressed
 * together some days after its end (D-370). Readers get them whole in either case.
 */
import { type NotaEstado, PROVISORIOS, RASCUNHOS } from '../../fiscal/nota.ts';
import { type Db, ONE_BY_ONE, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planMonthly } from '../pg/planned.ts';
import { quoteWords, unnestRows } from '../pg/sql.ts';
import { linhasOf, readArquivado, readCertificado } from './arquivo.ts';
import type { Linha } from './arquivo-formato.ts';
import type { Ref } from './fila.ts';
import { type Certificado, DICIONARIO, holdsPapers, openPacote, type Papers, packPapers } from './pacote.ts';
import { keepCertificados } from './recepcoes.ts';

/** Columns of `documentos d`, for {@link withNfse}. */
export const NFSE = 'd.nfse, d.pacote, d.dicionario';
/** Columns of `documentos d`, for {@link withPapers}; $1 is the tenant. */
export const PAPERS = `${NFSE}, d.recebido,
  (select c.der from certificados c where c.tenant = $1 and c.impressao = d.certificado) as certificado_recebido`;
/** Columns of `notas n` and its `documentos d`, for {@link withShown}. Text is read as text, since bytes come as twice as many digits. */
export const SHOWN = `convert_from(d.nfse, 'UTF8') as nfse, d.pacote, d.dicionario,
  case when n.estado in (${quoteWords(PROVISORIOS)}) then d.recebido end as recebido,
  (select c.der from certificados c where c.tenant = $1 and c.impressao = d.certificado) as certificado_recebido`;
/** Search text of `documentos d`: the text of a note, or the excerpt that {@link partesOf} keeps of a compressed one. */
export const SEARCHED = "coalesce(d.partes, convert_from(d.nfse, 'UTF8'))";

/** A row with {@link NFSE}. */
export type NfseColumns = {
  readonly nfse: Buffer | null;
  readonly pacote: Buffer | null;
  readonly dicionario: number | null;
};
/** A row with {@link PAPERS}. */
export type PapersColumns = NfseColumns & {
  readonly recebido: Buffer | null;
  readonly certificado_recebido: Buffer | null;
};

/** A row with {@link SHOWN}. */
export type ShownColumns = Omit<PapersColumns, 'nfse'> & { readonly nfse: string | null };

/** The owner of the documents, and the database that holds them. */
type Owner = { readonly pool: Db; readonly tenant: string };

/** The row with its NFS-e. `nota`: names the note in the error about a damaged row. */
export async function withNfse<Row extends NfseColumns & Ref>(
  of: Owner,
  row: Row,
  nota: string,
): Promise<Omit<Row, keyof NfseColumns> & Pick<Papers, 'nfse'>> {
  const { nfse, pacote, dicionario, ...others } = await present(of, row, nota);
  return { ...others, nfse: nfse ?? opened(nota, () => openPacote(pacote!, dicionario!).nfse) };
}

/** The row with both documents. */
export async function withPapers<Row extends PapersColumns & Ref>(
  of: Owner,
  row: Row,
  nota: string,
): Promise<Omit<Row, keyof PapersColumns> & Papers> {
  const { nfse, recebido, pacote, dicionario, certificado_recebido, ...others } = await present(of, row, nota);
  if (nfse !== null && recebido !== null) return { ...others, nfse, recebido };
  const papers = opened(nota, (): Papers => {
    const { received, nfse: inside } = openPacote(pacote!, dicionario!);
    return { recebido: received(certificado_recebido), nfse: inside };
  });
  return { ...others, ...papers };
}

/** The shown documents of a note: the NFS-e alone if it is authorised, otherwise the received bytes as well. */
type Shown = { readonly nfse: string; readonly recebido: Buffer | null };

/** The row with the shown documents of its note. */
export async function withShown<Row extends ShownColumns & Ref & { readonly estado: NotaEstado }>(
  of: Owner,
  row: Row,
  nota: string,
): Promise<Omit<Row, keyof ShownColumns> & Shown> {
  const { nfse, pacote, dicionario, recebido, certificado_recebido, ...others } = row;
  if (nfse !== null) return { ...others, nfse, recebido };
  const ref = { id: row.id, mes: row.mes };
  const papers = await present(of, { ...ref, nfse, pacote, dicionario, recebido, certificado_recebido }, nota);
  if (!PROVISORIOS.includes(row.estado)) {
    return { ...others, nfse: (await withNfse(of, papers, nota)).nfse.toString('utf8'), recebido: null };
  }
  const both = await withPapers(of, papers, nota);
  return { ...others, nfse: both.nfse.toString('utf8'), recebido: both.recebido };
}

/** A row with its documents; they come from the file if the month was archived. */
async function present<Row extends NfseColumns & Ref>(of: Owner, row: Row, nota: string): Promise<Row> {
  if (row.nfse !== null || row.pacote !== null) return row;
  const { bytes, colunas } = await readArquivada(of, row, nota);
  const { nfse = null, recebido = null, pacote = null } = bytes;
  const { dicionario, certificado } = colunas as { dicionario: number | null; certificado: string | null };
  const { pool, tenant } = of;
  const certificado_recebido = certificado && (await readCertificado(pool, tenant, row.mes, certificado));
  return { ...row, nfse, recebido, pacote, dicionario, certificado_recebido };
}

async function readArquivada({ pool, tenant }: Owner, { id, mes }: Ref, nota: string): Promise<Linha> {
  const [found] = linhasOf(await readArquivado(pool, tenant, 'nota', { id, mes }), 'documentos');
  if (found !== undefined) return found;
  throw new Error(`os documentos da nota ${nota} não estão no banco nem num arquivo; restaure-os de uma cópia`);
}

/** The text of an archived note in which its parties are searched, as {@link SEARCHED}. */
export async function readSearched(of: Owner, ref: Ref): Promise<string> {
  const { colunas, bytes } = await readArquivada(of, ref, ref.id);
  return typeof colunas['partes'] === 'string' ? colunas['partes'] : bytes['nfse']!.toString('utf8');
}

function opened<Document>(nota: string, open: () => Document): Document {
  try {
    return open();
  } catch (cause) {
    throw new Error(`os documentos da nota ${nota} estão danificados no banco; restaure-os de uma cópia`, { cause });
  }
}

/** Notes of the sandbox are deleted and never compressed. */
const COMPRESSED_AFTER_MS = 7 * 86_400_000;
/** Notes that one transaction reads: some tens of milliseconds. */
const STEP_MAX = 100;
/** Notes compressed between two turns of the event loop. */
const PER_TURN = 20;

/** A query across tenants: months with notes older than $1 that may still have documents to compress. */
const WITH_OLD_NOTES = `select m.tenant, s.mes from municipios m cross join meses s
    left join documentos_comprimidos c on c.tenant = m.tenant and c.mes = s.mes
    where m.ambiente = 'producao' and (select n.data_emissao from notas n
      where n.tenant = m.tenant and n.mes = s.mes and n.id > coalesce(c.ate, 0) order by n.id limit 1) < $1
    order by m.tenant, s.mes`;

/** `pack`: joins and compresses both documents of a note. Documents that it cannot restore unchanged stay whole. */
export function documentoStore(pool: Db, pack: typeof packPapers = packPapers) {
  return {
    /** Compresses a part of the old documents. Returns whether there may be more. `now`: milliseconds. */
    compress: async (now: number): Promise<boolean> => {
      const before = new Date(now - COMPRESSED_AFTER_MS);
      const { rows } = await pool.query<OfMes>(WITH_OLD_NOTES, [before]);
      const failures: unknown[] = [];
      for (const ofMes of rows) {
        await runTransaction(pool, (client) => compressStep(client, ofMes, before, pack)).catch((error) => {
          failures.push(error);
        });
      }
      // An error of one tenant is thrown after all tenants had their turn.
      if (failures.length > 0) throw failures[0];
      return rows.length > 0;
    },
  };
}

type OfMes = { readonly tenant: string; readonly mes: number };

const BEGIN =
  'insert into documentos_comprimidos (tenant, mes, ate) values ($1, $2, 0) on conflict (tenant, mes) do nothing';
/** Skips the row if another process compresses notes of the tenant. */
const TAKE = 'select ate from documentos_comprimidos where tenant = $1 and mes = $2 for update skip locked';
const ADVANCE = 'update documentos_comprimidos set ate = $3 where tenant = $1 and mes = $2';
/** A note that is not at its end stays whole and is not read again, since such notes are few. */
const NEXT = `select n.id, n.data_emissao < $4 as velha, d.recebido, d.nfse
    from (select id, data_emissao, estado from notas where tenant = $1 and mes = $2 and id > $3 order by id limit ${STEP_MAX}) n
    left join lateral (select recebido, nfse from documentos where tenant = $1 and mes = $2 and nota = n.id and pacote is null
      and n.estado not in (${quoteWords(RASCUNHOS)}) limit 1) d on true order by n.id`;

type Compressed = {
  readonly id: string;
  readonly bytes: Buffer;
  readonly certificado: Certificado | undefined;
  readonly partes: string;
};

const COMPRESSED = unnestRows<Compressed>(
  [
    ['id bigint', ({ id }) => id],
    ['pacote bytea', ({ bytes }) => bytes],
    ['certificado bytea', ({ certificado }) => certificado?.impressao],
    ['partes text', ({ partes }) => partes],
  ],
  3,
);
const WRITE = planMonthly(
  'comprimir_documentos',
  `update documentos d set recebido = null, nfse = null, pacote = x.pacote, certificado = x.certificado, partes = x.partes,
      dicionario = ${DICIONARIO}
    from ${COMPRESSED.relation} ${ONE_BY_ONE} and d.tenant = $1 and d.mes = $2 and d.nota = x.id and d.pacote is null`,
);

async function compressStep(
  client: PoolClient,
  { tenant, mes }: OfMes,
  before: Date,
  pack: typeof packPapers,
): Promise<void> {
  await client.query(BEGIN, [tenant, mes]);
  const [taken] = (await client.query<{ ate: string }>(TAKE, [tenant, mes])).rows;
  if (taken === undefined) return;
  type Row = { id: string; velha: boolean; recebido: Buffer | null; nfse: Buffer | null };
  const { rows } = await client.query<Row>(NEXT, [tenant, mes, taken.ate, before]);
  const young = rows.findIndex(({ velha }) => !velha);
  const old = young < 0 ? rows : rows.slice(0, young);
  const compressed: Compressed[] = [];
  for (const { id, recebido, nfse } of old) {
    if (recebido === null || nfse === null) continue;
    const inside = compressPapers({ recebido, nfse }, pack);
    if (inside !== undefined) compressed.push({ id, ...inside });
    if (compressed.length % PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (compressed.length > 0) {
    const kept = compressed.flatMap(({ certificado }) => (certificado === undefined ? [] : [certificado]));
    const different = new Map(kept.map((one) => [one.impressao.toString('hex'), one]));
    await Promise.all(keepCertificados(client, tenant, [...different.values()]));
    await client.query(WRITE([tenant, mes, ...COMPRESSED.valuesOf(compressed)]));
  }
  const last = old.at(-1);
  if (last !== undefined) await client.query(ADVANCE, [tenant, mes, last.id]);
}

/** Both documents together; undefined if they cannot be restored unchanged. */
export function compressPapers(papers: Papers, pack: typeof packPapers = packPapers) {
  const pacote = pack(papers);
  return holdsPapers(pacote, papers) ? { ...pacote, partes: partesOf(papers.nfse.toString()) } : undefined;
}

/** Groups of a note by which notes are searched. The first elements of a group include its document and its registration. */
const PARTES = ['<toma>', '<interm>'];
const FIRST_ELEMENTS = /(?:<[A-Za-z]+>[^<]*<\/[A-Za-z]+>){0,3}/y;

export function partesOf(nfse: string): string {
  let partes = '';
  for (const start of PARTES) {
    const at = nfse.indexOf(start);
    if (at < 0) continue;
    FIRST_ELEMENTS.lastIndex = at + start.length;
    partes += start + FIRST_ELEMENTS.exec(nfse)![0];
  }
  return partes;
}

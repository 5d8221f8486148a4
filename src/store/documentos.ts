/**
 * The documents of a note: what was received, and the NFS-e. Both stand whole in their row where a note is stored, and some days after its
 * end compressed together (D-370). They leave the store whole, in whatever form they stand.
 */
import { type NotaEstado, PROVISORIOS, RASCUNHOS } from '../fiscal/nota.ts';
import { type Db, ONE_BY_ONE, runTransaction } from './open.ts';
import { type Certificado, DICIONARIO, holdsPapers, openPacote, packPapers } from './pacote.ts';
import type { PoolClient } from './pg.ts';
import { planOnce } from './planned.ts';
import { keepCertificados } from './recepcoes.ts';
import { quoteWords, unnestRows } from './sql.ts';

/** Of `documentos d`, for {@link withNfse}. */
export const NFSE = 'd.nfse, d.pacote, d.dicionario';
/** Of `documentos d`, for {@link withPapers}; $1 is the tenant. */
export const PAPERS = `${NFSE}, d.recebido,
  (select c.der from certificados c where c.tenant = $1 and c.impressao = d.certificado) as certificado_recebido`;
/** Of `notas n` and its `documentos d`, for {@link withShown}: text where it is text, since bytes come as twice as many digits. */
export const SHOWN = `convert_from(d.nfse, 'UTF8') as nfse, d.pacote, d.dicionario,
  case when n.estado in (${quoteWords(PROVISORIOS)}) then d.recebido end as recebido,
  (select c.der from certificados c where c.tenant = $1 and c.impressao = d.certificado) as certificado_recebido`;
/** Of `documentos d`: the text of a note in which its parties are searched, or of a compressed one what {@link partesOf} keeps of it. */
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

type Papers = { readonly recebido: Buffer; readonly nfse: Buffer };

/** The row with its note. `nota`: for whoever has to find the row, should it be damaged. */
export function withNfse<Row extends NfseColumns>(
  row: Row,
  nota: string,
): Omit<Row, keyof NfseColumns> & Pick<Papers, 'nfse'> {
  const { nfse, pacote, dicionario, ...others } = row;
  return { ...others, nfse: nfse ?? opened(nota, () => openPacote(pacote!, dicionario!).nfse) };
}

/** The row with both documents. */
export function withPapers<Row extends PapersColumns>(row: Row, nota: string): Omit<Row, keyof PapersColumns> & Papers {
  const { nfse, recebido, pacote, dicionario, certificado_recebido, ...others } = row;
  if (nfse !== null && recebido !== null) return { ...others, nfse, recebido };
  const papers = opened(nota, (): Papers => {
    const { received, nfse: inside } = openPacote(pacote!, dicionario!);
    return { recebido: received(certificado_recebido), nfse: inside };
  });
  return { ...others, ...papers };
}

/** What is shown of a note: of an authorised one the NFS-e, of any other the received bytes as well. */
type Shown = { readonly nfse: string; readonly recebido: Buffer | null };

/** The row with what is shown of its note. */
export function withShown<Row extends ShownColumns & { readonly estado: NotaEstado }>(
  row: Row,
  nota: string,
): Omit<Row, keyof ShownColumns> & Shown {
  const { nfse, recebido, pacote, dicionario, certificado_recebido, ...others } = row;
  if (nfse !== null) return { ...others, nfse, recebido };
  const shown = opened(nota, (): Shown => {
    const { received, nfse: inside } = openPacote(pacote!, dicionario!);
    const isShown = PROVISORIOS.includes(row.estado);
    return { recebido: isShown ? received(certificado_recebido) : null, nfse: inside.toString('utf8') };
  });
  return { ...others, ...shown };
}

function opened<Document>(nota: string, open: () => Document): Document {
  try {
    return open();
  } catch (cause) {
    throw new Error(`os documentos da nota ${nota} estão danificados no banco; restaure-os de uma cópia`, { cause });
  }
}

/** What the sandbox stores is deleted, and not compressed. */
const COMPRESSED_AFTER = "interval '7 days'";
/** Looked at in one transaction: some tens of milliseconds. */
const STEP_MAX = 100;
/** Compressed between two turns of the event loop. */
const PER_TURN = 20;

/**
 * A question asked across tenants: which have a note of that age beyond the last one that was looked at. Where notes are older than 099,
 * processes of the version before may be left, which read nothing compressed: not before as many days have gone by since then.
 */
const WITH_OLD_NOTES = `select m.tenant from municipios m
    join migracoes first on first.nome = '001-notas.sql' join migracoes own on own.nome = '099-documentos-comprimidos.sql'
      and (own.aplicada_em = first.aplicada_em or own.aplicada_em < now() - ${COMPRESSED_AFTER})
    left join documentos_comprimidos c on c.tenant = m.tenant
    where m.ambiente = 'producao' and (select n.data_emissao from notas n
      where n.tenant = m.tenant and n.id > coalesce(c.ate, 0) order by n.id limit 1) < $1::timestamptz - ${COMPRESSED_AFTER}`;

/** `pack`: how both documents of a note become one. What does not come out of it again as it was stays whole. */
export function documentoStore(pool: Db, pack: typeof packPapers = packPapers) {
  return {
    /** Compresses a part of what is old enough; whether there may be more. `now`: milliseconds. */
    compress: async (now: number): Promise<boolean> => {
      const { rows } = await pool.query<{ tenant: string }>(WITH_OLD_NOTES, [new Date(now)]);
      const failures: unknown[] = [];
      for (const { tenant } of rows) {
        await runTransaction(pool, (client) => compressStep(client, tenant, new Date(now), pack)).catch((error) => {
          failures.push(error);
        });
      }
      // One tenant's trouble is told, and is not another's.
      if (failures.length > 0) throw failures[0];
      return rows.length > 0;
    },
  };
}

const BEGIN = 'insert into documentos_comprimidos (tenant, ate) values ($1, 0) on conflict (tenant) do nothing';
/** Another process that compresses notes of the tenant is left to it. */
const TAKE = 'select ate from documentos_comprimidos where tenant = $1 for update skip locked';
const ADVANCE = 'update documentos_comprimidos set ate = $2 where tenant = $1';
/** A note that is not at its end stays as it is, and is not looked at again: there are few. */
const NEXT = `select n.id, n.data_emissao < $3::timestamptz - ${COMPRESSED_AFTER} as velha, d.recebido, d.nfse
    from (select id, data_emissao, estado from notas where tenant = $1 and id > $2 order by id limit ${STEP_MAX}) n
    left join lateral (select recebido, nfse from documentos where tenant = $1 and nota = n.id and pacote is null
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
  2,
);
const WRITE = planOnce(
  'comprimir_documentos',
  `update documentos d set recebido = null, nfse = null, pacote = x.pacote, certificado = x.certificado, partes = x.partes,
      dicionario = ${DICIONARIO}
    from ${COMPRESSED.relation} ${ONE_BY_ONE} and d.tenant = $1 and d.nota = x.id and d.pacote is null`,
);

async function compressStep(client: PoolClient, tenant: string, now: Date, pack: typeof packPapers): Promise<void> {
  await client.query(BEGIN, [tenant]);
  const [taken] = (await client.query<{ ate: string }>(TAKE, [tenant])).rows;
  if (taken === undefined) return;
  type Row = { id: string; velha: boolean; recebido: Buffer | null; nfse: Buffer | null };
  const { rows } = await client.query<Row>(NEXT, [tenant, taken.ate, now]);
  const young = rows.findIndex(({ velha }) => !velha);
  const old = young < 0 ? rows : rows.slice(0, young);
  const compressed: Compressed[] = [];
  for (const { id, recebido, nfse } of old) {
    if (recebido === null || nfse === null) continue;
    const papers = { recebido, nfse };
    const pacote = pack(papers);
    if (holdsPapers(pacote, papers)) compressed.push({ id, ...pacote, partes: partesOf(nfse.toString()) });
    if (compressed.length % PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (compressed.length > 0) {
    const kept = compressed.flatMap(({ certificado }) => (certificado === undefined ? [] : [certificado]));
    const different = new Map(kept.map((one) => [one.impressao.toString('hex'), one]));
    await Promise.all(keepCertificados(client, tenant, [...different.values()]));
    await client.query(WRITE([tenant, ...COMPRESSED.valuesOf(compressed)]));
  }
  const last = old.at(-1);
  if (last !== undefined) await client.query(ADVANCE, [tenant, last.id]);
}

/** Groups of a note by which notes are searched, each with its first elements, where its document and its registration are. */
const PARTES = ['<toma>', '<interm>'];
const FIRST_ELEMENTS = /(?:<[A-Za-z]+>[^<]*<\/[A-Za-z]+>){0,3}/y;

function partesOf(nfse: string): string {
  let partes = '';
  for (const start of PARTES) {
    const at = nfse.indexOf(start);
    if (at < 0) continue;
    FIRST_ELEMENTS.lastIndex = at + start.length;
    partes += start + FIRST_ELEMENTS.exec(nfse)![0];
  }
  return partes;
}

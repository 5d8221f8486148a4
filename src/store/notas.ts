/** The notas as they are read. How they are issued, claimed and withdrawn stands in the files beside. */
import type { NotaEstado, NotaTrigger } from '../fiscal/nota.ts';
import { batchLookups } from './batch-lookups.ts';
import { type Announce, notaClaims } from './claim-notas.ts';
import { type Step, trailReader } from './claims.ts';
import { PAPERS, type PapersColumns, withPapers, withShown } from './documentos.ts';
import { notaIssuing } from './issue-notas.ts';
import { type NotaRow, type StoredNota, selectNotas } from './nota-columns.ts';
import { nextNumbers } from './numeracao.ts';
import { type Db, ONE_BY_ONE } from './open.ts';
import { planOnce } from './planned.ts';
import { type OnStored, type Recent, recentDocuments } from './recent.ts';
import { withdrawNota } from './withdraw-nota.ts';

/** What became of a nota that others replace. */
type Substituida = {
  readonly estado: NotaEstado;
  /** Key that the event by which it was cancelled names; null where that one names none, and where there is none. */
  readonly por: string | null;
};

/** A move that a nota has made. */
export type NotaStep = Step<NotaEstado, NotaTrigger>;

/** Notas on their way. `desde`: when the oldest was issued; `proxima`: when the first is due again. Milliseconds. */
type WaitingNotas = { readonly notas: number; readonly desde: number; readonly proxima: number };

const NOTA_ID = planOnce('nota_id', 'select id from notas where tenant = $1 and chave_acesso = $2');

const SUBSTITUIDAS = planOnce(
  'substituidas',
  `select n.chave_acesso, n.estado, (select e.campos ->> 'chave_acesso_substituta' from eventos e
      where e.tenant = $1 and e.nota = n.id and e.estado = 'processado' and e.cancela limit 1) as por
    from unnest($2::text[]) as x (chave) join notas n on n.tenant = $1 and n.chave_acesso = x.chave
    where x.chave || '' = x.chave`,
);

const RECEIVED = planOnce('recebido', `select ${PAPERS} from documentos d where d.tenant = $1 and d.nota = $2`);

const HAS_DPS = planOnce('has_dps', "select 1 from notas where tenant = $1 and id_dps = $2 and estado <> 'recusada'");

const NFSE_OF = planOnce(
  'nfse_of',
  `select d.nota::text as nota, d.nfse from unnest($2::bigint[]) as x (id)
    join documentos d on d.tenant = $1 and d.nota = x.id ${ONE_BY_ONE}`,
);

/** Reads notas by a column: one statement for all who ask in the same turn. */
function notaReader(pool: Db, ...by: Parameters<typeof selectNotas>) {
  const [column] = by;
  const ask = planOnce(`notas_por_${column}`, selectNotas(...by));
  const find = batchLookups<StoredNota>(async (tenant, values) => {
    const { rows } = await pool.query<StoredNota>(ask([tenant, values]));
    return new Map(rows.map((row) => [String(row[column]), row]));
  });
  return async (tenant: string, value: string): Promise<NotaRow | undefined> => {
    const row = await find(tenant, value);
    return row && withShown(row, row.chave_acesso);
  };
}

/**
 * `onStored`: tells of every commit, for a worker elsewhere; without it the documents are kept for one of this process. `announce`: leave of
 * such a worker to announce what it is then told of.
 */
export function notaStore(pool: Db, onStored?: OnStored, announce?: Announce) {
  const recent = recentDocuments();
  const keep: OnStored = (tenant, documents) => {
    for (const [id, nfse] of documents) recent.put(tenant, id, nfse);
  };
  return {
    ...notaIssuing(pool, onStored ?? keep, announce),
    ...notaClaims(pool),
    findByChave: notaReader(pool, 'chave_acesso'),
    findByProtocolo: notaReader(pool, 'numero_protocolo'),
    findByDps: notaReader(pool, 'id_dps', "n.estado <> 'recusada'"),
    /** What the next DPS without number of a CNPJ or CPF would take, for who only asks; `serie`: of `dpsSerieOf`. */
    previewNumbers: nextNumbers.bind(null, pool),
    /** `id` of a nota, for what hangs on it. */
    findId: async (tenant: string, chave: string): Promise<string | undefined> =>
      (await pool.query<{ id: string }>(NOTA_ID([tenant, chave]))).rows[0]?.id,
    /** What became of notas that others replace, by their keys; those that are not of this service are left out. */
    findSubstituidas: async (tenant: string, chaves: readonly string[]): Promise<ReadonlyMap<string, Substituida>> => {
      const { rows } = await pool.query<Substituida & { chave_acesso: string }>(SUBSTITUIDAS([tenant, chaves]));
      return new Map(rows.map(({ chave_acesso, ...substituida }) => [chave_acesso, substituida]));
    },
    /** The received bytes of a nota, to tell whether a repeated DPS is the same document. */
    readReceived: async (tenant: string, id: bigint): Promise<Buffer | undefined> => {
      const [row] = (await pool.query<PapersColumns>(RECEIVED([tenant, id]))).rows;
      return row && withPapers(row, String(id)).recebido;
    },
    hasDps: async (tenant: string, idDps: string): Promise<boolean> =>
      (await pool.query(HAS_DPS([tenant, idDps]))).rowCount === 1,
    /** What waits for the national environment; undefined when nothing does. */
    findWaiting: async (tenant: string): Promise<WaitingNotas | undefined> => {
      // Only what is not at rest has a due date, and those rows have an index of their own.
      const text = `select count(*)::int as notas, min(data_emissao) as desde, min(due_at) as proxima
        from notas where tenant = $1 and due_at is not null`;
      const { rows } = await pool.query<{ notas: number; desde: Date; proxima: Date }>(text, [tenant]);
      const { notas, desde, proxima } = rows[0]!;
      return notas === 0 ? undefined : { notas, desde: +desde, proxima: +proxima };
    },
    /** Withdraws a nota that replaces another, was never transmitted, and that no event names: it ends like a refused one. */
    withdraw: withdrawNota.bind(null, pool),
    /** The moves of a nota, from its issuance on. */
    listTrail: trailReader<NotaStep>(pool, 'nota'),
    /** The NFS-e documents of notas that are not at their end, by id. */
    readNfse: readNfses.bind(null, pool, recent),
    keepForTransmission: keep,
  };
}

/** From the process's own memory what it has just stored, the rest from the database, as bytes and not as text. */
async function readNfses(
  pool: Db,
  recent: Recent,
  tenant: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const missing: string[] = [];
  for (const id of ids) {
    const text = recent.take(tenant, id);
    if (text === undefined) missing.push(id);
    else found.set(id, text);
  }
  if (missing.length === 0) return found;
  const query = { ...NFSE_OF([tenant, missing]), binary: true };
  const { rows } = await pool.query<{ nota: string; nfse: Buffer }>(query);
  for (const { nota, nfse } of rows) found.set(nota, nfse.toString('utf8'));
  return found;
}

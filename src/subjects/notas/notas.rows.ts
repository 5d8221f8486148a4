/** Reads the notas. The files beside it issue, claim and withdraw them. */

import { notaClaims } from '../../base/book/claim-notas.ts';
import { type Step, trailReader } from '../../base/book/claims.ts';
import { PAPERS, type PapersColumns, withPapers, withShown } from '../../base/book/documentos.ts';
import { groupByMes, type Ref } from '../../base/book/fila.ts';
import type { DpsHolder } from '../../base/book/identidades.ts';
import { type NotaRow, type StoredNota, selectNotas } from '../../base/book/nota-columns.ts';
import { nextNumbers } from '../../base/book/numeracao.ts';
import type { Recent } from '../../base/book/recent.ts';
import type { StoreSetup } from '../../base/book/store.ts';
import { batchLookups } from '../../base/pg/batch-lookups.ts';
import { type Db, ONE_BY_ONE, rowReader } from '../../base/pg/open.ts';
import { planMonthly, planOnce } from '../../base/pg/planned.ts';
import { quoteWords } from '../../base/pg/sql.ts';
import { CHAVE_LENGTH, mesOfChave, mesOfProtocolo } from '../../fiscal/chave.ts';
import { type NotaEstado, type NotaTrigger, RASCUNHOS } from '../../fiscal/nota.ts';
import { notaIssuing } from './issue.rows.ts';
import { withdrawNota } from './withdraw.rows.ts';

/** The state of a nota that others replace. */
type Substituida = {
  readonly estado: NotaEstado;
  /** The replacing key that the cancelling event names; null: the event names none, or there is no such event. */
  readonly por: string | null;
};

/** A move of a nota. */
export type NotaStep = Step<NotaEstado, NotaTrigger>;

/** Notas on their way, in milliseconds. `desde`: issue of the oldest; `proxima`: when the first is due again. */
type WaitingNotas = { readonly notas: number; readonly desde: number; readonly proxima: number };

const NOTA_ID = planMonthly('nota_id', 'select id from notas where tenant = $1 and mes = $2 and chave_acesso = $3');

const DECIDED = planMonthly(
  'notas_decididas',
  `select n.chave_acesso from unnest($3::text[]) as x (chave)
    join notas n on n.tenant = $1 and n.mes = $2 and n.chave_acesso = x.chave
  where x.chave || '' = x.chave and n.estado not in (${quoteWords(RASCUNHOS)})`,
);

const SUBSTITUIDAS = planMonthly(
  'substituidas',
  `select n.chave_acesso, n.estado, (select e.campos ->> 'chave_acesso_substituta' from eventos e
      where e.tenant = $1 and e.nota = n.id and e.estado = 'processado' and e.cancela limit 1) as por
    from unnest($3::text[]) as x (chave) join notas n on n.tenant = $1 and n.mes = $2 and n.chave_acesso = x.chave
    where x.chave || '' = x.chave`,
);

const RECEIVED = planMonthly(
  'recebido',
  `select n.id, n.mes, ${PAPERS} from notas n left join documentos d on d.tenant = $1 and d.mes = $2 and d.nota = n.id
    where n.tenant = $1 and n.mes = $2 and n.id = $3`,
);

const DPS_REF = planOnce('dps_ref', 'select nota as id, mes from identidades where tenant = $1 and id_dps = $2');

/** The notas of the lot that a request brought, independent of when they were issued. */
const OF_LOTE = `select r.nota as id, r.mes_nota as mes from lotes l join lotes_rps r on r.tenant = $1 and r.lote = l.id
  where l.tenant = $1 and l.protocolo >= $2 and l.protocolo < $3 and l.requisicao = $4::uuid and r.nota is not null`;

const NFSE_OF = planMonthly(
  'nfse_of',
  `select d.nota::text as nota, d.nfse from unnest($3::bigint[]) as x (id)
    join documentos d on d.tenant = $1 and d.mes = $2 and d.nota = x.id ${ONE_BY_ONE}`,
);

/** Reads notas by a column whose values imply their month: one statement a month for all readers of the same turn. */
function notaReader(pool: Db, column: Parameters<typeof selectNotas>[0]) {
  const ask = planMonthly(`notas_por_${column}`, selectNotas(column));
  const find = batchLookups<StoredNota>(async (key, values) => {
    const [tenant, mes] = key.split('/');
    const { rows } = await pool.query<StoredNota>(ask([tenant, mes, values]));
    return new Map(rows.map((row) => [String(row[column]), row]));
  });
  return async (tenant: string, value: string, mes: number): Promise<NotaRow | undefined> => {
    const row = await find(`${tenant}/${mes}`, value);
    return row && withShown({ pool, tenant }, row, row.chave_acesso);
  };
}

export function notaStore({ pool, recent, onStored, announce }: StoreSetup) {
  const byChave = notaReader(pool, 'chave_acesso');
  const byProtocolo = notaReader(pool, 'numero_protocolo');
  const byId = notaReader(pool, 'id');
  const refOfDps = rowReader<Ref>(pool, DPS_REF);
  return {
    ...notaIssuing(pool, onStored, announce),
    ...notaClaims(pool),
    findByChave: (tenant: string, chave: string): Promise<NotaRow | undefined> =>
      byChave(tenant, chave, mesOfChave(chave)),
    findChave: findChave.bind(null, pool),
    /** The keys of these notas that the ADN has decided, or that need no decision. */
    listDecided: async (tenant: string, chaves: readonly string[]): Promise<readonly string[]> => {
      const byMes = [...Map.groupBy(chaves, mesOfChave)];
      const found = byMes.map(([mes, some]) => pool.query<{ chave_acesso: string }>(DECIDED([tenant, mes, some])));
      return (await Promise.all(found)).flatMap(({ rows }) => rows.map(({ chave_acesso }) => chave_acesso));
    },
    findByProtocolo: (tenant: string, protocolo: string): Promise<NotaRow | undefined> =>
      byProtocolo(tenant, protocolo, mesOfProtocolo(protocolo)),
    /** `de`, `ate`: the prefixes of protocol numbers at these moments, for notes and lots; the end is excluded. */
    listByRequisicao: async (
      tenant: string,
      requisicao: string,
      { de, ate }: Readonly<Record<'de' | 'ate', string>>,
    ): Promise<readonly Ref[]> => {
      const values = [tenant, de, ate, requisicao];
      const { rows: ofLote } = await pool.query<Ref>(OF_LOTE, values);
      if (ofLote.length > 0) return ofLote;
      for (const mes of new Set([de, ate].map(mesOfProtocolo))) {
        const { rows } = await pool.query<Ref>(
          `select n.id, n.mes from notas n where n.tenant = $1 and n.mes = ${mes}
            and n.numero_protocolo >= $2 and n.numero_protocolo < $3 and n.requisicao = $4::uuid limit 1`,
          values,
        );
        if (rows.length > 0) return rows;
      }
      return [];
    },
    findByDps: async (tenant: string, idDps: string): Promise<NotaRow | undefined> => {
      const ref = await refOfDps(tenant, idDps);
      return ref && byId(tenant, ref.id, ref.mes);
    },
    /** The next automatic number of a CNPJ or CPF, as a preview that takes nothing; `serie`: from `dpsSerieOf`. */
    previewNumbers: nextNumbers.bind(null, pool),
    /** `id` of a nota, for its dependent rows. */
    findId: async (tenant: string, chave: string): Promise<string | undefined> =>
      (await pool.query<{ id: string }>(NOTA_ID([tenant, mesOfChave(chave), chave]))).rows[0]?.id,
    /** The states of notas that others replace, by key; notas of another service are left out. */
    findSubstituidas: async (tenant: string, chaves: readonly string[]): Promise<ReadonlyMap<string, Substituida>> => {
      type Row = Substituida & { chave_acesso: string };
      const ofMonths = [...Map.groupBy(chaves, mesOfChave)].map(([mes, some]) =>
        pool.query<Row>(SUBSTITUIDAS([tenant, mes, some])),
      );
      const rows = (await Promise.all(ofMonths)).flatMap((one) => one.rows);
      return new Map(rows.map(({ chave_acesso, ...substituida }) => [chave_acesso, substituida]));
    },
    /** The received bytes of a nota, which show whether a repeated DPS is the same document. */
    readReceived: async (tenant: string, { id, mes }: Pick<DpsHolder, 'id' | 'mes'>): Promise<Buffer | undefined> => {
      const [row] = (await pool.query<PapersColumns & Ref>(RECEIVED([tenant, mes, id]))).rows;
      return row && (await withPapers({ pool, tenant }, row, row.id)).recebido;
    },
    hasDps: async (tenant: string, idDps: string): Promise<boolean> => (await refOfDps(tenant, idDps)) !== undefined,
    /** The notas that wait for the national environment; undefined: there are none. */
    findWaiting: async (tenant: string): Promise<WaitingNotas | undefined> => {
      const text = `select count(*)::int as notas, min(n.data_emissao) as desde, min(f.due_at) as proxima
        from fila f join notas n on n.tenant = $1 and n.mes = f.mes and n.id = f.id where f.tenant = $1 and f.tipo = 'nota'`;
      const { rows } = await pool.query<{ notas: number; desde: Date; proxima: Date }>(text, [tenant]);
      const { notas, desde, proxima } = rows[0]!;
      return notas === 0 ? undefined : { notas, desde: +desde, proxima: +proxima };
    },
    /** Withdraws a substitute that was never transmitted and that no event names: it ends like a refused nota. */
    withdraw: withdrawNota.bind(null, pool),
    /** The moves of a nota, from its issuance on. */
    listTrail: trailReader<NotaStep>(pool, 'nota'),
    /** The NFS-e documents of notas that are not in a final state, by id. */
    readNfse: readNfses.bind(null, pool, recent),
    keepForTransmission: recent.keep,
  };
}

/** The key, one at most, that begins so, of a nota with this value, a decimal text. Digits alone follow, which every collation sorts alike. */
async function findChave(pool: Db, tenant: string, prefix: string, valor: string): Promise<string | undefined> {
  const text = `select n.chave_acesso from notas n where n.tenant = $1 and n.chave_acesso between $2 and $3
    and n.valor_servico = $4::numeric limit 1`;
  const [from, to] = ['0', '9'].map((digit) => prefix.padEnd(CHAVE_LENGTH, digit));
  return (await pool.query<{ chave_acesso: string }>(text, [tenant, from, to, valor])).rows[0]?.chave_acesso;
}

/** Recently stored documents come from the memory of the process, the others from the database as bytes. */
async function readNfses(
  pool: Db,
  recent: Recent,
  tenant: string,
  notas: readonly Ref[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const missing: Ref[] = [];
  for (const nota of notas) {
    const text = recent.take(tenant, nota.id);
    if (text === undefined) missing.push(nota);
    else found.set(nota.id, text);
  }
  const read = async (mes: number, some: readonly Ref[]): Promise<void> => {
    const query = { ...NFSE_OF([tenant, mes, some.map(({ id }) => id)]), binary: true };
    const { rows } = await pool.query<{ nota: string; nfse: Buffer }>(query);
    for (const { nota, nfse } of rows) found.set(nota, nfse.toString('utf8'));
  };
  await Promise.all([...groupByMes(missing)].map(([mes, some]) => read(mes, some)));
  return found;
}

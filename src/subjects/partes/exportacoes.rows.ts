/**
 * Exports of the notes of a CNPJ or CPF to a file. The row is the job, and each part is committed with the cursor of the next one. Any
 * process may make a missing part.
 */

import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';

export const FORMATOS_EXPORTACAO = ['xml', 'pdf', 'csv'] as const;
export type FormatoExportacao = (typeof FORMATOS_EXPORTACAO)[number];
export const ESTADOS_EXPORTACAO = ['em_andamento', 'pronta', 'falhou'] as const;

/** Moments in milliseconds. `pedida`: the filters of the notes, by field. */
export type NovaExportacao = {
  readonly id: string;
  readonly documento: string;
  readonly formato: FormatoExportacao;
  readonly pedida: Readonly<Record<string, string>>;
  readonly criadaEm: number;
  readonly expiraEm: number;
};

export type ExportacaoRow = {
  readonly id: string;
  readonly documento: string;
  readonly formato: FormatoExportacao;
  readonly pedida: Readonly<Record<string, string>>;
  readonly estado: (typeof ESTADOS_EXPORTACAO)[number];
  readonly criada_em: Date;
  readonly pronta_em: Date | null;
  readonly expira_em: Date;
  /** Attempts at the next part. */
  readonly tentativas: number;
  readonly cursor: string | null;
  readonly partes: number;
  readonly notas: number;
  readonly entradas: number;
  readonly bytes: number;
  readonly diretorio: number;
  readonly motivo: string | null;
};

/** A finished part. `seguinte`: the cursor of the next part; undefined: there are no more notes. */
export type Parte = {
  readonly conteudo: Buffer;
  readonly diretorio: Buffer;
  readonly entradas: number;
  readonly notas: number;
  /** Notes without a file, a line each. */
  readonly fora: readonly string[];
  readonly seguinte: string | undefined;
};

const COLUMNS = `x.id, x.documento, x.formato, x.pedida, x.estado, x.criada_em, x.pronta_em, x.expira_em, x.tentativas, x.cursor, x.partes,
  x.notas, x.entradas, x.bytes::float8 as bytes, x.diretorio::float8 as diretorio, x.motivo`;

const INSERT = insertRows<NovaExportacao>(
  'insert_exportacao',
  'exportacoes',
  [
    ['id text', ({ id }) => id],
    ['documento text', ({ documento }) => documento],
    ['formato text', ({ formato }) => formato],
    ['pedida jsonb', ({ pedida }) => pedida],
    ['estado text', () => 'em_andamento'],
    ['criada_em timestamptz', ({ criadaEm }) => new Date(criadaEm).toISOString()],
    ['expira_em timestamptz', ({ expiraEm }) => new Date(expiraEm).toISOString()],
    ['due_at timestamptz', ({ criadaEm }) => new Date(criadaEm).toISOString()],
  ],
  "on conflict (tenant, documento) where estado = 'em_andamento' do nothing",
);

/** The oldest exports expire early to make room for the new one. */
const MAKE_ROOM = `update exportacoes set expira_em = $3, due_at = $3 where tenant = $1 and estado <> 'em_andamento' and id = any (array(
    select id from exportacoes where tenant = $1 and documento = $2 and expira_em > $3 order by criada_em desc, id offset $4))`;
const LIST = `select ${COLUMNS} from exportacoes x where x.tenant = $1 and x.documento = $2 and x.expira_em > $3
  order by x.criada_em desc, x.id`;
const FIND = `select ${COLUMNS} from exportacoes x where x.tenant = $1 and x.id = $2 and x.documento = $3 and x.expira_em > $4`;
const TAKE = `with due as (
    select id from exportacoes x where x.tenant = $1 and x.due_at <= $2
      and exists (select 1 from municipios m where m.tenant = $1 and not m.fechado)
    order by x.due_at limit 1 for update skip locked
  )
  update exportacoes x set claims = $3, due_at = $4, tentativas = x.tentativas + 1 from due where x.tenant = $1 and x.id = due.id
  returning ${COLUMNS}`;
const HOLD = 'select 1 from exportacoes where tenant = $1 and id = $2 and claims = $3 for update';
const ADD_PART = `insert into exportacoes_partes (tenant, exportacao, parte, conteudo, diretorio, fora)
  values ($1, $2, $3, $4, $5, $6)`;
const ADVANCE = `update exportacoes set claims = null, tentativas = 0, partes = $3, cursor = $4, due_at = $5, notas = notas + $6,
    entradas = entradas + $7, bytes = bytes + $8, diretorio = diretorio + $9, estado = $10, pronta_em = $11, expira_em = coalesce($12, expira_em)
  where tenant = $1 and id = $2`;
const FAIL = `update exportacoes set claims = null, estado = 'falhou', motivo = $3, due_at = $4 where tenant = $1 and id = $2`;
const DISCARD = `delete from exportacoes_partes where tenant = $1 and exportacao = $2 and parte = any (array(
    select parte from exportacoes_partes where tenant = $1 and exportacao = $2 order by parte limit $3))`;
const REMOVE = 'delete from exportacoes where tenant = $1 and id = $2';
const REST = 'update exportacoes set claims = null, tentativas = 0, due_at = $3 where tenant = $1 and id = $2';
const READ = {
  conteudo: `select substring(conteudo from $4::int for $5::int) as pedaco from exportacoes_partes
    where tenant = $1 and exportacao = $2 and parte = $3`,
  diretorio: `select substring(diretorio from $4::int for $5::int) as pedaco from exportacoes_partes
    where tenant = $1 and exportacao = $2 and parte = $3`,
} as const;
/** Sizes that are known without reading the bytes. */
const LENGTHS = `select parte, octet_length(conteudo) as conteudo, octet_length(diretorio) as diretorio
  from exportacoes_partes where tenant = $1 and exportacao = $2 order by parte`;
type Lengths = { readonly parte: number; readonly conteudo: number; readonly diretorio: number };
const FORA = `select fora from exportacoes_partes where tenant = $1 and exportacao = $2 and fora <> '' order by parte limit $3`;

/** Parts that are deleted in one transaction; each has megabytes. */
const DISCARD_STEP = 20;
/** Bytes per read. */
const PIECE_BYTES = 512 * 1024;
/** Parts whose lines about notes without a file are listed. */
const FORA_PARTES = 200;

/** The state after a part: more parts follow, or the file is ready until `prontaAte` (milliseconds). */
export type Depois = { readonly now: number; readonly prontaAte: number | undefined };

export function exportacaoStore(pool: Db) {
  const hold = <Result>(tenant: string, id: string, token: string, work: (client: PoolClient) => Promise<Result>) =>
    runTransaction(pool, async (client) => {
      const isOurs = (await client.query(HOLD, [tenant, id, token])).rowCount === 1;
      return isOurs ? work(client) : undefined;
    });
  return {
    /** False: another export of the same document is in progress. `kept`: exports kept per document, the new one included. */
    insert: (tenant: string, nova: NovaExportacao, kept: number): Promise<boolean> =>
      runTransaction(pool, async (client) => {
        if ((await client.query(INSERT(tenant, [nova]))).rowCount === 0) return false;
        await client.query(MAKE_ROOM, [tenant, nova.documento, new Date(nova.criadaEm), kept]);
        return true;
      }),
    /** The exports of a document that have not expired, the newest first. */
    list: async (tenant: string, documento: string, now: number): Promise<readonly ExportacaoRow[]> =>
      (await pool.query<ExportacaoRow>(LIST, [tenant, documento, new Date(now)])).rows,
    find: async (tenant: string, id: string, documento: string, now: number): Promise<ExportacaoRow | undefined> =>
      (await pool.query<ExportacaoRow>(FIND, [tenant, id, documento, new Date(now)])).rows[0],
    /** Claims an export that is due, under a token, until a moment (milliseconds). */
    take: async (
      tenant: string,
      { now, until, token }: { readonly now: number; readonly until: number; readonly token: string },
    ): Promise<ExportacaoRow | undefined> =>
      (await pool.query<ExportacaoRow>(TAKE, [tenant, new Date(now), token, new Date(until)])).rows[0],
    /** Writes the next part and the cursor after it. Undefined: another process has claimed the export. */
    addPart: (tenant: string, { id, partes }: ExportacaoRow, token: string, parte: Parte, { now, prontaAte }: Depois) =>
      hold(tenant, id, token, async (client) => {
        const { conteudo, diretorio, fora, entradas, notas, seguinte } = parte;
        await client.query(ADD_PART, [tenant, id, partes + 1, conteudo, diretorio, fora.join('\n')]);
        const ends = prontaAte === undefined ? null : new Date(prontaAte);
        const progress = [notas, entradas, conteudo.length, diretorio.length];
        const end = ends === null ? ['em_andamento', null, null] : ['pronta', new Date(now), ends];
        await client.query(ADVANCE, [
          tenant,
          id,
          partes + 1,
          seguinte ?? null,
          ends ?? new Date(now),
          ...progress,
          ...end,
        ]);
        return true;
      }),
    /** Ends an export as failed, with a reason that its owner reads. */
    fail: (tenant: string, id: string, token: string, motivo: string, now: number) =>
      hold(tenant, id, token, async (client) => {
        await client.query(FAIL, [tenant, id, motivo, new Date(now)]);
        return true;
      }),
    /** Deletes some parts of an ended export, and at last its row once it has expired; true: more may remain. */
    discard: (tenant: string, { id, expira_em }: ExportacaoRow, token: string, now: number) =>
      hold(tenant, id, token, async (client) => {
        const { rowCount } = await client.query(DISCARD, [tenant, id, DISCARD_STEP]);
        const isMore = rowCount === DISCARD_STEP;
        if (isMore) await client.query(REST, [tenant, id, new Date(now)]);
        else if (+expira_em <= now) await client.query(REMOVE, [tenant, id]);
        else await client.query(REST, [tenant, id, expira_em]);
        return isMore;
      }),
    /** Lines about the notes without a file, from the parts so far. */
    listFora: async (tenant: string, id: string): Promise<readonly string[]> => {
      const { rows } = await pool.query<{ fora: string }>(FORA, [tenant, id, FORA_PARTES]);
      return rows.flatMap(({ fora }) => fora.split('\n'));
    },
    read: readParts.bind(null, pool),
  };
}

/** The bytes of one column of all parts from a place to the end before another, piece by piece. It throws when a part is missing. */
async function* readParts(
  pool: Db,
  tenant: string,
  { id, partes }: Pick<ExportacaoRow, 'id' | 'partes'>,
  column: keyof typeof READ,
  first: number,
  end: number,
): AsyncGenerator<Buffer> {
  if (end <= Math.max(0, first)) return;
  const { rows } = await pool.query<Lengths>(LENGTHS, [tenant, id]);
  let place = 0;
  for (let parte = 1; parte <= partes; parte += 1) {
    const length = rows[parte - 1]?.parte === parte ? rows[parte - 1]![column] : undefined;
    if (length === undefined) throw new Error(`a exportação ${id} já não tem a parte ${parte}`);
    const last = Math.min(length, end - place);
    for (let from = Math.max(0, first - place); from < last; from += PIECE_BYTES) {
      const asked = [tenant, id, parte, from + 1, Math.min(PIECE_BYTES, last - from)];
      const [row] = (await pool.query<{ pedaco: Buffer }>(READ[column], asked)).rows;
      if (row === undefined) throw new Error(`a exportação ${id} já não tem a parte ${parte}`);
      yield row.pedaco;
    }
    place += length;
  }
}

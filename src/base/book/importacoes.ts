/** Imports of registers, and undoing the last one. Every changed row is kept as it was before and after the import. */

import { insertRows } from '../pg/mergeable.ts';
import { type Db, dropNul, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { mayTakeLong } from '../pg/watch.ts';
import { insertAtos, type NovoAto } from './atos.ts';
import { folhasApagadas, insertEntrada, insertRegistradas, takeAway } from './auditoria-entradas.ts';
import type { Vista } from './auditoria-tabelas.ts';

/** Lock of a writer of a register. Issuing goes on, since a note takes a weaker lock on the row. `$1` is the tenant. */
export const LOCK_REGISTRY = 'select 1 from municipios where tenant = $1 for no key update';

/** An import that is being written. `registro`: which register; `em`: milliseconds. */
export type Importacao = Pick<NovoAto, 'quem' | 'via' | 'em'> & {
  /** UUID. */
  readonly id: string;
  readonly registro: string;
  /** Name of the file. */
  readonly arquivo: string;
};

export type ImportacaoFeita = {
  readonly id: string;
  readonly em: Date;
  readonly arquivo: string;
  readonly quem: string;
};

/** A table of a register and the key of its rows. Periods do not overlap if the key contains `inicio`. */
export type RegisterTable = { readonly table: Vista; readonly key: readonly string[] };

/** `mudadas`: keys of rows that were changed since the import, so that nothing was undone. */
export type Desfeita = { readonly linhas: number } | { readonly mudadas: readonly string[] } | 'nenhuma';

/** Makes a change of a register, shows the connection on which it stands to `look`, and undoes it. Registers are locked meanwhile. */
export function probeChange<Seen>(
  pool: Db,
  tenant: string,
  change: (client: PoolClient) => Promise<unknown>,
  look: (client: PoolClient) => Promise<Seen>,
): Promise<Seen> {
  return runTransaction(
    pool,
    async (client) => {
      mayTakeLong(client);
      await client.query(LOCK_REGISTRY, [tenant]);
      await client.query('savepoint antes');
      await change(client);
      const seen = await look(client);
      await client.query('rollback to savepoint antes');
      return seen;
    },
    { lockMs: 0 },
  );
}

/** A row by its key columns and their values. */
type RowKey = Readonly<Record<string, string>>;

async function removeByKey(client: PoolClient, tenant: string, table: Vista, key: RowKey): Promise<void> {
  const where = Object.keys(key).map((column, place) => `t.${column} = $${place + 2}`);
  const { rows } = await client.query<Removed>(
    takeAway(table, `delete from ${table} t where t.tenant = $1 and ${where.join(' and ')}`),
    [tenant, ...Object.values(key)],
  );
  await insertEntrada(client, tenant, folhasApagadas(rows));
}

const INSERT = insertRows<Importacao>(
  'insert_importacoes',
  'importacoes',
  [
    ['id uuid', ({ id }) => id],
    ['em timestamptz', ({ em }) => new Date(em).toISOString()],
    ['registro text', ({ registro }) => registro],
    ['arquivo text', ({ arquivo }) => dropNul(arquivo)],
    ['quem text', ({ quem }) => dropNul(quem)],
    ['via text', ({ via }) => via],
  ],
  '',
  {
    ordem: ({ tenant }) =>
      `1 + coalesce((select max(i.ordem) from importacoes i where i.tenant = ${tenant} and i.registro = x.registro), 0)`,
  },
);

/** Only the last import of a register can be undone, so changes of earlier ones are not kept. */
const FORGET = `delete from mudancas_importadas m using importacoes i
  where m.tenant = $1 and i.tenant = $1 and i.id = m.importacao and i.registro = $2`;

/** Maximum number of rows that a refusal lists. */
const MUDADAS_MAX = 20;

/** Stores that an import is made, in its transaction. */
export async function keepImportacao(client: PoolClient, tenant: string, importacao: Importacao): Promise<void> {
  await client.query(FORGET, [tenant, importacao.registro]);
  await client.query(INSERT(tenant, [importacao]));
  await tellImportacao(client, tenant, importacao.id);
}

function tellImportacao(client: PoolClient, tenant: string, id: string): Promise<void> {
  return insertRegistradas(client, tenant, 'importacoes', { which: 't.id = $6::uuid', values: [id] });
}

const LAST = `select id, em, arquivo, quem, desfeita_em from importacoes where tenant = $1 and registro = $2
  order by ordem desc limit 1`;

type Last = ImportacaoFeita & { readonly desfeita_em: Date | null };

async function findLast(db: Pick<Db, 'query'>, tenant: string, registro: string): Promise<ImportacaoFeita | undefined> {
  const [last] = (await db.query<Last>(LAST, [tenant, registro])).rows;
  return last?.desfeita_em === null ? last : undefined;
}

export function importacaoStore(pool: Db) {
  return {
    /** The last import of a register; undefined if there is none, or it was undone. */
    findLast: (tenant: string, registro: string): Promise<ImportacaoFeita | undefined> =>
      findLast(pool, tenant, registro),
    /** Shows the register without a row to `look`; nothing is deleted. */
    probeWithout: <Seen>(
      tenant: string,
      table: Vista,
      key: RowKey,
      look: (client: PoolClient) => Promise<Seen>,
    ): Promise<Seen> => probeChange(pool, tenant, (client) => removeByKey(client, tenant, table, key), look),
    /** Deletes one row by hand. */
    removeRow: (tenant: string, table: Vista, key: RowKey, ato: NovoAto): Promise<void> =>
      runTransaction(pool, async (client) => {
        await client.query(LOCK_REGISTRY, [tenant]);
        await removeByKey(client, tenant, table, key);
        await insertAtos(client, tenant, [ato]);
      }),
    /** Restores all rows of the last import. */
    undo: (
      tenant: string,
      registro: string,
      tables: readonly RegisterTable[],
      atoOf: (importacao: ImportacaoFeita, linhas: number) => NovoAto,
    ): Promise<Desfeita> =>
      runTransaction(
        pool,
        async (client): Promise<Desfeita> => {
          mayTakeLong(client);
          await client.query(LOCK_REGISTRY, [tenant]);
          const last = await findLast(client, tenant, registro);
          if (last === undefined) return 'nenhuma';
          const mudadas: string[] = [];
          for (const table of tables) mudadas.push(...(await findChanged(client, tenant, last.id, table)));
          if (mudadas.length > 0) return { mudadas: mudadas.slice(0, MUDADAS_MAX) };
          let linhas = 0;
          for (const table of tables) linhas += await putBack(client, tenant, last.id, table);
          for (const table of tables) await refuseOverlaps(client, tenant, last.id, table);
          const ato = atoOf(last, linhas);
          const done = 'update importacoes set desfeita_em = $3 where tenant = $1 and id = $2';
          await client.query(done, [tenant, last.id, new Date(ato.em)]);
          await tellImportacao(client, tenant, last.id);
          await client.query(FORGET, [tenant, registro]);
          await insertAtos(client, tenant, [ato]);
          return { linhas };
        },
        { lockMs: 0 },
      ).catch((error: unknown) => {
        if (error instanceof Overlap) return { mudadas: [error.message] };
        throw error;
      }),
  };
}

/** The changes of an import to a table: `l`, with the row as a record, `r`. `$1` is the tenant, `$2` the import. */
const changesOf = ({ table }: RegisterTable, row: string): string =>
  `mudancas_importadas l cross join lateral jsonb_populate_record(null::${table}, ${row}) r`;
const whichChanges = ({ table }: RegisterTable): string =>
  `l.tenant = $1 and l.importacao = $2 and l.tabela = '${table}'`;
const sameKey = ({ key }: RegisterTable, besides?: string): string =>
  key
    .filter((column) => column !== besides)
    .map((column) => `s.${column} = r.${column}`)
    .join(' and ');

/** Rows that were changed since the import. */
async function findChanged(
  client: PoolClient,
  tenant: string,
  importacao: string,
  of: RegisterTable,
): Promise<readonly string[]> {
  const text = `select l.chave from ${changesOf(of, 'coalesce(l.depois, l.antes)')}
    left join lateral (
      select to_jsonb(s) as agora from ${of.table} s where s.tenant = $1 and ${sameKey(of)} offset 0
    ) s on true
    where ${whichChanges(of)} and s.agora is distinct from l.depois order by l.chave limit ${MUDADAS_MAX}`;
  return (await client.query<{ chave: string }>(text, [tenant, importacao])).rows.map(({ chave }) => chave);
}

type Removed = { readonly item: string };

/** Restores the rows of a table and returns their number. */
async function putBack(client: PoolClient, tenant: string, importacao: string, of: RegisterTable): Promise<number> {
  const { table, key } = of;
  const columns = await listOwnColumns(client, table);
  const deletion = `delete from ${table} s using ${changesOf(of, 'l.depois')}
    where s.tenant = $1 and ${whichChanges(of)} and l.antes is null and ${sameKey(of)}`;
  const remove = takeAway(table, deletion, 's');
  const restore = `insert into ${table} (tenant, ${columns.join(', ')})
    select l.tenant, ${columns.map((column) => `r.${column}`).join(', ')} from ${changesOf(of, 'l.antes')}
    where ${whichChanges(of)} and l.antes is not null
    on conflict (tenant, ${key.join(', ')}) do update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`;
  const removed = await client.query<Removed>(remove, [tenant, importacao]);
  const restored = await client.query(restore, [tenant, importacao]);
  const from = `from ${changesOf(of, 'l.antes')} cross join lateral (
      select * from ${table} s where s.tenant = $1 and ${sameKey(of)} offset 0
    ) t where ${whichChanges(of).replace('$2', '$6::uuid')} and l.antes is not null`;
  await insertRegistradas(client, tenant, table, { from, values: [importacao] }, folhasApagadas(removed.rows));
  return (removed.rowCount ?? 0) + (restored.rowCount ?? 0);
}

/** Columns that are written for a row, without the tenant. */
async function listOwnColumns(client: PoolClient, table: string): Promise<readonly string[]> {
  const text = `select attname from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attname <> 'tenant'`;
  return (await client.query<{ attname: string }>(text, [table])).rows.map(({ attname }) => attname);
}

/** A period that was added since overlaps a restored one. The message is the key of the added row. */
class Overlap extends Error {}

async function refuseOverlaps(
  client: PoolClient,
  tenant: string,
  importacao: string,
  of: RegisterTable,
): Promise<void> {
  if (!of.key.includes('inicio')) return;
  const other = sameKey(of, 'inicio').replaceAll('r.', 'o.');
  const text = `select l.chave from ${changesOf(of, 'l.antes')}
    join ${of.table} s on s.tenant = $1 and ${sameKey(of)} join ${of.table} o on o.tenant = $1 and ${other}
    where ${whichChanges(of)} and l.antes is not null and o.inicio <> s.inicio
      and s.inicio <= coalesce(o.fim, 'infinity') and o.inicio <= coalesce(s.fim, 'infinity') limit 1`;
  const [found] = (await client.query<{ chave: string }>(text, [tenant, importacao])).rows;
  if (found !== undefined) throw new Overlap(found.chave);
}

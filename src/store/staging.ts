/**
 * Tables of one connection in which an import waits until it is known whole; nobody else sees them. The last step alone touches the
 * registry, in one transaction, whose locks stop other imports of the tenant and no reader.
 */
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { equateColumns, listColumns, listTypes } from './sql.ts';
import { mayTakeLong } from './watch.ts';

/** One line that will not be taken. `motivo` is for the operator, or says what only the whole file shows: `contradiz` (the same thing said twice) or `sobrepoe` (periods that overlap). */
export type Recusada = { readonly linha: number; readonly motivo: string; readonly outra: number | undefined };

export type NovaRecusa = {
  readonly linha: number;
  readonly motivo: string;
  /** Whom the line is about, where that can be read, its columns with a space between: of whom something was refused, nothing is taken away. */
  readonly chave: string | undefined;
};

export type Staging<Row, Counts> = {
  add(rows: readonly Row[]): Promise<void>;
  refuse(lines: readonly NovaRecusa[]): Promise<void>;
  /** Refuses the lines that disagree with earlier ones; resolves with the number of all lines refused. */
  check(): Promise<number>;
  /** Refused lines in their order, beginning after a line. */
  refusedAfter(linha: number, max: number): Promise<readonly Recusada[]>;
  /** Writes what was not refused, all of it or nothing. */
  merge(): Promise<Counts>;
};

/** How one kind of file is kept and merged. The table `entrada` has a column `linha` and those of `columns`. */
export type Kind<Counts> = {
  /** Names and types of what a row brings. */
  readonly columns: Readonly<Record<string, string>>;
  readonly create: string;
  /** Statements that add to `recusadas`. */
  readonly checks: readonly string[];
  merge(client: PoolClient): Promise<Counts>;
};

/** A million lines are merged in seconds; the usual limit is for statements of milliseconds. */
const STATEMENT_TIMEOUT_MS = 600_000;
const MEMORY = '128MB';

/** The opposite of what the service's own statements want: everything is looked at, once. */
const SETTINGS = `
  set enable_seqscan = on; set enable_hashjoin = on; set enable_mergejoin = on;
  set work_mem = '${MEMORY}'; set temp_buffers = '${MEMORY}'; set statement_timeout = ${STATEMENT_TIMEOUT_MS}`;

/**
 * Held while the registry of a tenant is rewritten, and shared by who writes a row of it. A `from` may ask for it by {@link mayWrite}. `$1`
 * is the tenant.
 */
const LOCK = `hashtextextended('cadastro ' || $1::text, 0)`;

/** True unless an import is being merged: who would have to wait for it can do without. */
export const mayWrite = `pg_try_advisory_xact_lock_shared(${LOCK})`;

/** Runs `work` with empty tables, which are gone afterwards whatever happens. */
export async function stageImport<Row, Counts, Result>(
  pool: Db,
  tenant: string,
  kind: Kind<Counts>,
  work: (staging: Staging<Row, Counts>) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  mayTakeLong(client);
  try {
    await client.query(SETTINGS);
    await client.query(kind.create);
    await client.query(
      'create temp table recusadas (linha integer primary key, motivo text not null, outra integer, chave text)',
    );
    return await work(stagingOf(client, tenant, kind));
  } finally {
    // The connection goes, and the tables and settings with it.
    client.release(true);
  }
}

function stagingOf<Row, Counts>(client: PoolClient, tenant: string, kind: Kind<Counts>): Staging<Row, Counts> {
  const names = Object.keys(kind.columns).join(', ');
  const insert = `insert into entrada (${names}) select ${names} from json_to_recordset($1) as x (${listTypes(kind.columns)})`;
  const refuse = `insert into recusadas (linha, motivo, chave)
    select linha, motivo, chave from json_to_recordset($1) as x (linha integer, motivo text, chave text)`;
  return {
    add: async (rows) => {
      await client.query(insert, [JSON.stringify(rows)]);
    },
    refuse: async (lines) => {
      if (lines.length > 0) await client.query(refuse, [JSON.stringify(lines)]);
    },
    check: async () => {
      await client.query('analyze entrada');
      for (const text of kind.checks) {
        const { rowCount } = await client.query(text);
        if (rowCount !== 0) await client.query('delete from entrada e using recusadas r where r.linha = e.linha');
      }
      const { rows } = await client.query<{ count: number }>('select count(*)::int as count from recusadas');
      return rows[0]!.count;
    },
    refusedAfter: async (linha, max) => {
      const text = 'select linha, motivo, outra from recusadas where linha > $1 order by linha limit $2';
      const { rows } = await client.query<{ linha: number; motivo: string; outra: number | null }>(text, [linha, max]);
      return rows.map((row) => ({ ...row, outra: row.outra ?? undefined }));
    },
    merge: async () => {
      await client.query('analyze recusadas');
      await client.query('begin');
      await client.query(`select pg_advisory_xact_lock(${LOCK})`, [tenant]);
      const counts = await kind.merge(client);
      const { command } = await client.query('commit');
      // A transaction that had failed is ended by `commit` too, and says so only here.
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
      return counts;
    },
  };
}

/**
 * Refuses lines whose `columns` are not those of the first line of their key. `about`: the columns by which {@link NovaRecusa} knows a
 * line.
 */
export function refuseContradictions(
  key: readonly string[],
  columns: readonly string[],
  about: readonly string[],
): string {
  return `insert into recusadas (linha, motivo, outra, chave)
    select e.linha, 'contradiz', f.linha, ${chaveOf('e', about)}
    from (select ${key.join(', ')}, min(linha) as linha from entrada group by ${key.join(', ')} having count(*) > 1) f
      join entrada e on ${equateColumns('e', 'f', key)}
      join entrada p on p.linha = f.linha
    where e.linha > f.linha and (${listColumns('e', columns)}) is distinct from (${listColumns('p', columns)})`;
}

/** More than a file has lines, and the highest that an integer holds. */
const LINES = 2_147_483_647;

/** Refuses lines whose period begins before an earlier one of the same key has ended. */
export function refuseOverlaps(key: readonly string[]): string {
  // The latest end so far and its line travel as one text, so that one pass in the order of the beginnings is enough;
  // the line counted backwards, so that of equal ends the first line is named.
  return `insert into recusadas (linha, motivo, outra, chave)
    select e.linha, 'sobrepoe', ${LINES} - substr(q.latest, 11)::integer, q.chave
    from (
      select p.*, max(to_char(coalesce(fim, '9999-12-31'), 'YYYY-MM-DD') || to_char(${LINES} - linha, 'FM0000000000')) over (
        partition by chave order by inicio, linha rows between unbounded preceding and 1 preceding) as latest
      from (
        select ${chaveOf('o', key)} collate "C" as chave, inicio, fim, min(linha) as linha
        from entrada o where inicio is not null group by ${listColumns('o', key)}, inicio, fim
      ) p
    ) q join entrada e on ${chaveOf('e', key)} = q.chave and e.inicio = q.inicio and e.fim is not distinct from q.fim
    where left(q.latest, 10)::date >= q.inicio`;
}

/**
 * Two statements that take away the periods of the named keys that the file does not have. Of a key with a refused line only those go that
 * overlap the file's. `$1` is the tenant.
 */
export function retirePeriods(table: string, key: readonly string[]): readonly string[] {
  const absent = `s.tenant = $1
      and not exists (select 1 from entrada o where ${equateColumns('o', 's', key)} and o.inicio = s.inicio)`;
  return [
    `delete from ${table} s where ${absent}
      and exists (select 1 from entrada e where ${equateColumns('e', 's', key)})
      and not exists (select 1 from recusadas r where r.chave = ${chaveOf('s', key)})`,
    `delete from ${table} s using entrada e where ${absent} and ${equateColumns('e', 's', key)}
      and e.inicio <= coalesce(s.fim, 'infinity') and s.inicio <= coalesce(e.fim, 'infinity')`,
  ];
}

/** Rows that the statements wrote or took away, in all. */
export async function countWritten(
  client: PoolClient,
  statements: string | readonly string[],
  values: unknown[],
): Promise<number> {
  let count = 0;
  for (const text of typeof statements === 'string' ? [statements] : statements) {
    count += (await client.query(text, values)).rowCount ?? 0;
  }
  return count;
}

/** The columns of a key as one text, as {@link NovaRecusa} has it. */
function chaveOf(alias: string, key: readonly string[]): string {
  return key.map((column) => `${alias}.${column}`).join(" || ' ' || ");
}

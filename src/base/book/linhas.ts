/**
 * Reads and writes rows of a tenant, or of a table without tenants, unchanged: from one database into a file or another database. Rows
 * travel in the text form of PostgreSQL, one line each, without the tenant, in the order of their keys. The same rows are therefore the
 * same bytes in any database, and their digest proves completeness.
 */
import { createHash } from 'node:crypto';
import { copyIn, copyOut } from '../pg/copy.ts';
import { openMigrationClient, openMigrationPool } from '../pg/migration-steps.ts';
import type { Db } from '../pg/open.ts';
import { escapeIdentifier, escapeLiteral, type PoolClient } from '../pg/pg.ts';
import { readTabelas, type Tabela, TENANT } from '../pg/tabelas.ts';
import { mayTakeLong } from '../pg/watch.ts';
import { adoptCorrente } from './auditoria-elos.ts';
import { createMes } from './meses.ts';
import { closeWritten } from './municipios.ts';

/** `sha256`: of the lines, in hexadecimal. */
export type Resumo = { readonly linhas: number; readonly sha256: string };

/** Reports the amount since the last report. */
export type Passed = (bytes: number, linhas: number) => void;

/** Passes rows on, in pieces with whole and broken lines. */
export async function* digestRows(
  rows: AsyncIterable<Buffer>,
  done: (resumo: Resumo) => void,
  note: Passed = () => undefined,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let linhas = 0;
  for await (const piece of rows) {
    hash.update(piece);
    const before = linhas;
    for (let at = piece.indexOf(LINE_END); at >= 0; at = piece.indexOf(LINE_END, at + 1)) linhas += 1;
    note(piece.length, linhas - before);
    yield piece;
  }
  done({ linhas, sha256: hash.digest('hex') });
}

export const LINE_END = 10;

/** Reads rows to their end to compute their digest. */
export async function readResumo(rows: AsyncIterable<Buffer>, note?: Passed): Promise<Resumo> {
  let resumo: Resumo | undefined;
  for await (const _ of digestRows(rows, (read) => (resumo = read), note));
  return resumo!;
}

/** One transaction on the rows. A tenant is named for a table with rows of tenants, and for no other. */
export class Linhas {
  private readonly client: PoolClient;

  constructor(client: PoolClient) {
    this.client = client;
  }

  tabelas(): Promise<readonly Tabela[]> {
    return readTabelas(this.client);
  }

  /** Months that have partitions. */
  async meses(): Promise<readonly number[]> {
    return (await this.client.query<{ mes: number }>('select mes from meses order by mes')).rows.map(({ mes }) => mes);
  }

  /** Names of the migrations that were applied. */
  async esquema(): Promise<readonly string[]> {
    const { rows } = await this.client.query<{ nome: string }>('select nome from migracoes order by nome');
    return rows.map(({ nome }) => nome);
  }

  /** All tenants, in the order of their slugs. */
  async tenants(): Promise<readonly string[]> {
    const { rows } = await this.client.query<{ tenant: string }>('select tenant from municipios');
    return rows.map(({ tenant }) => tenant).sort();
  }

  read({ nome, colunas, chave }: Tabela, tenant?: string): AsyncIterable<Buffer> {
    // The collation "C" gives texts the same order in every database.
    const order = chave.map(
      (coluna) => escapeIdentifier(coluna.nome) + (/^(text|character)/.test(coluna.tipo) ? ' collate "C"' : ''),
    );
    return copyOut(
      this.client,
      `select ${listNames(colunas)} from ${escapeIdentifier(nome)}${whose(tenant)}${order.length === 0 ? '' : ` order by ${order.join(', ')}`}`,
    );
  }

  /** Writes rows and returns their number. */
  write({ nome, colunas }: Tabela, tenant: string | undefined, rows: AsyncIterable<Buffer>): Promise<number> {
    const names = tenant === undefined ? listNames(colunas) : `${TENANT}, ${listNames(colunas)}`;
    const whole = tenant === undefined ? rows : withTenant(tenant, rows);
    return copyIn(this.client, `${escapeIdentifier(nome)} (${names})`, whole);
  }

  async remove({ nome }: Tabela, tenant?: string): Promise<void> {
    await this.client.query(`delete from ${escapeIdentifier(nome)}${whose(tenant)}`);
  }

  async count({ nome }: Tabela, tenant?: string): Promise<number> {
    const text = `select count(*)::text as count from ${escapeIdentifier(nome)}${whose(tenant)}`;
    return Number((await this.client.query<{ count: string }>(text)).rows[0]!.count);
  }

  /** Counts rows that a worker holds at this moment. */
  async countClaimed({ nome, colunas }: Tabela, tenant: string): Promise<number> {
    const names = new Set(colunas.map((coluna) => coluna.nome));
    if (!names.has('claims') || !names.has('due_at')) return 0;
    const text = `select count(*)::int as count from ${escapeIdentifier(nome)} where tenant = $1 and claims is not null and due_at > now()`;
    return (await this.client.query<{ count: number }>(text, [tenant])).rows[0]!.count;
  }

  /** Closes the written municipality. Returns the tenant that is in production under its code, or undefined. */
  closeMunicipio(tenant: string): Promise<string | undefined> {
    return closeWritten(this.client, tenant);
  }

  /** Continues the chain of the written municipality ({@link adoptCorrente}). */
  adoptCorrente(tenant: string): Promise<void> {
    return adoptCorrente(this.client, tenant);
  }

  makeMes(mes: number): Promise<void> {
    return createMes(this.client, mes);
  }

  async hasMunicipio(tenant: string): Promise<boolean> {
    return (await this.client.query('select 1 from municipios where tenant = $1', [tenant])).rowCount === 1;
  }
}

const listNames = (colunas: Tabela['colunas']): string => colunas.map(({ nome }) => escapeIdentifier(nome)).join(', ');

const whose = (tenant: string | undefined): string =>
  tenant === undefined ? '' : ` where ${TENANT} = ${escapeLiteral(tenant)}`;

/** Each line with its tenant in front. */
async function* withTenant(tenant: string, rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const front = `${tenant}\t`;
  let isLineStart = true;
  for await (const piece of rows) {
    // Latin-1 has a character for each byte.
    const text = piece.toString('latin1');
    const endsLine = piece.at(-1) === LINE_END;
    const inner = (endsLine ? text.slice(0, -1) : text).replaceAll('\n', `\n${front}`);
    yield Buffer.from(`${isLineStart ? front : ''}${inner}${endsLine ? '\n' : ''}`, 'latin1');
    isLineStart = endsLine;
  }
}

/**
 * Rows come in the order of an index. Otherwise a table without statistics would be read by several processes and sorted on the disk. A
 * reading of a million notes then took the temporary space of all their documents.
 */
const PLANS = `set local enable_sort = off; set local enable_seqscan = off; set local enable_bitmapscan = off;
  set local max_parallel_workers_per_gather = 0; set local jit = off`;

/**
 * Settings that fix the text form of values. They also remove the time limits, because a file or another database may keep a statement
 * waiting.
 */
const SETTINGS = `set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres'; set local bytea_output = 'hex';
  set local extra_float_digits = 1; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0`;

/** Reading sees one moment. Writing is allowed although a database may be closed to it by default (`gravacao.ts`). */
const MODES = {
  read: 'isolation level repeatable read, read only',
  write: 'isolation level read committed, read write',
} as const;

/** Limit of the wait for a lock. A waiting lock request blocks every later one. */
const MES_LOCK_MS = 2_000;

/** One transaction without time limit on a connection of its own. */
async function inTransaction<Result>(
  pool: Db,
  mode: keyof typeof MODES,
  work: (client: PoolClient) => Promise<Result>,
  lockMs = 0,
): Promise<Result> {
  const own = openMigrationPool(pool);
  const client = await openMigrationClient(own);
  mayTakeLong(client);
  try {
    await client.query(`begin ${MODES[mode]}; ${SETTINGS}; ${PLANS}; set local lock_timeout = ${lockMs}`);
    const result = await work(client);
    const { command } = await client.query('commit');
    // A failed transaction also accepts `commit`; only the command of the result shows the rollback.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
    return result;
  } finally {
    // Closing the connection ends any unfinished statement.
    client.release(true);
    await own.end();
  }
}

/**
 * Reads everything as of one moment, without time limit. The reading starts again if a month was closed, restored or eliminated meanwhile.
 * A table emptied by `truncate` is empty even for a snapshot that is older.
 */
export async function readSnapshot<Result>(pool: Db, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  for (;;) {
    const before = await readFechados(pool);
    const result = await inTransaction(pool, 'read', work);
    if ((await readFechados(pool)) === before) return result;
  }
}

/** Months that are archived or eliminated, as text. */
async function readFechados(pool: Db): Promise<string> {
  const text = `select coalesce(string_agg(concat_ws(' ', mes, arquivado_em, eliminado_em), ', ' order by mes), '') as fechados
    from meses where arquivado_em is not null or eliminado_em is not null`;
  return (await pool.query<{ fechados: string }>(text)).rows[0]!.fechados;
}

export function linhasStore(pool: Db) {
  const inLinhas = <Result>(
    mode: keyof typeof MODES,
    work: (linhas: Linhas) => Promise<Result>,
    lockMs?: number,
  ): Promise<Result> => inTransaction(pool, mode, (client) => work(new Linhas(client)), lockMs);
  return {
    /** Reads everything as of one moment. */
    read: <Result>(work: (linhas: Linhas) => Promise<Result>): Promise<Result> => inLinhas('read', work),
    /** A text that changes when a month is closed, restored or eliminated. */
    readFechados: (): Promise<string> => readFechados(pool),
    /** Commits everything that `work` writes, or nothing if it throws. */
    write: <Result>(work: (linhas: Linhas) => Promise<Result>): Promise<Result> => inLinhas('write', work),
    /** Makes the months for the rows of another database, each in its own transaction. */
    makeMeses: async (meses: readonly number[]): Promise<void> => {
      for (const mes of meses) await inLinhas('write', (linhas) => linhas.makeMes(mes), MES_LOCK_MS);
    },
    /** Collects statistics of all tables, which a freshly filled database lacks. */
    analyze: async (): Promise<void> => {
      for (const { nome } of await readTabelas(pool)) await pool.query(`analyze ${escapeIdentifier(nome)}`);
    },
    /** Size on the disk, in bytes. */
    size: async (): Promise<number> => {
      const text = 'select pg_database_size(current_database())::text as size';
      return Number((await pool.query<{ size: string }>(text)).rows[0]!.size);
    },
  };
}

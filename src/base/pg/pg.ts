/**
 * The one door to the `pg` library: every other file that talks to PostgreSQL imports it from here. It adds one thing: a connection that
 * names no password has that of the file of `PGPASSFILE`, or `~/.pgpass`. `pg` reads it too, until its next version, and warns of that.
 */
import { defaults } from 'pg';
import readPassword from 'pgpass';

defaults.password = ((at: Parameters<typeof readPassword>[0]) =>
  new Promise<string | undefined>((resolve) => readPassword(at, resolve))) as typeof defaults.password;

export type {
  ClientBase,
  ClientConfig,
  PoolClient,
  PoolConfig,
  QueryConfig,
  QueryResult,
  QueryResultRow,
} from 'pg';
export { Client, escapeIdentifier, escapeLiteral, Pool, Query } from 'pg';

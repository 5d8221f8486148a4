/**
 * Only this file imports the `pg` library; every other file imports it from here. It adds one thing: a connection without a password uses
 * the one from the file of `PGPASSFILE`, or `~/.pgpass`. `pg` still reads that file too, until its next version, and warns about it.
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

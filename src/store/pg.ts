// The one door to the `pg` library: every other file that talks to PostgreSQL imports it from here.
// It deliberately adds nothing: no pool of its own, no defaults, no wrappers.

export type {
  ClientBase,
  ClientConfig,
  PoolClient,
  PoolConfig,
  QueryConfig,
  QueryResult,
  QueryResultRow,
} from 'pg';
export { Client, Pool } from 'pg';

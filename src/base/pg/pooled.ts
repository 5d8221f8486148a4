/**
 * PgBouncer between the service and the server (D-295): a connection of ours has a server session for one transaction. Nothing therefore
 * relies on a session. The role has the settings, and statements have names only if the pooler keeps names.
 */
import { IS_DISTRIBUTED, noteCoordinator } from './distributed.ts';
import type { Client, Pool, QueryConfig } from './pg.ts';
import { type Connection, IS_READ_ONLY } from './servers.ts';
import { SESSION } from './session.ts';

/** An operation that is impossible through a pooler, or through an undeclared one. The message is for the operator. */
class PoolerError extends Error {}

const UNDECLARED =
  'DATABASE_URL leva a um PgBouncer, ou a outro que reparte conexões, e isso não foi dito. Ponha NFSE_PGBOUNCER=1, ou dê o endereço do próprio PostgreSQL (docs/site/operacao.md, «PgBouncer»).';

/** PgBouncer accepts few settings with a connection. */
const SETTINGS_REFUSED = /^unsupported startup parameter/;

/**
 * Settings that PgBouncer keeps for each client, with our values. They are sent with the connection, since it may remember earlier settings
 * of the role.
 */
const KEPT_BY_POOLER = { DateStyle: 'ISO, MDY', TimeZone: 'UTC', standard_conforming_strings: 'on' };

const NAME = 'nfse_nomes';
/** Properties of the session behind a connection. A pooler that keeps names renames statements (`mine`: it does not). */
const ABOUT = `select pg_backend_pid() as pid, ${IS_READ_ONLY} as read_only,
  exists (select from pg_prepared_statements where name = '${NAME}') as mine, ${IS_DISTRIBUTED} as distributed`;
/** An earlier client of this server session used the name. */
const NAME_IN_USE = '42P05';

type About = {
  readonly pid: number;
  readonly read_only: boolean;
  readonly mine: boolean;
  readonly distributed: boolean;
};

/** Must be called before the client connects. */
export function prepareForPooler(client: Client): void {
  const own = client as unknown as { getStartupConf(): object };
  const usual = own.getStartupConf.bind(client);
  own.getStartupConf = () => ({ ...usual(), ...KEPT_BY_POOLER });
}

/** Finds out whether names are kept, and removes them otherwise. Returns whether the server is read-only. */
export async function meetPooler(client: Client): Promise<{ readonly isReadOnly: boolean }> {
  const { pid, read_only: isReadOnly, mine, distributed } = await askAbout(client);
  if (distributed) noteCoordinator(client);
  if (mine && isBehindPooler(client, pid)) dropNames(client);
  return { isReadOnly };
}

async function askAbout(client: Client): Promise<About> {
  try {
    return (await client.query<About>({ name: NAME, text: ABOUT })).rows[0]!;
  } catch (error) {
    if ((error as { code?: string }).code !== NAME_IN_USE) throw error;
    return { ...(await client.query<About>(ABOUT)).rows[0]!, mine: true };
  }
}

/** A pooler reports its own process number for the session. */
function isBehindPooler(client: object, pid: number): boolean {
  return (client as { processID?: number | null }).processID !== pid;
}

function dropNames(client: Client): void {
  const query = client.query.bind(client) as (...asked: unknown[]) => unknown;
  const ask = (asked: string | QueryConfig, ...others: unknown[]): unknown =>
    query(typeof asked === 'string' ? asked : { ...asked, name: undefined }, ...others);
  Object.assign(client, { query: ask });
}

const NEEDS_SESSION =
  'isto não passa por um PgBouncer: dê o comando (nfse migrar, se o banco precisa ser atualizado) sem NFSE_PGBOUNCER, com o endereço do próprio PostgreSQL em DATABASE_URL.';

/** Throws behind a pooler, for work that needs session settings or takes long outside of a transaction. */
export function needSession(pool: Pool): void {
  if (isPooled(pool)) throw new PoolerError(NEEDS_SESSION);
}

/** Throws if there is an undeclared pooler. */
export async function refuseUndeclared(pool: Pool): Promise<void> {
  const client = await pool.connect().catch((error: Error) => {
    throw SETTINGS_REFUSED.test(error.message) ? new PoolerError(UNDECLARED) : error;
  });
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    if (isBehindPooler(client, rows[0]!.pid)) throw new PoolerError(UNDECLARED);
  } finally {
    client.release();
  }
}

/** Settings that the role of this session still lacks in this database. */
const MISSING = `select name, value, quote_ident(current_database()) as database from unnest($1::text[], $2::text[]) as w (name, value)
  where not exists (select from pg_db_role_setting s
    where s.setrole = (select oid from pg_roles where rolname = current_user)
      and s.setdatabase = (select oid from pg_database where datname = current_database())
      and w.name || '=' || w.value = any (s.setconfig))`;

type Missing = { readonly name: string; readonly value: string; readonly database: string };

/**
 * Ends idle sessions that began before the role had its settings, this session as the last. A session pooler resets each one to its
 * beginning (DISCARD ALL), so that none may stay. A newly opened one has neither a state nor a name yet.
 */
const END_OLDER = `select pg_terminate_backend(pid, case when pid = pg_backend_pid() then 0 else 1000 end)
  from (select pid from pg_stat_activity where datname = current_database() and usename = current_user
    and (application_name like 'nfse%' or application_name = '') and (coalesce(state, 'starting') in ('idle', 'starting') or pid = pg_backend_pid())
  order by pid = pg_backend_pid()) older`;
/** The own session is gone, the last one to be ended. */
const ENDED = '57P01';
/** Attempts, because two processes may change the same row at once. */
const ATTEMPTS_MAX = 5;

/**
 * Gives the role, in this database alone, the settings of a session of ours. A session reads them only at its beginning, so existing
 * sessions of the pooler are ended.
 */
export async function settleRole(pool: Pool): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await pool.query<Missing>(MISSING, [Object.keys(SESSION), Object.values(SESSION)]);
    if (rows.length === 0) return;
    try {
      await giveRole(pool, rows);
      await pool.query(END_OLDER);
      return;
    } catch (error) {
      if ((error as { code?: string }).code === ENDED) return;
      if (attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

async function giveRole(pool: Pool, missing: readonly Missing[]): Promise<void> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('begin');
    for (const { name, value, database } of missing) {
      await client.query(`alter role current_user in database ${database} set ${name} to '${value}'`);
    }
    await client.query('commit');
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure);
  }
}

/** Whether a pooler was declared. */
export function isPooled({ options }: Pool): boolean {
  return (options as Connection).isPooled === true;
}

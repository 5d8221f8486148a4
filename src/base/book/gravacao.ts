/**
 * Closes or opens a database for writing. A closed database answers queries and refuses writes with 25006, which the service turns into
 * 503. Only a session that asks for `read write` explicitly may write. The mark is a setting of the database: it holds for every process,
 * survives a crash, and needs no table.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../pg/open.ts';
import { escapeIdentifier, type PoolClient } from '../pg/pg.ts';

const SETTING = 'default_transaction_read_only';
const LOOK_EVERY_MS = 250;
/** Consecutive looks that find no session. A session that was just accepted becomes visible only then. */
const QUIET_LOOKS = 4;
const LOOKS_MAX = 120;

type Session = { readonly pid: number; readonly who: string };

/** Sessions that began before $1, which do not know the setting. Sessions that only show their presence run no statements. */
const BEFORE = `select pid, concat_ws(', ', coalesce(nullif(application_name, ''), 'sem nome'), 'usuário ' || usename, 'pid ' || pid) as who
  from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
    and application_name not like '%-presente' and backend_start < $1`;

export function gravacaoStore(pool: Db) {
  return {
    isClosed: async (): Promise<boolean> => {
      const text = `select 1 from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
        where d.datname = current_database() and s.setrole = 0 and '${SETTING}=on' = any (s.setconfig)`;
      return (await pool.query(text)).rowCount === 1;
    },
    /** No process writes by default once this resolves. Throws an Error in Portuguese if a session cannot be ended. */
    close: (): Promise<void> =>
      onOne(pool, async (client) => {
        await alter(client, `set ${SETTING} = on`);
        await endSessions(client);
      }),
    open: (): Promise<void> => onOne(pool, (client) => alter(client, `reset ${SETTING}`)),
  };
}

async function onOne(pool: Db, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await work(client);
  } finally {
    // Some other sessions of its pool were ended; this one is replaced as well.
    client.release(true);
  }
}

async function alter(client: PoolClient, how: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  // A session of a closed database may do this too.
  await client.query(`begin read write; alter database ${escapeIdentifier(rows[0]!.name)} ${how}; commit`);
}

/** The setting applies to new sessions. The others are ended, and their owners connect again. */
async function endSessions(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
  const find = async (): Promise<readonly Session[]> => (await client.query<Session>(BEFORE, [rows[0]!.now])).rows;
  let quiet = 0;
  for (let look = 0; look < LOOKS_MAX && quiet < QUIET_LOOKS; look += 1) {
    if (look > 0) await sleep(LOOK_EVERY_MS);
    const found = await find();
    quiet = found.length === 0 ? quiet + 1 : 0;
    const pids = found.map(({ pid }) => pid);
    try {
      await client.query('select pg_terminate_backend(pid) from unnest($1::int[]) as x (pid)', [pids]);
    } catch (error) {
      if ((error as { code?: string }).code === DENIED) throw new Error(describeSessions(found));
      throw error;
    }
  }
  if (quiet < QUIET_LOOKS) throw new Error(describeSessions(await find()));
}

const DENIED = '42501';

function describeSessions(sessions: readonly Session[]): string {
  const shown = sessions.map(({ who }) => who).join('; ');
  return `há sessões no banco que não se encerram (${shown}). Encerre-as, e rode de novo.`;
}

/** PostgreSQL servers of one test: a single one, or two, the second of which replays the log of the first. Nothing restarts them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findServer } from '../../packages/postgres-embutido/src/embedded.ts';
import { NAME } from '../../src/base/pg/embedded.ts';
import { Client, type ClientConfig } from '../../src/base/pg/pg.ts';
import { copyCluster } from '../setup.ts';
import { onEnd } from './cleanup.ts';
import { ownPort } from './ports.ts';
import { freshDataDir, readyDataDir, serverProcesses } from './process.ts';
import { until } from './until.ts';

const quiet = { info() {}, warn() {}, error: console.error };

export type Server = {
  readonly connection: ClientConfig;
  /** Sends kill -9 to every process of the server. */
  kill(): Promise<void>;
  query(text: string): Promise<readonly Record<string, unknown>[]>;
};

/** The first server commits only data that the second has on its disk. */
export async function openReplicated(): Promise<{ readonly primary: Server; readonly standby: Server }> {
  const first = await readyDataDir();
  const second = await freshDataDir();
  const location = path.join(first, 'pg');
  await write(location, 'pg_hba.conf', 'local all all trust\nlocal replication all trust\n');
  // A server with an orderly shutdown is a base for another.
  await copyCluster(location, path.join(second, 'pg'));
  await write(location, 'postgresql.auto.conf', "synchronous_standby_names = 'segunda'\n");
  const primary = await startServer(first, {});
  await write(path.join(second, 'pg'), 'standby.signal', '');
  const conninfo = `host=${location} port=5432 user=${NAME} application_name=segunda`;
  const standby = await startServer(second, { primary_conninfo: conninfo });
  await until(async () => {
    const rows = await primary.query(`select 1 from pg_stat_replication where sync_state = 'sync'`);
    return rows.length > 0 || undefined;
  }, 'the second server follows');
  return { primary, standby };
}

/** The connection to a server that is reached over TCP, with a password. */
export async function openOverTcp(): Promise<ClientConfig> {
  const dataDir = await readyDataDir();
  await write(
    path.join(dataDir, 'pg'),
    'pg_hba.conf',
    'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n',
  );
  const [port, password] = [await ownPort(), randomBytes(16).toString('hex')];
  const server = await startServer(dataDir, { listen_addresses: '127.0.0.1', port: String(port) });
  await server.query(`alter role ${NAME} password '${password}'`);
  return { ...server.connection, host: '127.0.0.1', password };
}

async function write(location: string, name: string, text: string): Promise<void> {
  const file = path.join(location, name);
  await rm(file, { force: true });
  await writeFile(`${file}.novo`, text);
  const { uid, gid } = await stat(location);
  await chown(`${file}.novo`, uid, gid);
  await rename(`${file}.novo`, file);
}

async function startServer(dataDir: string, settings: Readonly<Record<string, string>>): Promise<Server> {
  const { program, location, spawnOptions } = await findServer(NAME, dataDir, quiet);
  const own = { unix_socket_directories: location, listen_addresses: '', port: '5432', ...settings };
  const options = Object.entries(own).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child: ChildProcess = spawn(program, ['-D', location, ...options], { ...spawnOptions, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const connection = { host: location, port: Number(own.port), user: NAME, database: NAME };
  const query = async (text: string): Promise<readonly Record<string, unknown>[]> => {
    const client = new Client({ ...connection, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    for (const pid of serverProcesses(dataDir)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The previous signal already ended it.
      }
    }
    await ended;
  };
  onEnd(kill);
  await until(
    () =>
      query('select 1').then(
        () => true as const,
        () => undefined,
      ),
    'the server takes connections',
  );
  return { connection, kill, query };
}

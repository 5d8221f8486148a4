/** A real PgBouncer in front of a server: Debian's, or the one that NFSE_TEST_PGBOUNCER names. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, type ClientConfig } from '../../src/base/pg/pg.ts';
import { onEnd } from './cleanup.ts';
import { ownPort } from './ports.ts';
import { toolOr } from './tools.ts';
import { until } from './until.ts';

const PROGRAM = process.env['NFSE_TEST_PGBOUNCER'] ?? toolOr('pgbouncer', 'pgbouncer');

/** The `skip` reason if PgBouncer is missing; false if it is installed. */
export const noPgBouncer = PROGRAM === undefined && 'there is no pgbouncer here';

/** Whether its version keeps prepared statements for its clients. */
export function keepsNames(): boolean {
  const { stdout } = spawnSync(PROGRAM!, ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout)!;
  return Number(major) > 1 || Number(minor) >= 21;
}

export type PgBouncer = {
  /** The connection to any database of the server through it. */
  readonly connection: ClientConfig;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  start(): Promise<void>;
};

/** `settings`: lines of `pgbouncer.ini`. */
export async function startPgBouncer(
  { host, port, user, password, database }: ClientConfig,
  settings: Readonly<Record<string, string | number>>,
): Promise<PgBouncer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-pgbouncer-'));
  await chmod(folder, 0o755);
  onEnd(() => rm(folder, { recursive: true, force: true }));
  const listenPort = await ownPort();
  const secret = typeof password === 'string' ? ` password='${password}'` : '';
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: listenPort,
    unix_socket_dir: '',
    auth_type: 'any',
    server_login_retry: 1,
    ...settings,
  };
  const file = path.join(folder, 'pgbouncer.ini');
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  await writeFile(
    file,
    `[databases]\n* = host='${host}' port=${port} user=${user}${secret}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  // PgBouncer refuses to run as root, and only the server's account may use its socket.
  const { uid, gid } = statSync(host!);
  const account = process.getuid?.() === 0 ? { uid, gid } : {};
  let child: ReturnType<typeof spawn> | undefined;
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const connection = { host: '127.0.0.1', port: listenPort, user, database };
  const start = async (): Promise<void> => {
    child = spawn(PROGRAM!, ['-q', file], { ...account, stdio: 'ignore' });
    await until(async () => {
      const client = new Client(connection);
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('select 1');
        return true;
      } catch {
        return undefined;
      } finally {
        client.end().catch(() => undefined);
      }
    }, 'pgbouncer answers');
  };
  onEnd(kill);
  await start();
  return { connection, kill, start };
}

/**
 * The loss and the downtime when a primary with a synchronous replica dies: Debian's PostgreSQL 15, two servers, and a service with both
 * addresses. The promotion is immediate; the time to detect the failure depends on the monitor (`alta-disponibilidade.maquina.test.ts`).
 * NFSE_TEST_LONGO=1 repeats it five times.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { onEnd } from './support/cleanup.ts';
import { folderFor } from './support/copia.ts';
import { emit, noteByKey } from './support/http.ts';
import { startLoad } from './support/load.ts';
import { ownPort } from './support/ports.ts';
import { startServiceProcess } from './support/process.ts';
import { LONG } from './support/seed.ts';
import { installed } from './support/tools.ts';
import { until, untilTrue } from './support/until.ts';

const BIN = '/usr/lib/postgresql/15/bin';
const there = (): boolean => existsSync(`${BIN}/postgres`);
const skip =
  process.getuid?.() !== 0
    ? 'only root runs a server as another account'
    : !(there() || (installed('postgresql-15') && there())) && 'PostgreSQL 15 of Debian is not here';

const DEATHS = LONG ? 5 : 1;
/** Names by which a primary knows its replica. */
const NAMES = ['um', 'dois'] as const;

type Server = { readonly port: number; readonly data: string; child: ChildProcess };

test('a primary with a synchronous replica dies: nothing that was answered is lost', {
  skip,
  timeout: 900_000,
}, async (t) => {
  const folder = await folderFor('replica');
  await chmod(folder, 0o755);
  const [uid, gid] = ['-u', '-g'].map((which) =>
    Number(spawnSync('id', [which, 'postgres'], { encoding: 'utf8' }).stdout),
  );
  await chown(folder, uid!, gid!);
  const account = { uid: uid!, gid: gid!, cwd: folder };
  const as = (program: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(path.join(BIN, program), args, { ...account, encoding: 'utf8' });
    assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  const ports = [await ownPort(), await ownPort()] as const;
  const ask = (port: number, text: string, database = 'postgres'): string =>
    as('psql', '-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database, '-Atc', text);
  const start = async (port: number, data: string): Promise<Server> => {
    const options = ['-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'];
    const child = spawn(path.join(BIN, 'postgres'), options, { ...account, stdio: 'ignore' });
    onEnd(() => void child.kill('SIGKILL'));
    const ready = () => spawnSync(path.join(BIN, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).status === 0;
    await untilTrue(ready, 'the server takes connections');
    return { port, data, child };
  };
  const follow = async (primary: Server, which: 0 | 1, number: number): Promise<Server> => {
    const data = path.join(folder, `dados-${number}`);
    const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${NAMES[which]}`;
    as('pg_basebackup', '-D', data, '-R', '-c', 'fast', '-d', source);
    const standby = await start(ports[which], data);
    ask(primary.port, `alter system set synchronous_standby_names = '${NAMES[which]}'`);
    ask(primary.port, 'select pg_reload_conf()');
    await untilTrue(
      () => ask(primary.port, 'select sync_state from pg_stat_replication') === 'sync',
      'the second server follows synchronously',
    );
    return standby;
  };

  const data = path.join(folder, 'dados-0');
  as('initdb', '-D', data, '--data-checksums', '--auth=trust', '--encoding=UTF8', '--locale=C');
  let primary = await start(ports[0], data);
  ask(primary.port, 'create role nfse login');
  ask(primary.port, 'create database nfse owner nfse');
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const env = { DATABASE_URL: `postgres://nfse@${hosts}/nfse?target_session_attrs=read-write` };
  const service = await startServiceProcess(env);
  let standby = await follow(primary, 1, 1);

  const load = startLoad(service.address, 50);
  const gaps: number[] = [];
  for (let death = 1; death <= DEATHS; death += 1) {
    const before = load.sent.length;
    await untilTrue(() => load.sent.slice(before).filter(({ answer }) => answer.status === 201).length > 100, 'notes');
    // All processes die at once, as in the failure of a machine.
    const postmaster = Number(readFileSync(path.join(primary.data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' });
    const died = performance.now();
    for (const pid of [postmaster, ...stdout.trim().split(/\s+/).map(Number)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The previous signal already ended it.
      }
    }
    if (primary.child.exitCode === null && primary.child.signalCode === null) await once(primary.child, 'exit');
    as('pg_ctl', '-D', standby.data, 'promote', '-w');
    const first = await until(
      async () => load.sent.find(({ answer, began }) => began > died && answer.status === 201),
      'a note after the death',
    );
    gaps.push(first.ended - died);
    const [next, gone] = [standby, primary];
    primary = next;
    standby = await follow(primary, gone.port === ports[0] ? 0 : 1, death + 1);
  }
  await load.stop();

  const answered = load.sent.filter(({ answer }) => answer.status === 201);
  const statuses = Map.groupBy(load.sent, ({ answer }) => answer.status);
  const counts = [...statuses].map(([status, { length }]) => `${length} × ${status}`).join(', ');
  const sorted = gaps.toSorted((one, other) => one - other).map((ms) => `${(ms / 1_000).toFixed(2)} s`);
  t.diagnostic(`${counts}; from the death to the next note: ${sorted.join(', ')}`);
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![201, 503].includes(status)),
    [],
  );
  for (const { number, answer } of answered) {
    const kept = await noteByKey(service.address, answer.body.chave_acesso);
    assert.equal(kept.status, 200, `note ${number} was answered, and is lost`);
  }
  // A client without an answer repeats its request. It gets a new note, or the one that was stored without an answer.
  for (const { number, answer } of load.sent) {
    if (answer.status === 201) continue;
    const again = await emit(service.address, exampleXml({ serie: '1', nDPS: String(number) }));
    if (again.status === 422) assert.equal(again.body.erros[0].mesmo_conteudo, true, JSON.stringify(again.body));
    else assert.equal(again.status, 201, JSON.stringify(again.body));
  }
  const numbers = ask(primary.port, 'select count(*), count(distinct numero_dps), max(numero_dps) from notas', 'nfse');
  assert.equal(numbers, [load.sent.length, load.sent.length, load.sent.length].join('|'));
  assert.equal(await service.end('SIGTERM'), 0);
});

// A cluster restored from a copy, with recovery.signal: opening it waits for the end of the recovery, and reports the
// progress.

import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { copyCluster, isRoot, open, pidOf, recorder, type Scratch, scratch, serious, sql, until } from './support.ts';

/** Writes a file in the cluster that belongs to the cluster's owner. */
function write(location: string, name: string, text: string): void {
  writeFileSync(join(location, name), text);
  const { uid, gid } = statSync(location);
  if (isRoot) chownSync(join(location, name), uid, gid);
}

type Archived = { readonly copy: string; readonly wal: string; readonly target: string };

/** A copy taken while rows were written, the log archived since, and a moment with more rows after it. */
async function archived(place: Scratch): Promise<Archived> {
  const wal = join(place.root, 'wal');
  const copy = join(place.root, 'copia');
  mkdirSync(wal);
  chmodSync(wal, 0o777);
  const first = await open(place);
  await sql(first.connection, "ALTER SYSTEM SET archive_mode = 'on'");
  await sql(first.connection, `ALTER SYSTEM SET archive_command = 'cp "%p" "${wal}/%f"'`);
  await first.stop();

  const server = await open(place);
  await sql(server.connection, 'CREATE TABLE item (n int)');
  const backup = new Client(server.connection);
  await backup.connect();
  await backup.query("SELECT pg_backup_start('prova', true)");
  copyCluster(server.location, copy);
  const { rows } = await backup.query('SELECT labelfile FROM pg_backup_stop()');
  await backup.end();
  rmSync(join(copy, 'postmaster.pid'));
  write(copy, 'backup_label', rows[0].labelfile);

  const insert = 'INSERT INTO item SELECT 1 FROM generate_series(1, 100)';
  const fill = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) await sql(server.connection, `${insert}; SELECT pg_switch_wal()`);
  };
  await fill();
  const [moment] = await sql(server.connection, 'SELECT clock_timestamp()::text AS now');
  await fill();
  await server.stop();
  return { copy, wal, target: String(moment!['now']) };
}

/** Each segment is slow to restore: an early client finds a server that answers queries and accepts no writes. */
function restore(place: Scratch, { copy, wal, target }: Archived, action: string): void {
  const location = join(place.dataDir, 'pg');
  rmSync(location, { recursive: true });
  copyCluster(copy, location);
  const settings = {
    restore_command: `sleep 1; cp "${wal}/%f" "%p"`,
    recovery_target_time: target,
    recovery_target_action: action,
    archive_mode: 'off',
    archive_command: '',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  write(location, 'postgresql.auto.conf', lines.join(''));
  write(location, 'recovery.signal', '');
}

const STATE = 'SELECT pg_is_in_recovery() AS recovering, count(*)::int AS n FROM item';

test('a recuperação até um momento é esperada até o fim, também a que foi morta no meio', async (t) => {
  const place = scratch(t);
  const from = await archived(place);
  restore(place, from, 'promote');
  const { log, entries } = recorder();
  const opening = open(place, log);
  const said = (): string => readFileSync(join(place.dataDir, 'postgres.log'), 'utf8');
  await until(() => said().split('restored log file').length > 3);
  process.kill(pidOf(place.dataDir), 'SIGKILL');
  const server = await opening;
  assert.deepEqual(await sql(server.connection, STATE), [{ recovering: false, n: 300 }]);
  assert.match(entries.map(({ msg }) => msg).join('\n'), /em recuperação: até \w+\/\w+/);
  assert.deepEqual(serious(entries), []);
  assert.equal(existsSync(join(server.location, 'recovery.signal')), false);
});

test('uma recuperação que espera por uma palavra no momento pedido é dita, e o servidor fica como está', async (t) => {
  const place = scratch(t);
  const from = await archived(place);
  restore(place, from, 'pause');
  await assert.rejects(open(place), /chegou ao momento pedido .* só aceita leituras[\s\S]*pg_wal_replay_resume/);
  const location = join(place.dataDir, 'pg');
  const name = { user: 'prova', database: 'prova' };
  const connection = { host: location, port: 5432, ...name };
  assert.deepEqual(await sql(connection, STATE), [{ recovering: true, n: 300 }]);
  await sql(connection, 'SELECT pg_wal_replay_resume()');
  const server = await open(place);
  assert.deepEqual(await sql(server.connection, STATE), [{ recovering: false, n: 300 }]);
});

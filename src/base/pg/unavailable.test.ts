/** Failures that a repetition cures: every code of the relevant classes of PostgreSQL, messages of `pg` without a code, and sockets. */
import assert from 'node:assert/strict';
import { connect as dial } from 'node:net';
import { test } from 'node:test';
import { Client } from './pg.ts';
import { isLocked, StoreUnavailable, UncertainCommit, unavailabilityOf } from './unavailable.ts';

const withCode = (code: string): Error => Object.assign(new Error('as the server says it'), { code });

/** PostgreSQL, Appendix A: connection exceptions, resources, intervention, rollbacks, locks. */
const CURABLE = [
  ...['08000', '08003', '08006', '08001', '08004', '08007', '08P01'],
  ...['53000', '53100', '53200', '53300', '53400'],
  ...['57P01', '57P02', '57P03', '57P04', '57P05', '57014', '25006', '25P03'],
  ...['40000', '40002', '40001', '40003', '40P01', '55P03'],
  // Access rights and the database's name are changed by the administrator of the server (D-295).
  ...['28000', '28P01', '3D000'],
];

/** Data, constraints, syntax, privileges, bugs, and file errors of Node. */
const OTHERS = ['22001', '22P02', '23505', '23503', '42P01', '42601', '42501', '55000', 'P0001', 'XX000'];

test('by SQLSTATE', () => {
  for (const code of CURABLE) assert.ok(unavailabilityOf(withCode(code)) !== undefined, code);
  for (const code of OTHERS) assert.equal(unavailabilityOf(withCode(code)), undefined, code);
  assert.equal(unavailabilityOf(withCode('53100')), 'full');
  assert.equal(unavailabilityOf(withCode('53300')), 'crowded');
  assert.equal(unavailabilityOf(withCode('25006')), 'read_only');
  assert.equal(unavailabilityOf(withCode('28P01')), 'denied');
  assert.ok(isLocked(withCode('55P03')));
});

test('as Citus says it of a node, the last of which under the code of a bug', () => {
  const failures = [
    ['08006', 'connection to the remote node nfse@10.0.0.2:5432 failed with the following error: Connection refused'],
    ['08006', 'connection establishment for node 10.0.0.2:5432 failed'],
    ['XX000', 'failure on connection marked as essential: 10.0.0.2:5432'],
    ['XX000', 'could not commit transaction for shard 102008 on at least one active node'],
  ] as const;
  for (const [code, message] of failures)
    assert.equal(unavailabilityOf(Object.assign(new Error(message), { code })), 'node_gone', message);
});

test('as Citus says it of a shard that was just moved', () => {
  const error = Object.assign(new Error('could not find valid entry for shard 102045'), { code: 'XX000' });
  assert.ok(isLocked(error));
});

test('what is no failure of the database is none of these', () => {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' });
  for (const error of [missing, new Error('a bug'), new TypeError('undefined is not a function'), 'text', undefined]) {
    assert.equal(unavailabilityOf(error), undefined, String(error));
  }
});

test('as sockets say it, who are really asked', async () => {
  const said = (options: { port: number } | { path: string } | { host: string; port: number }): Promise<Error> =>
    new Promise((resolve) => dial(options as { port: number }).once('error', resolve));
  // The discard port has no listener, the folder does not exist, and neither does the host (RFC 2606).
  for (const options of [{ port: 9 }, { path: '/nonexistent/.s.PGSQL.5432' }, { host: 'banco.invalid', port: 5432 }]) {
    const error = await said(options);
    assert.equal(unavailabilityOf(error), 'gone', error.message);
  }
});

test('as pg says it of a connection that is at its end', async () => {
  const client = new Client({ host: '127.0.0.1', port: 9 });
  client.on('error', () => undefined);
  const refused = await client.connect().then(
    () => undefined,
    (error: Error) => error,
  );
  assert.equal(unavailabilityOf(refused), 'gone');
  const closed = await client.query('select 1').catch((error: Error) => error);
  assert.equal(unavailabilityOf(closed), 'gone', String(closed));
});

test('as it was found out here', () => {
  assert.equal(unavailabilityOf(new StoreUnavailable('slow', 'slow')), 'slow');
  assert.equal(unavailabilityOf(new UncertainCommit(withCode('57P01'))), 'restarting');
  assert.equal(unavailabilityOf(new UncertainCommit(new Error('Connection terminated unexpectedly'))), 'gone');
});

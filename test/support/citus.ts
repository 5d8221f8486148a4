/**
 * The Citus of a test run: `NFSE_TEST_CITUS` names its coordinator, whose database there knows the nodes. Databases are copied node by
 * node, since Citus cannot copy one. Refused statements are read from the coordinator's log, so no process has to report them.
 */

import { openPool } from '../../src/base/pg/open.ts';
import { Client, type ClientConfig } from '../../src/base/pg/pg.ts';
import { distribute, setOnAllNodes } from '../../src/subjects/citus/distribuicao.rows.ts';
import { listNos } from '../../src/subjects/citus/nos.rows.ts';
import { migrate } from '../../src/wiring/migrate.ts';

const isHere = process.env['NFSE_TEST_CITUS'] !== undefined;
/** The `skip` reason of tests that create triggers, which Citus does not support. */
export const NO_TRIGGERS = isHere && 'tables of a Citus take no triggers';
export const NO_DETACH = isHere && 'a Citus detaches no month beside who reads, who holds up all months';
export const NO_PLANS = isHere && 'the plan of a Citus names no index: see test/banco.maquina.test.ts';

/** The number is small: each shard is a table of its own, and is copied with every database. */
const FRAGMENTOS = 4;

const HOW = 'Sem um, suba-o com scripts/citus-local.sh iniciar, que escreve o endereço.';

/** The servers of the run's Citus, coordinator first; undefined if the run has none. */
export async function citusServers(): Promise<readonly ClientConfig[] | undefined> {
  const { NFSE_TEST_CITUS: address } = process.env;
  return address === undefined ? undefined : serversOf(address);
}

/** The servers of the Citus whose coordinator has this address. */
export async function serversOf(address: string): Promise<readonly ClientConfig[]> {
  const { hostname, port, username, password, pathname } = new URL(address);
  const first: ClientConfig = {
    host: hostname,
    port: Number(port || '5432'),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1) || 'postgres',
  };
  const pool = openPool(first, () => undefined);
  try {
    const nos = await listNos(pool);
    if (nos.length === 0) throw new Error('it knows no nodes');
    return [first, ...nos.map(({ host, porta }) => ({ ...first, host, port: porta }))];
  } catch (error) {
    throw new Error(`NFSE_TEST_CITUS names no coordinator of a Citus (${(error as Error).message}). ${HOW}`);
  } finally {
    await pool.end();
  }
}

/**
 * A distributed database with the schema, from which each server can make copies. No session is connected to it, not even the maintenance
 * daemon of Citus.
 */
export async function makeModelo(servers: readonly ClientConfig[], name: string): Promise<void> {
  const [coordinator, ...nodes] = servers as readonly [ClientConfig, ...ClientConfig[]];
  await onEach(servers, `drop database if exists ${name} with (force)`);
  await onEach([coordinator], `create database ${name}`);
  const pool = openPool({ ...coordinator, database: name }, () => undefined, true);
  await migrate(pool);
  const nos = nodes.map(({ host, port }) => ({ host: host!, porta: port! }));
  await distribute(pool, { nos, fragmentos: FRAGMENTOS, tell: () => undefined });
  await pool.end();
  await onEach(
    servers,
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
  );
}

/** A refusal of Citus, as its log shows it. */
export type Recusa = {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly statement: string;
  readonly count: number;
};

type Entry = {
  readonly error_severity: string;
  readonly state_code?: string;
  readonly message?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly statement?: string;
};

const LOG = `pg_current_logfile('jsonlog')`;
/** Refusals that are due to Citus, by SQLSTATE (a feature, an internal error) or by message. */
const BY_CODE = new Set(['0A000', 'XX000', '42P16']);
const BY_MESSAGE =
  /\bcitus\b|\bshards?\b|distributed|reference table|co-?located|not supported|unsupported|cannot perform|could not (?:run|route|push)|PGCOPY/i;
/** Numbers of shards and of values differ between runs. */
const NUMBER = /(?<=_)\d{6,}|\$\d+|\b\d+\b/g;

/** The position in the coordinator's log at which the run starts. */
export async function markLog(coordinator: ClientConfig): Promise<string> {
  const [row] = await askAlone<{ size: string }>(coordinator, `select size::text from pg_stat_file(${LOG})`);
  return row!.size;
}

/** Statements that were refused since, each once, the most frequent first. */
export async function readRecusas(coordinator: ClientConfig, since: string): Promise<readonly Recusa[]> {
  const [row] = await askAlone<{ log: Buffer }>(
    coordinator,
    `select pg_read_binary_file(${LOG}, ${since}, 1000000000) as log`,
  );
  const entries = row!.log
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
  const refused = entries.filter(
    ({ error_severity, state_code = '', message = '' }) =>
      error_severity === 'ERROR' && (BY_CODE.has(state_code) || BY_MESSAGE.test(message)),
  );
  const same = Map.groupBy(refused, ({ message = '', statement = '' }) =>
    `${message}\n${statement}`.replace(NUMBER, '#').replace(/\s+/g, ' '),
  );
  return [...same.values()]
    .map((all) => {
      const { state_code = '', message = '', hint, statement = '' } = all[0]!;
      return { code: state_code, message, hint, statement, count: all.length };
    })
    .toSorted((a, b) => b.count - a.count);
}

export function describeRecusas(recusas: readonly Recusa[]): string {
  const times = recusas.reduce((sum, { count }) => sum + count, 0);
  const parts = recusas.map(({ code, message, hint, statement, count }) =>
    [
      `${count}×  ${code}  ${message}`,
      ...(hint === undefined ? [] : [`    ${hint}`]),
      ...statement.split('\n').map((line) => `    | ${line}`),
    ].join('\n'),
  );
  return [`Citus refused ${recusas.length} statements, ${times} times.`, ...parts].join('\n\n');
}

async function askAlone<Row extends object>(server: ClientConfig, text: string): Promise<readonly Row[]> {
  const client = new Client(server);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** The settings of the database, which a copy does not take over. */
export async function setSettings(connection: ClientConfig): Promise<void> {
  const pool = openPool(connection, () => undefined);
  await setOnAllNodes(pool);
  await pool.end();
}

/** Runs each statement by itself on each server, outside of Citus' own propagation. */
export async function onEach(servers: readonly ClientConfig[], ...statements: readonly string[]): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      for (const text of statements) await askAlone(server, text);
    }),
  );
}

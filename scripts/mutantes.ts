/**
 * The mutants of a file that its tests do not notice: `npm run mutantes -- src/adn/breaker.ts`. Each runs in a copy of
 * the project in a temporary folder, one at a time. The tests of {@link TESTS} run in their order, until one fails. A
 * time limit kills an endless mutant, and is reported; a memory limit kills one that grows. Lines behind the name,
 * `…/breaker.ts:31:57`, restrict the run to them.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { API } from 'typescript/unstable/sync';
import { Client } from '../src/base/pg/pg.ts';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { type Mutant, mutantsOf } from './make-mutants.ts';
import { EQUIVALENT, TESTS } from './mutants-table.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const NODE = ['--max-old-space-size=1024', '--test-reporter=tap'];
/** A mutant may take this many times as long as the unchanged file, and some seconds on top. */
const SLOWER = 4;
const SPARE_MS = 60_000;
const FIRST_RUN_MS = 600_000;
/** A test that imports one of these needs the database server, which all of them share. */
const NEEDS_SERVER = /support\/(database|service|municipio)\.ts'/;

let isStopped = false;

type Place = { readonly linha: number; readonly antes: string; readonly depois: string };

type Ending = 'passed' | 'failed' | 'late';

/** Runs a test file up to the first test that fails: the exit code needs no more. */
function runTest(test: string, folder: string, timeoutMs: number): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...NODE, test], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    const end = (): void => void child.kill('SIGKILL');
    let isLate = false;
    const clock = setTimeout(() => {
      isLate = true;
      end();
    }, timeoutMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (/^\s*not ok /m.test(text)) end();
    });
    child.on('close', (code) => {
      clearTimeout(clock);
      resolve(isLate ? 'late' : code === 0 ? 'passed' : 'failed');
    });
  });
}

/** The project as it is in the work tree, new files included. */
function copyProject(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'nfse-mutantes-'));
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of listed.split('\0').filter((name) => existsSync(path.join(ROOT, name)) && name !== '')) {
    cpSync(path.join(ROOT, file), path.join(folder, file), { force: true });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

/** The types of the file itself decide. */
function isRefused(api: API, file: string): boolean {
  const snapshot = api.updateSnapshot({ fileChanges: { changed: [file] } });
  const { program } = snapshot.getProjects()[0]!;
  const faults = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  snapshot.dispose();
  return faults.length > 0;
}

/** Drops the databases of killed tests. */
async function dropLeftovers(): Promise<void> {
  const [server] = JSON.parse(process.env['NFSE_TEST_SERVERS']!);
  const client = new Client(server);
  await client.connect();
  const { rows } = await client.query("select datname from pg_database where datname like 't\\_%'");
  for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`);
  await client.end();
}

function placeOf(source: string, { start, end, text }: Mutant): Place {
  const before = source.slice(0, start);
  const antes = lineAt(source, start, end);
  const changed = before + text + source.slice(end);
  return { linha: before.split('\n').length, antes, depois: lineAt(changed, start, start + text.length) };
}

/** The lines of a text around a place, joined into one line. */
function lineAt(text: string, start: number, end: number): string {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const to = text.indexOf('\n', end);
  return text
    .slice(from, to < 0 ? undefined : to)
    .replace(/\s+/g, ' ')
    .trim();
}

/** The time limit of each test; the unchanged project must pass within it. */
async function timeTests(tests: readonly string[], folder: string): Promise<ReadonlyMap<string, number>> {
  const limits = new Map<string, number>();
  for (const test of tests) {
    const needsServer = NEEDS_SERVER.test(readFileSync(path.join(folder, test), 'utf8'));
    if (needsServer && process.env['NFSE_TEST_SERVERS'] === undefined) await globalSetup();
    const begun = performance.now();
    if ((await runTest(test, folder, FIRST_RUN_MS)) !== 'passed') throw new Error(`${test} falha sem mutante algum`);
    limits.set(test, SLOWER * (performance.now() - begun) + SPARE_MS);
  }
  return limits;
}

/** Runs the tests up to the first that notices the mutant. */
async function runTests(limits: ReadonlyMap<string, number>, folder: string): Promise<Ending> {
  for (const [test, limitMs] of limits) {
    const ending = await runTest(test, folder, limitMs);
    if (ending !== 'passed') return ending;
  }
  return 'passed';
}

async function tryMutants(argument: string, folder: string): Promise<void> {
  const [file, ...lines] = argument.split(':') as [string, ...string[]];
  const target = path.join(folder, file);
  const source = readFileSync(target, 'utf8');
  const limits = await timeTests(TESTS[file] ?? [file.replace(/\.ts$/, '.test.ts')], folder);
  const api = new API({ cwd: folder });
  const snapshot = api.updateSnapshot({ openProjects: [path.join(folder, 'tsconfig.json')] });
  const mutants = mutantsOf(snapshot.getProjects()[0]!.program.getSourceFile(target)!);
  const count = { passed: 0, failed: 0, late: 0, equivalent: 0 };
  for (const mutant of mutants) {
    if (isStopped) break;
    if (lines.length > 0 && !lines.includes(String(placeOf(source, mutant).linha))) continue;
    writeFileSync(target, source.slice(0, mutant.start) + mutant.text + source.slice(mutant.end));
    if (isRefused(api, target)) continue;
    const { linha, antes, depois } = placeOf(source, mutant);
    const why = EQUIVALENT[file]?.find(([changed]) => depois.includes(changed))?.[1];
    const ending = why === undefined ? await runTests(limits, folder) : 'equivalent';
    count[ending] += 1;
    if (process.env['NFSE_TEST_SERVERS'] !== undefined) await dropLeftovers();
    const what = why ?? (ending === 'passed' ? 'SOBREVIVEU' : 'morto pelo relógio');
    if (ending !== 'failed') console.log(`${file}:${linha} ${what}\n  - ${antes}\n  + ${depois}`);
  }
  writeFileSync(target, source);
  api.close();
  const { passed: survived, equivalent } = count;
  const killed = count.failed + count.late;
  const share = ((100 * killed) / Math.max(1, killed + survived)).toFixed(1);
  console.log(
    `${file}: ${killed + survived + equivalent} mutantes, ${killed} mortos, ${survived} vivos, ${equivalent} equivalentes; ${share} %`,
  );
}

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error('Diga o arquivo: npm run mutantes -- src/adn/breaker.ts');
  process.exit(2);
}
if (os.getPriority() < 10) os.setPriority(10);
const folder = copyProject();
process.env['NODE_COMPILE_CACHE'] = path.join(folder, '.compilado');
const stop = (): void => {
  isStopped = true;
};
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
try {
  for (const file of files) await tryMutants(file, folder);
} finally {
  await globalTeardown();
  rmSync(folder, { recursive: true, force: true });
}

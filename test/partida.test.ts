/**
 * Modules and bytes that are loaded before the service answers, and before a command does, compared with a stored ceiling. A growth by a
 * tenth fails, and the report names the packages and folders that grew. `NFSE_GRAVAR_PARTIDA=1` stores the present values as the ceiling.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { freshDataDir, nfse, ROOT, startServiceProcess } from './support/process.ts';

/** Modules, and their bytes. */
type Loaded = readonly [modules: number, bytes: number];
/** Grouped by room of `src` and by package. */
type Partida = Readonly<Record<string, Loaded>>;

const CEILINGS = path.join(ROOT, 'test/partida.json');
const GROWTH_MAX = 1.1;

const ceilings = new Map<string, Partida>(Object.entries(JSON.parse(readFileSync(CEILINGS, 'utf8'))));

/** The room of our own file, or the package of another one. */
function groupOf(file: string): string {
  const parts = path.relative(ROOT, file).split(path.sep);
  const at = parts.lastIndexOf('node_modules');
  if (at === -1) return parts.slice(0, parts[0] === 'src' && parts.length === 2 ? 1 : 2).join('/');
  return parts.slice(at + 1, at + (parts[at + 1]!.startsWith('@') ? 3 : 2)).join('/');
}

/** Runs with the preload, and returns the loaded modules. */
async function loadedBy(run: (env: NodeJS.ProcessEnv) => Promise<void>): Promise<Partida> {
  const folder = await freshDataDir();
  const file = path.join(folder, 'carregados');
  const preload = `--import ${path.join(ROOT, 'test/support/partida.mjs')}`;
  const own = { NFSE_DATA_DIR: folder, DATABASE_URL: databaseUrlOf(await freshDatabase()) };
  await run({ NFSE_TEST_LOADED: file, NODE_OPTIONS: preload, ...own });
  const files = (JSON.parse(readFileSync(file, 'utf8')) as [string, number][])
    .map(([url, bytes]) => ({ group: groupOf(fileURLToPath(url)), bytes }))
    .filter(({ group }) => group !== 'test/support')
    .sort((one, other) => (one.group < other.group ? -1 : 1));
  const groups = Map.groupBy(files, ({ group }) => group);
  return Object.fromEntries([...groups].map(([group, some]) => [group, sumUp(some.map(({ bytes }) => [1, bytes]))]));
}

function sumUp(parts: readonly Loaded[]): Loaded {
  return parts.reduce(
    ([modules, bytes], [moreModules, moreBytes]) => [modules + moreModules, bytes + moreBytes],
    [0, 0],
  );
}

/** The groups that have grown, the largest growth first. */
function describeGrowth(now: Partida, before: Partida): string {
  const grown = Object.entries(now).map(([group, [modules, bytes]]) => {
    const [wereModules, wereBytes] = before[group] ?? [0, 0];
    return { group, modules: modules - wereModules, bytes: bytes - wereBytes };
  });
  return grown
    .filter(({ modules, bytes }) => modules > 0 || bytes > 0)
    .sort((one, other) => other.bytes - one.bytes)
    .map(({ group, modules, bytes }) => `${group}: ${modules} more modules, ${bytes} more bytes`)
    .join('\n');
}

function holdCeiling(name: string, now: Partida): void {
  if (process.env['NFSE_GRAVAR_PARTIDA'] === '1') {
    ceilings.set(name, now);
    const text = JSON.stringify(Object.fromEntries(ceilings), null, 2);
    writeFileSync(CEILINGS, `${text.replace(/\[\s+(\d+),\s+(\d+)\s+\]/g, '[$1, $2]')}\n`);
    return;
  }
  const before = ceilings.get(name);
  assert.ok(before, `${CEILINGS} knows no ${name}`);
  const [whole, ceiling] = [sumUp(Object.values(now)), sumUp(Object.values(before))];
  for (const [at, what] of ['modules', 'bytes'].entries()) {
    const told: string = `${name}: ${whole[at]} ${what}, and ${ceiling[at]} is the ceiling.\n${describeGrowth(now, before)}`;
    assert.ok(whole[at]! < ceiling[at]! * GROWTH_MAX, told);
  }
}

const COMMANDS: readonly (readonly string[])[] = [
  ['--version'],
  ['config'],
  ['explicar', 'E0370'],
  ['municipio', 'listar'],
  ['token', 'listar', 'integracao'],
];

for (const args of COMMANDS) {
  const name = `nfse ${args.join(' ')}`;
  test(`${name} loads no more than it did`, async () => {
    const loaded = await loadedBy(async (env) => {
      const { code, err } = await nfse(args, env);
      assert.equal(code, 0, err);
    });
    holdCeiling(name, loaded);
  });
}

test('the service loads no more than it did before it answers', async () => {
  const loaded = await loadedBy(async (env) => {
    const service = await startServiceProcess(env);
    await service.end('SIGINT');
  });
  holdCeiling('nfse serve', loaded);
});

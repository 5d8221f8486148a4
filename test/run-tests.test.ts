/** The test runner: a failure is never lost, the counts are right, and files are assigned to a place. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { chooseFiles } from '../scripts/choose-tests.ts';
import { onEnd } from './support/cleanup.ts';
import { ROOT } from './support/process.ts';

const HEAD = "import { describe, test } from 'node:test';\n";

/** Runs test files, given by name and text, as the command does, without a server. */
function runFiles(files: Readonly<Record<string, string>>, times = 1): { readonly status: number | null; out: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-corrida-'));
  onEnd(() => rmSync(folder, { recursive: true }));
  const places = Object.entries(files).map(([name, text]) => {
    writeFileSync(path.join(folder, name), HEAD + text);
    return path.join(folder, name);
  });
  const program = `import { runTests } from ${JSON.stringify(path.join(ROOT, 'scripts/run-files.ts'))};
    const report = await runTests(${JSON.stringify(places)}, { times: ${times}, atOnce: 2, seed: undefined, isTalkative: false });
    report.tell({ times: ${times}, seed: undefined });
    process.exitCode = report.hasFailed() ? 1 : 0;`;
  writeFileSync(path.join(folder, 'run.mjs'), program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(folder, 'run.mjs')], {
    cwd: folder,
    env: { ...process.env, NFSE_FLAKY: path.join(folder, 'seen') },
    encoding: 'utf8',
  });
  return { status, out: stdout + stderr };
}

describe('a run', () => {
  test('that passes ends with 0, and counts what passed and what was skipped, with the reason', () => {
    const { status, out } = runFiles({
      'a.test.ts':
        "test('one', async (t) => { await t.test('part', () => {}); }); test('two', { skip: 'no tool' }, () => {});",
      'b.test.ts': "describe('suite', () => { test('three', () => {}); });",
    });
    assert.equal(status, 0, out);
    assert.match(out, /1, no tool: .*a\.test\.ts › two\n/);
    assert.match(out, /\n3 passed, 0 failed, 1 skipped\n$/);
    assert.match(out, /s de CPU, .* s {2}.*a\.test\.ts/);
  });

  test('with a failed assertion ends with 1, and shows where and why at once and again in its last part', () => {
    const { status, out } = runFiles({
      'a.test.ts':
        "describe('s', () => { test('ok', () => {}); test('bad', () => { console.log('printed'); throw new Error('because'); }); });",
    });
    assert.equal(status, 1, out);
    assert.match(
      out,
      /^✖ .*a\.test\.ts › s › bad\n +Error: because\n[\s\S]*\nFalharam:\n✖ .*a\.test\.ts › s › bad\n +Error: because\n/m,
    );
    assert.equal(out.match(/because/g)?.length, 2, out);
    assert.match(out, /printed/);
    assert.match(out, /\n1 passed, 1 failed, 0 skipped\n$/);
  });

  test('in which a file fails outside of its tests ends with 1, and counts each such file', () => {
    const bad: Readonly<Record<string, string>> = {
      'exits-early.test.ts': "test('a', () => {}); process.exit(3);",
      'cannot-be-read.test.ts': "test('a', () => {}); import './not-there.ts';",
      'throws-at-once.test.ts': "throw new Error('at once');",
      'hook.test.ts':
        "import { before } from 'node:test'; before(() => { throw new Error('hook'); }); test('a', () => {});",
      'suite.test.ts': "describe('s', () => { throw new Error('suite'); });",
      'throws-late.test.ts':
        "test('a', () => {}); setImmediate(() => setImmediate(() => { throw new Error('late'); }));",
      'last-hook.test.ts':
        "import { after } from 'node:test'; after(() => { throw new Error('end'); }); test('a', () => {});",
      'last-closer.test.ts': `import { onEnd } from ${JSON.stringify(path.join(ROOT, 'test/support/cleanup.ts'))};
        onEnd(() => { throw new Error('closer'); }); test('a', () => {});`,
    };
    const { status, out } = runFiles({ ...bad, 'good.test.ts': "test('good', () => {});" });
    assert.equal(status, 1, out);
    for (const name of Object.keys(bad)) assert.match(out, new RegExp(`✖ .*${name}`), name);
    assert.doesNotMatch(out, /✖ .*good/);
    assert.match(out, new RegExp(`\\n\\d passed, ${Object.keys(bad).length} failed, 0 skipped\\n$`));
  });

  test('in which no test ran is none that passed', () => {
    assert.equal(runFiles({ 'a.test.ts': '' }).status, 1);
  });

  test('of several times names what failed in some of them', () => {
    const { status, out } = runFiles(
      {
        'a.test.ts': `import { existsSync, writeFileSync } from 'node:fs';
          test('comes and goes', () => { const file = process.env.NFSE_FLAKY; if (!existsSync(file)) { writeFileSync(file, ''); throw new Error('once'); } });`,
      },
      2,
    );
    assert.equal(status, 1, out);
    assert.match(out, /\nFalharam:\n✖ .*comes and goes {2}\(1 de 2 vezes\)\n/);
    assert.match(out, /\n1 passed, 1 failed, 0 skipped\n$/);
  });
});

describe('the files of a run', () => {
  const first = chooseFiles({ places: [], circle: 'first' });
  const machine = chooseFiles({ places: [], circle: 'machine' });

  test('are in one circle each, told by their names', () => {
    assert.ok(first.length > 100 && machine.length > 30);
    assert.ok(machine.every((file) => file.endsWith('.maquina.test.ts')));
    assert.deepEqual(chooseFiles({ places: [], circle: 'both' }), [...first, ...machine].sort());
  });

  test('of a folder are those in it, and those of test/ that bear its name or that of a file in it', () => {
    const lotes = chooseFiles({ places: ['src/subjects/lotes'], circle: 'first' });
    assert.ok(lotes.includes('src/subjects/lotes/soap-fuzz.test.ts'));

    assert.deepEqual(chooseFiles({ places: ['src/fiscal/rules'], circle: 'first' }).slice(0, 1), [
      'src/fiscal/rules/cep.test.ts',
    ]);
    assert.deepEqual(chooseFiles({ places: ['src/base/book/numeracao.ts'], circle: 'first' }), [
      'src/base/book/numeracao.test.ts',
    ]);
    assert.deepEqual(chooseFiles({ places: ['src/fiscal/decimal.ts'], circle: 'first' }), [
      'src/fiscal/decimal.test.ts',
    ]);
  });

  test('may be named, whatever their circle; a place without any is told', () => {
    assert.deepEqual(chooseFiles({ places: ['src/subjects/copias/copia.maquina.test.ts'], circle: 'first' }), [
      'src/subjects/copias/copia.maquina.test.ts',
    ]);
    assert.throws(() => chooseFiles({ places: ['src/nenhures'], circle: 'first' }), /src\/nenhures: nenhum teste/);
  });
});

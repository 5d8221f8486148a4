/** The version of the program: in a checkout, out of the archive, and when neither git nor the archive gives a commit. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { versionOf } from './versao.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'nfse-versao-'));
after(() => rmSync(folder, { recursive: true }));

const skip = spawnSync('git', ['--version']).status === 0 ? (false as const) : 'pede git';

/** The module alone, in a project with this manifest. */
function projectOf(name: string, said: object): string {
  const root = path.join(folder, name);
  mkdirSync(path.join(root, 'src/published'), { recursive: true });
  for (const file of ['versao.ts', 'project-text.ts'])
    copyFileSync(path.join(import.meta.dirname, file), path.join(root, 'src/published', file));
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ type: 'module', ...said }));
  return root;
}

function textOf(root: string, env: NodeJS.ProcessEnv = process.env): string {
  const program = `console.log((await import('${root}/src/published/versao.ts')).versionText())`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env }).trim();
}

function commitIn(root: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', root, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { encoding: 'utf8' });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'x');
  return git('log', '-1', '--format=%H').slice(0, 12);
}

describe('the version of the program', () => {
  test('is that of package.json', () => {
    const { name, version } = versionOf();
    assert.deepEqual({ name, version }, { name: manifest.name, version: manifest.version });
  });

  test('in the archive it has the commit of the package, whatever repository is around it', { skip }, () => {
    const root = projectOf('arquivo', { name: 'nfse', version: '1.2.3', gitHead: 'abcdef012345' });
    commitIn(root);
    assert.equal(textOf(root), 'nfse 1.2.3 (commit abcdef012345)');
  });

  test('in a checkout it has the commit of git', { skip }, () => {
    const root = projectOf('copia', { name: 'nfse', version: '1.2.3' });
    const commit = commitIn(root);
    assert.equal(textOf(root), `nfse 1.2.3 (commit ${commit})`);
    assert.equal(textOf(root, { PATH: '' }), 'nfse 1.2.3', 'a machine without git');
  });

  test('inside of a repository of something else it has none', { skip }, () => {
    const around = path.join(folder, 'outro');
    mkdirSync(around);
    commitIn(around);
    assert.equal(textOf(projectOf('outro/nfse', { name: 'nfse', version: '1.2.3' })), 'nfse 1.2.3');
  });
});

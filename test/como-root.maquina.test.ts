/** Commands that root runs beside a service of another account: no file of theirs hinders that account. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { writeFileFor } from '../src/documents/new-files.ts';
import { openRegistro } from '../src/simulador/registro.ts';
import { freshDataDir, ROOT } from './support/process.ts';

const NOBODY = 65_534;
const skip =
  process.getuid?.() === 0 && process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0
    ? (false as const)
    : 'pede root e setpriv';

type Checkout = { readonly folder: string; readonly project: string };

/** A project that another account owns, with its own packages. */
async function checkoutOf(uid: number): Promise<Checkout> {
  const folder = await freshDataDir();
  const project = path.join(folder, 'projeto');
  const packages = path.join(project, 'node_modules');
  mkdirSync(packages, { recursive: true });
  for (const name of ['package.json', 'src', 'examples', 'packages'])
    cpSync(path.join(ROOT, name), path.join(project, name), { recursive: true });
  for (const name of readdirSync(path.join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(path.join(ROOT, 'node_modules', name), path.join(packages, name));
  }
  for (const entry of ['.', ...readdirSync(project, { recursive: true })]) {
    lchownSync(path.join(project, String(entry)), uid, uid);
  }
  return { folder, project };
}

/** Runs a command as root, without the compile cache of the test run. */
function asRoot(project: string, ...args: readonly string[]): void {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  runAsRoot(project, env, args);
}

/** The same with Node's compile cache outside of the project: it starts in half the time. */
function asRootAgain(project: string, ...args: readonly string[]): void {
  runAsRoot(project, { ...process.env, NODE_COMPILE_CACHE: path.join(path.dirname(project), 'compilado') }, args);
}

function runAsRoot(project: string, env: NodeJS.ProcessEnv, args: readonly string[]): void {
  const command = [path.join(project, 'src/main.js'), ...args];
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: project, env, encoding: 'utf8' });
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
}

/** Deletes as the account itself, which owns the folder but not its parent. */
function deleteAs(uid: number, folder: string): void {
  const rights = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const { stderr } = spawnSync('setpriv', [...rights, 'find', folder, '-mindepth', '1', '-delete'], {
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  assert.deepEqual(readdirSync(folder), []);
}

describe('root, beside the service of an account', { skip }, () => {
  test('leaves nothing that the account cannot delete: neither among the packages nor in its data', async () => {
    const { project } = await checkoutOf(NOBODY);
    asRoot(project, '--version');
    asRoot(project, 'municipio', 'criar', 'exemplo', '--ibge', '3550308');
    asRootAgain(project, 'municipio', 'mostrar', 'exemplo');
    asRootAgain(project, 'validar', 'examples/dps.xml');
    const data = path.join(project, 'data');
    assert.equal(statSync(data).uid, NOBODY);
    assert.equal(statSync(path.join(data, 'pg')).uid, NOBODY, 'the database is of the account, which can start it');
    deleteAs(NOBODY, project);
  });

  test('gives what its commands write to who owns the folder around it', async () => {
    const { project } = await checkoutOf(NOBODY);
    asRootAgain(project, 'pki', '--pasta', 'data/pki', '--senha', 'segredo');
    const [pfx] = globSync('data/pki/prestadores/*.pfx', { cwd: project });
    const key = ['--pfx', pfx!, '--senha', 'segredo'];
    asRootAgain(project, 'assinar', 'examples/dps.xml', ...key, '--saida', 'assinada.xml');
    asRootAgain(project, 'municipio', 'criar', 'exemplo', '--ibge', '3550308');
    asRootAgain(
      project,
      'prestador',
      'importar',
      'examples/prestadores.csv',
      '--municipio',
      'exemplo',
      '--erros',
      'erros.csv',
    );
    await (await openRegistro(path.join(project, 'adn/dados'))).close();
    for (const file of [
      'data/pki',
      'data/pki/prestadores',
      pfx!,
      'assinada.xml',
      'erros.csv',
      'adn',
      'adn/dados',
      'adn/dados/registro.log',
    ])
      assert.equal(lstatSync(path.join(project, file)).uid, NOBODY, file);
    deleteAs(NOBODY, project);
  });

  test('writes over a file of another account, and leaves it theirs', async () => {
    const folder = await freshDataDir();
    const file = path.join(folder, 'assinada.xml');
    writeFileSync(file, 'antes');
    lchownSync(file, NOBODY, NOBODY);
    await writeFileFor(file, 'depois');
    assert.deepEqual([statSync(file).uid, readFileSync(file, 'utf8')], [NOBODY, 'depois']);
  });

  test('keeps what Node compiled only where the packages are its own', async () => {
    const others = await checkoutOf(NOBODY);
    asRoot(others.project, '--version');
    assert.ok(!existsSync(path.join(others.project, 'node_modules/.cache')));
    const own = await checkoutOf(0);
    asRoot(own.project, '--version');
    assert.ok(existsSync(path.join(own.project, 'node_modules/.cache/nfse')));
  });
});

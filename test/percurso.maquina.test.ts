/**
 * The path of a newcomer, as the pages describe it. It has a sandbox by curl, the programs of the first note, and the program of the whole
 * path. Each language uses the client that the service offers. All programs run unchanged.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { LIFE } from './support/integrador.ts';
import { freshFolder } from './support/openssl.ts';
import { ROOT } from './support/process.ts';
import { startTestService } from './support/service.ts';
import { toolOr } from './support/tools.ts';

const { address, store } = await startTestService();
const FILES = `${address}/docs/arquivos`;
const PATIENCE_MS = 180_000;

const isFine = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: PATIENCE_MS }).status === 0;

/** The service runs in this process, so a program must not block it. */
function run(command: readonly string[], cwd: string): Promise<string> {
  const [program, ...args] = command;
  const env = { ...process.env, no_proxy: '*', NO_PROXY: '*' };
  return new Promise((resolve, reject) => {
    execFile(program!, args, { cwd, env, timeout: PATIENCE_MS }, (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${command.join(' ')}\n${out}\n${err}`)),
    );
  });
}

/** A folder with these files of the service, as a browser would save them. */
async function folderWith(...names: readonly string[]): Promise<string> {
  const folder = freshFolder();
  for (const name of names) {
    const answer = await fetch(`${FILES}/${name}`);
    assert.equal(answer.status, 200, name);
    writeFileSync(path.join(folder, name), Buffer.from(await answer.arrayBuffer()));
  }
  return folder;
}

/** Does the work of `npm i` for the package: it has no dependencies, and no scripts run. */
function unpackCliente(folder: string): void {
  const own = path.join(folder, 'node_modules/@emissor-nfse/cliente');
  mkdirSync(own, { recursive: true });
  assert.ok(isFine('tar', 'xzf', `${folder}/emissor-nfse-cliente.tgz`, '--strip-components=1', '-C', own));
}

type Linguagem = {
  readonly nome: string;
  readonly falta: string;
  readonly isHere: () => boolean;
  /** The program of the first note, and that of the whole path with its companion file. */
  readonly primeira: string;
  readonly percurso: readonly [string, string];
  /** The command, once the program is ready to run. */
  readonly prepare: (folder: string, program: string) => Promise<readonly string[]>;
};

const PYTHON = '/usr/bin/python3';

const LINGUAGENS: readonly Linguagem[] = [
  {
    nome: 'JavaScript',
    falta: 'no tar, with which the package is unpacked',
    isHere: () => toolOr('tar', 'tar') !== undefined,
    primeira: 'primeira-nota.mjs',
    percurso: ['percurso.mjs', 'emissor-nfse-cliente.tgz'],
    prepare: async (folder, program) => {
      if (readdirSync(folder).includes('emissor-nfse-cliente.tgz')) unpackCliente(folder);
      return [process.execPath, program];
    },
  },
  {
    nome: 'Python',
    falta: 'no Python with cryptography (Debian packages python3 python3-cryptography)',
    isHere: () => isFine(PYTHON, '-c', 'import cryptography'),
    primeira: 'primeira_nota.py',
    percurso: ['percurso.py', 'emissor_nfse.py'],
    prepare: async (_, program) => [PYTHON, program],
  },
  {
    nome: 'PHP',
    falta: 'no PHP from 8.1 on with its extensions curl and dom (Debian packages php-cli php-curl php-xml)',
    isHere: () => {
      const script = 'exit(PHP_VERSION_ID >= 80100 && extension_loaded("curl") && extension_loaded("dom") ? 0 : 1);';
      return isFine('php', '-r', script);
    },
    primeira: 'primeira-nota.php',
    percurso: ['percurso.php', 'EmissorNfse.php'],
    prepare: async (_, program) => ['php', program],
  },
  {
    nome: 'Java',
    falta: 'no Java with its compiler (Debian package default-jdk-headless)',
    isHere: () => isFine('javac', '-version') && isFine('java', '-version'),
    primeira: 'PrimeiraNota.java',
    percurso: ['Percurso.java', 'EmissorNfse.java'],
    prepare: async (folder) => {
      const sources = readdirSync(folder).filter((name) => name.endsWith('.java'));
      await run(['javac', '-encoding', 'UTF-8', ...sources], folder);
      const main = sources.find((name) => name !== 'EmissorNfse.java')!;
      return ['java', '-Dfile.encoding=UTF-8', '-Dstdout.encoding=UTF-8', path.basename(main, '.java')];
    },
  },
  {
    // Debian has no .NET, and Mono has no System.Text.Json: our own substitute is compiled too.
    nome: 'C#',
    falta: 'no Mono with its compiler (Debian packages mono-mcs mono-runtime)',
    isHere: () => isFine('mcs', '--version') && isFine('mono', '--version'),
    primeira: 'PrimeiraNota.cs',
    percurso: ['Percurso.cs', 'EmissorNfse.cs'],
    prepare: async (folder, program) => {
      const sources = readdirSync(folder).filter((name) => name.endsWith('.cs'));
      const main = path.basename(program, '.cs');
      // Mono now and then waits for most of a minute before it ends by itself.
      const entry = `class Entrada { static void Main(string[] a) { ${main}.Main(a); System.Environment.Exit(0); } }`;
      writeFileSync(path.join(folder, 'Entrada.cs'), entry);
      const stand = path.join(ROOT, 'test/fixtures/SystemTextJson.cs');
      const libraries = ['-r:System.Net.Http.dll', '-r:System.Security.dll'];
      await run(
        ['mcs', '-nowarn:1701', '-main:Entrada', '-out:programa.exe', ...libraries, stand, ...sources, 'Entrada.cs'],
        folder,
      );
      return ['mono', 'programa.exe'];
    },
  },
];

/** The commands of the page: they make a sandbox, issue in it, and move its clock. */
const PAGE = readFileSync(path.join(ROOT, 'docs/site/primeira-nota.md'), 'utf8');
const CURL = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands]) => commands).join('');

const hasShell = toolOr('bash', 'bash') !== undefined && toolOr('curl', 'curl') !== undefined;

/** A sandbox by the commands of the page. */
let made: ReturnType<typeof make> | undefined;
const sandbox = (): ReturnType<typeof make> => (made ??= make());

async function make(): Promise<{ readonly municipio: string; readonly folder: string }> {
  const folder = await folderWith('dps.xml', 'dps.json');
  const script = CURL.replaceAll('{{site}}', address).replaceAll('{{integracao}}', 'integracao');
  await run(['bash', '-euo', 'pipefail', '-c', script], folder);
  const { ambiente } = JSON.parse(readFileSync(path.join(folder, 'ambiente.json'), 'utf8'));
  return { municipio: ambiente.municipio, folder };
}

test('the commands of the page make a sandbox, issue in it and move its clock', {
  skip: hasShell ? false : 'bash or curl is not here',
}, async () => {
  const { municipio, folder } = await sandbox();
  assert.match(municipio, /^ensaio-[a-z0-9]{6}$/);
  const { chave_acesso } = JSON.parse(readFileSync(path.join(folder, 'resposta.json'), 'utf8'));
  assert.match(chave_acesso, /^\d{50}$/);
  const { relogioMs } = (await store.municipios.findBySlug(municipio))!;
  assert.equal(Math.round(relogioMs! / 86_400_000), 40);
});

for (const { nome, falta, isHere, primeira, percurso, prepare } of LINGUAGENS) {
  const skip = !hasShell ? 'bash or curl is not here' : isHere() ? false : falta;

  describe(nome, { skip }, () => {
    test('the program of the first note issues in a sandbox, whose address alone is another', async () => {
      const { municipio } = await sandbox();
      const folder = await folderWith('dps.json', primeira);
      const command = await prepare(folder, primeira);
      const out = await run([...command, 'dps.json', `${address}/${municipio}`], folder);
      assert.match(out, /^Emitida: (\d{50})\nAutorizada, ISSQN 20\.00: \1\.xml\n$/);
    });

    test('the whole way is one program, from a new sandbox to a note of January', async () => {
      const folder = await folderWith('dps.json', ...percurso);
      const command = await prepare(folder, percurso[0]);
      // The program runs without arguments, as on the page.
      const said = (await run(command, folder)).trimEnd().split('\n');
      const mudancas = said
        .filter((line) => line.startsWith('Mudança: '))
        .map((line) => line.slice('Mudança: '.length));
      const rest = said.filter((line) => !line.startsWith('Mudança: '));
      assert.match(rest[0]!, /^Ambiente ensaio-[a-z0-9]{6}, chave ensaio_\S+$/);
      const [, chave] = /^Nota 1 autorizada, ISSQN 20\.00: (\d{50})$/.exec(rest[1]!) ?? assert.fail(rest[1]);
      assert.deepEqual(rest.slice(2, 4), ['Cancelamento processado', `Na lista: ${chave} cancelada`]);
      assert.match(rest[4]!, /^Em janeiro: \d{4}-01-04 09:0\d:\d\d -0300$/);
      assert.equal(rest.length, 5);
      assert.ok(mudancas.includes('evento.processado'));
      assert.deepEqual(
        mudancas.filter((tipo) => tipo.startsWith('nota.')),
        [...LIFE, 'nota.cancelada'],
      );
      assert.equal(readFileSync(path.join(folder, 'nota.pdf')).toString('latin1', 0, 5), '%PDF-');
    });
  });
}

/**
 * The page and the README of the client, tested literally. The folder is like an integrator's, with the package installed as they say.
 * Their examples compile, and run in order and unchanged against the service.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type {
  Codigo,
  CodigoDeErro,
  CorpoDaDps,
  EnvelopeDeErro,
  Evento,
  ItemDeCatalogo,
  OpcoesDoCliente,
  PedidoDeEvento,
} from '../packages/cliente/src/index.ts';
import { readTar } from '../src/documents/tar.ts';
import { RULES } from '../src/fiscal/rules/rules.ts';
import { freshFolder } from './support/openssl.ts';
import { startTestService } from './support/service.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

const PACKAGE = path.join(ROOT, 'packages/cliente');
const page = await readFile(path.join(ROOT, 'docs/site/cliente.md'), 'utf8');
const { address } = await startTestService();
const PACKAGE_URL = `${address}/docs/arquivos/emissor-nfse-cliente.tgz`;
/** The limit allows for a slow or busy machine. */
const PATIENCE_MS = 300_000;

/** The code blocks of a language, in order. */
function shown(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block]) => block!);
}

const blocks = shown(page, 'ts').map((block) => block.replaceAll('{{site}}', address));
/** The last block is about another municipality, in production: it is a separate program. */
const [first, production] = [blocks.slice(0, -1).join('\n'), blocks.at(-1)!];

const folder = freshFolder();
const program = path.join(folder, 'pagina.ts');
const modules = path.join(folder, 'node_modules');
const installed = path.join(modules, '@emissor-nfse/cliente');
const build = (to: string) => execFileSync(process.execPath, [path.join(ROOT, 'packages/pacote.ts'), PACKAGE, to]);
build(installed);
await writeFile(program, first);

test('the package is made again as it was made', async () => {
  const again = path.join(folder, 'outra-vez');
  build(again);
  const files = (await readdir(again, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const names = files.map((one) => path.relative(again, path.join(one.parentPath, one.name)));
  assert.ok(names.includes(path.join('src', 'index.js')), names.join(' '));
  for (const name of names) {
    assert.deepEqual(await readFile(path.join(again, name)), await readFile(path.join(installed, name)), name);
  }
});

test('what the page shows is what the compiler takes, and so is the package that is installed', async () => {
  assert.ok(blocks.length >= 6 && production.includes('certificado:'));
  const readme = await readFile(path.join(PACKAGE, 'README.md'), 'utf8');
  const firstNote = await readFile(path.join(ROOT, 'docs/site/exemplos/primeira-nota-cliente.mjs'), 'utf8');
  await writeFile(path.join(folder, 'producao.ts'), production);
  await writeFile(path.join(folder, 'primeira.ts'), firstNote);
  await writeFile(path.join(folder, 'leia-me.ts'), shown(readme, 'js').join('\n'));
  // The compiler must see the types at all.
  const wrong =
    "import type { Dps } from '@emissor-nfse/cliente';\nexport const dps: Dps = { valor_servicos: '1.00' };\n";
  await writeFile(path.join(folder, 'errado.ts'), wrong);
  await symlink(path.join(ROOT, 'node_modules/@types'), path.join(modules, '@types'));
  const compilerOptions = { strict: true, noEmit: true, target: 'esnext', module: 'nodenext', types: ['node'] };
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
  const errors = stdout.split('\n').filter((line) => /^\S/.test(line));
  assert.deepEqual([errors.length, /^errado\.ts\(2,\d+\)/.test(path.basename(errors[0] ?? ''))], [1, true], stdout);
});

test('the page runs from its first block to its last, with the package that is installed', async (t) => {
  const said: string[] = [];
  t.mock.method(console, 'log', (...words: unknown[]) => void said.push(words.join(' ')));
  await import(pathToFileURL(program).href);
  assert.equal(said.shift(), 'ISSQN 20.00; líquido 1000.00');
  assert.match(said.shift()!, /^\d{50} nova$/);
  for (const one of ['autorizada 20.00', 'processado cancelado_ok', '1', 'false', 'true']) {
    assert.ok(said.includes(one), `${one} is not in ${said.join(' | ')}`);
  }
  assert.ok(said.some((one) => /^[A-Z]{2} .*Ilhas/.test(one)));
});

test('the first line of the page installs what the service hands out, which is the package that is made here', async () => {
  const command = 'npm i {{site}}/docs/arquivos/emissor-nfse-cliente.tgz';
  assert.equal(page.split('\n')[2], '```console');
  assert.equal(shown(page, 'console')[0], `${command}\n`);
  const html = await (await fetch(`${address}/docs/cliente`)).text();
  const [before] = html.split(command.replace('{{site}}', address));
  assert.match(before!, /<\/h1>\s*<pre[^>]*><code>$/);
  const archive = await fetch(PACKAGE_URL);
  assert.deepEqual(
    ['content-type', 'access-control-allow-origin'].map((name) => archive.headers.get(name)),
    ['application/gzip', '*'],
  );
  const handed = new Map<string, Buffer>();
  const unpacked = archive.body!.pipeThrough(new DecompressionStream('gzip'));
  for await (const { name, bytes } of readTar(Readable.fromWeb(unpacked as ReadableStream), 2 ** 20))
    handed.set(name, bytes);
  const own = path.join(modules, '@emissor-nfse/cliente');
  const files = await readdir(own, { recursive: true, withFileTypes: true });
  const made = files.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
  assert.deepEqual([...handed.keys()].sort(), made.map((file) => `package/${path.relative(own, file)}`).sort());
  for (const file of made) {
    assert.equal(String(handed.get(`package/${path.relative(own, file)}`)), await readFile(file, 'utf8'), file);
  }
  const again = await fetch(PACKAGE_URL, { headers: { 'If-None-Match': archive.headers.get('etag')! } });
  assert.equal(again.status, 304);
  const { dependencies, engines, private: isPrivate } = JSON.parse(String(handed.get('package/package.json')));
  assert.deepEqual([dependencies, engines.node, isPrivate], [undefined, '>=20.3', undefined]);
  assert.match(page, /Node 20\.3 ou mais novo/);
});

/** The machine's own Node, which is older than that of this project, and its npm; undefined if there is none. */
function nodeOfMachine(): { readonly env: NodeJS.ProcessEnv; readonly version: string } | undefined {
  const own = (process.env['PATH'] ?? '').split(path.delimiter).filter((one) => !one.includes('node_modules'));
  const env = { ...process.env, PATH: own.join(path.delimiter), no_proxy: '*', NO_PROXY: '*' };
  const { stdout, status } = spawnSync('sh', ['-c', 'command -v npm >&2 && node --version'], { encoding: 'utf8', env });
  return status === 0 ? { env, version: stdout.trim() } : undefined;
}

const machine = nodeOfMachine();

test('from an empty folder, in JavaScript and in TypeScript: one command, and a note is issued', {
  skip: machine === undefined ? 'there is no npm here' : false,
}, async (t) => {
  const { env, version } = machine!;
  t.diagnostic(`Node ${version}`);
  const empty = freshFolder();
  const run = promisify(execFile);
  const type = (command: string, args: readonly string[]): Promise<{ readonly stdout: string }> =>
    run(command, args, { cwd: empty, env, timeout: PATIENCE_MS });
  // Only the address of the service is requested: the registry is a port without a listener.
  const registry = ['--registry', 'http://127.0.0.1:9/', '--cache', path.join(empty, '.npm')];
  await type('npm', ['i', PACKAGE_URL, ...registry, '--no-audit', '--no-fund', '--loglevel', 'error']);
  const installed = await readdir(path.join(empty, 'node_modules'));
  assert.deepEqual(
    installed.filter((name) => !name.startsWith('.')),
    ['@emissor-nfse'],
  );
  // A second installation finds the content of the lock file.
  await type('npm', ['ci', ...registry, '--no-audit', '--no-fund', '--loglevel', 'error']);

  const dps = await readFile(path.join(ROOT, 'examples/dps.json'), 'utf8');
  const body = (types: string) => `import { createCliente${types} } from '@emissor-nfse/cliente';
const cliente = createCliente({ url: '${address}', municipio: 'integracao' });
const dps${types === '' ? '' : ': Dps'} = ${dps.replace(/\s*"(?:numero|serie)_dps": "[^"]*",/g, '')};
const { chave_acesso } = await cliente.emitirNota(dps);
const { situacao, nota } = await cliente.acompanharNota(chave_acesso, { primeiraEsperaMs: 250 });
console.log(situacao, chave_acesso.length, nota.valor_issqn);
`;
  await writeFile(path.join(empty, 'programa.mjs'), body(''));
  assert.equal((await type('node', ['programa.mjs'])).stdout, 'autorizada 50 20.00\n');

  await symlink(path.join(ROOT, 'node_modules/@types'), path.join(empty, 'node_modules/@types'));
  await writeFile(path.join(empty, 'programa.mts'), body(', type Dps'));
  const compilerOptions = { strict: true, target: 'es2022', module: 'nodenext', types: ['node'], skipLibCheck: false };
  await writeFile(path.join(empty, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['programa.mts'] }));
  await rm(path.join(empty, 'programa.mjs'));
  await run(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', empty], { cwd: empty });
  assert.equal((await type('node', ['programa.mjs'])).stdout, 'autorizada 50 20.00\n');
});

test('the types know every code that is answered', async () => {
  const types = await readFile(path.join(ROOT, 'packages/cliente/src/tipos.ts'), 'utf8');
  const [, union] = /export type CodigoDeErro =([^;]+);/.exec(types)!;
  const known = new Set([...union!.matchAll(/'(E\d+)'/g)].map(([, code]) => code!));
  // The answers were recorded together with the examples.
  const recorded = await readFile(path.join(ROOT, 'src/published/openapi/exemplos.json'), 'utf8');
  const answered = [...recorded.matchAll(/"codigo_erro":"(E\d+)"/g)].map(([, codigo]) => codigo!);
  const judging = RULES.filter(({ scope }) => scope !== 'aviso').map(({ code }) => code);
  assert.ok(answered.length > 10 && judging.length > 100);
  assert.deepEqual(
    [...answered, ...judging].filter((codigo) => !known.has(codigo)),
    [],
  );
});

// Code for the compiler alone; none of it runs.

export const pedido = {
  tipo_evento: 'rejeicao_tomador',
  codigo_motivo_rejeicao: '3',
} satisfies PedidoDeEvento;

// @ts-expect-error: a reason that the type does not have
export const reason: PedidoDeEvento = { tipo_evento: 'rejeicao_tomador', codigo_motivo_rejeicao: '8' };

// @ts-expect-error: a type that is registered by office alone
export const byOffice: PedidoDeEvento = { tipo_evento: 'bloqueio_por_oficio' };

// @ts-expect-error: a cancellation without its required fields
export const bare: PedidoDeEvento = { tipo_evento: 'cancelamento' };

// @ts-expect-error: a name that the body does not have
export const named: Partial<CorpoDaDps> = { valor_servicos: '1.00' };

// @ts-expect-error: an amount is a text or a number
export const amount: Partial<CorpoDaDps> = { valor_servico: true };

// @ts-expect-error: no such code
export const code: CodigoDeErro = 'E9999';

/** A newer service may answer it. */
export const newer: Codigo = 'E9999';

export function told({ codigo_erro, erros }: EnvelopeDeErro): string {
  const campos: readonly (string | undefined)[] = erros.map(({ campo }) => campo);
  return codigo_erro === 'E0014' ? 'again' : campos.join();
}

export function stateOf({ status_evento }: Evento): 'open' | 'closed' {
  // @ts-expect-error: no such state
  if (status_evento === 'concluido') return 'closed';
  return status_evento === 'processado' ? 'closed' : 'open';
}

// @ts-expect-error: an answer is read-only
export const rewrite = (evento: Evento): string => (evento.tipo_evento = 'cancelamento');

export const currency = ({ sigla }: ItemDeCatalogo<'moedas'>): string => sigla;

// @ts-expect-error: a certificate without its key
export const keyless: OpcoesDoCliente = { url: '', municipio: '', certificado: { certificado: '' } };

/**
 * The public description in third-party tools. The linters of common pipelines find no error in it, and the output of the usual generators
 * compiles strictly. The programs are packages of `openapi-ferramentas/`, at fixed versions, in a separate folder. So an operator of the
 * service need not install them.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { EXAMPLE_SITE } from '../src/published/openapi/examples.ts';
import { openapiText } from '../src/published/openapi/openapi.ts';
import { onEnd } from './support/cleanup.ts';
import { ROOT } from './support/process.ts';

const INSTALL_WITHIN_MS = 900_000;

const tools = installed();
const work = tools && mkdtempSync(path.join(tools, 'feito-'));
/** As it is served, with the examples. */
const DESCRIPTION = path.join(work ?? '', 'openapi.json');
if (work !== undefined) {
  onEnd(async () => rmSync(work, { recursive: true }));
  writeFileSync(DESCRIPTION, openapiText(EXAMPLE_SITE));
}

/**
 * The folder with the packages of the lock file, installed once for each content of it. Undefined, with the reason printed, if the registry
 * of packages is unreachable.
 */
function installed(): string | undefined {
  const from = path.join(import.meta.dirname, 'openapi-ferramentas');
  const asked = createHash('sha256');
  for (const file of ['package.json', '.npmrc']) asked.update(readFileSync(path.join(from, file)));
  const name = `openapi-ferramentas-${asked.digest('hex').slice(0, 16)}`;
  const folder = path.join(ROOT, 'node_modules/.cache/nfse', name);
  if (existsSync(folder)) return folder;
  const begun = `${folder}-${process.pid}`;
  mkdirSync(path.dirname(folder), { recursive: true });
  cpSync(from, begun, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const { status, stderr } = spawnSync('npm', ['install', ...options], {
    cwd: begun,
    encoding: 'utf8',
    timeout: INSTALL_WITHIN_MS,
  });
  if (status === 0) {
    renameSync(begun, folder);
    return folder;
  }
  rmSync(begun, { recursive: true });
  console.warn(`npm install failed: the description is not tried with others' programs. ${stderr.slice(-500)}`);
  return undefined;
}

type Ran = { readonly code: number; readonly said: string };

/** Runs a program of the packages to its end, in the folder of this run. `preloaded`: a file of that folder. */
async function run(program: string, args: readonly string[], preloaded?: string): Promise<Ran> {
  const bin = path.join(tools!, 'node_modules/.bin', program);
  const before = preloaded === undefined ? [] : ['--require', `./${preloaded}`];
  const env = { ...process.env, NO_COLOR: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { cwd: work!, env, maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(process.execPath, [...before, bin, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    (error) => ({ code: Number(error.code), said: `${error.stdout}${error.stderr}` }),
  );
}

async function done(program: string, ...args: readonly string[]): Promise<string> {
  const { code, said } = await run(program, args);
  assert.equal(code, 0, said.slice(-6_000));
  return said;
}

/** Uses our own compiler, which takes an eighth of the time of the generators' compiler. */
function assertCompiles(project: string): void {
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const { status, stdout, stderr } = spawnSync(tsc, ['-p', project], { cwd: work!, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
}

const write = (name: string, text: string): void => writeFileSync(path.join(work!, name), text);

/**
 * Spectral compiles the schema of an answer once for each example. ajv spends half of that time on formatting its code. Here each schema is
 * compiled once and left unformatted; it accepts the same.
 */
const COMPILED_ONCE = `
const { default: Ajv } = require('ajv/dist/core');
const { compile } = Ajv.prototype;
const compiled = new Map();
Ajv.prototype.compile = function (schema, ...more) {
  this.opts.code.optimize = 0;
  if (!compiled.has(this)) compiled.set(this, new Map());
  const own = compiled.get(this);
  const text = JSON.stringify(schema);
  if (!own.has(text)) own.set(text, compile.call(this, schema, ...more));
  return own.get(text);
};
`;

/** A test that needs the programs. */
const withTools = (name: string, body: (t: TestContext) => Promise<void>): void => {
  test(name, { skip: tools === undefined && 'the packages could not be installed' }, body);
};

/** Remarks of the linters on parts that the service's specification requires. */
const WANTED = {
  /** The address of layout 1.00 always answers 410. */
  alwaysGone: { path: '/api/v1/nfse', rules: ['operation-success-response', 'operation-2xx-response'] },
  /** `nfse/protocolo/{numero}` and `nfse/{chave}/eventos` have the same number of segments; routers match the fixed segment first. */
  ambiguous: 'no-ambiguous-paths',
  /** A condition on an event names properties of the schema around it. */
  conditions: 'no-required-schema-properties-undefined',
};

describe('linters', () => {
  withTools('Spectral, rules oas: no error, and no remark but one', async () => {
    write('.spectral.json', JSON.stringify({ extends: ['spectral:oas'] }));
    write('uma-vez.cjs', COMPILED_ONCE);
    const { said } = await run('spectral', ['lint', DESCRIPTION, '--format', 'json', '--quiet'], 'uma-vez.cjs');
    const found: { code: string; path: string[] }[] = JSON.parse(said.slice(said.indexOf('[')));
    const { path: gone, rules } = WANTED.alwaysGone;
    const left = found
      .filter(({ code, path: [, at] }) => at !== gone || !rules.includes(code))
      .map(({ code, path: at }) => `${code} at ${at.join('/')}`);
    assert.deepEqual(left, []);
  });

  withTools('Redocly, rules recommended: no error, and no remark but three', async () => {
    const { said } = await run('redocly', ['lint', DESCRIPTION, '--format', 'json', '--max-problems', '1000']);
    const { problems } = JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
    const wanted: readonly string[] = [WANTED.ambiguous, WANTED.conditions, ...WANTED.alwaysGone.rules];
    const left = problems
      .map(({ ruleId, message }: { ruleId: string; message: string }) => `${ruleId}: ${message}`)
      .filter((one: string) => !wanted.some((rule) => one.startsWith(`${rule}:`)));
    assert.deepEqual(left, []);
  });

  withTools('swagger-parser: valid, and every reference leads somewhere', async () => {
    const program = `import SwaggerParser from '@apidevtools/swagger-parser';
const document = await SwaggerParser.validate(process.argv[2]);
console.log(Object.keys(document.paths).length);`;
    write('valida.mjs', program);
    const { stdout } = await promisify(execFile)(process.execPath, ['valida.mjs', DESCRIPTION], { cwd: work! });
    assert.equal(Number(stdout), Object.keys(JSON.parse(readFileSync(DESCRIPTION, 'utf8')).paths).length);
  });
});

describe('generators of TypeScript', () => {
  /** The output of each generator, and a line that uses one of its operations with its types. */
  const generators: readonly {
    readonly name: string;
    readonly generate: () => Promise<string>;
    readonly use: string;
  }[] = [
    {
      name: 'openapi-typescript',
      generate: () => done('openapi-typescript', DESCRIPTION, '-o', 'openapi-typescript/tipos.ts'),
      use: `import type { operations } from './tipos.ts';
type Emitida = operations['emitirNota']['responses'][201]['content']['application/json'];
export const chaveDe = (emitida: Emitida): string => emitida.chave_acesso;
export const codigosDe = (recusa: operations['emitirNota']['responses'][422]['content']['application/json']): string[] =>
  (recusa.erros ?? []).map(({ codigo }) => codigo);`,
    },
    {
      name: 'hey-api',
      generate: () => {
        const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'];
        return done('openapi-ts', '-i', DESCRIPTION, '-o', 'hey-api', '-p', ...plugins, '--no-log-file');
      },
      use: `import { emitirNota, type EmitirNotaResponses } from './index.ts';
export const emite = emitirNota;
export const chaveDe = (emitida: EmitirNotaResponses[201]): string => emitida.chave_acesso;`,
    },
    {
      name: 'orval',
      generate: () => {
        const output = {
          target: 'orval/cliente.ts',
          client: 'fetch',
          baseUrl: 'https://nfse.exemplo.gov.br/integracao',
        };
        write('orval.config.cjs', `module.exports = ${JSON.stringify({ nfse: { input: DESCRIPTION, output } })};`);
        return done('orval', '--config', 'orval.config.cjs');
      },
      use: `import { emitirNota } from './cliente.ts';
export const chaveDe = async (xml: string): Promise<string | undefined> => {
  const emitida = await emitirNota(xml);
  return emitida.status === 201 ? emitida.data.chave_acesso : undefined;
};`,
    },
  ];

  for (const { name, generate, use } of generators) {
    withTools(`${name}: what it makes compiles strictly, and types an issuance`, async () => {
      mkdirSync(path.join(work!, name), { recursive: true });
      await generate();
      write(`${name}/uso.ts`, use);
      const compilerOptions = {
        strict: true,
        noEmit: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        target: 'es2022',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom', 'dom.iterable'],
        types: [],
      };
      write(`${name}.json`, JSON.stringify({ compilerOptions, include: [name] }));
      assertCompiles(`${name}.json`);
    });
  }
});

/**
 * A whole production on one machine, made with the commands of a municipality: a private PKI, the ADN simulator, a
 * tenant with its providers. The demonstration, the benchmark and the long tests use it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type MakePkiOptions, makePki, type Pki } from '../src/subjects/municipios/make-pki.ts';

export const ROOT = path.resolve(import.meta.dirname, '..');
const READY_WITHIN_MS = 120_000;
const FILE_LOOK_MS = 20;

/** A copy of the program, and the Node that runs it. */
export type Tree = { readonly root: string; readonly node: string };
const OWN: Tree = { root: ROOT, node: process.execPath };

/** The arguments of `npm start` in the commit of the copy. */
function startWords({ root }: Tree): readonly string[] {
  const manifest = readFileSync(path.join(root, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(manifest) as { readonly scripts: { readonly start: string } };
  return scripts.start.split(' ');
}

function mainOf(tree: Tree): string {
  return path.join(tree.root, startWords(tree).find((word) => word.startsWith('src/'))!);
}

function startOptions(tree: Tree): readonly string[] {
  return startWords(tree).filter((word) => word.startsWith('--'));
}

function startVariables(tree: Tree): NodeJS.ProcessEnv {
  return Object.fromEntries(
    startWords(tree)
      .filter((word) => /^[A-Z_]+=/.test(word))
      .map((word) => word.split('=')),
  );
}

export type Running = {
  /** The first group of the pattern that matched the ready message. */
  readonly address: string;
  readonly pid: number;
  /** Everything printed so far. */
  output(): string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
};

/**
 * Starts one of our commands, and leaves it running once its output matches. `file`: its output goes there, and costs
 * this process nothing.
 */
export async function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  ready: RegExp,
  tree = OWN,
  file?: string,
): Promise<Running> {
  const sink = file === undefined ? 'pipe' : openSync(file, 'w');
  const child = spawn(tree.node, [...startOptions(tree), mainOf(tree), ...args], {
    cwd: tree.root,
    env: { ...process.env, ...startVariables(tree), ...env },
    stdio: ['ignore', sink, sink],
  });
  if (sink !== 'pipe') closeSync(sink);
  let piped = '';
  const output = (): string => (file === undefined ? piped : readFileSync(file, 'utf8'));
  const address = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const match = ready.exec(output());
      if (match === null) return;
      clearTimeout(timer);
      clearInterval(looking);
      resolve(match[1] ?? '');
    };
    const fail = (how: string): void => {
      clearTimeout(timer);
      clearInterval(looking);
      reject(new Error(`${args[0]} ${how}:\n${output()}`));
    };
    const timer = setTimeout(() => fail('não ficou pronto'), READY_WITHIN_MS);
    const looking = file === undefined ? undefined : setInterval(look, FILE_LOOK_MS);
    const collect = (chunk: Buffer): void => {
      piped += chunk;
      look();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('exit', (code) => fail(`terminou (${code}) antes de ficar pronto`));
  });
  return { address, pid: child.pid!, output, end: (signal) => endOf(child, signal) };
}

function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  return ended;
}

/** Runs one of our commands to its end, and returns its standard output. A failure throws with all its output. */
export function run(args: readonly string[], env: NodeJS.ProcessEnv, tree = OWN): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(tree.node, [mainOf(tree), ...args], {
      cwd: tree.root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (errors += chunk));
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0
        ? resolve(output)
        : reject(new Error(`nfse ${args.join(' ')} terminou com ${code}:\n${output}${errors}`)),
    );
  });
}

/** `file`: its output goes there instead of to this process. */
export function startService(env: NodeJS.ProcessEnv, tree = OWN, file?: string): Promise<Running> {
  const ready = /Serviço no ar em (\S+)[\s\S]*Ctrl-C encerra/;
  // The measure is of one process, on any number of cores.
  return start(
    ['serve'],
    { PORT: '0', NFSE_LOG_LEVEL: 'warn', NFSE_PROCESSOS: '1', NFSE_PAINEL_PORTA: '0', ...env },
    ready,
    tree,
    file,
  );
}

export type Simulator = Running & {
  readonly control: string;
  /** Reads an address of the simulator's control port. */
  // biome-ignore lint/suspicious/noExplicitAny: looked at field by field
  ask(address: string, init?: RequestInit): Promise<any>;
};

/** The folders of a stage, below a folder of its own. */
export type Stage = { readonly dir: string; readonly pki: Pki };

/** A private PKI for these providers, in a folder of its own. */
export async function openStage(
  dir: string,
  cnpjs: readonly string[],
  now: number,
  makeKeys?: MakePkiOptions['makeKeys'],
): Promise<Stage> {
  await mkdir(dir, { recursive: true });
  // The database server's own account must be able to enter when root runs this.
  await chmod(dir, 0o755);
  const pasta = path.join(dir, 'pki');
  return { dir, pki: await makePki({ pasta, cnpjs, recusados: false, agora: now, makeKeys }) };
}

/** `ports`: the port of the ADN and that of its control; 0 chooses a free one. */
export async function startSimulator(
  { dir, pki }: Stage,
  extra: readonly string[] = [],
  ports: readonly [number, number] = [0, 0],
): Promise<Simulator> {
  const { certificado, chave, clientes } = pki.adn;
  const args = ['--porta', `${ports[0]}`, '--controle', `${ports[1]}`, '--dados', path.join(dir, 'adn')];
  const files = ['--certificado', certificado, '--chave', chave, '--clientes', clientes];
  const running = await start(
    ['adn-simulador', ...args, ...files, ...extra],
    {},
    /ADN simulado no ar em (https:\S+)[\s\S]*http:\/\/127\.0\.0\.1:\d+/,
  );
  const control = /(http:\/\/127\.0\.0\.1:\d+)/.exec(running.output())![1]!;
  return {
    ...running,
    control,
    ask: async (address, init) => (await fetch(`${control}${address}`, init)).json(),
  };
}

export type Tenant = {
  readonly slug: string;
  readonly ibge: string;
  readonly adn: string;
  readonly providers: readonly { readonly documento: string; readonly razaoSocial: string }[];
};

/** Creates the municipality, which trusts the stage and sends to its ADN. `command`: runs it. */
export async function createTenant(
  { pki }: Stage,
  { slug, ibge, adn }: Omit<Tenant, 'providers'>,
  settings: readonly string[],
  env: NodeJS.ProcessEnv,
  command: typeof run = run,
): Promise<void> {
  const trust = ['--ancoras', pki.ancoras, '--revogados', pki.revogados];
  const keys = ['--adn-certificado', pki.municipio.certificado, '--adn-chave', pki.municipio.chave];
  await command(
    ['municipio', 'criar', slug, '--ibge', ibge, ...trust, '--adn', adn, '--adn-ca', pki.adn.ca, ...keys, ...settings],
    env,
  );
}

/** Registers the municipality and its providers with the commands of an operator. `command`: runs each of them. */
export async function registerTenant(
  stage: Stage,
  tenant: Tenant,
  env: NodeJS.ProcessEnv,
  command: typeof run = run,
): Promise<void> {
  const { slug } = tenant;
  const { dir } = stage;
  await createTenant(stage, tenant, ['--aliquota', '5.00'], env, command);
  const file = path.join(dir, `${slug}-prestadores.csv`);
  const lines = tenant.providers.map(
    ({ documento, razaoSocial }, place) => `${documento},${razaoSocial},${1000 + place},sim,,`,
  );
  await writeFile(
    file,
    `documento,razao_social,inscricao_municipal,autorizado,simples_inicio,simples_fim\n${lines.join('\n')}\n`,
  );
  await command(['prestador', 'importar', file, '--municipio', slug], env);
}

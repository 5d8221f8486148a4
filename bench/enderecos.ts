/**
 * The cost of every address that is asked by GET, beside a bare server in the same seconds. The addresses are those that
 * the door announces, and the requests those of the examples of the description, so a new address comes by itself. The
 * file is also the program of the process that answers.
 */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { GUARDED_DOOR } from '../src/doors/rest/described-door.ts';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { SITE_PATHS } from '../src/doors/rest/site-routes.ts';
import { SANDBOX_SLUG } from '../src/fiscal/ambiente.ts';
import { ARQUIVOS_PATH, REFERENCE_PATH } from '../src/published/paths.ts';
import { listAddresses } from '../src/published/security.ts';
import { exampleService, locate, PASSOS, runPassos } from '../test/support/exemplos.ts';
import { askMeasured, placeOf } from './asker.ts';
import { openBare } from './bare.ts';
import { cpuSecondsOfProcess, HAS_THREADS, parseSchedstat } from './cpu.ts';
import type { Table } from './report.ts';
import type { Row } from './tables.ts';

const CONNECTIONS = 8;
const WARMUP_MS = 1_000;
const MEASURE_MS = 1_500;
/** The first address warms what all share. */
const FIRST_WARMUP_MS = 8_000;
/** A browser and most clients take it. */
const TAKES_GZIP = { 'Accept-Encoding': 'gzip' };

/** A request to an address; undefined `path`: no example answers 200. */
type Asked = {
  readonly endereco: string;
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
};
type Served = { readonly address: string; readonly asked: readonly Asked[] };

/** The parts of the paths outside the operations. */
const PARTS: Readonly<Record<string, string>> = { municipio: SANDBOX_SLUG, pagina: 'primeira-nota', codigo: 'E0014' };

export async function measureAddresses(): Promise<Table> {
  const child = fork(import.meta.filename, ['servir'], { env: process.env });
  const bare = await openBare();
  try {
    const { address, asked } = await new Promise<Served>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Served));
      child.once('exit', (code) => reject(new Error(`o processo que atende terminou (${code})`)));
    });
    const order = { connections: CONNECTIONS, measureMs: MEASURE_MS };
    const measured: (readonly [ratio: number, row: Row])[] = [];
    for (const { endereco, path, headers } of asked) {
      if (path === undefined) continue;
      const warmupMs = measured.length === 0 ? FIRST_WARMUP_MS : WARMUP_MS;
      const [own, floor] = await Promise.all([
        askMeasured(
          { ...order, warmupMs, ...placeOf(address), paths: [path], headers: { ...TAKES_GZIP, ...headers } },
          () => ({
            whole: cpuSecondsOfProcess(child.pid!),
            first: firstThreadSeconds(child.pid!),
          }),
        ),
        askMeasured({ ...order, warmupMs, host: '127.0.0.1', port: bare.port, paths: ['/'] }, () =>
          cpuSecondsOfProcess(bare.pid),
        ),
      ]);
      const each = (seconds: number, answers: number): number => (seconds / answers) * 1e6;
      const { answers, bytes } = own.result;
      const whole = each(own.after.whole - own.before.whole, answers);
      const first = each(own.after.first - own.before.first, answers);
      const least = each(floor.after - floor.before, floor.result.answers);
      const ratio = whole / least;
      const figures = [whole, first, least].map((one) => `${one.toFixed(0)} µs`);
      measured.push([ratio, [`\`${endereco}\``, ...figures, ratio.toFixed(1), (bytes / answers).toFixed(0)]]);
    }
    const rows = measured.toSorted(([one], [other]) => other - one).map(([, row]) => row);
    const left = asked.filter(({ path }) => path === undefined).map(({ endereco }) => endereco);
    const unmeasured: Row[] = left.map((endereco) => [
      `\`${endereco}\``,
      'sem exemplo que responda 200',
      '',
      '',
      '',
      '',
    ]);
    return {
      title: 'Cada endereço, ao lado de um servidor HTTP do Node que só responde',
      head: HEAD,
      rows: [...rows, ...unmeasured],
    };
  } finally {
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
    await bare.end();
  }
}

const HEAD = ['', 'CPU do serviço', 'do fio que atende', 'HTTP puro', 'vezes', 'bytes'];

/** Processor seconds of the thread with the door; of the whole process, where threads are not counted apart. */
function firstThreadSeconds(pid: number): number {
  if (!HAS_THREADS) return cpuSecondsOfProcess(pid);
  return parseSchedstat(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8'));
}

async function serve(): Promise<void> {
  const { address } = await exampleService();
  // What an example takes away is asked for here.
  const kept = PASSOS.filter(({ id }) => ROUTES.find((one) => one.id === id)?.method !== 'DELETE');
  const made = await runPassos(address, kept);
  const { chave_acesso: chave } = made.find(({ exemplo }) => exemplo.id === 'emitirNota')!.exemplo.resposta as Readonly<
    Record<string, string>
  >;
  const byAddress = new Map(
    made.flatMap(({ exemplo: { id, status, pedido } }) => {
      const { method, path } = locate(id, pedido);
      return method === 'GET' && status === 200 ? [[id, { path, headers: pedido.cabecalhos ?? {} }] as const] : [];
    }),
  );
  const asked: Asked[] = [];
  for (const { id, endereco } of listAddresses(GUARDED_DOOR, SITE_PATHS)) {
    const [method, pattern] = endereco.split(' ');
    if (method !== 'GET') continue;
    const known = byAddress.get(id) ?? { path: fillIn(pattern!, chave!), headers: {} };
    const { status } = await fetch(`${address}${known.path}`, { headers: known.headers, redirect: 'manual' });
    asked.push({ endereco: pattern!, headers: known.headers, path: status === 200 ? known.path : undefined });
  }
  process.send!({ address, asked } satisfies Served);
}

/** An address of a page, with its parts. */
function fillIn(pattern: string, chave: string): string {
  const arquivo = { [ARQUIVOS_PATH]: 'nfse-1.01.xsd', [REFERENCE_PATH]: 'swagger-ui-bundle.js' };
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const file = Object.entries(arquivo).find(([folder]) => pattern.startsWith(`${folder}/`))?.[1];
    return { ...PARTS, chave, chave_acesso: chave, arquivo: file ?? '' }[name] ?? name;
  });
}

if (import.meta.main && process.argv[2] === 'servir') await serve();

/**
 * `npm run bench`: the whole service as its users run it, under load from another process, beside the floor of the same
 * machine. Figures are ratios within one run; they are not compared between machines.
 *
 *   --conexoes N (64)   --segundos N (15)   --prestadores N (50)
 */
import { fork, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { floors } from './floor.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { cpuSecondsOf, type ProcessTimes } from './processes.ts';

const { values } = parseArgs({
  options: {
    conexoes: { type: 'string', default: '64' },
    segundos: { type: 'string', default: '15' },
    prestadores: { type: 'string', default: '50' },
  },
});
const WARMUP_MS = 4_000;
const root = path.resolve(import.meta.dirname, '..');
const dataDir = await mkdtemp(path.join(tmpdir(), 'nfse-bench-'));
// Run as root, the database server's own account must be able to enter.
await chmod(dataDir, 0o755);

try {
  await run();
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const service = spawn(process.execPath, [path.join(root, 'src/main.ts'), 'serve'], {
    env: { ...process.env, PORT: '0', NFSE_DATA_DIR: dataDir, NFSE_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  try {
    const address = await addressOf(service.stdout!);
    const { hostname, port } = new URL(address);
    const order: LoadOrder = {
      host: hostname,
      port: Number(port),
      path: '/integracao/api/v1/nfse/v101',
      connections: Number(values.conexoes),
      warmupMs: WARMUP_MS,
      measureMs: Number(values.segundos) * 1000,
      providers: Number(values.prestadores),
      firstNumber: 1,
    };
    const { result, before, after } = await load(order, service.pid!);
    await verify(address, result);
    const drained = await drainTime(address, result);
    print(order, result, before, after, drained, await floors(dataDir));
  } finally {
    service.kill('SIGINT');
    await ended;
  }
}

/** The address that `serve` prints. */
function addressOf(stdout: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    stdout.on('data', (chunk) => {
      text += chunk;
      const match = /Serviço no ar em (\S+)/.exec(text);
      if (match) resolve(match[1]!);
    });
    stdout.on('end', () => reject(new Error('the service ended before it was ready')));
  });
}

async function load(
  order: LoadOrder,
  servicePid: number,
): Promise<{ result: LoadResult; before: ProcessTimes; after: ProcessTimes }> {
  const generator = fork(path.join(root, 'bench/load.ts'), [JSON.stringify(order)]);
  let before: ProcessTimes | undefined;
  let after: ProcessTimes | undefined;
  return new Promise((resolve, reject) => {
    generator.on('message', (message) => {
      if (message === 'measuring') before = cpuSecondsOf(servicePid, dataDir);
      else if (message === 'measured') after = cpuSecondsOf(servicePid, dataDir);
      else resolve({ result: message as LoadResult, before: before!, after: after! });
    });
    generator.on('error', reject);
    generator.on('exit', (code) => code === 0 || reject(new Error(`the load generator ended with ${code}`)));
  });
}

/** Every sampled key must be there: a figure of notes that were lost is no figure. */
async function verify(address: string, result: LoadResult): Promise<void> {
  if (result.failures > 0)
    throw new Error(`${result.failures} requests were not issued; first: ${result.firstFailure}`);
  for (const key of result.sampleKeys) {
    const response = await fetch(`${address}/integracao/api/v1/nfse/${key}`);
    if (response.status !== 200) throw new Error(`an answered note is not there: HTTP ${response.status}`);
    await response.arrayBuffer();
  }
}

/** How long after the last answer the last note was authorised. */
async function drainTime(address: string, result: LoadResult): Promise<number> {
  const began = performance.now();
  const last = result.sampleKeys.at(-1);
  for (;;) {
    const response = await fetch(`${address}/integracao/api/v1/nfse/${last}`);
    const { nota } = (await response.json()) as { nota: { status: string } };
    if (nota.status === 'autorizada' || performance.now() - began > 60_000) return (performance.now() - began) / 1000;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function print(
  order: LoadOrder,
  result: LoadResult,
  before: ProcessTimes,
  after: ProcessTimes,
  drained: number,
  floor: Awaited<ReturnType<typeof floors>>,
): void {
  const rate = result.notes / result.seconds;
  const perThousand = (seconds: number): string => ((seconds / result.notes) * 1000).toFixed(3);
  const rows: readonly (readonly [string, string])[] = [
    ['conexões, prestadores, duração', `${order.connections}, ${order.providers}, ${result.seconds.toFixed(1)} s`],
    ['notas emitidas', `${result.notes}`],
    ['notas por segundo', rate.toFixed(0)],
    ['latência p50 / p99 / máx', `${result.p50.toFixed(1)} / ${result.p99.toFixed(1)} / ${result.max.toFixed(1)} ms`],
    ['CPU por mil notas: serviço', `${perThousand(after.service - before.service)} s`],
    ['CPU por mil notas: banco', `${perThousand(after.database - before.database)} s`],
    ['CPU por mil notas: gerador de carga', `${perThousand(result.cpu)} s`],
    ['última nota autorizada após', `${drained.toFixed(2)} s`],
    ['piso: leitura do XML e do leiaute, sozinha', `${floor.read.toFixed(0)} documentos/s (1 núcleo)`],
    ['piso: inserção dos mesmos bytes, sozinha', `${floor.insert.toFixed(0)} notas/s`],
    ['emissão / piso de leitura', (rate / floor.read).toFixed(2)],
    ['emissão / piso de inserção', (rate / floor.insert).toFixed(2)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  console.log(rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n'));
}

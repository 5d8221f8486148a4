/**
 * The cost of every address that is asked by GET, beside a bare server in the same seconds. The addresses and the
 * requests come from the announcements and the examples (`example-server.ts`), so a new address comes by itself.
 */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type AskOrder, askMeasured, micros, placeOf } from './asker.ts';
import { type Bare, openBare } from './bare.ts';
import { cpuSecondsOfProcess, HAS_THREADS, parseSchedstat } from './cpu.ts';
import type { Asked, Served } from './example-server.ts';
import type { Table } from './report.ts';
import type { Row } from './tables.ts';

const CONNECTIONS = 8;
const WARMUP_MS = 500;
/** Compiled code is then that of a service that has been up for a minute. */
const WARMUP_ANSWERS = 1_000;
const MEASURE_MS = 1_000;
/** A browser and most clients take it. */
const TAKES_GZIP = { 'Accept-Encoding': 'gzip' };

export async function measureAddresses(): Promise<Table> {
  const child = fork(path.join(import.meta.dirname, 'example-server.ts'), { env: process.env });
  const bare = await openBare();
  try {
    const { address, asked } = await new Promise<Served>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Served));
      child.once('exit', (code) => reject(new Error(`o processo que atende terminou (${code})`)));
    });
    const own = { ...placeOf(address), pid: child.pid! };
    const measured: Measured[] = [];
    for (const one of asked) {
      if (one.path === undefined) continue;
      measured.push(await measureOne(one, own, bare));
    }
    const rows = measured.toSorted((one, other) => other.ratio - one.ratio).map(({ row }) => row);
    const left = asked.filter(({ path }) => path === undefined);
    const unmeasured = left.map(({ endereco }): Row => [`\`${endereco}\``, 'nenhum exemplo', '', '', '', '']);
    return {
      title: 'Cada endereço, ao lado de um servidor HTTP do Node que só responde',
      head: HEAD,
      rows: [...rows, ...unmeasured],
    };
  } finally {
    child.removeAllListeners('exit');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await Promise.all([ended, bare.end()]);
  }
}

const HEAD = ['', 'CPU do serviço', 'do fio que atende', 'HTTP puro', 'vezes', 'bytes'];

/** `ratio`: the processor time of an answer to that of the bare server. */
type Measured = { readonly ratio: number; readonly row: Row };

async function measureOne(
  { endereco, path, headers }: Asked,
  { pid, ...place }: Pick<AskOrder, 'host' | 'port'> & { readonly pid: number },
  bare: Bare,
): Promise<Measured> {
  const order = { connections: CONNECTIONS, warmupMs: WARMUP_MS, measureMs: MEASURE_MS };
  const asked = { paths: [path!], headers: { ...TAKES_GZIP, ...headers }, warmupAnswers: WARMUP_ANSWERS };
  const [own, floor] = await Promise.all([
    askMeasured({ ...order, ...place, ...asked }, () => ({
      whole: cpuSecondsOfProcess(pid),
      first: firstThreadSeconds(pid),
    })),
    askMeasured({ ...order, host: '127.0.0.1', port: bare.port, paths: ['/'] }, () => cpuSecondsOfProcess(bare.pid)),
  ]);
  const { answers, bytes } = own.result;
  const whole = (own.after.whole - own.before.whole) / answers;
  const least = (floor.after - floor.before) / floor.result.answers;
  const ratio = whole / least;
  const figures = [whole, (own.after.first - own.before.first) / answers, least].map((one) => micros(one, 1));
  return { ratio, row: [`\`${endereco}\``, ...figures, ratio.toFixed(1), (bytes / answers).toFixed(0)] };
}

/** Processor seconds of the thread with the door; of the whole process, where threads are not counted apart. */
function firstThreadSeconds(pid: number): number {
  if (!HAS_THREADS) return cpuSecondsOfProcess(pid);
  return parseSchedstat(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8'));
}

/**
 * Sends requests over HTTP from another process at full speed, each connection one path after the other. The file is
 * also the program of that process.
 */
import { fork } from 'node:child_process';
import { connect } from 'node:net';

/** Each connection requests one path after the other, from its own starting point. */
export type AskOrder = {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly warmupMs: number;
  /** The measure also waits for so many answers; absent: for none. */
  readonly warmupAnswers?: number;
  readonly measureMs: number;
  readonly paths: readonly string[];
  /** Sent with each request, besides the host. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type AskResult = {
  readonly answers: number;
  readonly seconds: number;
  readonly failures: number;
  readonly firstFailure: string | undefined;
  /** Bytes of headers and bodies. */
  readonly bytes: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor seconds of the asker itself. */
  readonly cpu: number;
};

/**
 * Runs the asker in a separate process. `look`: reads the server's consumption at the beginning and at the end of the
 * measure.
 */
export function askMeasured<Look>(
  order: AskOrder,
  look: () => Look,
): Promise<{ readonly result: AskResult; readonly before: Look; readonly after: Look }> {
  const asker = fork(import.meta.filename, { env: process.env });
  asker.send(order);
  let [before, after] = [look(), look()];
  return new Promise((resolve, reject) => {
    asker.on('message', (message) => {
      if (message === 'measuring') before = look();
      else if (message === 'measured') after = look();
      else {
        const result = message as AskResult;
        const { failures, firstFailure } = result;
        if (failures === 0) resolve({ result, before, after });
        else reject(new Error(`${failures} perguntas ficaram sem resposta; a primeira: ${firstFailure}`));
      }
    });
    asker.on('error', reject);
    asker.on('exit', (code) => code === 0 || reject(new Error(`um processo da medida terminou (${code})`)));
  });
}

/** The host and port of a service. */
export function placeOf(address: string): Pick<AskOrder, 'host' | 'port'> {
  const { hostname, port } = new URL(address);
  return { host: hostname, port: Number(port) };
}

/** Microseconds per answer. */
export function micros(cpuSeconds: number, answers: number): string {
  return `${((cpuSeconds / answers) * 1e6).toFixed(0)} µs`;
}

async function askAll(order: AskOrder): Promise<void> {
  const state = {
    measuring: false,
    ended: false,
    before: 0,
    bytes: 0,
    failures: 0,
    firstFailure: undefined as string | undefined,
  };
  const latencies: number[] = [];
  const record = (ms: number, status: string, length: number, answer: () => string): void => {
    if (status !== '200') {
      state.failures += 1;
      state.firstFailure ??= answer();
    } else if (state.measuring) {
      latencies.push(ms);
      state.bytes += length;
    } else state.before += 1;
  };
  const stride = Math.ceil(order.paths.length / order.connections);
  const connections = Array.from({ length: order.connections }, (_, place) =>
    askOn(order, place * stride, () => state.ended, record),
  );
  await sleep(order.warmupMs);
  while (state.before < (order.warmupAnswers ?? 0) && state.failures === 0) await sleep(LOOK_MS);
  process.send!('measuring');
  state.measuring = true;
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  await sleep(order.measureMs);
  state.measuring = false;
  const seconds = (performance.now() - began) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  process.send!('measured');
  state.ended = true;
  await Promise.all(connections);
  latencies.sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  const { bytes, failures, firstFailure } = state;
  const used = (cpu.user + cpu.system) / 1e6;
  const answers = latencies.length;
  const result: AskResult = { answers, seconds, failures, firstFailure, bytes, p50: at(0.5), p99: at(0.99), cpu: used };
  process.send!(result, () => process.disconnect?.());
}

const LOOK_MS = 20;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** One connection: writes a request, waits for the whole answer, writes the next. */
function askOn(
  { host, port, paths, headers = {} }: AskOrder,
  first: number,
  isOver: () => boolean,
  record: (ms: number, status: string, length: number, answer: () => string) => void,
): Promise<void> {
  const sentHeaders = Object.entries({ Host: `${host}:${port}`, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    socket.setNoDelay(true);
    let [next, sentAt, have, want] = [first, 0, 0, -1];
    let head: Buffer | undefined;
    const send = (): void => {
      if (isOver()) {
        socket.destroy();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(`GET ${paths[next++ % paths.length]!} HTTP/1.1\r\n${sentHeaders}\r\n`);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      have += chunk.length;
      if (want < 0) {
        head = head === undefined ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        const length = /content-length: (\d+)/i.exec(head.toString('latin1', 0, end));
        want = end + 4 + Number(length?.[1] ?? Number.NaN);
      }
      if (have < want) return;
      const answer = head!;
      record(performance.now() - sentAt, answer.toString('latin1', 9, 12), have, () => answer.toString('utf8'));
      head = undefined;
      have = 0;
      want = -1;
      send();
    });
  });
}

if (import.meta.main) process.once('message', (order) => void askAll(order as AskOrder));

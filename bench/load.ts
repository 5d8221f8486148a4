/**
 * The load generator, in its own process: a number of connections, each posting one distinct DPS after the other for a
 * while. It speaks HTTP/1.1 over plain sockets, so that what it costs is small beside what it measures.
 *
 * Arguments as JSON in argv: see {@link LoadOrder}. Prints one {@link LoadResult} as JSON.
 */
import { connect } from 'node:net';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { distinctDps, type ProviderKeys, signedDps } from './documents.ts';

export type LoadOrder = {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly warmupMs: number;
  readonly measureMs: number;
  readonly providers: number;
  /** First `nDPS`; a run on the same data must not repeat one. */
  readonly firstNumber: number;
  /** With these the documents are signed, so many of them, before anything is sent. */
  readonly signed?: { readonly providers: readonly ProviderKeys[]; readonly count: number };
};

export type LoadResult = {
  readonly notes: number;
  readonly seconds: number;
  readonly failures: number;
  readonly firstFailure: string | undefined;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Notes answered in each second of the measuring, the last one left out. */
  readonly perSecond: readonly number[];
  /** CPU of the generator itself while measuring, in seconds. */
  readonly cpu: number;
  /** Keys of some of the notes that were answered, for looking whether they are there. */
  readonly sampleKeys: readonly string[];
};

const order = JSON.parse(process.argv[2]!) as LoadOrder;
const documentOf = documents();
const head = `POST ${order.path} HTTP/1.1\r\nHost: ${order.host}:${order.port}\r\nContent-Type: application/xml\r\nAccept: application/json\r\nContent-Length: `;

let number = order.firstNumber;
let measuring = false;
let ended = false;
let failures = 0;
let firstFailure: string | undefined;
const latencies: number[] = [];
const sampleKeys: string[] = [];
const perSecond: number[] = [];
let began = 0;

function documents(): (number: number) => Buffer {
  const template = exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' });
  if (order.signed === undefined) return distinctDps(template, order.providers);
  const { providers, count } = order.signed;
  const signed = signedDps(template, providers, order.firstNumber, count);
  return (number) => {
    const document = signed[number - order.firstNumber];
    if (document === undefined) throw new Error(`more than the ${count} signed documents were asked for`);
    return document;
  };
}

function request(): Buffer {
  const body = documentOf(number);
  number += 1;
  const { length } = body;
  return Buffer.concat([Buffer.from(`${head}${length}\r\n\r\n`, 'latin1'), body]);
}

/** One connection: writes a request, waits for the whole answer, writes the next. */
function runConnection(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(order.port, order.host);
    socket.setNoDelay(true);
    let sentAt = 0;
    let pending: Buffer[] = [];
    let have = 0;
    let want = -1;
    const send = (): void => {
      if (ended) {
        socket.destroy();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request());
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      pending.push(chunk);
      have += chunk.length;
      if (want < 0) {
        const text = Buffer.concat(pending).toString('latin1', 0, 2048);
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return;
        want = end + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? Number.NaN);
      }
      if (have < want) return;
      const answer = Buffer.concat(pending);
      pending = [];
      have = 0;
      want = -1;
      record(performance.now() - sentAt, answer);
      send();
    });
  });
}

function record(ms: number, answer: Buffer): void {
  const isCreated = answer.toString('latin1', 9, 12) === '201';
  if (!isCreated) {
    failures += 1;
    firstFailure ??= answer.toString('utf8', 0, 1500);
  } else if (measuring) {
    latencies.push(ms);
    const second = Math.floor((performance.now() - began) / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
    if (latencies.length % 997 === 1)
      sampleKeys.push(/"chave_acesso":"([^"]+)"/.exec(answer.toString('utf8'))?.[1] ?? '');
  }
}

const connections = Array.from({ length: order.connections }, runConnection);
await new Promise((resolve) => setTimeout(resolve, order.warmupMs));
measuring = true;
const cpuBefore = process.cpuUsage();
began = performance.now();
process.send?.('measuring');
await new Promise((resolve) => setTimeout(resolve, order.measureMs));
measuring = false;
const seconds = (performance.now() - began) / 1000;
const cpu = process.cpuUsage(cpuBefore);
process.send?.('measured');
ended = true;
await Promise.all(connections);
latencies.sort((a, b) => a - b);
const at = (share: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
const result: LoadResult = {
  notes: latencies.length,
  seconds,
  failures,
  firstFailure,
  p50: at(0.5),
  p99: at(0.99),
  max: at(1),
  perSecond: Array.from({ length: Math.floor(seconds) }, (_, second) => perSecond[second] ?? 0),
  cpu: (cpu.user + cpu.system) / 1e6,
  sampleKeys,
};
process.send?.(result);
process.disconnect?.();

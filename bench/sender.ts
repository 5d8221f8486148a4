/**
 * The load generator, in a separate process: it makes the documents before the measure, and sends them on command. It
 * speaks HTTP/1.1 over plain sockets, so that its own cost stays small beside the measured one.
 *
 * Argument: a {@link SenderOrder} as JSON. Each message is a {@link Command}, and each is answered by one message.
 */
import { connect } from 'node:net';
import { exampleJson, exampleXml } from '../src/fiscal/rules/example.ts';
import {
  DOCUMENTOS,
  type Documento,
  distinctJson,
  distinctXml,
  type ProviderKeys,
  patchOf,
  signingDps,
  signingJson,
} from './documents.ts';

export type SenderOrder = {
  readonly host: string;
  readonly port: number;
  /** The paths that receive the documents in turn. `codigo`: the municipality there, if it differs from that of the example. */
  readonly paths: readonly { readonly path: string; readonly codigo?: string | undefined }[];
  readonly providers: readonly ProviderKeys[];
  readonly isSigned: boolean;
  readonly firstNumber: number;
};

export type Command =
  /** Makes documents of a kind for the next command; the remaining ones of before are discarded. */
  | { readonly kind: 'make'; readonly count: number; readonly documento: Documento }
  /** Sends documents at this rate, whether or not earlier ones are answered; `burst` of them at once. */
  | { readonly kind: 'open'; readonly count: number; readonly rate: number; readonly burst: number }
  /** Sends documents on these connections, each one after the other. */
  | { readonly kind: 'closed'; readonly count: number; readonly connections: number };

export type Sent = {
  readonly notes: number;
  readonly seconds: number;
  readonly failures: number;
  readonly firstFailure: string | undefined;
  /** Milliseconds from the due time of a document until its answer. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Keys of the notes answered last. */
  readonly lastKeys: readonly string[];
  /** Codes of the remarks in the last answers. */
  readonly remarks: readonly string[];
};

/** Connections of the open loop; a document waits when all are busy, and this waiting is part of its time. */
const CONNECTIONS = 64;
/** Keys of the last answers: their questions are work of the service, so they are at most one to so many notes. */
const LAST_KEPT = 20;
const NOTES_A_KEPT = 50;

const order = JSON.parse(process.argv[2]!) as SenderOrder;
const requestsOf = new Map<Documento, (number: number) => Buffer>();
let prepared: Buffer[] = [];
let nextNumber = order.firstNumber;

function requests(documento: Documento): (number: number) => Buffer {
  const each = order.paths.map(({ path, codigo }) => requestsTo(path, documento, codigo));
  return (number) => each[number % each.length]!(number);
}

function requestsTo(path: string, documento: Documento, codigo: string | undefined): (number: number) => Buffer {
  const bodies = bodiesOf(documento, codigo);
  const type = DOCUMENTOS[documento].format === 'xml' ? 'application/xml' : 'application/json';
  const head = `POST ${path} HTTP/1.1\r\nHost: ${order.host}:${order.port}\r\nContent-Type: ${type}\r\nAccept: application/json\r\n`;
  return (number) => {
    const { body, headers } = bodies(number);
    return Buffer.concat([Buffer.from(`${head}${headers}Content-Length: ${body.length}\r\n\r\n`, 'latin1'), body]);
  };
}

function bodiesOf(
  documento: Documento,
  codigo: string | undefined,
): (number: number) => { readonly body: Buffer; readonly headers: string } {
  const { providers, isSigned } = order;
  const patch = patchOf(documento, isSigned, codigo);
  const cnpjs = providers.map(({ documento }) => documento);
  if (DOCUMENTOS[documento].format === 'xml') {
    const bodyOf = isSigned ? signingDps(exampleXml(patch), providers) : distinctXml(exampleXml(patch), cnpjs);
    return (number) => ({ body: bodyOf(number), headers: '' });
  }
  const bodyOf = distinctJson(exampleJson(patch)!, cnpjs);
  if (!isSigned) return (number) => ({ body: bodyOf(number), headers: '' });
  const signatureOf = signingJson(providers);
  return (number) => {
    const body = bodyOf(number);
    return { body, headers: `X-DPS-Assinatura: ${signatureOf(number, body)}\r\n` };
  };
}

function make(count: number, documento: Documento): void {
  const requestOf = requestsOf.get(documento) ?? requests(documento);
  requestsOf.set(documento, requestOf);
  prepared = Array.from({ length: count }, (_, place) => requestOf(nextNumber + count - 1 - place));
  nextNumber += count;
}

/** The results of one order to send so many documents. */
function newTally(count: number) {
  const kept = Math.max(1, Math.min(LAST_KEPT, Math.floor(count / NOTES_A_KEPT)));
  const began = performance.now();
  const latencies: number[] = [];
  const last: Buffer[] = [];
  let failures = 0;
  let firstFailure: string | undefined;
  return {
    record: (ms: number, answer: Buffer): void => {
      if (answer.toString('latin1', 9, 12) !== '201') {
        failures += 1;
        firstFailure ??= answer.toString('utf8', 0, 1500);
        return;
      }
      latencies.push(ms);
      last[latencies.length % kept] = answer;
    },
    result: (): Sent => {
      const seconds = (performance.now() - began) / 1000;
      latencies.sort((one, other) => one - other);
      const at = (share: number): number =>
        latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
      const texts = last.filter((one) => one !== undefined).map((one) => one.toString('utf8'));
      const keys = texts.map((text) => /"chave_acesso":"([^"]+)"/.exec(text)![1]!);
      const avisos = texts.map((text) => /"avisos":\[(.*?)\]/s.exec(text)?.[1] ?? '').join();
      const remarks = new Set([...avisos.matchAll(/"codigo":"(\w+)"/g)].map(([, code]) => code!));
      const [p50, p99, max] = [at(0.5), at(0.99), at(1)];
      return {
        notes: latencies.length,
        seconds,
        failures,
        firstFailure,
        p50,
        p99,
        max,
        lastKeys: keys,
        remarks: [...remarks],
      };
    },
  };
}

type Connection = { send(request: Buffer): Promise<Buffer>; end(): void };

/** One connection: it takes a request after the answer to the one before. */
function openConnection(): Promise<Connection> {
  const socket = connect(order.port, order.host);
  socket.setNoDelay(true);
  let pending: Buffer[] = [];
  let have = 0;
  let want = -1;
  let answered: ((answer: Buffer) => void) | undefined;
  let failed: ((error: Error) => void) | undefined;
  socket.on('data', (chunk: Buffer) => {
    pending.push(chunk);
    have += chunk.length;
    if (want < 0) {
      const text = Buffer.concat(pending).toString('latin1', 0, 2048);
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      want = end + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? Number.NaN);
      if (Number.isNaN(want)) return socket.destroy(new Error(`an answer without its length:\n${text}`));
    }
    if (have < want) return;
    const answer = Buffer.concat(pending);
    [pending, have, want] = [[], 0, -1];
    answered?.(answer);
  });
  const fail = (error: Error): void => failed?.(error);
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the service closed the connection')));
  return new Promise((resolve, reject) => {
    failed = reject;
    socket.on('connect', () =>
      resolve({
        send: (request) =>
          new Promise((done, no) => {
            [answered, failed] = [done, no];
            // No answer would ever come for a request written then.
            if (socket.destroyed) return no(new Error('the service had closed the connection'));
            socket.write(request);
          }),
        end: () => {
          failed = undefined;
          socket.destroy();
        },
      }),
    );
  });
}

function nextRequest(): Buffer {
  const next = prepared.pop();
  if (next === undefined) throw new Error('more documents were asked for than were made');
  return next;
}

async function sendOpen({ count, rate, burst }: Extract<Command, { kind: 'open' }>): Promise<Sent> {
  const free = await Promise.all(Array.from({ length: CONNECTIONS }, openConnection));
  const all = [...free];
  const tally = newTally(count);
  const due = dueTimes(count, rate, burst);
  const waiting: number[] = [];
  let answers = 0;
  await new Promise<void>((resolve, reject) => {
    // The connections take turns, so that the service closes none as idle.
    const sendWaiting = (): void => {
      while (waiting.length > 0 && free.length > 0) void sendOne(waiting.shift()!, free.shift()!).catch(reject);
    };
    const sendOne = async (at: number, connection: Connection): Promise<void> => {
      const answer = await connection.send(nextRequest());
      tally.record(performance.now() - at, answer);
      free.push(connection);
      answers += 1;
      if (answers === count) resolve();
      else sendWaiting();
    };
    const began = performance.now();
    let next = 0;
    const look = (): void => {
      const now = performance.now();
      for (; next < count && began + due[next]! <= now; next += 1) waiting.push(began + due[next]!);
      sendWaiting();
      if (next < count) setTimeout(look, Math.max(1, began + due[next]! - now));
    };
    look();
  });
  for (const one of all) one.end();
  return tally.result();
}

/** Milliseconds at which documents are due: random, and the same at every run. */
function dueTimes(count: number, rate: number, burst: number): readonly number[] {
  let seed = 20_261_005;
  let at = 0;
  return Array.from({ length: count }, (_, place) => {
    if (place % burst > 0) return at;
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    at += (-Math.log(1 - seed / 2 ** 32) / rate) * 1000 * burst;
    return at;
  });
}

async function sendClosed(count: number, connections: number): Promise<Sent> {
  const all = await Promise.all(Array.from({ length: connections }, openConnection));
  const tally = newTally(count);
  let left = count;
  const runOne = async (connection: Connection): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      const at = performance.now();
      const answer = await connection.send(nextRequest());
      tally.record(performance.now() - at, answer);
    }
  };
  await Promise.all(all.map(runOne));
  for (const one of all) one.end();
  return tally.result();
}

async function obey(command: Command): Promise<Sent | 'made'> {
  if (command.kind === 'open') return sendOpen(command);
  if (command.kind === 'closed') return sendClosed(command.count, command.connections);
  make(command.count, command.documento);
  return 'made';
}

process.on('message', (command: Command) => {
  obey(command).then(
    (answer) => process.send!(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

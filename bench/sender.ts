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
import { apiOf, chooseIssuer, type Issuers, listIssuers } from './issuers.ts';

export type SenderOrder = {
  readonly host: string;
  readonly port: number;
  /** The path that receives the documents, or the municipalities that do. */
  readonly target: string | Issuers;
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

/** Milliseconds. */
type Percentiles = { readonly p50: number; readonly p99: number };

export type Sent = {
  readonly notes: number;
  readonly seconds: number;
  readonly failures: number;
  readonly firstFailure: string | undefined;
  /** Milliseconds from the due time of a document until its answer. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The same of the largest municipality, and of those after the first ten; zero: none of them has a note. */
  readonly giant: Percentiles;
  readonly small: Percentiles;
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

/** Municipalities before this place are no small ones. */
const SMALL_FROM = 10;

/** A document ready to send, and the place of its municipality. */
type Prepared = { readonly request: Buffer; readonly place: number };

const order = JSON.parse(process.argv[2]!) as SenderOrder;
const { target } = order;
const issuers = typeof target === 'string' ? [] : listIssuers(target.count);
const placeOf = typeof target === 'string' ? () => 0 : chooseIssuer(target);
/** The makers of requests, by kind of document and place. */
const makers = new Map<string, (number: number) => Buffer>();
let prepared: Prepared[] = [];
let nextNumber = order.firstNumber;

function prepare(documento: Documento, number: number): Prepared {
  const place = placeOf(number);
  const name = `${documento} ${place}`;
  const requestOf = makers.get(name) ?? makerOf(place, documento);
  makers.set(name, requestOf);
  return { request: requestOf(number), place };
}

function makerOf(place: number, documento: Documento): (number: number) => Buffer {
  if (typeof target === 'string') return requestsTo(target, documento);
  const { slug, ibge } = issuers[place]!;
  return requestsTo(apiOf(slug), documento, ibge);
}

function requestsTo(path: string, documento: Documento, codigo?: string): (number: number) => Buffer {
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
  prepared = Array.from({ length: count }, (_, place) => prepare(documento, nextNumber + count - 1 - place));
  nextNumber += count;
}

/** Percentiles of times in ascending order. */
function percentilesOf(times: readonly number[]): Percentiles & { readonly max: number } {
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** The results of one order to send so many documents. */
function newTally(count: number) {
  const kept = Math.max(1, Math.min(LAST_KEPT, Math.floor(count / NOTES_A_KEPT)));
  const began = performance.now();
  const times: { readonly ms: number; readonly place: number }[] = [];
  const last: Buffer[] = [];
  let failures = 0;
  let firstFailure: string | undefined;
  return {
    record: (ms: number, place: number, answer: Buffer): void => {
      if (answer.toString('latin1', 9, 12) !== '201') {
        failures += 1;
        firstFailure ??= answer.toString('utf8', 0, 1500);
        return;
      }
      times.push({ ms, place });
      last[times.length % kept] = answer;
    },
    result: (): Sent => {
      const seconds = (performance.now() - began) / 1000;
      times.sort((one, other) => one.ms - other.ms);
      const among = (fits: (place: number) => boolean) =>
        percentilesOf(times.filter(({ place }) => fits(place)).map(({ ms }) => ms));
      const texts = last.filter((one) => one !== undefined).map((one) => one.toString('utf8'));
      const keys = texts.map((text) => /"chave_acesso":"([^"]+)"/.exec(text)![1]!);
      const avisos = texts.map((text) => /"avisos":\[(.*?)\]/s.exec(text)?.[1] ?? '').join();
      const remarks = new Set([...avisos.matchAll(/"codigo":"(\w+)"/g)].map(([, code]) => code!));
      return {
        notes: times.length,
        seconds,
        failures,
        firstFailure,
        ...among(() => true),
        giant: among((place) => place === 0),
        small: among((place) => place >= SMALL_FROM),
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

function nextPrepared(): Prepared {
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
      const { request, place } = nextPrepared();
      const answer = await connection.send(request);
      tally.record(performance.now() - at, place, answer);
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
      const { request, place } = nextPrepared();
      const answer = await connection.send(request);
      tally.record(performance.now() - at, place, answer);
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

/** Requests as an integrator makes them, with the parsed answer. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { until } from './until.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  readonly body: any;
};

const API = '/integracao/api/v1';

export async function request(address: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const { status, headers, text } = await ask(`${address}${path}`, init);
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json');
  // The description of the service promises these headers.
  if (status === 401) assert.ok(headers.has('www-authenticate'), `WWW-Authenticate of ${path}: ${text}`);
  if (status === 429 || status === 503)
    assert.match(headers.get('retry-after') ?? 'none', /^[1-9]\d*$/, `Retry-After of ${path}: ${text}`);
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

/** An answer without its body. */
export type Head = Pick<Answer, 'status' | 'headers'>;

/** The plain HTTP client: `fetch` takes twice the processor time for a request, and tests make tens of thousands. */
export function ask(url: string, init: RequestInit = {}): Promise<Head & { readonly text: string }> {
  const { method = 'GET', body, signal } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  if (typeof body === 'string') headers['content-type'] ??= 'text/plain;charset=UTF-8';
  return new Promise((resolve, reject) => {
    const options = { agent: connections(), method, headers, ...(signal ? { signal } : {}) };
    const asked = http.request(url, options, (message) => {
      let text = '';
      message.setEncoding('utf8');
      message.on('data', (chunk) => (text += chunk));
      message.on('error', reject);
      message.once('end', () => {
        lastUsedAt = Date.now();
        resolve({ status: message.statusCode!, headers: headersOf(message), text });
      });
    });
    asked.on('error', reject);
    // A text body would make Node write the headers in the body's encoding instead of Latin-1.
    asked.end(typeof body === 'string' ? Buffer.from(body) : (body as Uint8Array | undefined));
  });
}

function headersOf({ rawHeaders }: http.IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  return headers;
}

/** A connection idle for longer may be one that its server is closing, as after a pause of the machine. */
const REUSED_WITHIN_MS = 1_000;

let agent = new http.Agent({ keepAlive: true });
let lastUsedAt = 0;

/** The agent to send on: the current one, or a new one if its connections were idle too long. */
function connections(): http.Agent {
  const now = Date.now();
  if (now - lastUsedAt > REUSED_WITHIN_MS) {
    for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    agent = new http.Agent({ keepAlive: true });
  }
  lastUsedAt = now;
  return agent;
}

/** Sends requests below an address, with a token and a JSON body if they are given. */
export function bindCall(address: string, api: string) {
  return (method: string, path: string, token: string | undefined, body?: object): Promise<Answer> => {
    const headers = {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return request(address, `${api}/${path}`, { method, headers, ...sent });
  };
}

/** Posts a DPS to the sandbox. */
export function emit(address: string, xml: string | Uint8Array): Promise<Answer> {
  const body = typeof xml === 'string' ? xml : (xml as Uint8Array<ArrayBuffer>);
  return request(address, `${API}/nfse/v101`, { method: 'POST', headers: { 'Content-Type': 'application/xml' }, body });
}

export function noteByKey(address: string, chave: string): Promise<Answer> {
  return request(address, `${API}/nfse/${chave}`);
}

/** The note after its authorisation. The sandbox promises one second; a slow machine may need more. */
export function authorised(address: string, chave: string): Promise<Answer> {
  return until(async () => {
    const answer = await noteByKey(address, chave);
    return answer.body.nota?.status === 'autorizada' ? answer : undefined;
  }, `the note ${chave} is authorised`);
}

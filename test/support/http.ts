/** Requests as an integrator makes them, with the answer read. */
import { until } from './until.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  readonly body: any;
};

const API = '/integracao/api/v1';

export async function request(address: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${address}${path}`, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Posts a DPS to the sandbox. */
export function emit(address: string, xml: string | Uint8Array): Promise<Answer> {
  const body = typeof xml === 'string' ? xml : (xml as Uint8Array<ArrayBuffer>);
  return request(address, `${API}/nfse/v101`, { method: 'POST', headers: { 'Content-Type': 'application/xml' }, body });
}

export function noteByKey(address: string, chave: string): Promise<Answer> {
  return request(address, `${API}/nfse/${chave}`);
}

/** The note once it is authorised: in a second, as the sandbox promises, but on a machine that is slow. */
export function authorised(address: string, chave: string): Promise<Answer> {
  return until(async () => {
    const answer = await noteByKey(address, chave);
    return answer.body.nota?.status === 'autorizada' ? answer : undefined;
  }, `the note ${chave} is authorised`);
}

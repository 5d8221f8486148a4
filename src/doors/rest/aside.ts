/**
 * Requests with a large body are answered aside: in a thread of their own, one after the other, so that the thread that serves all
 * others only takes the bytes and gives them on. Reading the longest honest DPS, or a lot of five hundred RPS, takes a tenth of a second
 * of a processor, in which nobody else would be answered (D-243).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Shown } from '../../flows/caller.ts';
import type { Municipio } from '../../flows/queries.ts';
import type { Quota } from '../../flows/quota.ts';
import type { World } from '../../flows/world.ts';
import { performSoap, type SoapAnswer, writeFault } from '../soap/nfes.ts';
import type { Outcome } from './answers.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';

/** Six times an ordinary DPS; what is shorter is answered at once where it comes in. */
export const ASIDE_BYTES = 32 * 1024;

/**
 * Milliseconds of the processor that a request may take there, and not of the clock. The longest honest documents take a tenth of it;
 * what is bounded otherwise never comes near.
 */
export const ASIDE_CPU_MAX_MS = 2_000;

/** Requests that wait for their turn, each with a body of a megabyte at most. */
export const ASIDE_WAITING_MAX = 32;

/** What a request is told that took more. */
export const TOO_DEAR = `O pedido tomou mais de ${ASIDE_CPU_MAX_MS / 1_000} s de processador e foi encerrado: o corpo tem elementos ou valores demais para o que pede. Envie só o que o leiaute tem; divida um lote em lotes menores.`;
export const CROWDED_ASIDE = `Há requisições demais com corpo acima de ${ASIDE_BYTES / 1024} KiB em andamento, e os lugares se repartem entre os endereços de rede: envie-as uma de cada vez.`;

/** What a thread must know to answer; all of it can be copied. */
export type AsideCall = {
  /** Name of the operation; the legacy port has one address. */
  readonly route: Route['id'] | 'soap';
  readonly municipio: Municipio;
  readonly params: Readonly<Record<string, string>>;
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly site: string;
  readonly shown: Shown;
};

/** Of whom it is: the network address that asks, and what keeps count of it, which stays with the thread that serves. */
export type AsideSender = { readonly client: string; readonly quota: Quota | undefined };

/** Too many wait already; or this one took more of a processor than a request may, and was ended. */
export type AsideTrouble = 'crowded' | 'too_dear';

/** Answers such requests elsewhere. What fails there is thrown here. */
export type Aside = {
  answer(call: AsideCall & { readonly route: 'soap' }, sender: AsideSender): Promise<SoapAnswer | AsideTrouble>;
  answer(call: AsideCall, sender: AsideSender): Promise<Outcome | AsideTrouble>;
};

/** What the thread does with one. */
export async function performAside(
  world: World,
  quota: Quota | undefined,
  call: AsideCall,
): Promise<Outcome | SoapAnswer> {
  const { route: id, municipio, headers, search, shown } = call;
  const body = Buffer.from(call.body.buffer, call.body.byteOffset, call.body.byteLength);
  if (id === 'soap') {
    const answer = await performSoap(world, municipio, { headers, body }, { shown: () => shown, quota });
    // An answer that is made while it is sent is the one of a question, and no question is as long as this.
    return typeof answer.body === 'string' ? answer : writeFault(headers, 413, LONG_QUESTION);
  }
  const route = ROUTES.find((one) => one.id === id)!;
  const query = new URLSearchParams(search);
  return route.handle({ ...call, world, body, query, shown: () => shown, quota });
}

const LONG_QUESTION = `Uma consulta tem até ${ASIDE_BYTES / 1024} KiB: envie só os elementos do modelo.`;

/**
 * A separate thread answers the requests with a large body, one after the other. The serving thread only passes the bytes on. The longest
 * honest DPS, or a lot of five hundred RPS, takes a tenth of a second to read. The serving thread would answer no other request in that
 * time (D-243).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Municipio } from '../book/municipios.ts';
import type { Traced } from '../traces/traces.ts';
import type { Presented } from '../world/caller.ts';
import type { Quota } from '../world/quota.ts';
import type { SoapAnswer } from './message.ts';
import type { Outcome, Route } from './route.ts';

/** Six times an ordinary DPS. A shorter body is answered by the serving thread. */
export const ASIDE_BYTES = 32 * 1024;

/** Milliseconds of processor time, not of the clock, that one such request may take. The longest honest documents take a tenth of them. */
export const ASIDE_CPU_MAX_MS = 2_000;

/** The message to a request that took more. */
export const TOO_DEAR = `O pedido tomou mais de ${ASIDE_CPU_MAX_MS / 1_000} s de processador e foi encerrado: o corpo tem elementos ou valores demais para o que pede. Envie só o que o leiaute tem; divida um lote em lotes menores.`;
export const CROWDED_ASIDE = `Há requisições demais com corpo acima de ${ASIDE_BYTES / 1024} KiB em andamento, e os lugares se repartem entre os municípios e os endereços de rede: envie-as uma de cada vez.`;

/** All that the thread needs to answer a request. Every part of it can be copied to another thread. */
export type AsideCall = Traced & {
  /** Name of the operation; the legacy port has one address. */
  readonly route: Route['id'] | 'soap';
  readonly municipio: Municipio;
  readonly requisicao: string;
  readonly params: Readonly<Record<string, string>>;
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly site: string;
  readonly shown: Presented;
};

/** The network address that asks, and its count, which the serving thread keeps. */
export type AsideSender = { readonly client: string; readonly quota: Quota | undefined };

/** `crowded`: too many requests wait already. `too_dear`: the request took too much processor time, and was ended. */
export type AsideTrouble = 'crowded' | 'too_dear';

/** Answers such requests in the other thread. A failure there is thrown here. */
export type Aside = {
  answer(call: AsideCall & { readonly route: 'soap' }, sender: AsideSender): Promise<SoapAnswer | AsideTrouble>;
  answer(call: AsideCall, sender: AsideSender): Promise<Outcome | AsideTrouble>;
};

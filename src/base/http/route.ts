/** A row of the route table: what an address says of itself, what a request to it brings, and the four kinds of answer. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../../fiscal/fault.ts';
import type { DescribedRoute } from '../../published/openapi/described.ts';
import type { Fields } from '../../published/openapi/field.ts';
import type { Municipio } from '../book/municipios.ts';
import type { Presented } from '../world/caller.ts';
import type { Waits } from '../world/esperar.ts';
import type { Quota } from '../world/quota.ts';
import type { World } from '../world/world.ts';

export type MediaType = 'application/xml' | 'text/xml' | 'application/json' | 'text/csv';

export type Route = DescribedRoute & {
  readonly takes?: readonly MediaType[];
  /** Said to who sends what the national API takes, with every refusal of the kind of body: a sentence in Portuguese. */
  readonly nacional?: string;
  readonly handle: (call: Call) => Promise<Outcome>;
};

/** A row whose answer has the fields it announces; the compiler compares. */
export function defineRoute<const Own extends Fields>(
  route: Omit<Route, 'fields' | 'handle'> & {
    readonly fields: Own;
    readonly handle: (
      call: Call,
    ) => Promise<
      | Refused
      | Written
      | Served
      | Streamed
      | Accepted<string>
      | Accepted<keyof Own extends never ? undefined : { readonly [Name in keyof Own]: unknown }>
    >;
  },
): Route {
  return route;
}

/** One request to a municipality, as a route sees it. */
export type Call = {
  readonly world: World;
  readonly municipio: Municipio;
  /** The id of the request, as `X-Request-Id` tells it. */
  readonly requisicao: string;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** As sent, with its question mark; empty where the address has none. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty where the route takes none. */
  readonly body: Buffer;
  /** `https://nfse.exemplo.gov.br`: the address of the service as the caller knows it. */
  readonly site: string;
  /** The certificate or the token that came with the request, for the routes that are for one party alone. */
  readonly shown: () => Presented;
  /** Network address of who asks; empty in the thread of the large bodies. */
  readonly client: string;
  /** What a question may wait for. */
  readonly waits: CallWaits;
  /** Where it stores something. */
  readonly quota?: Quota | undefined;
};

/** Who waits: for a note to be decided, for changes of a document. */
export type CallWaits = Readonly<Record<'notas' | 'mudancas', Pick<Waits, 'wait'>>>;

export type Refused = {
  readonly refusal: Refusal;
  /** The field or parameter that the refusal is about. */
  readonly campo?: string;
  /** Where it is not the one of the first fault's code. */
  readonly status?: number | undefined;
  /** When it was made, in milliseconds; without it, now. */
  readonly em?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isMiss?: boolean;
  /** What the envelope has beside its own fields. */
  readonly beside?: Readonly<Record<string, unknown>>;
};

/** Numbers by which the municipality knows what was made: of the note (`nNFSe`), of the event. */
export type Registro = { readonly nota?: string; readonly evento?: string };

/** `body` undefined: an answer without one; a text is answered as `text/plain`. */
export type Accepted<Body> = {
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** Additions to the log line of a request: numbers without personal data that open nothing. */
  readonly registro?: Registro;
  /** The answer counts as a miss (D-40). A refusal with 404 always does. */
  readonly isMiss?: boolean;
};

/** JSON that is kept as it was written. It has a tag, so that a client with this version does not get it again. */
export type Written = {
  readonly written: { readonly bytes: Buffer; readonly tag: string };
  /** Value of `Cache-Control`. */
  readonly keeping: string;
};

/** A document that is no JSON. */
export type Served = {
  readonly served: Buffer;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A body that is made while it is sent. */
export type Streamed = {
  readonly streamed: AsyncIterable<string | Buffer>;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type Outcome = Refused | Written | Served | Streamed | Accepted<object | string | undefined>;

/** `proxima`: moment in milliseconds; undefined: nothing more changes by itself. */
export function retryAfter(world: Pick<World, 'now'>, proxima: number | undefined): Readonly<Record<string, string>> {
  if (proxima === undefined) return {};
  return { 'Retry-After': String(Math.max(1, Math.ceil((proxima - world.now()) / 1000))) };
}

/** A row of the route table: description of an address, data of a request to it, and the four kinds of answer. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../../fiscal/fault.ts';
import type { DescribedRoute } from '../../published/openapi/described.ts';
import type { Fields } from '../../published/openapi/field.ts';
import type { Municipio } from '../book/municipios.ts';
import type { Presented } from '../world/caller.ts';
import type { Waits } from '../world/esperar.ts';
import type { Quota } from '../world/quota.ts';
import type { World } from '../world/world.ts';
import type { ReadyFile } from './ranges.ts';

export type MediaType = 'application/xml' | 'text/xml' | 'application/json' | 'text/csv';

export type Route = DescribedRoute & {
  readonly takes?: readonly MediaType[];
  /** Sentence for senders of national API content, in Portuguese. Every refusal of the kind of body contains it. */
  readonly nacional?: string;
  /** Bytes of work that a body asks for, where that is more than its length. */
  readonly weigh?: (body: Buffer) => number;
  readonly handle: (call: Call) => Promise<Outcome>;
  /** Makes the answer of what `handle` left pending, in the thread of the waiting lists (D-922). */
  readonly settle?: (call: Call, pendente: never) => Promise<Outcome>;
};

/** A row whose answer must have the announced fields; the compiler checks this. */
export function defineRoute<const Own extends Fields>(
  route: Omit<Route, 'fields' | 'handle' | 'settle'> & {
    readonly fields: Own;
    readonly handle: (call: Call) => Promise<OutcomeOf<Own>>;
    readonly settle?: (call: Call, pendente: never) => Promise<OutcomeOf<Own>>;
  },
): Route {
  return route;
}

type OutcomeOf<Own extends Fields> =
  | Refused
  | Written
  | Served
  | ServedFile
  | Pending
  | Accepted<string>
  | Accepted<keyof Own extends never ? undefined : { readonly [Name in keyof Own]: unknown }>;

/** One request to a municipality, as a route sees it. */
export type Call = {
  readonly world: World;
  readonly municipio: Municipio;
  /** The id of the request, as `X-Request-Id` tells it. */
  readonly requisicao: string;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The query as sent, with its question mark; empty if the address has none. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty if the route takes no body. */
  readonly body: Buffer;
  /** `https://nfse.exemplo.gov.br`: the address of the service as the caller knows it. */
  readonly site: string;
  /** The certificate or the token of the request, for the routes that are for one party alone. */
  readonly shown: () => Presented;
  /** Network address of the client; empty in the thread of the large bodies. */
  readonly client: string;
  /** Waiting lists of queries. */
  readonly waits: CallWaits;
  /** Present if the route stores something. */
  readonly quota?: Quota | undefined;
};

/** Waiting lists: for the decision of a note, of an event, and for changes of a document. */
export type CallWaits = Readonly<Record<'notas' | 'eventos' | 'mudancas', Pick<Waits, 'wait'>>>;

export type Refused = {
  readonly refusal: Refusal;
  /** The field or parameter that the refusal is about. */
  readonly campo?: string;
  /** Status, if it differs from that of the first fault's code. */
  readonly status?: number | undefined;
  /** Moment of the refusal, in milliseconds; undefined: now. */
  readonly em?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isMiss?: boolean;
  /** Fields of the envelope beside its own. */
  readonly beside?: Readonly<Record<string, unknown>>;
};

/** Numbers of the result in the municipality: of the note (`nNFSe`), of the event. */
export type Registro = { readonly nota?: string; readonly evento?: string };

/** `body` undefined: an answer without one; a text is answered as `text/plain`. */
export type Accepted<Body> = {
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** Additions to the log line of a request: numbers that contain no personal data and give no access. */
  readonly registro?: Registro;
  /** The answer counts as a miss (D-40). A refusal with 404 always does. */
  readonly isMiss?: boolean;
};

/** JSON that is sent as it was written. A tag lets a client with this version avoid a second transfer. */
export type Written = {
  readonly written: { readonly bytes: Buffer; readonly tag: string };
  /** Value of `Cache-Control`. */
  readonly keeping: string;
};

/** A document in another format than JSON; an iterable one is made while it is sent. */
export type Served = {
  readonly served: Buffer | AsyncIterable<string | Buffer>;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A file of which a part may be asked for. */
export type ServedFile = {
  readonly file: ReadyFile;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Data for `settle`, possibly from another thread. */
type Pending = { readonly pendente: unknown };

export type Outcome = Refused | Written | Served | ServedFile | Pending | Accepted<object | string | undefined>;

/** `proxima`: moment in milliseconds; undefined: no further change by itself. */
export function retryAfter(world: Pick<World, 'now'>, proxima: number | undefined): Readonly<Record<string, string>> {
  if (proxima === undefined) return {};
  return { 'Retry-After': String(Math.max(1, Math.ceil((proxima - world.now()) / 1000))) };
}

/** What a request to a municipality asks of the code behind its route, and the four kinds of answer that this gives. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../../fiscal/fault.ts';
import type { Shown } from '../../flows/caller.ts';
import type { Municipio } from '../../flows/queries.ts';
import type { Quota } from '../../flows/quota.ts';
import type { World } from '../../flows/world.ts';

/** One request to a municipality, as a route sees it. */
export type Call = {
  readonly world: World;
  readonly municipio: Municipio;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** As sent, with its question mark; empty where the address has none. */
  readonly search: string;
  /** The same, read when it is asked for. */
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Empty where the route takes none. */
  readonly body: Buffer;
  /** `https://nfse.exemplo.gov.br`: the address of the service as the caller knows it. */
  readonly site: string;
  /** The certificate that came with the request, for the routes that are for one party alone. */
  readonly shown: () => Shown;
  /** Where it stores something. */
  readonly quota?: Quota | undefined;
};

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

/** `body` undefined: an answer without one; a text is answered as `text/plain`. */
export type Accepted<Body> = {
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** Counts as one (D-40), as an answer that nothing is there always does. */
  readonly isMiss?: boolean;
};

/** JSON that was written before it was asked for, and that whoever gets it may keep: it has a tag, and is not sent twice. */
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

export type Outcome = Refused | Written | Served | Accepted<object | string | undefined>;

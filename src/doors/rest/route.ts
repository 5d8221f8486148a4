/** What a row of the route table says of an address. */
import type { Fields } from '../../published/openapi/field.ts';
import type { Accepted, Call, Outcome, Refused, Served, Written } from './answers.ts';
import type { MediaType } from './content.ts';

export type Route = {
  /** Name of the operation, by which programs that are made of the public description call it. */
  readonly id: string;
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Below the segment of the municipality. */
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  /** Parameters of the query, none of which is required. */
  readonly query?: Readonly<Record<string, string>>;
  /** Still answered, for those who use it already. */
  readonly deprecated?: true;
  /** Headers of the request that have a meaning here; none is required by itself. */
  readonly reads?: readonly string[];
  /** Media types of the body, checked in `content.ts`. A POST without them takes whatever comes. */
  readonly takes?: readonly MediaType[];
  /** Repeated under one `Idempotency-Key` it is answered as it was, and does nothing again (D-19). */
  readonly takesKey?: true;
  /** What it takes of the limits of its address, in documents (D-263); absent: nothing. */
  readonly quotaCost?: number;
  /** Of the answer when all is well with the request. */
  readonly status: 200 | 201 | 410;
  /** Media type in which the body of success is given too, to who asks for it. */
  readonly givesToo?: 'text/plain';
  /** Media type of the body of success, where that is no JSON. */
  readonly gives?: 'application/pdf';
  /** Fields of the body of success, in their order. */
  readonly fields: Fields;
  /** Headers that only this answer has. */
  readonly headers: readonly string[];
  /** Headers of every answer about the path, also of a refusal that comes before the route; `headers` names them too. */
  readonly always?: Readonly<Record<string, string>>;
  /** What any route may answer (E601 for the municipality, E003, E703, E999) is here where the row has its own cause. */
  readonly codes: readonly string[];
  /** Statuses of those codes that come with another one than usual, or with more than one. */
  readonly statuses?: Readonly<Record<string, readonly number[]>>;
  /** Besides `codes`, every code of a rule over the DPS. */
  readonly judges?: true;
  /** Says nothing of anybody and asks for no credential: a page of any site may read it (CORS). */
  readonly isPublic?: true;
  /** What a miss costs (D-40): 1 where the identifier opens what it names. */
  readonly missCost?: number;
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
      | Accepted<string>
      | Accepted<keyof Own extends never ? undefined : { readonly [Name in keyof Own]: unknown }>
    >;
  },
): Route {
  return route;
}

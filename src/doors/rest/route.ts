/** A row of the route table: what an address says of itself, and the code behind it. */
import type { DescribedRoute } from '../../published/openapi/described.ts';
import type { Fields } from '../../published/openapi/field.ts';
import type { Accepted, Call, Outcome, Refused, Served, Written } from './answers.ts';
import type { MediaType } from './content.ts';

export type Route = DescribedRoute & {
  readonly takes?: readonly MediaType[];
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

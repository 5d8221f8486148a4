/**
 * What a rule is: one unit of the law, from which come the refusal, its page, its tests and its place in OpenAPI.
 */
import type { IssqnAmounts } from '../assess.ts';
import type { Facts } from '../facts.ts';
import type { Dps, DpsPath } from '../layout/dps.ts';

/**
 * A patch on the one valid DPS of `example.ts`: a path and its text, null to take the element (and all inside) away,
 * and with a leading `+` an element that the layout does not have, put at the end of its parent.
 */
export type Patch = Readonly<{ [path in DpsPath | `+${string}` | '@Id' | '@versao']?: string | null }>;

type Told<Of extends readonly unknown[]> = string | ((...seen: Of) => string);

export type Rule = {
  readonly code: string;
  readonly at: DpsPath;
  /** What is wrong and how to mend it, in Portuguese. */
  readonly message: Told<[Dps, Facts]>;
  /** Where the rule stands: specification or national annex. */
  readonly origin: string;
  readonly why: string;
  /** Whom it concerns. Absent: everybody. */
  readonly when?: (dps: Dps, facts: Facts) => boolean;
  /** What holds. */
  readonly must: (dps: Dps, facts: Facts) => boolean;
  readonly found?: (dps: Dps) => string | undefined;
  readonly expected?: string;
  readonly rejects: readonly Patch[];
  readonly accepts: readonly Patch[];
  /** Codes that its rejected examples break as well, by nature. */
  readonly also?: readonly string[];
  /** What the same number means nationally, where it is something else (D-85). */
  readonly national?: string;
};

/** A rule about what was computed: judged after all the others hold. */
export type AmountRule = Omit<Rule, 'must' | 'when' | 'message'> & {
  readonly message: Told<[IssqnAmounts, Dps]>;
  readonly must: (amounts: IssqnAmounts, dps: Dps) => boolean;
};

/** What a session of ours is set to: a connection brings it along, or the role has it where a pooler stands between (`pooled.ts`). */

import type { Connection } from './servers.ts';

/** A statement of ours takes milliseconds; one that takes this long is stuck and must not hold a caller for ever. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * All that the meaning of a statement and of its answer hangs on: a role may have been given anything, and `pg` reads ISO dates alone. Names are
 * written as the server writes them.
 */
const MEANING = {
  DateStyle: 'ISO',
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
};

/**
 * Every statement of ours looks each row up by its whole key, so scans and the joins that need them are off. Statements with a name
 * (`planned.ts`) are planned once; not `force_generic_plan`, which would have those without a name planned for no value as well.
 */
const PLANS = {
  plan_cache_mode: 'auto',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** What holds for whoever asks as the service does, on any node. */
export const SETTINGS: Readonly<Record<string, string>> = { ...MEANING, ...PLANS };

/** For the statements of the service, all but those of migrations and imports. */
export const SESSION: Readonly<Record<string, string>> = {
  ...SETTINGS,
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
};

/** Settings as a connection brings them, and what its statements mean; before them the operator's own, which yield where both say something. */
export function optionsOf(
  settings: Readonly<Record<string, string>>,
  { ownOptions = '' }: Pick<Connection, 'ownOptions'>,
): string {
  const ours = Object.entries({ ...MEANING, ...settings });
  return [ownOptions, ...ours.map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)].join(' ').trim();
}

/** Settings of our sessions. A connection sends them, or the role has them behind a pooler (`pooled.ts`). */

import type { Connection } from './servers.ts';

/** Our statements take milliseconds; one that takes this long is stuck and must not block a caller for ever. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * Settings on which the meaning of statements and results depends. A role may have other ones, and `pg` parses ISO dates alone. Names have
 * the spelling of the server.
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
 * Planner settings. Every statement of ours looks each row up by its whole key. Scans and joins that need them are therefore off. Named
 * statements (`planned.ts`) are planned once. `force_generic_plan` would also plan unnamed ones without their values.
 */
const PLANS = {
  plan_cache_mode: 'auto',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** Settings of all sessions that query like the service, on any node. */
export const SETTINGS: Readonly<Record<string, string>> = { ...MEANING, ...PLANS };

/** Settings for the statements of the service, except migrations and imports. */
export const SESSION: Readonly<Record<string, string>> = {
  ...SETTINGS,
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
};

/** Settings in the form of a connection option. The operator's own ones come first, so that ours take precedence. */
export function optionsOf(
  settings: Readonly<Record<string, string>>,
  { ownOptions = '' }: Pick<Connection, 'ownOptions'>,
): string {
  const ours = Object.entries({ ...MEANING, ...settings });
  return [ownOptions, ...ours.map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)].join(' ').trim();
}

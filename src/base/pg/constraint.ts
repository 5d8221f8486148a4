/** The constraint that refused a row; only this file reads it from an error. */

/** Number of quoted names before the constraint's in the message of a SQLSTATE: the table, if the message names one. */
const NAMES_BEFORE: Readonly<Record<string, number>> = {
  '23503': 1,
  '23505': 0,
  '23514': 1,
  '23P01': 0,
};

/** Quotation marks of the server's languages. */
const QUOTED = /["«“„]([^"«»“”„]+)["»“”]/g;

/** Shard number of Citus, from 102008 on, at the end of the names of objects in a shard. */
const SHARD = /_\d{6,}$/;

/**
 * The name of the constraint or the unique index in the schema; undefined for any other error. Citus fills no field for it. Its message
 * contains the name, as it is on the shard.
 */
export function constraintOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, constraint } = error as { readonly code?: string; readonly constraint?: string };
  const before = NAMES_BEFORE[code ?? ''];
  if (constraint !== undefined || before === undefined) return constraint;
  return [...error.message.matchAll(QUOTED)][before]?.[1]?.trim().replace(SHARD, '');
}

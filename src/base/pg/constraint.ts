/** Which constraint refused a row: the one place that reads it off an error. */

/** Names that the message of a SQLSTATE has between quotes before the constraint's: that of the table, where it names one. */
const NAMES_BEFORE: Readonly<Record<string, number>> = {
  '23503': 1,
  '23505': 0,
  '23514': 1,
  '23P01': 0,
};

/** Quotes as the languages of the server write them. */
const QUOTED = /["«“„]([^"«»“”„]+)["»“”]/g;

/** Citus numbers the shards from 102008 on, and puts the number behind the names of what lies in one. */
const SHARD = /_\d{6,}$/;

/**
 * The name by which the schema knows the constraint or the unique index; undefined of any other error. Citus gives no field for it,
 * only a message, with the name that it has on the shard.
 */
export function constraintOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, constraint } = error as { readonly code?: string; readonly constraint?: string };
  const before = NAMES_BEFORE[code ?? ''];
  if (constraint !== undefined || before === undefined) return constraint;
  return [...error.message.matchAll(QUOTED)][before]?.[1]?.trim().replace(SHARD, '');
}

/**
 * Statements that a connection reads and plans once, and knows by a name. Each finds its rows by whole keys, so one plan is right for every
 * value and every size of a table (D-358). All others have no name and are planned each time, for their values.
 */
import type { QueryConfig } from './pg.ts';

const texts = new Map<string, string>();

/** Text of each statement by its name, for the test that looks at their plans (`test/planos.test.ts`). */
export const PLANNED: ReadonlyMap<string, string> = texts;

/** A statement that was declared: what it is asked with these values. */
export type Planned = (values: unknown[]) => QueryConfig;

/** Declares a statement. Its columns are named one by one: one that gets another column while it is known fails from then on. */
export function planOnce(name: string, text: string): Planned {
  texts.set(name, text);
  return (values) => ({ name, text, values });
}

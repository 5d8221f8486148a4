/**
 * Statements that a connection parses and plans once, and keeps under a name. Each finds its rows by whole keys. One plan is therefore
 * right for every value and every size of a table (D-358). All others have no name and are planned each time, for their values.
 */
import type { QueryConfig } from './pg.ts';

const texts = new Map<string, (mes: number) => string>();

/** Text of each statement by its name, for the test of their plans (`test/planos.test.ts`). `mes`: for monthly statements. */
export const PLANNED: ReadonlyMap<string, (mes: number) => string> = texts;

/** A declared statement: makes a query with these values. */
export type Planned = (values: unknown[]) => QueryConfig;

/** Declares a statement. Its columns must be listed one by one, because a prepared statement fails once its result has another column. */
export function planOnce(name: string, text: string): Planned {
  texts.set(name, () => text);
  return (values) => ({ name, text, values });
}

/**
 * Declares a statement for one month: the value at `place` (from 1, as in `$2`). The month is written into the text, so that the plan reads
 * no other month. A month as a parameter makes a generic plan look expensive to the server, which then plans each time. Statements for old
 * months are rare and have no name; each connection would otherwise keep one for every requested month.
 */
export function planMonthly(name: string, text: string, place = 2): Planned {
  const parts = text.split(/(\$\d+)/).map((part) => (/^\$\d+$/.test(part) ? Number(part.slice(1)) : part));
  const textOf = (mes: number): string =>
    parts
      .map((part) => {
        if (typeof part === 'string') return part;
        return part === place ? String(mes) : `$${part < place ? part : part - 1}`;
      })
      .join('');
  const known = new Map<number, string>();
  texts.set(name, textOf);
  return (values) => {
    const mes = Number(values[place - 1]);
    if (!Number.isInteger(mes)) throw new Error(`${name} needs a month`);
    const others = values.toSpliced(place - 1, 1);
    if (!isOfNow(mes)) return { text: textOf(mes), values: others };
    return { name: `${name}_${mes}`, text: known.getOrInsertComputed(mes, textOf), values: others };
  };
}

/** Months whose statements have names: the past year, with nearly all requested rows, and the months created in advance. */
const [BEFORE_MESES, AHEAD_MESES] = [13, 2];

/** Whether a month is one of these by the clock. An invented key may name any month. */
function isOfNow(mes: number): boolean {
  const now = new Date();
  const months = (Math.floor(mes / 100) - now.getUTCFullYear()) * 12 + (mes % 100) - now.getUTCMonth() - 1;
  return -BEFORE_MESES <= months && months <= AHEAD_MESES;
}

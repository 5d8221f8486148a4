/**
 * Statements that a connection reads and plans once, and knows by a name. Each finds its rows by whole keys, so one plan is right for every
 * value and every size of a table (D-358). All others have no name and are planned each time, for their values.
 */
import type { QueryConfig } from './pg.ts';

const texts = new Map<string, (mes: number) => string>();

/** Text of each statement by its name, for the test that looks at their plans (`test/planos.test.ts`). `mes`: of those that speak of one. */
export const PLANNED: ReadonlyMap<string, (mes: number) => string> = texts;

/** A statement that was declared: what it is asked with these values. */
export type Planned = (values: unknown[]) => QueryConfig;

/** Declares a statement. Its columns are named one by one: one that gets another column while it is known fails from then on. */
export function planOnce(name: string, text: string): Planned {
  texts.set(name, () => text);
  return (values) => ({ name, text, values });
}

/**
 * Declares a statement that speaks of one month: the value at `place` (from 1, as in `$2`). It is written into the text, so that its plan
 * knows no other month: with the month as a value the server finds a plan for any month dear, and plans each time. Statements of
 * months long ago are asked seldom and have no name: each connection would keep one for every month that anybody asks for.
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

/** Months whose statements have names: a year of those before, in which nearly all that is asked for stands, and those made ahead. */
const [BEFORE_MESES, AHEAD_MESES] = [13, 2];

/** Whether a month is one of these by the clock: a key that somebody made up may name any. */
function isOfNow(mes: number): boolean {
  const now = new Date();
  const months = (Math.floor(mes / 100) - now.getUTCFullYear()) * 12 + (mes % 100) - now.getUTCMonth() - 1;
  return -BEFORE_MESES <= months && months <= AHEAD_MESES;
}

/** Rules of deduction and reduction of the base, `valores/vDedRed`. */
import type { Rule } from './rule.ts';

export const DED_RED: readonly Rule[] = [];

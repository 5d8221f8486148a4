/** Rules of the intermediary, `interm`. */
import type { Rule } from './rule.ts';

export const INTERM: readonly Rule[] = [];

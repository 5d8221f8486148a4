/** Rules of the construction work, `serv/obra`. */
import type { Rule } from './rule.ts';

export const OBRA: readonly Rule[] = [];

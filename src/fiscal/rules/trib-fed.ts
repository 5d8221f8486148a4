/** Rules of the federal taxes, `valores/trib/tribFed`. */
import type { Rule } from './rule.ts';

export const TRIB_FED: readonly Rule[] = [];

/** Rules of the approximate total of taxes, `valores/trib/totTrib`. */
import type { Rule } from './rule.ts';

export const TOT_TRIB: readonly Rule[] = [];

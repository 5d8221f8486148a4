/** Rules of the amounts of third parties, `IBSCBS/valores/gReeRepRes`. */
import type { Rule } from './rule.ts';

export const REE_REP_RES: readonly Rule[] = [];

/** Rules of the complementary information, `serv/infoCompl`. */
import type { Rule } from './rule.ts';

export const INFO_COMPL: readonly Rule[] = [];

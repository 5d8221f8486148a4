/** Rules of the replaced note, `subst`, as far as the document tells. */
import type { Rule } from './rule.ts';

export const SUBST: readonly Rule[] = [];

/** Rules of foreign trade, `serv/comExt`. */
import type { Rule } from './rule.ts';

export const COM_EXT: readonly Rule[] = [];

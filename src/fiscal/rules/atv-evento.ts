/** Rules of the event activity, `serv/atvEvento`. */
import type { Rule } from './rule.ts';

export const ATV_EVENTO: readonly Rule[] = [];

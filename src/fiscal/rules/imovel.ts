/** Rules of the property, `IBSCBS/imovel`. */
import type { Rule } from './rule.ts';

export const IMOVEL: readonly Rule[] = [];

/** All rules, in the order of the layout, which is the order of the answer. */
import { CABECALHO } from './cabecalho.ts';
import { IBSCBS } from './ibscbs.ts';
import { PREST } from './prest.ts';
import type { AmountRule, Rule } from './rule.ts';
import { SERV } from './serv.ts';
import { TOMA } from './toma.ts';
import { VALORES, VALORES_CALCULADOS } from './valores.ts';

export const RULES: readonly Rule[] = [...CABECALHO, ...PREST, ...TOMA, ...SERV, ...VALORES, ...IBSCBS];
export const AMOUNT_RULES: readonly AmountRule[] = VALORES_CALCULADOS;

/** What a JSON body declares of the IBS and the CBS, compared field by field with the official calculation. */
import type { IbsCbsRule } from './rule.ts';

export const IBSCBS_DECLARADO: readonly IbsCbsRule[] = [];

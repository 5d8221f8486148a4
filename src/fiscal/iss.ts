/** The ISS rates that the law allows, in percent (LC 116/2003, art. 8 and 8-A), and the highest that a note can carry. */
import { decimal } from './decimal.ts';

export const ISS_MAX = decimal('5.00');
/** Three subitems may go below; `rules/trib-mun.ts` names them. */
export const ISS_MIN = decimal('2.00');

/** `pAliqAplic`, TSDec1V2. */
export const ALIQUOTA_DA_NOTA_MAX = decimal('9.99');

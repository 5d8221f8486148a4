/** Rules of the municipality in which the ISSQN is due: derived, and compared with what a JSON body declares. */
import type { Rule } from './rule.ts';

export const INCIDENCIA: readonly Rule[] = [];

/** Rules of the ISSQN, `valores/trib/tribMun`. */
import type { Rule } from './rule.ts';

export const TRIB_MUN: readonly Rule[] = [];

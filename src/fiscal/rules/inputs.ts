/**
 * The inputs of each computed amount, by their places in the DPS. A fault at one of them leaves the amount unknown, so that a declared one
 * is not compared with it. A group stands here if its presence counts.
 */
import type { DpsPath } from '../layout/dps.ts';

const PRICE = ['valores/vServPrest/vServ', 'valores/vDescCondIncond/vDescIncond'] as const;

const REIMBURSED = ['IBSCBS/valores/gReeRepRes', 'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes'] as const;

/** Whether the note shows any of the ISSQN. */
const SHOWN = [
  'prest/regTrib/opSimpNac',
  'prest/regTrib/regApTribSN',
  'prest/regTrib/regEspTrib',
  'valores/trib/tribMun/tribISSQN',
  'valores/trib/tribMun/tpRetISSQN',
  'valores/trib/tribMun/exigSusp',
] as const;

/** The calculated base, whether or not it stands on the note. */
const RECKONED_BASE = [
  ...PRICE,
  ...REIMBURSED,
  'valores/vDedRed',
  'valores/vDedRed/pDR',
  'valores/vDedRed/vDR',
  'valores/vDedRed/documentos/docDedRed/vDeducaoReducao',
  'valores/trib/tribMun/BM',
  'valores/trib/tribMun/BM/pRedBCBM',
  'valores/trib/tribMun/BM/vRedBCBM',
] as const;

const ISSQN_BASE = [...RECKONED_BASE, ...SHOWN] as const;

/** The rate is sent, or registered for the service at the competence if the tax is the municipality's own. */
const ISSQN = [
  ...ISSQN_BASE,
  'dCompet',
  'cLocEmi',
  'serv/locPrest/cLocPrestacao',
  'serv/cServ/cTribNac',
  'serv/cServ/cTribMun',
  'toma/end',
  'toma/end/endNac',
  'toma/end/endNac/cMun',
  'toma/end/endExt',
  'valores/trib/tribMun/pAliq',
] as const;

/** The rate may also be that of the benefit which the DPS names. */
const ALIQUOTA = [...ISSQN, 'valores/trib/tribMun/BM/nBM'] as const;

const NET = [
  ...ISSQN,
  'valores/vDescCondIncond/vDescCond',
  'valores/trib/tribFed',
  'valores/trib/tribFed/vRetCP',
  'valores/trib/tribFed/vRetIRRF',
  'valores/trib/tribFed/vRetCSLL',
] as const;

const IBSCBS_RATES = [
  'dCompet',
  'IBSCBS',
  'IBSCBS/tpEnteGov',
  'IBSCBS/valores/trib/gIBSCBS/CST',
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib',
] as const;

/** The rates are inputs too: if they are zero, a base of zero is also correct. */
const IBSCBS_BASE = [
  ...IBSCBS_RATES,
  ...ISSQN,
  'valores/trib/tribFed',
  'valores/trib/tribFed/piscofins/vPis',
  'valores/trib/tribFed/piscofins/vCofins',
] as const;

/** The inputs of an amount. */
export type Inputs = ReadonlySet<DpsPath>;

export const INPUTS = {
  reckonedBase: new Set<DpsPath>(RECKONED_BASE),
  issqnBase: new Set<DpsPath>(ISSQN_BASE),
  issqn: new Set<DpsPath>(ISSQN),
  aliquota: new Set<DpsPath>(ALIQUOTA),
  net: new Set<DpsPath>(NET),
  ibsCbsRates: new Set<DpsPath>(IBSCBS_RATES),
  ibsCbs: new Set<DpsPath>(IBSCBS_BASE),
  total: new Set<DpsPath>([...IBSCBS_BASE, ...NET]),
} as const satisfies Readonly<Record<string, Inputs>>;

/**
 * Notes that show only the net value: immunity, export, non-incidence, suspension, MEI, the special regimes, and ISSQN inside the Simples
 * Nacional. A note with ISSQN outside of it, or withheld, shows all amounts.
 */
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import {
  type Caso,
  type Conta,
  ibscbs,
  issqn,
  OPTANTE,
  pisCofins,
  SEM_IBSCBS,
  SUSPENSA,
  TOMADOR_EXTERIOR,
} from './caso.ts';

const SEM_ALIQUOTA: Patch = { ...SEM_IBSCBS, 'valores/trib/tribMun/pAliq': null };

/** ME/EPP of the Simples Nacional: all taxes inside it; only the federal ones inside it; or all outside. */
const meEpp = (regApTribSN: '1' | '2' | '3'): Patch => ({
  'prest/regTrib/opSimpNac': '3',
  'prest/regTrib/regApTribSN': regApTribSN,
});

/** Not withheld, paid in the DAS; the registered rate of the municipality does not matter then. */
const NO_DAS: Patch = { ...SEM_ALIQUOTA, ...meEpp('1') };

/** `regEspTrib`, its name, the differences in the DPS, and the calculation of the net value. */
const REGIMES_ESPECIAIS: readonly (readonly [regEspTrib: string, name: string, dps: Patch, conta: Conta])[] = [
  ['1', 'cooperative act', { 'valores/vDescCondIncond/vDescIncond': '100.00' }, { vLiq: '1000.00 - 100.00 = 900.00' }],
  ['2', 'estimate', { 'valores/vDescCondIncond/vDescCond': '25.00' }, { vLiq: '1000.00 - 25.00 = 975.00' }],
  ['3', 'municipal micro-company', { 'valores/vServPrest/vServ': '99.90' }, { vLiq: '99.90' }],
  ['4', 'notary or registrar', { 'valores/trib/tribFed/vRetIRRF': '15.00' }, { vLiq: '1000.00 - 15.00 = 985.00' }],
  ['5', 'self-employed professional', { 'valores/vServPrest/vServ': '2345.67' }, { vLiq: '2345.67' }],
  [
    '6',
    'professional partnership',
    {
      'valores/vServPrest/vServ': '10000.00',
      ...pisCofins('10000.00', '3', ['65.00', '300.00']),
      'valores/trib/tribFed/vRetIRRF': '150.00',
      'valores/trib/tribFed/vRetCSLL': '465.00',
    },
    { 'withheld, not shown': '150.00 + 465.00 = 615.00', vLiq: '10000.00 - 615.00 = 9385.00' },
  ],
  ['9', 'other', { 'valores/vDescCondIncond/vDescIncond': '0.01' }, { vLiq: '1000.00 - 0.01 = 999.99' }],
];

const especial = ([regEspTrib, name, dps, conta]: (typeof REGIMES_ESPECIAIS)[number]): Caso => ({
  nome: `regEspTrib ${regEspTrib}: ${name}`,
  fonte: 'nfse-layout 5.1: E1307',
  dps: { ...SEM_ALIQUOTA, ...dps, 'prest/regTrib/regEspTrib': regEspTrib },
  conta,
});

export const CASOS: readonly Caso[] = [
  {
    nome: 'immunity',
    fonte: 'nfse-layout 5.1: E1303',
    dps: { ...SEM_ALIQUOTA, 'valores/trib/tribMun/tribISSQN': '2', 'valores/trib/tribMun/tpImunidade': '3' },
    conta: { vLiq: '1000.00' },
  },
  {
    nome: 'immunity, with discounts',
    fonte: 'nfse-layout 5.1: E1303',
    dps: {
      ...SEM_ALIQUOTA,
      'valores/vDescCondIncond/vDescIncond': '100.00',
      'valores/vDescCondIncond/vDescCond': '50.00',
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '1',
    },
    conta: { vLiq: '1000.00 - 100.00 - 50.00 = 850.00' },
  },
  {
    nome: 'immunity, with income tax withheld: not shown as withheld, and not received',
    fonte: 'nfse-layout 5.1: vLiq still subtracts',
    dps: {
      ...SEM_ALIQUOTA,
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '2',
    },
    conta: { vLiq: '1000.00 - 15.00 = 985.00' },
  },
  {
    nome: 'export, provided in Brazil with the result abroad',
    fonte: 'nfse-layout 5.1: E1303; error-codes 4.6',
    dps: {
      ...SEM_ALIQUOTA,
      ...TOMADOR_EXTERIOR,
      'valores/trib/tribMun/tribISSQN': '3',
      'valores/trib/tribMun/cPaisResult': 'US',
    },
    conta: { vLiq: '1000.00' },
  },
  {
    nome: 'export, provided abroad',
    fonte: 'nfse-layout 5.1: E1303; error-codes 4.6',
    dps: {
      ...SEM_ALIQUOTA,
      ...TOMADOR_EXTERIOR,
      'valores/vServPrest/vServ': '7500.50',
      'valores/vDescCondIncond/vDescIncond': '500.50',
      'valores/trib/tribMun/tribISSQN': '3',
      'serv/locPrest/cLocPrestacao': null,
      'serv/locPrest/cPaisPrestacao': 'US',
    },
    conta: { vLiq: '7500.50 - 500.50 = 7000.00' },
  },
  {
    nome: 'export, with social security and income tax withheld',
    fonte: 'nfse-layout 5.1: vLiq still subtracts',
    dps: {
      ...SEM_ALIQUOTA,
      ...TOMADOR_EXTERIOR,
      'valores/vServPrest/vServ': '2000.00',
      'valores/trib/tribFed/vRetCP': '220.00',
      'valores/trib/tribFed/vRetIRRF': '30.00',
      'valores/trib/tribMun/tribISSQN': '3',
      'valores/trib/tribMun/cPaisResult': 'US',
    },
    conta: { 'withheld, not shown': '220.00 + 30.00 = 250.00', vLiq: '2000.00 - 250.00 = 1750.00' },
  },
  {
    nome: 'non-incidence',
    fonte: 'nfse-layout 5.1: E1303; error-codes 4.6',
    dps: {
      ...SEM_ALIQUOTA,
      'valores/vDescCondIncond/vDescCond': '10.00',
      'valores/trib/tribMun/tribISSQN': '4',
      'serv/cServ/cTribNac': '990101',
    },
    conta: { vLiq: '1000.00 - 10.00 = 990.00' },
  },
  {
    nome: 'enforceability suspended by a court',
    fonte: 'nfse-layout 5.1: E1311',
    dps: { ...SEM_IBSCBS, ...SUSPENSA },
    conta: { vLiq: '1000.00' },
  },
  {
    nome: 'enforceability suspended by an administrative process, everything federal withheld',
    fonte: 'nfse-layout 5.1: E1311, vLiq still subtracts',
    dps: {
      ...SEM_ALIQUOTA,
      'valores/vDescCondIncond/vDescIncond': '10.00',
      ...pisCofins('1000.00', '3', ['6.50', '30.00']),
      'valores/trib/tribFed/vRetCP': '110.00',
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'valores/trib/tribFed/vRetCSLL': '46.50',
      'valores/trib/tribMun/exigSusp/tpSusp': '2',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000000000000000020260042',
    },
    conta: { 'withheld, not shown': '110.00 + 15.00 + 46.50 = 171.50', vLiq: '1000.00 - 10.00 - 171.50 = 818.50' },
  },
  {
    nome: 'MEI',
    fonte: 'nfse-layout 5.1: E1302',
    dps: { ...SEM_ALIQUOTA, 'valores/vServPrest/vServ': '350.00', 'prest/regTrib/opSimpNac': '2' },
    fatos: { simples: OPTANTE, regrasNacionais: 'avisa' },
    conta: { vLiq: '350.00' },
  },
  {
    nome: 'MEI, with a conditional discount',
    fonte: 'nfse-layout 5.1: E1302',
    dps: {
      ...SEM_ALIQUOTA,
      'valores/vServPrest/vServ': '350.00',
      'valores/vDescCondIncond/vDescCond': '17.50',
      'prest/regTrib/opSimpNac': '2',
    },
    fatos: { simples: OPTANTE, regrasNacionais: 'avisa' },
    conta: { vLiq: '350.00 - 17.50 = 332.50' },
  },
  ...REGIMES_ESPECIAIS.map(especial),
  {
    nome: 'ME/EPP inside the Simples, ISSQN withheld at the rate of its bracket',
    fonte: 'nfse-layout 5.2, special cases',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribMun/pAliq': '2.79', 'valores/trib/tribMun/tpRetISSQN': '2', ...meEpp('1') },
    fatos: { simples: OPTANTE },
    conta: issqn({
      vBC: '1000.00',
      pAliqAplic: '2.79',
      vISSQN: '27.90',
      vTotalRet: '27.90',
      vLiq: '1000.00 - 27.90 = 972.10',
    }),
  },
  {
    nome: 'ME/EPP with the ISSQN outside the Simples',
    fonte: 'dps-layout 4.3: regApTribSN 2',
    dps: { ...SEM_IBSCBS, 'valores/vDedRed/pDR': '10.00', 'valores/trib/tribMun/pAliq': '3.00', ...meEpp('2') },
    fatos: { simples: OPTANTE },
    conta: issqn({
      vCalcDR: '10.00 % x 1000.00 = 100.00',
      vBC: '1000.00 - 100.00 = 900.00',
      pAliqAplic: '3.00',
      vISSQN: '27.00',
      vLiq: '1000.00',
    }),
  },
  {
    nome: 'ME/EPP with all taxes outside the Simples',
    fonte: 'dps-layout 4.3: regApTribSN 3',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribFed/vRetIRRF': '15.00',
      ...meEpp('3'),
    },
    fatos: { simples: OPTANTE },
    conta: issqn({
      vBC: '1000.00',
      pAliqAplic: '5.00',
      vISSQN: '50.00',
      vTotalRet: '15.00 + 50.00 = 65.00',
      vLiq: '1000.00 - 65.00 = 935.00',
    }),
  },
  {
    nome: 'ME/EPP inside the Simples, as the national emitter issued it on 03/03/2026',
    fonte: 'a public national note, SefinNacional_1.6.0; LC 123/2006, arts. 13 and 18',
    dps: { ...NO_DAS, dCompet: '2026-03-03', 'valores/vServPrest/vServ': '51.60' },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: { vLiq: '51.60' },
  },
  {
    nome: 'ME/EPP inside the Simples, as the national emitter issued it on 13/04/2026',
    fonte: 'a public national note; LC 123/2006, arts. 13 and 18',
    dps: { ...NO_DAS, dCompet: '2026-04-13', 'valores/vServPrest/vServ': '117.60' },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: { vLiq: '117.60' },
  },
  {
    nome: 'ME/EPP inside the Simples, as the national emitter issued it on 11/06/2026',
    fonte: 'a public national note, EmissorWeb_1.6.0.0; LC 123/2006, arts. 13 and 18',
    dps: {
      ...NO_DAS,
      dCompet: '2026-06-11',
      'serv/cServ/cTribNac': '100901',
      'serv/cServ/cNBS': '102010000',
      'valores/vServPrest/vServ': '12392.26',
      'valores/trib/tribFed/piscofins/CST': '00',
      'valores/trib/totTrib/indTotTrib': null,
      'valores/trib/totTrib/pTotTrib/pTotTribFed': '13.45',
      'valores/trib/totTrib/pTotTrib/pTotTribEst': '0.00',
      'valores/trib/totTrib/pTotTrib/pTotTribMun': '4.92',
    },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: { vLiq: '12392.26' },
  },
  {
    nome: 'ME/EPP inside the Simples: the ISSQN is no part of the base of IBS and CBS, since none stands on the note',
    fonte: 'nfse-layout 5.1 and 7; specification, IBS/CBS schedule rule 5',
    dps: { ...meEpp('1'), 'valores/trib/tribMun/pAliq': null },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: { vLiq: '1000.00', ...ibscbs('1000.00', ['1.00', '9.00'], '1000.00') },
  },
  {
    nome: 'ME/EPP with the ISSQN outside the Simples, as the national emitter issued it: 230.00',
    fonte: 'a public national note with regApTribSN 2',
    dps: { ...SEM_ALIQUOTA, 'valores/vServPrest/vServ': '230.00', ...meEpp('2') },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: issqn({ vBC: '230.00', pAliqAplic: '5.00', vISSQN: '11.50' }),
  },
  {
    nome: 'ME/EPP with the ISSQN outside the Simples, as the national emitter issued it: 10000.00',
    fonte: 'a public national note with regApTribSN 3',
    dps: { ...SEM_ALIQUOTA, 'valores/vServPrest/vServ': '10000.00', ...meEpp('3') },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: issqn({ vBC: '10000.00', pAliqAplic: '5.00', vISSQN: '500.00' }),
  },
];

/**
 * Where the note shows the net value alone: immunity, export, non-incidence, suspension, MEI, the special regimes and the
 * ISSQN that is paid inside the Simples Nacional; outside it, or withheld, it shows all.
 *
 * Each line of `conta` is one field of the note and how it comes about; `x` multiplies, `≈` is the one rounding, half up to
 * the cent. Worked out with Python's decimal from the formulas of the reference; `test/casos.test.ts` does every line again.
 */
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { type Caso, SEM_IBSCBS, TOMADOR_EXTERIOR } from './caso.ts';

/** Not withheld, in the DAS; the registered rate of the municipality does not matter then. */
const NO_DAS: Patch = {
  ...SEM_IBSCBS,
  'valores/trib/tribMun/pAliq': null,
  'prest/regTrib/opSimpNac': '3',
  'prest/regTrib/regApTribSN': '1',
};

const OPTANTE = [{ inicio: '2020-01-01', fim: undefined }];

export const CASOS: readonly Caso[] = [
  {
    nome: 'immunity',
    fonte: 'nfse-layout 5.1: E1303',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '3',
    },
    conta: `
      vLiq = 1000.00
    `,
  },
  {
    nome: 'immunity, with discounts',
    fonte: 'nfse-layout 5.1: E1303',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescIncond': '100.00',
      'valores/vDescCondIncond/vDescCond': '50.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '1',
    },
    conta: `
      vLiq = 1000.00 - 100.00 - 50.00 = 850.00
    `,
  },
  {
    nome: 'immunity, with income tax withheld: not shown as withheld, and not received',
    fonte: 'nfse-layout 5.1: vLiq still subtracts',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '2',
    },
    conta: `
      vLiq = 1000.00 - 15.00 = 985.00
    `,
  },
  {
    nome: 'export, provided in Brazil with the result abroad',
    fonte: 'nfse-layout 5.1: E1303; error-codes 4.6',
    dps: {
      ...SEM_IBSCBS,
      ...TOMADOR_EXTERIOR,
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/tribISSQN': '3',
      'valores/trib/tribMun/cPaisResult': 'US',
    },
    conta: `
      vLiq = 1000.00
    `,
  },
  {
    nome: 'export, provided abroad',
    fonte: 'nfse-layout 5.1: E1303; error-codes 4.6',
    dps: {
      ...SEM_IBSCBS,
      ...TOMADOR_EXTERIOR,
      'valores/vServPrest/vServ': '7500.50',
      'valores/vDescCondIncond/vDescIncond': '500.50',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/tribISSQN': '3',
      'serv/locPrest/cLocPrestacao': null,
      'serv/locPrest/cPaisPrestacao': 'US',
    },
    conta: `
      vLiq = 7500.50 - 500.50 = 7000.00
    `,
  },
  {
    nome: 'export, with social security and income tax withheld',
    fonte: 'nfse-layout 5.1: vLiq still subtracts',
    dps: {
      ...SEM_IBSCBS,
      ...TOMADOR_EXTERIOR,
      'valores/vServPrest/vServ': '2000.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribFed/vRetCP': '220.00',
      'valores/trib/tribFed/vRetIRRF': '30.00',
      'valores/trib/tribMun/tribISSQN': '3',
      'valores/trib/tribMun/cPaisResult': 'US',
    },
    conta: `
      withheld, not shown = 220.00 + 30.00 = 250.00
      vLiq                = 2000.00 - 250.00 = 1750.00
    `,
  },
  {
    nome: 'non-incidence',
    fonte: 'nfse-layout 5.1: E1303; error-codes 4.6',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescCond': '10.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/tribISSQN': '4',
      'serv/cServ/cTribNac': '990101',
    },
    conta: `
      vLiq = 1000.00 - 10.00 = 990.00
    `,
  },
  {
    nome: 'enforceability suspended by a court',
    fonte: 'nfse-layout 5.1: E1311',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribMun/exigSusp/tpSusp': '1',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
    },
    conta: `
      vLiq = 1000.00
    `,
  },
  {
    nome: 'enforceability suspended by an administrative process, everything federal withheld',
    fonte: 'nfse-layout 5.1: E1311, vLiq still subtracts',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescIncond': '10.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
      'valores/trib/tribFed/vRetCP': '110.00',
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'valores/trib/tribFed/vRetCSLL': '46.50',
      'valores/trib/tribMun/exigSusp/tpSusp': '2',
      'valores/trib/tribMun/exigSusp/nProcesso': '000000000000000000000020260042',
    },
    conta: `
      withheld, not shown = 110.00 + 15.00 + 46.50 = 171.50
      vLiq                = 1000.00 - 10.00 - 171.50 = 818.50
    `,
  },
  {
    nome: 'MEI',
    fonte: 'nfse-layout 5.1: E1302',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '350.00',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/opSimpNac': '2',
    },
    fatos: { simples: [{ inicio: '2020-01-01', fim: undefined }], regrasNacionais: 'avisa' },
    conta: `
      vLiq = 350.00
    `,
  },
  {
    nome: 'MEI, with a conditional discount',
    fonte: 'nfse-layout 5.1: E1302',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '350.00',
      'valores/vDescCondIncond/vDescCond': '17.50',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/opSimpNac': '2',
    },
    fatos: { simples: [{ inicio: '2020-01-01', fim: undefined }], regrasNacionais: 'avisa' },
    conta: `
      vLiq = 350.00 - 17.50 = 332.50
    `,
  },
  {
    nome: 'regEspTrib 1: cooperative act',
    fonte: 'nfse-layout 5.1: E1307',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescIncond': '100.00',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/regEspTrib': '1',
    },
    conta: `
      vLiq = 1000.00 - 100.00 = 900.00
    `,
  },
  {
    nome: 'regEspTrib 2: estimate',
    fonte: 'nfse-layout 5.1: E1307',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescCond': '25.00',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/regEspTrib': '2',
    },
    conta: `
      vLiq = 1000.00 - 25.00 = 975.00
    `,
  },
  {
    nome: 'regEspTrib 3: municipal micro-company',
    fonte: 'nfse-layout 5.1: E1307',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '99.90',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/regEspTrib': '3',
    },
    conta: `
      vLiq = 99.90
    `,
  },
  {
    nome: 'regEspTrib 4: notary or registrar',
    fonte: 'nfse-layout 5.1: E1307',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'prest/regTrib/regEspTrib': '4',
    },
    conta: `
      vLiq = 1000.00 - 15.00 = 985.00
    `,
  },
  {
    nome: 'regEspTrib 5: self-employed professional',
    fonte: 'nfse-layout 5.1: E1307',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '2345.67',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/regEspTrib': '5',
    },
    conta: `
      vLiq = 2345.67
    `,
  },
  {
    nome: 'regEspTrib 6: professional partnership',
    fonte: 'nfse-layout 5.1: E1307',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '10000.00',
      'valores/trib/tribMun/pAliq': null,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '10000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '65.00',
      'valores/trib/tribFed/piscofins/vCofins': '300.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
      'valores/trib/tribFed/vRetIRRF': '150.00',
      'valores/trib/tribFed/vRetCSLL': '465.00',
      'prest/regTrib/regEspTrib': '6',
    },
    conta: `
      withheld, not shown = 150.00 + 465.00 = 615.00
      vLiq                = 10000.00 - 615.00 = 9385.00
    `,
  },
  {
    nome: 'regEspTrib 9: other',
    fonte: 'nfse-layout 5.1: E1307',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescIncond': '0.01',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/regEspTrib': '9',
    },
    conta: `
      vLiq = 1000.00 - 0.01 = 999.99
    `,
  },
  {
    nome: 'ME/EPP inside the Simples, ISSQN withheld at the rate of its bracket',
    fonte: 'nfse-layout 5.2, special cases',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': '2.79',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '1',
    },
    fatos: { simples: [{ inicio: '2020-01-01', fim: undefined }] },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.79
      vISSQN     = 1000.00 x 2.79 % = 27.90
      vTotalRet  = 27.90
      vLiq       = 1000.00 - 27.90 = 972.10
    `,
  },
  {
    nome: 'ME/EPP with the ISSQN outside the Simples',
    fonte: 'dps-layout 4.3: regApTribSN 2',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDedRed/pDR': '10.00',
      'valores/trib/tribMun/pAliq': '3.00',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '2',
    },
    fatos: { simples: [{ inicio: '2020-01-01', fim: undefined }] },
    conta: `
      vCalcDR    = 10.00 % x 1000.00 = 100.00
      vBC        = 1000.00 - 100.00 = 900.00
      pAliqAplic = 3.00
      vISSQN     = 900.00 x 3.00 % = 27.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'ME/EPP with all taxes outside the Simples',
    fonte: 'dps-layout 4.3: regApTribSN 3',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '3',
    },
    fatos: { simples: [{ inicio: '2020-01-01', fim: undefined }] },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 5.00
      vISSQN     = 1000.00 x 5.00 % = 50.00
      vTotalRet  = 15.00 + 50.00 = 65.00
      vLiq       = 1000.00 - 65.00 = 935.00
    `,
  },
  {
    nome: 'ME/EPP inside the Simples, as the national emitter issued it on 03/03/2026',
    fonte: 'a public national note, SefinNacional_1.6.0; LC 123/2006, arts. 13 and 18',
    dps: {
      ...NO_DAS,
      dCompet: '2026-03-03',
      'valores/vServPrest/vServ': '51.60',
    },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: `
      vLiq = 51.60
    `,
  },
  {
    nome: 'ME/EPP inside the Simples, as the national emitter issued it on 13/04/2026',
    fonte: 'a public national note; LC 123/2006, arts. 13 and 18',
    dps: {
      ...NO_DAS,
      dCompet: '2026-04-13',
      'valores/vServPrest/vServ': '117.60',
    },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: `
      vLiq = 117.60
    `,
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
    conta: `
      vLiq = 12392.26
    `,
  },
  {
    nome: 'ME/EPP inside the Simples: the ISSQN is no part of the base of IBS and CBS, since none stands on the note',
    fonte: 'nfse-layout 5.1 and 7; specification, IBS/CBS schedule rule 5',
    dps: {
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '1',
      'valores/trib/tribMun/pAliq': null,
    },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: `
      vLiq         = 1000.00
      IBSCBS/vBC   = 1000.00
      pIBSUF       = 0.10
      pAliqEfetUF  = 0.10
      pIBSMun      = 0.00
      pAliqEfetMun = 0.00
      pCBS         = 0.90
      pAliqEfetCBS = 0.90
      vIBSUF       = 1000.00 x 0.10 % = 1.00
      vIBSMun      = 1000.00 x 0.00 % = 0.00
      vCBS         = 1000.00 x 0.90 % = 9.00
      vIBSTot      = 1.00 + 0.00 = 1.00
      vTotNF       = 1000.00
    `,
  },
  {
    nome: 'ME/EPP with the ISSQN outside the Simples, as the national emitter issued it: 230.00',
    fonte: 'a public national note with regApTribSN 2',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '230.00',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '2',
    },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: `
      vBC        = 230.00
      pAliqAplic = 5.00
      vISSQN     = 230.00 x 5.00 % = 11.50
      vTotalRet  = 0.00
      vLiq       = 230.00
    `,
  },
  {
    nome: 'ME/EPP with the ISSQN outside the Simples, as the national emitter issued it: 10000.00',
    fonte: 'a public national note with regApTribSN 3',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '10000.00',
      'valores/trib/tribMun/pAliq': null,
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '3',
    },
    fatos: { simples: OPTANTE, aliquotaRegistrada: '5.00' },
    conta: `
      vBC        = 10000.00
      pAliqAplic = 5.00
      vISSQN     = 10000.00 x 5.00 % = 500.00
      vTotalRet  = 0.00
      vLiq       = 10000.00
    `,
  },
];

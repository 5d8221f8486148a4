/**
 * What is withheld: ISSQN by the taker or the intermediary, social security, income tax, and the contributions that
 * `tpRetPisCofins` says are inside `vRetCSLL`. PIS and COFINS are 0.65 % and 3 %, CSLL 1 %.
 *
 * Each line of `conta` is one field of the note and how it comes about; `x` multiplies, `≈` is the one rounding, half up to
 * the cent. Worked out with Python's decimal from the formulas of the reference; `test/casos.test.ts` does every line again.
 */
import { type Caso, INTERMEDIARIO, SEM_IBSCBS } from './caso.ts';

export const CASOS: readonly Caso[] = [
  {
    nome: 'ISSQN withheld by the taker',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribMun/tpRetISSQN': '2' },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vTotalRet  = 20.00
      vLiq       = 1000.00 - 20.00 = 980.00
    `,
  },
  {
    nome: 'ISSQN withheld by the intermediary',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      ...INTERMEDIARIO,
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '3',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 5.00
      vISSQN     = 1000.00 x 5.00 % = 50.00
      vTotalRet  = 50.00
      vLiq       = 1000.00 - 50.00 = 950.00
    `,
  },
  {
    nome: 'withheld ISSQN is the rounded one',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '12.25', 'valores/trib/tribMun/tpRetISSQN': '2' },
    conta: `
      vBC        = 12.25
      pAliqAplic = 2.00
      vISSQN     = 12.25 x 2.00 % = 0.245 ≈ 0.25
      vTotalRet  = 0.25
      vLiq       = 12.25 - 0.25 = 12.00
    `,
  },
  {
    nome: 'withheld ISSQN of a reduced base',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDedRed/pDR': '30.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
    },
    conta: `
      vCalcDR    = 30.00 % x 1000.00 = 300.00
      vBC        = 1000.00 - 300.00 = 700.00
      pAliqAplic = 5.00
      vISSQN     = 700.00 x 5.00 % = 35.00
      vTotalRet  = 35.00
      vLiq       = 1000.00 - 35.00 = 965.00
    `,
  },
  {
    nome: 'both discounts and withheld ISSQN',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescIncond': '80.00',
      'valores/vDescCondIncond/vDescCond': '20.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
    },
    conta: `
      vBC        = 1000.00 - 80.00 = 920.00
      pAliqAplic = 5.00
      vISSQN     = 920.00 x 5.00 % = 46.00
      vTotalRet  = 46.00
      vLiq       = 1000.00 - 80.00 - 20.00 - 46.00 = 854.00
    `,
  },
  {
    nome: 'social security alone',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribFed/vRetCP': '110.00' },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vTotalRet  = 110.00
      vLiq       = 1000.00 - 110.00 = 890.00
    `,
  },
  {
    nome: 'income tax alone',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribFed/vRetIRRF': '15.00' },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vTotalRet  = 15.00
      vLiq       = 1000.00 - 15.00 = 985.00
    `,
  },
  {
    nome: 'social security, income tax and ISSQN',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '3333.33',
      'valores/trib/tribMun/pAliq': '3.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribFed/vRetCP': '366.67',
      'valores/trib/tribFed/vRetIRRF': '50.00',
    },
    conta: `
      vBC        = 3333.33
      pAliqAplic = 3.00
      vISSQN     = 3333.33 x 3.00 % = 99.9999 ≈ 100.00
      vTotalRet  = 366.67 + 50.00 + 100.00 = 516.67
      vLiq       = 3333.33 - 516.67 = 2816.66
    `,
  },
  {
    nome: 'own debits of PIS and COFINS are no withholding',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq; specification, tribFed',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '1.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '7.60',
      'valores/trib/tribFed/piscofins/vPis': '16.50',
      'valores/trib/tribFed/piscofins/vCofins': '76.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '0',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'tpRetPisCofins 2: PIS and COFINS not withheld',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '2',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'tpRetPisCofins 1: PIS and COFINS (old value)',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '1',
      'valores/trib/tribFed/vRetCSLL': '36.50',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x (0.65 % + 3.00 %) = 36.50
      vTotalRet  = 36.50
      vLiq       = 1000.00 - 36.50 = 963.50
    `,
  },
  {
    nome: 'tpRetPisCofins 3: PIS, COFINS and CSLL',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
      'valores/trib/tribFed/vRetCSLL': '46.50',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x (0.65 % + 3.00 % + 1.00 %) = 46.50
      vTotalRet  = 46.50
      vLiq       = 1000.00 - 46.50 = 953.50
    `,
  },
  {
    nome: 'tpRetPisCofins 4: PIS and COFINS',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '4',
      'valores/trib/tribFed/vRetCSLL': '36.50',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x (0.65 % + 3.00 %) = 36.50
      vTotalRet  = 36.50
      vLiq       = 1000.00 - 36.50 = 963.50
    `,
  },
  {
    nome: 'tpRetPisCofins 5: PIS',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '5',
      'valores/trib/tribFed/vRetCSLL': '6.50',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x 0.65 % = 6.50
      vTotalRet  = 6.50
      vLiq       = 1000.00 - 6.50 = 993.50
    `,
  },
  {
    nome: 'tpRetPisCofins 6: COFINS',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '6',
      'valores/trib/tribFed/vRetCSLL': '30.00',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x 3.00 % = 30.00
      vTotalRet  = 30.00
      vLiq       = 1000.00 - 30.00 = 970.00
    `,
  },
  {
    nome: 'tpRetPisCofins 7: COFINS and CSLL',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '7',
      'valores/trib/tribFed/vRetCSLL': '40.00',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x (3.00 % + 1.00 %) = 40.00
      vTotalRet  = 40.00
      vLiq       = 1000.00 - 40.00 = 960.00
    `,
  },
  {
    nome: 'tpRetPisCofins 8: CSLL',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '8',
      'valores/trib/tribFed/vRetCSLL': '10.00',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x 1.00 % = 10.00
      vTotalRet  = 10.00
      vLiq       = 1000.00 - 10.00 = 990.00
    `,
  },
  {
    nome: 'tpRetPisCofins 9: PIS and CSLL',
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '6.50',
      'valores/trib/tribFed/piscofins/vCofins': '30.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '9',
      'valores/trib/tribFed/vRetCSLL': '16.50',
    },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vRetCSLL   = 1000.00 x (0.65 % + 1.00 %) = 16.50
      vTotalRet  = 16.50
      vLiq       = 1000.00 - 16.50 = 983.50
    `,
  },
  {
    nome: 'everything withheld',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '2000.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '2000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '13.00',
      'valores/trib/tribFed/piscofins/vCofins': '60.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
      'valores/trib/tribFed/vRetCP': '220.00',
      'valores/trib/tribFed/vRetIRRF': '30.00',
      'valores/trib/tribFed/vRetCSLL': '93.00',
    },
    conta: `
      vBC        = 2000.00
      pAliqAplic = 5.00
      vISSQN     = 2000.00 x 5.00 % = 100.00
      vTotalRet  = 220.00 + 30.00 + 93.00 + 100.00 = 443.00
      vLiq       = 2000.00 - 443.00 = 1557.00
    `,
  },
];

/**
 * Withholdings: ISSQN by the taker or the intermediary, social security, income tax, and the contributions inside of `vRetCSLL` according
 * to `tpRetPisCofins`. PIS and COFINS are 0.65 % and 3 %, CSLL 1 %.
 */
import { amountOf, type Caso, INTERMEDIARIO, issqn, pisCofins, SEM_IBSCBS } from './caso.ts';

/** `tpRetPisCofins`, the contributions that it puts into `vRetCSLL`, their amount for 1000.00, and the net value. */
const RETENCAO_CONJUNTA = [
  ['1', 'PIS and COFINS (old value)', '(0.65 % + 3.00 %) = 36.50', '963.50'],
  ['3', 'PIS, COFINS and CSLL', '(0.65 % + 3.00 % + 1.00 %) = 46.50', '953.50'],
  ['4', 'PIS and COFINS', '(0.65 % + 3.00 %) = 36.50', '963.50'],
  ['5', 'PIS', '0.65 % = 6.50', '993.50'],
  ['6', 'COFINS', '3.00 % = 30.00', '970.00'],
  ['7', 'COFINS and CSLL', '(3.00 % + 1.00 %) = 40.00', '960.00'],
  ['8', 'CSLL', '1.00 % = 10.00', '990.00'],
  ['9', 'PIS and CSLL', '(0.65 % + 1.00 %) = 16.50', '983.50'],
] as const;

function conjunta([tpRet, quais, produto, vLiq]: (typeof RETENCAO_CONJUNTA)[number]): Caso {
  const vRetCSLL = amountOf(produto);
  return {
    nome: `tpRetPisCofins ${tpRet}: ${quais}`,
    fonte: 'dps-layout 5: tpRetPisCofins; nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      ...pisCofins('1000.00', tpRet, ['6.50', '30.00']),
      'valores/trib/tribFed/vRetCSLL': vRetCSLL,
    },
    conta: issqn({
      vRetCSLL: `1000.00 x ${produto}`,
      vBC: '1000.00',
      vISSQN: '20.00',
      vTotalRet: vRetCSLL,
      vLiq: `1000.00 - ${vRetCSLL} = ${vLiq}`,
    }),
  };
}

export const CASOS: readonly Caso[] = [
  {
    nome: 'ISSQN withheld by the taker',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribMun/tpRetISSQN': '2' },
    conta: issqn({ vBC: '1000.00', vISSQN: '20.00', vTotalRet: '20.00', vLiq: '1000.00 - 20.00 = 980.00' }),
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
    conta: issqn({
      vBC: '1000.00',
      pAliqAplic: '5.00',
      vISSQN: '50.00',
      vTotalRet: '50.00',
      vLiq: '1000.00 - 50.00 = 950.00',
    }),
  },
  {
    nome: 'withheld ISSQN is the rounded one',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '12.25', 'valores/trib/tribMun/tpRetISSQN': '2' },
    conta: issqn({ vBC: '12.25', vISSQN: '0.245 ≈ 0.25', vTotalRet: '0.25', vLiq: '12.25 - 0.25 = 12.00' }),
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
    conta: issqn({
      vCalcDR: '30.00 % x 1000.00 = 300.00',
      vBC: '1000.00 - 300.00 = 700.00',
      pAliqAplic: '5.00',
      vISSQN: '35.00',
      vTotalRet: '35.00',
      vLiq: '1000.00 - 35.00 = 965.00',
    }),
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
    conta: issqn({
      vBC: '1000.00 - 80.00 = 920.00',
      pAliqAplic: '5.00',
      vISSQN: '46.00',
      vTotalRet: '46.00',
      vLiq: '1000.00 - 80.00 - 20.00 - 46.00 = 854.00',
    }),
  },
  {
    nome: 'social security alone',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribFed/vRetCP': '110.00' },
    conta: issqn({ vBC: '1000.00', vISSQN: '20.00', vTotalRet: '110.00', vLiq: '1000.00 - 110.00 = 890.00' }),
  },
  {
    nome: 'income tax alone',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribFed/vRetIRRF': '15.00' },
    conta: issqn({ vBC: '1000.00', vISSQN: '20.00', vTotalRet: '15.00', vLiq: '1000.00 - 15.00 = 985.00' }),
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
    conta: issqn({
      vBC: '3333.33',
      pAliqAplic: '3.00',
      vISSQN: '99.9999 ≈ 100.00',
      vTotalRet: '366.67 + 50.00 + 100.00 = 516.67',
      vLiq: '3333.33 - 516.67 = 2816.66',
    }),
  },
  {
    nome: 'own debits of PIS and COFINS are no withholding',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq; specification, tribFed',
    dps: { ...SEM_IBSCBS, ...pisCofins('1000.00', '0', ['16.50', '76.00'], ['1.65', '7.60']) },
    conta: issqn({ vBC: '1000.00', vISSQN: '20.00' }),
  },
  {
    nome: 'tpRetPisCofins 2: PIS and COFINS not withheld',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: { ...SEM_IBSCBS, ...pisCofins('1000.00', '2', ['6.50', '30.00']) },
    conta: issqn({ vBC: '1000.00', vISSQN: '20.00' }),
  },
  ...RETENCAO_CONJUNTA.map(conjunta),
  {
    nome: 'everything withheld',
    fonte: 'nfse-layout 5.2: vTotalRet, vLiq',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '2000.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      ...pisCofins('2000.00', '3', ['13.00', '60.00']),
      'valores/trib/tribFed/vRetCP': '220.00',
      'valores/trib/tribFed/vRetIRRF': '30.00',
      'valores/trib/tribFed/vRetCSLL': '93.00',
    },
    conta: issqn({
      vBC: '2000.00',
      pAliqAplic: '5.00',
      vISSQN: '100.00',
      vTotalRet: '220.00 + 30.00 + 93.00 + 100.00 = 443.00',
      vLiq: '2000.00 - 443.00 = 1557.00',
    }),
  },
];

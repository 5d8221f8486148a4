/**
 * The base of the ISSQN: discounts, deductions, benefits, one by one and together. Competence of September 2026, when no
 * note needs the group of IBS and CBS yet.
 *
 * Each line of `conta` is one field of the note and how it comes about; `x` multiplies, `≈` is the one rounding, half up to
 * the cent. Worked out with Python's decimal from the formulas of the reference; `test/casos.test.ts` does every line again.
 */
import { type Caso, DOCUMENTO_DEDUCAO, OBRA, SEM_IBSCBS } from './caso.ts';

export const CASOS: readonly Caso[] = [
  {
    nome: 'nothing reduces the base',
    fonte: 'nfse-layout 5.2: vBC, vISSQN, vLiq',
    dps: { ...SEM_IBSCBS },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'unconditional discount',
    fonte: 'nfse-layout 5.2: E1295',
    dps: { ...SEM_IBSCBS, 'valores/vDescCondIncond/vDescIncond': '100.00' },
    conta: `
      vBC        = 1000.00 - 100.00 = 900.00
      pAliqAplic = 2.00
      vISSQN     = 900.00 x 2.00 % = 18.00
      vTotalRet  = 0.00
      vLiq       = 1000.00 - 100.00 = 900.00
    `,
  },
  {
    nome: 'conditional discount: the net value alone',
    fonte: 'nfse-layout 5.2: vLiq',
    dps: { ...SEM_IBSCBS, 'valores/vDescCondIncond/vDescCond': '100.00' },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 2.00
      vISSQN     = 1000.00 x 2.00 % = 20.00
      vTotalRet  = 0.00
      vLiq       = 1000.00 - 100.00 = 900.00
    `,
  },
  {
    nome: 'both discounts, odd amounts',
    fonte: 'nfse-layout 5.2',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '4321.09',
      'valores/vDescCondIncond/vDescIncond': '123.45',
      'valores/vDescCondIncond/vDescCond': '67.89',
      'valores/trib/tribMun/pAliq': '3.00',
    },
    conta: `
      vBC        = 4321.09 - 123.45 = 4197.64
      pAliqAplic = 3.00
      vISSQN     = 4197.64 x 3.00 % = 125.9292 ≈ 125.93
      vTotalRet  = 0.00
      vLiq       = 4321.09 - 123.45 - 67.89 = 4129.75
    `,
  },
  {
    nome: 'deduction in reais: not repeated on the note',
    fonte: 'nfse-layout 5.2: DR',
    dps: { ...SEM_IBSCBS, 'valores/vDedRed/vDR': '100.00', 'valores/trib/tribMun/pAliq': '3.00' },
    conta: `
      vBC        = 1000.00 - 100.00 = 900.00
      pAliqAplic = 3.00
      vISSQN     = 900.00 x 3.00 % = 27.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'deduction in percent',
    fonte: 'nfse-layout 5.2: vCalcDR, E1287',
    dps: { ...SEM_IBSCBS, 'valores/vDedRed/pDR': '25.00', 'valores/trib/tribMun/pAliq': '5.00' },
    conta: `
      vCalcDR    = 25.00 % x 1000.00 = 250.00
      vBC        = 1000.00 - 250.00 = 750.00
      pAliqAplic = 5.00
      vISSQN     = 750.00 x 5.00 % = 37.50
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'deduction in percent, after the unconditional discount',
    fonte: 'nfse-layout 5.2: E0427',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescIncond': '100.00',
      'valores/vDedRed/pDR': '25.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: `
      vCalcDR    = 25.00 % x (1000.00 - 100.00) = 225.00
      vBC        = 1000.00 - 100.00 - 225.00 = 675.00
      pAliqAplic = 5.00
      vISSQN     = 675.00 x 5.00 % = 33.75
      vTotalRet  = 0.00
      vLiq       = 1000.00 - 100.00 = 900.00
    `,
  },
  {
    nome: 'deduction in percent, half a cent',
    fonte: 'nfse-layout 5.3',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '100.20',
      'valores/vDedRed/pDR': '12.50',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: `
      vCalcDR    = 12.50 % x 100.20 = 12.525 ≈ 12.53
      vBC        = 100.20 - 12.53 = 87.67
      pAliqAplic = 5.00
      vISSQN     = 87.67 x 5.00 % = 4.3835 ≈ 4.38
      vTotalRet  = 0.00
      vLiq       = 100.20
    `,
  },
  {
    nome: 'deduction in percent, conditional discount',
    fonte: 'nfse-layout 5.2',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '2500.00',
      'valores/vDescCondIncond/vDescCond': '500.00',
      'valores/vDedRed/pDR': '40.00',
      'valores/trib/tribMun/pAliq': '4.00',
    },
    conta: `
      vCalcDR    = 40.00 % x 2500.00 = 1000.00
      vBC        = 2500.00 - 1000.00 = 1500.00
      pAliqAplic = 4.00
      vISSQN     = 1500.00 x 4.00 % = 60.00
      vTotalRet  = 0.00
      vLiq       = 2500.00 - 500.00 = 2000.00
    `,
  },
  {
    nome: 'deduction by two documents',
    fonte: 'nfse-layout 5.2: vCalcDR',
    dps: {
      ...SEM_IBSCBS,
      ...DOCUMENTO_DEDUCAO,
      'valores/vDedRed/documentos/docDedRed/vDeducaoReducao': '100.00',
      'valores/trib/tribMun/pAliq': '3.00',
    },
    mais: {
      'valores/vDedRed/documentos/docDedRed': [{ 'valores/vDedRed/documentos/docDedRed/vDeducaoReducao': '80.50' }],
    },
    conta: `
      vCalcDR    = 100.00 + 80.50 = 180.50
      vBC        = 1000.00 - 180.50 = 819.50
      pAliqAplic = 3.00
      vISSQN     = 819.50 x 3.00 % = 24.585 ≈ 24.59
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'deduction by three documents, odd cents',
    fonte: 'nfse-layout 5.2: vCalcDR',
    dps: {
      ...SEM_IBSCBS,
      ...DOCUMENTO_DEDUCAO,
      'valores/vDedRed/documentos/docDedRed/vDeducaoReducao': '33.33',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    mais: {
      'valores/vDedRed/documentos/docDedRed': [
        { 'valores/vDedRed/documentos/docDedRed/vDeducaoReducao': '33.33' },
        { 'valores/vDedRed/documentos/docDedRed/vDeducaoReducao': '33.34' },
      ],
    },
    conta: `
      vCalcDR    = 33.33 + 33.33 + 33.34 = 100.00
      vBC        = 1000.00 - 100.00 = 900.00
      pAliqAplic = 5.00
      vISSQN     = 900.00 x 5.00 % = 45.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'deduction by one document, after a discount',
    fonte: 'nfse-layout 5.2: vCalcDR',
    dps: {
      ...SEM_IBSCBS,
      ...DOCUMENTO_DEDUCAO,
      'valores/vDescCondIncond/vDescIncond': '50.00',
      'valores/vDedRed/documentos/docDedRed/vDeducaoReducao': '200.00',
      'valores/trib/tribMun/pAliq': '4.00',
    },
    conta: `
      vCalcDR    = 200.00 = 200.00
      vBC        = 1000.00 - 50.00 - 200.00 = 750.00
      pAliqAplic = 4.00
      vISSQN     = 750.00 x 4.00 % = 30.00
      vTotalRet  = 0.00
      vLiq       = 1000.00 - 50.00 = 950.00
    `,
  },
  {
    nome: 'benefit in reais: not repeated on the note',
    fonte: 'nfse-layout 5.2: BMval',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/vRedBCBM': '200.00',
      'valores/trib/tribMun/pAliq': '4.00',
    },
    conta: `
      vBC        = 1000.00 - 200.00 = 800.00
      pAliqAplic = 4.00
      vISSQN     = 800.00 x 4.00 % = 32.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'benefit in percent',
    fonte: 'nfse-layout 5.2: vCalcBM, E1288',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/pRedBCBM': '40.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: `
      vCalcBM    = 40.00 % x 1000.00 = 400.00
      vBC        = 1000.00 - 400.00 = 600.00
      pAliqAplic = 5.00
      vISSQN     = 600.00 x 5.00 % = 30.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'benefit in percent, after discount and deduction',
    fonte: 'nfse-layout 5.2: vCalcBM, E0427',
    dps: {
      ...SEM_IBSCBS,
      'valores/vDescCondIncond/vDescIncond': '50.00',
      'valores/vDedRed/vDR': '150.00',
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/pRedBCBM': '25.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: `
      vCalcBM    = 25.00 % x (1000.00 - 50.00 - 150.00) = 200.00
      vBC        = 1000.00 - 50.00 - 150.00 - 200.00 = 600.00
      pAliqAplic = 5.00
      vISSQN     = 600.00 x 5.00 % = 30.00
      vTotalRet  = 0.00
      vLiq       = 1000.00 - 50.00 = 950.00
    `,
  },
  {
    nome: 'benefit in percent, half a cent',
    fonte: 'nfse-layout 5.3',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '250.10',
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/pRedBCBM': '25.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: `
      vCalcBM    = 25.00 % x 250.10 = 62.525 ≈ 62.53
      vBC        = 250.10 - 62.53 = 187.57
      pAliqAplic = 5.00
      vISSQN     = 187.57 x 5.00 % = 9.3785 ≈ 9.38
      vTotalRet  = 0.00
      vLiq       = 250.10
    `,
  },
  {
    nome: 'benefit in reais beside a deduction in percent',
    fonte: 'nfse-layout 5.2',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '800.00',
      'valores/vDedRed/pDR': '12.50',
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/vRedBCBM': '100.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: `
      vCalcDR    = 12.50 % x 800.00 = 100.00
      vBC        = 800.00 - 100.00 - 100.00 = 600.00
      pAliqAplic = 5.00
      vISSQN     = 600.00 x 5.00 % = 30.00
      vTotalRet  = 0.00
      vLiq       = 800.00
    `,
  },
  {
    nome: 'discounts, deduction and benefit, each rounded once',
    fonte: 'nfse-layout 5.2: E1295',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '987.65',
      'valores/vDescCondIncond/vDescIncond': '12.34',
      'valores/vDescCondIncond/vDescCond': '7.65',
      'valores/vDedRed/pDR': '7.77',
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/pRedBCBM': '33.33',
      'valores/trib/tribMun/pAliq': '4.50',
    },
    conta: `
      vCalcDR    = 7.77 % x (987.65 - 12.34) = 75.781587 ≈ 75.78
      vCalcBM    = 33.33 % x (987.65 - 12.34 - 75.78) = 299.813349 ≈ 299.81
      vBC        = 987.65 - 12.34 - 75.78 - 299.81 = 599.72
      pAliqAplic = 4.50
      vISSQN     = 599.72 x 4.50 % = 26.9874 ≈ 26.99
      vTotalRet  = 0.00
      vLiq       = 987.65 - 12.34 - 7.65 = 967.66
    `,
  },
  {
    nome: 'every reducer and every withholding together',
    fonte: 'nfse-layout 5.2',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '5000.00',
      'valores/vDescCondIncond/vDescIncond': '250.00',
      'valores/vDescCondIncond/vDescCond': '100.00',
      'valores/vDedRed/pDR': '10.00',
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/pRedBCBM': '20.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '5000.00',
      'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
      'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
      'valores/trib/tribFed/piscofins/vPis': '32.50',
      'valores/trib/tribFed/piscofins/vCofins': '150.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
      'valores/trib/tribFed/vRetCP': '550.00',
      'valores/trib/tribFed/vRetIRRF': '75.00',
      'valores/trib/tribFed/vRetCSLL': '232.50',
    },
    conta: `
      vCalcDR    = 10.00 % x (5000.00 - 250.00) = 475.00
      vCalcBM    = 20.00 % x (5000.00 - 250.00 - 475.00) = 855.00
      vBC        = 5000.00 - 250.00 - 475.00 - 855.00 = 3420.00
      pAliqAplic = 5.00
      vISSQN     = 3420.00 x 5.00 % = 171.00
      vTotalRet  = 550.00 + 75.00 + 232.50 + 171.00 = 1028.50
      vLiq       = 5000.00 - 250.00 - 100.00 - 1028.50 = 3621.50
    `,
  },
  {
    nome: 'the whole base deducted, where the law allows it',
    fonte: 'nfse-layout 5.2; error-codes 4.3 (070201)',
    dps: { ...SEM_IBSCBS, ...OBRA, 'valores/vDedRed/pDR': '100.00', 'valores/trib/tribMun/pAliq': '5.00' },
    conta: `
      vCalcDR    = 100.00 % x 1000.00 = 1000.00
      vBC        = 1000.00 - 1000.00 = 0.00
      pAliqAplic = 5.00
      vISSQN     = 0.00 x 5.00 % = 0.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'the smallest price',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '0.01' },
    conta: `
      vBC        = 0.01
      pAliqAplic = 2.00
      vISSQN     = 0.01 x 2.00 % = 0.0002 ≈ 0.00
      vTotalRet  = 0.00
      vLiq       = 0.01
    `,
  },
  {
    nome: 'the largest price that the layout holds',
    fonte: 'dps-layout 3: TSDec15V2',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '999999999999999.99', 'valores/trib/tribMun/pAliq': '5.00' },
    conta: `
      vBC        = 999999999999999.99
      pAliqAplic = 5.00
      vISSQN     = 999999999999999.99 x 5.00 % = 49999999999999.9995 ≈ 50000000000000.00
      vTotalRet  = 0.00
      vLiq       = 999999999999999.99
    `,
  },
];

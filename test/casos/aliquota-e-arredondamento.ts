/**
 * Which rate applies, and what becomes of half a cent.
 *
 * Each line of `conta` is one field of the note and how it comes about; `x` multiplies, `≈` is the one rounding, half up to
 * the cent. Worked out with Python's decimal from the formulas of the reference; `test/casos.test.ts` does every line again.
 */
import { type Caso, SEM_IBSCBS } from './caso.ts';

export const CASOS: readonly Caso[] = [
  {
    nome: 'rate that the municipality registered, none declared',
    fonte: 'nfse-layout 5.2: pAliqAplic',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribMun/pAliq': null },
    fatos: { aliquotaRegistrada: '3.00' },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 3.00
      vISSQN     = 1000.00 x 3.00 % = 30.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'a registered rate goes before a declared one',
    fonte: 'nfse-layout 5.2: pAliqAplic',
    dps: { ...SEM_IBSCBS },
    fatos: { aliquotaRegistrada: '3.00', regrasNacionais: 'avisa' },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 3.00
      vISSQN     = 1000.00 x 3.00 % = 30.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'registered rate on a reduced base',
    fonte: 'nfse-layout 5.2: pAliqAplic',
    dps: {
      ...SEM_IBSCBS,
      'valores/vServPrest/vServ': '1800.00',
      'valores/vDescCondIncond/vDescIncond': '300.00',
      'valores/vDedRed/pDR': '20.00',
      'valores/trib/tribMun/pAliq': null,
    },
    fatos: { aliquotaRegistrada: '4.50' },
    conta: `
      vCalcDR    = 20.00 % x (1800.00 - 300.00) = 300.00
      vBC        = 1800.00 - 300.00 - 300.00 = 1200.00
      pAliqAplic = 4.50
      vISSQN     = 1200.00 x 4.50 % = 54.00
      vTotalRet  = 0.00
      vLiq       = 1800.00 - 300.00 = 1500.00
    `,
  },
  {
    nome: 'no rate anywhere: the sandbox takes 5 %',
    fonte: 'D-61',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribMun/pAliq': null },
    conta: `
      vBC        = 1000.00
      pAliqAplic = 5.00
      vISSQN     = 1000.00 x 5.00 % = 50.00
      vTotalRet  = 0.00
      vLiq       = 1000.00
    `,
  },
  {
    nome: 'no rate anywhere, in production: a base and no tax',
    fonte: 'nfse-layout 5.2: pAliqAplic',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': null,
      tpAmb: '1',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '2',
    },
    fatos: { ambiente: 'producao', simples: [{ inicio: '2020-01-01', fim: undefined }] },
    conta: `
      vBC       = 1000.00
      vTotalRet = 0.00
      vLiq      = 1000.00
    `,
  },
  {
    nome: 'the lowest and the highest rate of the law: 2 %',
    fonte: 'error-codes E0595, E1300',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '1234.56' },
    conta: `
      vBC        = 1234.56
      pAliqAplic = 2.00
      vISSQN     = 1234.56 x 2.00 % = 24.6912 ≈ 24.69
      vTotalRet  = 0.00
      vLiq       = 1234.56
    `,
  },
  {
    nome: 'the lowest and the highest rate of the law: 5 %',
    fonte: 'error-codes E0595, E1300',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '1234.56', 'valores/trib/tribMun/pAliq': '5.00' },
    conta: `
      vBC        = 1234.56
      pAliqAplic = 5.00
      vISSQN     = 1234.56 x 5.00 % = 61.728 ≈ 61.73
      vTotalRet  = 0.00
      vLiq       = 1234.56
    `,
  },
  {
    nome: 'a rate with cents',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '1234.56', 'valores/trib/tribMun/pAliq': '2.79' },
    conta: `
      vBC        = 1234.56
      pAliqAplic = 2.79
      vISSQN     = 1234.56 x 2.79 % = 34.444224 ≈ 34.44
      vTotalRet  = 0.00
      vLiq       = 1234.56
    `,
  },
  {
    nome: 'half a cent goes up: 0.005',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '0.25' },
    conta: `
      vBC        = 0.25
      pAliqAplic = 2.00
      vISSQN     = 0.25 x 2.00 % = 0.005 ≈ 0.01
      vTotalRet  = 0.00
      vLiq       = 0.25
    `,
  },
  {
    nome: 'half a cent goes up: 0.245, where the even cent would go down',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '12.25' },
    conta: `
      vBC        = 12.25
      pAliqAplic = 2.00
      vISSQN     = 12.25 x 2.00 % = 0.245 ≈ 0.25
      vTotalRet  = 0.00
      vLiq       = 12.25
    `,
  },
  {
    nome: 'half a cent goes up: 0.015',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '0.75' },
    conta: `
      vBC        = 0.75
      pAliqAplic = 2.00
      vISSQN     = 0.75 x 2.00 % = 0.015 ≈ 0.02
      vTotalRet  = 0.00
      vLiq       = 0.75
    `,
  },
  {
    nome: 'just below half a cent: 0.2448',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '12.24' },
    conta: `
      vBC        = 12.24
      pAliqAplic = 2.00
      vISSQN     = 12.24 x 2.00 % = 0.2448 ≈ 0.24
      vTotalRet  = 0.00
      vLiq       = 12.24
    `,
  },
  {
    nome: 'just above half a cent: 1.0053',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '33.51', 'valores/trib/tribMun/pAliq': '3.00' },
    conta: `
      vBC        = 33.51
      pAliqAplic = 3.00
      vISSQN     = 33.51 x 3.00 % = 1.0053 ≈ 1.01
      vTotalRet  = 0.00
      vLiq       = 33.51
    `,
  },
  {
    nome: 'half a cent of three digits: 33.335',
    fonte: 'nfse-layout 5.3',
    dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': '666.70', 'valores/trib/tribMun/pAliq': '5.00' },
    conta: `
      vBC        = 666.70
      pAliqAplic = 5.00
      vISSQN     = 666.70 x 5.00 % = 33.335 ≈ 33.34
      vTotalRet  = 0.00
      vLiq       = 666.70
    `,
  },
];

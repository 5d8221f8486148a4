/** The rate that applies, and the rounding of half a cent. */
import { type Caso, issqn, OPTANTE, SEM_IBSCBS } from './caso.ts';

/** A case, its source, the price, the rate, and the ISSQN. */
const ARREDONDADOS = [
  ['the lowest and the highest rate of the law: 2 %', 'error-codes E0595, E1300', '1234.56', '2.00', '24.6912 ≈ 24.69'],
  ['the lowest and the highest rate of the law: 5 %', 'error-codes E0595, E1300', '1234.56', '5.00', '61.728 ≈ 61.73'],
  ['a rate with cents', 'nfse-layout 5.3', '1234.56', '2.79', '34.444224 ≈ 34.44'],
  ['half a cent goes up: 0.005', 'nfse-layout 5.3', '0.25', '2.00', '0.005 ≈ 0.01'],
  ['half a cent goes up: 0.245, where the even cent would go down', 'nfse-layout 5.3', '12.25', '2.00', '0.245 ≈ 0.25'],
  ['half a cent goes up: 0.015', 'nfse-layout 5.3', '0.75', '2.00', '0.015 ≈ 0.02'],
  ['just below half a cent: 0.2448', 'nfse-layout 5.3', '12.24', '2.00', '0.2448 ≈ 0.24'],
  ['just above half a cent: 1.0053', 'nfse-layout 5.3', '33.51', '3.00', '1.0053 ≈ 1.01'],
  ['half a cent of three digits: 33.335', 'nfse-layout 5.3', '666.70', '5.00', '33.335 ≈ 33.34'],
] as const;

const arredondado = ([nome, fonte, vServ, pAliq, vISSQN]: (typeof ARREDONDADOS)[number]): Caso => ({
  nome,
  fonte,
  dps: { ...SEM_IBSCBS, 'valores/vServPrest/vServ': vServ, 'valores/trib/tribMun/pAliq': pAliq },
  conta: issqn({ vBC: vServ, pAliqAplic: pAliq, vISSQN }),
});

export const CASOS: readonly Caso[] = [
  {
    nome: 'rate that the municipality registered, none declared',
    fonte: 'nfse-layout 5.2: pAliqAplic',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribMun/pAliq': null },
    fatos: { aliquotaRegistrada: '3.00' },
    conta: issqn({ vBC: '1000.00', pAliqAplic: '3.00', vISSQN: '30.00' }),
  },
  {
    nome: 'a registered rate goes before a declared one',
    fonte: 'nfse-layout 5.2: pAliqAplic',
    dps: SEM_IBSCBS,
    fatos: { aliquotaRegistrada: '3.00', regrasNacionais: 'avisa' },
    conta: issqn({ vBC: '1000.00', pAliqAplic: '3.00', vISSQN: '30.00' }),
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
    conta: issqn({
      vCalcDR: '20.00 % x (1800.00 - 300.00) = 300.00',
      vBC: '1800.00 - 300.00 - 300.00 = 1200.00',
      pAliqAplic: '4.50',
      vISSQN: '54.00',
      vLiq: '1800.00 - 300.00 = 1500.00',
    }),
  },
  {
    nome: 'no rate anywhere: the sandbox takes 5 %',
    fonte: 'D-61',
    dps: { ...SEM_IBSCBS, 'valores/trib/tribMun/pAliq': null },
    fatos: { regrasNacionais: 'avisa' },
    conta: issqn({ vBC: '1000.00', pAliqAplic: '5.00', vISSQN: '50.00' }),
  },
  {
    nome: 'no registered rate, in production: the one that the DPS declares',
    fonte: 'nfse-layout 5.2: pAliqAplic, vISSQN',
    dps: {
      ...SEM_IBSCBS,
      'valores/trib/tribMun/pAliq': '3.00',
      tpAmb: '1',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '2',
    },
    fatos: { ambiente: 'producao', simples: OPTANTE },
    conta: issqn({ vBC: '1000.00', pAliqAplic: '3.00', vISSQN: '30.00' }),
  },
  ...ARREDONDADOS.map(arredondado),
];

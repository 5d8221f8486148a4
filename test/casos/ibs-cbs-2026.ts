/**
 * IBS and CBS in the test year: 0.10 % for the state, 0.00 % for the municipality, 0.90 % of CBS. The cases have each kind of reduction of
 * the classification table; the amounts that reduce the base, and others that do not; half a cent.
 */
import {
  type Aliquotas,
  amountOf,
  type Caso,
  classe,
  DOCUMENTO_TERCEIRO,
  ibscbs,
  issqn,
  pisCofins,
  reduzidas,
  SUSPENSA,
} from './caso.ts';

const REDUZ_30 = reduzidas('0.07', '0.63', '30.00');
const REDUZ_40 = reduzidas('0.06', '0.54', '40.00');
const REDUZ_50 = reduzidas('0.05', '0.45', '50.00');
const REDUZ_60 = reduzidas('0.04', '0.36', '60.00');
const REDUZ_70 = reduzidas('0.03', '0.27', '70.00');
const REDUZ_80 = reduzidas('0.02', '0.18', '80.00');
const REDUZ_100 = reduzidas('0.00', '0.00', '100.00');
const REDUZ_60_100 = reduzidas('0.04', '0.00', '60.00', '100.00');

/** A classification, the price, the ISSQN, the remaining base, IBS of the state and CBS, and their reductions. */
const REDUCOES: readonly Reducao[] = [
  ['200052', 'reduction of 30 %', '1000.00', '20.00', '980.00', ['0.686 ≈ 0.69', '6.174 ≈ 6.17'], REDUZ_30],
  [
    '200056',
    'reduction of 30 %',
    '850.40',
    '17.008 ≈ 17.01',
    '833.39',
    ['0.583373 ≈ 0.58', '5.250357 ≈ 5.25'],
    REDUZ_30,
  ],
  ['200048', 'reduction of 40 %', '1000.00', '20.00', '980.00', ['0.588 ≈ 0.59', '5.292 ≈ 5.29'], REDUZ_40],
  [
    '200051',
    'reduction of 40 %',
    '12345.67',
    '246.9134 ≈ 246.91',
    '12098.76',
    ['7.259256 ≈ 7.26', '65.333304 ≈ 65.33'],
    REDUZ_40,
  ],
  ['200046', 'reduction of 50 %', '1000.00', '20.00', '980.00', ['0.49', '4.41'], REDUZ_50],
  ['200028', 'reduction of 60 %', '1000.00', '20.00', '980.00', ['0.392 ≈ 0.39', '3.528 ≈ 3.53'], REDUZ_60],
  [
    '200029',
    'reduction of 60 %',
    '333.33',
    '6.6666 ≈ 6.67',
    '326.66',
    ['0.130664 ≈ 0.13', '1.175976 ≈ 1.18'],
    REDUZ_60,
  ],
  [
    '011003',
    'reduction of 60 %, uniform rate of a sector',
    '777.77',
    '15.5554 ≈ 15.56',
    '762.21',
    ['0.304884 ≈ 0.30', '2.743956 ≈ 2.74'],
    REDUZ_60,
  ],
  ['200055', 'reduction of 60 %', '64.10', '1.282 ≈ 1.28', '62.82', ['0.025128 ≈ 0.03', '0.226152 ≈ 0.23'], REDUZ_60],
  ['200027', 'reduction of 70 %', '1000.00', '20.00', '980.00', ['0.294 ≈ 0.29', '2.646 ≈ 2.65'], REDUZ_70],
  ['200026', 'reduction of 80 %', '1000.00', '20.00', '980.00', ['0.196 ≈ 0.20', '1.764 ≈ 1.76'], REDUZ_80],
  ['200016', 'reduction of 100 %', '1000.00', '20.00', '980.00', ['0.00', '0.00'], REDUZ_100],
  ['200021', 'reduction of 100 %', '4.35', '0.087 ≈ 0.09', '4.26', ['0.00', '0.00'], REDUZ_100],
  [
    '200025',
    '60 % of the IBS and 100 % of the CBS',
    '1000.00',
    '20.00',
    '980.00',
    ['0.392 ≈ 0.39', '0.00'],
    REDUZ_60_100,
  ],
];

type Reducao = readonly [
  cClassTrib: string,
  what: string,
  vServ: string,
  vISSQN: string,
  vBC: string,
  tributos: readonly [string, string],
  aliquotas: Aliquotas,
];

const reduzido = ([cClassTrib, what, vServ, vISSQN, vBC, tributos, aliquotas]: Reducao): Caso => ({
  nome: `${cClassTrib}: ${what}`,
  fonte: `nfse-layout 7.1 to 7.3; dps-layout 9, ${cClassTrib}`,
  dps: { 'valores/vServPrest/vServ': vServ, ...classe(cClassTrib) },
  conta: {
    ...issqn({ vBC: vServ, vISSQN }),
    ...ibscbs(`${vServ} - ${amountOf(vISSQN)} = ${vBC}`, tributos, vServ, aliquotas),
  },
});

/** A case, its source, a price without ISSQN, and IBS of the state and CBS. */
const CENTAVOS = [
  ['half a cent of both tributes', 'nfse-layout 7.5', '5.00', ['0.005 ≈ 0.01', '0.045 ≈ 0.05']],
  ['half a cent, to the even and to the odd one', 'nfse-layout 7.5', '15.00', ['0.015 ≈ 0.02', '0.135 ≈ 0.14']],
  ['half a cent, where the even one would go down', 'nfse-layout 7.5', '25.00', ['0.025 ≈ 0.03', '0.225 ≈ 0.23']],
  ['just below half a cent', 'nfse-layout 7.5', '4.99', ['0.00499 ≈ 0.00', '0.04491 ≈ 0.04']],
  ['the smallest base', 'nfse-layout 7.5', '0.01', ['0.00001 ≈ 0.00', '0.00009 ≈ 0.00']],
  [
    'the largest base',
    'dps-layout 3: TSDec15V2',
    '999999999999999.99',
    ['999999999999.99999 ≈ 1000000000000.00', '8999999999999.99991 ≈ 9000000000000.00'],
  ],
] as const;

const centavo = ([nome, fonte, vServ, tributos]: (typeof CENTAVOS)[number]): Caso => ({
  nome,
  fonte,
  dps: { ...SUSPENSA, 'valores/vServPrest/vServ': vServ },
  conta: { vLiq: vServ, ...ibscbs(vServ, tributos, vServ) },
});

export const CASOS: readonly Caso[] = [
  {
    nome: 'full taxation',
    fonte: 'nfse-layout 7.1 to 7.3',
    dps: {},
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00' }),
      ...ibscbs('1000.00 - 20.00 = 980.00', ['0.98', '8.82'], '1000.00'),
    },
  },
  ...REDUCOES.map(reduzido),
  {
    nome: '010002: the uniform rate of a sector is that of the test year',
    fonte: 'nfse-layout 7.1 to 7.3; specification, schedule rule 5',
    dps: classe('010002'),
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00' }),
      ...ibscbs('1000.00 - 20.00 = 980.00', ['0.98', '8.82'], '1000.00'),
    },
  },
  {
    nome: '221001: the own rates of the calculator, reckoned whole and printed with two decimals',
    fonte: 'law-2026-11 4 (calculator, V0018 and V0056); nfse-layout 7.1 to 7.3',
    dps: classe('221001'),
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00' }),
      'IBSCBS/vBC': '1000.00 - 20.00 = 980.00',
      pIBSUF: '0.37',
      pAliqEfetUF: '0.37',
      pIBSMun: '0.00',
      pAliqEfetMun: '0.00',
      pCBS: '3.29',
      pAliqEfetCBS: '3.29',
      vIBSUF: '980.00 x 0.365 % = 3.577 ≈ 3.58',
      vIBSMun: '980.00 x 0.00 % = 0.00',
      vCBS: '980.00 x 3.285 % = 32.193 ≈ 32.19',
      vIBSTot: '3.58 + 0.00 = 3.58',
      vTotNF: '1000.00',
    },
  },
  {
    nome: 'the worked example of the reference',
    fonte: 'nfse-layout 8',
    dps: {
      'valores/vDescCondIncond/vDescIncond': '50.00',
      'valores/vDescCondIncond/vDescCond': '20.00',
      'valores/vDedRed/vDR': '100.00',
      'valores/trib/tribMun/pAliq': '3.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      ...pisCofins('1000.00', '3', ['6.50', '30.00']),
      'valores/trib/tribFed/vRetIRRF': '15.00',
      'valores/trib/tribFed/vRetCSLL': '46.50',
      ...classe('200052'),
      'serv/cServ/cTribNac': '171401',
    },
    conta: {
      ...issqn({
        vBC: '1000.00 - 50.00 - 100.00 = 850.00',
        pAliqAplic: '3.00',
        vISSQN: '25.50',
        vTotalRet: '15.00 + 46.50 + 25.50 = 87.00',
        vLiq: '1000.00 - 50.00 - 20.00 - 87.00 = 843.00',
      }),
      ...ibscbs(
        '1000.00 - 50.00 - 25.50 - 6.50 - 30.00 = 888.00',
        ['0.6216 ≈ 0.62', '5.5944 ≈ 5.59'],
        '843.00',
        REDUZ_30,
      ),
    },
  },
  {
    nome: 'a conditional discount leaves the base as it is',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/vDescCondIncond/vDescCond': '100.00' },
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00', vLiq: '1000.00 - 100.00 = 900.00' }),
      ...ibscbs('1000.00 - 20.00 = 980.00', ['0.98', '8.82'], '900.00'),
    },
  },
  {
    nome: 'a deduction reduces the base of the ISSQN alone',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/vDedRed/pDR': '40.00', 'valores/trib/tribMun/pAliq': '5.00' },
    conta: {
      ...issqn({
        vCalcDR: '40.00 % x 1000.00 = 400.00',
        vBC: '1000.00 - 400.00 = 600.00',
        pAliqAplic: '5.00',
        vISSQN: '30.00',
        vLiq: '1000.00',
      }),
      ...ibscbs('1000.00 - 30.00 = 970.00', ['0.97', '8.73'], '1000.00'),
    },
  },
  {
    nome: 'a benefit reduces the base of the ISSQN alone',
    fonte: 'nfse-layout 7.1',
    dps: {
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/vRedBCBM': '300.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    conta: {
      ...issqn({ vBC: '1000.00 - 300.00 = 700.00', pAliqAplic: '5.00', vISSQN: '35.00', vLiq: '1000.00' }),
      ...ibscbs('1000.00 - 35.00 = 965.00', ['0.965 ≈ 0.97', '8.685 ≈ 8.69'], '1000.00'),
    },
  },
  {
    nome: 'withheld ISSQN leaves the base like any other',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/trib/tribMun/pAliq': '5.00', 'valores/trib/tribMun/tpRetISSQN': '2' },
    conta: {
      ...issqn({
        vBC: '1000.00',
        pAliqAplic: '5.00',
        vISSQN: '50.00',
        vTotalRet: '50.00',
        vLiq: '1000.00 - 50.00 = 950.00',
      }),
      ...ibscbs('1000.00 - 50.00 = 950.00', ['0.95', '8.55'], '950.00'),
    },
  },
  {
    nome: 'own debits of PIS and COFINS leave the base',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/trib/tribMun/pAliq': '5.00', ...pisCofins('1000.00', '0', ['16.50', '76.00'], ['1.65', '7.60']) },
    conta: {
      ...issqn({ vBC: '1000.00', pAliqAplic: '5.00', vISSQN: '50.00' }),
      ...ibscbs('1000.00 - 50.00 - 16.50 - 76.00 = 857.50', ['0.8575 ≈ 0.86', '7.7175 ≈ 7.72'], '1000.00'),
    },
  },
  {
    nome: 'withheld contributions do not leave the base',
    fonte: 'nfse-layout 7.1',
    dps: {
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '8',
      'valores/trib/tribFed/vRetCSLL': '10.00',
    },
    conta: {
      ...issqn({
        vRetCSLL: '1000.00 x 1.00 % = 10.00',
        vBC: '1000.00',
        pAliqAplic: '5.00',
        vISSQN: '50.00',
        vTotalRet: '10.00',
        vLiq: '1000.00 - 10.00 = 990.00',
      }),
      ...ibscbs('1000.00 - 50.00 = 950.00', ['0.95', '8.55'], '990.00'),
    },
  },
  {
    nome: 'amounts of third parties leave both bases',
    fonte: 'nfse-layout 5.2: vCalcReeRepRes; nfse-layout 7.1',
    dps: {
      ...DOCUMENTO_TERCEIRO,
      'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '120.00',
      'valores/trib/tribMun/pAliq': '5.00',
    },
    mais: {
      'IBSCBS/valores/gReeRepRes/documentos': [{ 'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '80.50' }],
    },
    conta: {
      ...issqn({
        vCalcReeRepRes: '120.00 + 80.50 = 200.50',
        vBC: '1000.00 - 200.50 = 799.50',
        pAliqAplic: '5.00',
        vISSQN: '39.975 ≈ 39.98',
        vLiq: '1000.00',
      }),
      ...ibscbs('1000.00 - 200.50 - 39.98 = 759.52', ['0.75952 ≈ 0.76', '6.83568 ≈ 6.84'], '1000.00'),
    },
  },
  {
    nome: 'one amount of a third party, with half a cent of ISSQN',
    fonte: 'nfse-layout 5.2: vCalcReeRepRes; nfse-layout 7.1',
    dps: {
      ...DOCUMENTO_TERCEIRO,
      'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '499.90',
      'valores/trib/tribMun/pAliq': '2.50',
      ...classe('200052'),
    },
    conta: {
      ...issqn({
        vCalcReeRepRes: '499.90 = 499.90',
        vBC: '1000.00 - 499.90 = 500.10',
        pAliqAplic: '2.50',
        vISSQN: '12.5025 ≈ 12.50',
        vLiq: '1000.00',
      }),
      ...ibscbs('1000.00 - 499.90 - 12.50 = 487.60', ['0.34132 ≈ 0.34', '3.07188 ≈ 3.07'], '1000.00', REDUZ_30),
    },
  },
  {
    nome: 'everything at once',
    fonte: 'nfse-layout 5.2; nfse-layout 7.1 to 7.3',
    dps: {
      ...DOCUMENTO_TERCEIRO,
      'valores/vServPrest/vServ': '20000.00',
      'valores/vDescCondIncond/vDescIncond': '1000.00',
      'valores/vDescCondIncond/vDescCond': '500.00',
      'valores/vDedRed/pDR': '10.00',
      'valores/trib/tribMun/BM/nBM': '35503080100001',
      'valores/trib/tribMun/BM/pRedBCBM': '5.00',
      'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '1500.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      ...pisCofins('20000.00', '3', ['130.00', '600.00']),
      'valores/trib/tribFed/vRetCP': '2200.00',
      'valores/trib/tribFed/vRetIRRF': '300.00',
      'valores/trib/tribFed/vRetCSLL': '930.00',
      ...classe('200029'),
    },
    mais: {
      'IBSCBS/valores/gReeRepRes/documentos': [
        { 'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '345.67' },
        { 'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '0.33' },
      ],
    },
    conta: {
      ...issqn({
        vCalcDR: '10.00 % x (20000.00 - 1000.00) = 1900.00',
        vCalcBM: '5.00 % x (20000.00 - 1000.00 - 1900.00) = 855.00',
        vCalcReeRepRes: '1500.00 + 345.67 + 0.33 = 1846.00',
        vBC: '20000.00 - 1000.00 - 1900.00 - 855.00 - 1846.00 = 14399.00',
        pAliqAplic: '5.00',
        vISSQN: '719.95',
        vTotalRet: '2200.00 + 300.00 + 930.00 + 719.95 = 4149.95',
        vLiq: '20000.00 - 1000.00 - 500.00 - 4149.95 = 14350.05',
      }),
      ...ibscbs(
        '20000.00 - 1000.00 - 1846.00 - 719.95 - 130.00 - 600.00 = 15704.05',
        ['6.28162 ≈ 6.28', '56.53458 ≈ 56.53'],
        '14350.05',
        REDUZ_60,
      ),
    },
  },
  ...CENTAVOS.map(centavo),
];

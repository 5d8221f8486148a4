/**
 * IBS and CBS where nothing is due, or not now: exemption and the like, deferral, suspension with regular taxation, government purchases.
 * Some notes need no group.
 */
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import {
  type Caso,
  type Conta,
  classe,
  ibscbs,
  issqn,
  OPTANTE,
  PLENAS,
  pisCofins,
  reduzidas,
  SEM_GRUPO,
  SUSPENSA,
  semIbscbs,
  TOMADOR_EXTERIOR,
} from './caso.ts';

const REDUZ_60 = reduzidas('0.04', '0.36', '60.00');

/** The whole tax is deferred. */
const DIFERIDA: Patch = {
  ...classe('515001'),
  'IBSCBS/valores/trib/gIBSCBS/gDif/pDifUF': '100.00',
  'IBSCBS/valores/trib/gIBSCBS/gDif/pDifMun': '100.00',
  'IBSCBS/valores/trib/gIBSCBS/gDif/pDifCBS': '100.00',
};

function diferido(vBC: string, tributos: readonly [string, string], vTotNF: string): Conta {
  const { vIBSUF, vIBSMun, vCBS, ...others } = ibscbs(vBC, tributos, vTotNF, REDUZ_60);
  return {
    ...others,
    ...{ vDifUF: vIBSUF!, vDifMun: vIBSMun!, vDifCBS: vCBS! },
    ...{ vIBSUF: '0.00', vIBSMun: '0.00', vCBS: '0.00', vIBSTot: '0.00 + 0.00 = 0.00' },
  };
}

/** Rates and amounts of the IBS of the state and of the CBS, repeated for the government purchase. */
const compraGov = ([pIBSUF, vIBSUF]: readonly [string, string], [pCBS, vCBS]: readonly [string, string]): Conta => ({
  pRedutor: '0.00',
  'gTribCompraGov/pIBSUF': pIBSUF,
  'gTribCompraGov/vIBSUF': vIBSUF,
  'gTribCompraGov/pIBSMun': '0.00',
  'gTribCompraGov/vIBSMun': '0.00',
  'gTribCompraGov/pCBS': pCBS,
  'gTribCompraGov/vCBS': vCBS,
});

export const CASOS: readonly Caso[] = [
  ...(['400001: exemption', '800001: merger', '811001: adjustment'] as const).map(
    (nome): Caso => ({
      nome,
      fonte: 'specification, schedule rule 7; nfse-layout 7.4',
      dps: classe(nome.slice(0, 6)),
      conta: { ...issqn({ vBC: '1000.00', vISSQN: '20.00' }), ...semIbscbs('1000.00 - 20.00 = 980.00', '1000.00') },
    }),
  ),
  {
    nome: '410999: operation without price',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: { 'valores/vServPrest/vServ': '150.00', 'valores/vDescCondIncond/vDescIncond': '50.00', ...classe('410999') },
    conta: {
      ...issqn({ vBC: '150.00 - 50.00 = 100.00', vISSQN: '2.00' }),
      ...semIbscbs('150.00 - 50.00 - 2.00 = 98.00', '100.00'),
    },
  },
  {
    nome: '410007: immune provider',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: {
      'valores/trib/tribMun/pAliq': null,
      ...classe('410007'),
      'valores/trib/tribMun/tribISSQN': '2',
      'valores/trib/tribMun/tpImunidade': '3',
    },
    conta: { vLiq: '1000.00', ...semIbscbs('1000.00', '1000.00') },
  },
  {
    nome: '410004: export',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: {
      ...TOMADOR_EXTERIOR,
      'valores/vServPrest/vServ': '7500.50',
      'valores/trib/tribMun/pAliq': null,
      ...classe('410004'),
      'valores/trib/tribMun/tribISSQN': '3',
      'valores/trib/tribMun/cPaisResult': 'US',
      'IBSCBS/cIndOp': '100302',
    },
    conta: { vLiq: '7500.50', ...semIbscbs('7500.50', '7500.50') },
  },
  {
    nome: '820009: taxed in another document',
    fonte: 'specification, schedule rule 7; nfse-layout 7.4',
    dps: {
      'valores/vDescCondIncond/vDescCond': '30.00',
      'valores/trib/tribMun/pAliq': '5.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      ...classe('820009'),
    },
    conta: {
      ...issqn({
        vBC: '1000.00',
        pAliqAplic: '5.00',
        vISSQN: '50.00',
        vTotalRet: '50.00',
        vLiq: '1000.00 - 30.00 - 50.00 = 920.00',
      }),
      ...semIbscbs('1000.00 - 50.00 = 950.00', '920.00'),
    },
  },
  {
    nome: '410005: public supplier, after the test year: PIS and COFINS stay in the base',
    fonte: 'nfse-layout 7.1, E1555',
    dps: { ...pisCofins('1000.00', '0', ['6.50', '30.00']), ...classe('410005'), dCompet: '2027-01-05' },
    fatos: { hoje: '2027-01-05' },
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00' }),
      ...semIbscbs('1000.00 - 20.00 = 980.00', '1000.00 + 0.00 + 0.00 = 1000.00'),
    },
  },
  {
    nome: 'deferral with a reduction: all of it deferred, nothing due',
    fonte: 'nfse-layout 7.3, 7.4 (515)',
    dps: { ...DIFERIDA },
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00' }),
      ...diferido('1000.00 - 20.00 = 980.00', ['0.392 ≈ 0.39', '3.528 ≈ 3.53'], '1000.00'),
    },
  },
  {
    nome: 'deferral, half a cent',
    fonte: 'nfse-layout 7.3 to 7.5',
    dps: { 'valores/vServPrest/vServ': '12.50', ...SUSPENSA, ...DIFERIDA },
    conta: { vLiq: '12.50', ...diferido('12.50', ['0.005 ≈ 0.01', '0.045 ≈ 0.05'], '12.50') },
  },
  {
    nome: 'suspension: what would be due without it, in full',
    fonte: 'nfse-layout 7.3, 7.4 (550)',
    dps: {
      ...classe('550016'),
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/CSTReg': '000',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/cClassTribReg': '000001',
    },
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00' }),
      ...semIbscbs('1000.00 - 20.00 = 980.00', '1000.00'),
      pAliqEfeRegIBSUF: '0.10',
      vTribRegIBSUF: '980.00 x 0.10 % = 0.98',
      pAliqEfeRegIBSMun: '0.00',
      vTribRegIBSMun: '980.00 x 0.00 % = 0.00',
      pAliqEfeRegCBS: '0.90',
      vTribRegCBS: '980.00 x 0.90 % = 8.82',
    },
  },
  {
    nome: 'suspension: what would be due without it, with a reduction of 30 %',
    fonte: 'nfse-layout 7.3, 7.4 (550)',
    dps: {
      'valores/trib/tribMun/pAliq': '5.00',
      ...classe('550016'),
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/CSTReg': '200',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/cClassTribReg': '200052',
    },
    conta: {
      ...issqn({ vBC: '1000.00', pAliqAplic: '5.00', vISSQN: '50.00' }),
      ...semIbscbs('1000.00 - 50.00 = 950.00', '1000.00'),
      pAliqEfeRegIBSUF: '0.10 x (1 - 30.00 %) = 0.07',
      vTribRegIBSUF: '950.00 x 0.07 % = 0.665 ≈ 0.67',
      pAliqEfeRegIBSMun: '0.00 x (1 - 30.00 %) = 0.00',
      vTribRegIBSMun: '950.00 x 0.00 % = 0.00',
      pAliqEfeRegCBS: '0.90 x (1 - 30.00 %) = 0.63',
      vTribRegCBS: '950.00 x 0.63 % = 5.985 ≈ 5.99',
    },
  },
  {
    nome: 'suspension: what would be due without it, with different reductions',
    fonte: 'nfse-layout 7.3, 7.4 (550)',
    dps: {
      'valores/vServPrest/vServ': '1234.56',
      'valores/trib/tribMun/pAliq': '5.00',
      ...classe('550022'),
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/CSTReg': '200',
      'IBSCBS/valores/trib/gIBSCBS/gTribRegular/cClassTribReg': '200025',
    },
    conta: {
      ...issqn({ vBC: '1234.56', pAliqAplic: '5.00', vISSQN: '61.728 ≈ 61.73' }),
      ...semIbscbs('1234.56 - 61.73 = 1172.83', '1234.56'),
      pAliqEfeRegIBSUF: '0.10 x (1 - 60.00 %) = 0.04',
      vTribRegIBSUF: '1172.83 x 0.04 % = 0.469132 ≈ 0.47',
      pAliqEfeRegIBSMun: '0.00 x (1 - 60.00 %) = 0.00',
      vTribRegIBSMun: '1172.83 x 0.00 % = 0.00',
      pAliqEfeRegCBS: '0.90 x (1 - 100.00 %) = 0.00',
      vTribRegCBS: '1172.83 x 0.00 % = 0.00',
    },
  },
  {
    nome: 'government purchase: no reduction in the test year',
    fonte: 'nfse-layout 7 (pRedutor), 7.3 (gTribCompraGov)',
    dps: { 'IBSCBS/tpOper': '5', 'IBSCBS/tpEnteGov': '1' },
    conta: {
      ...issqn({ vBC: '1000.00', vISSQN: '20.00' }),
      ...ibscbs('1000.00 - 20.00 = 980.00', ['0.98', '8.82'], '1000.00', {
        ...PLENAS,
        pAliqEfetUF: '0.10 x (1 - 0.00 %) = 0.10',
        pAliqEfetMun: '0.00 x (1 - 0.00 %) = 0.00',
        pAliqEfetCBS: '0.90 x (1 - 0.00 %) = 0.90',
      }),
      ...compraGov(['0.10', '0.98'], ['0.90', '8.82']),
    },
  },
  {
    nome: 'government purchase by a municipality, with a reduction of 60 %',
    fonte: 'nfse-layout 7 (pRedutor), 7.3 (gTribCompraGov)',
    dps: {
      'valores/vServPrest/vServ': '500.00',
      'valores/vDescCondIncond/vDescIncond': '25.00',
      'valores/trib/tribMun/pAliq': '3.00',
      'valores/trib/tribMun/tpRetISSQN': '2',
      ...classe('200040'),
      'IBSCBS/tpOper': '5',
      'IBSCBS/tpEnteGov': '4',
    },
    conta: {
      ...issqn({
        vBC: '500.00 - 25.00 = 475.00',
        pAliqAplic: '3.00',
        vISSQN: '14.25',
        vTotalRet: '14.25',
        vLiq: '500.00 - 25.00 - 14.25 = 460.75',
      }),
      ...ibscbs('500.00 - 25.00 - 14.25 = 460.75', ['0.1843 ≈ 0.18', '1.6587 ≈ 1.66'], '460.75', {
        ...REDUZ_60,
        pAliqEfetUF: '0.10 x (1 - 60.00 %) x (1 - 0.00 %) = 0.04',
        pAliqEfetMun: '0.00 x (1 - 60.00 %) x (1 - 0.00 %) = 0.00',
        pAliqEfetCBS: '0.90 x (1 - 60.00 %) x (1 - 0.00 %) = 0.36',
      }),
      ...compraGov(['0.04', '0.18'], ['0.36', '1.66']),
    },
  },
  {
    nome: 'special regime: no ISSQN leaves the base',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/trib/tribMun/pAliq': null, ...classe('200052'), 'prest/regTrib/regEspTrib': '6' },
    conta: { vLiq: '1000.00', ...ibscbs('1000.00', ['0.70', '6.30'], '1000.00', reduzidas('0.07', '0.63', '30.00')) },
  },
  {
    nome: 'MEI with the group: no ISSQN leaves the base',
    fonte: 'nfse-layout 7.1',
    dps: { 'valores/vServPrest/vServ': '350.00', 'valores/trib/tribMun/pAliq': null, 'prest/regTrib/opSimpNac': '2' },
    fatos: { simples: OPTANTE, regrasNacionais: 'avisa' },
    conta: { vLiq: '350.00', ...ibscbs('350.00', ['0.35', '3.15'], '350.00') },
  },
  {
    nome: 'Simples Nacional before 2027: no group, none on the note',
    fonte: 'specification, schedule',
    dps: {
      ...SEM_GRUPO,
      'valores/trib/tribMun/pAliq': '2.79',
      'valores/trib/tribMun/tpRetISSQN': '2',
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '1',
    },
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
    nome: 'segment due in December: no group in November, none on the note',
    fonte: 'specification, schedule',
    dps: { ...SEM_GRUPO, 'valores/trib/tribMun/pAliq': '3.00', dCompet: '2026-11-20', 'serv/cServ/cTribNac': '010301' },
    fatos: { hoje: '2026-11-21' },
    conta: issqn({ vBC: '1000.00', pAliqAplic: '3.00', vISSQN: '30.00' }),
  },
];

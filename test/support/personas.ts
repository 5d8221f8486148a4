/**
 * The amounts that the notes of the personas must show, calculated by hand from the national layout of the NFS-e. Each tax is rounded to
 * the cent once: half up in 2026, half to even from 2027 (D-732). The CBS rate of 2027 is 8.80 %, which the test invents.
 */

/** IBS of the state, IBS of the municipality, CBS. */
export type IbsCbs = readonly [uf: string, mun: string, cbs: string];
export type Esperado = {
  /** Values of `valores`, in the order of the note. */
  readonly valores: string;
  readonly valores2027?: string;
  /** Undefined: the group is not due. */
  readonly em2026: IbsCbs | undefined;
  readonly em2027: IbsCbs;
};

const liquido = (vLiq: string): string => `vLiq ${vLiq}`;

const apurado = (vBC: string, pAliqAplic: string, vISSQN: string, vTotalRet: string, vLiq: string): string =>
  `vBC ${vBC} pAliqAplic ${pAliqAplic} vISSQN ${vISSQN} vTotalRet ${vTotalRet} vLiq ${vLiq}`;

export const ZERO: IbsCbs = ['0.00', '0.00', '0.00'];
const SEM_IBSCBS = { em2026: ZERO, em2027: ZERO };

export const ESPERADOS: Readonly<Record<string, Esperado>> = {
  'mei/consumidor': { valores: liquido('80.00'), em2026: undefined, em2027: ['0.04', '0.04', '7.04'] },
  'mei/empresa': { valores: liquido('400.00'), em2026: undefined, em2027: ['0.20', '0.20', '35.20'] },
  'mei/sem-tomador': { valores: liquido('45.00'), em2026: undefined, em2027: ['0.02', '0.02', '3.96'] },
  'mei/cancelada': { valores: liquido('60.00'), em2026: undefined, em2027: ['0.03', '0.03', '5.28'] },
  'simples-no-das/sem-retencao': {
    valores: liquido('1500.00'),
    em2026: undefined,
    em2027: ['0.75', '0.75', '132.00'],
  },
  // 2000.00 - 55.80 = 1944.20
  'simples-no-das/retido': {
    valores: apurado('2000.00', '2.79', '55.80', '55.80', '1944.20'),
    em2026: undefined,
    em2027: ['0.97', '0.97', '171.09'],
  },
  'simples-no-das/pessoa-fisica': {
    valores: liquido('320.00'),
    em2026: undefined,
    em2027: ['0.16', '0.16', '28.16'],
  },
  'simples-no-das/substituida': { valores: liquido('900.00'), em2026: undefined, em2027: ['0.45', '0.45', '79.20'] },
  'simples-por-fora/por-conta-propria': {
    valores: apurado('10000.00', '5.00', '500.00', '0.00', '10000.00'),
    em2026: undefined,
    em2027: ['4.75', '4.75', '836.00'],
  },
  'simples-por-fora/retido': {
    valores: apurado('3000.00', '5.00', '150.00', '150.00', '2850.00'),
    em2026: undefined,
    em2027: ['1.42', '1.42', '250.80'],
  },
  'simples-por-fora/rejeitada': {
    valores: apurado('1000.00', '5.00', '50.00', '0.00', '1000.00'),
    em2026: undefined,
    em2027: ['0.48', '0.48', '83.60'],
  },
  // 10000.00 - 500.00 - 65.00 - 300.00 = 9135.00; in 2027 10000.00 - 500.00
  'regime-geral/tudo-retido': {
    valores: apurado('10000.00', '5.00', '500.00', '2165.00', '7835.00'),
    valores2027: apurado('10000.00', '5.00', '500.00', '1800.00', '8200.00'),
    em2026: ['9.14', '0.00', '82.22'],
    em2027: ['4.75', '4.75', '836.00'],
  },
  'regime-geral/pessoa-fisica': {
    valores: apurado('500.00', '5.00', '25.00', '0.00', '500.00'),
    em2026: ['0.48', '0.00', '4.28'],
    em2027: ['0.24', '0.24', '41.80'],
  },
  'regime-geral/intermediario': {
    valores: apurado('2000.00', '5.00', '100.00', '100.00', '1900.00'),
    em2026: ['1.90', '0.00', '17.10'],
    em2027: ['0.95', '0.95', '167.20'],
  },
  'regime-geral/outro-municipio': {
    valores: apurado('4000.00', '5.00', '200.00', '200.00', '3800.00'),
    em2026: ['3.80', '0.00', '34.20'],
    em2027: ['1.90', '1.90', '334.40'],
  },
  'regime-geral/analise-fiscal': {
    valores: apurado('1200.00', '5.00', '60.00', '0.00', '1200.00'),
    em2026: ['1.14', '0.00', '10.26'],
    em2027: ['0.57', '0.57', '100.32'],
  },
  'imune/mensalidade': { valores: liquido('1200.00'), ...SEM_IBSCBS },
  'imune/convenio': { valores: liquido('8000.00'), ...SEM_IBSCBS },
  'imune/cancelada': { valores: liquido('600.00'), ...SEM_IBSCBS },
  // The reduction is 60 %: 0.04, 0.36; in 2027 0.02, 0.02, 3.52
  'pessoa-fisica/consulta': {
    valores: apurado('250.00', '2.00', '5.00', '0.00', '250.00'),
    em2026: ['0.10', '0.00', '0.88'],
    em2027: ['0.05', '0.05', '8.62'],
  },
  'pessoa-fisica/empresa-retem': {
    valores: apurado('3000.00', '2.00', '60.00', '60.00', '2940.00'),
    em2026: ['1.18', '0.00', '10.58'],
    em2027: ['0.59', '0.59', '103.49'],
  },
  'pessoa-fisica/autonoma': {
    valores: liquido('250.00'),
    em2026: ['0.10', '0.00', '0.90'],
    em2027: ['0.05', '0.05', '8.80'],
  },
  'pessoa-fisica/sem-tomador': {
    valores: apurado('180.00', '2.00', '3.60', '0.00', '180.00'),
    em2026: ['0.07', '0.00', '0.64'],
    em2027: ['0.04', '0.04', '6.21'],
  },
  'cnpj-alfanumerico/desenvolvimento': {
    valores: apurado('5000.00', '2.00', '100.00', '0.00', '5000.00'),
    em2026: ['4.90', '0.00', '44.10'],
    em2027: ['2.45', '2.45', '431.20'],
  },
  // The rate applies from 01/12/2026.
  'cnpj-alfanumerico/licenca': {
    valores: apurado('700.00', '2.00', '14.00', '0.00', '700.00'),
    em2026: ['0.69', '0.00', '6.17'],
    em2027: ['0.34', '0.34', '60.37'],
  },
  'cnpj-alfanumerico/tomador-alfanumerico': {
    valores: apurado('1500.00', '2.00', '30.00', '0.00', '1500.00'),
    em2026: ['1.47', '0.00', '13.23'],
    em2027: ['0.74', '0.74', '129.36'],
  },
  'cnpj-alfanumerico/cancelada': {
    valores: apurado('250.00', '2.00', '5.00', '0.00', '250.00'),
    em2026: ['0.25', '0.00', '2.21'],
    em2027: ['0.12', '0.12', '21.56'],
  },
  // The reduction is 50 %: 0.05, 0.45; in 2027 0.025 (shown as 0.03), and 4.40
  'obra/cno': {
    valores: apurado('50000.00', '5.00', '2500.00', '8000.00', '42000.00'),
    em2026: ['23.75', '0.00', '213.75'],
    em2027: ['11.88', '11.88', '2090.00'],
  },
  'obra/materiais': {
    valores: `vCalcDR 20000.00 ${apurado('30000.00', '5.00', '1500.00', '0.00', '50000.00')}`,
    em2026: ['24.25', '0.00', '218.25'],
    em2027: ['12.12', '12.12', '2134.00'],
  },
  'obra/pessoa-fisica': {
    valores: apurado('12000.00', '5.00', '600.00', '0.00', '12000.00'),
    em2026: ['5.70', '0.00', '51.30'],
    em2027: ['2.85', '2.85', '501.60'],
  },
  'evento/no-endereco': {
    valores: apurado('20000.00', '5.00', '1000.00', '1000.00', '19000.00'),
    em2026: ['7.60', '0.00', '68.40'],
    em2027: ['3.80', '3.80', '668.80'],
  },
  'evento/pelo-codigo': {
    valores: apurado('3000.00', '5.00', '150.00', '0.00', '3000.00'),
    em2026: ['1.14', '0.00', '10.26'],
    em2027: ['0.57', '0.57', '100.32'],
  },
  'evento/cancelada': {
    valores: apurado('2500.00', '5.00', '125.00', '0.00', '2500.00'),
    em2026: ['0.95', '0.00', '8.55'],
    em2027: ['0.48', '0.48', '83.60'],
  },
  'exportacao/resultado-no-exterior': { valores: liquido('10000.00'), ...SEM_IBSCBS },
  'exportacao/prestado-no-exterior': { valores: liquido('7500.50'), ...SEM_IBSCBS },
  'exportacao/sem-nif': { valores: liquido('3000.00'), ...SEM_IBSCBS },
  'beneficio/reducao-percentual': {
    valores: `tpBM 2 vCalcBM 500.00 ${apurado('500.00', '5.00', '25.00', '0.00', '1000.00')}`,
    em2026: ['0.98', '0.00', '8.78'],
    em2027: ['0.49', '0.49', '85.80'],
  },
  'beneficio/reducao-em-reais': {
    valores: `tpBM 3 ${apurado('800.00', '5.00', '40.00', '40.00', '960.00')}`,
    em2026: ['0.96', '0.00', '8.64'],
    em2027: ['0.48', '0.48', '84.48'],
  },
  'beneficio/aliquota-diferenciada': {
    valores: `tpBM 4 ${apurado('1000.00', '2.00', '20.00', '0.00', '1000.00')}`,
    em2026: ['0.98', '0.00', '8.82'],
    em2027: ['0.49', '0.49', '86.24'],
  },
  'beneficio/isencao': {
    // An exemption needs no rate (D-61).
    valores: 'tpBM 1 vCalcBM 2000.00 vBC 0.00 vISSQN 0.00 vTotalRet 0.00 vLiq 2000.00',
    em2026: ['1.00', '0.00', '9.00'],
    em2027: ['0.50', '0.50', '88.00'],
  },
};

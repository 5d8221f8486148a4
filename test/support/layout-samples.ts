/**
 * Valid and invalid values of every simple type of the DPS and of the NFS-e. They are written by hand from the national schema and the
 * specification.
 */
import assert from 'node:assert/strict';
import { type SimpleType, T } from '../../src/fiscal/layout/simple-types.ts';
import type { Leaf } from '../../src/fiscal/layout/vocabulary.ts';

export type Samples = {
  /** Valid both from the sender and in the note. */
  readonly good: readonly string[];
  /** Accepted from a sender, but written differently, or not at all, in the note. */
  readonly onlyRead?: readonly string[];
  readonly bad: readonly string[];
};

const latin = (max: number): Samples => ({
  good: ['A', 'ÿ', '\u00a0', 'é & <b> "c"', 'x'.repeat(max)],
  bad: [' A', 'A ', 'a\nb', 'a\tb', 'a – b', 'olá 😀', 'x'.repeat(max + 1), '   '],
});
/** All characters that XML allows, counted one by one. */
const free = (max: number): Samples => ({
  good: ['A', ' A', 'A ', '\nA\t', 'a\r\nb', '\u00a0', 'Ω – 1', 'Łódź “😀”', 'x'.repeat(max), '😀'.repeat(max)],
  bad: ['x'.repeat(max + 1), '😀'.repeat(max + 1), '   ', ' \t\r\n'],
});
const digits = (length: number): Samples => ({
  good: ['1'.repeat(length), '0'.repeat(length)],
  bad: ['1'.repeat(length - 1), '1'.repeat(length + 1), `${'1'.repeat(length - 1)}A`, `${'1'.repeat(length - 1)}-`],
});
const list = (good: string, ...bad: string[]): Samples => ({ good: good.split(' '), bad: [...bad, ' 1', 'A'] });

const NOT_MONEY = [
  '1,00',
  '1.0',
  '1.000',
  '01.00',
  '-1.00',
  '+1.00',
  '1e3',
  '.50',
  '1.',
  'R$ 1.00',
  ' 1.00',
  '0.005',
  '00',
];
const upTo99 = { good: ['0', '0.00', '0.01', '1', '99.99'], bad: ['100', '100.00', ...NOT_MONEY] };
const upTo100 = {
  good: ['0', '0.10', '99.99', '100', '100.00'],
  bad: ['100.01', '101', '999.99', '1000', ...NOT_MONEY],
};

const CHAVE_DIGITS = '35503081211222333000181000000000004226101234567890';
const CHAVE_LETTERS = `355030812${'12ABC34501DE35'}${'0'.repeat(27)}`;

const SAMPLES: { readonly [Key in keyof typeof T]?: Samples } = {
  tpAmb: list('1 2', '0', '3'),
  dataHora: {
    good: ['2026-10-05T10:15:30-03:00', '2028-02-29T23:59:59+12:00'],
    bad: [
      '2026-10-05T10:15:30Z',
      '2026-10-05T10:15:30.5-03:00',
      '2026-10-05T24:00:00-03:00',
      '2026-10-05T10:15:30-03:30',
      '2027-02-29T10:15:30-03:00',
    ],
  },
  data: {
    good: ['2026-10-05', '2000-01-01', '2099-12-31', '2000-02-29', '2024-02-29', '2026-01-31', '2026-04-30'],
    bad: [
      '2026-02-29',
      '2026-02-30',
      '2024-02-30',
      '2026-04-31',
      '2026-13-01',
      '2026-00-10',
      '2026-01-32',
      '2026-01-00',
      '1999-12-31',
      '2100-01-01',
      '05/10/2026',
      '20261005',
      '2026-1-5',
      '2026-10-05T00:00:00',
      '2026-10-05Z',
      ' 2026-10-05',
    ],
  },
  verAplic: latin(20),
  serie: {
    good: ['1', '00001', '9999', '70000', '89999'],
    onlyRead: ['90000', '99999'],
    bad: ['123456', '1A', '-1', '00 1'],
  },
  nDPS: { good: ['1', '42', '999999999999999'], bad: ['0', '01', '1234567890123456', '1.0', '-1', 'A'] },
  tpEmit: list('1 2 3', '0', '4'),
  cMotivoEmisTI: list('1 2 3 4', '0', '5'),
  chaveNFSe: {
    good: [CHAVE_DIGITS, CHAVE_LETTERS],
    bad: [CHAVE_DIGITS.slice(1), `${CHAVE_DIGITS}0`, `A${CHAVE_DIGITS.slice(1)}`, CHAVE_LETTERS.toLowerCase()],
  },
  chaveNFe: {
    good: ['1'.repeat(44), `351026${'12ABC34501DE35'}${'0'.repeat(24)}`],
    bad: ['1'.repeat(43), '1'.repeat(45), `A${'1'.repeat(43)}`],
  },
  cMun: digits(7),
  cPais: { good: ['US', 'PT'], bad: ['us', 'USA', 'U', '01'] },
  cMotivoSubst: list('01 02 03 04 05 99', '1', '06', '00'),
  xMotivo: { good: ['Motivo descrito', 'x'.repeat(255)], bad: ['Motivo curto', 'x'.repeat(256), `${'x'.repeat(20)} `] },
  cnpj: {
    good: ['11222333000181', '12ABC34501DE35'],
    bad: ['1122233300018', '112223330001811', '11.222.333/0001-81', '12abc34501de35'],
  },
  cpf: { good: ['52998224725'], bad: ['5299822472', '529982247250', '529.982.247-25', '5299822472A'] },
  cnpjPrest: {
    good: ['11222333000181', '12ABC34501DE35'],
    bad: ['1122233300018', '112223330001811', '11.222.333/0001-81', '12abc34501de35'],
  },
  cpfPrest: { good: ['52998224725'], bad: ['5299822472', '529982247250', '529.982.247-25', '5299822472A'] },
  caepf: digits(14),
  nif: free(40),
  cNaoNIF: list('0 1 2', '3'),
  im: free(15),
  /** A blank name of the provider is left to E101, see below. */
  xNome: { ...free(300), bad: free(300).bad.filter((value) => value.trim() !== '') },
  xFant: latin(150),
  xLgr: latin(255),
  nro: latin(60),
  xCpl: latin(156),
  xBairro: latin(60),
  cep: digits(8),
  uf: { good: ['SP', 'DF'], bad: ['sp', 'XX', 'EX'] },
  cEndPost: {
    good: ['A', '7', '1100-148', 'SW1A 1AA', '01310-100', ' 1100', '1100 ', '1100-', 'x'.repeat(11)],
    bad: ['-', ' - ', '1100_148', '1100.148', 'É100', '(1)', '1100\n', 'x'.repeat(12)],
  },
  xCidade: free(60),
  xEstProvReg: free(60),
  fone: { good: ['123456', '12345678901234567890'], bad: ['12345', '1'.repeat(21), '(11) 3333-4444', '+551133334444'] },
  email: latin(80),
  opSimpNac: list('1 2 3', '0', '4'),
  regApTribSN: list('1 2 3', '0', '4'),
  regEspTrib: list('0 1 2 3 4 5 6 9', '7', '8', '10'),
  cTribNac: digits(6),
  cTribMun: digits(3),
  xDescServ: free(2000),
  cNBS: digits(9),
  cIntContrib: { good: ['a', 'Abc123', 'x'.repeat(20)], bad: ['a b', 'a-b', 'é', 'x'.repeat(21)] },
  mdPrestacao: list('1 2 3 4', '0', '5'),
  vincPrest: list('1 2 3 4 5 6', '0', '7', '9'),
  tpMoeda: digits(3),
  mecAFComexP: {
    good: ['01', '08'],
    onlyRead: ['1', '8'],
    bad: ['00', '0', '09', '9', '001', 'A'],
  },
  mecAFComexT: {
    good: ['01', '10', '26'],
    onlyRead: ['1', '9'],
    bad: ['00', '0', '27', '010', 'A'],
  },
  movTempBens: list('1 2 3', '0', '4'),
  nDI: latin(12),
  nRE: latin(12),
  mdic: list('0 1', '2'),
  cObra: free(30),
  inscImobFisc: free(30),
  cCIB: digits(8),
  idAtvEvt: free(30),
  idDocTec: free(40),
  desc150: latin(150),
  desc255: latin(255),
  desc600: latin(600),
  xInfComp: latin(2000),
  valor: {
    good: ['0', '0.00', '0.01', '1', '1000', '1000.00', '999999999999999', '999999999999999.99'],
    bad: ['1000000000000000', '1000000000000000.00', ...NOT_MONEY],
  },
  percentual1: { good: ['0', '0.00', '2.00', '9.99'], bad: ['10.00', ...NOT_MONEY] },
  percentual2: upTo99,
  percentual3: upTo100,
  pAliq: {
    good: ['0', '0.00', '2.00', '5', '9.99'],
    onlyRead: ['10.00', '99.99', '100', '100.00'],
    bad: ['100.01', '101.00', '1000', ...NOT_MONEY],
  },
  pAliqFederal: {
    good: ['0', '0.65', '3.00', '99.99'],
    onlyRead: ['100', '100.00'],
    bad: ['100.01', '101.00', '1000', ...NOT_MONEY],
  },
  num7: digits(7),
  num15: digits(15),
  cVerifNFSeMun: { good: ['a', 'AbC123', 'x'.repeat(9)], bad: ['a b', 'a-b', 'x'.repeat(10)] },
  serieNFNFS: { good: ['a', 'AbC123', 'x'.repeat(15)], bad: ['a b', 'a-b', 'x'.repeat(16)] },
  tpDedRed: list('1 2 3 4 5 6 7 8 9 99', '0', '01', '10'),
  tribISSQN: list('1 2 3 4', '0', '5'),
  tpImunidade: list('1 2 3 4 5', '0', '6'),
  tpSusp: list('1 2', '0', '3'),
  nProcesso: {
    good: ['1'.repeat(30)],
    onlyRead: ['12345678920268260100'],
    bad: ['1'.repeat(19), '1'.repeat(21), '1'.repeat(31), '1234567-89.2026.8.26.0100'],
  },
  nBM: digits(14),
  tpRetISSQN: list('1 2 3', '0', '4'),
  cstPisCofins: list('00 01 09 49 50 56 60 67 70 75 98 99', '0', '10', '48', '57', '68', '76', '97'),
  tpRetPisCofins: list('0 1 2 3 4 5 6 7 8 9', '10', '00'),
  indTotTrib: list('0', '1'),
  finNFSe: list('0', '1'),
  indFinal: list('0 1', '2'),
  cIndOp: digits(6),
  tpOper: list('1 2 3 4 5', '0', '6'),
  tpEnteGov: list('1 2 3 4', '0', '5'),
  indDest: list('0 1', '2'),
  tipoChaveDFe: list('1 2 3 9', '0', '4'),
  chaveDFe: free(50),
  tpReeRepRes: list('01 02 03 04 99', '1', '05'),
  cst: digits(3),
  cClassTrib: digits(6),
  cCredPres: digits(2),
  nNFSe: { good: ['1', '9999999999999'], bad: ['0', '01', '12345678901234'] },
  nDFSe: { good: ['1', '9999999999999'], bad: ['0', '01', '12345678901234'] },
  ambGer: list('1 2', '3'),
  tpEmis: list('1 2', '3'),
  procEmi: list('1 2 3', '4'),
  cStat: list('100 102 103 107', '101'),
  tpBM: list('1 2 3 4', '5'),
};

const SAMPLES_BY_TYPE = new Map<SimpleType, Samples>(
  Object.entries(SAMPLES).map(([key, samples]) => [T[key as keyof typeof T], samples]),
);

export function samplesOf({ name, type }: Leaf): Samples {
  return SAMPLES_BY_TYPE.get(type) ?? assert.fail(`no sample values for ${type.name} of ${name}`);
}

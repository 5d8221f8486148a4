/**
 * The simple types of the national layout 1.01: the allowed text of one element.
 *
 * Each type is a row of data. The check of the reader (`check-text.ts`), the restriction in the generated XSD and the line in
 * `docs/layout.md` come from it. Lengths, patterns and values are those of the XSD bundle 1.01 (editions of 09/02/2026 and 27/07/2026).
 * They are wider where our specification is wider. The places of the elements are defined elsewhere.
 */
import { cnpjIsValid, cpfIsValid } from '../chave.ts';
import { type Decimal, parseDecimal } from '../decimal.ts';
import { daysIn, readDay } from '../moment.ts';
import { DO_LEIAUTE_FUTURO } from './leiaute-futuro.ts';

export type SimpleType = {
  readonly name: string;
  /** The form of a correct value in Portuguese, as the end of the sentence "Esperado: …". */
  readonly expected: string;
  /** The only accepted values, as `expected` lists them. */
  readonly options?: string | undefined;
  /** `expected` gives the size and nothing else. */
  readonly expectsSize?: boolean;
  readonly kind: 'text' | 'digits' | 'enum' | 'decimal' | 'date' | 'datetime';
  readonly min: number;
  readonly max: number;
  /** XSD pattern, anchored by nature; also compiled for the reader. */
  readonly pattern?: string;
  readonly values?: readonly string[];
  /** Values with the reason of their refusal, although they look like members of the list. */
  readonly refusedValues?: Readonly<Record<string, string>>;
  /** Another spelling of the same value, read and then written in the national one (D-83). */
  readonly reads?: { readonly pattern: RegExp; readonly as: (value: string) => string } | undefined;
  /** `TSString` and its derived types: neither begins nor ends with a space, only U+0020 to U+00FF (D-34). */
  readonly latin?: boolean;
  /** Integer digits of a decimal. */
  readonly digits?: number;
  /** Highest decimal value, if our specification gives a range. */
  readonly highest?: Decimal;
  /** Check digits or calendar, if the pattern alone is not enough. Returns the problem. */
  readonly also?: (value: string) => string | undefined;
  /** A correct value derived mechanically from a wrong one, or undefined. `zone`: the municipality's, if it is known. */
  readonly mend?: (value: string, zone: string | undefined) => string | undefined;
  /** The type that is written, if it is narrower than the one that is read (D-12, D-16). */
  readonly national?: SimpleType;
};

const LATIN = '[!-ÿ]|[!-ÿ][ -ÿ]*[!-ÿ]';

function text(name: string, max: number, expected?: string, min = 1): SimpleType {
  const size = min === max ? `${max} caracteres` : `${min} a ${max} caracteres`;
  const said = expected === undefined ? { expected: `texto de ${size}`, expectsSize: true } : { expected };
  return { name, kind: 'text', min, max, latin: true, pattern: LATIN, ...said };
}

/** A text with a fixed form; `size`: its length, or the minimum and the maximum. */
function form(
  name: string,
  size: number | readonly [min: number, max: number],
  pattern: string,
  expected: string,
): SimpleType {
  const [min, max] = typeof size === 'number' ? [size, size] : size;
  return { name, kind: 'text', min, max, pattern, expected };
}

/** A text in which the national schema accepts any character, including spaces at its ends and line breaks (D-34). */
function anyText(name: string, max: number): SimpleType {
  return { name, kind: 'text', min: 1, max, expected: `texto de 1 a ${max} caracteres`, expectsSize: true };
}

function digits(name: string, min: number, max: number, expected: string, pattern?: string): SimpleType {
  return {
    name,
    kind: 'digits',
    min,
    max,
    expected,
    pattern: pattern ?? (min === max ? `[0-9]{${max}}` : `[0-9]{${min},${max}}`),
    mend: withoutPunctuation,
  };
}

function values(name: string, list: readonly string[], more: Partial<SimpleType> = {}): SimpleType {
  const max = Math.max(...list.map((value) => value.length));
  const min = Math.min(...list.map((value) => value.length));
  return { name, kind: 'enum', min, max, values: list, ...oneOf(list.join(', ')), ...more };
}

function oneOf(options: string): Pick<SimpleType, 'expected' | 'options'> {
  return { expected: `um de: ${options}`, options };
}

/** {@link SimpleType.expected} within a sentence. */
export function expectedInSentence({ expected, options }: SimpleType): string {
  return options === undefined ? expected : `um de ${options}`;
}

function decimal(
  name: string,
  integerDigits: number,
  expected: string,
  highest?: string,
): SimpleType & { readonly kind: 'decimal' } {
  const bound = highest === undefined ? {} : { highest: parseDecimal(highest)! };
  return {
    name,
    kind: 'decimal',
    min: 1,
    max: integerDigits + 3,
    digits: integerDigits,
    pattern: `0|0\\.[0-9]{2}|[1-9][0-9]{0,${integerDigits - 1}}(\\.[0-9]{2})?`,
    expected,
    ...bound,
  };
}

function range(first: number, last: number, width = 1): string[] {
  return Array.from({ length: last - first + 1 }, (_, step) => String(first + step).padStart(width, '0'));
}

function withoutPunctuation(value: string): string | undefined {
  const bare = value.replace(/[\s./()-]/g, '');
  return bare === value ? undefined : bare;
}

function calendarProblem(value: string): string | undefined {
  const [year, month, day] = [Number(value.slice(0, 4)), Number(value.slice(5, 7)), Number(value.slice(8, 10))];
  const last = daysIn(year, month);
  if (last === undefined) return `tem um mês que não existe (${value.slice(5, 7)})`;
  return day >= 1 && day <= last
    ? undefined
    : `tem um dia que não existe: o mês ${value.slice(5, 7)}/${year} tem ${last} dias`;
}

/** `05/10/2026`, `20261005`, `2026-10-5` and an instant in a known zone are unambiguous in Brazil; any other form is left to the sender. */
function isoDate(value: string, zone: string | undefined): string | undefined {
  const [, day, month, year] = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(value) ?? [];
  if (year !== undefined) return `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`;
  const [, y, m, d] =
    /^(\d{4})(\d{2})(\d{2})$/.exec(value) ?? /^(\d{4})[/.-](\d{1,2})[/.-](\d{1,2})$/.exec(value) ?? [];
  return y === undefined ? readDay(zone, value) : `${y}-${m!.padStart(2, '0')}-${d!.padStart(2, '0')}`;
}

/** A code that lost its leading zero, as in a spreadsheet or a number: `00` for `000`, `10101` for `010101`. */
function withLostZero(size: number): (value: string) => string | undefined {
  return (value) => {
    const bare = withoutPunctuation(value) ?? value;
    return bare.length === size - 1 ? `0${bare}` : withoutPunctuation(value);
  };
}

const ONE_DIGIT = { pattern: /^[1-9]$/, as: (value: string) => value.padStart(2, '0') };

/** Municipality and environment, kind and registration, and the rest of the key with the code of the event. */
const CHAVE_E_CODIGO = '[0-9]{8}(1[0-9]{14}|2[0-9A-Z]{14})[0-9]{33}';

const SHARED_ZERO = 'o valor 0 é reservado ao compartilhamento de notas municipais com o ADN';

const PERCENTUAL_1 = decimal('TSDec1V2', 1, 'percentual com um dígito inteiro e duas casas, como 2.00');
const PERCENTUAL_2 = decimal('TSDec2V2', 2, 'percentual até 99.99, com duas casas');

export const T = {
  tpAmb: values('TSTipoAmbiente', ['1', '2']),
  dataHora: {
    name: 'TSDateTimeUTC',
    kind: 'datetime',
    min: 25,
    max: 25,
    pattern:
      '20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([-+](0[0-9]|1[01])|[+]12):00',
    expected: 'data e hora AAAA-MM-DDThh:mm:ss-03:00',
    also: calendarProblem,
  },
  data: {
    name: 'TSData',
    kind: 'date',
    min: 10,
    max: 10,
    pattern: '20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])',
    expected: 'data AAAA-MM-DD, de 2000 a 2099',
    also: calendarProblem,
    mend: isoDate,
  },
  verAplic: text('TSVerAplic', 20),
  /** The edition of 27/07/2026 ends at 89999; the specification asks for at most five digits, and prevails (D-12). */
  serie: {
    ...digits('TSSerieDPS', 1, 5, 'série de 1 a 5 dígitos'),
    national: digits('TSSerieDPS', 1, 5, 'série de 1 a 5 dígitos, até 89999', '[0-9]{1,4}|[0-8][0-9]{4}'),
  },
  nDPS: {
    ...digits('TSNumDPS', 1, 15, 'número inteiro de 1 a 15 dígitos, sem zeros à esquerda', '[1-9][0-9]{0,14}'),
    mend: (value: string) => (/^0+[1-9][0-9]*$/.test(value) ? value.replace(/^0+/, '') : withoutPunctuation(value)),
  },
  tpEmit: values('TSEmitenteDPS', ['1', '2', '3']),
  cMotivoEmisTI: values('TSMotivoEmisTI', range(1, 4)),
  chaveNFSe: {
    ...form('TSChaveNFSe', 50, '[0-9]{9}[0-9A-Z]{14}[0-9]{27}', 'chave de acesso de NFS-e, 50 posições'),
    mend: withoutPunctuation,
  },
  chaveNFe: {
    ...form('TSChaveNFe', 44, '[0-9]{6}[0-9A-Z]{14}[0-9]{24}', 'chave de acesso de NF-e, 44 posições'),
    mend: withoutPunctuation,
  },
  cMun: digits('TSCodMunIBGE', 7, 7, 'código IBGE do município, 7 dígitos'),
  cPais: {
    ...form('TSCodPaisISO', 2, '[A-Z]{2}', 'código do país ISO 3166-1, duas letras maiúsculas'),
    mend: (value: string) => (/^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : undefined),
  },
  cMotivoSubst: values('TSCodJustSubst', ['01', '02', '03', '04', '05', '99']),
  xMotivo: text('TSMotivo', 255, undefined, 15),
  cnpj: {
    ...form('TSCNPJ', 14, '[0-9A-Z]{14}', 'CNPJ de 14 posições, sem pontuação, com dígitos verificadores corretos'),
    also: (value: string) => (cnpjIsValid(value) ? undefined : 'tem dígitos verificadores que não conferem'),
    mend: withoutPunctuation,
  },
  cpf: {
    ...digits('TSCPF', 11, 11, 'CPF de 11 dígitos, sem pontuação, com dígitos verificadores corretos'),
    also: (value: string) => (cpfIsValid(value) ? undefined : 'tem dígitos verificadores que não conferem'),
  },
  /** The provider's document is judged by its registration, E101 (specification, auto-registration 2). */
  cnpjPrest: {
    ...form('TSCNPJ', 14, '[0-9A-Z]{14}', 'CNPJ de 14 posições, sem pontuação'),
    mend: withoutPunctuation,
  },
  cpfPrest: digits('TSCPF', 11, 11, 'CPF de 11 dígitos, sem pontuação'),
  caepf: digits('TSCAEPF', 14, 14, 'CAEPF de 14 dígitos'),
  nif: anyText('TSNIF', 40),
  cNaoNIF: values('TSCodNaoNIF', ['0', '1', '2']),
  im: anyText('TSInscMun', 15),
  xNome: anyText('TSNomeRazaoSocial', 300),
  xFant: text('TSNomeFantasia', 150),
  xLgr: text('TSLogradouro', 255),
  nro: text('TSNumeroEndereco', 60),
  xCpl: text('TSComplementoEndereco', 156),
  xBairro: text('TSBairro', 60),
  cep: { ...digits('TSCEP', 8, 8, 'CEP de 8 dígitos, sem hífen'), mend: withLostZero(8) },
  uf: values('TSUF', 'AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO'.split(' ')),
  /** Any text nationally. The specification has letters and digits; the hyphens and spaces of real codes are read as well. */
  cEndPost: {
    ...anyText('TSCodigoEndPostal', 11),
    expected: 'código postal de 1 a 11 letras sem acento, dígitos, hífens ou espaços',
    expectsSize: false,
    pattern: '[ -]*[0-9A-Za-z][0-9A-Za-z -]*',
    national: anyText('TSCodigoEndPostal', 11),
  },
  xCidade: anyText('TSCidade', 60),
  xEstProvReg: anyText('TSEstadoProvRegiao', 60),
  fone: digits('TSTelefone', 6, 20, 'telefone de 6 a 20 dígitos, com DDD e sem pontuação'),
  email: text('TSEmail', 80),
  opSimpNac: values('TSOpSimpNac', ['1', '2', '3'], {
    refusedValues: {
      '4': `o valor 4 (optante pendente) ${DO_LEIAUTE_FUTURO}; envie 1, 2 ou 3, o que o prestador é na competência`,
    },
  }),
  regApTribSN: values('TSRegimeApuracaoSimpNac', ['1', '2', '3']),
  regEspTrib: values('TSRegEspTrib', ['0', '1', '2', '3', '4', '5', '6', '9']),
  cTribNac: { ...digits('TSCodTribNac', 6, 6, 'código de tributação nacional, 6 dígitos'), mend: withLostZero(6) },
  cTribMun: digits('TCCodTribMun', 3, 3, 'código de tributação municipal, 3 dígitos'),
  xDescServ: anyText('TSDesc2000', 2000),
  cNBS: digits('TSCodNBS', 9, 9, 'código NBS, 9 dígitos, sem pontuação'),
  cIntContrib: {
    ...text('TSCodigoInternoContribuinte', 20, 'código de 1 a 20 letras ou dígitos'),
    latin: false,
    pattern: '[a-zA-Z0-9]{1,20}',
  },
  mdPrestacao: values('TSModoPrestacao', range(1, 4), {
    ...oneOf(
      '1 (transfronteiriço), 2 (consumo no Brasil), 3 (movimento temporário de pessoas físicas), 4 (consumo no exterior)',
    ),
    refusedValues: { '0': SHARED_ZERO },
  }),
  vincPrest: values('TSVincPrest', range(1, 6), {
    ...oneOf(
      '1 (controlada), 2 (controladora), 3 (coligada), 4 (matriz), 5 (filial ou sucursal), 6 (outro vínculo, ou nenhum)',
    ),
    refusedValues: {
      '0': 'o valor 0 (sem vínculo) não é aceito na emissão; quando não há vínculo entre as partes, use 6 (outro vínculo)',
      '9': 'o valor 9 (desconhecido) é reservado ao compartilhamento de notas municipais com o ADN',
    },
  }),
  tpMoeda: digits('TSCodMoeda', 3, 3, 'código da moeda na tabela do Banco Central, 3 dígitos'),
  mecAFComexP: values('TSMecAFComExPrest', range(1, 8, 2), {
    ...oneOf(
      '01 (nenhum), 02 (ACC), 03 (ACE), 04 (BNDES-Exim pós-embarque), 05 (BNDES-Exim pré-embarque), 06 (FGE), 07 (PROEX equalização), 08 (PROEX financiamento)',
    ),
    min: 1,
    reads: ONE_DIGIT,
    refusedValues: { '0': SHARED_ZERO, '00': SHARED_ZERO },
  }),
  mecAFComexT: values('TSMecAFComExToma', range(1, 26, 2), {
    expected: 'código de 01 (nenhum) a 26 da lista de mecanismos de apoio, que o leiaute enumera',
    options: undefined,
    min: 1,
    reads: ONE_DIGIT,
    refusedValues: { '0': SHARED_ZERO, '00': SHARED_ZERO },
  }),
  movTempBens: values('TSMovTempBens', range(1, 3), {
    ...oneOf('1 (não), 2 (vinculada a declaração de importação), 3 (vinculada a declaração de exportação)'),
    refusedValues: { '0': SHARED_ZERO },
  }),
  nDI: text('TSNumDocImport', 12),
  nRE: text('TSNumRegExport', 12),
  mdic: values('TSEnvMDIC', ['0', '1']),
  cObra: anyText('TSCodObra', 30),
  inscImobFisc: anyText('TSInscImobFisc', 30),
  cCIB: digits('TSCodCIB', 8, 8, 'código CIB, 8 dígitos'),
  idAtvEvt: anyText('TSIdeEvento', 30),
  idDocTec: anyText('TSDRT', 40),
  desc150: text('TSDesc150', 150),
  desc255: text('TSDesc255', 255),
  desc600: text('TSDesc600', 600),
  xInfComp: text('TSDescInfCompl', 2000),
  valor: decimal('TSDec15V2', 15, 'valor com até 15 dígitos inteiros e duas casas, como 1000.00'),
  percentual1: PERCENTUAL_1,
  percentual2: PERCENTUAL_2,
  percentual3: decimal('TSDec3V2', 3, 'percentual com duas casas, de 0 a 100.00', '100.00'),
  /** One integer digit nationally; the specification's range 0 to 100 prevails for reading (D-12). */
  pAliq: {
    ...decimal('TSDec1V2', 3, 'alíquota em percentual com duas casas, de 0 a 100.00', '100.00'),
    national: PERCENTUAL_1,
  },
  /** Two integer digits nationally; the specification's range 0 to 100 prevails for reading (E0686, E0692). */
  pAliqFederal: {
    ...decimal('TSDec2V2', 3, 'alíquota em percentual com duas casas, de 0 a 100.00', '100.00'),
    national: PERCENTUAL_2,
  },
  num7: digits('TSNum7Dig', 7, 7, '7 dígitos, com zeros à esquerda'),
  num15: digits('TSNum15Dig', 15, 15, '15 dígitos, com zeros à esquerda'),
  cVerifNFSeMun: {
    ...text('TSCodVerificacao', 9, 'código de 1 a 9 letras ou dígitos'),
    latin: false,
    pattern: '[a-zA-Z0-9]{1,9}',
  },
  serieNFNFS: {
    ...text('TSSerieNFNFS', 15, 'série de 1 a 15 letras ou dígitos'),
    latin: false,
    pattern: '[a-zA-Z0-9]{1,15}',
  },
  tpDedRed: values('TSIdeDedRed', [...range(1, 9), '99']),
  tribISSQN: values('TSTribISSQN', range(1, 4)),
  tpImunidade: values('TSTipoImunidadeISSQN', range(1, 5), { refusedValues: { '0': SHARED_ZERO } }),
  tpSusp: values('TSOpExigSuspensa', ['1', '2']),
  nProcesso: {
    ...digits(
      'TSNumProcExigSuspensa',
      30,
      30,
      '30 dígitos sem pontuação; o número judicial de 20 dígitos é completado com zeros à esquerda',
    ),
    reads: { pattern: /^[0-9]{20}$/, as: (value: string) => value.padStart(30, '0') },
    mend: (value: string) => {
      const bare = value.replace(/\D/g, '');
      return bare.length === 20 || bare.length === 30 ? bare.padStart(30, '0') : undefined;
    },
  },
  nBM: digits('TSNumBeneficioMunicipal', 14, 14, 'número do benefício municipal, 14 dígitos'),
  tpRetISSQN: values('TSTipoRetISSQN', ['1', '2', '3']),
  cstPisCofins: values(
    'TSTipoCST',
    [...range(0, 9, 2), '49', ...range(50, 56), ...range(60, 67), ...range(70, 75), '98', '99'],
    {},
  ),
  tpRetPisCofins: values('TSTipoRetPISCofins', range(0, 9)),
  indTotTrib: values('TSTipoIndTotTrib', ['0']),
  finNFSe: values('TSRTCFinNFSe', ['0'], {
    refusedValues: {
      '1': `o valor 1 (NFS-e de crédito) ${DO_LEIAUTE_FUTURO}; no 1.01 só há 0 (NFS-e regular)`,
      '2': `o valor 2 (NFS-e de débito) ${DO_LEIAUTE_FUTURO}; no 1.01 só há 0 (NFS-e regular)`,
    },
  }),
  indFinal: values('TSRTCIndFinal', ['0', '1']),
  cIndOp: { ...digits('TSRTCCodIndOp', 6, 6, 'indicador de operação, 6 dígitos'), mend: withLostZero(6) },
  tpOper: values('TSRTCTpOper', range(1, 5)),
  tpEnteGov: values('TSRTCTpEnteGov', range(1, 4)),
  indDest: values('TSRTCIndDest', ['0', '1']),
  tipoChaveDFe: values('TSRTCTipoChaveDFe', ['1', '2', '3', '9']),
  chaveDFe: anyText('TSRTCChaveDFe', 50),
  tpReeRepRes: values('TSRTCTpReeRepRes', ['01', '02', '03', '04', '99']),
  cst: { ...digits('TSRTCCodSitTrib', 3, 3, 'CST do IBS/CBS, 3 dígitos'), mend: withLostZero(3) },
  cClassTrib: {
    ...digits('TSRTCCodClassTrib', 6, 6, 'classificação tributária do IBS/CBS, 6 dígitos'),
    mend: withLostZero(6),
  },
  cCredPres: digits('TSRTCCodCredPres', 2, 2, 'código do crédito presumido, 2 dígitos'),
  // The following types stand only in the NFS-e that this service writes.
  nNFSe: digits('TSNNFSe', 1, 13, 'número da NFS-e', '[1-9][0-9]{0,12}'),
  nDFSe: digits('TSNDFSe', 1, 13, 'número do documento fiscal', '[1-9][0-9]{0,12}'),
  ambGer: values('TSAmbGeradorNFSe', ['1', '2']),
  tpEmis: values('TSTipoEmissao', ['1', '2']),
  procEmi: values('TSProcEmissao', ['1', '2', '3']),
  cStat: values('TStat', ['100', '102', '103', '107']),
  tpBM: values('TBMISSQN', range(1, 4)),
  // The following types stand only in events (schemas pedRegEvento and evento).
  ambGerEvento: values('TSAmbGeradorEvt', ['1', '2', '3']),
  nSeqEvento: digits('TSNum3Dig', 1, 3, 'número sequencial do evento, de 1 a 999', '[1-9][0-9]{0,2}'),
  cMotivoCanc: values('TSCodJustCanc', ['1', '2', '9']),
  cMotivoAnaliseFiscal: values('TSCodJustAnaliseFiscalCanc', ['1', '2', '9']),
  cMotivoDeferimento: values('TSCodJustAnaliseFiscalCancDef', ['1']),
  cMotivoIndeferimento: values('TSCodJustAnaliseFiscalCancIndef', ['1', '2']),
  cMotivoRejeicao: values('TSCodMotivoRejeicao', [...range(1, 5), '9']),
  nProcAdm: digits('TSNumProcAdmAnaliseFiscalCanc', 1, 30, 'número do processo administrativo, 1 a 30 dígitos'),
  codEvento: values('TSCodigoEventoNFSe', ['e101101', 'e105102', 'e105104', 'e105105', 'e305101']),
  /** The schema has key and code. The sequence, which distinguishes two blocks of one note, is read and not written. */
  idEventoReferido: {
    ...form(
      'TSIdNumEvento',
      [56, 62],
      `(EVT)?${CHAVE_E_CODIGO}([0-9]{3})?`,
      'identificador de evento: EVT, chave de acesso, código do tipo e número sequencial de 3 dígitos',
    ),
    mend: withoutPunctuation,
    national: form('TSIdNumEvento', 56, CHAVE_E_CODIGO, 'chave de acesso e código do tipo do evento, 56 posições'),
  },
  // Attributes of the outer elements.
  versao: values('TVerNFSe', ['1.01']),
  idInfDPS: {
    ...form(
      'TSIdDPS',
      [4, 63],
      'DPS[0-9]{1,60}|DPS[0-9]{8}[0-9A-Z]{14}[0-9]{20}',
      'DPS seguido de dígitos; o identificador nacional tem 45 posições',
    ),
    national: form(
      'TSIdDPS',
      45,
      'DPS[0-9]{7}(1[0-9]{14}|2[0-9A-Z]{14})[0-9]{20}',
      'DPS, município, tipo e número da inscrição federal, série e número, 45 posições',
    ),
  },
  idInfNFSe: form('TSIdNFSe', 53, 'NFS[0-9]{9}[0-9A-Z]{14}[0-9]{27}', 'NFS seguido da chave de acesso, 53 posições'),
  idInfPedReg: form(
    'TSIdPedRefEvt',
    59,
    `PRE${CHAVE_E_CODIGO}`,
    'PRE seguido da chave de acesso e do código do tipo do evento, 59 posições',
  ),
  idInfEvento: form(
    'TSIdEvento',
    62,
    `EVT${CHAVE_E_CODIGO}[0-9]{3}`,
    'EVT seguido da chave de acesso, do código do tipo e do número sequencial, 62 posições',
  ),
} as const satisfies Record<string, SimpleType>;

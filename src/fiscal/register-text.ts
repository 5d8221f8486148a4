/**
 * Reads the cells of a register's line: each reader judges the cell and gives its value. The text of a problem follows the name of
 * the column, as in `cep está vazio`.
 */
import { FORMAS_DEDUCAO, TIPOS_BENEFICIO, type TipoBeneficio } from './cadastros.ts';
import { enumeracaoOf, readSubitem, servicoOf, servicos } from './catalogs/catalogs.ts';
import { bareDocumento, whyNoDocumento } from './chave.ts';
import { decimal } from './decimal.ts';
import { ENDERECO_NAO_INFORMADO } from './facts.ts';
import { ISS_MAX } from './iss.ts';
import { checkText } from './layout/check-text.ts';
import { type SimpleType, T } from './layout/simple-types.ts';
import { isDay } from './moment.ts';
import { ownOf } from './own.ts';
import type { Municipio } from './settings.ts';
import { readPercent } from './settings-text.ts';

/** A line that is being read. Each problem is a reason to refuse it; the reading goes on, so that all of them are reported. */
export type Line = {
  readonly linha: number;
  /** The trimmed text; also empty if the file has no such column. */
  text(column: string): string;
  /** `problem`: the rest of the sentence after the name of the column, in Portuguese. */
  refuse(column: string, problem: string): void;
  /** Tells that a value was mended. */
  mend(mend: Mend): void;
};

/** A mended value: `zeros`, leading zeros that a spreadsheet had removed. */
export type Mend = 'zeros';

/** The text of a column for the note, as the layout admits it; undefined: the column is empty. */
export function layoutText(line: Line, column: string, type: SimpleType): string | undefined {
  const value = line.text(column);
  if (value === '') return undefined;
  const fault = checkText(type, value);
  if (fault === undefined) return value;
  const fix = fault.fix === undefined ? '' : ` (use: ${fault.fix})`;
  line.refuse(column, `${fault.problem}${fix}`);
  return undefined;
}

/** As {@link layoutText}, but an empty column is refused. */
export function neededText(line: Line, column: string, type: SimpleType): string {
  if (line.text(column) === '') line.refuse(column, 'está vazio');
  return layoutText(line, column, type) ?? '';
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})$/;
const BRAZILIAN = /^(\d{2})\/(\d{2})\/(\d{4})$/;
const YEAR_MIN = 1900;

/** `YYYY-MM-DD`, from that or from `DD/MM/YYYY`; undefined: the column is empty or no date. */
export function readDate(line: Line, column: string): string | undefined {
  const value = line.text(column);
  if (value === '') return undefined;
  const iso = ISO.exec(value);
  const brazilian = BRAZILIAN.exec(value);
  const date = iso ? value : brazilian ? `${brazilian[3]}-${brazilian[2]}-${brazilian[1]}` : undefined;
  if (date === undefined) {
    line.refuse(column, 'não é uma data (AAAA-MM-DD ou DD/MM/AAAA)');
    return undefined;
  }
  if (Number(date.slice(0, 4)) < YEAR_MIN || !isDay(date)) {
    line.refuse(column, `traz um dia que não existe (${value})`);
    return undefined;
  }
  return date;
}

/** The last day of a period, which needs a beginning that is not later; undefined: the column is empty or no date. */
export function readEnd(line: Line, inicioColumn: string, fimColumn: string): string | undefined {
  const [inicio, fim] = [readDate(quiet(line), inicioColumn), readDate(line, fimColumn)];
  if (fim !== undefined && line.text(inicioColumn) === '') line.refuse(fimColumn, `veio sem ${inicioColumn}`);
  if (inicio !== undefined && fim !== undefined && fim < inicio) line.refuse(fimColumn, `é anterior a ${inicioColumn}`);
  return fim;
}

/** Both days of a period. */
export function readPeriod(line: Line, inicioColumn: string, fimColumn: string) {
  return { inicio: readDate(line, inicioColumn), fim: readEnd(line, inicioColumn, fimColumn) };
}

/** The same line, of which no problem is told. */
export function quiet(line: Line): Line {
  return { ...line, refuse: () => undefined, mend: () => undefined };
}

/** A code longer than `cTribMun` serves the municipality alone. */
const CODIGO = /^[0-9A-Za-z][0-9A-Za-z./-]{0,19}$/;

/** The text becomes `xTribMun` of the note, which cuts a text that is too long. */
export const DESCRICAO: SimpleType = { ...T.desc600, max: T.xDescServ.max };

export function readCodigo(line: Line): string {
  const codigo = line.text('codigo');
  if (codigo === '') line.refuse('codigo', 'está vazio');
  else if (!CODIGO.test(codigo))
    line.refuse('codigo', 'tem mais de 20 posições, ou algo além de letras, dígitos, ponto, barra e hífen');
  return codigo;
}

/** One code of the national list, required. */
export function readNacional(line: Line): string {
  const column = 'codigo_tributacao_nacional';
  const { value, isMended, problem } = mendCodigo(line.text(column));
  if (value === '') line.refuse(column, 'está vazio');
  else if (problem !== undefined) line.refuse(column, `${value} ${problem}`);
  if (isMended) line.mend('zeros');
  return value;
}

/** Removes punctuation. */
function bareCodigo(text: string): string {
  return text.replace(/[\s./-]/g, '');
}

/** A service code of the national list; the zero that a spreadsheet removed is given back where the list has such a code. */
function mendCodigo(text: string): Mended {
  const bare = bareCodigo(text);
  const value = /^\d{5}$/.test(bare) && servicoOf(`0${bare}`)?.emissivel ? `0${bare}` : bare;
  return { value, isMended: value !== bare, problem: whyNoService(value) };
}

/** The reason why a text is no service code of the national list, as the end of a sentence. */
function whyNoService(codigo: string): string | undefined {
  const servico = servicoOf(codigo);
  if (!/^\d{6}$/.test(codigo)) return 'não tem 6 dígitos';
  if (servico === undefined) return 'não existe na lista nacional';
  if (!servico.emissivel && servico.situacao !== 'futuro') return 'é um título da lista nacional, e não um serviço';
  return undefined;
}

export function readCnae(line: Line): string | undefined {
  const cnae = bareCodigo(line.text('cnae_codigo'));
  if (cnae === '') return undefined;
  if (!/^\d{7}$/.test(cnae)) line.refuse('cnae_codigo', 'não tem 7 dígitos');
  return cnae;
}

/** Highest percentage of each column, and what is said of a higher one. */
const PERCENT_MAX = {
  aliquota: [ISS_MAX, 'passa de 5 %, a alíquota máxima do ISSQN (LC 116/2003, art. 8º, II)'],
  reducao: [decimal('100.00'), 'passa de 100 %'],
} as const;
const ANY_PERCENT = decimal('9999.99');

/** A percentage with at most two decimals, as `5.00`; undefined: the column is empty. */
export function readPercentual(line: Line, column: keyof typeof PERCENT_MAX): string | undefined {
  const text = line.text(column);
  if (text === '') return undefined;
  const [max, tooMuch] = PERCENT_MAX[column];
  const percent = readPercent(text, ANY_PERCENT);
  if (percent === undefined) line.refuse(column, 'não é um percentual, com até duas casas decimais, como 5,00');
  else if (decimal(percent) > max) line.refuse(column, tooMuch);
  return percent;
}

/** The number begins with the municipality's own code (DPS 1.01, `BM/nBM`). */
export function readNumeroBeneficio(line: Line, { codigoIbge }: Municipio): string {
  const numero = bareCodigo(line.text('numero'));
  if (numero === '') line.refuse('numero', 'está vazio');
  else if (!/^\d{14}$/.test(numero)) line.refuse('numero', 'não tem 14 dígitos; é o nBM, com o código IBGE no começo');
  else if (codigoIbge !== undefined && !numero.startsWith(codigoIbge))
    line.refuse('numero', `${numero} não começa com o código IBGE do município, ${codigoIbge}`);
  return numero;
}

export function readTipo(line: Line): TipoBeneficio | undefined {
  const [tipo, written] = [tipoIn(line), line.text('tipo').toLowerCase()];
  if (tipo !== undefined) return tipo;
  const known = Object.keys(TIPOS_BENEFICIO).join(', ');
  line.refuse('tipo', `${written === '' ? 'está vazio' : `${written} não existe`}; use ${known}`);
  return undefined;
}

function tipoIn(line: Line): TipoBeneficio | undefined {
  const tipo = line.text('tipo').toLowerCase();
  return Object.hasOwn(TIPOS_BENEFICIO, tipo) ? (tipo as TipoBeneficio) : undefined;
}

/** The one column that a kind of benefit needs, and the others leave empty. */
const MEDIDAS: Readonly<Partial<Record<TipoBeneficio, 'reducao' | 'aliquota'>>> = {
  reducao_percentual: 'reducao',
  aliquota_diferenciada: 'aliquota',
};

/** The measure of a benefit, by the kind that its line names. */
export function readMedida(line: Line, column: 'reducao' | 'aliquota'): string | undefined {
  const value = readPercentual(line, column);
  const tipo = tipoIn(line);
  if (tipo === undefined) return value;
  const isNeeded = MEDIDAS[tipo] === column;
  if (isNeeded && line.text(column) === '') line.refuse(column, `está vazio, e o tipo é ${tipo}`);
  if (!isNeeded && line.text(column) !== '') line.refuse(column, `não cabe no tipo ${tipo}; deixe vazio`);
  if (isNeeded && column === 'reducao' && Number(value) === 0) line.refuse('reducao', 'é zero');
  return value;
}

/** National codes; none means all. */
export function readServicos(line: Line): readonly string[] {
  return readSeveral(line, 'servicos', mendCodigo);
}

export function readDocumentos(line: Line): readonly string[] {
  return readSeveral(line, 'documentos', mendDocumento, () => 'um deles');
}

/** The known forms of a deduction, as a text. */
export const FORMAS = Object.keys(FORMAS_DEDUCAO).join(', ');

export function readFormas(line: Line): readonly string[] {
  const formas = readSeveral(line, 'formas', (text) => {
    const value = text.toLowerCase();
    return { value, problem: Object.hasOwn(FORMAS_DEDUCAO, value) ? undefined : `não existe; use ${FORMAS}` };
  });
  if (line.text('formas') === '') line.refuse('formas', `está vazio; use ${FORMAS}`);
  return formas;
}

/** The values of a cell, separated by spaces or semicolons; sorted, each once. `called`: text for a wrong value in a sentence. */
function readSeveral(
  line: Line,
  column: string,
  mend: (text: string) => Mended,
  called = (value: string) => value,
): readonly string[] {
  const read = line
    .text(column)
    .split(/[\s;,|]+/)
    .filter(Boolean)
    .map(mend);
  const wrong = read.find(({ problem }) => problem !== undefined);
  if (wrong !== undefined) line.refuse(column, `${called(wrong.value)} ${wrong.problem}`);
  if (read.some(({ isMended }) => isMended)) line.mend('zeros');
  return [...new Set(read.map(({ value }) => value))].toSorted();
}

/** A code of `regEspTrib`; 0 is no special regime. */
export function readRegime(line: Line): string {
  const regime = line.text('regime');
  const known = enumeracaoOf('regEspTrib').filter(({ codigo }) => codigo !== '0');
  if (!known.some(({ codigo }) => codigo === regime)) {
    const codigos = known.map(({ codigo, descricao }) => `${codigo} ${descricao}`).join(', ');
    line.refuse('regime', `${regime === '' ? 'está vazio' : `${regime} não existe`}; use o código: ${codigos}`);
  }
  return regime;
}

/** The document of a provider; empty: every provider. */
export function readDocumento(line: Line): string {
  const text = line.text('documento');
  if (text === '') return '';
  const { value, isMended, problem } = mendDocumento(text);
  if (problem !== undefined) line.refuse('documento', problem);
  if (isMended) line.mend('zeros');
  return value;
}

/** The document of a provider, required. */
export function readDocumentoNecessario(line: Line): string {
  if (line.text('documento') === '') line.refuse('documento', 'está vazio');
  return readDocumento(line);
}

/** Digits with an exponent, as a spreadsheet shows a long number. */
const SCIENTIFIC = /^\d(?:[.,]\d+)?E\+?\d+$/i;

/** A value of a cell, and the reason why it is refused. */
type Mended = {
  readonly value: string;
  readonly isMended?: boolean;
  readonly problem?: string | undefined;
};

/**
 * A document as a spreadsheet gives it: leading zeros that it removed are given back where the check digits agree, and `isMended` says so.
 * Messages do not repeat it: the line shows its place, and it may be a person's.
 */
function mendDocumento(text: string): Mended {
  const value = bareDocumento(text);
  if (SCIENTIFIC.test(text.trim()))
    return {
      value,
      problem:
        'está em notação científica, e a planilha pode ter perdido dígitos; formate a coluna como texto e digite de novo',
    };
  const isBare = /^\d{3,13}$/.test(text.trim());
  const found = isBare ? [CPF_LENGTH, CNPJ_LENGTH].flatMap((length) => padTo(value, length)) : [];
  if (found.length > 1) return { value, problem: AMBIGUOUS };
  const [only] = found;
  if (only !== undefined) return { value: only, isMended: only !== value };
  if (isBare && [10, 12, 13].includes(value.length))
    return {
      value,
      problem: `tem ${value.length} posições, e com os zeros à esquerda também não é CPF nem CNPJ; confira-o`,
    };
  return { value, problem: whyNoDocumento(value) };
}

const CPF_LENGTH = 11;
const CNPJ_LENGTH = 14;
const AMBIGUOUS =
  'serve como CPF, e como CNPJ sem os zeros à esquerda; escreva o CPF com pontos (000.000.000-00), ou o CNPJ com os 14 dígitos';

/** The valid document of so many digits, if the text is one without its zeros. */
function padTo(digits: string, length: number): readonly string[] {
  const padded = digits.padStart(length, '0');
  return padded.length === length && whyNoDocumento(padded) === undefined ? [padded] : [];
}

/**
 * National rules allow any text. The municipality's own must be text that others can read and write, and have a comparable part
 * (`inscricao_comparavel`).
 */
const INSCRICAO: SimpleType = {
  ...T.im,
  latin: true,
  also: (value) => (/[0-9A-Za-z]/.test(value) ? undefined : 'não tem letras nem dígitos; deixe vazio quando não há'),
};

/** A municipal registration; empty: there is none. */
export function readInscricao(line: Line): string {
  return layoutText(line, 'inscricao_municipal', INSCRICAO) ?? '';
}

const FLAGS: Readonly<Record<string, boolean>> = {
  sim: true,
  s: true,
  '1': true,
  true: true,
  nao: false,
  não: false,
  n: false,
  '0': false,
  false: false,
};

export function readFlag(line: Line, column: string): boolean {
  const value = line.text(column).toLowerCase();
  const flag = ownOf(FLAGS, value);
  if (flag === undefined) line.refuse(column, value === '' ? 'está vazio' : 'não é sim nem não');
  return flag ?? false;
}

/** The columns that give an address: whole, or not at all. A number may be missing, as in the street. */
export const ADDRESS = ['logradouro', 'bairro', 'cep'] as const;

/** A part of an address; that of an unknown address if the line gives none. */
export function readAddress(line: Line, column: (typeof ADDRESS)[number], type: SimpleType, unknown: string): string {
  if (ADDRESS.every((one) => line.text(one) === '')) return unknown;
  return neededText(line, column, type);
}

export function readNumero(line: Line): string {
  return layoutText(line, 'numero', T.nro) ?? ENDERECO_NAO_INFORMADO.nro;
}

/** A postal code; the zero that a spreadsheet removed from one of São Paulo is given back. */
export function readCep(line: Line): string {
  const bare = withoutPunctuation(line);
  const isShort = /^[1-9]\d{6}$/.test(bare.text('cep'));
  if (isShort) line.mend('zeros');
  const whole: Line = { ...bare, text: (column) => `${column === 'cep' && isShort ? '0' : ''}${bare.text(column)}` };
  return readAddress(whole, 'cep', T.cep, ENDERECO_NAO_INFORMADO.CEP);
}

/** Removes punctuation as in `(11) 3333-4444` and `01001-000`. */
export function withoutPunctuation(line: Line): Line {
  return { ...line, text: (column) => line.text(column).replace(/[\s().+-]/g, '') };
}

/** An item of the list of services, such as `01.01`, required. */
export function readItem(line: Line): string {
  const text = line.text('item');
  const item = readSubitem(text) ?? '';
  if (!servicos().some(({ subitem }) => subitem === item)) {
    line.refuse('item', `${text || 'vazio'} não é da lista de serviços; escreva como 01.01`);
  }
  return item;
}

export function readCodigoMunicipal(line: Line): string {
  const codigo = line.text('codigo_municipal');
  if (codigo.length > 20) line.refuse('codigo_municipal', 'tem mais de 20 posições');
  return codigo;
}

/** The code of a column without punctuation; undefined: the column is empty. */
export function readKnown(line: Line, column: string, isKnown: (code: string) => boolean): string | undefined {
  const code = line.text(column).replace(/[.\s-]/g, '');
  if (code === '') return undefined;
  if (!isKnown(code)) line.refuse(column, `${line.text(column)} não existe`);
  return code;
}

/** A CST, which comes with a classification of its own. */
export function readCst(line: Line): string | undefined {
  const [cst, classificacao] = [
    readKnown(line, 'cst', (code) => /^\d{3}$/.test(code)),
    readKnown(quiet(line), 'cclasstrib', () => true),
  ];
  if ((cst === undefined) !== (classificacao === undefined))
    line.refuse('cst', 'e cclasstrib vêm juntos, ou nenhum deles');
  else if (cst !== undefined && !classificacao!.startsWith(cst))
    line.refuse('cclasstrib', `${classificacao} não é do cst ${cst}`);
  return cst;
}

/**
 * Reads the cells of a register's line: each reader judges the cell and gives its value. The text of a problem follows the name of
 * the column, as in `cep está vazio`.
 */
import { FORMAS_DEDUCAO, TIPOS_BENEFICIO, type TipoBeneficio } from './cadastros.ts';
import { enumeracaoOf, readSubitem, servicoOf, servicos } from './catalogs/catalogs.ts';
import { bareDocumento, whyNoDocumento } from './chave.ts';
import { decimal } from './decimal.ts';
import { ENDERECO_NAO_INFORMADO } from './facts.ts';
import { ALIQUOTA_DA_NOTA_MAX } from './iss.ts';
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
};

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
  return { ...line, refuse: () => undefined };
}

/** A code longer than `cTribMun` serves the municipality alone. */
const CODIGO = /^[0-9A-Za-z][0-9A-Za-z./-]{0,19}$/;

/** The text becomes `xTribMun` of the note, which cuts a text that is too long. */
export const DESCRICAO: SimpleType = { ...T.desc600, max: T.xDescServ.max };

export function readCodigo(line: Line): string {
  const codigo = line.text('codigo');
  if (codigo === '') line.refuse('codigo', 'está vazio');
  else if (!CODIGO.test(codigo))
    line.refuse('codigo', 'tem mais de 20 posições, ou algo além de letras, algarismos, ponto, barra e hífen');
  return codigo;
}

/** One code of the national list, required. */
export function readNacional(line: Line): string {
  const column = 'codigo_tributacao_nacional';
  const codigo = bareCodigo(line.text(column));
  const problem = whyNoService(codigo);
  if (codigo === '') line.refuse(column, 'está vazio');
  else if (problem !== undefined) line.refuse(column, `${codigo} ${problem}`);
  return codigo;
}

/** Removes punctuation. */
function bareCodigo(text: string): string {
  return text.replace(/[\s./-]/g, '');
}

/** The reason why a text is no service code of the national list, as the end of a sentence. */
function whyNoService(codigo: string): string | undefined {
  const servico = servicoOf(codigo);
  if (/^\d{5}$/.test(codigo) && servicoOf(`0${codigo}`)?.emissivel)
    return `tem 5 algarismos; o código é 0${codigo}? Formate a coluna como texto`;
  if (!/^\d{6}$/.test(codigo)) return 'não tem 6 algarismos';
  if (servico === undefined) return 'não existe na lista nacional';
  if (!servico.emissivel && servico.situacao !== 'futuro') return 'é um título da lista nacional, e não um serviço';
  return undefined;
}

export function readCnae(line: Line): string | undefined {
  const cnae = bareCodigo(line.text('cnae_codigo'));
  if (cnae === '') return undefined;
  if (!/^\d{7}$/.test(cnae)) line.refuse('cnae_codigo', 'não tem 7 algarismos');
  return cnae;
}

/** Highest percentage of each column, and its text in a sentence. */
const PERCENT_MAX = { aliquota: [ALIQUOTA_DA_NOTA_MAX, '9,99'], reducao: [decimal('100.00'), '100'] } as const;

/** A percentage with at most two decimals, as `5.00`; undefined: the column is empty. */
export function readPercentual(line: Line, column: keyof typeof PERCENT_MAX): string | undefined {
  const text = line.text(column);
  if (text === '') return undefined;
  const [max, most] = PERCENT_MAX[column];
  const percent = readPercent(text, max);
  if (percent === undefined) line.refuse(column, `não é um percentual de 0 a ${most}, com até duas casas decimais`);
  return percent;
}

/** The number begins with the municipality's own code (DPS 1.01, `BM/nBM`). */
export function readNumeroBeneficio(line: Line, { codigoIbge }: Municipio): string {
  const numero = bareCodigo(line.text('numero'));
  if (numero === '') line.refuse('numero', 'está vazio');
  else if (!/^\d{14}$/.test(numero))
    line.refuse('numero', 'não tem 14 algarismos; é o nBM, com o código IBGE no começo');
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
  return readSeveral(line, 'servicos', bareCodigo, whyNoService);
}

export function readDocumentos(line: Line): readonly string[] {
  return readSeveral(line, 'documentos', bareDocumento, whyNoDocumento, () => 'um deles');
}

/** The known forms of a deduction, as a text. */
export const FORMAS = Object.keys(FORMAS_DEDUCAO).join(', ');

export function readFormas(line: Line): readonly string[] {
  const formas = readSeveral(
    line,
    'formas',
    (text) => text.toLowerCase(),
    (forma) => (Object.hasOwn(FORMAS_DEDUCAO, forma) ? undefined : `não existe; use ${FORMAS}`),
  );
  if (line.text('formas') === '') line.refuse('formas', `está vazio; use ${FORMAS}`);
  return formas;
}

/** The values of a cell, separated by spaces or semicolons; sorted, each once. `called`: text for a wrong value in a sentence. */
function readSeveral(
  line: Line,
  column: string,
  bare: (text: string) => string,
  why: (value: string) => string | undefined,
  called = (value: string) => value,
): readonly string[] {
  const values = line
    .text(column)
    .split(/[\s;,|]+/)
    .filter(Boolean)
    .map(bare);
  const wrong = values.find((value) => why(value) !== undefined);
  if (wrong !== undefined) line.refuse(column, `${called(wrong)} ${why(wrong)}`);
  return [...new Set(values)].toSorted();
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

/** Empty means every provider. */
export function readDocumento(line: Line): string {
  const documento = bareDocumento(line.text('documento'));
  const problem = documento === '' ? undefined : whyNoDocumento(documento);
  if (problem !== undefined) line.refuse('documento', problem);
  return documento;
}

/** The document of a provider, required. Messages do not repeat it: the line shows its place, and it may be a person's. */
export function readDocumentoNecessario(line: Line): string {
  const documento = bareDocumento(line.text('documento'));
  const problem = whyNoDocumentoOfSheet(documento);
  if (problem !== undefined) line.refuse('documento', problem);
  return documento;
}

function whyNoDocumentoOfSheet(documento: string): string | undefined {
  if (documento === '') return 'está vazio';
  if (/E\+?\d+$/.test(documento) && documento.includes(','))
    return 'está em notação científica; formate a coluna como texto';
  const { length } = documento;
  return length === 10 || length === 12 || length === 13
    ? `tem ${length} posições; se a planilha tirou os zeros à esquerda, formate a coluna como texto`
    : whyNoDocumento(documento);
}

/**
 * National rules allow any text. The municipality's own must be text that others can read and write, and have a comparable part
 * (`inscricao_comparavel`).
 */
const INSCRICAO: SimpleType = {
  ...T.im,
  latin: true,
  also: (value) => (/[0-9A-Za-z]/.test(value) ? undefined : 'não tem letras nem algarismos; deixe vazio quando não há'),
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

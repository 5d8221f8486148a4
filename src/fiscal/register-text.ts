/** Reads the cells of a register's line: each reader judges the cell and gives its value. */
import { FORMAS_DEDUCAO, TIPOS_BENEFICIO, type TipoBeneficio } from './cadastros.ts';
import { enumeracaoOf, servicoOf } from './catalogs/catalogs.ts';
import { bareDocumento, whyNoDocumento } from './chave.ts';
import { decimal } from './decimal.ts';
import { ALIQUOTA_DA_NOTA_MAX } from './iss.ts';
import { checkText } from './layout/check-text.ts';
import { type SimpleType, T } from './layout/simple-types.ts';
import { isDay } from './moment.ts';
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
function dateOf(line: Line, column: string): string | undefined {
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

/** Both days of a period; an end needs a beginning that is not later. */
export function periodOf(line: Line, inicioColumn: string, fimColumn: string) {
  const [inicio, fim] = [dateOf(line, inicioColumn), dateOf(line, fimColumn)];
  if (fim !== undefined && line.text(inicioColumn) === '') line.refuse(fimColumn, `veio sem ${inicioColumn}`);
  if (inicio !== undefined && fim !== undefined && fim < inicio) line.refuse(fimColumn, `é anterior a ${inicioColumn}`);
  return { inicio, fim };
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

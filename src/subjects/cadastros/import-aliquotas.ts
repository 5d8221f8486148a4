/**
 * The file of rates of the IBS and the CBS: the values of each column, and the table for display. The rates are national law, the same for
 * all municipalities of the service.
 */

import path from 'node:path';
import type { Via } from '../../base/book/atos.ts';
import { avisosDeAliquotas } from '../../base/world/avisos-aliquotas.ts';
import { writeTabela } from '../../base/world/escrever-tabela.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import type { Aliquota } from '../../fiscal/aliquotas-ibs-cbs.ts';
import {
  classificacaoOf,
  LINHAS_IBS_CBS,
  type LinhaIbsCbs,
  municipioOf,
  municipios,
  TRIBUTOS_IBS_CBS,
} from '../../fiscal/catalogs/catalogs.ts';
import { INICIO_IBSCBS } from '../../fiscal/cronograma.ts';
import { formatRate, parseRate } from '../../fiscal/decimal.ts';
import { BRASILIA, brazilianDate, brazilianMoment, momentIn } from '../../fiscal/moment.ts';
import { type Line, readPeriod } from '../../fiscal/register-text.ts';
import type { ContagemInteira } from '../ensaios/ensaios.rows.ts';
import {
  type AliquotaGuardada,
  type ContagemAliquotas,
  type EntradaAliquota,
  entradaOf,
  type ImportacaoDeAliquotas,
} from './aliquotas.rows.ts';
import type { Columns } from './headings.ts';
import { type FileRequest, type ImportOutcome, importTable, openTable, type Stage } from './import-csv.ts';

export const COLUNAS_ALIQUOTA: Columns = {
  required: ['tributo', 'inicio', 'aliquota', 'fonte', 'ato'],
  optional: ['fim', 'uf', 'municipio', 'cclasstrib'],
};

/** The same in the order of a file. */
export const ORDEM_ALIQUOTA: readonly string[] = [...COLUNAS_ALIQUOTA.required, ...COLUNAS_ALIQUOTA.optional];

/** Limit of `fonte` and `ato`, which a screen shows. */
const TEXT_MAX = 255;

/** Merges a file; `quem`: the operator. Throws an Error in Portuguese if the whole file is refused. */
export async function importAliquotas(
  world: RegistryWorld,
  request: FileRequest,
  quem: string,
): Promise<ImportOutcome<ContagemAliquotas>> {
  const em = world.now();
  const by = { em, hoje: momentIn(BRASILIA, em).date, arquivo: path.basename(request.arquivo), quem };
  return readAliquotas<ContagemAliquotas>(request, (work) => world.store.aliquotas.import(by, work));
}

/** Replaces all rates that a user's sandbox has beside the national ones. Throws as {@link importAliquotas} does. */
export async function importAliquotasDeEnsaio(
  { store }: Pick<RegistryWorld, 'store'>,
  tenant: string,
  request: FileRequest,
): Promise<ImportOutcome<ContagemInteira>> {
  const stage: Stage<EntradaAliquota, ContagemInteira> = (work) => store.ensaios.importAliquotas(tenant, work);
  const outcome = await readAliquotas<ContagemInteira>(request, stage);
  // A file with only a header empties the register.
  return outcome.linhas > 0 ? outcome : { ...outcome, counts: await stage((staging) => staging.merge()) };
}

/** The current own rates of a sandbox, as cells of {@link ORDEM_ALIQUOTA}. */
export async function aliquotasDeEnsaioAsRows(
  { store }: Pick<RegistryWorld, 'store'>,
  tenant: string,
): Promise<readonly (readonly string[])[]> {
  const { aliquotasIbsCbs = [] } = (await store.municipios.readFresh(tenant)) ?? {};
  return aliquotasIbsCbs.map(({ cClassTrib: cclasstrib, fim = '', ...one }) => {
    const cells: Readonly<Record<string, string>> = { ...one, fim, cclasstrib };
    return ORDEM_ALIQUOTA.map((column) => cells[column]!);
  });
}

/** The same as a file that could be imported again, a line at a time. */
export async function* exportAliquotasDeEnsaio(
  world: Pick<RegistryWorld, 'store'>,
  tenant: string,
): AsyncGenerator<string> {
  yield* writeTabela(ORDEM_ALIQUOTA, await aliquotasDeEnsaioAsRows(world, tenant));
}

async function readAliquotas<Counts>(
  request: FileRequest,
  stage: Stage<EntradaAliquota, Counts>,
): Promise<ImportOutcome<Counts>> {
  const file = await openTable(request, COLUNAS_ALIQUOTA);
  try {
    const reading = { read: aliquotaOfLine, keyOf: () => undefined };
    return await importTable<EntradaAliquota, Counts>(request, file, reading, stage);
  } finally {
    await file.close();
  }
}

function aliquotaOfLine(line: Line): EntradaAliquota {
  const tributo = tributoOf(line);
  const { inicio = '', fim } = readPeriod(line, 'inicio', 'fim');
  if (line.text('inicio') === '') line.refuse('inicio', 'está vazio');
  else if (inicio !== '' && inicio < INICIO_IBSCBS) {
    line.refuse('inicio', `é anterior a ${brazilianDate(INICIO_IBSCBS)}, a primeira competência do IBS e da CBS`);
  }
  const aliquota: Aliquota = {
    tributo,
    uf: ufOf(line, tributo),
    municipio: placeOf(line, tributo),
    cClassTrib: classOf(line, tributo),
    inicio,
    fim,
    aliquota: rateOf(line, tributo),
    fonte: textOf(line, 'fonte'),
    ato: textOf(line, 'ato'),
  };
  return entradaOf(aliquota, line.linha);
}

function tributoOf(line: Line): LinhaIbsCbs {
  const text = line
    .text('tributo')
    .toUpperCase()
    .replace(/[\s_]+/g, '-');
  const tributo = LINHAS_IBS_CBS.find((one) => one === text);
  if (text === '') line.refuse('tributo', `está vazio: ${TRIBUTO_EM_PALAVRAS}`);
  else if (tributo === undefined)
    line.refuse('tributo', `${line.text('tributo')} não existe: use ${TRIBUTO_EM_PALAVRAS}`);
  return tributo ?? 'CBS';
}

/** Accepted words of the column. */
export const TRIBUTO_EM_PALAVRAS = `${LINHAS_IBS_CBS.slice(0, -1).join(', ')} ou ${LINHAS_IBS_CBS.at(-1)!}`;

function ufOf(line: Line, tributo: LinhaIbsCbs): string {
  const uf = line.text('uf').toUpperCase();
  if (uf === '') return '';
  if (!municipios().some((one) => one.uf === uf))
    line.refuse('uf', `${line.text('uf')} não é a sigla de um estado, como SP`);
  else if (tributo !== 'IBS-UF') line.refuse('uf', `só se usa com IBS-UF; deixe-a vazia em ${tributo}`);
  return uf;
}

function placeOf(line: Line, tributo: LinhaIbsCbs): string {
  const codigo = line.text('municipio');
  if (codigo === '') return '';
  if (municipioOf(codigo) === undefined)
    line.refuse('municipio', `${codigo} não é o código IBGE, de 7 dígitos, de nenhum município`);
  else if (tributo !== 'IBS-MUN') line.refuse('municipio', `só se usa com IBS-MUN; deixe-o vazio em ${tributo}`);
  return codigo;
}

function classOf(line: Line, tributo: LinhaIbsCbs): string {
  const codigo = line.text('cclasstrib');
  if (codigo === '') return '';
  const classificacao = classificacaoOf(codigo);
  if (classificacao === undefined)
    line.refuse('cclasstrib', `${codigo} não existe na tabela de classificação tributária`);
  else if (!classificacao.indNFSe) line.refuse('cclasstrib', `${codigo} existe, mas não se usa em NFS-e`);
  else if (!TRIBUTOS_IBS_CBS.some((one) => one === tributo))
    line.refuse('cclasstrib', `só se usa com ${TRIBUTOS_IBS_CBS.join(', ')}; deixe-o vazio em ${tributo}`);
  return codigo;
}

function rateOf(line: Line, tributo: LinhaIbsCbs): string {
  const text = line.text('aliquota').replace(',', '.');
  const places = `${line.text('aliquota')} não é um percentual`;
  if (text === '') line.refuse('aliquota', 'está vazia: uma alíquota que ainda não foi publicada fica fora do arquivo');
  else if (parseRate(text) === undefined) {
    line.refuse('aliquota', `${places} de 0 a 100 com até quatro casas decimais, sem o sinal %`);
  } else if (isWritten(tributo) && !WRITABLE.test(text)) {
    line.refuse(
      'aliquota',
      `${places} que caiba na nota, onde ${tributo} vai de 0 a 99.99 com até duas casas decimais`,
    );
  } else return text;
  return '0';
}

/** Whether the percentage stands on the note unchanged. The note has rates rounded, and no share of the CBS. */
function isWritten(tributo: LinhaIbsCbs): boolean {
  return tributo === 'REDUTOR-COMPRA-GOV' || tributo.startsWith('CRED-PRES-');
}

/** TSDec2V2, with zeros behind. */
const WRITABLE = /^\d{1,2}(?:\.\d{1,2}0*)?$/;

function textOf(line: Line, column: 'fonte' | 'ato'): string {
  const text = line.text(column);
  if (text === '')
    line.refuse(column, `está vazio: ${column === 'fonte' ? 'onde a alíquota foi lida' : 'a norma que a fixa'}`);
  else if (text.length > TEXT_MAX) line.refuse(column, `tem ${text.length} caracteres; cabem ${TEXT_MAX}`);
  return text;
}

/** A row as an operator reads it. */
export type AliquotaShown = {
  readonly tributo: string;
  /** The place: `todos`, a state, a municipality. */
  readonly lugar: string;
  readonly cClassTrib: string;
  readonly inicio: string;
  readonly fim: string;
  readonly aliquota: string;
  readonly ato: string;
  readonly fonte: string;
  readonly versao: number;
  /** The version that replaced it; null while it is in force. */
  readonly substituida: number | null;
};

export type TabelaShown = {
  /** The version in force; 0: there is none. */
  readonly versao: number;
  readonly linhas: readonly AliquotaShown[];
  readonly substituidas: readonly AliquotaShown[];
  readonly importacoes: readonly (Omit<ImportacaoDeAliquotas, 'em'> & { readonly em: string })[];
  /** Missing rates, in Portuguese. */
  readonly avisos: readonly string[];
};

/** The table in force, the replaced rows, and the imports. */
export async function showAliquotas({ store, now }: RegistryWorld, via: Via = 'comando'): Promise<TabelaShown> {
  const [guardadas, importacoes, avisos] = await Promise.all([
    store.aliquotas.list(),
    store.aliquotas.listImports(),
    avisosDeAliquotas({ store, now }, via),
  ]);
  const shown = guardadas.map(describeAliquota);
  const at = (instant: Date): string => brazilianMoment(momentIn(BRASILIA, instant.getTime()));
  return {
    versao: importacoes.at(-1)?.versao ?? 0,
    linhas: shown.filter(({ substituida }) => substituida === null),
    substituidas: shown.filter(({ substituida }) => substituida !== null),
    importacoes: importacoes.map((one) => ({ ...one, em: at(one.em) })),
    avisos,
  };
}

function describeAliquota(guardada: AliquotaGuardada): AliquotaShown {
  const { tributo, uf, municipio, cClassTrib, inicio, fim, aliquota, ato, fonte, versao, substituida } = guardada;
  return {
    tributo,
    lugar: municipio || uf || 'todos',
    cClassTrib: cClassTrib || 'todas',
    inicio: brazilianDate(inicio),
    fim: fim === undefined ? '' : brazilianDate(fim),
    aliquota: `${formatRate(parseRate(aliquota)!)} %`,
    ato,
    fonte,
    versao,
    substituida,
  };
}

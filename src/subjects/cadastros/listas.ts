/**
 * The dated lists of a municipality as files: the values of their columns, the import from CSV, and the export to CSV.
 * `base/book/listas.ts` stores them.
 */

import type { ContagemLista, Entrada, Linha, ListaNome } from '../../base/book/listas.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { CTRIBMUN } from '../../fiscal/aliquota.ts';
import { FORMAS_DEDUCAO, TIPOS_BENEFICIO, type TipoBeneficio } from '../../fiscal/cadastros.ts';
import { enumeracaoOf, servicoOf } from '../../fiscal/catalogs/catalogs.ts';
import { type Decimal, decimal, parseDecimal } from '../../fiscal/decimal.ts';
import { ALIQUOTA_DA_NOTA_MAX, isUnusualIss } from '../../fiscal/iss.ts';
import { type SimpleType, T } from '../../fiscal/layout/simple-types.ts';
import { WITHOUT_MINIMUM } from '../../fiscal/rules/valores.ts';
import { readPercent } from '../../fiscal/settings-text.ts';
import { type Columns, type Line, neededText, periodOf, type Stage } from './import-csv.ts';
import { bareDocumento, whyNoDocumento } from './import-prestadores.ts';

export type { ListaNome } from '../../base/book/listas.ts';

/** A list by its columns; those of the period are `inicio` and `fim`. */
type ListaCsv = {
  /** The title, as in `Serviços de sao-paulo`. */
  readonly titulo: string;
  readonly colunas: readonly string[];
  /** Optional columns: the stored value stays if the file lacks one, and is empty in a new line. */
  readonly opcionais: readonly string[];
  /** The values of a line, without its number and its period; reports its problems. */
  readonly read: (line: Line, municipio: Municipio) => Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Key columns of a line, besides its beginning. */
  readonly chaves: readonly string[];
  /** The values of the key columns, with a space between; empty if they cannot be read. */
  readonly chave: (line: Line) => string;
  /** Notices for the operator about accepted lines. */
  readonly reparos?: readonly Reparo[];
};

type Reparo = {
  readonly has: (entrada: Entrada) => boolean;
  /** A sentence about so many lines. */
  readonly diz: (quantas: string) => string;
};

const PERIODO = ['inicio', 'fim'];

/** Columns of the file of a list. */
export function colunasDa(nome: ListaNome): readonly string[] {
  return [...LISTAS_CSV[nome].colunas, ...PERIODO];
}

/** The same, split into required and optional columns. No period ends if the file lacks `fim`. */
export function colunasDoArquivo(nome: ListaNome): Columns {
  const { colunas, opcionais } = LISTAS_CSV[nome];
  const required = [...colunas.filter((column) => !opcionais.includes(column)), 'inicio'];
  return { required, optional: [...opcionais, 'fim'] };
}

/** The reader and the storage of lines of a list. `seen`: for each notice, its lines. */
export function prepareLista(
  { store }: RegistryWorld,
  nome: ListaNome,
  municipio: Municipio,
  header: readonly string[],
) {
  const { read, chave, reparos = [] } = LISTAS_CSV[nome];
  const seen = reparos.map((reparo) => ({ ...reparo, linhas: new Set<number>() }));
  const reading = {
    read: (line: Line): Entrada => {
      const said = read(line, municipio);
      const { inicio, fim } = periodOf(line, 'inicio', 'fim');
      if (line.text('inicio') === '') line.refuse('inicio', 'está vazio');
      const entrada: Entrada = { linha: line.linha, ...said, inicio: inicio ?? '', fim };
      for (const { has, linhas } of seen) if (has(entrada)) linhas.add(line.linha);
      return entrada;
    },
    keyOf: (line: Line): string | undefined => chave(line) || undefined,
    forget: (linha: number): void => {
      for (const { linhas } of seen) linhas.delete(linha);
    },
  };
  const stage: Stage<Entrada, ContagemLista> = (work) => store.listas.import(nome, municipio.tenant, header, work);
  return { reading, stage, seen };
}

/** The list as lines of its file. */
export async function listaAsRows(
  world: RegistryWorld,
  nome: ListaNome,
  slug: string,
): Promise<readonly (readonly string[])[]> {
  const { tenant } = await municipioNamed(world, slug);
  const linhas = await world.store.listas.list(nome, tenant);
  return linhas.map((linha) => colunasDa(nome).map((coluna) => cellOf(linha[coluna])));
}

function cellOf(value: Linha[string] | undefined): string {
  return value == null ? '' : typeof value === 'string' ? value : value.join(' ');
}

// The values of the columns of each list.

/** A code longer than `cTribMun` serves the municipality alone. */
const CODIGO = /^[0-9A-Za-z][0-9A-Za-z./-]{0,19}$/;

/** The text becomes `xTribMun` of the note, which cuts a text that is too long. */
const DESCRICAO: SimpleType = { ...T.desc600, max: T.xDescServ.max };

/** A rate that LC 116/2003 does not allow in general. */
const ALIQUOTA_INCOMUM: Reparo = {
  has: ({ aliquota }) => typeof aliquota === 'string' && isUnusualIss(parseDecimal(aliquota) as Decimal),
  diz: (quantas) =>
    `Linhas com alíquota acima de 5 % ou abaixo de 2 %, que a LC 116/2003 (art. 8º e 8º-A) só admite em poucos casos: ${quantas}. Confira-as.`,
};

const FORMAS = Object.keys(FORMAS_DEDUCAO);

export const LISTAS_CSV: Readonly<Record<ListaNome, ListaCsv>> = {
  servicos: {
    titulo: 'Serviços',
    colunas: ['codigo', 'descricao', 'codigo_tributacao_nacional', 'cnae_codigo', 'aliquota'],
    opcionais: ['cnae_codigo', 'aliquota'],
    chaves: ['codigo'],
    read: (line) => ({
      codigo: codigoOf(line),
      descricao: neededText(line, 'descricao', DESCRICAO),
      codigo_tributacao_nacional: nationalOf(line),
      cnae_codigo: cnaeOf(line),
      // The rate of the DPS applies if this one is empty.
      aliquota: percentOf(line, 'aliquota'),
    }),
    chave: (line) => line.text('codigo'),
    reparos: [
      {
        has: ({ codigo }) => !CTRIBMUN.test(String(codigo)),
        diz: (quantas) =>
          `Linhas com código que não cabe em cTribMun (3 algarismos), que valem só pelo código nacional: ${quantas}.`,
      },
      ALIQUOTA_INCOMUM,
    ],
  },
  beneficios: {
    titulo: 'Benefícios',
    colunas: ['numero', 'descricao', 'tipo', 'reducao', 'aliquota', 'servicos', 'documentos'],
    opcionais: ['reducao', 'aliquota', 'servicos', 'documentos'],
    chaves: ['numero'],
    read: (line, municipio) => {
      const tipo = tipoOf(line);
      return {
        numero: numeroOf(line, municipio),
        descricao: neededText(line, 'descricao', T.xDescServ),
        tipo,
        reducao: medidaOf(line, 'reducao', tipo),
        aliquota: medidaOf(line, 'aliquota', tipo),
        servicos: servicosOf(line),
        documentos: severalOf(line, 'documentos', bareDocumento, whyNoDocumento, () => 'um deles'),
      };
    },
    chave: (line) => bareCodigo(line.text('numero')),
    reparos: [
      ALIQUOTA_INCOMUM,
      {
        has: ({ tipo, servicos }) => tipo === 'isencao' && !isEverWithoutMinimum(servicos as readonly string[]),
        diz: (quantas) =>
          `Linhas com isenção de serviços que a LC 116/2003 (art. 8º-A) não deixa isentar, cujas notas são recusadas (E0429): ${quantas}. Confira-as.`,
      },
    ],
  },
  deducoes: {
    titulo: 'Deduções',
    colunas: ['codigo_tributacao_nacional', 'formas'],
    opcionais: [],
    chaves: ['codigo_tributacao_nacional'],
    read: (line) => {
      const formas = severalOf(
        line,
        'formas',
        (text) => text.toLowerCase(),
        (forma) => (Object.hasOwn(FORMAS_DEDUCAO, forma) ? undefined : `não existe; use ${FORMAS.join(', ')}`),
      );
      if (line.text('formas') === '') line.refuse('formas', `está vazio; use ${FORMAS.join(', ')}`);
      return { codigo_tributacao_nacional: nationalOf(line), formas };
    },
    chave: (line) => bareCodigo(line.text('codigo_tributacao_nacional')),
  },
  regimes: {
    titulo: 'Regimes especiais',
    colunas: ['regime', 'documento', 'servicos'],
    opcionais: ['documento', 'servicos'],
    chaves: ['regime', 'documento'],
    read: (line) => ({ regime: regimeOf(line), documento: documentoOf(line), servicos: servicosOf(line) }),
    chave: (line) => keyWithDocumento(line, line.text('regime')),
  },
  nao_incidencias: {
    titulo: 'Não incidências',
    colunas: ['codigo_tributacao_nacional', 'documento'],
    opcionais: ['documento'],
    chaves: ['codigo_tributacao_nacional', 'documento'],
    read: (line) => ({ codigo_tributacao_nacional: nationalOf(line), documento: documentoOf(line) }),
    chave: (line) => keyWithDocumento(line, bareCodigo(line.text('codigo_tributacao_nacional'))),
  },
};

/** A line without its first part has no key. */
function keyWithDocumento(line: Line, first: string): string {
  return first === '' ? '' : `${first} ${bareDocumento(line.text('documento'))}`;
}

function codigoOf(line: Line): string {
  const codigo = line.text('codigo');
  if (codigo === '') line.refuse('codigo', 'está vazio');
  else if (!CODIGO.test(codigo))
    line.refuse('codigo', 'tem mais de 20 posições, ou algo além de letras, algarismos, ponto, barra e hífen');
  return codigo;
}

/** One code of the national list, required. */
function nationalOf(line: Line): string {
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

function cnaeOf(line: Line): string | undefined {
  const cnae = bareCodigo(line.text('cnae_codigo'));
  if (cnae === '') return undefined;
  if (!/^\d{7}$/.test(cnae)) line.refuse('cnae_codigo', 'não tem 7 algarismos');
  return cnae;
}

/** Highest percentage of each column, and its text in a sentence. */
const PERCENT_MAX = { aliquota: [ALIQUOTA_DA_NOTA_MAX, '9,99'], reducao: [decimal('100.00'), '100'] } as const;

/** A percentage with at most two decimals, as `5.00`; undefined: the column is empty. */
function percentOf(line: Line, column: keyof typeof PERCENT_MAX): string | undefined {
  const text = line.text(column);
  if (text === '') return undefined;
  const [max, most] = PERCENT_MAX[column];
  const percent = readPercent(text, max);
  if (percent === undefined) line.refuse(column, `não é um percentual de 0 a ${most}, com até duas casas decimais`);
  return percent;
}

function isEverWithoutMinimum(servicos: readonly string[]): boolean {
  return servicos.length > 0 && servicos.every((codigo) => WITHOUT_MINIMUM.has(codigo));
}

/** The number begins with the municipality's own code (DPS 1.01, `BM/nBM`). */
function numeroOf(line: Line, { codigoIbge }: Municipio): string {
  const numero = bareCodigo(line.text('numero'));
  if (numero === '') line.refuse('numero', 'está vazio');
  else if (!/^\d{14}$/.test(numero))
    line.refuse('numero', 'não tem 14 algarismos; é o nBM, com o código IBGE no começo');
  else if (codigoIbge !== undefined && !numero.startsWith(codigoIbge))
    line.refuse('numero', `${numero} não começa com o código IBGE do município, ${codigoIbge}`);
  return numero;
}

function tipoOf(line: Line): TipoBeneficio | undefined {
  const tipo = line.text('tipo').toLowerCase();
  if (Object.hasOwn(TIPOS_BENEFICIO, tipo)) return tipo as TipoBeneficio;
  const known = Object.keys(TIPOS_BENEFICIO).join(', ');
  line.refuse('tipo', `${tipo === '' ? 'está vazio' : `${tipo} não existe`}; use ${known}`);
  return undefined;
}

/** The one column that a kind of benefit needs, and the others leave empty. */
const MEDIDAS: Readonly<Partial<Record<TipoBeneficio, 'reducao' | 'aliquota'>>> = {
  reducao_percentual: 'reducao',
  aliquota_diferenciada: 'aliquota',
};

function medidaOf(line: Line, column: 'reducao' | 'aliquota', tipo: TipoBeneficio | undefined): string | undefined {
  const value = percentOf(line, column);
  if (tipo === undefined) return value;
  const isNeeded = MEDIDAS[tipo] === column;
  if (isNeeded && line.text(column) === '') line.refuse(column, `está vazio, e o tipo é ${tipo}`);
  if (!isNeeded && line.text(column) !== '') line.refuse(column, `não cabe no tipo ${tipo}; deixe vazio`);
  if (isNeeded && column === 'reducao' && Number(value) === 0) line.refuse('reducao', 'é zero');
  return value;
}

/** National codes; none means all. */
function servicosOf(line: Line): readonly string[] {
  return severalOf(line, 'servicos', bareCodigo, whyNoService);
}

/** The values of a cell, separated by spaces or semicolons; sorted, each once. `called`: text for a wrong value in a sentence. */
function severalOf(
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
function regimeOf(line: Line): string {
  const regime = line.text('regime');
  const known = enumeracaoOf('regEspTrib').filter(({ codigo }) => codigo !== '0');
  if (!known.some(({ codigo }) => codigo === regime)) {
    const codigos = known.map(({ codigo, descricao }) => `${codigo} ${descricao}`).join(', ');
    line.refuse('regime', `${regime === '' ? 'está vazio' : `${regime} não existe`}; use o código: ${codigos}`);
  }
  return regime;
}

/** Empty means every provider. */
function documentoOf(line: Line): string {
  const documento = bareDocumento(line.text('documento'));
  const problem = documento === '' ? undefined : whyNoDocumento(documento);
  if (problem !== undefined) line.refuse('documento', problem);
  return documento;
}

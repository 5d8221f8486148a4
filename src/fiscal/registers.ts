/**
 * The columns of a municipality's registers, one per row: type in the database, label and help of the console, note of the command, reader.
 * File, pages, commands, statements and audited columns are made of these rows.
 */
import { TIPOS_BENEFICIO } from './cadastros.ts';
import { T } from './layout/simple-types.ts';
import {
  DESCRICAO,
  FORMAS,
  type Line,
  neededText,
  readCnae,
  readCodigo,
  readDocumento,
  readDocumentos,
  readFormas,
  readMedida,
  readNacional,
  readNumeroBeneficio,
  readPercentual,
  readRegime,
  readServicos,
  readTipo,
} from './register-text.ts';
import type { Municipio } from './settings.ts';

/** Words of a column in the console. */
export type ColumnWords = {
  readonly label: string;
  readonly help?: string;
  /** The accepted values, with their labels. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
};

type Column = ColumnWords & {
  /** The type in the database; absent: text. */
  readonly sql?: 'numeric' | 'text[]';
  /** The column belongs to the key of a line, and is never null. */
  readonly isKey?: true;
  /** A file may lack the column: the stored value then stays, and a new line has none. */
  readonly isOptional?: true;
  /** The note of the command, for a column whose name is not enough. */
  readonly note?: string;
  /** Its problems stand before those of other columns. */
  readonly isReadFirst?: true;
  /** The value of a cell; the problems of the cell are told to the line. */
  readonly read: (line: Line, municipio: Municipio) => string | readonly string[] | undefined;
};

type Register = {
  /** The title, as in `Serviços de sao-paulo`. */
  readonly titulo: string;
  /** The table of the database. */
  readonly table: string;
  /** Columns in the order of the file, without the period. */
  readonly columns: Readonly<Record<string, Column>>;
};

const SEVERAL = 'Vários: com espaço entre eles. Vazio: todos.';
const DAY = 'AAAA-MM-DD ou DD/MM/AAAA.';

const NACIONAL = {
  label: 'Código nacional do serviço',
  help: 'Seis algarismos, como 01.01.01.',
  read: readNacional,
} as const;
const SERVICOS = {
  sql: 'text[]',
  isOptional: true,
  label: 'Serviços',
  help: `Códigos nacionais. ${SEVERAL}`,
  note: 'códigos nacionais, separados por espaço; vazio: todos',
  read: readServicos,
} as const;
const DOCUMENTO_DO_PRESTADOR = {
  isKey: true,
  isOptional: true,
  label: 'CNPJ ou CPF do prestador',
  help: 'Vazio: qualquer um.',
  note: 'CNPJ ou CPF do prestador; vazio: qualquer um',
  read: readDocumento,
} as const;

/** The dated lists. Each has a period beside its columns ({@link PERIODO}). */
export const LISTAS = {
  servicos: {
    titulo: 'Serviços',
    table: 'servicos_municipais',
    columns: {
      codigo: {
        isKey: true,
        label: 'Código municipal',
        help: 'Com três algarismos, é o cTribMun da DPS.',
        read: readCodigo,
      },
      descricao: {
        label: 'Descrição',
        help: 'Sai na nota.',
        read: (line) => neededText(line, 'descricao', DESCRICAO),
      },
      codigo_tributacao_nacional: NACIONAL,
      cnae_codigo: { isOptional: true, label: 'CNAE', read: readCnae },
      /** The rate of the DPS applies if this one is empty. */
      aliquota: {
        sql: 'numeric',
        isOptional: true,
        label: 'Alíquota (%)',
        help: 'Como 5,00.',
        read: (line) => readPercentual(line, 'aliquota'),
      },
    },
  },
  beneficios: {
    titulo: 'Benefícios',
    table: 'beneficios_municipais',
    columns: {
      numero: {
        isKey: true,
        label: 'Número (nBM)',
        help: 'Quatorze algarismos, que começam com o código IBGE do município.',
        read: readNumeroBeneficio,
      },
      descricao: {
        label: 'Descrição',
        help: 'Sai na nota.',
        read: (line) => neededText(line, 'descricao', T.xDescServ),
      },
      tipo: {
        label: 'Tipo',
        choices: Object.keys(TIPOS_BENEFICIO).map((tipo) => [tipo, tipo.replaceAll('_', ' ')] as const),
        note: Object.keys(TIPOS_BENEFICIO).join(', '),
        isReadFirst: true,
        read: readTipo,
      },
      reducao: {
        sql: 'numeric',
        isOptional: true,
        label: 'Redução da base (%)',
        help: 'Só da redução percentual.',
        note: 'até quanto a base se reduz, em percentual; só de reducao_percentual',
        read: (line) => readMedida(line, 'reducao'),
      },
      aliquota: {
        sql: 'numeric',
        isOptional: true,
        label: 'Alíquota diferenciada (%)',
        help: 'Só da alíquota diferenciada.',
        note: 'em percentual; só de aliquota_diferenciada',
        read: (line) => readMedida(line, 'aliquota'),
      },
      servicos: SERVICOS,
      documentos: {
        sql: 'text[]',
        isOptional: true,
        label: 'CNPJ e CPF de quem pode usar',
        help: SEVERAL,
        note: 'CNPJ e CPF de quem pode usá-lo, separados por espaço; vazio: todos',
        read: readDocumentos,
      },
    },
  },
  deducoes: {
    titulo: 'Deduções',
    table: 'deducoes_admitidas',
    columns: {
      codigo_tributacao_nacional: { isKey: true, ...NACIONAL },
      formas: {
        sql: 'text[]',
        label: 'Formas',
        help: `${FORMAS}; várias com espaço entre elas.`,
        note: `${FORMAS}; várias, separadas por espaço`,
        isReadFirst: true,
        read: readFormas,
      },
    },
  },
  regimes: {
    titulo: 'Regimes especiais',
    table: 'regimes_especiais',
    columns: {
      regime: {
        isKey: true,
        label: 'Regime',
        help: 'O código de regEspTrib.',
        note: 'o código de regEspTrib',
        read: readRegime,
      },
      documento: {
        ...DOCUMENTO_DO_PRESTADOR,
        note: 'CNPJ ou CPF do prestador; vazio: qualquer um, sem verificação',
      },
      servicos: SERVICOS,
    },
  },
  nao_incidencias: {
    titulo: 'Não incidências',
    table: 'nao_incidencias',
    columns: { codigo_tributacao_nacional: { isKey: true, ...NACIONAL }, documento: DOCUMENTO_DO_PRESTADOR },
  },
} as const satisfies Readonly<Record<string, Register>>;

export type ListaNome = keyof typeof LISTAS;
export const LISTA_NOMES = Object.keys(LISTAS) as readonly ListaNome[];

/** The words of the period of a line. */
export const PERIODO: Readonly<Record<'inicio' | 'fim', ColumnWords>> = {
  inicio: { label: 'Vale de', help: DAY },
  fim: { label: 'Vale até', help: `${DAY} Vazio: sem fim.` },
};

/** The columns of a list by their names, in the order of the file, without the period. */
export function listColumnsOf(nome: ListaNome): readonly (readonly [name: string, column: Column])[] {
  return Object.entries(LISTAS[nome].columns);
}

/** The key of a line without its beginning, and the other columns without the period. */
export function splitColumns(nome: ListaNome): { readonly key: readonly string[]; readonly told: readonly string[] } {
  const names = (isKey: boolean): readonly string[] =>
    listColumnsOf(nome).flatMap(([name, column]) => ((column.isKey === true) === isKey ? [name] : []));
  return { key: names(true), told: names(false) };
}

type StoredOf<One> = One extends { readonly sql: 'text[]' }
  ? readonly string[]
  : One extends { readonly isKey: true }
    ? string
    : One extends { readonly isOptional: true }
      ? string | null
      : string;

/** A stored line of a list by its columns, in force from `inicio` to `fim`, both included, `YYYY-MM-DD`. */
export type StoredLine<Nome extends ListaNome> = {
  readonly [Name in keyof (typeof LISTAS)[Nome]['columns']]: StoredOf<(typeof LISTAS)[Nome]['columns'][Name]>;
} & { readonly inicio: string; readonly fim: string | null };

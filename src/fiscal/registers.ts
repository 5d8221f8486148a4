/**
 * The columns of a municipality's registers, one per row: type in the database, label and help of the console, note of the command, reader.
 * File, pages, commands, statements and audited columns are made of these rows.
 */
import { NOMES_DOS_BENEFICIOS, TIPOS_BENEFICIO } from './cadastros.ts';
import { classificacaoOf, indicadorOf, nbsOf, servicoOf } from './catalogs/catalogs.ts';
import { ENDERECO_NAO_INFORMADO } from './facts.ts';
import { groupDecimal } from './group-digits.ts';
import { T } from './layout/simple-types.ts';
import { brazilianDate, isDay } from './moment.ts';
import { ownOf } from './own.ts';
import {
  DESCRICAO,
  FORMAS,
  type Line,
  layoutText,
  neededText,
  readAddress,
  readCep,
  readCnae,
  readCodigo,
  readCodigoMunicipal,
  readCst,
  readDate,
  readDocumento,
  readDocumentoNecessario,
  readDocumentos,
  readEnd,
  readFlag,
  readFormas,
  readInscricao,
  readItem,
  readKnown,
  readMedida,
  readNacional,
  readNumero,
  readNumeroBeneficio,
  readPercentual,
  readRegime,
  readServicos,
  readTipo,
  withoutPunctuation,
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
  readonly sql?: 'numeric' | 'text[]' | 'boolean';
  /** The column of the database, where its name differs from that of the file. */
  readonly stored?: string;
  /** The column is stored in another table of the register. */
  readonly table?: string;
  /** The column belongs to the key of a line, and is never null. */
  readonly isKey?: true;
  /** A file may lack the column: the stored value then stays, and a new line has none. */
  readonly isOptional?: true;
  /** A file has the column, and a line may leave it empty. */
  readonly mayBeEmpty?: true;
  /** The value of a new line when the file lacks the column. */
  readonly absent?: string;
  /** Its names in the headings of towns' files, besides its name and its label. */
  readonly called?: readonly string[];
  /** The option of a command that changes a line by hand; `name`: unless it is called as the column. */
  readonly option?: { readonly takes: string; readonly help: string; readonly name?: string };
  /** The note of the command, for a column whose name is not enough. */
  readonly note?: string;
  /** The field of a line of the correlation. */
  readonly field?: string;
  /** Its problems stand before those of other columns. */
  readonly isReadFirst?: true;
  /** The value of a cell; the problems of the cell are told to the line. */
  readonly read: (line: Line, municipio: Municipio) => string | readonly string[] | boolean | undefined;
};

type Register = {
  /** The title, as in `Serviços de sao-paulo`. */
  readonly titulo: string;
  /** The description for new users. */
  readonly sobre: string;
  /** The table of the database. */
  readonly table: string;
  /** Columns in the order of the file, without the period. */
  readonly columns: Readonly<Record<string, Column>>;
};

const SEVERAL = 'Vários: com espaço entre eles. Vazio: todos.';
const DAY = 'AAAA-MM-DD ou DD/MM/AAAA.';

const NACIONAL = {
  called: ['Código nacional', 'Código de tributação nacional', 'cTribNac', 'Código LC 116'],
  label: 'Código nacional do serviço',
  help: 'Seis dígitos, como 01.01.01.',
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
    sobre: 'A lista municipal de serviços e as suas alíquotas. Com ela, só se emite pelos códigos que estão na lista.',
    table: 'servicos_municipais',
    columns: {
      codigo: {
        called: ['Código do serviço', 'Código', 'cTribMun'],
        isKey: true,
        label: 'Código municipal',
        help: 'Com três dígitos, é o cTribMun da DPS.',
        read: readCodigo,
      },
      descricao: {
        called: ['Descrição do serviço', 'Serviço', 'Atividade'],
        label: 'Descrição',
        help: 'Sai na nota.',
        read: (line) => neededText(line, 'descricao', DESCRICAO),
      },
      codigo_tributacao_nacional: NACIONAL,
      cnae_codigo: { called: ['Código CNAE'], isOptional: true, label: 'CNAE', read: readCnae },
      /** The rate of the DPS applies if this one is empty. */
      aliquota: {
        called: [
          'Alíquota',
          'Alíquota do ISSQN',
          'Alíquota ISSQN',
          'Alíquota do ISS',
          'Alíquota ISS',
          'ISS %',
          '% ISS',
        ],
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
    sobre: 'Benefícios municipais (nBM). Com eles, uma nota só leva um benefício que está aqui.',
    table: 'beneficios_municipais',
    columns: {
      numero: {
        isKey: true,
        label: 'Número (nBM)',
        help: 'Quatorze dígitos, que começam com o código IBGE do município.',
        read: readNumeroBeneficio,
      },
      descricao: {
        label: 'Descrição',
        help: 'Sai na nota.',
        read: (line) => neededText(line, 'descricao', T.xDescServ),
      },
      tipo: {
        label: 'Tipo',
        choices: Object.entries(NOMES_DOS_BENEFICIOS),
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
    sobre: 'Serviços que admitem dedução da base de cálculo. Com eles, os demais não admitem nenhuma.',
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
    sobre: 'Regimes especiais de tributação atribuídos a prestadores. Com eles, uma nota só leva o que está aqui.',
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
    sobre: 'Serviços em que o ISSQN não incide. Com eles, nos demais ele incide.',
    table: 'nao_incidencias',
    columns: { codigo_tributacao_nacional: { isKey: true, ...NACIONAL }, documento: DOCUMENTO_DO_PRESTADOR },
  },
} as const satisfies Readonly<Record<string, Register>>;

export type ListaNome = keyof typeof LISTAS;

/** The words of the period of a line. */
const PERIODO: Readonly<Record<'inicio' | 'fim', Pick<Column, keyof ColumnWords | 'called'>>> = {
  inicio: {
    label: 'Vale de',
    help: DAY,
    called: ['Início', 'Início da vigência', 'Vigência início', 'Vigência', 'Desde', 'De'],
  },
  fim: { label: 'Vale até', help: `${DAY} Vazio: sem fim.`, called: ['Fim', 'Fim da vigência', 'Vigência fim', 'Até'] },
};

/** The establishments that may issue. Their periods in the Simples Nacional are rows of another table. */
export const PRESTADORES = {
  titulo: 'Prestadores',
  sobre: 'Quem pode emitir nota neste município, com inscrição, endereço e períodos do Simples Nacional.',
  table: 'prestadores',
  columns: {
    documento: {
      called: ['CNPJ', 'CPF', 'CNPJ/CPF', 'CPF/CNPJ', 'CPF ou CNPJ', 'CNPJ do prestador', 'CGC', 'Inscrição federal'],
      isKey: true,
      label: 'CNPJ ou CPF',
      help: 'Com ou sem pontos.',
      read: readDocumentoNecessario,
    },
    razao_social: {
      called: [
        'Razão social',
        'Nome',
        'Nome empresarial',
        'Nome ou razão social',
        'Nome/Razão social',
        'Razão social/Nome',
        'Contribuinte',
        'Empresa',
        'Prestador',
      ],
      label: 'Razão social ou nome',
      option: { takes: 'NOME', help: 'como sai na nota' },
      read: (line) => neededText(line, 'razao_social', T.xNome),
    },
    inscricao_municipal: {
      called: ['IM', 'Inscrição', 'Inscr. municipal', 'Insc. municipal', 'Inscrição mobiliária', 'CCM', 'CMC'],
      isKey: true,
      mayBeEmpty: true,
      label: 'Inscrição municipal',
      help: 'Vazia, quando não tem.',
      option: {
        name: 'inscricao',
        takes: 'INSCRIÇÃO',
        help: 'inscrição municipal; sem ela, o estabelecimento sem inscrição',
      },
      read: readInscricao,
    },
    simples_inicio: {
      called: ['Início do Simples', 'Simples desde', 'Optante desde', 'Data da opção pelo Simples'],
      table: 'simples_nacional',
      stored: 'inicio',
      isOptional: true,
      label: 'Simples Nacional de',
      help: DAY,
      read: (line) => readDate(line, 'simples_inicio'),
    },
    simples_fim: {
      called: ['Simples até', 'Fim do Simples', 'Data da exclusão do Simples'],
      table: 'simples_nacional',
      stored: 'fim',
      isOptional: true,
      label: 'até',
      help: 'Vazio: continua.',
      read: (line) => readEnd(line, 'simples_inicio', 'simples_fim'),
    },
    autorizado: {
      sql: 'boolean',
      isOptional: true,
      absent: 'true',
      label: 'Pode emitir',
      choices: [
        ['sim', 'sim'],
        ['nao', 'não'],
      ],
      read: (line) => readFlag(line, 'autorizado'),
    },
    nome_fantasia: {
      called: ['Fantasia'],
      isOptional: true,
      label: 'Nome fantasia',
      option: { takes: 'NOME', help: 'nome fantasia' },
      read: (line) => layoutText(line, 'nome_fantasia', T.xFant),
    },
    logradouro: {
      called: ['Endereço', 'Rua'],
      isOptional: true,
      absent: ENDERECO_NAO_INFORMADO.xLgr,
      label: 'Logradouro',
      help: 'Sem endereço, sai na nota que ele não foi informado.',
      option: { takes: 'TEXTO', help: 'rua, avenida' },
      read: (line) => readAddress(line, 'logradouro', T.xLgr, ENDERECO_NAO_INFORMADO.xLgr),
    },
    numero: {
      called: ['Nº', 'Núm.', 'Número do imóvel'],
      isOptional: true,
      absent: ENDERECO_NAO_INFORMADO.nro,
      label: 'Número',
      option: { takes: 'TEXTO', help: 'número no logradouro' },
      read: readNumero,
    },
    complemento: {
      called: ['Compl.'],
      isOptional: true,
      label: 'Complemento',
      option: { takes: 'TEXTO', help: 'complemento' },
      read: (line) => layoutText(line, 'complemento', T.xCpl),
    },
    bairro: {
      isOptional: true,
      absent: ENDERECO_NAO_INFORMADO.xBairro,
      label: 'Bairro',
      option: { takes: 'TEXTO', help: 'bairro' },
      read: (line) => readAddress(line, 'bairro', T.xBairro, ENDERECO_NAO_INFORMADO.xBairro),
    },
    cep: {
      isOptional: true,
      absent: ENDERECO_NAO_INFORMADO.CEP,
      label: 'CEP',
      option: { takes: 'CEP', help: 'CEP' },
      read: readCep,
    },
    fone: {
      called: ['Fone', 'Tel.', 'Celular', 'Telefone/Fax'],
      isOptional: true,
      label: 'Telefone',
      option: { takes: 'FONE', help: 'telefone' },
      read: (line) => layoutText(withoutPunctuation(line), 'fone', T.fone),
    },
    email: {
      called: ['Email', 'Correio eletrônico'],
      isOptional: true,
      label: 'E-mail',
      option: { takes: 'EMAIL', help: 'endereço eletrônico' },
      read: (line) => layoutText(line, 'email', T.email),
    },
  },
} as const satisfies Register;

/** The codes that a municipality adds to an RPS, whose layout lacks them (D-70): by item of the list, or by its own code. */
export const CORRELACAO = {
  titulo: 'Correlação',
  sobre: 'O que falta a um RPS do serviço SOAP antigo (NBS, IBS e CBS), por item da lista de serviços.',
  table: 'correlacoes_legadas',
  columns: {
    item: { isKey: true, label: 'Item da lista', help: 'Como 01.01.', read: readItem },
    codigo_municipal: {
      isKey: true,
      mayBeEmpty: true,
      label: 'Código municipal',
      help: 'Vazio: todo RPS do item que não tem linha própria.',
      read: readCodigoMunicipal,
    },
    codigo_tributacao_nacional: {
      ...NACIONAL,
      field: 'cTribNac',
      isOptional: true,
      read: (line) => readKnown(line, 'codigo_tributacao_nacional', (code) => servicoOf(code)?.emissivel === true),
    },
    nbs: {
      field: 'cNBS',
      isOptional: true,
      label: 'NBS',
      read: (line) => readKnown(line, 'nbs', (code) => nbsOf(code) !== undefined),
    },
    cst: { field: 'CST', isOptional: true, label: 'CST do IBS e da CBS', read: readCst },
    cclasstrib: {
      field: 'cClassTrib',
      stored: 'c_class_trib',
      isOptional: true,
      label: 'cClassTrib',
      read: (line) => readKnown(line, 'cclasstrib', (code) => classificacaoOf(code) !== undefined),
    },
    cindop: {
      field: 'cIndOp',
      stored: 'c_ind_op',
      isOptional: true,
      label: 'cIndOp',
      read: (line) => readKnown(line, 'cindop', (code) => indicadorOf(code) !== undefined),
    },
    /** The kind is that of an operation that is sent as immune. */
    tipo_imunidade: {
      field: 'tpImunidade',
      stored: 'tp_imunidade',
      isOptional: true,
      label: 'Tipo de imunidade',
      read: (line) => readKnown(line, 'tipo_imunidade', (code) => /^[1-5]$/.test(code)),
    },
    /** The benefit is that of an operation that is sent as exempt. */
    numero_beneficio: {
      field: 'nBM',
      stored: 'n_bm',
      isOptional: true,
      label: 'Número do benefício',
      read: (line) => readKnown(line, 'numero_beneficio', (code) => /^\d{14}$/.test(code)),
    },
  },
} as const satisfies Register;

/** All registers of a municipality, in the order of the console. */
export const REGISTERS = { prestadores: PRESTADORES, ...LISTAS, correlacao: CORRELACAO } as const;

export type RegisterName = keyof typeof REGISTERS;

/** The columns of a register with their names, in the order of the file; a dated list has its period besides. */
export function listRegisterColumns(nome: RegisterName): readonly (readonly [name: string, column: Column])[] {
  return Object.entries(REGISTERS[nome].columns);
}

/** The same names, with the period. */
export function listFileColumns(nome: RegisterName): readonly string[] {
  return [...listRegisterColumns(nome).map(([name]) => name), ...(nome in LISTAS ? Object.keys(PERIODO) : [])];
}

/** The SQL type of each column of a register that is no text. */
export function listTypes(nome: RegisterName): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listRegisterColumns(nome).flatMap(([name, { sql }]) => (sql === undefined ? [] : [[name, sql]])),
  );
}

/** The words of a column of a file or of the table, and whether a line may leave it empty. */
export function describeColumn(nome: RegisterName, column: string): Pick<Column, keyof ColumnWords | 'mayBeEmpty'> {
  const columns: Readonly<Record<string, Column>> = REGISTERS[nome].columns;
  const byStored = Object.values(columns).find(({ stored }) => stored === column);
  return ownOf(columns, column) ?? byStored ?? ownOf(PERIODO, column) ?? { label: column };
}

/** A stored value on a screen: a choice by its label, a day and an amount as they are written in Brazil. */
export function describeStored(nome: RegisterName, column: string, text: string): string {
  const { choices = [] } = describeColumn(nome, column);
  const chosen = choices.find(([value]) => value === text)?.[1];
  if (chosen !== undefined) return chosen;
  if (isDay(text)) return brazilianDate(text);
  return /^\d+\.\d{2}$/.test(text) ? groupDecimal(text) : text;
}

/** The parts of an address that a note takes where the register has none. */
const INVENTED = ['numero', 'bairro', 'cep'];

/** The values of a provider without the parts that stand in a note for an unknown address. */
export function withoutInvented<Row extends object>(row: Row): Row {
  if (ownOf(row as Record<string, unknown>, 'logradouro') !== ENDERECO_NAO_INFORMADO.xLgr) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !INVENTED.includes(name))) as Row;
}

/** The words of each column in the heading of a file. */
export function listHeadings(nome: RegisterName): Readonly<Record<string, readonly string[]>> {
  const columns: readonly (readonly [string, Pick<Column, 'label' | 'called'>])[] = [
    ...listRegisterColumns(nome),
    ...(nome in LISTAS ? Object.entries(PERIODO) : []),
  ];
  return Object.fromEntries(columns.map(([name, { label, called = [] }]) => [name, [label, ...called]]));
}

/** The required and the optional columns of a file. A line of a dated list has no end when the file has no column `fim`. */
export function splitOptional(nome: RegisterName): Readonly<Record<'required' | 'optional', readonly string[]>> {
  const names = (isOptional: boolean): readonly string[] =>
    listRegisterColumns(nome).flatMap(([name, column]) => ((column.isOptional === true) === isOptional ? [name] : []));
  if (!(nome in LISTAS)) return { required: names(false), optional: names(true) };
  return { required: [...names(false), 'inicio'], optional: [...names(true), 'fim'] };
}

/** The columns of the table of a register: the key of a line without its beginning, and the other columns without the period. */
export function splitColumns(nome: RegisterName): Readonly<Record<'key' | 'told', readonly string[]>> {
  const names = (isKey: boolean): readonly string[] =>
    listRegisterColumns(nome).flatMap(([name, { stored = name, table, ...column }]) =>
      table === undefined && (column.isKey === true) === isKey ? [stored] : [],
    );
  return { key: names(true), told: names(false) };
}

type StoredOf<One> = One extends { readonly sql: 'text[]' }
  ? readonly string[]
  : One extends { readonly sql: 'boolean' }
    ? boolean
    : One extends { readonly isKey: true } | { readonly absent: string }
      ? string
      : One extends { readonly isOptional: true }
        ? string | null
        : string;

/** The columns of the table of a register, as the database gives them. */
export type StoredColumns<Nome extends RegisterName> = {
  readonly [Name in keyof (typeof REGISTERS)[Nome]['columns'] as (typeof REGISTERS)[Nome]['columns'][Name] extends {
    readonly table: string;
  }
    ? never
    : Name]: StoredOf<(typeof REGISTERS)[Nome]['columns'][Name]>;
};

/** A stored line of a list by its columns, in force from `inicio` to `fim`, both included, `YYYY-MM-DD`. */
export type StoredLine<Nome extends ListaNome> = StoredColumns<Nome> & {
  readonly inicio: string;
  readonly fim: string | null;
};

type ColumnOfCorrelacao = (typeof CORRELACAO.columns)[keyof typeof CORRELACAO.columns];

/** A line of the correlation by its fields: its additions to an item of the list, or to a code of the municipality's own. */
export type Correlacao = {
  readonly [Field in Extract<ColumnOfCorrelacao, { readonly field: string }>['field']]: string | undefined;
};

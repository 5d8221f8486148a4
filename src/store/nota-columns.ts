/**
 * The columns of `notas` that an issuance fills, one row each: the type of the value that is written, the SQL type, and the type of the
 * value that is read. The types of {@link NotaNova} and {@link NotaRow}, the insert and the reading are made of these rows. What a note
 * comes to later (its state, its due date, its claim) is no row here: the statements that move it name it.
 */
import type { NotaEstado } from '../fiscal/nota.ts';

/** `Written`: what an issuance brings; `Read`: what a reading gives. */
type Column<Written, Read> = {
  readonly sql: 'text' | 'numeric' | 'int' | 'date' | 'timestamptz';
  /** What the database is handed. */
  readonly write: (value: Written) => string | number | null | undefined;
  /** Read as text, where the driver would make something else of it. */
  readonly readsText?: true;
  /** Only the type counts; never set. */
  readonly read?: Read;
};

const asIs = <Value>(value: Value): Value => value;

const TEXT: Column<string, string> = { sql: 'text', write: asIs };
const DECIMAL: Column<string, string> = { sql: 'numeric', write: asIs };
const WHOLE: Column<number, number> = { sql: 'int', write: asIs };
/** `YYYY-MM-DD`. */
const DAY: Column<string, string> = { sql: 'date', write: asIs, readsText: true };
/** Written as milliseconds. */
const MOMENT: Column<number, Date> = { sql: 'timestamptz', write: (instant) => new Date(instant).toISOString() };

/** A column that may stay empty. */
function orNull<Written extends string | number, Read>({
  write,
  ...column
}: Column<Written, Read>): Column<Written | undefined, Read | null> {
  return { ...column, write: (value) => (value === undefined ? null : write(value)) } as Column<
    Written | undefined,
    Read | null
  >;
}

const COLUMNS = {
  chave_acesso: TEXT,
  numero_protocolo: TEXT,
  id_dps: TEXT,
  serie_dps: TEXT,
  numero_dps_nacional: TEXT,
  data_emissao: MOMENT,
  data_competencia: DAY,
  prestador_razao_social: TEXT,
  prestador_inscricao_municipal: orNull(TEXT),
  tomador_cpf_cnpj: orNull(TEXT),
  tomador_razao_social: orNull(TEXT),
  valor_servico: DECIMAL,
  valor_issqn: orNull(DECIMAL),
  valor_base_calculo: orNull(DECIMAL),
  aliquota_issqn: orNull(DECIMAL),
  /** What the local authority is asked to play, in the sandbox (D-60). */
  simular: orNull(TEXT),
  /** Key of the nota that it replaces. */
  substitui: orNull(TEXT),
  /** Version of the table of rates by which it was judged; null of those that came before there were any. */
  tabela_aliquotas: orNull(WHOLE),
} as const;

type Columns = typeof COLUMNS;
type Name = keyof Columns;
type WrittenOf<One> = One extends Column<infer Written, unknown> ? Written : never;
type ReadOf<One> = One extends Column<never, infer Read> ? Read : never;
type Optional = { [Each in Name]: undefined extends WrittenOf<Columns[Each]> ? Each : never }[Name];

/** A nota as it is stored when issued. Amounts as decimal text, moments in milliseconds. */
export type NotaNova = { readonly [Each in Exclude<Name, Optional>]: WrittenOf<Columns[Each]> } & {
  readonly [Each in Optional]?: WrittenOf<Columns[Each]>;
} & {
  readonly recebido: Uint8Array;
  /** Of a JSON body: the value of its signature header. */
  readonly recebido_assinatura?: string | undefined;
  readonly nfse: string;
  /** Why it is held back: no rate is published for what it has. It has a `tabela_aliquotas` then. */
  readonly retencao?: string | undefined;
};

/** A nota as it is read. */
export type NotaRow = { readonly [Each in Name]: ReadOf<Columns[Each]> } & {
  readonly id: string;
  readonly estado: NotaEstado;
  readonly numero_dps: string;
  readonly prestador_cpf_cnpj: string;
  readonly data_autorizacao: Date | null;
  readonly data_cancelamento: Date | null;
  readonly mensagem_retorno: string | null;
  readonly recebido: Buffer;
  readonly nfse: Buffer;
  /** When it wants attention; null at rest. */
  readonly due_at: Date | null;
  /** Who has it; null when nobody does. */
  readonly claims: string | null;
  /** Value of the municipality's signature, and the certificate that made it; null where nothing was signed. */
  readonly assinatura: Buffer | null;
  readonly certificado_der: Buffer | null;
};

const NAMES = Object.keys(COLUMNS) as Name[];
const ROWS = Object.entries<Column<never, unknown>>(COLUMNS);
const LISTED = NAMES.join(', ');
/** Of `notas n`. */
const SELECTED = ROWS.map(([name, { readsText }]) => (readsText ? `n.${name}::text as ${name}` : `n.${name}`)).join(
  ', ',
);
/** Of `x`, which has one row a nota. */
const UNNESTED = NAMES.map((name) => `x.${name}`).join(', ');
/** Parameters before those of the columns, in {@link INSERT_NOTAS}. */
const BEFORE = 5;
const ARRAYS = ROWS.map(([, { sql }], place) => `$${BEFORE + 1 + place}::${sql}[]`).join(', ');

/** The text of a reading of one nota; the condition speaks of `notas n` and of `$2`. */
export function selectNota(condition: string): string {
  return `select n.id, n.estado, n.numero_dps, n.prestador_cpf_cnpj, n.data_autorizacao, n.data_cancelamento,
      n.mensagem_retorno, n.due_at, n.claims, n.assinatura, ${SELECTED}, d.recebido, d.nfse,
      (select c.der from certificados c where c.tenant = $1 and c.impressao = n.certificado) as certificado_der
    from notas n join documentos d on d.tenant = n.tenant and d.nota = n.id
    where n.tenant = $1 and ${condition}`;
}

/** Inserts many notas: tenant, ids, numbers, providers, why each is held back, and then {@link notaValues}. */
export const INSERT_NOTAS = `insert into notas
    (tenant, id, numero_dps, prestador_cpf_cnpj, mensagem_retorno, estado, due_at, ${LISTED})
  select $1, x.id, x.numero, x.prestador, x.retencao, case when x.retencao is null then 'emitida' else 'retida' end,
    case when x.retencao is null then x.data_emissao end, ${UNNESTED}
  from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], ${ARRAYS})
    as x (id, numero, prestador, retencao, ${LISTED})`;

/** The values of notas, column by column. */
export function notaValues(notas: readonly NotaNova[]): readonly unknown[][] {
  return NAMES.map((name) => {
    const { write } = COLUMNS[name] as Column<NotaNova[Name], unknown>;
    return notas.map((nota) => write(nota[name]));
  });
}

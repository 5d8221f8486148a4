/**
 * The columns of `notas` that an issuance fills, one entry each: conversion of the value, SQL type, and type when read. The types, the
 * insert and the query are derived from these entries. State, due date and claim are set by the statements that move a note.
 */
import type { NotaEstado } from '../../fiscal/nota.ts';
import type { ArrayColumn } from '../pg/sql.ts';
import type { Traced } from '../traces/traces.ts';
import { SHOWN, type ShownColumns } from './documentos.ts';
import { joinQueue, QUEUED } from './fila.ts';

/** `Written`: type of an issuance's value; `Read`: type of a value that was read. */
type Column<Written, Read> = {
  readonly sql: 'text' | 'numeric' | 'int' | 'date' | 'timestamptz' | 'uuid';
  /** The value that is sent to the database. */
  readonly write: (value: Written) => string | number | null | undefined;
  /** The column is read as text, because the driver would convert it otherwise. */
  readonly readsText?: true;
  /** Only the type matters; the property is never set. */
  readonly read?: Read;
};

const asIs = <Value>(value: Value): Value => value;

const TEXT: Column<string, string> = { sql: 'text', write: asIs };
const DECIMAL: Column<string, string> = { sql: 'numeric', write: asIs };
const WHOLE: Column<number, number> = { sql: 'int', write: asIs };
const UUID: Column<string, string> = { sql: 'uuid', write: asIs };
/** Form `YYYY-MM-DD`. */
const DAY: Column<string, string> = { sql: 'date', write: asIs, readsText: true };
/** Written as milliseconds. */
const MOMENT: Column<number, Date> = { sql: 'timestamptz', write: (instant) => new Date(instant).toISOString() };

/** A column that may stay empty. */
function orNull<Written, Read>(column: Column<Written, Read>): Column<Written | undefined, Read | null> {
  const write = (value: Written | undefined) => (value === undefined ? null : column.write(value));
  return { ...column, write };
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
  /** The column is also null for notes from before it existed. */
  intermediario_cpf_cnpj: orNull(TEXT),
  valor_servico: DECIMAL,
  valor_issqn: orNull(DECIMAL),
  valor_base_calculo: orNull(DECIMAL),
  aliquota_issqn: orNull(DECIMAL),
  /** Scenario that the local authority is asked to simulate, in the sandbox (D-60). */
  simular: orNull(TEXT),
  /** Code of the national list; null for notes from before the column existed. */
  servico: orNull(TEXT),
  /** Key of the nota that it replaces. */
  substitui: orNull(TEXT),
  /** Version of the table of rates by which the note was judged; null for notes from before the first table. */
  tabela_aliquotas: orNull(WHOLE),
  /** `cStat` of the NFS-e; null for notes from before the column existed. */
  codigo_situacao_nfse: orNull(WHOLE),
  /** Id of the request that brought the note; notes of a lot share one. Null: issued before the column existed. */
  requisicao: orNull(UUID),
  /** The class of the ISSQN, and the regime of the provider (`classe-issqn.ts`). Null: issued before the columns existed. */
  classe_issqn: orNull(TEXT),
  regime: orNull(TEXT),
  /** IBS and CBS that the note informs; the release of a held note fills them. */
  valor_ibs: orNull(DECIMAL),
  valor_cbs: orNull(DECIMAL),
} as const;

type Columns = typeof COLUMNS;
/** Names of the columns that an issuance fills. */
export type NotaColumn = keyof Columns;
type WrittenOf<One> = One extends Column<infer Written, unknown> ? Written : never;
type ReadOf<One> = One extends Column<never, infer Read> ? Read : never;
type Optional = { [Each in NotaColumn]: undefined extends WrittenOf<Columns[Each]> ? Each : never }[NotaColumn];

/** A nota as it is stored when issued. Amounts as decimal text, moments in milliseconds. */
export type NotaNova = { readonly [Each in Exclude<NotaColumn, Optional>]: WrittenOf<Columns[Each]> } & {
  readonly [Each in Optional]?: WrittenOf<Columns[Each]>;
} & {
  readonly recebido: Uint8Array;
  /** Value of the signature header of a JSON body. */
  readonly recebido_assinatura?: string | undefined;
  /** Basis on which its signature was judged, see `fundamentos.ts`. */
  readonly confianca?: number | undefined;
  /** The program that judged it, and the remarks of that program; kept with its first move. */
  readonly julgamento?: string | undefined;
  readonly nfse: string;
  /** Reason for holding the note: no rate is published for its content. Such a note has a `tabela_aliquotas`. */
  readonly retencao?: string | undefined;
};

/** A nota as it is read. */
export type NotaRow = { readonly [Each in NotaColumn]: ReadOf<Columns[Each]> } & {
  readonly id: string;
  /** Month of issuance, as 202611. */
  readonly mes: number;
  readonly estado: NotaEstado;
  readonly numero_dps: string;
  readonly prestador_cpf_cnpj: string;
  readonly data_autorizacao: Date | null;
  readonly data_cancelamento: Date | null;
  readonly mensagem_retorno: string | null;
  /** The received document; null for an authorised note, whose NFS-e is shown instead. */
  readonly recebido: Buffer | null;
  readonly nfse: string;
  /** Moment at which it is due; null at rest. */
  readonly due_at: Date | null;
  /** Token that claims it; null when it is not claimed. */
  readonly claims: string | null;
  /** Value of the municipality's signature, and the certificate that made it; null if nothing was signed. */
  readonly assinatura: Buffer | null;
  readonly certificado_der: Buffer | null;
};

const ROWS = Object.entries(COLUMNS) as [NotaColumn, Column<NotaNova[NotaColumn], unknown>][];
/** Columns that an issuance fills, and their types in the database. */
export const NOTA_TYPES: readonly (readonly [nome: string, sql: string])[] = ROWS.map(([name, { sql }]) => [name, sql]);

/** Values of an issuance in the text form of the database; null is left out. A moment is in microseconds. */
export function textsOf(nota: NotaNova): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, { sql }] of ROWS) {
    const value = nota[name];
    if (value === undefined) continue;
    texts[name] =
      sql === 'numeric'
        ? withCents(String(value))
        : sql === 'timestamptz'
          ? `${value}000`
          : String(value).toWellFormed();
  }
  return texts;
}

/** All amounts and rates of a nota have two places. */
function withCents(decimal: string): string {
  const [whole, places = ''] = decimal.split('.');
  return `${whole}.${places.padEnd(2, '0')}`;
}

/** Columns of `notas n` that an issuance fills. */
export const SELECTED = ROWS.map(([name, { readsText }]) => (readsText ? `n.${name}::text` : `n.${name}`)).join(', ');

/** A nota as its row contains it. */
export type StoredNota = Omit<NotaRow, keyof ShownColumns> & ShownColumns;

/** Query for notas of a month ($2), one for each value ($3) of a column that is unique in it. */
export function selectNotas(column: 'id' | NotaColumn): string {
  return `select n.id, n.mes, n.estado, n.numero_dps, n.prestador_cpf_cnpj, n.data_autorizacao, n.data_cancelamento,
      n.mensagem_retorno, ${QUEUED}, n.assinatura, ${SELECTED}, ${SHOWN},
      (select c.der from certificados c where c.tenant = $1 and c.impressao = n.certificado) as certificado_der
    from unnest($3::text[]) as x (valor)
      join notas n on n.tenant = $1 and n.mes = $2 and n.${column} = x.valor${column === 'id' ? '::bigint' : ''}
      left join documentos d on d.tenant = $1 and d.mes = $2 and d.nota = n.id ${joinQueue('nota', 'n')}
    where x.valor || '' = x.valor`;
}

/** A nota with its numbers. `claims`: the claim that begins when it is stored, if its sending is announced at the same time. */
export type NumberedNota = {
  readonly nota: NotaNova;
  readonly numero: bigint;
  readonly id: bigint;
  readonly mes: number;
  readonly job: Traced & { readonly prestador: string };
  readonly claims: string | undefined;
};

/** The columns that an issuance fills, as an insert takes them. */
export const NOTA_COLUMNS: readonly ArrayColumn<NumberedNota>[] = ROWS.map(([name, { sql, write }]) => [
  `${name} ${sql}`,
  ({ nota }) => write(nota[name]),
]);

/**
 * Searches the notes of a tenant, month after month and page by page, by the narrowest index. A search without an index examines a limited
 * number of notes, and says how far it came.
 */

import { EVENTO_READ, type EventoRow, JOIN_NOTA, QUEUES } from '../../base/book/evento-rows.ts';
import type { Ref } from '../../base/book/fila.ts';
import { mesOf } from '../../base/book/meses.ts';
import { type NotaColumn, type NotaRow, SELECTED } from '../../base/book/nota-columns.ts';
import type { Db } from '../../base/pg/open.ts';
import { listColumns, quoteWords } from '../../base/pg/sql.ts';
import { SEM_CLASSE, type SituacaoIssqn } from '../../fiscal/classe-issqn.ts';
import { add, type Decimal, formatDecimal, parseDecimal, ZERO } from '../../fiscal/decimal.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import type { ParteDaNota } from '../../fiscal/mudanca.ts';
import { NOTA_FINAIS, type NotaEstado } from '../../fiscal/nota.ts';

/** The orders of a list, `novas` first or `antigas`. */
export const ORDENS = ['novas', 'antigas'] as const;

/** Word for notes without a rate. */
export const NENHUMA = 'nenhuma';

/** Criteria that a user may set; an undefined one matches any value. Each has its condition here and its words in `filtros.ts`. */
export type Filtros = {
  readonly prestador?: string | undefined;
  readonly tomador?: string | undefined;
  readonly intermediario?: string | undefined;
  /** Moment of issue, in milliseconds; the end is excluded. */
  readonly de?: number | undefined;
  readonly ate?: number | undefined;
  /** `YYYY-MM-DD`, both inclusive. */
  readonly competencia?: { readonly de: string; readonly ate: string } | undefined;
  readonly estado?: NotaEstado | undefined;
  /** Decimal texts, both inclusive. */
  readonly valor_de?: string | undefined;
  readonly valor_ate?: string | undefined;
  readonly servico?: string | undefined;
  readonly issqn?: SituacaoIssqn | undefined;
  /** A regime, or `sem_classe`. */
  readonly regime?: string | undefined;
  /** A decimal text, or `nenhuma`. */
  readonly aliquota?: string | undefined;
  /** Code of a type of events, one of which is processed. */
  readonly evento?: string | undefined;
  readonly serie?: string | undefined;
  readonly numero?: string | undefined;
  readonly ordem?: (typeof ORDENS)[number] | undefined;
};

/** Criteria of a search. */
export type NotasProcuradas = Filtros & {
  /** The note is one of these. */
  readonly notas?: readonly Ref[] | undefined;
  /** One of these CNPJ and CPF is the provider's, the taker's or the intermediary's. */
  readonly partes?: readonly string[] | undefined;
  /** A second condition of the same kind: one of these is also a party of the note. */
  readonly comParte?: readonly string[] | undefined;
};

/** Columns that a list shows beside those that issuance fills. */
const MOVED = [
  'id',
  'mes',
  'estado',
  'numero_dps',
  'prestador_cpf_cnpj',
  'data_cancelamento',
  'mensagem_retorno',
] as const;

/** A note in a list. */
export type NotaAchada = Pick<NotaRow, (typeof MOVED)[number] | NotaColumn>;

/** A place in the order of a search: the last note that was examined. */
export type Lugar = { readonly mes: number; readonly em: number; readonly id: string };

/**
 * `seguinte`: where the search goes on; undefined: the search is complete. A short page with `seguinte` reached the limit of examined
 * notes.
 */
type Achadas = { readonly notas: readonly NotaAchada[]; readonly seguinte: Lugar | undefined };

/** Notes that a page examines, at most (D-587). */
const LOOKED_MAX = 45_000;

const COLUMNS = `${listColumns('n', MOVED)}, ${SELECTED}`;
/** The parties of a note. */
const PARTES = ['prestador_cpf_cnpj', 'tomador_cpf_cnpj', 'intermediario_cpf_cnpj'] as const;

/** An SQL statement under construction: each value gets its placeholder when it is added. */
class Statement {
  readonly values: unknown[] = [];

  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

type Criterio = Exclude<keyof NotasProcuradas, 'ordem'>;
type Condition<Name extends Criterio> = (value: NonNullable<NotasProcuradas[Name]>, statement: Statement) => string;

const equals =
  (column: string) =>
  (value: string, statement: Statement): string =>
    `n.${column} = ${statement.value(value)}`;
const hasParty = (documentos: readonly string[], statement: Statement): string =>
  `(${PARTES.map((column) => `n.${column} = any(${statement.value(documentos)})`).join(' or ')})`;

/** The notes that stand were neither refused nor cancelled. */
const STANDS = `n.estado not in (${quoteWords(NOTA_FINAIS)})`;

function isOfSituacao(situacao: SituacaoIssqn, statement: Statement): string {
  if (situacao === 'vigente') return STANDS;
  if (situacao === 'cancelada') return "n.estado = 'cancelada'";
  if (situacao === 'retidos') return `n.classe_issqn in ('retido', 'retido_interm') and ${STANDS}`;
  const isOfClass =
    situacao === SEM_CLASSE ? 'n.classe_issqn is null' : `n.classe_issqn = ${statement.value(situacao)}`;
  return `${isOfClass} and ${STANDS}`;
}

/** Every criterion as its condition on a note `n`. */
const CONDITIONS: { readonly [Name in Criterio]: Condition<Name> } = {
  notas: (notas, statement) => `n.id = any(${statement.value(notas.map(({ id }) => id))}::bigint[])`,
  prestador: equals('prestador_cpf_cnpj'),
  tomador: equals('tomador_cpf_cnpj'),
  intermediario: equals('intermediario_cpf_cnpj'),
  partes: hasParty,
  comParte: hasParty,
  de: (moment, statement) => `n.data_emissao >= ${statement.value(new Date(moment))}`,
  ate: (moment, statement) => `n.data_emissao < ${statement.value(new Date(moment))}`,
  competencia: ({ de, ate }, statement) =>
    `n.data_competencia::date between ${statement.value(de)}::date and ${statement.value(ate)}::date`,
  estado: equals('estado'),
  valor_de: (valor, statement) => `n.valor_servico >= ${statement.value(valor)}::numeric`,
  valor_ate: (valor, statement) => `n.valor_servico <= ${statement.value(valor)}::numeric`,
  servico: equals('servico'),
  issqn: isOfSituacao,
  regime: (regime, statement) => (regime === SEM_CLASSE ? 'n.regime is null' : equals('regime')(regime, statement)),
  aliquota: (aliquota, statement) =>
    aliquota === NENHUMA ? 'n.aliquota_issqn is null' : `n.aliquota_issqn = ${statement.value(aliquota)}::numeric`,
  evento: (tipo, statement) =>
    `exists (select from eventos e where e.tenant = $1 and e.nota = n.id and e.estado = 'processado'
      and e.codigo_tipo_evento = ${statement.value(tipo)})`,
  serie: equals('serie_dps'),
  numero: (numero, statement) => `n.numero_dps = ${statement.value(numero)}::bigint`,
};

const CRITERIA = Object.keys(CONDITIONS) as readonly Criterio[];

/** The condition of a criterion; none for one that matches any value. */
function writeCondition<Name extends Criterio>(
  statement: Statement,
  asked: NotasProcuradas,
  name: Name,
): readonly string[] {
  const value: NotasProcuradas[Name] = asked[name];
  return value === undefined ? [] : [CONDITIONS[name](value, statement)];
}

export function buscaStore(pool: Db) {
  return {
    buscar: searchNotas.bind(null, pool),
    contar: countNotas.bind(null, pool),
    buscarEventos: searchEventos.bind(null, pool),
    contarEventos: countEventos.bind(null, pool),
  };
}

async function searchNotas(
  pool: Db,
  tenant: string,
  asked: NotasProcuradas,
  max: number,
  from?: Lugar,
): Promise<Achadas> {
  const found: NotaAchada[] = [];
  let looked = 0;
  let last = from;
  for (const mes of await monthsOf(pool, asked, from)) {
    const after = last?.mes === mes ? last : undefined;
    const wanted = max - found.length;
    const { notas, seen, at } = await searchMonth(pool, tenant, { asked, mes, after }, wanted, LOOKED_MAX - looked);
    found.push(...notas);
    looked += seen;
    last = at ?? last;
    if (found.length === max || at !== undefined) return { notas: found, seguinte: last };
  }
  return { notas: found, seguinte: undefined };
}

/** `valor`, `issqn`: the sums of the notes' services and of their ISSQN, as decimal texts. `isWhole`: there are no others. */
export type NotasContadas = {
  readonly notas: number;
  readonly valor: string;
  readonly issqn: string;
  readonly isWhole: boolean;
};

/** Counts and adds up the notes, up to `max` and up to the limit of examined notes. */
async function countNotas(pool: Db, tenant: string, asked: NotasProcuradas, max: number): Promise<NotasContadas> {
  let [notas, looked] = [0, 0];
  let [valor, issqn]: [Decimal, Decimal] = [ZERO, ZERO];
  const tell = (isWhole: boolean): NotasContadas => ({
    ...{ notas: Math.min(notas, max), valor: formatDecimal(valor), issqn: formatDecimal(issqn), isWhole },
  });
  for (const mes of await monthsOf(pool, asked, undefined)) {
    const statement = new Statement();
    const tenantAt = statement.value(tenant);
    const filters = filtersOf(statement, asked);
    const limit = Math.min(COUNTED_MAX - looked, filters.length === 0 ? max - notas : COUNTED_MAX);
    if (limit <= 0) return tell(false);
    const walked = walkOf(statement, tenantAt, { asked, mes, after: undefined }, limit);
    const which = filters.length === 0 ? 'true' : filters.join(' and ');
    const { rows } = await pool.query<{ notas: number; valor: string | null; issqn: string | null; vistas: number }>(
      `select count(*) filter (where ${which})::int as notas, sum(n.valor_servico) filter (where ${which}) as valor,
        sum(n.valor_issqn) filter (where ${which}) as issqn, count(*)::int as vistas from (${walked}) n`,
      statement.values,
    );
    const [found] = rows as [(typeof rows)[number]];
    notas += found.notas;
    valor = add(valor, parseDecimal(found.valor ?? '0') ?? ZERO);
    issqn = add(issqn, parseDecimal(found.issqn ?? '0') ?? ZERO);
    looked += found.vistas;
    if (notas >= max || found.vistas >= limit) return tell(false);
  }
  return tell(true);
}

/** Notes that a count examines, at most. */
const COUNTED_MAX = 100_000;

/** Criteria of the events of one document's notes. `desde` and `ate` bound the registration, in milliseconds; the end is excluded. */
export type EventosProcurados = {
  readonly documento: string;
  /** Role of the document in the note; undefined: any. */
  readonly papel?: ParteDaNota | undefined;
  readonly tipo?: string | undefined;
  readonly estado?: string | undefined;
  readonly desde?: number | undefined;
  readonly ate?: number | undefined;
  readonly antigasAntes: boolean;
};

/** Events that a page examines, at most. */
const EVENTOS_LOOKED_MAX = 20_000;

/** Events of a tenant in their order, after an `id`. `seguinte`: the `id` to go on after; undefined: the list is complete. */
async function searchEventos(
  pool: Db,
  tenant: string,
  asked: EventosProcurados,
  max: number,
  after?: string,
): Promise<{ readonly eventos: readonly EventoRow[]; readonly seguinte: string | undefined }> {
  const statement = new Statement();
  const walked = walkEventos(statement, tenant, asked, after);
  const walkedValues = statement.values.length;
  const { rows: eventos } = await pool.query<EventoRow>(
    `select ${EVENTO_READ} from (${walked} limit ${EVENTOS_LOOKED_MAX}) e ${JOIN_NOTA} ${QUEUES}
      where ${filtersOfEventos(statement, asked)} order by ${orderOfEventos(asked)} limit ${max}`,
    statement.values,
  );
  if (eventos.length === max) return { eventos, seguinte: eventos.at(-1)!.id };
  const { rows } = await pool.query<{ id: string }>(
    `select w.id from (${walked} offset ${EVENTOS_LOOKED_MAX - 1} limit 1) w`,
    statement.values.slice(0, walkedValues),
  );
  return { eventos, seguinte: rows[0]?.id };
}

/** Counts the events, up to `max` and up to the limit of examined events. `isWhole`: there are no others. */
async function countEventos(
  pool: Db,
  tenant: string,
  asked: EventosProcurados,
  max: number,
): Promise<{ readonly eventos: number; readonly isWhole: boolean }> {
  const statement = new Statement();
  const walked = walkEventos(statement, tenant, asked, undefined);
  const { rows } = await pool.query<{ eventos: number; vistos: number }>(
    `select count(*) filter (where ${filtersOfEventos(statement, asked)})::int as eventos, count(*)::int as vistos
      from (${walked} limit ${COUNTED_MAX}) e ${JOIN_NOTA}`,
    statement.values,
  );
  const [{ eventos, vistos }] = rows as [{ eventos: number; vistos: number }];
  return { eventos: Math.min(eventos, max), isWhole: eventos <= max && vistos < COUNTED_MAX };
}

function orderOfEventos({ antigasAntes }: EventosProcurados): string {
  return `e.id ${antigasAntes ? 'asc' : 'desc'}`;
}

/** The tenant is the first parameter, as the join to the notes expects. */
function walkEventos(
  statement: Statement,
  tenant: string,
  asked: EventosProcurados,
  after: string | undefined,
): string {
  const of = `e.tenant = ${statement.value(tenant)}`;
  const place =
    after === undefined ? '' : ` and e.id ${asked.antigasAntes ? '>' : '<'} ${statement.value(after)}::bigint`;
  return `select e.* from eventos e where ${of}${place} order by ${orderOfEventos(asked)}`;
}

function filtersOfEventos(
  statement: Statement,
  { documento, papel, tipo, estado, desde, ate }: EventosProcurados,
): string {
  const of = statement.value(documento);
  const columns = papel === undefined ? PARTES : [`${papel}_cpf_cnpj`];
  return [
    `(${columns.map((column) => `n.${column} = ${of}`).join(' or ')})`,
    ...(tipo === undefined ? [] : [`e.codigo_tipo_evento = ${statement.value(tipo)}`]),
    ...(estado === undefined ? [] : [`e.estado = ${statement.value(estado)}`]),
    ...(desde === undefined ? [] : [`e.criado_em >= ${statement.value(new Date(desde))}`]),
    ...(ate === undefined ? [] : [`e.criado_em < ${statement.value(new Date(ate))}`]),
  ].join(' and ');
}

/** Months that may have matching notes, in the order of the search. */
async function monthsOf(
  pool: Db,
  { notas, de, ate, ordem }: NotasProcuradas,
  from: Lugar | undefined,
): Promise<readonly number[]> {
  const { rows } = await pool.query<{ mes: number }>('select mes from meses order by mes');
  const meses = rows
    .map(({ mes }) => mes)
    .filter((mes) => notas?.some((nota) => nota.mes === mes) ?? true)
    // The month of a note follows the local time of its place, which may be behind.
    .filter((mes) => (de === undefined || mes >= mesOf(de - DAY_MS)) && (ate === undefined || mes <= mesOf(ate)))
    .filter((mes) => from === undefined || (ordem === 'antigas' ? mes >= from.mes : mes <= from.mes));
  return ordem === 'antigas' ? meses : meses.reverse();
}

type InMonth = { readonly asked: NotasProcuradas; readonly mes: number; readonly after: Lugar | undefined };

/** `at`: the last note of the page, or of the examined ones; undefined: the month has no more. */
async function searchMonth(
  pool: Db,
  tenant: string,
  where: InMonth,
  wanted: number,
  lookedMax: number,
): Promise<{ readonly notas: readonly NotaAchada[]; readonly seen: number; readonly at: Lugar | undefined }> {
  const { asked } = where;
  const statement = new Statement();
  const tenantAt = statement.value(tenant);
  const filters = filtersOf(statement, asked);
  // The index scan itself covers all criteria: no more notes are examined than shown.
  const isExact = filters.length === 0;
  const limit = isExact ? wanted : asked.partes === undefined ? lookedMax : Math.min(lookedMax, OF_PARTES_MAX);
  const walked = walkOf(statement, tenantAt, where, limit);
  const text = `select ${COLUMNS} from (${walked}) n
    ${isExact ? '' : `where ${filters.join(' and ')}`} order by ${orderOf(asked)} limit ${wanted}`;
  const { rows: notas } = await pool.query<NotaAchada>(text, statement.values);
  const last = notas.at(-1);
  if (last !== undefined && notas.length === wanted) return { notas, seen: wanted, at: placeOf(last) };
  if (isExact) return { notas, seen: notas.length, at: undefined };
  const end = new Statement();
  const again = walkOf(end, end.value(tenant), where, limit);
  const { rows } = await pool.query<Pick<NotaAchada, 'mes' | 'id' | 'data_emissao'> & { readonly vistas: number }>(
    `select n.mes, n.id, n.data_emissao, count(*) over ()::int as vistas from (${again}) n order by ${orderOf(asked, true)} limit 1`,
    end.values,
  );
  const [border] = rows;
  const seen = border?.vistas ?? 0;
  return { notas, seen, at: border !== undefined && seen >= limit ? placeOf(border) : undefined };
}

/** Notes examined for each of several parties, at most. */
const OF_PARTES_MAX = 5_000;

function placeOf({ mes, id, data_emissao }: Pick<NotaAchada, 'mes' | 'id' | 'data_emissao'>): Lugar {
  return { mes, em: +data_emissao, id };
}

/** The criteria of a party, the narrowest first. */
const BY_PARTY = ['prestador', 'intermediario', 'tomador', 'partes'] as const;

/** The party whose index the search walks, which is ordered by the moment of issue. */
function findWalkedParty(asked: NotasProcuradas): (typeof BY_PARTY)[number] | undefined {
  return BY_PARTY.find((name) => asked[name] !== undefined);
}

function orderOf(asked: NotasProcuradas, isReversed = false): string {
  const side = (asked.ordem === 'antigas') === isReversed ? 'desc' : 'asc';
  return findWalkedParty(asked) !== undefined ? `n.data_emissao ${side}, n.id ${side}` : `n.id ${side}`;
}

/** Criteria that every walk covers. */
const WALKED = ['notas', 'de', 'ate'] as const;

/** The first notes of a month in the order of the search, after a place. */
function walkOf(statement: Statement, tenant: string, { asked, mes, after }: InMonth, limit: number): string {
  const { partes, estado, ordem } = asked;
  const party = findWalkedParty(asked);
  const beyond = ordem === 'antigas' ? '>' : '<';
  const place =
    after === undefined
      ? []
      : party !== undefined
        ? [
            `(n.data_emissao, n.id) ${beyond} (${statement.value(new Date(after.em))}, ${statement.value(after.id)}::bigint)`,
          ]
        : [`n.id ${beyond} ${statement.value(after.id)}::bigint`];
  const order = `order by ${orderOf(asked)} limit ${limit}`;
  const covered = WALKED.flatMap((name) => writeCondition(statement, asked, name));
  const inMonth = [`n.tenant = ${tenant}`, `n.mes = ${mes}`, ...covered, ...place];
  const walk = (...more: readonly string[]): string =>
    `select ${COLUMNS} from notas n where ${[...inMonth, ...more].join(' and ')}`;
  if (party === 'partes') {
    const each = statement.value(partes);
    const of = (column: string): string => `(${walk(`n.${column} = p.documento`)} ${order})`;
    // A note whose provider is its taker is found once.
    return `select n.* from (select distinct on (q.id) q.* from unnest(${each}::text[]) p (documento)
      cross join lateral (${PARTES.map(of).join(' union all ')}) q order by q.id) n ${order}`;
  }
  if (party !== undefined) return `${walk(...writeCondition(statement, asked, party))} ${order}`;
  if (estado !== undefined && QUEUED_STATES.has(estado)) {
    return `${walk(`n.id in (select f.id from fila f where f.tenant = ${tenant} and f.mes = ${mes} and f.tipo = 'nota'
      union all select r.nota from retidas r where r.tenant = ${tenant} and r.mes = ${mes})`)} ${order}`;
  }
  return `${walk()} ${order}`;
}

/** Few notes are in these states, and all of them are in the queue or are held. */
const QUEUED_STATES: ReadonlySet<NotaEstado> = new Set(['emitida', 'retida', 'transmitida']);

/** Conditions of the criteria that the index scan does not cover. */
function filtersOf(statement: Statement, asked: NotasProcuradas): readonly string[] {
  const covered: readonly (Criterio | undefined)[] = [...WALKED, findWalkedParty(asked)];
  return CRITERIA.filter((name) => !covered.includes(name)).flatMap((name) => writeCondition(statement, asked, name));
}

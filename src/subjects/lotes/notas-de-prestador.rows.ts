/**
 * The notes of a provider for the legacy port: counted by month first, then read in the order of their numbers. A search in documents is
 * limited to as many notes as an answer may have.
 */

import { readSearched, SEARCHED } from '../../base/book/documentos.ts';
import type { Ref } from '../../base/book/fila.ts';
import { mesOf } from '../../base/book/meses.ts';
import type { Db } from '../../base/pg/open.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { type NotaDoPorto, readNotas } from './notas.rows.ts';

/** Parts of the access key, in characters. */
const CODIGO_IBGE_LENGTH = 7;
const NUMERO_LENGTH = 13;
const CHAVE_LENGTH = 50;

/** Criteria of a provider's notes. */
export type NotasAsked = {
  readonly prestador: string;
  /** The first part of the keys, when all its notes were issued in one place; undefined: any place. */
  readonly codigoIbge: string | undefined;
  /** Number of the NFS-e. */
  readonly numero?: string | undefined;
  /** Milliseconds, both inclusive. */
  readonly de?: number | undefined;
  readonly ate?: number | undefined;
  readonly tomador?: string | undefined;
  /** Parties that the NFS-e must all name. */
  readonly partes?: readonly ParteAsked[];
};

/** A party by its group in the DPS. An undefined field matches any value. */
type ParteAsked = {
  readonly grupo: 'toma' | 'interm';
  readonly documento?: string | undefined;
  readonly im?: string | undefined;
};

/** Notes of one month and place, with the numbers of the first and the last. */
type Faixa = {
  readonly mes: number;
  readonly codigo: string;
  readonly notas: number;
  readonly primeiro: string;
  readonly ultimo: string;
};

/** The ranges of candidate notes by first number, and the number of notes, counted up to a limit. */
export type Faixas = { readonly notas: number; readonly faixas: readonly Faixa[] };

export function notasDePrestadorStore(pool: Db) {
  return {
    /**
     * Counts a provider's candidate notes up to `max`, without those that the national environment refused. Parties are not searched yet.
     */
    countNotasOfPrestador: countNotas.bind(null, pool),
    /** IBGE code of the municipality of a provider's last note; undefined: the provider has none. */
    findMunicipioOfPrestador: async (tenant: string, prestador: string): Promise<string | undefined> =>
      (await pool.query<{ codigo: string }>(LAST_PLACE, [tenant, prestador])).rows[0]?.codigo,
    /** The counted notes, in the order of their numbers, after one of them. */
    listNotasOfPrestador: listNotas.bind(null, pool),
  };
}

const LAST_PLACE = `select left(chave_acesso, ${CODIGO_IBGE_LENGTH}) as codigo from notas
  where tenant = $1 and prestador_cpf_cnpj = $2 order by data_emissao desc, id desc limit 1`;

/** Whether the criteria need a search in the documents. */
export function isSearched({ partes = [] }: NotasAsked): boolean {
  return partes.flatMap(patternsOf).length > 0;
}

/** The condition on notes `n`, with values of {@link filtersOf}: null values set no criterion. */
const ASKED = `n.estado <> 'recusada' and ($2::timestamptz is null or n.data_emissao >= $2)
  and ($3::timestamptz is null or n.data_emissao <= $3) and ($4::text is null or n.tomador_cpf_cnpj = $4)`;

function filtersOf(tenant: string, { de, ate, tomador }: NotasAsked): readonly unknown[] {
  return [tenant, momentOf(de), momentOf(ate), tomador ?? null];
}

function momentOf(instant: number | undefined): Date | null {
  return instant === undefined ? null : new Date(instant);
}

function faixasOf(found: string): string {
  return `select mes, codigo, count(*)::int as notas, min(numero_dps) as primeiro, max(numero_dps) as ultimo
    from (select n.mes, left(n.chave_acesso, ${CODIGO_IBGE_LENGTH}) as codigo, n.numero_dps from ${found} limit $5) x
    group by mes, codigo order by primeiro`;
}

/** Ranges by the day of issue, which has an index. */
const FAIXAS = faixasOf(
  `notas n where n.tenant = $1 and n.mes between $6 and $7 and n.prestador_cpf_cnpj = $8 and ${ASKED}`,
);

/** Ranges by the key, in which the place, the provider and the number follow each other: one index lookup for each month and place. */
const FAIXAS_OF_NUMBER = faixasOf(`unnest($6::text[]) as l (codigo) cross join meses m
  join notas n on n.tenant = $1 and n.mes = m.mes and n.chave_acesso between l.codigo || $7 and l.codigo || $8 and ${ASKED}`);

async function countNotas(pool: Db, tenant: string, asked: NotasAsked, max: number): Promise<Faixas> {
  const { prestador, numero, de, ate } = asked;
  const filters = [...filtersOf(tenant, asked), max];
  if (numero !== undefined && numero.length > NUMERO_LENGTH) return { notas: 0, faixas: [] };
  const { rows: faixas } =
    numero === undefined
      ? await pool.query<Faixa>(FAIXAS, [
          ...filters,
          monthBefore(de),
          ate === undefined ? LAST_MES : mesOf(ate),
          prestador,
        ])
      : await pool.query<Faixa>(FAIXAS_OF_NUMBER, [
          ...filters,
          await placesOf(pool, tenant, asked),
          ...keysOf(prestador, numero, numero),
        ]);
  return { notas: faixas.reduce((sum, { notas }) => sum + notas, 0), faixas };
}

const LAST_MES = 999912;

/** The month of a note follows the local time of its place, which may be behind. */
function monthBefore(de: number | undefined): number {
  return de === undefined ? 0 : mesOf(de - DAY_MS);
}

/** The first and the last key of a provider with these numbers, without the place. */
function keysOf(prestador: string, first: string, last: string): readonly [string, string] {
  const begin = `12${prestador}`;
  const rest = CHAVE_LENGTH - CODIGO_IBGE_LENGTH - begin.length - NUMERO_LENGTH;
  return [
    begin + first.padStart(NUMERO_LENGTH, '0') + '0'.repeat(rest),
    begin + last.padStart(NUMERO_LENGTH, '0') + '9'.repeat(rest),
  ];
}

/** Places in which notes of a tenant were issued: identifiers of DPS begin with them, one index lookup for each. */
const PLACES = `with recursive lugares(codigo) as (
    (select substr(i.id_dps, 4, 7) from identidades i where i.tenant = $1 order by i.id_dps limit 1)
    union all
    select (select substr(i.id_dps, 4, 7) from identidades i where i.tenant = $1 and i.id_dps > 'DPS' || l.codigo || '9'
      order by i.id_dps limit 1)
    from lugares l where l.codigo is not null
  )
  select codigo from lugares where codigo is not null`;

async function placesOf(pool: Db, tenant: string, { codigoIbge }: NotasAsked): Promise<readonly string[]> {
  if (codigoIbge !== undefined) return [codigoIbge];
  return (await pool.query<{ codigo: string }>(PLACES, [tenant])).rows.map(({ codigo }) => codigo);
}

/** Notes of a month ($6), by their keys. The range may also contain notes with a date outside the criteria. */
const OF_MES = `n.tenant = $1 and n.mes = $6 and n.chave_acesso between $7 and $8 and ${ASKED}`;

const PAGE = `select n.id, n.mes, n.numero_dps as ordem, false as arquivada from notas n
  where ${OF_MES} order by n.chave_acesso limit $5`;

/** Notes whose documents match all patterns ($9), and notes whose documents are in the archive. */
const PAGE_SEARCHED = `select n.id, n.mes, n.numero_dps as ordem, d.nota is null as arquivada from notas n
    left join documentos d on d.tenant = $1 and d.mes = $6 and d.nota = n.id
  where ${OF_MES} and (d.nota is null or ${SEARCHED} ~ all ($9))
  order by n.chave_acesso limit $5`;

/**
 * Reads the months from the one with the lowest number on, up to a page. Numbers grow with time, but overlap between months after a clock
 * was set.
 */
async function listNotas(
  pool: Db,
  tenant: string,
  asked: NotasAsked,
  { faixas }: Pick<Faixas, 'faixas'>,
  max: number,
  after?: string,
): Promise<readonly NotaDoPorto[]> {
  const from = after === undefined ? 0n : BigInt(after) + 1n;
  const filters = [...filtersOf(tenant, asked), max];
  const patterns = (asked.partes ?? []).flatMap(patternsOf);
  let page: readonly (Ref & { readonly ordem: string })[] = [];
  for (const { mes, codigo, primeiro, ultimo } of faixas) {
    if (page.length === max && BigInt(page.at(-1)!.ordem) < BigInt(primeiro)) break;
    if (BigInt(ultimo) < from) continue;
    const keys = keysOf(asked.prestador, from > BigInt(primeiro) ? String(from) : primeiro, ultimo);
    const values = [...filters, mes, ...keys.map((key) => codigo + key)];
    type Row = Ref & { readonly ordem: string; readonly arquivada: boolean };
    const { rows } = await (patterns.length === 0
      ? pool.query<Row>(PAGE, values)
      : pool.query<Row>(PAGE_SEARCHED, [...values, patterns]));
    const meant = await Promise.all(
      rows.map(async (row) => !row.arquivada || matches(await readSearched({ pool, tenant }, row), patterns)),
    );
    page = [...page, ...rows.filter((_row, place) => meant[place])]
      .sort((one, other) => Number(BigInt(one.ordem) - BigInt(other.ordem)))
      .slice(0, max);
  }
  return readNotas(pool, tenant, page);
}

/** Matches an archived document as the database matches its own. */
function matches(text: string, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => new RegExp(pattern).test(text));
}

/** The patterns of a note that names a party: its document, which is first in its group, and its registration. */
function patternsOf({ grupo, documento, im }: ParteAsked): readonly string[] {
  const text = im?.replace(/[^0-9A-Za-z]/g, '.');
  return [
    ...(documento === undefined ? [] : [`<${grupo}><(CNPJ|CPF)>${documento}<`]),
    ...(text === undefined ? [] : [`<${grupo}>(<[A-Za-z]+>[^<]*</[A-Za-z]+>){0,2}<IM>${text}</IM>`]),
  ];
}

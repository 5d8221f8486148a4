/**
 * The rates of the IBS and the CBS: the table in force, its versions, and the merge of a file. They are national law: no statement here
 * names a tenant. Replaced rows stay with the version that replaced them, so that the rates of every note can be found.
 */

import type { Writing } from '../../base/book/merge-rows.ts';
import { type Block, type Kind, type NovaRecusa, type Staging, stageImport } from '../../base/book/staging.ts';
import { cacheReads } from '../../base/pg/cache-reads.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { planOnce } from '../../base/pg/planned.ts';
import { equateColumns, listColumns, unnestRows } from '../../base/pg/sql.ts';
import {
  type Aliquota,
  aliquotasEmbarcadas,
  type TabelaIbsCbs,
  tabelaIbsCbs,
  withProprias,
} from '../../fiscal/aliquotas-ibs-cbs.ts';
import { parseRate } from '../../fiscal/decimal.ts';
import { brazilianDate } from '../../fiscal/moment.ts';

/** A line of the file. `chave`: tribute, classification and place in one text, for comparing. */
export type EntradaAliquota = Omit<Aliquota, 'cClassTrib'> & {
  readonly linha: number;
  readonly chave: string;
  readonly c_class_trib: string;
};

/** `versao`: the version in force afterwards; the earlier one if nothing changed. */
export type ContagemAliquotas = {
  readonly versao: number;
  readonly novas: number;
  readonly alteradas: number;
  readonly iguais: number;
  /** New and changed rows that concern days in the past. */
  readonly retroativas: number;
};

/** An import that changed something. */
export type ImportacaoDeAliquotas = Omit<ContagemAliquotas, 'iguais'> & {
  readonly em: Date;
  /** Null: the table that the program ships. */
  readonly arquivo: string | null;
  readonly quem: string | null;
};

/** A row with the version that it came with, and the one that replaced it. */
export type AliquotaGuardada = Aliquota & { readonly versao: number; readonly substituida: number | null };

type By = { readonly em: number; readonly hoje: string; readonly arquivo?: string; readonly quem?: string };

type Row = Omit<Aliquota, 'cClassTrib' | 'fim'> & { readonly c_class_trib: string; readonly fim: string | null };

const PLACE = ['tributo', 'c_class_trib', 'uf', 'municipio'];
const KEY = [...PLACE, 'inicio'];
const TOLD = ['fim', 'aliquota', 'fonte', 'ato'];
/** Columns of other types than text. */
const OTHERS: Readonly<Record<string, string>> = { inicio: 'date', fim: 'date', aliquota: 'numeric' };
const TYPES = Object.fromEntries([...KEY, ...TOLD].map((column) => [column, OTHERS[column] ?? 'text']));
const COLUMNS = Object.keys(TYPES)
  .map((column) => `a.${column}::text`)
  .join(', ');

export function aliquotaStore(pool: Db) {
  let known: TabelaIbsCbs | undefined;
  const tabela = cacheReads(async (): Promise<TabelaIbsCbs> => {
    const { rows } = await pool.query<{ versao: number }>(VERSAO([]));
    const { versao } = rows[0]!;
    // A version never changes, so only another one is read.
    if (known?.versao !== versao) known = tabelaIbsCbs(versao, await linhasDa(pool, versao));
    return known;
  });
  const withOwn = new WeakMap<readonly Aliquota[], TabelaIbsCbs>();
  return {
    /** The table in force, cached for a moment. `proprias`: rows that take precedence over the national ones. */
    readTabela: async (proprias?: readonly Aliquota[]): Promise<TabelaIbsCbs> => {
      const nacional = await tabela();
      if (proprias === undefined) return nacional;
      const before = withOwn.get(proprias);
      if (before?.versao === nacional.versao) return before;
      const made = withProprias(nacional, proprias);
      withOwn.set(proprias, made);
      return made;
    },
    /** The rows that were in force in a version. */
    readVersao: (versao: number): Promise<readonly Aliquota[]> => linhasDa(pool, versao),
    /** All rows, in force or replaced, by tribute, classification, place and beginning. */
    list: async (): Promise<readonly AliquotaGuardada[]> => {
      const text = `select ${COLUMNS}, a.versao, a.substituida from aliquotas_ibs_cbs a
        order by ${listColumns('a', KEY)}, a.versao`;
      const { rows } = await pool.query<Row & Pick<AliquotaGuardada, 'versao' | 'substituida'>>(text);
      return rows.map(({ versao, substituida, ...row }) => ({ ...aliquotaOf(row), versao, substituida }));
    },
    /** The oldest first. */
    listImports: async (): Promise<readonly ImportacaoDeAliquotas[]> => {
      const text =
        'select versao, em, arquivo, quem, novas, alteradas, retroativas from tabelas_aliquotas order by versao';
      return (await pool.query<ImportacaoDeAliquotas>(text)).rows;
    },
    /** One merge at a time. `by.hoje`: a period that begins before this day is retroactive. */
    import: <Result>(
      by: By,
      work: (staging: Staging<EntradaAliquota, ContagemAliquotas>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, kindOf(pool, by), work),
  };
}

const VERSAO = planOnce('tabela_aliquotas', 'select coalesce(max(versao), 0) as versao from tabelas_aliquotas');

async function linhasDa(pool: Pick<Db, 'query'>, versao: number): Promise<readonly Aliquota[]> {
  const text = `select ${COLUMNS} from aliquotas_ibs_cbs a
    where a.versao <= $1 and (a.substituida is null or a.substituida > $1)
    order by ${listColumns('a', KEY)}`;
  return (await pool.query<Row>(text, [versao])).rows.map(aliquotaOf);
}

function aliquotaOf({ c_class_trib: cClassTrib, fim, ...row }: Row): Aliquota {
  return { ...row, cClassTrib, fim: fim ?? undefined };
}

/** A row as a line of a file. */
export function entradaOf({ cClassTrib, ...row }: Aliquota, linha: number): EntradaAliquota {
  const chave = [row.tributo, cClassTrib, row.uf, row.municipio].join(' ');
  return { ...row, c_class_trib: cClassTrib, linha, chave };
}

/**
 * Imports the shipped rates whose tribute has no row in the table yet. The first import takes all of them; those of a newer program become
 * a version of their own. One of two processes that start at once does it.
 */
export async function importShipped(pool: Db): Promise<void> {
  if ((await missingLines(pool)).length === 0) return;
  await runTransaction(pool, async (client) => {
    await client.query(LOCK);
    const lines = await missingLines(client);
    if (lines.length === 0) return;
    const { rows } = await client.query<{ versao: number }>(VERSAO([]));
    const versao = rows[0]!.versao + 1;
    const { rowCount } = await client.query(
      `insert into tabelas_aliquotas (versao, em, novas, alteradas, retroativas) values ($1, $2, $3, 0, 0)
       on conflict (versao) do nothing`,
      [versao, new Date(), lines.length],
    );
    if (rowCount === 1) await insertLines(client, versao, lines);
  });
}

async function missingLines(db: Pick<Db, 'query'>): Promise<readonly EntradaAliquota[]> {
  const { rows } = await db.query<Pick<Aliquota, 'tributo'>>('select distinct tributo from aliquotas_ibs_cbs');
  const known = new Set(rows.map(({ tributo }) => tributo));
  return aliquotasEmbarcadas()
    .filter(({ tributo }) => !known.has(tributo))
    .map((one, place) => entradaOf(one, place + 1));
}

/** Allows one merge at a time: the first version exists from the first start on. */
const LOCK = 'select 1 from tabelas_aliquotas where versao = 1 for update';

const LINES = unnestRows<EntradaAliquota>(
  [...KEY, ...TOLD].map((column) => [
    `${column} ${OTHERS[column] ?? 'text'}`,
    (row) => row[column as keyof EntradaAliquota],
  ]),
  2,
);
const INSERT = `insert into aliquotas_ibs_cbs (versao, ${LINES.names.join(', ')}) select $1, x.* from ${LINES.relation}`;
const REPLACE = `update aliquotas_ibs_cbs s set substituida = $1 from ${LINES.relation}
  where ${equateColumns('s', 'x', KEY)} and s.substituida is null`;

async function insertLines(client: PoolClient, versao: number, lines: readonly EntradaAliquota[]): Promise<void> {
  if (lines.length > 0) await client.query(INSERT, [versao, ...LINES.valuesOf(lines)]);
}

function kindOf(pool: Db, by: By): Kind<EntradaAliquota, ContagemAliquotas> {
  return {
    about: ({ chave }) => chave,
    known: ({ inicio }) => inicio,
    said: saidOf,
    misfits: async (rows) => misfitsOf(rows, await linhasEmVigor(pool)),
    lock: (client) => client.query(LOCK),
    merge: (client, blocks, writing) => mergeAliquotas(client, by, blocks, writing),
  };
}

/** The content of a row, in one spelling. */
export function saidOf({ fim, aliquota, fonte, ato }: Pick<Aliquota, 'fim' | 'aliquota' | 'fonte' | 'ato'>): string {
  return JSON.stringify([fim, String(parseRate(aliquota)), fonte, ato]);
}

/** The table in force, by tribute, classification and place. */
async function linhasEmVigor(
  db: Pick<Db, 'query'>,
): Promise<{ readonly versao: number; readonly linhas: ReadonlyMap<string, readonly EntradaAliquota[]> }> {
  const { versao } = (await db.query<{ versao: number }>(VERSAO([]))).rows[0]!;
  const linhas = (await linhasDa(db, versao)).map((one) => entradaOf(one, 0));
  return { versao, linhas: Map.groupBy(linhas, ({ chave }) => chave) };
}

/**
 * Refusals of lines that overlap the table. A line replaces the row that begins on the same day. It must not touch a day of any other row.
 */
function misfitsOf(
  rows: readonly EntradaAliquota[],
  { linhas }: Awaited<ReturnType<typeof linhasEmVigor>>,
): readonly NovaRecusa[] {
  const named = new Set(rows.map(({ chave, inicio }) => `${chave} ${inicio}`));
  return rows.flatMap((row) => {
    const { linha, chave, inicio, fim } = row;
    const touched = (linhas.get(chave) ?? []).find(
      (one) =>
        !named.has(`${chave} ${one.inicio}`) &&
        (fim === undefined || one.inicio <= fim) &&
        (one.fim === undefined || inicio <= one.fim),
    );
    return touched === undefined ? [] : [{ linha, motivo: describeTouched(touched), chave }];
  });
}

function describeTouched({ inicio, fim, aliquota, ato }: EntradaAliquota): string {
  const until = fim === undefined ? 'em diante' : `até ${brazilianDate(fim)}`;
  // The rate as it was published, without the zeros of the column.
  const percent = aliquota.replace(/\.?0+$/, '');
  return `o período se sobrepõe ao que já está na tabela, de ${brazilianDate(inicio)} ${until}, com ${percent} % (${ato}); se ele acaba antes, inclua no arquivo também a linha dele, com inicio ${inicio} e o fim que passa a ter`;
}

/** A file that repeats the table makes no version. */
async function mergeAliquotas(
  client: PoolClient,
  { em, hoje, arquivo, quem }: By,
  blocks: Iterable<Block<EntradaAliquota>>,
  { isRehearsal }: Writing,
): Promise<ContagemAliquotas> {
  const { versao: before, linhas } = await linhasEmVigor(client);
  const lines = [...blocks].flatMap(({ rows }) => [
    ...new Map(rows.toReversed().map((row) => [`${row.chave} ${row.inicio}`, row])).values(),
  ]);
  const storedOf = ({ chave, inicio }: EntradaAliquota): EntradaAliquota | undefined =>
    linhas.get(chave)?.find((one) => one.inicio === inicio);
  const novas = lines.filter((row) => storedOf(row) === undefined);
  const outras = lines.filter((row) => {
    const stored = storedOf(row);
    return stored !== undefined && saidOf(stored) !== saidOf(row);
  });
  const iguais = lines.length - novas.length - outras.length;
  const retroativas = [...novas, ...outras].filter(
    (row) => row.inicio <= hoje && ratesDiffer(row, storedOf(row)),
  ).length;
  const counts = { novas: novas.length, alteradas: outras.length, iguais, retroativas };
  if (isRehearsal || iguais === lines.length) return { versao: before, ...counts };
  const versao = before + 1;
  await client.query(
    `insert into tabelas_aliquotas (versao, em, arquivo, quem, novas, alteradas, retroativas) values ($1, $2, $3, $4, $5, $6, $7)`,
    [versao, new Date(em), arquivo, quem, counts.novas, counts.alteradas, retroativas],
  );
  if (outras.length > 0) await client.query(REPLACE, [versao, ...LINES.valuesOf(outras)]);
  await insertLines(client, versao, [...novas, ...outras]);
  return { versao, ...counts };
}

/** Whether a line changes a rate, or the time for which it holds. */
function ratesDiffer(row: EntradaAliquota, stored: EntradaAliquota | undefined): boolean {
  return stored === undefined || stored.fim !== row.fim || parseRate(stored.aliquota) !== parseRate(row.aliquota);
}

/**
 * The rates of the IBS and the CBS: the table in force, its versions, and how a file is merged into it. They are national law: no statement
 * here names a tenant. Replaced rows stay with the version that replaced them, so that the rates of every note can be told.
 */
import { type Aliquota, aliquotasEmbarcadas, type TabelaIbsCbs, tabelaIbsCbs } from '../fiscal/aliquotas-ibs-cbs.ts';
import { cacheReads } from './cache-reads.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { planOnce } from './planned.ts';
import { equateColumns, listColumns, listTypes } from './sql.ts';
import { type Kind, refuseContradictions, refuseOverlaps, type Staging, stageImport } from './staging.ts';

/** A line of the file. `chave`: tribute, classification and place in one text, for comparing. */
export type EntradaAliquota = Omit<Aliquota, 'cClassTrib'> & {
  readonly linha: number;
  readonly chave: string;
  readonly c_class_trib: string;
};

/** `versao`: the one in force afterwards; the one before where nothing changed. */
export type ContagemAliquotas = {
  readonly versao: number;
  readonly novas: number;
  readonly alteradas: number;
  readonly iguais: number;
  /** Of the new and the changed, those that speak of days that have passed. */
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
/** Columns that are no text. */
const OTHERS: Readonly<Record<string, string>> = { inicio: 'date', fim: 'date', aliquota: 'numeric(7, 4)' };
const TYPES = Object.fromEntries([...KEY, ...TOLD].map((column) => [column, OTHERS[column] ?? 'text']));
const COLUMNS = Object.keys(TYPES)
  .map((column) => `a.${column}::text`)
  .join(', ');

export function aliquotaStore(pool: Db) {
  let known: TabelaIbsCbs | undefined;
  const tabela = cacheReads(async (): Promise<TabelaIbsCbs> => {
    const { rows } = await pool.query<{ versao: number }>(VERSAO([]));
    const { versao } = rows[0]!;
    // What a version is never changes, so only another one is read.
    if (known?.versao !== versao) known = tabelaIbsCbs(versao, await linhasDa(pool, versao));
    return known;
  });
  return {
    /** The table in force, remembered for a moment. */
    readTabela: (): Promise<TabelaIbsCbs> => tabela(),
    /** Every row that ever was, by tribute, classification, place and beginning. */
    list: async (): Promise<readonly AliquotaGuardada[]> => {
      const text = `select ${COLUMNS}, a.versao, a.substituida from aliquotas_ibs_cbs a
        order by ${listColumns('a', KEY)}, a.versao`;
      const { rows } = await pool.query<Row & Pick<AliquotaGuardada, 'versao' | 'substituida'>>(text);
      return rows.map(({ versao, substituida, ...row }) => ({ ...aliquotaOf(row), versao, substituida }));
    },
    /** From the first on. */
    listImports: async (): Promise<readonly ImportacaoDeAliquotas[]> => {
      const text =
        'select versao, em, arquivo, quem, novas, alteradas, retroativas from tabelas_aliquotas order by versao';
      return (await pool.query<ImportacaoDeAliquotas>(text)).rows;
    },
    /** One merge at a time. `by.hoje`: the day before which a period has begun. */
    import: <Result>(
      by: By,
      work: (staging: Staging<EntradaAliquota, ContagemAliquotas>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, SCOPE, kindOf(by), work),
  };
}

/** Of the lock: no slug of a municipality. */
const SCOPE = 'aliquotas/ibs-cbs';

const VERSAO = planOnce('tabela_aliquotas', 'select coalesce(max(versao), 0) as versao from tabelas_aliquotas');

async function linhasDa(pool: Db, versao: number): Promise<readonly Aliquota[]> {
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
 * Imports the table that the program ships where there was no import yet. One statement: of two processes that start at once one does it,
 * behind a pooler too.
 */
export async function importShipped(pool: Db, em: number): Promise<void> {
  const { rows } = await pool.query<{ versao: number }>(VERSAO([]));
  if (rows[0]!.versao > 0) return;
  const lines = aliquotasEmbarcadas().map((one, place) => entradaOf(one, place + 1));
  const hoje = lines.map(({ inicio }) => inicio).toSorted()[0]!;
  const retroativas = lines.filter(({ inicio }) => inicio <= hoje).length;
  const columns = Object.keys(TYPES).join(', ');
  await pool.query(
    `with versao as (
       insert into tabelas_aliquotas (versao, em, novas, alteradas, retroativas) values (1, $1, $2, 0, $3)
       on conflict (versao) do nothing returning versao)
     insert into aliquotas_ibs_cbs (${columns}, versao)
     select ${columns}, v.versao from versao v cross join json_to_recordset($4) as linha (${listTypes(TYPES)})`,
    [new Date(em), lines.length, retroativas, JSON.stringify(lines)],
  );
}

function kindOf(by: By): Kind<ContagemAliquotas> {
  return {
    columns: { linha: 'integer', chave: 'text', ...TYPES },
    create: `
      create temp table entrada (linha integer primary key, chave text not null, like aliquotas_ibs_cbs);
      alter table entrada alter versao drop not null;`,
    checks: [refuseContradictions(['chave', 'inicio'], TOLD, ['chave']), refuseOverlaps(['chave']), OVERLAPS],
    merge: (client) => mergeAliquotas(client, by),
  };
}

const SAME_KEY = equateColumns('s', 'e', KEY);

/** A line of the file takes the place of the row that begins on the same day; of any other row it may not touch a day. */
const OVERLAPS = `insert into recusadas (linha, motivo, chave)
  select distinct on (e.linha) e.linha, format('o período se sobrepõe ao que já está na tabela, de %s %s, com %s %% (%s); '
    || 'se ele acaba antes, inclua no arquivo também a linha dele, com inicio %s e o fim que passa a ter',
    to_char(s.inicio, 'DD/MM/YYYY'), coalesce('até ' || to_char(s.fim, 'DD/MM/YYYY'), 'em diante'),
    trim_scale(s.aliquota), s.ato, s.inicio), e.chave
  from entrada e join aliquotas_ibs_cbs s on ${equateColumns('s', 'e', PLACE)} and s.substituida is null and s.inicio <> e.inicio
    and s.inicio <= coalesce(e.fim, 'infinity') and e.inicio <= coalesce(s.fim, 'infinity')
  where not exists (select 1 from entrada o where o.chave = e.chave and o.inicio = s.inicio)
  order by e.linha, s.inicio`;

/** A file that says what the table says already makes no version. */
async function mergeAliquotas(client: PoolClient, { em, hoje, arquivo, quem }: By): Promise<ContagemAliquotas> {
  const isOther = `(${listColumns('s', TOLD)}) is distinct from (${listColumns('e', TOLD)})`;
  const text = `select count(*)::int as linhas, count(*) filter (where s.inicio is null)::int as novas,
      count(*) filter (where s.inicio is not null and ${isOther})::int as alteradas,
      count(*) filter (where e.inicio <= $1 and (s.fim, s.aliquota) is distinct from (e.fim, e.aliquota))::int as retroativas,
      (select coalesce(max(versao), 0) from tabelas_aliquotas) as versao
    from (select distinct on (chave, inicio) * from entrada order by chave, inicio, linha) e
      left join aliquotas_ibs_cbs s on ${SAME_KEY} and s.substituida is null`;
  type Counted = ContagemAliquotas & { readonly linhas: number };
  const { linhas, ...counted } = (await client.query<Counted>(text, [hoje])).rows[0]!;
  const { novas, alteradas, retroativas } = counted;
  const iguais = linhas - novas - alteradas;
  if (novas + alteradas === 0) return { ...counted, iguais };
  const versao = counted.versao + 1;
  await client.query(
    `insert into tabelas_aliquotas (versao, em, arquivo, quem, novas, alteradas, retroativas) values ($1, $2, $3, $4, $5, $6, $7)`,
    [versao, new Date(em), arquivo, quem, novas, alteradas, retroativas],
  );
  await client.query(
    `update aliquotas_ibs_cbs s set substituida = $1 from entrada e
      where ${SAME_KEY} and s.substituida is null and ${isOther}`,
    [versao],
  );
  await client.query(
    `insert into aliquotas_ibs_cbs (${Object.keys(TYPES).join(', ')}, versao)
      select distinct on (e.chave, e.inicio) ${listColumns('e', Object.keys(TYPES))}, $1::integer
      from entrada e where not exists (select 1 from aliquotas_ibs_cbs s where ${SAME_KEY} and s.substituida is null)
      order by e.chave, e.inicio, e.linha`,
    [versao],
  );
  return { versao, novas, alteradas, iguais, retroativas };
}

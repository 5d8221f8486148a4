/** Reads the sums of months; `contar.rows.ts` counts them. */
import type { Db } from '../../base/pg/open.ts';
import { type Decimal, readDecimal } from '../../fiscal/decimal.ts';

/** Kinds of keys by which notes are summed; each note is once in each, except among takers. */
export const POR = ['dia', 'servico', 'regime', 'aliquota', 'prestador', 'tomador'] as const;
export type Por = (typeof POR)[number];

/** Amounts of a sum: price, base, ISSQN, and informed IBS and CBS. */
export const VALORES = ['servicos', 'base', 'issqn', 'ibs', 'cbs'] as const;
export type Valores = Readonly<Record<(typeof VALORES)[number], Decimal>>;

/** Months as 202611: `mes` of issue, `competencia` of the operation. `chave`: empty, of notes without it. */
export type Soma = Valores & {
  readonly por: Por;
  readonly mes: number;
  readonly competencia: number;
  readonly chave: string;
  /** A class of the ISSQN, `sem_classe` or `cancelada`. */
  readonly classe: string;
  readonly notas: number;
};

/** The column by which a month is meant. */
export const VISOES = ['competencia', 'emissao'] as const;
export type Visao = (typeof VISOES)[number];
const COLUMN: Readonly<Record<Visao, string>> = { competencia: 'competencia', emissao: 'mes' };

/** `primeiro`, `ultimo`: months as 202611, both inclusive. */
type Meses = { readonly visao: Visao; readonly primeiro: number; readonly ultimo: number };

/** The sum of a key and class in one month. */
export type SomaDoMes = Omit<Soma, 'mes' | 'competencia'> & { readonly periodo: number };

const NAMES = ['notas', ...VALORES];
const SUMS = NAMES.map((name) => `sum(r.${name})::text as ${name}`).join(', ');
const OWED = "('apurado', 'retido', 'retido_interm')";

/**
 * The rows of a key `k` in a month ($3). The primary key finds each of them: a month has tens of thousands of keys. It needs the months of
 * the other kind; the sums by regime have them, and are few.
 */
function ofKey(visao: Visao): string {
  const [column, other] = visao === 'emissao' ? ['mes', 'competencia'] : ['competencia', 'mes'];
  return `from receita_somas r where r.tenant = $1 and r.por = $2 and r.${column} = $3 and r.chave = k.chave
    and r.${other} = any (array(select o.${other} from receita_somas o where o.tenant = $1 and o.por = 'regime' and o.${column} = $3))`;
}

/** `contadaAte`: milliseconds; undefined: all that was placed is counted. `porContar`: months whose count was asked for. */
export type Contagem = { readonly contadaAte: number | undefined; readonly porContar: readonly number[] };

export function somaStore(pool: Db) {
  return {
    /** Sums by these keys in some months. */
    list: async (
      tenant: string,
      por: readonly Por[],
      { visao, primeiro, ultimo }: Meses,
    ): Promise<readonly SomaDoMes[]> => {
      const column = COLUMN[visao];
      const text = `select r.por, r.${column} as periodo, r.chave, r.classe, ${SUMS} from receita_somas r
        where r.tenant = $1 and r.por = any ($2::text[]) and r.${column} between $3 and $4
        group by r.por, r.${column}, r.chave, r.classe having sum(r.notas) <> 0`;
      return (await pool.query<Read>(text, [tenant, por, primeiro, ultimo])).rows.map(readSoma);
    },
    /** Sums of the keys with the most ISSQN due here in a month, at most `max` of them. */
    listHighest: async (
      tenant: string,
      por: Por,
      { visao, mes, max }: { readonly visao: Visao; readonly mes: number; readonly max: number },
    ): Promise<readonly SomaDoMes[]> => {
      const text = `with maiores as materialized (
          select r.chave from receita_somas r where r.tenant = $1 and r.por = $2 and r.${COLUMN[visao]} = $3
          group by r.chave having bool_or(r.notas <> 0)
          order by coalesce(sum(r.issqn) filter (where r.classe in ${OWED}), 0) desc, sum(r.servicos) desc, r.chave limit ${max}
        )
        select $2 as por, $3::int as periodo, r.* from maiores k cross join lateral (
          select r.chave, r.classe, ${SUMS} ${ofKey(visao)} group by r.chave, r.classe having sum(r.notas) <> 0
        ) r`;
      return (await pool.query<Read>(text, [tenant, por, mes])).rows.map(readSoma);
    },
    /** Names under which parties stand on a note of a month, by their documents. */
    listNames: async (
      tenant: string,
      por: 'prestador' | 'tomador',
      { visao, mes, chaves }: { readonly visao: Visao; readonly mes: number; readonly chaves: readonly string[] },
    ): Promise<ReadonlyMap<string, string>> => {
      const text = `select x.chave, n.nome from (
          select r.chave, r.mes from unnest($4::text[]) k (chave) cross join lateral (
            select r.chave, max(r.mes) as mes ${ofKey(visao)} group by r.chave
          ) r
        ) x cross join lateral (
          select n.${por}_razao_social as nome from notas n
          where n.tenant = $1 and n.mes = x.mes and n.${por}_cpf_cnpj = x.chave order by n.data_emissao desc limit 1
        ) n where n.nome is not null`;
      const { rows } = await pool.query<{ chave: string; nome: string }>(text, [tenant, por, mes, chaves]);
      return new Map(rows.map(({ chave, nome }) => [chave, nome]));
    },
    readContagem: async (tenant: string): Promise<Contagem> => {
      const text = `select (select min(v.em) from receita_novas v where v.tenant = $1) as em,
        array(select r.mes from receita_meses r where r.tenant = $1 and r.pedida is distinct from r.contada order by r.mes) as meses`;
      const [row] = (await pool.query<{ em: Date | null; meses: number[] }>(text, [tenant])).rows;
      return { contadaAte: row?.em?.getTime(), porContar: row?.meses ?? [] };
    },
  };
}

type Read = Pick<SomaDoMes, 'por' | 'periodo' | 'chave' | 'classe'> &
  Readonly<Record<'notas' | (typeof VALORES)[number], string>>;

function readSoma({ por, periodo, chave, classe, notas, ...row }: Read): SomaDoMes {
  return { por, periodo, chave, classe, notas: Number(notas), ...readValores(row) };
}

/** Amounts from decimal texts. */
export function readValores(row: Readonly<Record<(typeof VALORES)[number], string>>): Valores {
  return Object.fromEntries(VALORES.map((name) => [name, readDecimal(row[name])!])) as Valores;
}

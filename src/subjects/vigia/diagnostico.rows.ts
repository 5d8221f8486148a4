/**
 * The questions of a diagnosis to a database: versions, settings, sizes, counts, ages, codes. Each value is a number, a moment, or a word
 * chosen here. No free text is read, except codes, which must match a pattern.
 *
 * Nothing is written or updated. A question that fails is answered with its code, and the others go on.
 */

import { readTabelas } from '../../base/pg/distributed.ts';
import { namesOfTables, shippedMigrations } from '../../base/pg/migrations.ts';
import type { Db } from '../../base/pg/open.ts';

/** The answer to a question: rows, or the code of its failure. */
type Respondido = readonly Readonly<Record<string, unknown>>[] | { readonly falhou: string };

/** Codes of this service and of the ADN; any other text counts as "outro". */
const codeIn = (column: string, before = ''): string =>
  `coalesce(substring(${column} from '^${before}([A-Z]{1,3}[0-9]{1,5})\\M'), case when ${column} is null then 'nenhum' else 'outro' end)`;

const seconds = (moment: string): string => `round(extract(epoch from now() - ${moment}))::float8`;
/** The current month of the notes, and the one before. */
const RECENT = `mes >= to_char(now() - interval '1 month', 'YYYYMM')::int`;

/** Questions by the name of their answer. Settings of a closed type hold no free text. */
const QUESTIONS = {
  servidor: `select current_setting('server_version_num')::int as versao, pg_is_in_recovery() as replica,
      pg_database_size(current_database())::float8 as bytes, ${seconds('pg_postmaster_start_time()')} as no_ar_ha_s,
      (select count(*)::int from pg_stat_replication) as replicas,
      current_setting('server_encoding') as codificacao, current_setting('default_transaction_read_only') as so_leitura`,
  ajustes: `select name as nome, setting as valor, unit as unidade, source as origem from pg_settings
    where vartype in ('bool', 'integer', 'real', 'enum') and (source <> 'default' or name in ('fsync', 'synchronous_commit',
      'full_page_writes', 'shared_buffers', 'max_connections', 'wal_level', 'autovacuum', 'archive_mode')) order by name`,
  conexoes: `select backend_type as tipo, coalesce(state, '-') as estado, coalesce(wait_event_type, '-') as espera, count(*)::int as quantas,
      max(${seconds('xact_start')}) as transacao_mais_velha_s
    from pg_stat_activity where datname = current_database() or datname is null group by 1, 2, 3 order by 1, 2, 3`,
  tabelas: `select coalesce(p.relname, c.relname) as tabela, count(*)::int as partes,
      sum(pg_table_size(c.oid))::float8 as bytes, sum(pg_indexes_size(c.oid))::float8 as bytes_de_indices,
      sum(s.n_live_tup)::float8 as linhas, sum(s.n_dead_tup)::float8 as linhas_mortas, sum(s.seq_scan)::float8 as varreduras,
      max(s.last_autovacuum) as limpa_em, max(s.last_autoanalyze) as analisada_em
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
      left join pg_stat_user_tables s on s.relid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and coalesce(p.relname, c.relname)::text = any ($1)
    group by 1 order by 3 desc, 1`,
  meses: 'select mes, arquivado_em from meses order by mes',
  fila: `select tipo, count(*)::int as quantas, count(*) filter (where due_at <= now())::int as vencidas, count(claims)::int as reservadas,
      max(tentativas) as tentativas_max, max(${seconds('due_at')}) as mais_velha_s from fila group by tipo order by tipo`,
  notas: `select mes, estado, count(*)::int as quantas, max(${seconds('data_emissao')}) as mais_velha_s
    from notas where ${RECENT} group by mes, estado order by mes, estado`,
  notas_recusadas: `select ${codeIn('mensagem_retorno')} as codigo, count(*)::int as quantas from notas
    where ${RECENT} and estado = 'recusada' group by 1 order by 2 desc, 1`,
  notas_retidas: 'select tabela_aliquotas, count(*)::int as quantas from retidas group by 1 order by 1',
  eventos: `select estado, ${codeIn('codigo_retorno')} as codigo, count(*)::int as quantos, max(${seconds('desde')}) as mais_velho_s
    from eventos where aberto or desde > now() - interval '30 days' group by 1, 2 order by 1, 2`,
  lotes: `select situacao, aberto, count(*)::int as quantos, max(${seconds('recebido_em')}) as mais_velho_s from lotes
    where aberto or recebido_em > now() - interval '30 days' group by 1, 2 order by 1, 2`,
  recusas: `select ${codeIn('codigo')} as codigo, sum(quantas)::float8 as quantas from recusas
    where hora > now() - interval '7 days' group by 1 order by 2 desc, 1`,
  avisos: `select ativo, count(*)::int as enderecos, count(*) filter (where falhas > 0)::int as falhando, max(falhas) as falhas_max,
      max(${seconds('proxima')}) as mais_velho_s from webhooks group by ativo order by ativo`,
  entregas: `select estado, count(*)::int as quantas, max(tentativas) as tentativas_max from entregas group by estado order by estado`,
  exportacoes: `select estado, count(*)::int as quantas, max(tentativas) as tentativas_max from exportacoes group by estado order by estado`,
  municipios: `select m.tenant as municipio, m.ambiente, m.fechado, t.desde as sem_transmitir_desde, c.aberto_em as circuito_aberto_desde,
      (select count(*)::int from prestadores p where p.tenant = m.tenant) as prestadores
    from municipios m left join transmissoes t on t.tenant = m.tenant and t.problema is not null
      left join circuitos c on c.tenant = m.tenant where m.ensaio_ate is null order by m.tenant`,
  ensaios: 'select count(*)::int as quantos from municipios where ensaio_ate is not null',
} as const;

export type Diagnostico = Readonly<
  Record<keyof typeof QUESTIONS | 'migracoes' | 'planos' | 'distribuicao', Respondido>
>;

/** Asks one question after the other, so that a struggling server has little load. */
export async function readDiagnostico(db: Db): Promise<Diagnostico> {
  const shipped = await shippedMigrations();
  const names = await namesOfTables();
  const known = shipped.map(({ nome }) => nome);
  const answers: Record<string, Respondido> = {};
  for (const [pergunta, text] of Object.entries(QUESTIONS)) {
    answers[pergunta] = await answerTo(async () => (await db.query(text, text.includes('$1') ? [names] : [])).rows);
  }
  answers['migracoes'] = await answerTo(() => migracoesOf(db, known));
  answers['planos'] = await answerTo(() => plansOf(db));
  answers['distribuicao'] = await answerTo(async () =>
    (await readTabelas(db))
      .filter(({ nome }) => names.includes(nome))
      .map(({ nome, lugar, falta }) => ({ nome, lugar, falta })),
  );
  return answers as Diagnostico;
}

async function answerTo(ask: () => Promise<readonly Readonly<Record<string, unknown>>[]>): Promise<Respondido> {
  try {
    return await ask();
  } catch (error) {
    return { falhou: codeOf(error) };
  }
}

/** An unknown migration is only counted: its name may be anybody's text. */
async function migracoesOf(db: Db, known: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { rows } = await db.query<{ nome: string; aplicada_em: Date }>(
    'select nome, aplicada_em from migracoes order by nome',
  );
  const applied = new Map(rows.map(({ nome, aplicada_em }) => [nome, aplicada_em]));
  const strange = rows.filter(({ nome }) => !known.includes(nome)).length;
  return [
    ...known.map((nome) => ({ nome, aplicada_em: applied.get(nome) ?? null })),
    ...(strange === 0 ? [] : [{ nome: '(de outra versão)', quantas: strange }]),
  ];
}

const PLAN_SETTINGS = [
  'plan_cache_mode',
  'enable_seqscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'jit',
  'random_page_cost',
  'work_mem',
];

/** The settings as a session of the service has them. */
async function plansOf(db: Db): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const asked = `select name as nome, setting as valor, source as origem from pg_settings where name = any ($1) and vartype <> 'string' order by name`;
  return (await db.query(asked, [PLAN_SETTINGS])).rows;
}

/** The code alone of a failure: its text may quote a row, or an address with a password. */
export function codeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && /^\w{1,40}$/.test(code)) return code;
  return typeof name === 'string' && /^\w{1,40}$/.test(name) ? name : 'erro';
}

/**
 * Finds objects of the catalog that falsify reads or writes. A verification would read other rows than the service does, or the service
 * would write other values than intended. The service itself makes tables and indexes alone.
 */
import { digestOf } from '../../base/book/auditoria-hash.ts';
import { namesOfTables } from '../../base/pg/migrations.ts';
import { type ClientBase, escapeIdentifier } from '../../base/pg/pg.ts';

type Client = Pick<ClientBase, 'query'>;

/** `como`: its effect, and the statement that removes it, in Portuguese; `visto`: digest of its definition. */
export type Estranho = {
  readonly tabela: string;
  readonly chave: readonly string[];
  readonly como: string;
  readonly visto: string;
};

type Relacao = { readonly esquema: string; readonly nome: string; readonly tipo: string };

const CAMINHO = `select pg_catalog.array_remove(pg_catalog.current_schemas(false), 'pg_catalog')::pg_catalog.text[] as caminho`;
const RELACOES = `select n.nspname as esquema, c.relname as nome, c.relkind::text as tipo from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any ($1::text[]) and c.relname = any ($2::text[]) and c.relkind not in ('i', 'I') order by 1, 2`;

/** Tables of the service ($2) in its schema ($1), with all partitions and inheriting tables of any name and place. */
const TABELAS = `select c.oid, c.relname, c.relrowsecurity, c.relkind, c.relnamespace, null::oid as acima from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname = any ($2::text[])
  union select c.oid, c.relname, c.relrowsecurity, c.relkind, c.relnamespace, case when not c.relispartition then i.inhparent end
    from t join pg_inherits i on i.inhparent = t.oid join pg_class c on c.oid = i.inhrelid where c.relkind in ('r', 'p', 'f')`;
/** Objects of an extension are excluded. Citus has triggers of its own, which PostgreSQL's catalog holds. */
const NOT_OF_EXTENSION = (catalog: string, oid: string): string =>
  `not exists (select 1 from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`;
const OBJETOS = `with recursive t as (${TABELAS}), t_com_nome as (
    select t.*, format('%I.%I', n.nspname, t.relname) as nome from t join pg_namespace n on n.oid = t.relnamespace)
  select t.relname as tabela, 'política ' || p.polname as objeto, 'esconde linhas de quem lê' as efeito,
    format('drop policy %I on %s', p.polname, t.nome) as remedio,
    concat_ws(' ', p.polcmd, p.polroles, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) as texto
    from pg_policy p join t_com_nome t on t.oid = p.polrelid
  union all select relname, 'segurança por linha', 'esconde linhas de quem lê', format('alter table %s disable row level security', nome), ''
    from t_com_nome where relrowsecurity
  union all select relname, 'tabela herdeira ' || nome, 'soma as linhas dela às da tabela do serviço', format('alter table %s no inherit %s', nome, acima::regclass), ''
    from t_com_nome where acima is not null
  union all select relname, 'tabela de fora ' || nome, 'está entre os meses da tabela, e traz linhas de outro banco', format('drop foreign table %s', nome), ''
    from t_com_nome where relkind = 'f' and acima is null
  union all select t.relname, 'regra ' || r.rulename, 'muda o que se lê e se grava', format('drop rule %I on %s', r.rulename, t.nome), pg_get_ruledef(r.oid)
    from pg_rewrite r join t_com_nome t on t.oid = r.ev_class
  union all select t.relname, 'gatilho ' || g.tgname, 'muda o que se grava', format('drop trigger %I on %s', g.tgname, t.nome),
    pg_get_triggerdef(g.oid) || g.tgenabled::text || to_jsonb(f)::text
    from pg_trigger g join t_com_nome t on t.oid = g.tgrelid join pg_proc f on f.oid = g.tgfoid
    where not g.tgisinternal or f.pronamespace <> 'pg_catalog'::regnamespace
  union all select 'pg_proc', 'função ' || f.oid::regprocedure, 'tem o nome de uma do PostgreSQL, e pode tomar o lugar dela',
    format('drop function %s', f.oid::regprocedure), to_jsonb(f)::text
    from pg_proc f join pg_namespace n on n.oid = f.pronamespace
    where n.nspname = any ($3::text[]) and ${NOT_OF_EXTENSION('pg_proc', 'f.oid')}
      and exists (select 1 from pg_proc o where o.proname = f.proname and o.pronamespace = 'pg_catalog'::regnamespace)
  union all select 'pg_operator', 'operador ' || o.oid::regoperator, 'toma o lugar de um do PostgreSQL',
    format('drop operator %s', o.oid::regoperator), to_jsonb(o)::text || to_jsonb(f)::text
    from pg_operator o join pg_namespace n on n.oid = o.oprnamespace join pg_proc f on f.oid = o.oprcode
    where n.nspname = any ($3::text[]) and ${NOT_OF_EXTENSION('pg_operator', 'o.oid')}
  order by 1, 2 limit 1000`;

type Objeto = Readonly<Record<'tabela' | 'objeto' | 'efeito' | 'remedio' | 'texto', string>>;

const TIPOS: Readonly<Record<string, string>> = { v: 'visão', m: 'visão materializada', f: 'tabela de fora' };

/**
 * Finds such objects, and makes the rest of the transaction read only the tables of the service. The search path of the session does not
 * matter, and no policy that is created meanwhile can hide a row.
 */
export async function readPlainly(client: Client): Promise<readonly Estranho[]> {
  const { caminho } = (await client.query<{ caminho: readonly string[] }>(CAMINHO)).rows[0]!;
  await client.query('set local search_path = pg_catalog, pg_temp');
  const names = await namesOfTables();
  const { rows: relacoes } = await client.query<Relacao>(RELACOES, [caminho, names]);
  const esquema = caminho.find((one) => relacoes.some(({ nome, ...at }) => nome === 'migracoes' && at.esquema === one));
  if (esquema === undefined) throw new Error('Nada foi conferido: não há no banco as tabelas do serviço.');
  const found = relacoes.flatMap((one): Estranho[] => {
    const isOurs = one.esquema === esquema;
    if (isOurs && ['r', 'p'].includes(one.tipo)) return [];
    const objeto = `${TIPOS[one.tipo] ?? 'tabela'} ${one.esquema}.${one.nome}`;
    const como = isOurs
      ? 'está no lugar da tabela, e mostra o que quer; tire-a, e devolva o nome à tabela, que tem outro'
      : `tem o nome de uma tabela do serviço, e quem lê pode achar uma ou outra; tire o esquema ${one.esquema} do search_path`;
    return [{ tabela: one.nome, chave: [objeto], como, visto: digestOf(one.tipo) }];
  });
  const { rows: objetos } = await client.query<Objeto>(OBJETOS, [esquema, names, caminho]);
  for (const { tabela, objeto, efeito, remedio, texto } of objetos) {
    found.push({ tabela, chave: [objeto], como: `${efeito}; ${remedio}`, visto: digestOf(texto) });
  }
  await client.query(`set local search_path = pg_catalog, ${escapeIdentifier(esquema)}, pg_temp`);
  // A policy that exists is reported, and the rows that it lets through are read. The read would fail without row security.
  const isHidden = objetos.some(({ objeto }) => objeto === 'segurança por linha');
  if (!isHidden) await client.query('set local row_security = off');
  return found;
}

/**
 * Finds code in a recovered copy that would run by itself, before any other query. It uses the single session of `postgres --single`,
 * without login, event triggers or settings of roles. It reads the catalogs alone. The service itself makes tables and indexes (D-804).
 */
import { spawn } from 'node:child_process';
import { namesOfTables } from '../../base/pg/migrations.ts';
import { Client, type ClientConfig } from '../../base/pg/pg.ts';
import { ignoreLoss, ignoring } from '../../base/traces/ignoring.ts';
import type { Programa } from './arquivos.files.ts';
import { CopiaRecusada } from './cifra.files.ts';

/** Objects from this number on belong to the users of the server; those below are PostgreSQL's own. */
const OWN = 16_384;
/** PostgreSQL's own objects below this number are the same in every cluster of a version. */
const DRAWN = 12_000;
/** Functions that are not immutable, but return only a moment, a random value, the next number or a formatted date. */
const HARMLESS = ['now', 'transaction_timestamp', 'statement_timestamp', 'clock_timestamp', 'timeofday', 'random']
  .concat(['nextval', 'currval', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'to_char', 'timezone', 'date', 'timestamptz'])
  .map((name) => `'${name}'`)
  .join(', ');
/** Extensions of PostgreSQL's own programs, which do not come from the copy, and the one that distributes tables over servers. */
const EXTENSIONS = ['plpgsql', 'amcheck', 'pg_stat_statements', 'pg_buffercache', 'pgstattuple', 'pg_prewarm', 'citus']
  .concat(['citus_columnar', 'pg_trgm', 'btree_gin', 'btree_gist', 'unaccent', 'pgcrypto'])
  .map((name) => `'${name}'`)
  .join(', ');

/** SQL: whether an object came with such an extension. Membership can be forged, so it exempts no code of the copy. */
const isOfExtension = (catalog: string, oid: string): string =>
  `exists (select 1 from pg_depend d join pg_extension x on x.oid = d.refobjid and d.refclassid = 'pg_extension'::regclass
    where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e' and x.extname in (${EXTENSIONS}))`;
const isOwn = (catalog: string, oid: string): string => `${oid} >= ${OWN} and not ${isOfExtension(catalog, oid)}`;
/** SQL: whether a function's code is a library of the program, not of the copy. */
const isOfProgram = (p: string): string => `(${p}.prolang = 13 and ${p}.probin ~ '^\\$libdir/[a-z0-9_-]+$')`;
const isOwnFunction = (p: string): string =>
  `${p}.oid >= ${OWN} and not (${isOfProgram(p)} and ${isOfExtension('pg_proc', `${p}.oid`)})`;
/** Views of extensions with which an administrator monitors a server. */
const WATCHING = "'pg_stat_statements', 'pg_stat_statements_info', 'pg_buffercache'";
/** Settings of a role or a database that load something, or change the view of a session; those of time limits are lawful. */
const SETTINGS =
  '^(session_preload_libraries|local_preload_libraries|dynamic_library_path|session_replication_role|row_security|event_triggers|jit_provider)=';

/** SQL: expressions that are evaluated when a row is written or an index is checked, each with its table. */
const EXPRESSIONS = `
  select 'valor padrão, ou coluna gerada,' as tipo, adrelid as tabela, adbin::text as arvore from pg_attrdef
  union all select 'restrição', conrelid, conbin::text from pg_constraint where conbin is not null and oid >= ${OWN} and conrelid <> 0
  union all select 'estatística', stxrelid, stxexprs::text from pg_statistic_ext where stxexprs is not null
  union all select 'índice', indrelid, coalesce(indexprs::text, '') || coalesce(indpred::text, '') from pg_index
    where indexprs is not null or indpred is not null
  union all select 'partição', partrelid, partexprs::text from pg_partitioned_table where partexprs is not null
  union all select 'limite da partição', oid, relpartbound::text from pg_class where relpartbound is not null`;

/** Queries with one column of text: kind and name of the code that would run. */
const QUESTIONS: readonly string[] = [
  `select 'gatilho de evento (' || evtevent || ') ' || evtname from pg_event_trigger`,
  `select 'gatilho ' || t.tgname || ' em ' || c.relname from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal or t.tgfoid >= ${OWN}`,
  `select 'regra ' || r.rulename || ' em ' || c.relname from pg_rewrite r join pg_class c on c.oid = r.ev_class
    where c.relkind in ('r', 'p')`,
  `select 'política ' || p.polname || ' em ' || c.relname from pg_policy p join pg_class c on c.oid = p.polrelid`,
  `select 'assinatura ' || subname from pg_subscription`,
  `select 'ajuste ' || one from pg_db_role_setting s cross join lateral unnest(s.setconfig) as one where one ~* '${SETTINGS}'`,
  `select 'servidor de dados de fora ' || srvname from pg_foreign_server`,
  `select 'tabela de fora ' || relname from pg_class where relkind = 'f'`,
  `select 'domínio ' || t.typname || ', com uma restrição' from pg_constraint k join pg_type t on t.oid = k.contypid
    where k.contypid >= ${OWN}`,
  `select 'operador ' || oprname from pg_operator where ${isOwn('pg_operator', 'oid')}`,
  `select 'conversão de tipo ' || format_type(castsource, null) || ' para ' || format_type(casttarget, null)
    from pg_cast where ${isOwn('pg_cast', 'oid')}`,
  `select 'função ' || p.proname || ', com o nome de uma do PostgreSQL' from pg_proc p where ${isOwnFunction('p')}
    and exists (select 1 from pg_proc q where q.oid < ${OWN} and q.proname = p.proname)`,
  `select 'função ' || p.proname || ', de que depende um tipo, um operador ou um índice' from pg_proc p where ${isOwnFunction('p')}
    and exists (select 1 from pg_depend d where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid and d.deptype <> 'e'
      and d.classid in ('pg_type'::regclass, 'pg_operator'::regclass, 'pg_cast'::regclass, 'pg_opclass'::regclass,
        'pg_amproc'::regclass, 'pg_am'::regclass, 'pg_class'::regclass, 'pg_collation'::regclass))`,
  `select 'tabela, ou visão, ' || c.relname || ' em dois esquemas' from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid >= ${OWN} and c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_'
    group by c.relname having count(*) > 1`,
  `select 'visão ' || v.relname || ', com o nome de uma tabela do PostgreSQL ou no lugar de uma do serviço' from pg_class v
    where v.oid >= ${OWN} and v.relkind in ('v', 'm') and v.relname not in (${WATCHING})
    and (exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.oid < ${OWN} and n.nspname = 'pg_catalog' and c.relname = v.relname)
      or v.relname = any ($tabelas))`,
  `select e.tipo || ' de ' || c.relname || ', que chama ' || p.proname from (${EXPRESSIONS}) e
    join pg_class c on c.oid = e.tabela
    cross join lateral regexp_matches(e.arvore, ':(?:funcid|opfuncid|aggfnoid|inputfunc|typinput) (\\d+)', 'g') as chamada
    join pg_proc p on p.oid = chamada[1]::oid
    where (${isOwnFunction('p')} or p.oid < ${OWN} and p.provolatile <> 'i' and p.proname not in (${HARMLESS})) and c.oid >= ${OWN}`,
];

/** Rows of arbitrary text, in the form in which the session prints them. */
const ANSWER = /^\t 1: achado = "([0-9a-f]*)"\t\(typeid = 25/gm;
/** Last row, which proves that the whole output was read. */
const END = 'fim';

/** SQL: views of PostgreSQL's own that read or call objects that no original view uses. */
const visoesQuestion = (chamadas: readonly string[]): string =>
  `select distinct 'visão ' || c.relname || ' do PostgreSQL, que usa ' || a.m[1] || ' ' || a.m[2]
    from pg_rewrite r join pg_class c on c.oid = r.ev_class
    cross join lateral regexp_matches(r.ev_action::text, ':(funcid|opfuncid|aggfnoid|winfnoid|relid) (\\d+)', 'g') as a (m)
    where r.ev_class < ${OWN} and (a.m[2]::oid >= ${OWN} or a.m[1] <> 'relid' and a.m[2]::oid between 1 and ${DRAWN - 1}
      and a.m[2]::oid <> all (array[${chamadas.join(', ')}]::oid[]))`;

type Banco = { readonly cluster: string; readonly banco: string; readonly args: readonly string[] };

/** The other databases of the cluster. A database whose removal was interrupted (-2) never accepts a session again. */
export const readOutros = (programa: Programa, asked: Banco): Promise<readonly string[]> =>
  askSingle(programa, asked, [
    'select datname from pg_database where datname <> current_database() and datconnlimit <> -2',
  ]);

/** Kinds and names of code that would run. `chamadas`: functions that PostgreSQL's own views call. */
export async function findCodigo(
  programa: Programa,
  { cluster, banco, args }: Banco,
  chamadas: readonly string[],
): Promise<readonly string[]> {
  if (banco.startsWith('-'))
    throw new CopiaRecusada(`o manifesto diz que o banco se chama ${banco}: não é uma cópia deste programa.`);
  const questions = [...(await questionsOf()), visoesQuestion(chamadas)];
  return askSingle(programa, { cluster, banco, args }, questions);
}

/** The same for the copied server itself, which already runs its code. */
export async function findCodigoVivo(connection: ClientConfig): Promise<readonly string[]> {
  const client = new Client({ ...connection, application_name: 'nfse-copia' });
  client.on('error', ignoreLoss);
  try {
    await client.connect();
    await client.query('set search_path = pg_catalog');
    const found: string[] = [];
    for (const question of await questionsOf()) {
      const { rows } = await client.query<{ t: string }>(`select q.t from (${question}) as q (t)`);
      found.push(...rows.map(({ t }) => t));
    }
    return found;
  } finally {
    await client.end().catch(ignoreLoss);
  }
}

async function questionsOf(): Promise<readonly string[]> {
  const tabelas = (await namesOfTables()).map((name) => `'${name}'`).join(', ');
  return QUESTIONS.map((text) => text.replace('$tabelas', `array[${tabelas}]::name[]`));
}

/** Queries a cluster without a running server; each query has one column of text. Throws {@link CopiaRecusada} if that fails. */
export async function askSingle(
  programa: Programa,
  { cluster, banco, args }: Banco,
  questions: readonly string[],
): Promise<readonly string[]> {
  const asked = [...questions, `select '${END}'`].map(
    (question) => `select encode(convert_to(q.t, 'UTF8'), 'hex') as achado from (${question}) as q (t)`,
  );
  const input = asked.map((text) => `${text.replaceAll(/\s*\n\s*/g, ' ')}\n`).join('');
  const options = ['--single', '-D', cluster, ...args, '-c', 'search_path=pg_catalog'];
  const out = await say(programa, [...options, banco], input);
  const found = [...out.matchAll(ANSWER)].map(([, hex]) => Buffer.from(hex!, 'hex').toString());
  if (found.pop() !== END) throw new CopiaRecusada(UNREAD);
  return found;
}

const UNREAD = 'os catálogos da cópia não se leem até o fim, e nada dela foi posto a rodar. Use uma cópia de antes.';

/** Runs one `--single` session and returns its output. */
function say({ program, spawnOptions }: Programa, args: readonly string[], input: string): Promise<string> {
  const child = spawn(program, args, { ...spawnOptions, stdio: ['pipe', 'pipe', 'pipe'] });
  const [out, err]: [Buffer[], string[]] = [[], []];
  child.stdout!.on('data', (piece: Buffer) => out.push(piece));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => err.push(text));
  child.stdin!.on('error', ignoring('a program that does not read its input tells why as it ends')).end(input);
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new CopiaRecusada(`os catálogos da cópia não puderam ser lidos com ${program} --single: ${why}`));
    child.once('error', ({ message }) => fail(message));
    child.once('close', (code) => {
      const said = err.join('');
      const wrong = /(?:ERROR|FATAL|PANIC): .*/.exec(said);
      if (code === 0 && wrong === null) resolve(Buffer.concat(out).toString());
      else fail(wrong?.[0] ?? (said.trim().slice(-500) || `terminou com ${code}`));
    });
  });
}

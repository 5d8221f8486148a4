/**
 * What of a recovered copy would run by itself, looked at before anything else is asked of it: by the one session of `postgres --single`, which
 * knows no log in, no event triggers and no settings of roles, and by the catalogs alone. The service itself makes tables and indexes (D-804).
 */
import { spawn } from 'node:child_process';
import type { Programa } from './copia-arquivos.ts';
import { CopiaRecusada } from './copia-cifra.ts';

/** From here on objects are of whoever uses the server; below it they are PostgreSQL's own. */
const OWN = 16_384;
/** Languages in which PostgreSQL's own functions are written: internal, C and SQL. */
const LANGUAGES = '12, 13, 14';
/** Functions that are not immutable, and do nothing but tell a moment, a random value or the next number. */
const HARMLESS = ['now', 'transaction_timestamp', 'statement_timestamp', 'clock_timestamp', 'timeofday', 'random']
  .concat(['nextval', 'currval', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'to_char', 'timezone', 'date', 'timestamptz'])
  .map((name) => `'${name}'`)
  .join(', ');
/** Extensions of PostgreSQL's own programs, which are not of the copy, and the one that spreads tables over servers. */
const EXTENSIONS = ['plpgsql', 'amcheck', 'pg_stat_statements', 'pg_buffercache', 'pgstattuple', 'pg_prewarm', 'citus']
  .concat(['citus_columnar', 'pg_trgm', 'btree_gin', 'btree_gist', 'unaccent', 'pgcrypto'])
  .map((name) => `'${name}'`)
  .join(', ');

/** SQL: whether an object came with such an extension. */
const isOfExtension = (catalog: string, oid: string): string =>
  `exists (select 1 from pg_depend d join pg_extension x on x.oid = d.refobjid and d.refclassid = 'pg_extension'::regclass
    where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e' and x.extname in (${EXTENSIONS}))`;
const isOwn = (catalog: string, oid: string): string => `${oid} >= ${OWN} and not ${isOfExtension(catalog, oid)}`;

/** SQL: expressions that are reckoned when a row is written or an index is looked at, each with the table that it is of. */
const EXPRESSIONS = `
  select 'valor padrão, ou coluna gerada,' as tipo, adrelid as tabela, adbin::text as arvore from pg_attrdef
  union all select 'restrição', conrelid, conbin::text from pg_constraint where conbin is not null and oid >= ${OWN}
  union all select 'índice', indrelid, coalesce(indexprs::text, '') || coalesce(indpred::text, '') from pg_index
    where indexprs is not null or indpred is not null
  union all select 'partição', partrelid, partexprs::text from pg_partitioned_table where partexprs is not null
  union all select 'limite da partição', oid, relpartbound::text from pg_class where relpartbound is not null`;

/** Each a query with one column of text: kind and name of what would run. */
const QUESTIONS: readonly string[] = [
  `select 'gatilho de evento (' || evtevent || ') ' || evtname from pg_event_trigger`,
  `select 'gatilho ' || t.tgname || ' em ' || c.relname from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where (not t.tgisinternal or t.tgfoid >= ${OWN}) and not ${isOfExtension('pg_proc', 't.tgfoid')}`,
  `select 'regra ' || r.rulename || ' em ' || c.relname from pg_rewrite r join pg_class c on c.oid = r.ev_class
    where c.relkind in ('r', 'p') and not ${isOfExtension('pg_class', 'c.oid')}`,
  `select 'política ' || p.polname || ' em ' || c.relname from pg_policy p join pg_class c on c.oid = p.polrelid`,
  `select 'assinatura ' || subname from pg_subscription`,
  `select 'operador ' || oprname from pg_operator where ${isOwn('pg_operator', 'oid')}`,
  `select 'conversão de tipo ' || format_type(castsource, null) || ' para ' || format_type(casttarget, null)
    from pg_cast where ${isOwn('pg_cast', 'oid')}`,
  `select 'função ' || p.proname || ', com o nome de uma do PostgreSQL' from pg_proc p where ${isOwn('pg_proc', 'p.oid')}
    and exists (select 1 from pg_proc q where q.oid < ${OWN} and q.proname = p.proname)`,
  `select 'função ' || proname || ' do PostgreSQL, mudada' from pg_proc where oid < ${OWN}
    and (prolang not in (${LANGUAGES}) or prolang = 13 and probin not like '$libdir/%')
    and pronamespace = 'pg_catalog'::regnamespace`,
  `select 'função ' || p.proname || ', de que depende um tipo, um operador ou um índice' from pg_proc p where ${isOwn('pg_proc', 'p.oid')}
    and exists (select 1 from pg_depend d where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid and d.deptype <> 'e'
      and d.classid in ('pg_type'::regclass, 'pg_operator'::regclass, 'pg_cast'::regclass, 'pg_opclass'::regclass,
        'pg_amproc'::regclass, 'pg_am'::regclass, 'pg_class'::regclass, 'pg_collation'::regclass))`,
  `select 'tabela, ou visão, ' || c.relname || ' em dois esquemas' from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid >= ${OWN} and c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' and not ${isOfExtension('pg_class', 'c.oid')}
    group by c.relname having count(*) > 1`,
  `select 'visão ' || v.relname || ', com o nome de uma tabela do PostgreSQL ou no lugar de uma do serviço' from pg_class v
    where v.oid >= ${OWN} and v.relkind in ('v', 'm', 'f') and not ${isOfExtension('pg_class', 'v.oid')}
    and (exists (select 1 from pg_class c where c.oid < ${OWN} and c.relname = v.relname)
      or exists (select 1 from pg_class i where i.relkind in ('i', 'I') and i.relname = v.relname || '_pkey')
      or v.relname in ('migracoes', 'municipios', 'notas', 'documentos', 'eventos', 'auditoria'))`,
  `select e.tipo || ' de ' || c.relname || ', que chama ' || p.proname from (${EXPRESSIONS}) e
    join pg_class c on c.oid = e.tabela
    cross join lateral regexp_matches(e.arvore, ':(?:funcid|opfuncid|aggfnoid|inputfunc|typinput) (\\d+)', 'g') as chamada
    join pg_proc p on p.oid = chamada[1]::oid
    where (p.oid >= ${OWN} and not ${isOfExtension('pg_proc', 'p.oid')}
      or p.oid < ${OWN} and p.provolatile <> 'i' and p.proname not in (${HARMLESS}))
    and not ${isOfExtension('pg_class', 'c.oid')} and c.oid >= ${OWN}`,
];

/** Rows of text, in which anything may stand, as the session shows them. */
const ANSWER = /^\t 1: achado = "([0-9a-f]*)"\t\(typeid = 25/gm;
/** Proves that the whole was read. */
const END = 'fim';

/** Kinds and names of what would run. Throws {@link CopiaRecusada} where the catalogs cannot be read. */
export async function findCodigo(
  programa: Programa,
  { cluster, banco, args }: { readonly cluster: string; readonly banco: string; readonly args: readonly string[] },
): Promise<readonly string[]> {
  if (banco.startsWith('-'))
    throw new CopiaRecusada(`o manifesto diz que o banco se chama ${banco}: não é uma cópia deste programa.`);
  const asked = [...QUESTIONS, `select '${END}'`].map(
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

/** Runs the session of one; what it wrote. */
function say({ program, spawnOptions }: Programa, args: readonly string[], input: string): Promise<string> {
  const child = spawn(program, args, { ...spawnOptions, stdio: ['pipe', 'pipe', 'pipe'] });
  const [out, err]: [Buffer[], string[]] = [[], []];
  child.stdout!.on('data', (piece: Buffer) => out.push(piece));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => err.push(text));
  child.stdin!.on('error', () => undefined).end(input);
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

/**
 * Judges a recovered copy by PostgreSQL's own verification of tables and indexes, and by invariants of our rows. Each finding is a sentence
 * for the operator; it contains nothing of a document.
 */

import { updateSchema } from '../../base/pg/migrate.ts';
import { openPool } from '../../base/pg/open.ts';
import { Client, type ClientConfig } from '../../base/pg/pg.ts';
import { ignoreLoss } from '../../base/traces/ignoring.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { conferirEm } from '../auditoria/conferir.rows.ts';
import { ADVANCED } from './numeros.rows.ts';

export type Juizo = {
  readonly problemas: readonly string[];
  /** The checked objects: a name and a number each. */
  readonly contado: readonly (readonly [string, number])[];
  /** Jobs by kind that will be sent once the municipalities are open. */
  readonly fila: Readonly<Record<string, number>>;
};

/** Findings of one kind that are listed one by one. */
const TOLD_MAX = 5;

type Finding = { readonly achado: string | null };

/**
 * Gaps that this service made and recorded after a restoration are lawful. Rehearsals are deleted after a time, so only production counts.
 */
const NUMBERS = `with n as (
    select tenant, prestador_cpf_cnpj as prestador, numero_dps as numero from notas where tenant = any ($1)
  ), salto as (
    select tenant, chave as prestador, (antes->>'ultimo')::bigint as de, (depois->>'ultimo')::bigint as ate from atos
    where tenant = any ($1) and objeto = 'prestador' and acao = '${ADVANCED}'
  ), passo as (
    select tenant, prestador, numero, lag(numero, 1, 0::bigint) over (partition by tenant, prestador order by numero) as antes from n
  )
  select format('%s: o prestador %s tem duas notas de número %s', tenant, left(prestador, 3) || '…', numero) as achado
    from passo where numero = antes
  union all
  select format('%s: ao prestador %s faltam as notas de %s a %s', p.tenant, left(p.prestador, 3) || '…', p.antes + 1, p.numero - 1)
    from passo p where p.numero > p.antes + 1
    and p.numero - p.antes - 1 > coalesce((select sum(s.ate - s.de) from salto s where s.tenant = p.tenant and s.prestador = p.prestador
      and s.de >= p.antes and s.ate < p.numero), 0)
  union all
  select format('%s: o prestador %s tem notas além do último número dado, %s', n.tenant, left(n.prestador, 3) || '…', coalesce(u.ultimo::text, 'nenhum'))
    from (select tenant, prestador, max(numero) as numero from n group by 1, 2) n
    left join numeracao u on u.tenant = n.tenant and u.prestador = n.prestador where u.ultimo is null or u.ultimo < n.numero`;

/** Invariants of the rows; each query returns its findings. $1: the municipalities in production. */
const LAWS: Readonly<Record<string, string>> = {
  'números das notas': NUMBERS,
  'chaves de acesso': `select format('%s: a chave %s é de %s notas', tenant, chave_acesso, count(*)) as achado
    from notas where $1::text[] is not null group by tenant, chave_acesso having count(*) > 1`,
  protocolos: `select format('%s: o protocolo %s é de %s notas', tenant, numero_protocolo, count(*)) as achado
    from notas where $1::text[] is not null group by tenant, numero_protocolo having count(*) > 1`,
  'identificadores de DPS': `select format('%s: %s não tem a sua nota', i.tenant, i.id_dps) as achado from identidades i
      left join notas n on n.tenant = i.tenant and n.id = i.nota and n.mes = i.mes
      where $1::text[] is not null and (n.id is null or n.id_dps <> i.id_dps)
    union all select format('%s: a nota %s não guarda o seu número de DPS', n.tenant, n.chave_acesso) from notas n
      left join identidades i on i.tenant = n.tenant and i.id_dps = n.id_dps where n.estado <> 'recusada' and i.nota is null`,
  documentos: `select format('%s: a nota %s não tem os seus documentos', n.tenant, n.chave_acesso) as achado from notas n
    join meses m on m.mes = n.mes and m.arquivado_em is null
    left join documentos d on d.tenant = n.tenant and d.nota = n.id and d.mes = n.mes
    where $1::text[] is not null and d.nota is null`,
  trilha: `select format('%s: o histórico da nota %s não chega ao estado dela', n.tenant, n.chave_acesso) as achado from notas n
    join meses m on m.mes = n.mes and m.arquivado_em is null
    left join lateral (select t.para, t.movimento from trilha_notas t where t.tenant = n.tenant and t.nota = n.id and t.mes = n.mes
      order by t.movimento desc limit 1) t on true
    where $1::text[] is not null and (t.para is distinct from n.estado or t.movimento <> n.movimentos)`,
  eventos: `select format('%s: o evento %s não tem a sua nota', e.tenant, e.id) as achado from eventos e
    left join notas n on n.tenant = e.tenant and n.id = e.nota and n.mes = e.mes_nota
    where $1::text[] is not null and n.id is null`,
  fila: `select format('%s: há algo na fila (%s) de uma nota que não existe', f.tenant, f.tipo) as achado from fila f
    left join notas n on n.tenant = f.tenant and n.id = f.id and n.mes = f.mes
    where $1::text[] is not null and f.tipo = 'nota' and n.id is null`,
};

/** Every page of each table in the cluster's database is checked, and each index must find every row. */
const TABLES = `select c.oid::regclass::text as nome, c.oid from pg_class c
  where c.relkind in ('r', 'm', 't') and c.relpersistence = 'p' order by c.relpages desc`;
const INDEXES = `select c.oid::regclass::text as nome, c.oid from pg_class c join pg_index i on i.indexrelid = c.oid join pg_am a on a.oid = c.relam
  where c.relkind = 'i' and a.amname = 'btree' and c.relpersistence = 'p' and i.indisvalid order by c.relpages desc`;

type Relation = { readonly nome: string; readonly oid: number };

/** `isThorough`: reads every page of every table and index as well, which takes as long as the disk. */
export async function judgeCopia(connection: ClientConfig, isThorough: boolean, show: Show): Promise<Juizo> {
  await updateRecovered(connection);
  return connected(connection, async (client) => {
    const problemas = isThorough ? await verifyAs(connection, client, show) : [];
    return judgeRows(client, problemas, show);
  });
}

/** A copy from before an update has the earlier schema, which the service updates at its start. */
async function updateRecovered(connection: ClientConfig): Promise<void> {
  const pool = openPool(connection, () => undefined);
  try {
    await updateSchema(pool);
  } finally {
    await pool.end();
  }
}

type Show = (part: number, what: string) => void;

async function connected<Result>(connection: ClientConfig, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client(connection);
  client.on('error', ignoreLoss);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The superuser of initdb checks the pages: this server accepts any user. */
async function verifyAs(connection: ClientConfig, client: Client, show: Show): Promise<readonly string[]> {
  const { rows } = await client.query<{ user: string }>('select rolname as user from pg_roles where oid = 10');
  return connected({ ...connection, ...rows[0]! }, (admin) => verifyPages(admin, show));
}

async function judgeRows(client: Client, before: readonly string[], show: Show): Promise<Juizo> {
  const problemas = [...before];
  const producao = Object.entries(AMBIENTES).flatMap(([nome, { transmits }]) => (transmits ? [nome] : []));
  const { rows } = await client.query<{ tenant: string }>('select tenant from municipios where ambiente = any ($1)', [
    producao,
  ]);
  const tenants = rows.map(({ tenant }) => tenant);
  const laws = Object.entries(LAWS);
  for (const [at, [name, text]] of laws.entries()) {
    show(at / laws.length, `conferindo ${name}`);
    const found = await client.query<Finding>(`${text} limit 1000`, [tenants]);
    problemas.push(...tellSome(found.rows.map(({ achado }) => achado!)));
  }
  problemas.push(...(await judgeChains(client, show)));
  const contado: (readonly [string, number])[] = [];
  for (const tabela of ['municipios', 'prestadores', 'notas', 'eventos']) {
    const count = await client.query<{ n: string }>(`select count(*) as n from ${tabela}`);
    contado.push([tabela, Number(count.rows[0]!.n)]);
  }
  const fila = await client.query<{ tipo: string; n: string }>(
    'select tipo, count(*) as n from fila where tenant = any ($1) group by tipo',
    [tenants],
  );
  return { problemas, contado, fila: Object.fromEntries(fila.rows.map(({ tipo, n }) => [tipo, Number(n)])) };
}

/** Whether rows were changed by other means before they were copied. Entries that had no place yet are no finding. */
async function judgeChains(client: Client, show: Show): Promise<readonly string[]> {
  const { rows } = await client.query<{ tenant: string }>('select tenant from auditoria_ate order by tenant');
  const problemas: string[] = [];
  for (const [at, { tenant }] of rows.entries()) {
    show(at / rows.length, `conferindo a corrente de auditoria de ${tenant}`);
    await client.query('begin isolation level repeatable read, read only');
    try {
      const { total, naoComparadas } = await conferirEm(client, tenant);
      if (naoComparadas !== undefined) {
        problemas.push(
          `${tenant}: a corrente de auditoria não pôde ser conferida com todas as linhas, por falta de espaço temporário (${naoComparadas}); libere-o, ou dê TMPDIR noutro disco, e confira de novo`,
        );
      }
      if (total > 0) {
        problemas.push(
          `${tenant}: a corrente de auditoria tem ${total} ${total === 1 ? 'achado' : 'achados'}; restaurada a cópia, nfse auditoria verificar ${tenant} diz quais`,
        );
      }
    } finally {
      await client.query('rollback');
    }
  }
  return problemas;
}

function tellSome(found: readonly string[]): readonly string[] {
  if (found.length <= TOLD_MAX) return found;
  return [
    ...found.slice(0, TOLD_MAX),
    `e outros ${found.length - TOLD_MAX}${found.length === 1_000 ? ' ou mais' : ''} como este`,
  ];
}

async function verifyPages(client: Client, show: Show): Promise<readonly string[]> {
  const problemas: string[] = [];
  // The copy stays as it is: objects that are added for the check are rolled back.
  await client.query('begin');
  try {
    const can = await client.query(`select 1 from pg_available_extensions where name = 'amcheck'`);
    if (can.rowCount === 0) return ['este PostgreSQL não tem amcheck: as páginas não foram conferidas uma a uma'];
    // The copy's amcheck may have been replaced.
    await client.query('drop extension if exists amcheck cascade');
    await client.query('create extension amcheck');
    const tables = await client.query<Relation>(TABLES);
    const indexes = await client.query<Relation>(INDEXES);
    const looks = [
      ...tables.rows.map((one) => ({
        ...one,
        text: `select format('bloco %s: %s', blkno, msg) as achado from verify_heapam($1::oid::regclass) limit 20`,
      })),
      ...indexes.rows.map((one) => ({
        ...one,
        text: 'select null as achado from (select bt_index_check($1::oid::regclass, true)) x',
      })),
    ];
    for (const [at, { nome, oid, text }] of looks.entries()) {
      show(at / looks.length, 'conferindo tabelas e índices');
      await client.query('savepoint um');
      try {
        const { rows } = await client.query<Finding>(text, [oid]);
        problemas.push(...tellSome(rows.flatMap(({ achado }) => (achado === null ? [] : [`${nome}, ${achado}`]))));
      } catch (error) {
        problemas.push(`${nome}: ${(error as Error).message}`);
        await client.query('rollback to um');
      }
    }
  } finally {
    await client.query('rollback');
  }
  return problemas;
}

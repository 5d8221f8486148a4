/** The due work of all tenants: the only query across them (D-444). */

import type { Tipo } from '../../base/book/fila.ts';
import { isDistributed } from '../../base/pg/distributed.ts';
import { LostNodes } from '../../base/pg/lost-nodes.ts';
import type { Db } from '../../base/pg/open.ts';
import type { QueryConfig } from '../../base/pg/pg.ts';
import { planOnce } from '../../base/pg/planned.ts';
import { isQueryTimeout, unavailabilityOf } from '../../base/pg/unavailable.ts';
import { EVENTO_IS_TAKEN } from '../eventos/claim.rows.ts';

/**
 * SQL of each kind of work, whether a tenant has some. The kinds are due documents, changes, notices, exports, and rows without a place in
 * the audit chain. One more kind is notas that an older table of rates than $2 holds.
 */
type Looks = {
  readonly notas: string;
  readonly eventos: string;
  readonly lotes: string;
  readonly retidas: string;
  readonly mudancas: string;
  readonly avisos: string;
  readonly exportacoes: string;
  readonly avisos_lentos: string;
  readonly auditoria: string;
};
type Kind = keyof Looks;
const KINDS = [
  'notas',
  'eventos',
  'lotes',
  'retidas',
  'mudancas',
  'avisos',
  'exportacoes',
  'avisos_lentos',
  'auditoria',
] as const satisfies readonly Kind[];
type Due = { readonly kind: Kind; readonly tenant: string };

/** SQL: the checks of the tenant that an expression names, each one an index lookup. */
function looksAt(tenant: string): Looks {
  // The clock of the tenant.
  const now = '$1::timestamptz + make_interval(secs => m.relogio_ms / 1000.0)';
  const isDue = (tipo: Tipo, more = ''): string => `(select true from fila f
    where f.tenant = ${tenant} and f.tipo = '${tipo}' and f.due_at <= ${now} ${more} order by f.due_at limit 1)`;
  const isTaken = EVENTO_IS_TAKEN.replaceAll('m.tenant', tenant);
  const isToldNow = (
    rapido: boolean,
  ): string => `(select true from webhooks w where w.tenant = ${tenant} and w.rapido = ${rapido}
      and w.ativo and w.proxima <= ${now} and (w.reservado_ate is null or w.reservado_ate <= ${now}) order by w.proxima limit 1)`;
  return {
    notas: isDue('nota'),
    eventos: isDue('evento', `and (select ${isTaken} from eventos x where x.tenant = ${tenant} and x.id = f.id)`),
    lotes: isDue('lote'),
    retidas: `(select true from retidas r where r.tenant = ${tenant} and r.tabela_aliquotas < $2
      order by r.tabela_aliquotas limit 1)`,
    mudancas: `(select true from mudancas_novas v where v.tenant = ${tenant} limit 1)`,
    avisos: isToldNow(true),
    avisos_lentos: isToldNow(false),
    auditoria: `(select true from auditoria a where a.tenant = ${tenant} and a.lugar is null limit 1)`,
    exportacoes: `(select true from exportacoes y where y.tenant = ${tenant} and y.due_at <= ${now} order by y.due_at limit 1)`,
  };
}

/** SQL: most tenants have no work at all, which one lookup of each kind shows. */
function isBusy(tenant: string): string {
  const { retidas, mudancas, auditoria } = looksAt(tenant);
  const avisos = `(select true from webhooks w where w.tenant = ${tenant} and w.ativo and w.proxima is not null limit 1)`;
  const exportacoes = `(select true from exportacoes z where z.tenant = ${tenant} and z.due_at is not null limit 1)`;
  const others = [retidas, mudancas, auditoria, avisos, exportacoes].join(' or ');
  return `((select true from fila q where q.tenant = ${tenant} limit 1) or ${others})`;
}

/** `among`: the relation of the tenants, with its join to `m`. */
function selectDue(tenant: string, among = 'municipios m where true'): string {
  const looks = looksAt(tenant);
  return `select m.tenant, ${KINDS.map((kind) => `${looks[kind]} as ${kind}`).join(', ')} from ${among} and ${isBusy(tenant)}`;
}

/** Tables of waiting work. Each has an index that begins with the tenant, of no other rows than these. */
const QUEUES = [
  'fila q where true',
  'retidas q where true',
  'mudancas_novas q where true',
  'webhooks q where q.ativo and q.proxima is not null',
  'exportacoes q where q.due_at is not null',
  'auditoria q where q.lugar is null',
] as const;

/** SQL: the tenants with rows in a queue, by one lookup each. All tenants are many more, and have nothing to do. */
function listTenants(queue: (typeof QUEUES)[number]): string {
  return `(with recursive t (tenant) as (
      (select q.tenant from ${queue} order by q.tenant limit 1)
      union all
      select (select q.tenant from ${queue} and q.tenant > t.tenant order by q.tenant limit 1) from t where t.tenant is not null
    ) select tenant from t where tenant is not null)`;
}

/**
 * SQL: the municipalities of a list, each by its key. The planner treats the list as one tenant of any length; a plan for each list would
 * take longer than the lookups.
 */
function joinListed(listed: string): string {
  return `${listed} as s (tenant) cross join lateral (select tenant, relogio_ms from municipios where tenant = s.tenant offset 0) m
    where s.tenant || '' = s.tenant`;
}

const OF_ALL = planOnce(
  'tenants_due',
  selectDue('m.tenant', joinListed(`(${QUEUES.map(listTenants).join(' union ')})`)),
);
const OF_SOME = planOnce('some_tenants_due', selectDue('m.tenant', joinListed('unnest($3::text[])')));
/**
 * Statements for a distributed schema: each server gets a short one, since each shard plans it. One tenant is queried on its own server,
 * with its name as a constant for each table.
 */
const BUSY = planOnce(
  'tenants_busy',
  `select m.tenant from municipios m where ${isBusy('m.tenant').replace('$2', '$1')}`,
);
const OF_ONE = planOnce('tenant_due', `${selectDue('$3')} and m.tenant = $3`);

/**
 * `versao`: version of the table of rates. `tenants`: the tenants to query; undefined: all. `rung`: tenants that are queried in any case,
 * when not all can be.
 */
export type ListDue = (
  now: number,
  versao: number,
  tenants?: readonly string[],
  rung?: readonly string[],
) => Promise<readonly Due[]>;

type Row = { readonly tenant: string } & Record<Kind, true | null>;

/** The time limit of a query in a distributed schema, short beside a pause of transmission. */
const SILENT_MS = 2_000;
/** Tenants that are queried in parallel, each by itself. */
const AT_ONCE = 4;
/**
 * Tenants per query round while a server is lost. No query for all tenants is possible then, and the tenants that did not ring take turns.
 */
const IN_TURN = 100;

export function dueLister(pool: Db): ListDue {
  const lost = new LostNodes(pool, async (tenant) => void (await askOne(0, 0, tenant)));
  const read = async (asked: QueryConfig): Promise<readonly Row[]> => (await pool.query<Row>(asked)).rows;
  const askOne = (now: number, versao: number, tenant: string): Promise<readonly Row[]> =>
    read(brief(OF_ONE([new Date(now), versao, tenant])));
  const askEach = async (now: number, versao: number, tenants: readonly string[]): Promise<readonly Row[]> => {
    lost.know(tenants);
    const found: Row[] = [];
    for (let from = 0; from < tenants.length; from += AT_ONCE) {
      const some = tenants.slice(from, from + AT_ONCE).filter((tenant) => !lost.has(tenant));
      const answers = await Promise.allSettled(some.map((tenant) => askOne(now, versao, tenant)));
      for (const [place, answer] of answers.entries()) {
        if (answer.status === 'fulfilled') found.push(...answer.value);
        else if (!isOfNode(answer.reason)) throw answer.reason;
        else await lost.note(some[place]!);
      }
    }
    return found;
  };
  const listBusy = async (versao: number, rung: readonly string[]): Promise<readonly string[]> => {
    if (!lost.isAny()) {
      try {
        const rows = await read(brief(BUSY([versao])));
        await lost.listTenants();
        return rows.map(({ tenant }) => tenant);
      } catch (error) {
        if (!isOfNode(error)) throw error;
        await lost.listTenants();
      }
    }
    return [...new Set([...rung, ...lost.nextOfOthers(IN_TURN)])];
  };
  return async (now, versao, tenants, rung = []) => {
    const values = [new Date(now), versao];
    const rows = isDistributed(pool)
      ? await askEach(now, versao, tenants ?? (await listBusy(versao, rung)))
      : await read(tenants === undefined ? OF_ALL(values) : OF_SOME([...values, tenants]));
    return rows.flatMap(({ tenant, ...due }) => KINDS.filter((kind) => due[kind]).map((kind) => ({ kind, tenant })));
  };
}

/** Limits the time: a server does not answer while it waits for another lost server. */
function brief(query: QueryConfig): QueryConfig {
  return { ...query, query_timeout: SILENT_MS } as QueryConfig;
}

/** Whether the server reports that another one is gone, or does not answer in time. */
function isOfNode(error: unknown): boolean {
  return unavailabilityOf(error) === 'node_gone' || isQueryTimeout(error);
}

/** What is due of all tenants: the one question that is asked across them. */

import type { Tipo } from '../../base/book/fila.ts';
import { isDistributed } from '../../base/pg/distributed.ts';
import type { Db } from '../../base/pg/open.ts';
import type { QueryConfig } from '../../base/pg/pg.ts';
import { planOnce } from '../../base/pg/planned.ts';
import { isQueryTimeout, unavailabilityOf } from '../../base/pg/unavailable.ts';
import { LostNodes } from '../citus/lost-nodes.rows.ts';
import { EVENTO_IS_TAKEN } from '../eventos/claim.rows.ts';

/** By kind, whether a tenant has what the worker is asked for: due, held back by an older table of rates than $2, changed, to be told, to be made a file of, or without a place in the audit chain. */
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

/** SQL: the looks at the tenant that an expression names, each one look into an index. */
function looksAt(tenant: string): Looks {
  // By the clock of the tenant.
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

/** SQL: most tenants have nothing at all in the queue, which is found by a look each. */
function isBusy(tenant: string): string {
  const { retidas, mudancas, auditoria } = looksAt(tenant);
  const avisos = `(select true from webhooks w where w.tenant = ${tenant} and w.ativo and w.proxima is not null limit 1)`;
  const exportacoes = `(select true from exportacoes z where z.tenant = ${tenant} and z.due_at is not null limit 1)`;
  const others = [retidas, mudancas, auditoria, avisos, exportacoes].join(' or ');
  return `((select true from fila q where q.tenant = ${tenant} limit 1) or ${others})`;
}

/** `among`: whose, as a relation with what joins it to `m`. */
function selectDue(tenant: string, among = 'municipios m where true'): string {
  const looks = looksAt(tenant);
  return `select m.tenant, ${KINDS.map((kind) => `${looks[kind]} as ${kind}`).join(', ')} from ${among} and ${isBusy(tenant)}`;
}

const OF_ALL = planOnce('tenants_due', selectDue('m.tenant'));
/** The planner takes the list for one tenant, whatever its length: it would plan anew for each list, which takes longer than the looks. */
const OF_SOME = planOnce(
  'some_tenants_due',
  selectDue(
    'm.tenant',
    `unnest($3::text[]) as s (tenant) join municipios m on m.tenant = s.tenant where s.tenant || '' = s.tenant`,
  ),
);
/**
 * Of a distributed schema: what every server is asked is short, since each shard plans it. One tenant is asked on its own server, where each
 * table is told the tenant by itself.
 */
const BUSY = planOnce(
  'tenants_busy',
  `select m.tenant from municipios m where ${isBusy('m.tenant').replace('$2', '$1')}`,
);
const OF_ONE = planOnce('tenant_due', `${selectDue('$3')} and m.tenant = $3`);

/**
 * `versao`: of the table of rates. `tenants`: of whom it is asked; all, where it is undefined. `rung`: who is asked in any case, where not all
 * can be.
 */
export type ListDue = (
  now: number,
  versao: number,
  tenants?: readonly string[],
  rung?: readonly string[],
) => Promise<readonly Due[]>;

type Row = { readonly tenant: string } & Record<Kind, true | null>;

/** What has rows in a distributed schema is asked for in a time that is short beside a pause of transmission. */
const SILENT_MS = 2_000;
/** Tenants that are asked at once by themselves. */
const AT_ONCE = 4;
/** While a server is lost nobody is asked for all: who did not ring is asked in turn, so many at a look. */
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

/** A server that is asked says nothing where another one, that it asks, says nothing. */
function brief(query: QueryConfig): QueryConfig {
  return { ...query, query_timeout: SILENT_MS } as QueryConfig;
}

/** Whether the server says that another one does not answer it, or says nothing in time. */
function isOfNode(error: unknown): boolean {
  return unavailabilityOf(error) === 'node_gone' || isQueryTimeout(error);
}

/** What is due of all tenants: the one question that is asked across them. */
import { EVENTO_IS_TAKEN } from './claim-eventos.ts';
import type { Db } from './open.ts';
import { planOnce } from './planned.ts';

/**
 * By kind: the table, which of its rows are open at all, and which of a tenant the worker is asked for: due at $1, or held back by an older
 * table of rates than $2. Both are one look into an index.
 */
const LOOKS = {
  notas: ['notas', 'x.due_at is not null order by x.tenant, x.due_at', 'x.due_at <= $1 order by x.due_at'],
  eventos: [
    'eventos',
    'x.due_at is not null order by x.tenant, x.due_at',
    `x.due_at <= $1 and ${EVENTO_IS_TAKEN} order by x.due_at`,
  ],
  lotes: ['lotes', 'x.due_at is not null order by x.tenant, x.due_at', 'x.due_at <= $1 order by x.due_at'],
  retidas: [
    'notas',
    "x.estado = 'retida' order by x.tenant, x.tabela_aliquotas",
    "x.estado = 'retida' and x.tabela_aliquotas < $2",
  ],
} as const;

type Due = { readonly kind: keyof typeof LOOKS; readonly tenant: string };

/**
 * One statement: the worker asks it many times a second, and most of what four cost is not their reading. Tenants are gone through only for
 * the kinds of which any has something open.
 */
const DUE = planOnce(
  'tenants_due',
  Object.entries(LOOKS)
    .map(
      ([kind, [table, open, due]]) => `select '${kind}' as kind, m.tenant from municipios m
        where (select true from ${table} x where ${open} limit 1)
          and (select true from ${table} x where x.tenant = m.tenant and ${due} limit 1)`,
    )
    .join(' union all '),
);

/** `versao`: of the table of rates. */
export type ListDue = (now: number, versao: number) => Promise<readonly Due[]>;

export function dueLister(pool: Db): ListDue {
  return async (now, versao) => (await pool.query<Due>(DUE([new Date(now), versao]))).rows;
}

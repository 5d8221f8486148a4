/** What is due of all tenants: the one question that is asked across them. */
import { EVENTO_IS_TAKEN } from './claim-eventos.ts';
import type { Db } from './open.ts';
import { planOnce } from './planned.ts';

/** Rows `x` of the tenant `m`, by kind: due at $1, or held back by an older table of rates than $2. One look into an index each. */
const LOOKS = {
  notas: 'from notas x where x.tenant = m.tenant and x.due_at <= $1 order by x.due_at',
  eventos: `from eventos x where x.tenant = m.tenant and x.due_at <= $1 and ${EVENTO_IS_TAKEN} order by x.due_at`,
  lotes: 'from lotes x where x.tenant = m.tenant and x.due_at <= $1 order by x.due_at',
  retidas: "from notas x where x.tenant = m.tenant and x.estado = 'retida' and x.tabela_aliquotas < $2",
} as const;

type Due = { readonly kind: keyof typeof LOOKS; readonly tenant: string };

/** One statement: the worker asks it many times a second, and most of what four cost is not their reading. */
const DUE = planOnce(
  'tenants_due',
  `select d.kind, m.tenant from municipios m cross join lateral (
    ${Object.entries(LOOKS)
      .map(([kind, rows]) => `select '${kind}' as kind where (select true ${rows} limit 1)`)
      .join(' union all ')}
  ) d`,
);

/** `versao`: of the table of rates. */
export type ListDue = (now: number, versao: number) => Promise<readonly Due[]>;

export function dueLister(pool: Db): ListDue {
  return async (now, versao) => (await pool.query<Due>(DUE([new Date(now), versao]))).rows;
}

/** Work that is due for a worker. */
import type { ListDue } from '../../src/subjects/envio/due.rows.ts';
import type { Store } from '../../src/wiring/store.ts';

type Kind = Awaited<ReturnType<ListDue>>[number]['kind'];

/** Tenants with due work of one kind; `versao`: of the table of rates. */
export async function tenantsDue(
  { listDue }: Pick<Store, 'listDue'>,
  kind: Kind,
  now: number,
  versao = 1,
): Promise<readonly string[]> {
  return (await listDue(now, versao)).filter((one) => one.kind === kind).map(({ tenant }) => tenant);
}

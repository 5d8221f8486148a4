/** Due work of all tenants. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { dueLister } = await import('./due.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { listDue: dueLister(pool) };
  };
};

export default {
  rows,
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

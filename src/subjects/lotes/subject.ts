/** Lots of RPS, on the legacy SOAP port. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { loteStore } = await import('./lotes.rows.ts');
  return ({ pool, onStored }: StoreSetup) => {
    return { lotes: loteStore(pool, onStored) };
  };
};

export default {
  rows,
  jobs: async () => (await import('./lotes.job.ts')).JOBS,
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

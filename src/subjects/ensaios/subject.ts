/** Private sandboxes. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { ensaioStore } = await import('./ensaios.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { ensaios: ensaioStore(pool) };
  };
};

export default {
  rows,
  routes: async () => (await import('./ambientes.rest.ts')).ROTAS_DE_AMBIENTES,
  shapes: async () => (await import('./ambientes.rest.ts')).AMBIENTE_SHAPES,
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

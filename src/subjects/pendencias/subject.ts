/** The matters that wait for the municipality, in one list. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { pendenciaStore } = await import('./pendencias.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { pendencias: pendenciaStore(pool) };
  };
};

export default {
  rows,
  pages: async () => (await import('./pages.page.ts')).PENDENCIAS_PAGES,
  commands: [{ words: ['pendencia'], load: async () => [(await import('./pendencia.command.ts')).LISTAR_PENDENCIAS] }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

/** Events on notes. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { eventoStore } = await import('./eventos.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { eventos: eventoStore(pool) };
  };
};

export default {
  rows,
  jobs: async () => (await import('./deliver.job.ts')).JOBS,
  routes: async () => (await import('./rotas.rest.ts')).ROTAS_DE_EVENTOS,
  shapes: async () => (await import('./rotas.rest.ts')).SHAPES_DE_EVENTOS,
  pages: async () => (await import('./pages.page.ts')).EVENTOS_PAGES,
  commands: [{ words: ['evento'], load: async () => (await import('./evento.command.ts')).EVENTO_COMMANDS }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

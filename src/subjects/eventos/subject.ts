/** Events on notes. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  jobs: async () => (await import('./deliver.job.ts')).JOBS,
  routes: async () => (await import('./rotas.rest.ts')).ROTAS_DE_EVENTOS,
  shapes: async () => (await import('./rotas.rest.ts')).SHAPES_DE_EVENTOS,
  pages: async () => (await import('./pages.page.ts')).EVENTOS_PAGES,
  commands: [{ words: ['evento'], load: async () => (await import('./evento.command.ts')).EVENTO_COMMANDS }],
} satisfies Subject;

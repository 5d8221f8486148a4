/** Private sandboxes. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  routes: async () => (await import('./ambientes.rest.ts')).ROTAS_DE_AMBIENTES,
  shapes: async () => (await import('./ambientes.rest.ts')).AMBIENTE_SHAPES,
} satisfies Subject;

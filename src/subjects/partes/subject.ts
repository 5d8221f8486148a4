/** The parties of a note: their lists, tokens and exports. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  jobs: async () => (await import('./exportacoes.job.ts')).JOBS,
  routes: async () => (await import('./enderecos.rest.ts')).ROTAS,
  shapes: async () => (await import('./enderecos.rest.ts')).SHAPES,
  pages: async () => (await import('./tokens.page.ts')).TOKENS_ROUTES,
  commands: [
    { words: ['token'], load: async () => (await import('./token.command.ts')).TOKEN_COMMANDS },
    { words: ['titular'], load: async () => (await import('./titular.command.ts')).TITULAR_COMMANDS },
  ],
} satisfies Subject;

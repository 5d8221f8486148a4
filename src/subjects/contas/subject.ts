/** Accounts of the console, and how a person enters. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  pages: async () => (await import('./pages.page.ts')).CONTAS_PAGES,
  commands: [{ words: ['usuario'], load: async () => (await import('./usuario.command.ts')).USUARIO_COMMANDS }],
} satisfies Subject;

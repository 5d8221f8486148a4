/** The bundle that proves a note. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  pages: async () => (await import('./evidencia.page.ts')).EVIDENCIA_PAGES,
  commands: [{ words: ['evidencia'], load: async () => [(await import('./evidencia.command.ts')).EVIDENCIA] }],
} satisfies Subject;

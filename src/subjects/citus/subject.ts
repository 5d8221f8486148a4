/** A database on several servers. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  completeSchema: async () => (await import('./distribuicao.rows.ts')).distributeEsquecidas,
  commands: [{ words: ['banco'], load: async () => (await import('./banco.command.ts')).BANCO_COMMANDS }],
} satisfies Subject;

/** Watching the service. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  commands: [
    { words: ['saude'], load: async () => [(await import('./saude.command.ts')).SAUDE] },
    { words: ['diagnostico'], load: async () => [(await import('./diagnostico.command.ts')).DIAGNOSTICO] },
  ],
} satisfies Subject;

/** The archive of months, and what is deleted in time. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  repeated: async () => (await import('./guarda.job.ts')).REPEATED,
  commands: [
    { words: ['arquivo'], load: async () => (await import('./arquivo.command.ts')).ARQUIVO_COMMANDS },
    { words: ['guarda'], load: async () => (await import('./guarda.command.ts')).GUARDA_COMMANDS },
  ],
} satisfies Subject;

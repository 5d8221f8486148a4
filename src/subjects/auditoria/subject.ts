/** The audit chain. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  jobs: async () => (await import('./auditoria.job.ts')).JOBS,
  repeated: async () => (await import('./auditoria.job.ts')).REPEATED,
  pages: async () => (await import('./trilha.page.ts')).TRILHA_ROUTES,
  commands: [{ words: ['auditoria'], load: async () => (await import('./auditoria.command.ts')).AUDITORIA_COMMANDS }],
} satisfies Subject;

/** The audit chain. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { auditoriaStore } = await import('./auditoria.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { auditoria: auditoriaStore(pool) };
  };
};

export default {
  rows,
  jobs: async () => (await import('./auditoria.job.ts')).JOBS,
  repeated: async () => (await import('./auditoria.job.ts')).REPEATED,
  pages: async () => (await import('./trilha.page.ts')).TRILHA_ROUTES,
  commands: [{ words: ['auditoria'], load: async () => (await import('./auditoria.command.ts')).AUDITORIA_COMMANDS }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

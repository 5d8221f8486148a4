/** The bundle that proves a note. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { evidenciaStore } = await import('./evidencia.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { evidencia: evidenciaStore(pool) };
  };
};

export default {
  rows,
  pages: async () => (await import('./evidencia.page.ts')).EVIDENCIA_PAGES,
  commands: [{ words: ['evidencia'], load: async () => [(await import('./evidencia.command.ts')).EVIDENCIA] }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

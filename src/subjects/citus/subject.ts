/** A database on several servers. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { bancoStore } = await import('./banco.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { banco: bancoStore(pool) };
  };
};

export default {
  rows,
  completeSchema: async () => (await import('./distribuicao.rows.ts')).distributeEsquecidas,
  commands: [{ words: ['banco'], load: async () => (await import('./banco.command.ts')).BANCO_COMMANDS }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

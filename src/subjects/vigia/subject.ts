/** Watching the service. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const { vigiaStore } = await import('./vigia.rows.ts');
  return ({ pool }: StoreSetup) => {
    return { vigia: vigiaStore(pool) };
  };
};

export default {
  rows,
  commands: [
    { words: ['saude'], load: async () => [(await import('./saude.command.ts')).SAUDE] },
    { words: ['diagnostico'], load: async () => [(await import('./diagnostico.command.ts')).DIAGNOSTICO] },
  ],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

/** The archive of months, and what is deleted in time. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const [{ arquivoStore }, { eliminacaoStore }, { guardaStore }] = await Promise.all([
    import('./arquivar.rows.ts'),
    import('./eliminar.rows.ts'),
    import('./guarda.rows.ts'),
  ]);
  return ({ pool }: StoreSetup) => {
    return { arquivo: arquivoStore(pool), eliminacao: eliminacaoStore(pool), guarda: guardaStore(pool) };
  };
};

export default {
  rows,
  repeated: async () => (await import('./guarda.job.ts')).REPEATED,
  commands: [
    { words: ['arquivo'], load: async () => (await import('./arquivo.command.ts')).ARQUIVO_COMMANDS },
    { words: ['guarda'], load: async () => (await import('./guarda.command.ts')).GUARDA_COMMANDS },
  ],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

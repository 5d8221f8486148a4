/** The ISSQN of a month: sums of its notes. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const [{ contagemDaReceitaStore }, { somaStore }] = await Promise.all([
    import('./contar.rows.ts'),
    import('./somas.rows.ts'),
  ]);
  return ({ pool }: StoreSetup) => ({ contagemDaReceita: contagemDaReceitaStore(pool), somas: somaStore(pool) });
};

export default {
  rows,
  repeated: async () => (await import('./receita.job.ts')).REPEATED,
  pages: async () => (await import('./mes.page.ts')).MES_ROUTES,
  commands: [{ words: ['receita'], load: async () => (await import('./receita.command.ts')).RECEITA_COMMANDS }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

/** Accounts of the console, and how a person enters. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const [{ contaStore, passkeyStore }, { sessaoStore }] = await Promise.all([
    import('./contas.rows.ts'),
    import('./sessoes.rows.ts'),
  ]);
  return ({ pool }: StoreSetup) => {
    return { contas: contaStore(pool), passkeys: passkeyStore(pool), sessoes: sessaoStore(pool) };
  };
};

export default {
  rows,
  pages: async () => (await import('./pages.page.ts')).CONTAS_PAGES,
  commands: [{ words: ['usuario'], load: async () => (await import('./usuario.command.ts')).USUARIO_COMMANDS }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

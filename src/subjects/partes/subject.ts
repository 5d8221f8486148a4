/** The parties of a note: their lists, tokens and exports. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const [{ exportacaoStore }, { titularStore }, { tokenStore }] = await Promise.all([
    import('./exportacoes.rows.ts'),
    import('./titular.rows.ts'),
    import('./tokens.rows.ts'),
  ]);
  return ({ pool }: StoreSetup) => {
    return { exportacoes: exportacaoStore(pool), titular: titularStore(pool), tokens: tokenStore(pool) };
  };
};

export default {
  rows,
  jobs: async () => (await import('./exportacoes.job.ts')).JOBS,
  routes: async () => (await import('./enderecos.rest.ts')).ROTAS,
  shapes: async () => (await import('./enderecos.rest.ts')).SHAPES,
  pages: async () => (await import('./tokens.page.ts')).TOKENS_ROUTES,
  commands: [
    { words: ['token'], load: async () => (await import('./token.command.ts')).TOKEN_COMMANDS },
    { words: ['titular'], load: async () => (await import('./titular.command.ts')).TITULAR_COMMANDS },
  ],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

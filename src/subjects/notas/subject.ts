/** Notes, and what an integrator and a clerk do with them. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const [
    { buscaStore },
    { exportacaoDoConsoleStore },
    { nfseStore },
    { nomeStore },
    { notaStore },
    { notaRetidaStore },
  ] = await Promise.all([
    import('./buscar.rows.ts'),
    import('./exportacoes-do-console.rows.ts'),
    import('./exportar.rows.ts'),
    import('./nomes.rows.ts'),
    import('./notas.rows.ts'),
    import('./retidas.rows.ts'),
  ]);
  return (setup: StoreSetup) => {
    return {
      notas: notaStore(setup),
      retidas: notaRetidaStore(setup.pool),
      busca: buscaStore(setup.pool),
      nfses: nfseStore(setup.pool),
      exportacoesDoConsole: exportacaoDoConsoleStore(setup.pool),
      nomes: nomeStore(setup.pool),
    };
  };
};

export default {
  rows,
  jobs: async () => (await import('./jobs.job.ts')).JOBS,
  repeated: async () => (await import('./jobs.job.ts')).REPEATED,
  routes: async () => (await import('./rotas.rest.ts')).ROTAS_DE_NOTAS,
  shapes: async () => (await import('./rotas.rest.ts')).SHAPES_DE_NOTAS,
  pages: async () => (await import('./pages.page.ts')).NOTAS_PAGES,
  trabalhos: async () => {
    const { openExportacoes } = await import('./exportar.ts');
    return (setup) => ({ exportacoes: openExportacoes(setup) });
  },
  commands: [
    { words: ['emitir'], load: async () => [(await import('./emitir.command.ts')).EMITIR] },
    { words: ['validar'], load: async () => [(await import('./validar.command.ts')).VALIDAR] },
    { words: ['migrar-dps'], load: async () => [(await import('./migrar-dps.command.ts')).MIGRAR_DPS] },
    { words: ['danfse'], load: async () => [(await import('./danfse.command.ts')).DANFSE] },
    { words: ['explicar'], load: async () => [(await import('./explicar.command.ts')).EXPLICAR] },
    { words: ['nota'], load: async () => (await import('./buscar.command.ts')).BUSCA_COMMANDS },
    { words: ['nota'], load: async () => (await import('./nota.command.ts')).NOTA_COMMANDS },
  ],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

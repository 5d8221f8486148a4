/** Registers of a municipality, and the rates. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const [
    { listasMantidas },
    { prestadorStore },
    { aliquotaStore },
    { cadastroStore },
    { prestadorImport },
    { procuraPrestadorStore },
    { servicoStore },
  ] = await Promise.all([
    import('../../base/book/listas.ts'),
    import('../../base/book/prestadores.ts'),
    import('./aliquotas.rows.ts'),
    import('./cadastros.rows.ts'),
    import('./import-prestadores.rows.ts'),
    import('./procurar-prestadores.rows.ts'),
    import('./servicos.rows.ts'),
  ]);
  return ({ pool }: StoreSetup) => {
    const mantidas = listasMantidas(pool);
    return {
      prestadores: { ...prestadorStore(pool), ...prestadorImport(pool), ...procuraPrestadorStore(pool) },
      servicos: servicoStore(pool, mantidas),
      aliquotas: aliquotaStore(pool),
      cadastros: cadastroStore(pool, mantidas),
    };
  };
};

export default {
  rows,
  fillTables: async () => (await import('./aliquotas.rows.ts')).importShipped,
  repeated: async () => (await import('./aliquotas.job.ts')).REPEATED,
  routes: async () => (await import('./catalogos.rest.ts')).ROTAS_DE_CATALOGOS,
  shapes: async () => (await import('./catalogo-fields.rest.ts')).CATALOGO_SHAPES,
  pages: async () => (await import('./pages.page.ts')).CADASTROS_PAGES,
  trabalhos: async () => {
    const { openImportacoes } = await import('./importar-arquivo.ts');
    return (setup) => ({ importacoes: openImportacoes(setup) });
  },
  commands: [
    { words: ['prestador'], load: async () => (await import('./prestador.command.ts')).PRESTADOR_COMMANDS },
    {
      words: ['servicos', 'beneficios', 'deducoes', 'regimes', 'nao-incidencias'],
      load: async () => (await import('./listas.command.ts')).LISTA_COMMANDS,
    },
    { words: ['aliquotas'], load: async () => (await import('./aliquotas.command.ts')).ALIQUOTAS_COMMANDS },
    { words: ['correlacao'], load: async () => (await import('./correlacao.command.ts')).CORRELACAO_COMMANDS },
  ],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

/** Registers of a municipality, and the rates. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
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

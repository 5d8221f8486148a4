/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { buscaStore } from './buscar.rows.ts';
import { nomeStore } from './nomes.rows.ts';
import { notaStore } from './notas.rows.ts';
import { notaRetidaStore } from './retidas.rows.ts';

export function createStore(setup: StoreSetup) {
  return {
    notas: notaStore(setup),
    retidas: notaRetidaStore(setup.pool),
    busca: buscaStore(setup.pool),
    nomes: nomeStore(setup.pool),
  };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}

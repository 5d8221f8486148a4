/** This subject's part of the store. */
import { listasMantidas } from '../../base/book/listas.ts';
import { prestadorStore } from '../../base/book/prestadores.ts';
import type { StoreSetup } from '../../base/book/store.ts';
import { aliquotaStore } from './aliquotas.rows.ts';
import { cadastroStore } from './cadastros.rows.ts';
import { prestadorImport } from './import-prestadores.rows.ts';
import { procuraPrestadorStore } from './procurar-prestadores.rows.ts';
import { servicoStore } from './servicos.rows.ts';

export function createStore({ pool }: StoreSetup) {
  const mantidas = listasMantidas(pool);
  return {
    prestadores: { ...prestadorStore(pool), ...prestadorImport(pool), ...procuraPrestadorStore(pool) },
    servicos: servicoStore(pool, mantidas),
    aliquotas: aliquotaStore(pool),
    cadastros: cadastroStore(pool, mantidas),
  };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}

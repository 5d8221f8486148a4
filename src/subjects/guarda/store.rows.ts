/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { arquivoStore } from './arquivar.rows.ts';
import { eliminacaoStore } from './eliminar.rows.ts';
import { guardaStore } from './guarda.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { arquivo: arquivoStore(pool), eliminacao: eliminacaoStore(pool), guarda: guardaStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}

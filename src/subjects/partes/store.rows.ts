/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { exportacaoStore } from './exportacoes.rows.ts';
import { titularStore } from './titular.rows.ts';
import { tokenStore } from './tokens.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { exportacoes: exportacaoStore(pool), titular: titularStore(pool), tokens: tokenStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}

/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { entregaStore } from './entregas.rows.ts';
import { mudancaStore } from './mudancas.rows.ts';
import { webhookStore } from './webhooks.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { mudancas: mudancaStore(pool), webhooks: webhookStore(pool), entregas: entregaStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}

/** This subject's part of the store. */
import type { StoreSetup } from '../../base/book/store.ts';
import { contaStore, passkeyStore } from './contas.rows.ts';
import { sessaoStore } from './sessoes.rows.ts';

export function createStore({ pool }: StoreSetup) {
  return { contas: contaStore(pool), passkeys: passkeyStore(pool), sessoes: sessaoStore(pool) };
}

declare module '../../base/book/store.ts' {
  interface Store extends ReturnType<typeof createStore> {}
}

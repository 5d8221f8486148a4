/** Repeated work of keeping: expired rows are deleted, and documents of finished notes compressed. */
import type { Repeated } from '../../base/delivery/repetition.ts';
import { HOUR_MS } from '../../fiscal/moment.ts';

/** Sandboxes of tenants that are deleted in one turn. */
const EXPIRED_AT_ONCE = 20;

export const REPEATED: readonly Repeated[] = [
  {
    // Answers that are kept for a repetition (D-19), rehearsals (D-264), and sandboxes.
    trabalho: 'guarda',
    everyMs: HOUR_MS,
    trouble: 'o que passou do prazo de guarda não pôde ser apagado',
    work: async ({ store, now }) => {
      if ((await store.idempotencia.forget(now())) || (await store.guarda.forgetRehearsals(now()))) return true;
      const expired = await store.ensaios.listExpired(now(), EXPIRED_AT_ONCE);
      for (const tenant of expired) await store.ensaios.delete(tenant);
      return expired.length === EXPIRED_AT_ONCE;
    },
  },
  {
    trabalho: 'compressao',
    everyMs: HOUR_MS,
    trouble: 'documentos antigos não puderam ser comprimidos',
    work: ({ store, now }) => store.documentos.compress(now()),
  },
];

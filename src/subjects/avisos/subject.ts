/** Changes, and the webhooks that tell them. */
import type { StoreSetup } from '../../base/book/store.ts';
import type { RowsOf, Subject } from '../subject.ts';

const rows = async () => {
  const [{ entregaStore }, { mesFechadoStore }, { mudancaStore }, { webhookStore }] = await Promise.all([
    import('./entregas.rows.ts'),
    import('./meses.rows.ts'),
    import('./mudancas.rows.ts'),
    import('./webhooks.rows.ts'),
  ]);
  return ({ pool }: StoreSetup) => {
    return {
      mudancas: mudancaStore(pool),
      webhooks: webhookStore(pool),
      entregas: entregaStore(pool),
      mesesFechados: mesFechadoStore(pool),
    };
  };
};

export default {
  rows,
  jobs: async () => (await import('./jobs.job.ts')).JOBS,
  repeated: async () => (await import('./jobs.job.ts')).REPEATED,
  routes: async () => (await import('./webhooks.rest.ts')).ROTAS_DE_WEBHOOKS,
  shapes: async () => (await import('./webhooks.rest.ts')).WEBHOOK_SHAPES,
  pages: async () => (await import('./pages.page.ts')).AVISOS_PAGES,
  commands: [{ words: ['webhook'], load: async () => (await import('./webhook.command.ts')).WEBHOOK_COMMANDS }],
} satisfies Subject;

declare module '../../base/book/store.ts' {
  interface Store extends RowsOf<typeof rows> {}
}

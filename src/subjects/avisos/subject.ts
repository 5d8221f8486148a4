/** Changes, and the webhooks that tell them. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  jobs: async () => (await import('./jobs.job.ts')).JOBS,
  routes: async () => (await import('./webhooks.rest.ts')).ROTAS_DE_WEBHOOKS,
  shapes: async () => (await import('./webhooks.rest.ts')).WEBHOOK_SHAPES,
  pages: async () => (await import('./pages.page.ts')).AVISOS_PAGES,
  commands: [{ words: ['webhook'], load: async () => (await import('./webhook.command.ts')).WEBHOOK_COMMANDS }],
} satisfies Subject;

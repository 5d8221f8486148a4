/** Lots of RPS, on the legacy SOAP port. */
import type { Subject } from '../subject.ts';

export default {
  rows: async () => (await import('./store.rows.ts')).createStore,
  jobs: async () => (await import('./lotes.job.ts')).JOBS,
} satisfies Subject;

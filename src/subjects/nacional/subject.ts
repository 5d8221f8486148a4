/** The contract of the national API at the address of a municipality. */
import type { Subject } from '../subject.ts';

export default {
  routes: async () => (await import('./rotas.rest.ts')).ROTAS_NACIONAIS,
  shapes: async () => (await import('./rotas.rest.ts')).SHAPES_NACIONAIS,
} satisfies Subject;

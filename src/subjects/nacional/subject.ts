/** The contract of the national API at the address of a municipality. */
import type { Subject } from '../subject.ts';

export default {
  routes: async () => [
    ...(await import('./rotas.rest.ts')).ROTAS_NACIONAIS,
    ...(await import('./parametros.rest.ts')).ROTAS_DE_PARAMETROS,
  ],
  shapes: async () => ({
    ...(await import('./rotas.rest.ts')).SHAPES_NACIONAIS,
    ...(await import('./parametros.rest.ts')).SHAPES_DE_PARAMETROS,
  }),
} satisfies Subject;

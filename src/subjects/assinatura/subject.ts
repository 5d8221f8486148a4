/** Signatures: verified for an integrator, and made at the command line. */
import type { Subject } from '../subject.ts';

export default {
  routes: async () => (await import('./verificacao.rest.ts')).ROTAS_DE_ASSINATURA,
  shapes: async () => (await import('./verificacao.rest.ts')).VERIFICACAO_SHAPES,
  commands: [
    { words: ['assinar'], load: async () => [(await import('./assinar.command.ts')).ASSINAR] },
    { words: ['assinatura'], load: async () => [(await import('./assinatura.command.ts')).ASSINATURA] },
  ],
} satisfies Subject;

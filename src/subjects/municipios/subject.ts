/** Municipalities: their settings, and their first page in the console. */
import type { Subject } from '../subject.ts';

export default {
  pages: async () => (await import('./pages.page.ts')).MUNICIPIOS_PAGES,
  commands: [
    { words: ['municipio'], load: async () => (await import('./municipio.command.ts')).MUNICIPIO_COMMANDS },
    { words: ['municipio'], load: async () => [(await import('./abrir.command.ts')).ABRIR_COMMAND] },
    { words: ['municipio'], load: async () => (await import('./mudanca.command.ts')).MUDANCA_COMMANDS },
    { words: ['municipio'], load: async () => [(await import('./brasao.command.ts')).BRASAO_COMMAND] },
    { words: ['pki'], load: async () => [(await import('./pki.command.ts')).PKI] },
  ],
} satisfies Subject;

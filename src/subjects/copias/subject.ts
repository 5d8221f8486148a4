/** Copies of the database, and the way back. */
import type { Subject } from '../subject.ts';

export default {
  commands: [{ words: ['copia'], load: async () => (await import('./copia.command.ts')).COPIA_COMMANDS }],
} satisfies Subject;

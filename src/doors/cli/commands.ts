/** The file of each command, by its first word: a command loads its own file alone. The order is that of the help. */
import type { Command } from '../../base/terminal/command.ts';
import type { CommandFile } from '../../subjects/subject.ts';
import { SUBJECTS } from '../../subjects/subjects.ts';

/** Commands about the program itself. */
const OWN: readonly CommandFile[] = [
  { words: ['serve', 'transmitir'], load: async () => (await import('./serve.ts')).SERVE_COMMANDS },
  { words: ['migrar'], load: async () => [(await import('./serve.ts')).MIGRAR] },
  { words: ['config'], load: async () => [(await import('./config.ts')).CONFIG] },
  { words: ['adn-simulador'], load: async () => [(await import('./adn-simulador.ts')).ADN_SIMULADOR] },
];

const FILES: readonly CommandFile[] = [
  ...OWN,
  ...SUBJECTS.flatMap(({ default: subject }) => ('commands' in subject ? subject.commands : [])),
];

/** The commands that begin with this word; the list is empty for an unknown word. */
export function loadCommands(word: string): Promise<readonly Command[]> {
  return loadFiles(FILES.filter(({ words }) => words.includes(word)));
}

export function loadAllCommands(): Promise<readonly Command[]> {
  return loadFiles(FILES);
}

async function loadFiles(files: readonly CommandFile[]): Promise<readonly Command[]> {
  return (await Promise.all(files.map((file) => file.load()))).flat();
}

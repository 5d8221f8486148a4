/** The file of each command, by its first word: a command loads its own file alone. The order is that of the help. */
import type { Command } from '../../base/terminal/command.ts';
import type { CommandFile, Subject } from '../../subjects/subject.ts';
import { SUBJECTS } from '../../subjects/subjects.ts';

/** Commands about the program itself. */
const OWN: readonly CommandFile[] = [
  { words: ['serve', 'transmitir'], load: async () => (await import('./serve.ts')).SERVE_COMMANDS },
  { words: ['migrar'], load: async () => [(await import('./serve.ts')).MIGRAR] },
  { words: ['config'], load: async () => [(await import('./config.ts')).CONFIG] },
  { words: ['adn-simulador'], load: async () => [(await import('./adn-simulador.ts')).ADN_SIMULADOR] },
];

/** The commands that begin with this word; the list is empty for an unknown word. One subject has all commands of a word. */
export async function loadCommands(word: string): Promise<readonly Command[]> {
  const own = OWN.filter(({ words }) => words.includes(word));
  if (own.length > 0) return loadFiles(own);
  for (const loadSubject of SUBJECTS) {
    const found = (await listFiles(loadSubject)).filter(({ words }) => words.includes(word));
    if (found.length > 0) return loadFiles(found);
  }
  return [];
}

export async function loadAllCommands(): Promise<readonly Command[]> {
  return loadFiles([...OWN, ...(await Promise.all(SUBJECTS.map(listFiles))).flat()]);
}

async function listFiles(loadSubject: () => Promise<{ readonly default: Subject }>): Promise<readonly CommandFile[]> {
  return (await loadSubject()).default.commands ?? [];
}

async function loadFiles(files: readonly CommandFile[]): Promise<readonly Command[]> {
  return (await Promise.all(files.map((file) => file.load()))).flat();
}

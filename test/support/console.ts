/** The commands that a page tells its reader to type. */
import { readFile } from 'node:fs/promises';

/** The lines of a text's code blocks; continued lines are joined. */
export function linesOf(markdown: string): readonly string[] {
  const blocks = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  return blocks.flatMap((block) =>
    block
      .replace(/\\\n\s*/g, ' ')
      .trim()
      .split('\n'),
  );
}

/** The words of a line as a shell splits it, with the syntax that the page uses: quotes, and `$(cat FILE)`. */
export async function wordsOf(line: string): Promise<readonly string[]> {
  let text = line;
  for (const [whole, file] of line.matchAll(/\$\(cat ([^)]+)\)/g)) {
    text = text.replace(whole, (await readFile(file!, 'utf8')).trimEnd());
  }
  return [...text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

/** What a page shows to be typed. */
import { readFile } from 'node:fs/promises';

/** The lines of the blocks of a text, those that go on over several joined. */
export function linesOf(markdown: string): readonly string[] {
  const blocks = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  return blocks.flatMap((block) =>
    block
      .replace(/\\\n\s*/g, ' ')
      .trim()
      .split('\n'),
  );
}

/** A line as a shell reads it, as far as the page goes: quotes, and `$(cat FILE)`. */
export async function wordsOf(line: string): Promise<readonly string[]> {
  let text = line;
  for (const [whole, file] of line.matchAll(/\$\(cat ([^)]+)\)/g)) {
    text = text.replace(whole, (await readFile(file!, 'utf8')).trimEnd());
  }
  return [...text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

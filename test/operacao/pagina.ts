/** Commands that a page of the documentation gives an operator: the script runs those, and none of its own where a page has one. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, VERSION } from '../support/pacote-servico.ts';

/** The command blocks of a section, each as one script. */
export function blocksOf(page: string, section: string): readonly string[] {
  const text = readFileSync(path.join(ROOT, 'docs/site', page), 'utf8').replaceAll('{{versao}}', VERSION);
  const from = new RegExp(`^#+ ${section}$`, 'm').exec(text);
  if (from === null) throw new Error(`${page} has no section «${section}»`);
  const [own] = text.slice(from.index + 1).split(/^##/m);
  const blocks = [...own!.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, lines]) => lines!);
  if (blocks.length === 0) throw new Error(`«${section}» of ${page} has no commands`);
  return blocks;
}

export function commandsOf(page: string, section: string): string {
  return blocksOf(page, section).join('');
}

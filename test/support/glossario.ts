/** The glossary of the documentation: words that no screen, page or help says. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cnpjIsValid } from '../../src/fiscal/chave.ts';

const PAGE = readFileSync(new URL('../../docs/site/glossario.md', import.meta.url), 'utf8');

/** The last column of each table, word by word. */
export const AVOIDED: readonly string[] = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.startsWith('| Termo'))
  .flatMap((line) => line.split('|').at(-2)!.split(','))
  .map((word) => word.trim())
  .filter((word) => word !== '');

const PATTERN = new RegExp(`(?<![\\p{L}\\d_/.-])(?:${AVOIDED.join('|')})(?![\\p{L}\\d_/-])`, 'giu');

/** Avoided words of a text, each with a few characters around it. */
export function findAvoided(text: string): readonly string[] {
  return [...text.matchAll(PATTERN)].map(({ index }) => text.slice(Math.max(0, index - 40), index + 40));
}

/** The text of a page that a person reads: without scripts, styles, addresses and code. */
export function readVisible(html: string): string {
  return html
    .replaceAll(/<(script|style|code|pre|textarea)\b[\s\S]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}

/** Fails for a page that says an avoided word. */
export function assertWords(html: string, where: string): void {
  assert.deepEqual(findAvoided(readVisible(html)), [], where);
}

/** Fails for a page with the digits of a CNPJ and no points between them. */
export function assertDots(html: string, where: string): void {
  const words = readVisible(html).match(/(?<![\w.-])[\dA-Z]{12}\d{2}(?![\w.-])/g) ?? [];
  assert.deepEqual(words.filter(cnpjIsValid), [], where);
}

/** One term for one thing: documentation and help say no word that the glossary gives up. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { AVOIDED, findAvoided } from './support/glossario.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** The prose of a page: without code, addresses of links, and HTML. */
function readProse(markdown: string): string {
  return markdown
    .replaceAll(/^```[\s\S]*?^```/gm, ' ')
    .replaceAll(/`[^`\n]*`/g, ' ')
    .replaceAll(/\]\([^)]*\)/g, ']');
}

test('pages of the documentation', () => {
  const files = globSync(
    ['docs/site/*.md', 'docs/{soap,layout,estados,seguranca}.md', 'docs/erros/*.md', 'README.md'],
    {
      cwd: ROOT,
    },
  ).filter((file) => !file.endsWith('glossario.md'));
  assert.ok(files.length > 40 && AVOIDED.length > 8);
  const found = files.flatMap((file) =>
    findAvoided(readProse(readFileSync(path.join(ROOT, file), 'utf8'))).map((words) => `${file}: ${words}`),
  );
  assert.deepEqual(found, []);
});

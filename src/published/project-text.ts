import { readFileSync } from 'node:fs';

/** The text of a file of the project; `path` from its root. */
export function projectText(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

import { readFileSync } from 'node:fs';

/** The text of a project file; `path` starts at the project's root. */
export function projectText(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/**
 * Joins the fragments of `changes/` into a section of `CHANGELOG.md` for a release. Parallel changes write a file each, and so never
 * meet in one text. `node scripts/changelog.ts` only shows the section; with a version it is written, and the fragments are removed.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Fragment, readFragment, SECTIONS } from '../src/published/changelog.ts';

const VERSION = /^\d+\.\d+\.\d+$/;

/** The text of a release, with the fragments of each section in the order of their numbers. `title`: its version, and its day. */
export function joinFragments(fragments: readonly Fragment[], title: string): string {
  const found = fragments.toSorted((one, other) => (one.name < other.name ? -1 : 1)).map(readFragment);
  const parts = SECTIONS.flatMap((section) => {
    const bodies = found.filter((one) => one.section === section).map(({ body }) => body);
    return bodies.length === 0 ? [] : [`## ${section}\n\n${bodies.join('\n')}\n`];
  });
  return [`# O que muda na ${title}\n`, ...parts].join('\n');
}

/** The fragments of a folder; its README explains them, and is none. */
export function readFragments(folder: string): readonly Fragment[] {
  const names = readdirSync(folder).filter((name) => name !== 'README.md');
  return names.map((name) => ({ name, text: readFileSync(path.join(folder, name), 'utf8') }));
}

/** The page of the changelog has one title: the release before becomes a part of it. Older ones are that already. */
function lowerHeadings(published: string): string {
  const older = published.search(/^## O que /m);
  const last = older === -1 ? published : published.slice(0, older);
  return last.replaceAll(/^#+ /gm, '#$&') + published.slice(last.length);
}

/** Writes a release on top of the changelog of this root, and removes its fragments. `dia`: its day, `YYYY-MM-DD`. */
export function release(root: string, version: string, dia: string): void {
  const folder = path.join(root, 'changes');
  const fragments = readFragments(folder);
  if (!VERSION.test(version)) throw new Error(`${version}: a version is called 0.2.0`);
  if (fragments.length === 0) throw new Error('changes/ has no fragment: there is nothing to release');
  const file = path.join(root, 'CHANGELOG.md');
  const published = readFileSync(file, 'utf8');
  if (new RegExp(`^#+ O que \\S+ na ${RegExp.escape(version)}(?: |$)`, 'm').test(published))
    throw new Error(`CHANGELOG.md has ${version} already`);
  writeFileSync(file, `${joinFragments(fragments, `${version} (${dia})`)}\n${lowerHeadings(published)}`);
  for (const { name } of fragments) rmSync(path.join(folder, name));
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, '..');
  const [version] = process.argv.slice(2);
  if (version === undefined) process.stdout.write(joinFragments(readFragments(path.join(root, 'changes')), '…'));
  else release(root, version, new Date().toISOString().slice(0, 10));
}

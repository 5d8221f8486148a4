/**
 * The changes of the service as they are written down: a file each in `changes/` until a release joins them, and `CHANGELOG.md`. A change
 * for integrators has its day, because a service may run a version between two releases.
 */
import { globSync } from 'node:fs';
import { projectText } from './project-text.ts';

const FRAGMENT = /^\d{3}-[a-z0-9-]+\.md$/;

export const DE_QUEM_INTEGRA = 'Para quem integra';
/** The sections of the changelog, in their order. */
export const SECTIONS: readonly string[] = [DE_QUEM_INTEGRA, 'Para quem opera', 'Segurança'];

export type Fragment = { readonly name: string; readonly text: string };

/** `dia`: undefined if the change does not say it. `body`: its items. */
type Change = { readonly section: string; readonly dia: string | undefined; readonly body: string };

export function readFragment({ name, text }: Fragment): Change {
  if (!FRAGMENT.test(name)) throw new Error(`${name}: a fragment is called NNN-subject.md`);
  const [, section = '', dia, body = ''] = /^## (.+?)(?: \((\d{4}-\d\d-\d\d)\))?\n\s*([\s\S]*)$/.exec(text) ?? [];
  if (!SECTIONS.includes(section)) throw new Error(`${name}: the first line is one of: ## ${SECTIONS.join(', ## ')}`);
  if (!/^- \S/.test(body)) throw new Error(`${name}: the text of a change is an item, which begins with "- "`);
  if (/^## /m.test(body)) throw new Error(`${name}: a fragment has one section; another one is another file`);
  return { section, dia, body: body.trimEnd() };
}

/** A change for integrators. `id`: the same for good; `texto`: Markdown in one paragraph. */
export type Mudanca = { readonly id: string; readonly dia: string; readonly texto: string };

/** The changes for integrators since the last release, and those of dated releases, the newest first. */
export function listMudancas(): readonly Mudanca[] {
  const files = globSync('[0-9]*.md', { cwd: new URL('../../changes', import.meta.url) });
  const fragments = files.map((name) => ({ name, ...readFragment({ name, text: projectText(`changes/${name}`) }) }));
  const parts = [
    ...fragments.map(({ name, ...change }) => ({ id: name.replace('.md', ''), ...change })),
    ...releases(),
  ];
  return parts
    .flatMap(({ id, section, dia, body }) => {
      if (section !== DE_QUEM_INTEGRA || dia === undefined) return [];
      const items = body.split(/^- /m).slice(1);
      return items.map((item, place) => ({
        id: `${id}-${place + 1}`,
        dia,
        texto: item.trim().replace(/\s*\n\s*/g, ' '),
      }));
    })
    .toSorted((one, other) => compare(other.dia, one.dia) || compare(other.id, one.id));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The sections of the releases whose title has their day. */
function releases(): readonly (Change & { readonly id: string })[] {
  const [, ...texts] = projectText('CHANGELOG.md').split(/^#{1,2} (?=O que (?:há|muda) na )/m);
  return texts.flatMap((text) => {
    const [, version, dia] = /^O que \S+ na (\S+)(?: \((\d{4}-\d\d-\d\d)\))?\n/.exec(text)!;
    const [, ...sections] = text.split(/^#{2,3} /m);
    return sections.map((one) => {
      const [section = '', ...lines] = one.split('\n');
      return { id: `${version}`, dia, section, body: lines.join('\n') };
    });
  });
}

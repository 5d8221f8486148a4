/** Elements of the layout for the documents about it: the way to a path, and the meanings of values. */
import { type CampoEnumerado, enumeracaoOf } from '../../fiscal/catalogs/catalogs.ts';
import { INF_DPS } from '../../fiscal/layout/dps.ts';
import { elementsOf, type Group, type Item, joinPath, type Leaf } from '../../fiscal/layout/vocabulary.ts';

export type Step = {
  readonly element: Leaf | Group;
  /** The paths of the choice that the element belongs to, its own included. */
  readonly choice: { readonly min: 0 | 1; readonly paths: readonly string[] } | undefined;
  readonly parent: string;
};

/** The element at a path of the DPS; undefined: the layout has none. */
export function elementAt(path: string): Leaf | Group | undefined {
  let items: readonly Item[] = INF_DPS;
  let found: Leaf | Group | undefined;
  for (const name of path.split('/')) {
    found = elementsOf(items).find((item) => item.name === name);
    items = found?.kind === 'group' ? found.items : [];
  }
  return found;
}

/** The elements on the way to a path of the DPS. */
function stepsTo(path: string): readonly Step[] {
  let items: readonly Item[] = INF_DPS;
  let above = '';
  let parent = 'infDPS';
  return path.split('/').map((name) => {
    const element = elementsOf(items).find((one) => one.name === name)!;
    const choice = items.find((item) => item.kind === 'choice' && item.items.includes(element));
    const paths = choice?.kind === 'choice' ? choice.items.map((one) => joinPath(above, one.name)) : [];
    const step = {
      element,
      choice: choice?.kind === 'choice' ? { min: choice.min, paths } : undefined,
      parent,
    };
    if (element.kind === 'group') items = element.items;
    above = joinPath(above, name);
    parent = name;
    return step;
  });
}

/** The steps to an element of the DPS from the group at `above`. */
export function stepsBelow(above: string, path: string): readonly Step[] {
  return stepsTo(joinPath(above, path)).slice(above === '' ? 0 : above.split('/').length);
}

/** The content of items as a text, for comparing two groups or objects: names, types, occurrence, codes and words. */
export function contentOf(items: Iterable<unknown>): string {
  return JSON.stringify([...items], (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}

/** The meanings of the values of an enumerated field; none if its description names every value. */
export function meaningsOf({ name, doc, type: { values } }: Leaf, parent: string): ReturnType<typeof enumeracaoOf> {
  if (values === undefined || values.every((value) => doc.includes(value))) return [];
  const fields = [`${parent}/${name}`, name] as readonly CampoEnumerado[];
  const rows = fields.map(enumeracaoOf).find((found) => found.length > 0) ?? [];
  return rows.filter(({ codigo }) => values.includes(codigo));
}

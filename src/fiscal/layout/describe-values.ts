/**
 * The values of a document in words: each leaf with the label of its place in the layout, and its text as Brazilian officials write it. The
 * labels are those of the layout's tables.
 */
import { enumeracaoOf } from '../catalogs/catalogs.ts';
import type { CampoEnumerado } from '../catalogs/rows.ts';
import { showDocumento } from '../chave.ts';
import { groupDecimal } from '../group-digits.ts';
import { brazilianDate } from '../moment.ts';
import type { Elemento } from './tree.ts';
import { elementsOf, type Group, type Item, type Leaf } from './vocabulary.ts';

export type DescribedValue = {
  /** The group and the label, as `IBS do estado: alíquota`. */
  readonly rotulo: string;
  /** The element's name. */
  readonly campo: string;
  readonly valor: string;
};

/** The leaves of an element, in the order of the document. An element that the layout lacks keeps its name. */
export function describeValues(element: Elemento, items: readonly Item[], within = ''): readonly DescribedValue[] {
  return element.children.flatMap((child): readonly DescribedValue[] => {
    const item = elementsOf(items).find(({ name, alias }) => name === child.name || alias === child.name);
    if (item === undefined) return [{ rotulo: child.name, campo: child.name, valor: child.text }];
    const label = shortLabel(item);
    if (item.kind === 'group') return describeValues(child, item.items, label);
    const rotulo = within === '' ? label : `${within}: ${label.charAt(0).toLowerCase()}${label.slice(1)}`;
    return [{ rotulo, campo: child.name, valor: describeText(item, child.text) }];
  });
}

/** The label of a place: its description up to the first explanation. */
function shortLabel({ doc }: Group | Leaf): string {
  return /^[^:;,(]+/.exec(doc)?.[0].trim() ?? doc;
}

function describeText({ name, type }: Leaf, text: string): string {
  if (type.kind === 'decimal' && /^\d+(?:\.\d+)?$/.test(text))
    // The layout names percentages with p, and amounts with v.
    return name.startsWith('p') ? `${groupDecimal(text)} %` : `R$ ${groupDecimal(text)}`;
  if (type.kind === 'date') return brazilianDate(text);
  if (name === 'CNPJ' || name === 'CPF') return showDocumento(text);
  const known = enumeracaoOf(name as CampoEnumerado).find(({ codigo }) => codigo === text);
  return known === undefined ? text : `${known.descricao} (${text})`;
}

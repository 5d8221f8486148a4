/**
 * Reads a tree without structural faults, in one walk that builds no paths and no messages. A tree with faults gives no result here:
 * `read.ts` then reads it again and explains (D-375). Both readers use the same tables.
 */
import { isBlank } from './check-text.ts';
import { DPS_NAMESPACE, type Dps } from './dps.ts';
import type { Compiled, Layout, Slot } from './layouts.ts';
import { ID_FORM, SIGNATURE_NAMESPACE, strayAttributes } from './reading.ts';
import { attributeOf, type Elemento } from './tree.ts';

/** The DPS in a tree, and its identifier; undefined if the tree has any fault. */
export function readRight(layout: Layout, root: Elemento): { readonly dps: Dps; readonly id: string } | undefined {
  if (root.name !== 'DPS' || root.namespace !== DPS_NAMESPACE) return undefined;
  if (strayAttributes(root, 'versao').length > 0 || !isBlank(root.text)) return undefined;
  let infDps: Elemento | undefined;
  let isSigned = false;
  for (const child of root.children) {
    if (infDps === undefined && child.name === 'infDPS' && child.namespace === DPS_NAMESPACE) infDps = child;
    else if (!isSigned && child.name === 'Signature' && child.namespace === SIGNATURE_NAMESPACE) isSigned = true;
    else return undefined;
  }
  if (infDps === undefined || strayAttributes(infDps, 'Id').length > 0) return undefined;
  const id = attributeOf(infDps, 'Id');
  const read = id !== undefined && ID_FORM.test(id) ? readGroup(layout.compiled, infDps) : undefined;
  return read && { dps: layout.toDps(read), id: id! };
}

function readGroup({ slots, needed }: Compiled, { children, namespace, text }: Elemento): object | undefined {
  if (children.length === 0 || !isBlank(text)) return undefined;
  const values: Record<string, unknown> = {};
  let [seen, last] = [0, 0];
  for (const child of children) {
    const slot = slots.get(child.name);
    if (slot === undefined || child.namespace !== namespace) return undefined;
    const { bit, order = last } = slot;
    if (order < last) return undefined;
    last = order;
    const value = readItem(slot, child);
    if (value === undefined) return undefined;
    const { name, max } = slot.item;
    const list = max === 1 ? undefined : (values[name] as unknown[] | undefined);
    if (list === undefined) {
      // The element was present already, or another member of its choice.
      if ((seen & bit) !== 0) return undefined;
      values[name] = max === 1 ? value : [value];
    } else if (list.push(value) > max) return undefined;
    seen |= bit;
  }
  return (seen & needed) === needed ? values : undefined;
}

function readItem({ item, inside, read }: Slot, element: Elemento): unknown {
  if (element.attributes.length > 0 && strayAttributes(element).length > 0) return undefined;
  if (inside !== undefined) return readGroup(inside, element);
  if (element.children.length > 0) return undefined;
  const value = read!(element.text);
  return value === undefined && item.kind === 'leaf' && item.emptyIsRead && isBlank(element.text) ? '' : value;
}

/**
 * Writes a DPS as the JSON body that becomes it: the inverse of `read-corpo.ts`, for the examples of the pages and for clients that change
 * from XML to JSON.
 *
 * Every value is a string, unchanged from the DPS, even a wrong one. An example of a mistake thus makes the same mistake. An element
 * unknown to the layout is written under its own name, in the corresponding object.
 */
import { type Campo, CORPO, type Grupo, type Item } from './corpo.ts';
import { DPS_NAMESPACE } from './dps.ts';
import type { Elemento } from './tree.ts';

type Json = string | Json[] | { [name: string]: Json };

/** The document gives two values for one property of the body. */
class Unsayable extends Error {}

/**
 * The body of an `infDPS`, indented; `declared` are the values that stand in no DPS, by their place (`ibscbs.total_cbs`). Undefined if no
 * body can express it: two documents of one party, or a repeated element that the body has once.
 */
export function writeCorpo(infDps: Elemento, declared: ReadonlyMap<string, string> = new Map()): string | undefined {
  try {
    return JSON.stringify(objectOf(CORPO, infDps, '', declared), null, 2);
  } catch (error) {
    if (error instanceof Unsayable) return undefined;
    throw error;
  }
}

/** Elements that became a value or an object, and groups between them that the body does not show. */
type Known = { readonly taken: Set<Elemento>; readonly passed: Set<Elemento> };

function objectOf(
  items: readonly Item[],
  element: Elemento | undefined,
  place: string,
  declared: ReadonlyMap<string, string>,
): Record<string, Json> {
  // The object has no prototype: a strange element may have any name.
  const object: Record<string, Json> = Object.create(null);
  const known: Known = { taken: new Set(), passed: new Set() };
  for (const item of items) {
    const value =
      item.kind === 'declaracao'
        ? declared.get(place + item.name)
        : item.kind === 'campo'
          ? campoOf(item, element, known)
          : grupoOf(item, element, known, `${place}${item.name}.`, declared);
    if (value !== undefined) object[item.name] = value;
  }
  if (element !== undefined) for (const strange of strangersIn(element, known)) addStranger(object, strange);
  return object;
}

function campoOf(campo: Campo, element: Elemento | undefined, known: Known): Json | undefined {
  const found = campo.paths.flatMap((path) => at(element, path, known));
  if (found.length === 0) return undefined;
  if (campo.many) return found.map(({ text }) => text);
  if (found.length > 1) throw new Unsayable();
  return found[0]!.text;
}

function grupoOf(
  grupo: Grupo,
  element: Elemento | undefined,
  known: Known,
  place: string,
  declared: ReadonlyMap<string, string>,
): Json | undefined {
  const found = at(element, grupo.path, known);
  const inside = (one: Elemento | undefined): Json => objectOf(grupo.items, one, place, declared);
  if (grupo.many) return found.length === 0 ? undefined : found.map(inside);
  if (found.length > 1) throw new Unsayable();
  const isDeclared = [...declared.keys()].some((name) => name.startsWith(place));
  return found.length === 0 && !isDeclared ? undefined : inside(found[0]);
}

/** The elements at a path below another. */
function at(element: Elemento | undefined, path: string, { taken, passed }: Known): Elemento[] {
  if (element === undefined) return [];
  const steps = path.split('/');
  let found: Elemento[] = [element];
  steps.forEach((step, place) => {
    found = found.flatMap(({ children }) => children.filter(({ name }) => name === step));
    for (const one of found) (place === steps.length - 1 ? taken : passed).add(one);
  });
  return found;
}

/** Elements that no property covers: strange elements, also those inside groups that the body does not show. */
function strangersIn(element: Elemento, known: Known): readonly Elemento[] {
  return element.children.flatMap((child) => {
    if (known.taken.has(child)) return [];
    if (!known.passed.has(child)) return [child];
    if (child.children.length === 0) throw new Unsayable();
    return strangersIn(child, known);
  });
}

function addStranger(object: Record<string, Json>, { name, text, children }: Elemento): void {
  if (name in object) throw new Unsayable();
  if (children.length === 0) {
    object[name] = text;
    return;
  }
  const inside: Record<string, Json> = Object.create(null);
  for (const child of children) addStranger(inside, child);
  object[name] = inside;
}

/** An `infDPS` of leaves by their path, as the examples give them; a leading `+` is an element that no layout has. */
export function treeOfLeaves(leaves: Iterable<readonly [path: string, text: string]>): Elemento {
  const root = growing('infDPS');
  for (const [path, text] of leaves) {
    if (path.startsWith('@')) continue;
    let element = root;
    for (const step of path.replace(/^\+/, '').split('/')) {
      let next = element.children.find(({ name }) => name === step);
      if (next === undefined) {
        next = growing(step);
        element.children.push(next);
      }
      element = next;
    }
    element.text = text;
  }
  return root;
}

type Growing = { -readonly [Key in keyof Omit<Elemento, 'children'>]: Elemento[Key] } & {
  readonly children: Growing[];
};

function growing(name: string): Growing {
  return { name, namespace: DPS_NAMESPACE, text: '', children: [], attributes: [], index: 0 };
}

/**
 * A document as a tree of elements, regardless of its source. `../../documents/xml.ts` builds it from XML, the JSON door from a body; the
 * reader knows only this form. Comments, processing instructions and the difference between text and CDATA are lost here.
 */
export type Elemento = {
  /** Local name. */
  readonly name: string;
  /** Namespace address, empty if there is none. */
  readonly namespace: string;
  /** All character data directly inside, in order, entities resolved. */
  readonly text: string;
  readonly children: readonly Elemento[];
  readonly attributes: readonly Atributo[];
  /** Place of the start tag among all start tags of the document, from 0. */
  readonly index: number;
};

export type Atributo = { readonly name: string; readonly namespace: string; readonly value: string };

/** The first child of a name. */
export function childOf(element: Elemento | undefined, name: string): Elemento | undefined {
  return element?.children.find((child) => child.name === name);
}

/** The value of an attribute without namespace. */
export function attributeOf(element: Elemento, name: string): string | undefined {
  return element.attributes.find((attribute) => attribute.name === name && attribute.namespace === '')?.value;
}

/**
 * The tree with another text in the child `name` of the child `group` of its root. A group without that child gets it as its first child; a
 * tree without the group is unchanged.
 */
export function withText(root: Elemento, group: string, name: string, text: string): Elemento {
  const changed = (parent: Elemento): Elemento => {
    const children = parent.children.map((child) => (child.name === name ? { ...child, text } : child));
    if (children.some((child) => child.name === name)) return { ...parent, children };
    const { namespace, index } = parent;
    return { ...parent, children: [{ name, namespace, text, children: [], attributes: [], index }, ...children] };
  };
  return { ...root, children: root.children.map((child) => (child.name === group ? changed(child) : child)) };
}

/**
 * The element that the xpath of a fault names, or its deepest existing ancestor. A missing element thus points at its expected place.
 * `same` tells whether a tag is a spelling of a path name.
 */
export function locate(
  root: Elemento,
  xpath: string,
  same: (tag: string, name: string) => boolean = (tag, name) => tag === name,
): Elemento {
  let place = root;
  const steps = xpath.split('/');
  if (steps.length < 2 || !same(root.name, steps[1]!)) return place;
  for (const step of steps.slice(2)) {
    const next = step.startsWith('@') ? undefined : childAt(place, step, same);
    if (next === undefined) return place;
    place = next;
  }
  return place;
}

/** The child that a step of an xpath names: `CNPJ`, or `docDedRed[2]`. */
function childAt(
  { children }: Elemento,
  step: string,
  same: (tag: string, name: string) => boolean,
): Elemento | undefined {
  const bracket = step.indexOf('[');
  const name = bracket < 0 ? step : step.slice(0, bracket);
  let left = bracket < 0 ? 1 : Number(step.slice(bracket + 1, -1));
  return children.find((child) => same(child.name, name) && --left === 0);
}

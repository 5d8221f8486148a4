/**
 * Reads the canonical form of a document, as libxml2 wrote it, into the tree of elements. A signature is checked over this very text, so
 * the tree is exactly the signed content. `plain-xml.ts` reads a plain document in another way.
 *
 * Canonical XML is a small language: double quotes, no empty-element tags, no CDATA, few character references. This reader knows that
 * language alone, and its input is always text from libxml2 or this service.
 */
import type { Atributo, Elemento } from '../fiscal/layout/tree.ts';
import { type CanonicalLayout, cutExclusive, cutInclusive, type Scope, SPACE, XML_NAMESPACE } from './canonical-cut.ts';

export type CanonicalReading = {
  readonly root: Elemento;
  /** The canonical form of one element, in the same way as that of the document. */
  canonicalOf(element: Elemento): string;
  /** The canonical form of the root without one element, as an enveloped signature omits itself. */
  rootWithout(element: Elemento): string;
};

/** A limit that the document exceeds, in Portuguese. */
export type Excess = { readonly limit: string };

/** A namespace whose address contains markup. libxml2 does not escape it, so the text after it cannot be read reliably. */
export type StrangeNamespace = { readonly limit: undefined; readonly strangeNamespace: string };

export type Limits = { readonly depth: number; readonly elements: number };

/** The declared namespaces of a canonical form: only the used ones (`exclusiva`), or all in force (`inclusiva`). */
export type CanonicalWay = 'exclusiva' | 'inclusiva';

const NO_ATTRIBUTES: readonly Atributo[] = [];
const NO_CHILDREN: Elemento[] = [];

const [SLASH, COLON, GREATER, QUESTION] = [47, 58, 62, 63];

/** An element whose end tag has not been read. */
type Open = { -readonly [Key in keyof Elemento]: Elemento[Key] } & { children: Elemento[] };

const OUTSIDE: Scope = { plain: '', own: new Map(), outer: undefined };

/** Reads the canonical form of a whole document. */
export function readCanonical(
  text: string,
  limits: Limits,
  way: CanonicalWay = 'exclusiva',
): CanonicalReading | Excess | StrangeNamespace {
  const starts: number[] = [];
  const ends: number[] = [];
  const lengths: number[] = [];
  const scopes: Scope[] = [];
  const parents: number[] = [];
  const stack: Open[] = [];
  let root: Elemento | undefined;
  let top: Open | undefined;
  let scope = OUTSIDE;
  let at = 0;
  for (let tag = text.indexOf('<'); tag >= 0; tag = text.indexOf('<', at)) {
    if (tag > at && top !== undefined) {
      const piece = unescapeText(text.slice(at, tag));
      top.text = top.text === '' ? piece : top.text + piece;
    }
    const second = text.charCodeAt(tag + 1);
    if (second === SLASH) {
      const { index } = top!;
      at = tag + lengths[index]! + 3;
      ends[index] = at;
      stack.pop();
      root = top;
      top = stack[stack.length - 1];
      if (top !== undefined) scope = scopes[top.index]!;
      continue;
    }
    if (second === QUESTION) {
      at = text.indexOf('?>', tag) + 2;
      continue;
    }
    const index = starts.length;
    if (index >= limits.elements) return { limit: `${limits.elements} elementos` };
    if (stack.length >= limits.depth) return { limit: `${limits.depth} níveis de elementos` };
    let colon = 0;
    let code = second;
    for (at = tag + 1; code !== SPACE && code !== GREATER; code = text.charCodeAt(at)) {
      if (code === COLON) colon = at;
      at += 1;
    }
    const nameEnd = at;
    let attributes = NO_ATTRIBUTES;
    if (code === SPACE) {
      const read = readAttributes(text, at, scope);
      if ('strangeNamespace' in read) return read;
      ({ attributes, scope, at } = read);
    }
    at += 1;
    const open: Open = {
      name: shareName(text.slice(colon === 0 ? tag + 1 : colon + 1, nameEnd)),
      namespace: colon === 0 ? scope.plain : namespaceOf(text.slice(tag + 1, colon), scope),
      text: '',
      children: NO_CHILDREN,
      attributes,
      index,
    };
    if (top !== undefined) {
      if (top.children === NO_CHILDREN) top.children = [open];
      else top.children.push(open);
    }
    starts.push(tag);
    lengths.push(nameEnd - tag - 1);
    scopes.push(scope);
    parents.push(top === undefined ? -1 : top.index);
    stack.push(open);
    top = open;
  }
  const cut = way === 'exclusiva' ? cutExclusive : cutInclusive;
  const layout: CanonicalLayout = { text, starts, ends, lengths, scopes, parents, outside: OUTSIDE };
  return {
    root: root!,
    canonicalOf: ({ index }) => cut(layout, index),
    // The other elements keep their declarations, which depend on ancestors and never on siblings.
    rootWithout: ({ index }) => text.slice(starts[0], starts[index]) + text.slice(ends[index], ends[0]),
  };
}

/** A tag's attributes from its first space on, the namespaces in force after them, and the position of its `>`. */
function readAttributes(
  text: string,
  start: number,
  outer: Scope,
): { readonly attributes: readonly Atributo[]; readonly scope: Scope; readonly at: number } | StrangeNamespace {
  let at = start;
  let own: Map<string, string> | undefined;
  const written: [name: string, value: string][] = [];
  while (text.charCodeAt(at) === SPACE) {
    const equals = text.indexOf('=', at);
    const quote = text[equals + 1]!;
    const close = text.indexOf(quote, equals + 2);
    const name = text.slice(at + 1, equals);
    const value = text.slice(equals + 2, close);
    if (name === 'xmlns' || name.startsWith('xmlns:')) {
      // libxml2 writes these values unescaped, in either kind of quotes: "http://[<a b='c'>]" would be read as tags.
      if (quote !== '"' || /[&<>]/.test(value)) return { limit: undefined, strangeNamespace: value };
      own ??= new Map();
      own.set(name.slice(6), value);
    } else written.push([name, unescapeText(value)]);
    at = close + 1;
  }
  const scope = own === undefined ? outer : { plain: own.get('') ?? outer.plain, own, outer };
  const attributes = written.map(([name, value]) => {
    const split = name.indexOf(':');
    return split < 0
      ? { name, namespace: '', value }
      : { name: name.slice(split + 1), namespace: namespaceOf(name.slice(0, split), scope), value };
  });
  return { attributes, scope, at };
}

function namespaceOf(prefix: string, scope: Scope): string {
  if (prefix === 'xml') return XML_NAMESPACE;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const found = at.own.get(prefix);
    if (found !== undefined) return found;
  }
  return '';
}

/** The names of elements, each kept as one string: comparing a string with itself reads no characters. */
const names = new Map<string, string>();
/** The layout has about four hundred names. Names come from outside, so their number is bounded. */
const NAMES_MAX = 2_000;
const NAME_LENGTH_MAX = 40;

function shareName(name: string): string {
  const same = names.get(name);
  if (same !== undefined) return same;
  if (names.size < NAMES_MAX && name.length <= NAME_LENGTH_MAX) names.set(name, name);
  return name;
}

const REFERENCES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x9;': '\t',
  '&#xA;': '\n',
  '&#xD;': '\r',
};

function unescapeText(text: string): string {
  return text.includes('&') ? text.replace(/&[^;]+;/g, (reference) => REFERENCES[reference] ?? reference) : text;
}

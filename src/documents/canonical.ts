/**
 * The canonical form of a document, as libxml2 writes it, read into the tree of elements: what was digested is what is
 * read, because it is the same text.
 *
 * Canonical XML is a small language: double quotes, no empty-element tags, no CDATA, five ways to write a character.
 * This reader knows that language and no other; it is never given what came from outside.
 */
import type { Atributo, Elemento } from '../fiscal/layout/tree.ts';

export type CanonicalReading = {
  readonly root: Elemento;
  /** Exclusive canonical form of an element of this document as the apex; undefined when it cannot be told from here. */
  canonicalOf(element: Elemento): string | undefined;
};

/** A limit that the document passes, in Portuguese. */
export type Excess = { readonly limit: string };

/** The address of a namespace that libxml2 does not write as canonical XML would: what follows it cannot be told apart. */
export type StrangeNamespace = { readonly limit: undefined; readonly strangeNamespace: string };

export type Limits = { readonly depth: number; readonly elements: number };

const NO_ATTRIBUTES: readonly Atributo[] = [];
const NO_CHILDREN: readonly Elemento[] = [];
const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';

const SLASH = 47;
const QUESTION = 63;
const SPACE = 32;

type Open = {
  readonly index: number;
  readonly prefix: string;
  readonly name: string;
  readonly namespace: string;
  readonly attributes: readonly Atributo[];
  text: string;
  children: Elemento[] | undefined;
  /** Namespaces that this element declares itself, by prefix. */
  readonly declares: ReadonlyMap<string, string> | undefined;
};

/** Reads the canonical form of a whole document. */
export function readCanonical(text: string, limits: Limits): CanonicalReading | Excess | StrangeNamespace {
  /** Where each element begins and ends in the text, by index. */
  const starts: number[] = [];
  const ends: number[] = [];
  const prefixes: string[] = [];
  const parents: number[] = [];
  const declared: (ReadonlyMap<string, string> | undefined)[] = [];
  const stack: Open[] = [];
  let root: Elemento | undefined;
  let at = 0;
  while (at < text.length) {
    const tag = text.indexOf('<', at);
    if (tag < 0) break;
    const top = stack[stack.length - 1];
    if (tag > at && top !== undefined) top.text += unescaped(text.slice(at, tag));
    const second = text.charCodeAt(tag + 1);
    if (second === SLASH) {
      const end = text.indexOf('>', tag) + 1;
      const open = stack.pop()!;
      ends[open.index] = end;
      const element: Elemento = {
        name: open.name,
        namespace: open.namespace,
        text: open.text,
        children: open.children ?? NO_CHILDREN,
        attributes: open.attributes,
        index: open.index,
      };
      const parent = stack[stack.length - 1];
      if (parent === undefined) root = element;
      else if (parent.children === undefined) parent.children = [element];
      else parent.children.push(element);
      at = end;
    } else if (second === QUESTION) {
      at = text.indexOf('?>', tag) + 2;
    } else {
      const index = starts.length;
      if (index >= limits.elements) return { limit: `${limits.elements} elementos` };
      if (stack.length >= limits.depth) return { limit: `${limits.depth} níveis de elementos` };
      const read = readTag(text, tag, index, stack);
      if ('strangeNamespace' in read) return read;
      const { open, end } = read;
      starts.push(tag);
      prefixes.push(open.prefix);
      parents.push(top === undefined ? -1 : top.index);
      declared.push(open.declares);
      stack.push(open);
      at = end;
    }
  }
  return {
    root: root!,
    canonicalOf: ({ index }) => {
      const slice = text.slice(starts[index], ends[index]);
      const inherited = new Map<string, string>();
      for (let place = parents[index]!; place >= 0; place = parents[place]!) {
        for (const [prefix, uri] of declared[place] ?? []) if (!inherited.has(prefix)) inherited.set(prefix, uri);
      }
      return asApex(slice, prefixes[index]!, declared[index], inherited);
    },
  };
}

/**
 * An element cut out of the canonical form of its document lacks just the declarations that its ancestors made and it
 * uses. When all of them are of its own prefix, that is one declaration in its own tag, before all others that it may
 * have if it is the default one. Anything else is rare, and is left to libxml2.
 */
function asApex(
  slice: string,
  prefix: string,
  own: ReadonlyMap<string, string> | undefined,
  inherited: ReadonlyMap<string, string>,
): string | undefined {
  const outside = [...inherited].filter(([name, uri]) => uri !== '' && !own?.has(name));
  if (outside.length === 0) return own?.get('') === '' ? undefined : slice;
  const [only] = outside;
  if (outside.length > 1 || only![0] !== prefix || own !== undefined) return undefined;
  const name = /^<[^ >]+/.exec(slice)![0];
  const declaration = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
  return `${name} ${declaration}="${only![1]}"${slice.slice(name.length)}`;
}

function readTag(
  text: string,
  start: number,
  index: number,
  stack: readonly Open[],
): { readonly open: Open; readonly end: number } | StrangeNamespace {
  let at = start + 1;
  while (text.charCodeAt(at) !== SPACE && text[at] !== '>') at += 1;
  const qualified = text.slice(start + 1, at);
  let declares: Map<string, string> | undefined;
  let plain: [string, string][] | undefined;
  while (text.charCodeAt(at) === SPACE) {
    const equals = text.indexOf('=', at);
    const quote = text[equals + 1]!;
    const close = text.indexOf(quote, equals + 2);
    const name = text.slice(at + 1, equals);
    const written = text.slice(equals + 2, close);
    if (name === 'xmlns' || name.startsWith('xmlns:')) {
      // libxml2 writes these values as they are, in whichever quotes fit: "http://[<a b='c'>]" would be read as tags.
      if (quote !== '"' || /[&<>]/.test(written)) return { limit: undefined, strangeNamespace: written };
      declares ??= new Map();
      declares.set(name.slice(6), written);
    } else {
      plain ??= [];
      plain.push([name, unescaped(written)]);
    }
    at = close + 1;
  }
  const namespaceOf = (prefix: string): string => {
    if (prefix === 'xml') return XML_NAMESPACE;
    const own = declares?.get(prefix);
    if (own !== undefined) return own;
    for (let level = stack.length - 1; level >= 0; level -= 1) {
      const found = stack[level]!.declares?.get(prefix);
      if (found !== undefined) return found;
    }
    return '';
  };
  const colon = qualified.indexOf(':');
  const prefix = colon < 0 ? '' : qualified.slice(0, colon);
  const attributes =
    plain === undefined
      ? NO_ATTRIBUTES
      : plain.map(([name, value]) => {
          const split = name.indexOf(':');
          return split < 0
            ? { name, namespace: '', value }
            : { name: name.slice(split + 1), namespace: namespaceOf(name.slice(0, split)), value };
        });
  const open: Open = {
    index,
    prefix,
    name: colon < 0 ? qualified : qualified.slice(colon + 1),
    namespace: namespaceOf(prefix),
    attributes,
    text: '',
    children: undefined,
    declares,
  };
  return { open, end: at + 1 };
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

function unescaped(text: string): string {
  return text.includes('&') ? text.replace(/&[^;]+;/g, (reference) => REFERENCES[reference] ?? reference) : text;
}

/**
 * Corrections of an XML document: the text of `correcao` replaces the element that `xpath` names (D-212). It is made of the sent text, so
 * that prefixes, attributes, comments and spaces stay. The tree is used if that text is unknown.
 */
import { checkText, isBlank } from './check-text.ts';
import { DPS_NAMESPACE } from './dps.ts';
import { escapeText } from './escape.ts';
import type { Elemento } from './tree.ts';
import type { Leaf } from './vocabulary.ts';

/** Offsets of an element in the text of its document: its start tag from `start` to `open`, its end tag from `close` to `end`. */
export type Extent = { readonly start: number; readonly open: number; readonly close: number; readonly end: number };

/** The text that a tree was read from. */
export type Source = { readonly text: () => string; extentOf(element: Elemento): Extent | undefined };

/** The maximum length of a correction in characters, because it repeats the sent text. */
export const CORRECTION_MAX = 10_000;

/** The correction that removes the object of the fault. */
export const REMOVAL = '';

/** An element as it was written: the prefix with its colon, the rest of its start tag after the name, and its content. */
type Written = { readonly prefix: string; readonly attributes: string; readonly inside: string };

const START_TAG = /^<([^\s/>]*:)?[^\s/>]+([\s\S]*?)\s*\/?>$/;

function writtenFormOf(element: Elemento, source: Source | undefined): Written {
  const extent = source?.extentOf(element);
  if (source === undefined || extent === undefined) {
    return { prefix: '', attributes: '', inside: escapeText(element.text) };
  }
  const text = source.text();
  const [, prefix = '', attributes = ''] = START_TAG.exec(text.slice(extent.start, extent.open)) ?? [];
  return { prefix, attributes, inside: text.slice(extent.open, extent.close) };
}

/** The element with another text. */
export function elementWith(element: Elemento, text: string, source: Source | undefined): string {
  const { prefix, attributes } = writtenFormOf(element, source);
  return `<${prefix}${element.name}${attributes}>${escapeText(text)}</${prefix}${element.name}>`;
}

/**
 * An element under its correct name, inside the groups that lead there. The text of a leaf is corrected if possible. Undefined if the
 * element is empty, is of another kind than meant, or is too long to be sent back.
 */
export function renameElement(
  element: Elemento,
  steps: readonly string[],
  meant: Leaf | undefined,
  source: Source | undefined,
): string | undefined {
  const { prefix, attributes, inside } = writtenFormOf(element, source);
  const content = meant === undefined ? groupIn(element, inside, source) : leafIn(element, inside, meant);
  if (content === undefined) return undefined;
  const correction = steps.reduceRight((inner, step, place) => {
    const kept = place === steps.length - 1 ? attributes : '';
    return `<${prefix}${step}${kept}>${inner}</${prefix}${step}>`;
  }, content);
  return correction.length > CORRECTION_MAX ? undefined : correction;
}

function groupIn({ children, text }: Elemento, inside: string, source: Source | undefined): string | undefined {
  return source === undefined || children.length === 0 || !isBlank(text) ? undefined : inside;
}

function leafIn({ children, text }: Elemento, inside: string, { type }: Leaf): string | undefined {
  if (children.length > 0 || text.length > CORRECTION_MAX) return undefined;
  const problem = checkText(type, text);
  if (problem?.kind === 'vazio') return undefined;
  return problem?.fix === undefined ? inside : escapeText(problem.fix);
}

/** The rest of the line: a comment on the line of an element belongs to it, the next lines belong to the next element. */
const REST_OF_LINE = /^(?:<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|[^\r\n<])*/;

/**
 * The group with its children in another order, each with the comments and spaces around it on its line. `keys`: the sort key of each
 * child; equal ones keep their order.
 */
export function reorderGroup(group: Elemento, keys: readonly number[], source: Source | undefined): string | undefined {
  const extent = source?.extentOf(group);
  if (source === undefined || extent === undefined || extent.end - extent.start > CORRECTION_MAX) return undefined;
  const text = source.text();
  // An element that the service added has the index of its group, and no place in the text.
  const written = group.children
    .map((child, place) => ({ key: keys[place]!, index: child.index, extent: source.extentOf(child) }))
    .filter(({ index }) => index !== group.index);
  let at = extent.open;
  const pieces = written.map(({ key, extent: child }, place) => {
    const { start: next } = written[place + 1]?.extent ?? { start: extent.close };
    const until = child!.end + REST_OF_LINE.exec(text.slice(child!.end, next))![0].length;
    const piece = { key, text: text.slice(at, until) };
    at = until;
    return piece;
  });
  const sorted = pieces.toSorted((a, b) => a.key - b.key).map((piece) => piece.text);
  return text.slice(extent.start, extent.open) + sorted.join('') + text.slice(at, extent.end);
}

/**
 * The declaration that brings an element and its content into the national namespace, and the attribute that it is. Undefined if an inner
 * element declares the wrong namespace again, or if the text is unknown.
 */
export function nationalNamespace(
  element: Elemento,
  source: Source | undefined,
): { readonly attribute: string; readonly correction: string } | undefined {
  const extent = source?.extentOf(element);
  if (source === undefined || extent === undefined) return undefined;
  const inside = source.text().slice(extent.open, extent.close);
  if (inside.includes(`"${element.namespace}"`) || inside.includes(`'${element.namespace}'`)) return undefined;
  const { prefix } = writtenFormOf(element, source);
  const attribute = prefix === '' ? 'xmlns' : `xmlns:${prefix.slice(0, -1)}`;
  return { attribute, correction: `${attribute}="${DPS_NAMESPACE}"` };
}

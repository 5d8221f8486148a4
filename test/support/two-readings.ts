/** Holds the reader of plain XML to libxml2: what it reads libxml2 reads as well, and to the same. */
import assert from 'node:assert/strict';
import { canonicalOfPlain } from '../../src/documents/plain-xml.ts';
import { canonicalForm, readXml, type XmlDocumentReading } from '../../src/documents/xml.ts';
import type { Elemento } from '../../src/fiscal/layout/tree.ts';

/** As `readXml` has them. */
const LIMITS = { depth: 32, elements: 60_000 };

export const plainOf = (bytes: Uint8Array): string | undefined => canonicalOfPlain(bytes, LIMITS);

/** Whether a document is plain; then libxml2 takes it, with the same canonical form, of which everything else is read. */
export function isPlain(bytes: Uint8Array, what: () => string): boolean {
  const plain = plainOf(bytes);
  if (plain === undefined) return false;
  const reading = readXml(bytes, () => undefined);
  if ('fault' in reading) assert.fail(`libxml2 refuses a plain document (${reading.fault.mensagem}): ${what()}`);
  if (reading.canonicalOf(reading.root) !== plain) assert.equal(plain, reading.canonicalOf(reading.root), what());
  assert.equal(reading.strayMarkup(), undefined, what());
  return true;
}

const flat = (element: Elemento): Elemento[] => [element, ...element.children.flatMap(flat)];

/** What is read of a document, as far as anybody asks: the tree, every element's canonical form and place, and the text. */
function allOf({
  root,
  text,
  canonicalOf,
  rootWithout,
  extentOf,
  positionOf,
  strayMarkup,
}: XmlDocumentReading): object {
  const elements = flat(root);
  return {
    root,
    text: text(),
    canonical: elements.map(canonicalOf),
    without: root.children.map(rootWithout),
    extents: elements.map(extentOf),
    positions: elements.map(positionOf),
    stray: strayMarkup(),
  };
}

/** Whether a document is plain; then everything that can be asked of it is the same by both readers, and by libxml2 alone. */
export function isPlainWhole(bytes: Uint8Array, what: () => string): boolean {
  if (!isPlain(bytes, what)) return false;
  const [own, theirs] = [readXml(bytes), readXml(bytes, () => undefined)];
  assert.ok('root' in own && 'root' in theirs, what());
  assert.deepStrictEqual(allOf(own), allOf(theirs), what());
  const elements = flat(own.root);
  for (const element of [elements[0]!, elements[elements.length >> 1]!, elements.at(-1)!]) {
    assert.equal(own.canonicalOf(element), canonicalForm(bytes, element, 'exclusiva'), what());
    assert.equal(own.inclusive()?.canonicalOf(element), theirs.inclusive()?.canonicalOf(element), what());
  }
  return true;
}

/** Compares the reader of plain XML with libxml2: libxml2 must accept the same documents, with the same result. */
import assert from 'node:assert/strict';
import { readPlain } from '../../src/documents/plain-xml.ts';
import { canonicalForm, readXml, type XmlDocumentReading } from '../../src/documents/xml.ts';
import type { Elemento } from '../../src/fiscal/layout/tree.ts';

/** The limits of `readXml`. */
const LIMITS = { depth: 32, elements: 60_000 };

/** The canonical form of a plain document; undefined for any other. */
export function plainOf(bytes: Uint8Array): string | undefined {
  const read = readPlain(bytes, LIMITS);
  return read?.canonicalOf(read.root);
}

const flat = (element: Elemento): Elemento[] => [element, ...element.children.flatMap(flat)];

/** Whether a document is plain. If so, asserts that libxml2 gives the same tree and the same canonical form of each element. */
export function isPlain(bytes: Uint8Array, what: () => string): boolean {
  const plain = readPlain(bytes, LIMITS);
  if (plain === undefined) return false;
  const theirs = readXml(bytes, () => undefined);
  if ('fault' in theirs) assert.fail(`libxml2 refuses a plain document (${theirs.fault.mensagem}): ${what()}`);
  compareTrees(plain.root, theirs.root, what);
  assert.equal(theirs.strayMarkup(), undefined, what());
  const elements = flat(plain.root);
  // All elements of a large document would cost its length times their number.
  const asked = elements.length <= ELEMENTS_ASKED ? elements : [elements[0]!, ...elements.slice(-ELEMENTS_ASKED)];
  for (const element of asked) {
    const own = plain.canonicalOf(element);
    if (own !== theirs.canonicalOf(element)) assert.equal(own, theirs.canonicalOf(element), what());
  }
  for (const element of asked.slice(0, 3)) {
    assert.equal(plain.rootWithout(element), theirs.rootWithout(element), what());
  }
  return true;
}

/** More elements than any document of the samples has. */
const ELEMENTS_ASKED = 300;

/** Asserts that two trees are equal; this is faster than a generic comparison of a million values. */
function compareTrees(own: Elemento, other: Elemento, what: () => string): void {
  const isSame =
    own.name === other.name &&
    own.namespace === other.namespace &&
    own.text === other.text &&
    own.index === other.index &&
    own.children.length === other.children.length &&
    own.attributes.length === other.attributes.length &&
    own.attributes.every(({ name, namespace, value }, place) => {
      const its = other.attributes[place]!;
      return name === its.name && namespace === its.namespace && value === its.value;
    });
  if (!isSame) assert.deepStrictEqual(own, other, what());
  for (const [place, child] of own.children.entries()) compareTrees(child, other.children[place]!, what);
}

/** All results of the reading: the tree, every element's canonical form and place, and the text. */
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

/** Whether a document is plain. If so, asserts that both readers, and libxml2 alone, give the same results. */
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

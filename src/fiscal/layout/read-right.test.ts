/**
 * The quick reader beside the explaining one: it accepts exactly the documents without a structural fault, with the same result. Documents
 * are the examples of the rules and random ones grown from the layout; changes of them are drawn.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, flat, grow, isSent, MAXIMAL, PLACES, type Taste } from '../../../test/support/layout-documents.ts';
import { samplesOf } from '../../../test/support/layout-samples.ts';
import fc, { anyText, LONG } from '../../../test/support/seed.ts';
import { readXml } from '../../documents/xml.ts';
import { exampleXml } from '../rules/example.ts';
import { ALL_RULES } from '../rules/rules.ts';
import { isJsonOnly } from '../rules/trial.ts';
import { checkText, readValue, textReaderOf } from './check-text.ts';
import { DPS_NAMESPACE, INF_DPS } from './dps.ts';
import { LAYOUTS } from './layouts.ts';
import { explainDps } from './read.ts';
import { readRight } from './read-right.ts';
import { SIGNATURE_NAMESPACE } from './reading.ts';
import type { SimpleType } from './simple-types.ts';
import type { Elemento } from './tree.ts';
import { isRequiredOfSender, type Leaf } from './vocabulary.ts';

const RUNS = LONG ? 200_000 : 1_500;

function treeOf(xml: string): Elemento {
  const reading = readXml(Buffer.from(xml));
  if ('fault' in reading) assert.fail(reading.fault.mensagem);
  return reading.root;
}

const [LAYOUT] = LAYOUTS;

const quick = (root: Elemento): ReturnType<typeof readRight> => readRight(LAYOUT!, root);

/** The result of the explaining reader, if it has no fault. */
function explained(root: Elemento): ReturnType<typeof readRight> {
  const reading = explainDps(LAYOUT!, root);
  return 'faults' in reading ? undefined : reading;
}

const patches = ALL_RULES.flatMap(({ accepts, rejects }) => [...accepts, ...rejects]).filter(
  (patch) => !isJsonOnly(patch),
);
const TREES = [{}, ...patches].map((patch) => treeOf(exampleXml(patch)));
const MAXIMAL_TREES = MAXIMAL.map((nodes) => treeOf(dpsOf(nodes)));

describe('a text is read exactly where nothing is wrong with it', () => {
  const leaves = flat(MAXIMAL.flat()).flatMap(({ item }) => (item.kind === 'leaf' ? [item] : []));
  const types = [...new Set<SimpleType>(leaves.map(({ type }) => type))];
  const samples = leaves.flatMap((leaf) => {
    const { good, onlyRead = [], bad } = samplesOf(leaf);
    return [...good, ...onlyRead, ...bad];
  });
  const check = (type: SimpleType, text: string): void => {
    const expected = checkText(type, text) === undefined ? readValue(type, text) : undefined;
    assert.equal(textReaderOf(type)(text), expected, `${type.name}: ${JSON.stringify(text.slice(0, 80))}`);
  };

  test('every sample of every type, for every type', () => {
    for (const type of types) for (const text of new Set(samples)) check(type, text);
  });

  test('what is drawn', () => {
    const drawn = fc.oneof(
      fc.tuple(fc.constantFrom(...samples), fc.nat(), anyText(2)).map(([text, at, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + (at % 2));
      }),
      anyText(),
      fc.stringMatching(/^[ -ÿ]{0,20}$/),
      fc.stringMatching(/^\d{1,18}(\.\d{1,3})?$/),
    );
    fc.assert(
      fc.property(fc.constantFrom(...types), drawn, (type, text) => check(type, text)),
      { numRuns: RUNS },
    );
  });
});

describe('a document is read exactly where it has no fault', () => {
  test('the examples of the rules', () => {
    for (const tree of TREES) assert.deepEqual(quick(tree), explained(tree));
    assert.ok(TREES.filter((tree) => quick(tree) !== undefined).length > 500);
  });

  test('documents with all that the layout has', () => {
    for (const tree of MAXIMAL_TREES) {
      assert.notEqual(quick(tree), undefined);
      assert.deepEqual(quick(tree), explained(tree));
    }
  });

  test('every element with every sample of its type', () => {
    for (const { document, node } of PLACES) {
      const { item } = node;
      if (item.kind !== 'leaf') continue;
      const { good, onlyRead = [], bad } = samplesOf(item);
      const whole = treeOf(dpsOf(document));
      for (const text of [...good, ...onlyRead, ...bad, '']) {
        const tree = withTextAt(whole, node.xpath, text);
        assert.deepEqual(quick(tree), explained(tree), `${node.xpath}: ${JSON.stringify(text.slice(0, 80))}`);
      }
    }
  });

  test('with a signature, white space, and attributes of XML Schema', () => {
    const [tree] = TREES;
    const attribute = { name: 'schemaLocation', namespace: 'http://www.w3.org/2001/XMLSchema-instance', value: 'a b' };
    const signature = { ...tree!.children[0]!, name: 'Signature', namespace: SIGNATURE_NAMESPACE };
    const [infDps] = tree!.children;
    const inside = { ...infDps!, attributes: [...infDps!.attributes, attribute] };
    for (const right of [
      { ...tree!, children: [infDps!, signature] },
      { ...tree!, attributes: [attribute, ...tree!.attributes], text: '\n ' },
      { ...tree!, children: [inside] },
    ]) {
      assert.notEqual(quick(right), undefined);
      assert.deepEqual(quick(right), explained(right));
    }
  });

  test('beside the declaration there may be one signature, in its own namespace', () => {
    const [tree] = TREES;
    const [infDps] = tree!.children;
    const signature = { ...infDps!, name: 'Signature', namespace: SIGNATURE_NAMESPACE };
    for (const others of [
      [signature, signature],
      [{ ...signature, namespace: DPS_NAMESPACE }],
      [{ ...signature, name: 'Object' }],
      [infDps!],
    ]) {
      const wrong = { ...tree!, children: [infDps!, ...others] };
      assert.equal(quick(wrong), undefined);
      assert.equal(explained(wrong), undefined);
    }
  });

  test('as often as an element may stand, and not once more', () => {
    const chave = samplesOf(PLACES.find(({ node }) => node.item.name === 'refNFSe')!.node.item as Leaf).good[0]!;
    for (const [copies, isRight] of [
      [99, true],
      [100, false],
    ] as const) {
      const refs = `<gRefNFSe>${`<refNFSe>${chave}</refNFSe>`.repeat(copies)}</gRefNFSe>`;
      const tree = treeOf(exampleXml().replace('<indDest>', `${refs}<indDest>`));
      assert.equal(quick(tree) !== undefined, isRight);
      assert.deepEqual(quick(tree), explained(tree));
    }
  });

  test('documents that are grown with drawn elements', () => {
    const documents = fc.infiniteStream(fc.nat({ max: 999 })).map((chance) => {
      const next = (below: number): number => (chance.next().value as number) % below;
      const taste: Taste = {
        includes: (item) => isRequiredOfSender(item) || (isSent(item) && next(3) === 0),
        member: ({ items, min }) => (min === 0 && next(2) === 0 ? undefined : items[next(items.length)]),
        copies: () => 1 + next(3),
        value: (leaf) => {
          const { good } = samplesOf(leaf);
          return good[next(good.length)]!;
        },
      };
      return treeOf(dpsOf(grow(INF_DPS, undefined, '', '', taste)));
    });
    let read = 0;
    const check = (tree: Elemento): void => {
      assert.deepEqual(quick(tree), explained(tree));
      if (quick(tree) !== undefined) read += 1;
    };
    const runs = LONG ? 20_000 : 300;
    fc.assert(fc.property(documents, check), { numRuns: runs });
    // An optional group that was grown without content is a fault.
    assert.ok(read > runs / 4, `${read} of ${runs} were right`);
  });

  test('drawn changes of all these', () => {
    const change = fc.record({ way: fc.constantFrom(...WAYS), where: fc.nat(), other: fc.nat() });
    const trees = fc.constantFrom(...TREES, ...MAXIMAL_TREES);
    fc.assert(
      fc.property(trees, fc.array(change, { minLength: 1, maxLength: 3 }), (tree, changes) => {
        const changed = changes.reduce((one, { way, where, other }) => changedAt(one, way, where, other), tree);
        assert.deepEqual(quick(changed), explained(changed));
      }),
      { numRuns: RUNS },
    );
  });
});

/** The tree with another text in the element of an xpath. */
function withTextAt(root: Elemento, xpath: string, text: string): Elemento {
  const [step, ...rest] = xpath.split('/').slice(1);
  return {
    ...root,
    children: root.children.map((child) => (child.name === 'infDPS' ? inside(child, [step!, ...rest]) : child)),
  };

  function inside(element: Elemento, steps: readonly string[]): Elemento {
    const [first, ...left] = steps;
    if (first === undefined) return { ...element, text };
    const [name, place = '1]'] = first.split('[');
    let count = 0;
    return {
      ...element,
      children: element.children.map((child) =>
        child.name === name && ++count === Number.parseInt(place, 10) ? inside(child, left) : child,
      ),
    };
  }
}

const NAMES = flat(MAXIMAL.flat()).map(({ item }) => item.name);
const TEXTS = ['', ' ', '\n  ', 'x', '0', '1', '1.00', '2026-10-05', '😀', '\u0000', 'Ã§', '00', '11222333000181'];
const NAMESPACES = [DPS_NAMESPACE, SIGNATURE_NAMESPACE, '', 'urn:x', 'http://www.w3.org/2001/XMLSchema-instance'];

/** The changes of one element of a tree, or of its children; an empty list removes it. */
const WAYS: readonly ((element: Elemento, other: Elemento, chance: number) => readonly Elemento[])[] = [
  () => [],
  (one) => [one, one],
  (one, other) => [one, other],
  (one, other) => [other, one],
  (_, other) => [other],
  (one, _, chance) => [{ ...one, text: TEXTS[chance % TEXTS.length]! }],
  (one, other) => [{ ...one, text: other.text }],
  (one, _, chance) => [{ ...one, name: NAMES[chance % NAMES.length]! }],
  (one) => [{ ...one, name: { IBSCBS: 'ibscbs', BM: 'bM' }[one.name] ?? one.name.toLowerCase() }],
  (one, _, chance) => [{ ...one, namespace: NAMESPACES[chance % NAMESPACES.length]! }],
  (one) => [{ ...one, children: [] }],
  (one) => [{ ...one, children: one.children.toReversed() }],
  (one) => [{ ...one, children: [...one.children.slice(1), ...one.children.slice(0, 1)] }],
  (one, _, chance) => {
    const attribute = { name: ['Id', 'versao', 'a'][chance % 3]!, namespace: NAMESPACES[chance % 5]!, value: '1.01' };
    return [{ ...one, attributes: chance % 2 === 0 ? [attribute] : [...one.attributes, attribute] }];
  },
  (one, other) => [{ ...one, children: [other] }],
  (one) => one.children,
];

/** The tree after one change of its `where`th element; `other`: the element put there, and the variant. */
function changedAt(root: Elemento, way: (typeof WAYS)[number], where: number, other: number): Elemento {
  const all: Elemento[] = [];
  const gather = (one: Elemento): void => {
    all.push(one);
    one.children.forEach(gather);
  };
  gather(root);
  const target = all[where % all.length];
  const put = all[other % all.length]!;
  const visit = (one: Elemento): readonly Elemento[] =>
    one === target ? way(one, put, other) : [{ ...one, children: one.children.flatMap(visit) }];
  return visit(root)[0] ?? { ...root, children: [] };
}

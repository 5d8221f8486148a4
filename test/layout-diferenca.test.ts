/**
 * Every field of the DPS with dozens of values and three judges. They are the reader, the schema of docs/ for integrators, and the national
 * types as published. They agree, except for the differences listed below with their reasons. Accepted values are unchanged in the note.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readXml, xsdErrors } from '../src/documents/xml.ts';
import type { DpsNacional, InfNfse } from '../src/fiscal/layout/nfse.ts';
import { INF_NFSE_OWN } from '../src/fiscal/layout/nfse.ts';
import type { Elemento } from '../src/fiscal/layout/tree.ts';
import type { Leaf } from '../src/fiscal/layout/vocabulary.ts';
import { declarationIn, writeNfse } from '../src/fiscal/layout/write.ts';
import { NATIONAL_TYPES } from './especificacao/tipos-nacionais.ts';
import {
  DPS_ID,
  dpsText,
  escaped,
  flat,
  MAXIMAL,
  maximal,
  type Node,
  objectOf,
  PLACES,
  read,
  render,
} from './support/layout-documents.ts';
import { samplesOf } from './support/layout-samples.ts';
import fc, { LONG, SEED } from './support/seed.ts';

const DPS_XSD = readFileSync(new URL('../docs/dps-1.01.xsd', import.meta.url), 'utf8');
const NFSE_XSD = readFileSync(new URL('../docs/nfse-1.01.xsd', import.meta.url), 'utf8');

/** Values for every field. */
const ANYWHERE: readonly string[] = [
  ...['', ' ', '   ', '\t', '\n', ' \r\n\t', '\u00a0', '\u2003', '\u0085', '\u007f'],
  ...['A', ' A', 'A ', '\tA', 'A\n', '\u00a0A', 'A\u00a0', 'A\u2003', 'a\nb', 'a\r\nb', 'a\tb', 'A  B'],
  ...['Łódź', 'a – b', '“A”', '😀', 'Jose\u0301', '\u200b', 'ÿ', 'Ā', 'é & <b> "c"'],
  ...[
    '0',
    '1',
    '00',
    '01',
    '-1',
    '+1',
    '1.0',
    '1.00',
    '10.00',
    '99.99',
    '100',
    '100.00',
    '100.01',
    '1,00',
    '1e3',
    '00.10',
  ],
  ...[
    '2026-10-05',
    '2026-02-29',
    '1999-12-31',
    '2026-10-05Z',
    '05/10/2026',
    'true',
    'null',
    'S',
    'BR',
    'br',
    'x'.repeat(400),
  ],
];

/** The number of random values of each field, besides those and the values of `layout-samples.ts`. */
const DRAWN = LONG ? 200 : 12;

/** One value in one field, and the verdict of each judge. */
type Verdict = {
  readonly path: string;
  readonly leaf: Leaf;
  readonly value: string;
  readonly reader: boolean;
  readonly schema: boolean;
  /** Undefined for a list of values. */
  readonly national: boolean | undefined;
  /** The node of the field. */
  readonly node: Node;
  readonly nodes: readonly Node[];
};

type Exception = { readonly because: string; readonly holds: (verdict: Verdict) => boolean };

const isDocument = ({ path, leaf }: Verdict): boolean =>
  /^TS(?:CNPJ|CPF)$/.test(leaf.type.name) && !path.startsWith('prest/');
const isBlank = (text: string): boolean => /^[ \t\n\r]*$/.test(text);

const CHECK_DIGITS: Exception = {
  because: 'a schema cannot compute check digits (those of the provider are left to its registration, E101)',
  holds: ({ reader, ...one }) => !reader && isDocument({ reader, ...one }),
};

/** Differences between the reader and the schema of docs/. */
const READER_ALONE: readonly Exception[] = [
  CHECK_DIGITS,
  {
    because: 'a blank name of the provider is answered with E101, which says more',
    holds: ({ path, value, reader }) => reader && path === 'prest/xNome' && isBlank(value),
  },
];

const typeIs =
  (...names: readonly string[]) =>
  ({ leaf }: Verdict): boolean =>
    names.includes(leaf.type.name);

/** Differences between the reader and the national type, in both directions. */
const NOT_NATIONAL: readonly Exception[] = [
  CHECK_DIGITS,
  READER_ALONE[1]!,
  {
    because:
      'white space alone says nothing: the specification asks for a value, and the newest edition does in a description',
    holds: ({ value, reader }) => !reader && isBlank(value) && value !== '',
  },
  {
    because: 'the specification asks for a postal code of letters and digits; hyphen and space separate them (D-83)',
    holds: (one) => !one.reader && typeIs('TSCodigoEndPostal')(one),
  },
  {
    because: 'the specification asks for 8 digits of a CIB (E0373)',
    holds: (one) => !one.reader && typeIs('TSCodCIB')(one),
  },
  {
    because: 'the specification lets a series have any five digits (D-83)',
    holds: (one) => one.reader && typeIs('TSSerieDPS')(one) && /^9\d{4}$/.test(one.value),
  },
  {
    because: 'the specification lets a rate run from 0 to 100 (D-12)',
    holds: (one) => one.reader && /\/pAliq(?:Pis|Cofins)?$/.test(one.path) && Number(one.value) <= 100,
  },
  {
    because: 'the specification lets a percentage run to 100',
    holds: (one) => !one.reader && typeIs('TSDec3V2')(one) && Number(one.value) > 100,
  },
  {
    because: 'a mechanism of support of one digit is read as the one with its zero (D-83)',
    holds: (one) => one.reader && /^TSMecAFComEx/.test(one.leaf.type.name) && /^[1-9]$/.test(one.value),
  },
  {
    because: 'the value 0 is reserved to notes that municipalities share',
    holds: (one) => !one.reader && /^TSMecAFComEx/.test(one.leaf.type.name) && one.value === '00',
  },
  {
    because: 'the 20 digits of a case in court are read as the 30 with zeros (D-83)',
    holds: (one) => one.reader && typeIs('TSNumProcExigSuspensa')(one) && /^\d{20}$/.test(one.value),
  },
  {
    because: 'in a key the CNPJ, and with it the letters, stands from the tenth position on',
    holds: (one) => typeIs('TSChaveNFSe')(one) && /[A-Z]/.test(one.value),
  },
  {
    because: 'a date is of 2000 to 2099 and has no time zone, as all others of the layout',
    holds: ({ path, value, reader }) =>
      !reader && path.endsWith('/docDedRed/dtEmiDoc') && !/^20\d\d-\d\d-\d\d$/.test(value),
  },
];

/** The element of a deduction alone has a built-in type of XML Schema. */
function nationalOf(path: string, { type }: Leaf): ((text: string) => boolean) | undefined {
  if (path.endsWith('/docDedRed/dtEmiDoc')) return NATIONAL_TYPES['xs:date'];
  return NATIONAL_TYPES[type.name];
}

function valuesFor(leaf: Leaf, seed: number): readonly string[] {
  const { good, onlyRead = [], bad } = samplesOf(leaf);
  const { max, pattern } = leaf.type;
  const near = fc.constantFrom(...good, ...onlyRead, ...bad).chain((text) =>
    fc
      .record({
        at: fc.nat(text.length),
        cut: fc.nat(2),
        put: fc.constantFrom('', ' ', '0', '9', 'A', 'é', '–', '\n', '.'),
      })
      .map(({ at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut)),
  );
  const matching =
    pattern === undefined
      ? fc.string({ unit: 'grapheme', maxLength: 20 })
      : fc.stringMatching(new RegExp(`^(?:${pattern})$`));
  const drawn = fc.sample(fc.oneof(near, matching), { numRuns: DRAWN, seed });
  const lengths = [max - 1, max, max + 1].flatMap((length) => [
    '1'.repeat(length),
    'é'.repeat(length),
    '😀'.repeat(length),
  ]);
  const all = [...ANYWHERE, ...lengths, ...good, ...onlyRead, ...bad, ...drawn];
  return [...new Set(all)].filter(isOfXml);
}

/** Characters that no XML document can hold are left out: lone surrogates, and control characters. */
function isOfXml(text: string): boolean {
  return text.isWellFormed() && !/[^\t\n\r -\uFFFD\u{10000}-\u{10FFFF}]/u.test(text);
}

/** A document with one leaf a line: a finding of the schema on a line belongs to that leaf. */
function document(
  nodes: readonly Node[],
  put: ReadonlyMap<Node, string>,
): { readonly xml: string; readonly lines: ReadonlyMap<Node, number> } {
  const lines = new Map<Node, number>();
  const edit = new Map(
    [...put].map(([node, value]) => [node, () => `\n<${node.item.name}>${escaped(value)}</${node.item.name}>`]),
  );
  const xml = dpsText(nodes.map((node) => render(node, edit)).join(''));
  let [line, at] = [1, 0];
  for (const node of flat(nodes).filter((one) => put.has(one))) {
    const start = xml.indexOf(edit.get(node)!(), at) + 1;
    for (let next = xml.indexOf('\n', at); next >= 0 && next < start; next = xml.indexOf('\n', next + 1)) line += 1;
    at = start;
    lines.set(node, line);
  }
  return { xml, lines };
}

function judged(nodes: readonly Node[], put: ReadonlyMap<Node, string>): readonly Verdict[] {
  const { xml, lines } = document(nodes, put);
  const reading = read(xml);
  const faults = 'faults' in reading ? reading.faults.map(({ xpath }) => xpath.replace('/DPS/infDPS', '')) : [];
  const found = new Set(xsdErrors(DPS_XSD, Buffer.from(xml)).map((finding) => Number.parseInt(finding, 10)));
  const places = new Set([...put.keys()].map(({ xpath }) => xpath));
  for (const xpath of faults) assert.ok(places.has(xpath), `a fault at ${xpath}, where nothing was changed`);
  return [...put].map(([node, value]) => {
    const leaf = node.item as Leaf;
    const national = nationalOf(node.path, leaf)?.(value);
    const reader = !faults.includes(node.xpath);
    return { path: node.path, leaf, value, reader, schema: !found.has(lines.get(node)!), national, node, nodes };
  });
}

function verdictsOf(): readonly Verdict[] {
  const values = new Map<Node, readonly string[]>();
  for (const [place, { node }] of PLACES.entries()) {
    if (node.item.kind === 'leaf') values.set(node, valuesFor(node.item, SEED + place));
  }
  return MAXIMAL.flatMap((nodes) => {
    const leaves = flat(nodes).filter((node) => values.has(node));
    const rounds = Math.max(0, ...leaves.map((node) => values.get(node)!.length));
    return Array.from({ length: rounds }, (_, round) => {
      const put = new Map(
        leaves.flatMap((node) => {
          const value = values.get(node)![round];
          return value === undefined ? [] : [[node, value] as const];
        }),
      );
      return judged(nodes, put);
    }).flat();
  });
}

/** The description of a difference. */
function told({ path, leaf, value, reader, schema, national }: Verdict): string {
  const text =
    value.length > 60 ? `${JSON.stringify(value.slice(0, 60))}… (${[...value].length})` : JSON.stringify(value);
  return `${path} (${leaf.type.name}) ${text}: reader ${reader}, schema ${schema}, national ${national}`;
}

/** Every difference has its reason, and every reason its difference. */
function assertExplained(differences: readonly Verdict[], exceptions: readonly Exception[]): void {
  const unexplained = differences.filter((one) => !exceptions.some(({ holds }) => holds(one)));
  assert.deepEqual(unexplained.slice(0, 20).map(told), [], `${unexplained.length} differences without a reason`);
  for (const { because, holds } of exceptions) assert.ok(differences.some(holds), `never so: ${because}`);
}

describe('every field against dozens of values', () => {
  const verdicts = verdictsOf();

  test('is every field there is, at least twenty values each, taken and refused', () => {
    const byPath = Map.groupBy(verdicts, ({ path }) => path);
    const fields = PLACES.filter(({ node }) => node.item.kind === 'leaf');
    assert.equal(byPath.size, fields.length);
    assert.ok(fields.length >= 161, String(fields.length));
    for (const [path, all] of byPath) {
      assert.ok(all.length >= 20, `${path}: ${all.length}`);
      assert.ok(all.some(({ reader }) => reader) && all.some(({ reader }) => !reader), path);
    }
  });

  test('the reader and the schema of docs/ say the same', () => {
    assertExplained(
      verdicts.filter(({ reader, schema }) => reader !== schema),
      READER_ALONE,
    );
  });

  test('the reader and the national types say the same', () => {
    const compared = verdicts.filter(({ national }) => national !== undefined);
    assert.ok(new Set(compared.map(({ leaf }) => leaf.type.name)).size > 40);
    assertExplained(
      compared.filter(({ reader, national }) => reader !== national),
      NOT_NATIONAL,
    );
  });

  test('what all three take stands in the note as it came, and the note is valid', () => {
    const infNfse = objectOf(maximal(INF_NFSE_OWN, () => true)[0]!) as InfNfse;
    const taken = verdicts.filter(({ reader, schema, national, value, leaf }) => {
      return reader && schema && (national ?? leaf.type.values?.includes(value));
    });
    for (const [nodes, all] of Map.groupBy(taken, (one) => one.nodes)) {
      // The first value of every field, then the second, and so on.
      const queues = [...Map.groupBy(all, ({ node }) => node)];
      for (let round = 0; queues.some(([, queue]) => round < queue.length); round += 1) {
        const put = new Map(
          queues.flatMap(([node, queue]) => {
            const one = queue[round];
            return one === undefined ? [] : [[node, one.value] as const];
          }),
        );
        const reading = read(document(nodes, put).xml);
        assert.ok('dps' in reading, 'faults' in reading ? reading.faults[0]!.mensagem : '');
        const dps = { ...reading.dps, dhEmi: '2026-10-05T10:15:30-03:00' } as DpsNacional;
        const note = writeNfse(infNfse, 'NFS35503081211222333000181000000000004226101234567890', dps, DPS_ID);
        assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(note)), []);
        const back = readXml(Buffer.from(declarationIn(note)));
        assert.ok('root' in back);
        for (const [{ item, xpath }, value] of put) {
          const { kind } = (item as Leaf).type;
          const expected = kind === 'decimal' && !value.includes('.') ? `${value}.00` : value;
          assert.equal(textAt(back.root.children[0]!, xpath), expected, xpath);
        }
      }
    }
  });
});

function textAt(element: Elemento, xpath: string): string | undefined {
  let at: Elemento | undefined = element;
  for (const step of xpath.slice(1).split('/')) {
    const [, name, place = '1'] = /^(\w+)(?:\[(\d+)\])?$/.exec(step)!;
    at = at?.children.filter((child) => child.name === name)[Number(place) - 1];
  }
  return at?.text;
}

/**
 * The content that is read is the digested content. The tree equals that of other parsers. The canonical form of every element equals that
 * of libxml2, xmllint and an independent library.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { DOMParser } from '@xmldom/xmldom';
import { ExclusiveCanonicalization } from 'xml-crypto';
import fc, { LONG, SEED } from '../../test/support/seed.ts';
import { toolOr } from '../../test/support/tools.ts';
import type { Elemento } from '../fiscal/layout/tree.ts';
import { canonicalForm, readXml, type XmlDocumentReading } from './xml.ts';

const RUNS = LONG ? 20_000 : 800;
const XMLLINT = toolOr('xmllint', 'libxml2-utils');
const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';

/** A document as it is written, and its meaning. */
type Written = { readonly source: string; readonly says: Said };
type Said = {
  readonly name: string;
  readonly namespace: string;
  readonly text: string;
  readonly attributes: readonly { readonly name: string; readonly namespace: string; readonly value: string }[];
  readonly children: readonly Said[];
};
type Scope = Readonly<Record<string, string>>;

/**
 * The source of a text, and its reading in XML. A break or tab written as a reference is a placeholder until the whole is assembled.
 * Neighbours in the source are read together: CR LF is one break.
 */
const [TAB, LF, CR, APART] = ['\ue009', '\ue00a', '\ue00d', '\ue000'];
const PIECES: readonly (readonly [source: string, read: string])[] = [
  ...['', 'a', ' ', '\n', '\t', 'ação', '😀', '𝄞', '\u00a0', '\u0085', '\u2028', '\ufffd', "'", '"', '/>', '='].map(
    (text) => [text, text] as const,
  ),
  ['\r\n', '\r\n'],
  ['\r', '\r'],
  ['&#13;', CR],
  ['&#xD;&#xA;', `${CR}${LF}`],
  ['&#9;', TAB],
  ['&#10;', LF],
  ['&#x1F600;', '😀'],
  ['&amp;', '&'],
  ['&amp;lt;', '&lt;'],
  ['&#38;#x3C;', '&#x3C;'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  [']]&gt;', ']]>'],
  ['&quot;&apos;', `"'`],
];
/** Further content of an element that contributes only its text. */
const BESIDES: readonly (readonly [source: string, read: string])[] = [
  ['<!-- <e> & -->', APART],
  ['<!---->', APART],
  ['<?x <e> ?>', APART],
  ['<?x y="?" > ?>', APART],
  ['<![CDATA[]]>', APART],
  ['<![CDATA[<e a="b">&amp;]]>', '<e a="b">&amp;'],
  ['<![CDATA[]]]]><![CDATA[>]]>', ']]>'],
  ['<![CDATA[\r\n\r]]>', `${APART}\r\n\r${APART}`],
  ['<![CDATA[-->?>]]>', '-->?>'],
];
const NAMESPACES = ['urn:a', 'urn:b', 'urn:c', 'http://x.test/?a=%20#f', "urn:d'e"];

const piece = fc.constantFrom(...PIECES);
const words = fc.array(fc.oneof({ weight: 3, arbitrary: piece }, fc.constantFrom(...BESIDES)), { maxLength: 4 });
const value = fc.array(piece, { maxLength: 3 });
const prefix = fc.constantFrom('', 'p', 'q', 'r', 'é-1', 'xmlna');
const local = fc.constantFrom('e', 'f', 'Id', 'xmln', 'ç.1', 'z');
const declarations = fc.dictionary(prefix, fc.option(fc.constantFrom(...NAMESPACES), { freq: 4, nil: '' }), {
  maxKeys: 3,
  noNullPrototype: true,
});
const attribute = fc.record({ prefix: fc.oneof(prefix, fc.constant('xml')), local, value });

type Piece = readonly [source: string, read: string];

const sourceOf = (pieces: readonly Piece[]): string => pieces.map(([source]) => source).join('');

/** XML 1.0, 2.11: CR LF and CR become LF before any other step. */
function readOfText(pieces: readonly Piece[]): string {
  const read = pieces.map(([, one]) => one).join('');
  return withPlaceholdersFilled(read.replace(/\r\n?/g, '\n'));
}

/** XML 1.0, 3.3.3: a break or a tab in an attribute is a space, unless it was written as a reference. */
function readOfAttribute(pieces: readonly Piece[]): string {
  const read = pieces.map(([, one]) => one).join('');
  return withPlaceholdersFilled(read.replace(/\r\n?/g, '\n').replace(/[\t\n]/g, ' '));
}

function withPlaceholdersFilled(text: string): string {
  return text.replaceAll(APART, '').replaceAll(TAB, '\t').replaceAll(LF, '\n').replaceAll(CR, '\r');
}

type Grow = (scope: Scope) => Written;

const { element } = fc.letrec<{ element: Grow; children: readonly Grow[] }>((tie) => ({
  element: fc
    .record({
      prefix,
      local,
      declarations,
      attributes: fc.array(attribute, { maxLength: 4 }),
      inside: fc.array(words, { minLength: 4, maxLength: 4 }),
      children: tie('children'),
      isShort: fc.boolean(),
      space: fc.constantFrom(' ', '\n  ', '\t'),
    })
    .map((drawn) => (above) => {
      // XML 1.0 cannot undeclare a prefix; it can undeclare the default namespace.
      const own = Object.entries(drawn.declarations).filter(([name, uri]) => uri !== '' || name === '');
      const scope: Scope = { ...above, ...Object.fromEntries(own) };
      const bound = (name: string): string => (scope[name] === undefined ? '' : name);
      const qualified = (name: string, base: string): string => (name === '' ? base : `${name}:${base}`);
      const mine = bound(drawn.prefix);
      const attributes = new Map<string, { source: string; says: Said['attributes'][number] }>();
      for (const one of drawn.attributes) {
        const named = one.prefix === 'xml' ? 'xml' : bound(one.prefix);
        const namespace = named === 'xml' ? XML_NAMESPACE : named === '' ? '' : scope[named]!;
        const source = sourceOf(one.value).replaceAll('"', '&quot;');
        attributes.set(`${namespace} ${one.local}`, {
          source: `${drawn.space}${qualified(named, one.local)}="${source}"`,
          says: { name: one.local, namespace, value: readOfAttribute(one.value) },
        });
      }
      const declared = own.map(([name, uri]) => ` ${qualified('xmlns', name).replace(/:$/, '')}="${uri}"`);
      const tag = qualified(mine, drawn.local);
      const start = `<${tag}${[...attributes.values()].map(({ source }) => source).join('')}${declared.join('')}`;
      const children = drawn.children.map((grow) => grow(scope));
      const inside = drawn.inside.slice(0, children.length + 1);
      const source = inside.map((one, place) => sourceOf(one) + (children[place]?.source ?? '')).join('');
      return {
        source: source === '' && drawn.isShort ? `${start}/>` : `${start}>${source}</${tag}${drawn.space}>`,
        says: {
          name: drawn.local,
          namespace: scope[mine] ?? '',
          text: inside.map(readOfText).join(''),
          attributes: [...attributes.values()].map(({ says }) => says),
          children: children.map(({ says }) => says),
        },
      };
    }),
  children: fc.oneof({ maxDepth: 5 }, fc.constant<readonly Grow[]>([]), fc.array(tie('element'), { maxLength: 3 })),
}));

const document = fc
  .record({
    head: fc.constantFrom('', '<?xml version="1.0"?>\r\n', '<!-- <e> -->\n<?p q?>', '\ufeff'),
    tail: fc.constantFrom('', '\n', '<!-- x --><?p q?>\r\n'),
    root: element,
  })
  .map(({ head, tail, root }): Written => {
    const { source, says } = root({ '': '' });
    return { source: `${head}${source}${tail}`, says };
  });

const ordered = (attributes: Said['attributes']): Said['attributes'] =>
  attributes.toSorted((one, other) => compare(one.namespace, other.namespace) || compare(one.name, other.name));
const compare = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Attributes in canonical order, which is also the reading order. */
const plain = ({ name, namespace, text, attributes, children }: Said): Said => ({
  name,
  namespace,
  text,
  attributes: ordered(attributes.map(({ name, namespace, value }) => ({ name, namespace, value }))),
  children: children.map(plain),
});

/** The reading of the document by a JavaScript parser. */
function saidByXmldom(source: string): Said {
  const parser = new DOMParser({
    errorHandler: (_level: string, message: unknown) => {
      throw new Error(String(message));
    },
  });
  const said = (node: globalThis.Element): Said => {
    const nodes = [...Array(node.childNodes.length).keys()].map((place) => node.childNodes[place]!);
    const attributes = [...Array(node.attributes.length).keys()].map((place) => node.attributes[place]!);
    return {
      name: node.localName,
      namespace: node.namespaceURI ?? '',
      text: nodes
        .filter(({ nodeType }) => nodeType === 3 || nodeType === 4)
        .map(({ nodeValue }) => nodeValue ?? '')
        .join(''),
      attributes: attributes
        .filter(({ name }) => name !== 'xmlns' && !name.startsWith('xmlns:'))
        .map((one) => ({ name: one.localName, namespace: one.namespaceURI ?? '', value: one.value })),
      children: nodes.filter(({ nodeType }) => nodeType === 1).map((child) => said(child as globalThis.Element)),
    };
  };
  return plain(said(parser.parseFromString(source.replace(/^\ufeff/, ''), 'text/xml').documentElement!));
}

function readingOf(source: string): XmlDocumentReading {
  const reading = readXml(Buffer.from(source));
  assert.ok('root' in reading, 'fault' in reading ? `${reading.fault.mensagem}\n${source}` : '');
  return reading;
}

const flat = (element: Elemento): Elemento[] => [element, ...element.children.flatMap(flat)];

describe(`any document (seed ${SEED})`, () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(document, ({ source, says }) => assert.deepEqual(plain(readingOf(source).root), plain(says))),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('is read as another parser reads it', () => {
    fc.assert(
      fc.property(document, ({ source }) => {
        // That parser takes the line ends of XML 1.1 for those of XML 1.0.
        fc.pre(!/[\u0085\u2028]/.test(source));
        assert.deepEqual(plain(readingOf(source).root), saidByXmldom(source));
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('has in every element the canonical forms that libxml2 gives to that element alone', () => {
    fc.assert(
      fc.property(document, ({ source }) => {
        const reading = readingOf(source);
        for (const element of flat(reading.root)) {
          const where = `${element.name} ${element.index} of ${source}`;
          assert.equal(reading.canonicalOf(element), canonicalForm(reading.bytes, element, 'exclusiva'), where);
          assert.equal(
            reading.inclusive()?.canonicalOf(element),
            canonicalForm(reading.bytes, element, 'inclusiva'),
            where,
          );
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('has the canonical form that xmllint writes', { skip: XMLLINT === undefined }, () => {
    for (const { source } of fc.sample(document, { seed: SEED, numRuns: LONG ? 2_000 : 60 })) {
      // xmllint keeps comments, and the content around the root.
      const bare = insideOnly(source);
      const run = spawnSync(XMLLINT!, ['--exc-c14n', '-'], { input: bare, encoding: 'utf8' });
      const { root, canonicalOf } = readingOf(bare);
      assert.equal(canonicalOf(root), run.stdout, `${run.stderr}${bare}`);
    }
  });

  test('has in every element the canonical form of a library of JavaScript', () => {
    let compared = 0;
    for (const { source } of fc.sample(document, { seed: SEED, numRuns: LONG ? 20_000 : 1_500 })) {
      const bare = insideOnly(source).replace(/<\?[\s\S]*?\?>/g, '');
      if (isBeyondXmlCrypto(bare)) continue;
      const { root, canonicalOf } = readingOf(bare);
      const nodes = new DOMParser().parseFromString(bare, 'text/xml').getElementsByTagName('*');
      for (const [place, element] of flat(root).entries()) {
        const other = new ExclusiveCanonicalization().process(nodes[place]!, {});
        assert.equal(canonicalOf(element), other, `element ${place} of ${bare}`);
        compared += 1;
      }
    }
    assert.ok(compared > 200, `${compared} elements were compared`);
  });
});

/** The document without a byte order mark, a declaration, comments, and content around the root. */
function insideOnly(source: string): string {
  return source
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/^\ufeff?\s*(?:<\?[\s\S]*?\?>\s*)*/, '')
    .replace(/(?:<\?[^>]*\?>\s*)*$/, '')
    .trimEnd();
}

/** Known deviations of that library: it ignores a rebound prefix, sorts names by the locale, and knows the line ends of XML 1.1. */
function isBeyondXmlCrypto(source: string): boolean {
  const bound = new Map<string, string>();
  for (const [, name, uri] of source.matchAll(/ (xmlns(?::[^=]+)?)="([^"]*)"/g)) {
    if ((bound.get(name!) ?? uri) !== uri) return true;
    bound.set(name!, uri!);
  }
  return /[\u0085\u2028]|é-1|ç\.1/.test(source);
}

describe('the address of a namespace', () => {
  /** All of them count as addresses with a host in brackets, in which libxml2 accepts anything. */
  const HOSTS = ['"', '">', '\'"', '<', '>', '"><infDPS Id="DPS2"/><x y="', '&lt;', '"/><!--', "'><DPS>"];

  for (const inside of HOSTS) {
    test(`carries no markup into what is read: ${inside}`, () => {
      const escaped = inside.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
      for (const source of [
        `<e xmlns="http://[${escaped}]"><f/></e>`,
        `<e>\n<p:f xmlns:p="http://[${escaped}]" g="1"/></e>`,
        `<e xmlns:p="http://[${escaped}]"><f p:g="1"/></e>`,
      ]) {
        const reading = readXml(Buffer.from(source));
        assert.ok('fault' in reading, source);
        assert.equal(reading.fault.codigo, 'E201');
        assert.match(reading.fault.mensagem, /espaço de nomes/);
        assert.equal(reading.fault.linha, source.includes('\n') ? 2 : 1);
        assert.equal(reading.fault.coluna, source.indexOf('xmlns') - source.lastIndexOf('\n'));
      }
    });
  }

  test('that nobody uses is passed over', () => {
    const { root, canonicalOf } = readingOf('<e xmlns:p="http://[&quot;>&lt;f/>]" a="1"/>');
    assert.equal(canonicalOf(root), '<e a="1"></e>');
  });

  test('that is no address is told in Portuguese', () => {
    for (const uri of ['urn:a b', 'urn:&lt;x>', 'urn:é', 'http://[', '%', 'http://www.w3.org/2000/xmlns/', '']) {
      const reading = readXml(Buffer.from(`<p:e xmlns:p="${uri}"/>`));
      assert.ok('fault' in reading, uri);
      assert.match(reading.fault.mensagem, /endereço|espaço de nomes/, uri);
      assert.doesNotMatch(reading.fault.mensagem, /valid URI|namespace/i);
    }
  });
});

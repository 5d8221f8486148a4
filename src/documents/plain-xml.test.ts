/**
 * The reader of plain XML at its limits: the accepted documents with their canonical form, and those left to libxml2. Every accepted
 * document is compared with libxml2; `test/leitura-diferencial.test.ts` does so with random documents.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { LONG } from '../../test/support/seed.ts';
import { isPlain, isPlainWhole, plainOf } from '../../test/support/two-readings.ts';
import { DPS_NAMESPACE } from '../fiscal/layout/dps.ts';
import { SIGNATURE_NAMESPACE } from '../fiscal/layout/reading.ts';
import { readPlain } from './plain-xml.ts';
import { readXml } from './xml.ts';
import { XML_DIFFERENCES } from './xml-differences.ts';

const [NFSE, DSIG] = [DPS_NAMESPACE, SIGNATURE_NAMESPACE];

describe('a plain document', () => {
  /** The forms follow Exclusive XML Canonicalization 1.0 and Canonical XML 1.0, section 2. */
  const TAKEN: Readonly<Record<string, readonly [source: string, canonical: string]>> = {
    'its own canonical form': ['<a b="1"><c>x</c></a>', '<a b="1"><c>x</c></a>'],
    'a declaration': ['<?xml version="1.0" encoding="UTF-8"?><a></a>', '<a></a>'],
    'a declaration in single quotes, and space around the root': [
      "<?xml version='1.0' encoding='utf-8' standalone='no' ?>\n\t <a></a> \n\t",
      '<a></a>',
    ],
    'a declaration of the version alone': ['<?xml version="1.0" ?><a></a>', '<a></a>'],
    'an empty root': ['<a/>', '<a></a>'],
    'an empty element': ['<a>1<b/>2<b />3</a>', '<a>1<b></b>2<b></b>3</a>'],
    'an empty element with an attribute': [
      `<a><b c="1"/><b c='"'/></a>`.replace(`'"'`, "'2'"),
      '<a><b c="1"></b><b c="2"></b></a>',
    ],
    'attributes in another order': ['<a b="2" a.b="3" a-b="4" a="1"></a>', '<a a="1" a-b="4" a.b="3" b="2"></a>'],
    'an attribute in single quotes': [`<a b='1'></a>`, '<a b="1"></a>'],
    'attributes in single quotes, with more space': ['<a  b=\'1\'   c=""  ></a>', '<a b="1" c=""></a>'],
    'a namespace behind an attribute': [`<a b="1" xmlns="${NFSE}"></a>`, `<a xmlns="${NFSE}" b="1"></a>`],
    'a namespace declared again': [
      `<a xmlns="${NFSE}"><b xmlns="${NFSE}" c="1"/></a>`,
      `<a xmlns="${NFSE}"><b c="1"></b></a>`,
    ],
    'another namespace below, and the first one after it': [
      `<a xmlns="${NFSE}"><b xmlns="${DSIG}"><c xmlns="${NFSE}"/></b><d xmlns="${NFSE}"/><e xmlns="${DSIG}"/></a>`,
      `<a xmlns="${NFSE}"><b xmlns="${DSIG}"><c xmlns="${NFSE}"></c></b><d></d><e xmlns="${DSIG}"></e></a>`,
    ],
    'a namespace below a root without one': [
      `<a><b xmlns="${DSIG}"></b><c/></a>`,
      `<a><b xmlns="${DSIG}"></b><c></c></a>`,
    ],
    'the five entities': ['<a>&amp;&lt;&gt;&quot;&apos;</a>', `<a>&amp;&lt;&gt;"'</a>`],
    'an entity before and behind an element': ['<a>&quot;<b></b>&apos;</a>', `<a>"<b></b>'</a>`],
    'an entity of an entity': ['<a>&amp;quot;&amp;#65;</a>', '<a>&amp;quot;&amp;#65;</a>'],
    'a text with the beginning of an end of CDATA': ['<a>]] ] "\'=/</a>', '<a>]] ] "\'=/</a>'],
    'characters of every plane': ['<a>é€\ufffd\uf000\ue000😀\u{10ffff}</a>', '<a>é€\ufffd\uf000\ue000😀\u{10ffff}</a>'],
    'line ends and tabs in a text': ['<a>\n\t <b></b>\n</a>', '<a>\n\t <b></b>\n</a>'],
    'names that a parser of others might know': [
      '<xml constructor="1" __proto__="2"><xmlns/></xml>',
      '<xml __proto__="2" constructor="1"><xmlns></xmlns></xml>',
    ],
  };
  for (const [name, [source, canonical]] of Object.entries(TAKEN)) {
    test(`is written in canonical form: ${name}`, () => {
      assert.equal(plainOf(Buffer.from(source)), canonical);
      assert.ok(isPlainWhole(Buffer.from(source), () => source));
    });
  }

  test('is read from its first attribute on, whatever was read before', () => {
    const [left, source] = ['<a b="1" b="2"></a>', '<a c="1111111" d="2"></a>'];
    assert.equal(plainOf(Buffer.from(left)), undefined);
    assert.equal(plainOf(Buffer.from(source)), source);
  });

  test('has the names that it has, those of the layout and such as are nearly one', () => {
    const known = readFileSync('src/fiscal/layout/dps.ts', 'utf8').match(/(?<=')[A-Za-z]\w+(?=')/g)!;
    assert.ok(known.length > 300);
    for (const name of new Set(['DPS', 'infDPS', 'Signature', 'X509Certificate', 'Algorithm', ...known])) {
      for (const one of [name, `${name}s`, name.slice(0, -1), `a${name}`, name.toUpperCase()]) {
        const bytes = Buffer.from(`<${one} ${one}="1"><b/></${one}>`);
        assert.ok(
          isPlain(bytes, () => one),
          one,
        );
      }
    }
  });

  test('is read out of the octets that it stands in', () => {
    const whole = Buffer.from('<?x?><a>é</a><b/>');
    assert.equal(plainOf(new Uint8Array(whole.buffer, whole.byteOffset + 5, 9)), '<a>é</a>');
  });
});

describe('a document is left to libxml2', () => {
  const LEFT: Readonly<Record<string, string>> = {
    nothing: '',
    'space before it': ' <a/>',
    'a mark': '\ufeff<a/>',
    'no element': '<?xml version="1.0"?>',
    'an end tag alone': '</>',
    'an end tag with a name alone': '</a>',
    'text behind a declaration': '<?xml version="1.0"?>x<a/>',
    'another version': '<?xml version="1.1"?><a/>',
    'another encoding': '<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
    'a declaration in two quotes': '<?xml version="1.0\'?><a/>',
    'a declaration without version': '<?xml encoding="UTF-8"?><a/>',
    'an instruction': '<?x?><a/>',
    'a comment': '<!-- --><a/>',
    'a comment inside': '<a><!-- --></a>',
    'a DOCTYPE': '<!DOCTYPE a><a/>',
    'an instruction inside': '<a><?x?></a>',
    CDATA: '<a><![CDATA[x]]></a>',
    'a document behind the document': '<a/><a/>',
    'text behind the document': '<a></a>x',
    'a return behind the document': '<a></a>\r\n',
    'an element that is not closed': '<a><b></b>',
    'a tag that is not closed': '<a',
    'an end tag that is not closed': '<a></a',
    'an end tag with space': '<a></a >',
    'an end tag of another name': '<a></b>',
    'an end tag of a longer name': '<a></ab>',
    'an end tag of a shorter name': '<ab></a>',
    'elements that overlap': '<a><b></a></b>',
    'a prefix': '<p:a xmlns:p="urn:p"/>',
    'a prefix of an attribute': '<a xml:lang="pt"/>',
    'a declaration of a prefix': '<a xmlns:p="urn:p"/>',
    'another namespace': '<a xmlns="urn:a"/>',
    'a namespace taken back': `<a xmlns="${NFSE}"><b xmlns=""/></a>`,
    'a namespace with space': `<a xmlns="${NFSE} "/>`,
    'two namespaces': `<a xmlns="${NFSE}" xmlns="${DSIG}"/>`,
    'an attribute twice': '<a b="1" b="2"></a>',
    'an attribute twice, with another between': '<a b="1" a="1" b="1"></a>',
    'an attribute twice in an empty root': "<a b='1' b='1'/>",
    'a line end in a tag': '<a\nb="1"/>',
    'a tab in a tag': '<a\tb="1"/>',
    'space around =': '<a b = "1"/>',
    'no space before an attribute': '<a b="1"c="2"/>',
    'a tab in a value': '<a b="\t"/>',
    'a line end in a value': '<a b="\n"/>',
    'a reference in a value': '<a b="&amp;"/>',
    'a tag in a value': '<a b="<"/>',
    'the end of a tag in a value': '<a b=">"/>',
    'a quote in a value': '<a b="\'"/>',
    'a double quote in a value': "<a b='\"'/>",
    'a letter beyond ASCII in a value': '<a b="é"/>',
    'DEL in a value': '<a b="\x7f"/>',
    'a value without quotes': '<a b=1/>',
    'an attribute without value': '<a b/>',
    'a slash with space': '<a/ >',
    'two slashes': '<a//>',
    'no name': '<a><></></a>',
    'a name with a digit first': '<1a/>',
    'a name of an attribute with a hyphen first': '<a -b="1"/>',
    'a name beyond ASCII': '<é/>',
    'space before a name': '< a/>',
    'the end of CDATA': '<a>]]></a>',
    'a > in a text': '<a>></a>',
    'an & in a text': '<a>&</a>',
    'an entity without end': '<a>&amp</a>',
    'an entity in capitals': '<a>&AMP;</a>',
    'an entity of its own': '<a>&nbsp;</a>',
    'a reference by number': '<a>&#65;</a>',
    'a carriage return': '<a>\r\n</a>',
    NUL: '<a>\0</a>',
    'U+FFFE': '<a>\ufffe</a>',
    'U+FFFF': '<a>\uffff</a>',
  };
  for (const [name, source] of Object.entries(LEFT)) {
    test(name, () => assert.equal(plainOf(Buffer.from(source)), undefined));
  }

  const OCTETS = {
    'an octet that is no UTF-8': '3c612fff3e',
    'a longer form than needed': '3c613ec0bc3c2f613e',
    'half of a pair': '3c613eeda0803c2f613e',
    'a character beyond the last': '3c613ef49080803c2f613e',
    'a character cut off': '3c613ec3',
    'UTF-16': '3c0061002f003e00',
  };
  for (const [name, hex] of Object.entries(OCTETS)) {
    test(name, () => assert.equal(plainOf(Buffer.from(hex, 'hex')), undefined));
  }
});

describe('a plain document has limits', () => {
  const nested = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  const many = (elements: number): string => `<a>${'<b></b>'.repeat(elements - 1)}</a>`;
  const named = (length: number): string => `<${'a'.repeat(length)}/>`;
  const withAttributes = (count: number): string =>
    `<a${Array.from({ length: count }, (_, n) => ` b${n + 10}="1"`).join('')}></a>`;
  const rewritten = (count: number): string => `<a>${'<b/>'.repeat(count)}</a>`;
  const padded = (characters: number): string => `<a></a>${' '.repeat(characters)}`;
  const long = (bytes: number): string => `<a>${'x'.repeat(bytes - 7)}</a>`;
  const LIMITS: Readonly<Record<string, readonly [make: (size: number) => string, most: number]>> = {
    'elements in one another': [nested, 32],
    elements: [many, 60_000],
    'characters of a name': [named, 100],
    'characters of the name of an attribute': [(length) => `<a b="1" ${'c'.repeat(length)}="1"/>`, 100],
    'characters of the name of the one attribute': [(length) => `<a ${'c'.repeat(length)}="1"></a>`, 100],
    'attributes of an element': [withAttributes, 16],
    'tags that are written anew': [rewritten, 256],
    'entities that are written anew': [(count) => `<a>${'&quot;'.repeat(count)}</a>`, 256],
    'characters around the root': [padded, 4_096],
    'characters before the root': [(characters) => `<?xml version="1.0"?>${' '.repeat(characters - 21)}<a/>`, 4_096],
    octets: [long, 4_194_304],
  };
  for (const [name, [make, most]] of Object.entries(LIMITS)) {
    test(name, () => {
      for (const size of [1, most >> 1, most]) {
        const bytes = Buffer.from(make(Math.max(size, 40 % most)));
        assert.ok(
          isPlain(bytes, () => `${size} ${name}`),
          `${size} ${name}`,
        );
      }
      for (const size of [most + 1, most * 3]) assert.equal(plainOf(Buffer.from(make(size))), undefined, `${size}`);
    });
  }

  test('and what is in canonical form already counts in none', () => {
    const tags = [`<b c="1"></b>`, `<b c="1" d="2"></b>`, `<b xmlns="${DSIG}" c="1"></b>`, '<b>&amp;&lt;&gt;é</b>'];
    for (const tag of tags) {
      assert.ok(
        isPlain(Buffer.from(`<a>${tag.repeat(300)}</a>`), () => tag),
        tag,
      );
    }
  });
});

describe('each character', () => {
  /**
   * Characters below this, and those around the limits of blocks and planes, are tried alone; the others together. The long run tries each
   * alone.
   */
  const ALONE_BELOW = LONG ? 0x110000 : 0x800;
  /** XML 1.0, production 2, without markup characters and the carriage return. */
  const IN_TEXT = /^(?![<>&])[\t\n\x20-\ufffd\u{10000}-\u{10ffff}]$/u;
  const IN_VALUE = /^(?![<>&'"])[\x20-\x7e]$/;
  const NONE = /(?!)/;
  /** The places for a character, and the plain characters there. */
  const PLACES: Readonly<Record<string, readonly [put: (character: string) => string, plain: RegExp]>> = {
    'in a text': [(one) => `<a>${one}</a>`, IN_TEXT],
    'between two tags': [(one) => `<a><b/>${one}<b/></a>`, IN_TEXT],
    'in a value': [(one) => `<a b="${one}"></a>`, IN_VALUE],
    'in a value in single quotes': [(one) => `<a b='${one}'/>`, IN_VALUE],
    'at the beginning of a name': [(one) => `<${one}a></${one}a>`, /[A-Z_a-z]/],
    'within a name': [(one) => `<a${one}></a${one}>`, /[A-Z_a-z0-9.-]/],
    'at the beginning of the name of an attribute': [(one) => `<a ${one}b="1"/>`, /[A-Z_a-z ]/],
    'within the name of an attribute': [(one) => `<a b${one}="1"/>`, /[A-Z_a-z0-9.-]/],
    'behind a name': [(one) => `<a ${one}></a>`, / /],
    'behind an attribute': [(one) => `<a b="1"${one}/>`, / /],
    'behind the slash': [(one) => `<a/${one}>`, NONE],
    'in a reference': [(one) => `<a>&${one}amp;</a>`, NONE],
    'at the end of a reference': [(one) => `<a>&amp${one}</a>`, /;/],
    'in an end tag': [(one) => `<a></a${one}>`, NONE],
    'before the root': [(one) => `${one}<a/>`, NONE],
    'behind the declaration': [(one) => `<?xml version="1.0"?>${one}<a/>`, /[ \t\n]/],
    'in the declaration': [(one) => `<?xml version="1.0"${one}?><a/>`, / /],
    'behind the root': [(one) => `<a></a>${one}`, /[ \t\n]/],
  };
  const isBorder = (point: number): boolean => {
    const [within, last] = point < 0x10000 ? [point & 0xff, 0xff] : [point & 0xffff, 0xffff];
    return within < 2 || within > last - 2;
  };
  const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;

  for (const [place, [put, plain]] of Object.entries(PLACES)) {
    test(`is read as libxml2 reads it, ${place}`, () => {
      for (let point = 0; point < 0x110000; point += 1) {
        if (isSurrogate(point) || (point >= ALONE_BELOW && !isBorder(point))) continue;
        const [character, what] = [String.fromCodePoint(point), `U+${point.toString(16)} ${place}`];
        const isOne = isPlain(Buffer.from(put(character)), () => what);
        if (isOne !== plain.test(character)) assert.equal(isOne, plain.test(character), what);
      }
    });
  }

  test('is read as libxml2 reads it, all of them together in a text', () => {
    const [, plain] = PLACES['in a text']!;
    for (let first = 0; first < 0x110000; first += 0x100) {
      const points = Array.from({ length: 0x100 }, (_, place) => first + place).filter((point) => !isSurrogate(point));
      const text = points.map((point) => String.fromCodePoint(point)).filter((one) => plain.test(one));
      assert.ok(isPlain(Buffer.from(`<a>${text.join('')}</a>`), () => `from U+${first.toString(16)} on`));
    }
  });

  test('is read as libxml2 reads it, each octet in the place of any other, and before it', () => {
    const source = Buffer.from(`<?xml version="1.0"?>\n<a xmlns="${NFSE}" b='1'>é&amp;<c d="2"/></a>\n`);
    let plain = 0;
    for (let place = 0; place < source.length; place += 1) {
      for (let octet = 0; octet < 0x100; octet += 1) {
        const bytes = Buffer.from(source);
        bytes[place] = octet;
        const inserted = Buffer.concat([
          source.subarray(0, place),
          bytes.subarray(place, place + 1),
          source.subarray(place),
        ]);
        for (const one of [bytes, inserted]) if (isPlain(one, () => one.toString('latin1'))) plain += 1;
      }
    }
    assert.ok(plain > 1_000, `${plain}`);
  });
});

describe('one document in a thousand is read by both', () => {
  const RUNS = 20_000;
  const source = Buffer.from('<a b="1">Maria Exemplo</a>');

  /** The reports while a document is read many times, and the number of readings of each text. */
  function readOften(readOrdinary: typeof readPlain | undefined, bytes: Buffer) {
    const told: unknown[] = [];
    const read = new Map<string, number>();
    const listen = (difference: unknown): void => void told.push(difference);
    XML_DIFFERENCES.subscribe(listen);
    try {
      for (let run = 0; run < RUNS; run += 1) {
        const reading = readXml(bytes, readOrdinary);
        const text = 'root' in reading ? reading.root.text : reading.fault.codigo;
        read.set(text, (read.get(text) ?? 0) + 1);
      }
    } finally {
      XML_DIFFERENCES.unsubscribe(listen);
    }
    return { told, read };
  }

  const about = (bytes: Buffer, aspecto: string) => ({
    resumo: hash('sha256', bytes, 'hex'),
    bytes: bytes.length,
    aspecto,
  });
  /** Twenty are expected; one in a million runs has fewer than four or more than forty-seven. */
  const isOften = (count: number): boolean => count >= 4 && count <= 47;

  test('and nothing is told while they agree', () => {
    const { told, read } = readOften(undefined, source);
    assert.deepEqual(told, []);
    assert.deepEqual([...read], [['Maria Exemplo', RUNS]]);
  });

  /** The plain reader's result for another document, in place of the right one. */
  const readAs = (text: string) => () => readPlain(Buffer.from(text), { depth: 32, elements: 60_000 });

  const DIFFERENT: Readonly<Record<string, readonly [source: string, aspecto: string, readAs: typeof readPlain]>> = {
    'another text': ['<a b="1">Maria Exemplo</a>', 'árvore', readAs('<a b="1">wrong</a>')],
    'another value': ['<a b="1">Maria Exemplo</a>', 'árvore', readAs('<a b="2">Maria Exemplo</a>')],
    'another element': ['<a><b/></a>', 'árvore', readAs('<a><c/></a>')],
    'what libxml2 refuses': ['<a>', 'recusa', readAs('<a>Maria Exemplo</a>')],
    ...Object.fromEntries(
      // The same tree, with another canonical form of one element.
      [0, 1, 2].map((index) => [
        `the canonical form of an element ${index} levels below`,
        [
          '<a><b><c><d>Maria Exemplo</d></c></b></a>',
          'forma canônica',
          (given, limits) => {
            const read = readPlain(given, limits)!;
            return { ...read, canonicalOf: (one) => (one.index === index ? 'wrong' : read.canonicalOf(one)) };
          },
        ] as const,
      ]),
    ),
  };
  for (const [name, [source, aspecto, readOrdinary]] of Object.entries(DIFFERENT)) {
    test(`and a difference is told and answered by libxml2: ${name}`, () => {
      const bytes = Buffer.from(source);
      const theirs = readXml(bytes, () => undefined);
      const { told, read } = readOften(readOrdinary, bytes);
      assert.ok(isOften(told.length), `${told.length}`);
      for (const one of told) assert.deepEqual(one, about(bytes, aspecto));
      assert.doesNotMatch(JSON.stringify(told), /Maria|wrong/);
      const answer = 'root' in theirs ? theirs.root.text : theirs.fault.codigo;
      const wrong = readOrdinary(bytes, { depth: 32, elements: 60_000 })!.root.text;
      const expected = answer === wrong ? { [answer]: RUNS } : { [wrong]: RUNS - told.length, [answer]: told.length };
      assert.deepEqual(Object.fromEntries(read), expected);
    });
  }

  test('and what is not plain is read by libxml2 alone, with nothing to tell', () => {
    const { told, read } = readOften(() => undefined, source);
    assert.deepEqual(told, []);
    assert.deepEqual([...read], [['Maria Exemplo', RUNS]]);
  });
});

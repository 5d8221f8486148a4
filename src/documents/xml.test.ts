/** The entrance for bytes. Text that is no XML gets a fault with its place, dangerous content is refused, the rest becomes one tree. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nfseOf } from '../../test/support/notas.ts';
import fc from '../../test/support/seed.ts';
import type { Fault } from '../fiscal/fault.ts';
import type { Elemento } from '../fiscal/layout/tree.ts';
import { decodeXml } from './encoding.ts';
import { canonicalInfDps, readOwnXml, readXml, type XmlReading } from './xml.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');
const utf16le = (text: string): Buffer => Buffer.from(text, 'utf16le');
const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

function faultOf(bytes: Uint8Array, what: string): Fault {
  const reading = readXml(bytes);
  assert.ok('fault' in reading, `${what} is taken`);
  assert.equal(reading.fault.codigo, 'E201', what);
  assert.equal(reading.fault.xpath, '', what);
  return reading.fault;
}

function readingOf(bytes: Uint8Array | string): Extract<XmlReading, { root: Elemento }> {
  const reading = readXml(typeof bytes === 'string' ? bytesOf(bytes) : bytes);
  assert.ok('root' in reading, 'fault' in reading ? reading.fault.mensagem : '');
  return reading;
}

const nested = (levels: number): string => '<a>'.repeat(levels) + '</a>'.repeat(levels);
const attributes = (count: number): string => Array.from({ length: count }, (_, i) => `b${i}=""`).join(' ');

const rootOf = (bytes: Uint8Array | string): Elemento => readingOf(bytes).root;

/** Line and column, from 1, counted by a simple method. */
function placeIn(text: string, offset: number): { linha: number; coluna: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { linha: lines.length, coluna: Array.from(lines.at(-1)!).length + 1 };
}

/** Every element of a tree, in document order. */
const flat = (element: Elemento): Elemento[] => [element, ...element.children.flatMap(flat)];

describe('E201 tells XML that is well-formed, and not read here, from what is no XML', () => {
  const CASES: readonly (readonly [what: string, xml: string, says: RegExp])[] = [
    ['padding around the root', `<a/>${' '.repeat(5_000)}`, /^XML não aceito: há mais de 4096 caracteres fora/],
    [
      'a document type',
      '<!DOCTYPE a><a/>',
      /^XML não aceito \(linha 1, coluna 1\): o documento traz uma declaração DOCTYPE/,
    ],
    ['XML 1.1', '<?xml version="1.1"?><a/>', /^XML não aceito \(linha 1, coluna 7\): a declaração diz version="1\.1"/],
    ['an encoding that nobody knows', '<?xml version="1.0" encoding="x-y"?><a/>', /^XML não aceito .*codificação x-y/],
    ['more levels than are read', nested(40), /^XML não aceito: o documento passa do limite de 32 níveis/],
    ['more levels than the parser takes', nested(400), /^XML não aceito .*: há elementos aninhados demais/],
    ['more elements than are read', `<a>${'<b/>'.repeat(60_000)}</a>`, /^XML não aceito: .*limite de 60000 elementos/],
    ['more attributes than are read', `<a ${attributes(2_000)}/>`, /^XML não aceito: .*limite de 256 atributos/],
    ['a relative namespace', '<a xmlns="nfse"/>', /^XML não aceito \(linha 1, coluna 4\): o espaço de nomes "nfse"/],
    ['a tag that is not closed', '<a><b></a>', /^XML malformado \(linha 1, /],
    ['a declaration that is not so', '<?xml version="1.0" encoding="UTF-16"?><a/>', /^XML malformado /],
  ];
  for (const [what, xml, says] of CASES) test(what, () => assert.match(faultOf(bytesOf(xml), what).mensagem, says));
});

describe('E201 tells where', () => {
  /** «» encloses the fault: the reported place is inside, or right behind it, where the reading stopped. */
  const MALFORMED: readonly (readonly [what: string, text: string, says?: RegExp])[] = [
    ['nothing', '«»', /vazio/],
    ['no XML at all', '«{»"tpAmb": 2}', /DPS/],
    ['only white space', '  \n  «»', /DPS/],
    ['an element that is not closed', '<a>\n  <b>\n  </b>\n«»', /<a>.*linha 1/],
    ['an element closed by another', '<a>\n  <b>x«</c>»\n</a>', /<b>.*linha 2.*<\/c>/],
    ['an end tag too early', '<a>\n  «</b>»</a>', /<a>.*<\/b>/],
    ['an end tag too many', '<a>\n</a>«</a>»', /depois do fim/],
    ['an ampersand before a space', '<a>\n  <b>Silva «&» Filhos</b></a>', /&amp;/],
    ['an ampersand before a word', '<a>\n  <b>Silva «&Filhos» Ltda</b></a>', /&amp;/],
    ['an entity of HTML', '<a>\n<b>«&nbsp;»</b></a>', /&nbsp;/],
    ['an entity nobody declared, in an attribute', '<a>\n<b c="«&x;»"/></a>', /&x;/],
    ['a less-than sign in text', '<a>\n  <b>1 «<» 2</b></a>', /&lt;/],
    ['a less-than sign in an attribute', '<a>\n<b c="«<»"/></a>', /&lt;/],
    ['an attribute twice', '<a>\n<b «c="1" c="2"»/></a>', /atributo c/],
    [
      'one attribute under two prefixes',
      '<a xmlns:x="urn:u" xmlns:y="urn:u">\n<b «x:c="1" y:c="2"»/></a>',
      /atributo c/,
    ],
    ['an attribute without quotes', '<a>\n<b c=«1»/></a>', /aspas/],
    ['an attribute without value', '<a>\n<b «c»/></a>', /atributo c/],
    ['two attributes without a space between', '<a>\n<b c="1"«d»="2"/></a>', /espaço/],
    ['a tag that is not closed', '<a>\n<b «<»/a>', /tag/],
    ['two roots', '<a/>\n«<b/>»', /um só documento/],
    ['text behind the root', '<a/>\n«x»', /depois do fim/],
    ['a prefix that was not declared', '<a>\n<«n:b»/></a>', /xmlns:n/],
    ['a control character', '<a>\n<b>«\u0001»</b></a>', /controle/],
    ['a reference to a control character', '<a>\n<b>«&#1;»</b></a>', /código 1/],
    ['a reference to no character', '<a>\n<b>«&#x110000;»</b></a>', /nenhum caractere/],
    ['half of a pair of surrogates', '<a>\n<b>«&#xD800;»</b></a>', /55296/],
    ['a declaration that does not come first', '\n«<?xml version="1.0"?>»<a/>', /primeiro caractere/],
    ['two hyphens in a comment', '<a>\n<!-- a «--» b --></a>', /--/],
    ['a comment that is not closed', '<a>\n«<!-- x </a>»', /-->/],
    ['a CDATA section that is not closed', '<a>\n«<![CDATA[ x </a>»', /]]>/],
    ['an instruction that is not closed', '<a>\n«<?x </a>»', /\?>/],
    ['the end of a CDATA section without beginning', '<a>\n«]]>»</a>', /]]&gt;/],
    ['a name that begins with a digit', '<a>\n«<1b»/></a>', /elemento/],
    ['a name with two colons', '<a xmlns:b="urn:b">\n«<b:c:d»/></a>', /b:c:d/],
    ['a version of XML that does not exist', '<?xml «version="2.0"»?>\n<a/>', /2\.0.*só se lê XML 1\.0/],
    ['a version of XML that hides another fault', '<?xml\n«version="1.1"»?><a><b></a>', /1\.1.*só se lê XML 1\.0/],
    ['a version that is 1.0 to a number only', "<?xml «version='1.00'»?><a/>", /1\.00/],
    ['a version of one digit', '<?xml «version="1."»?><a/>', /XML 1\.0/],
    ['an empty version', '<?xml «version=""»?><a/>', /XML 1\.0/],
    ['what is only warned of, before the fault', '<a xmlns="rel" xml:space="x">\n«<b></a>»', /fechado por <\/a>/],
    ['an encoding nobody has', '<?xml version="1.0"\n «encoding="KLINGON"»?><a/>', /KLINGON/],
    [
      'UTF-16 that is none',
      '<?xml version="1.0" «encoding="utf-16"»?><a/>',
      /encoding="utf-16", e os bytes são .*oito bits; .*\.NET/,
    ],
    ['text of more than one byte a character before it', '<a>\n<b>ação 😀 «&» cia</b></a>', /&amp;/],
    ['lines of CR LF', '<a>\r\n<b>\r\n«&» cia</b></a>', /&amp;/],
  ];

  for (const [what, marked, says] of MALFORMED) {
    test(what, () => {
      const begin = marked.indexOf('«');
      const end = marked.indexOf('»') - 1;
      assert.ok(begin >= 0 && end >= begin, 'the place is marked');
      const text = marked.replace(/[«»]/g, '');
      const fault = faultOf(bytesOf(text), what);
      const [first, last] = [placeIn(text, begin), placeIn(text, end)];
      const told = `line ${fault.linha}, column ${fault.coluna}: ${fault.mensagem}`;
      assert.equal(fault.linha, first.linha, told);
      assert.ok(fault.coluna! >= first.coluna && fault.coluna! <= last.coluna, told);
      assert.ok(fault.mensagem.includes(`linha ${fault.linha}, coluna ${fault.coluna}`), told);
      if (says) assert.match(fault.mensagem, says);
      assert.match(fault.mensagem, /\.$/);
    });
  }

  test('in Portuguese, for all of them', () => {
    for (const [what, marked] of MALFORMED) {
      const { mensagem } = faultOf(bytesOf(marked.replace(/[«»]/g, '')), what);
      assert.doesNotMatch(mensagem, /\b(the|not|is|of|error|expected|invalid|value|needed|tag name)\b|xmlParse/i, what);
    }
  });

  test('bytes that are not of their encoding', () => {
    const broken = Buffer.concat([bytesOf('<a>\n<b>Jos'), Buffer.from([0xe9]), bytesOf('</b></a>')]);
    const { linha, mensagem } = faultOf(broken, 'Latin-1 without declaration');
    assert.equal(linha, 2);
    assert.match(mensagem, /UTF-8/);
    const cut = bytesOf('<a>é</a>').subarray(0, 4);
    faultOf(cut, 'half a character at the end');
  });
});

describe('a document type is refused, with whatever it brings', () => {
  const SECRET = 'segredo';
  const BILLION = [
    '<!DOCTYPE a [<!ENTITY l0 "lol">',
    ...Array.from({ length: 12 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`),
    ']><a>&l12;</a>',
  ].join('\n');
  const ATTACKS: Readonly<Record<string, string>> = {
    'an empty one': '<!DOCTYPE a><a/>',
    'an internal subset': `<!DOCTYPE a [<!ENTITY x "${SECRET}">]><a>&x;</a>`,
    'an entity in an attribute': `<!DOCTYPE a [<!ENTITY x "${SECRET}">]><a b="&x;"/>`,
    'an attribute by default': `<!DOCTYPE a [<!ATTLIST a b CDATA "${SECRET}">]><a/>`,
    'an external subset': '<!DOCTYPE a SYSTEM "file:///etc/hostname"><a/>',
    'a public subset': '<!DOCTYPE a PUBLIC "-//X//Y" "http://127.0.0.1:9/x.dtd"><a/>',
    'an external entity': '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>',
    'a parameter entity': '<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]><a/>',
    'an entity that expands a billion times': BILLION,
    'an entity that expands itself': '<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>',
    'a declaration before it': `<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "${SECRET}">]><a>&x;</a>`,
    'comments and instructions before it': `<!-- a --> <?b c?>\n<!-- <d> -->\t<!DOCTYPE a [<!ENTITY x "${SECRET}">]><a>&x;</a>`,
    'a comment before it that looks like the root': `<!-- <a> --><!DOCTYPE a [<!ENTITY x "${SECRET}">]><a>&x;</a>`,
    'an instruction before it that looks like a comment': `<?b <!-- ?><!DOCTYPE a [<!ENTITY x "${SECRET}">]><a>&x;</a>`,
  };
  const CLOTHES: Readonly<Record<string, (text: string) => Uint8Array>> = {
    'UTF-8': bytesOf,
    'UTF-8 with a mark': (text) => bytesOf(`\ufeff${text}`),
    'UTF-16 little endian': utf16le,
    'UTF-16 little endian with a mark': (text) => utf16le(`\ufeff${text}`),
    'UTF-16 big endian': utf16be,
    'UTF-16 big endian with a mark': (text) => utf16be(`\ufeff${text}`),
  };

  for (const [what, text] of Object.entries(ATTACKS)) {
    test(what, () => {
      for (const [encoding, encode] of Object.entries(CLOTHES)) {
        const fault = faultOf(encode(text), `${what} in ${encoding}`);
        assert.match(fault.mensagem, /DOCTYPE/, encoding);
        assert.ok(!JSON.stringify(fault).includes(SECRET));
      }
    });
  }

  test('its place is told', () => {
    const fault = faultOf(bytesOf('<?xml version="1.0"?>\n<!-- é 😀 --> <!DOCTYPE a><a/>'), 'a document type');
    assert.deepEqual([fault.linha, fault.coluna, fault.encontrado], [2, 14, '<!DOCTYPE']);
  });

  test('an encoding that hides it from a first look does not let it in', () => {
    const text = `<!DOCTYPE a [<!ENTITY x "${SECRET}">]><a b="&x;">&x;</a>`;
    const utf32 = (write: (to: Buffer, point: number, at: number) => void, mark: string): Buffer => {
      const points = [...`${mark}${text}`].map((character) => character.codePointAt(0)!);
      const bytes = Buffer.alloc(points.length * 4);
      points.forEach((point, place) => {
        write(bytes, point, place * 4);
      });
      return bytes;
    };
    const little = (to: Buffer, point: number, at: number): void => void to.writeUInt32LE(point, at);
    const big = (to: Buffer, point: number, at: number): void => void to.writeUInt32BE(point, at);
    for (const mark of ['', '\ufeff']) {
      faultOf(utf32(little, mark), 'UTF-32 little endian');
      faultOf(utf32(big, mark), 'UTF-32 big endian');
    }
    // The escape sequence before the tag is dropped by the encoding, or turns text into markup.
    const escaped = Buffer.concat([
      bytesOf('<?xml version="1.0" encoding="ISO-2022-JP"?>'),
      Buffer.from([0x1b, 0x28, 0x4a]),
      bytesOf(text),
    ]);
    assert.match(faultOf(escaped, 'ISO-2022-JP').mensagem, /ISO-2022-JP não é conhecida/);
    for (const encoding of ['UTF-16LE', 'UTF-16BE', 'UTF-16', 'UCS-2']) {
      const head = bytesOf(`<?xml version="1.0" encoding="${encoding}"?>`);
      faultOf(Buffer.concat([head, utf16le(text)]), `ASCII, then ${encoding}`);
      faultOf(Buffer.concat([head, utf16be(text)]), `ASCII, then ${encoding}`);
    }
    faultOf(bytesOf(`<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE a+AD4-<a/>`), 'UTF-7');
  });

  test('where it is only text it is taken', () => {
    assert.equal(rootOf('<a><![CDATA[<!DOCTYPE a>]]></a>').text, '<!DOCTYPE a>');
    assert.equal(rootOf('<a>&lt;!DOCTYPE a></a>').text, '<!DOCTYPE a>');
    assert.equal(rootOf('<!-- <!DOCTYPE a> --><a>1</a>').text, '1');
    assert.equal(rootOf('<?x <!DOCTYPE a> ?><a>1</a>').text, '1');
    assert.equal(rootOf('<a>1<!-- <!DOCTYPE a> --></a>').text, '1');
    assert.equal(rootOf('<a b="&lt;!DOCTYPE a>"/>').attributes[0]?.value, '<!DOCTYPE a>');
  });

  test('only the five entities of XML are known, and characters by number', () => {
    assert.equal(rootOf('<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;</a>').text, '<>&"\'A😀');
  });
});

describe('size and depth have limits', () => {
  const nested = (depth: number): string => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`;

  test('the deepest path of the layout, in an envelope, is read; a document three times as deep is not', () => {
    assert.equal(flat(rootOf(nested(20))).length, 20);
    assert.match(faultOf(bytesOf(nested(60)), 'sixty levels').mensagem, /níveis/);
    faultOf(bytesOf(nested(100_000)), 'a hundred thousand levels');
    faultOf(bytesOf('<a>'.repeat(300_000)), 'levels that are never closed');
  });

  test('a DPS with all the deduction documents that the layout has room for is read; ten times that is not', () => {
    const document = `<d>${'<e>1</e>'.repeat(29)}</d>`;
    assert.equal(flat(rootOf(`<a>${document.repeat(1000)}</a>`)).length, 30_001);
    assert.match(faultOf(bytesOf(`<a>${document.repeat(10_000)}</a>`), 'far too many').mensagem, /elementos/);
  });

  test('different prefixes are counted, not their declarations', () => {
    const again = `<p:a xmlns:p="urn:p"/>`.repeat(20_000);
    assert.equal(rootOf(`<a>${again}</a>`).children.length, 20_000);
    const others = (count: number): string =>
      Array.from({ length: count }, (_, place) => `<p${place}:a xmlns:p${place}\n= "urn:p"/>`).join('');
    // Small documents are not checked: a few kilobytes never cost too much.
    const long = `<b>${'x'.repeat(8_192)}</b>`;
    assert.equal(rootOf(`<a>${others(255)}${again}${long}</a>`).children.length, 20_256);
    const { mensagem } = faultOf(bytesOf(`<a>${others(257)}${long}</a>`), 'a prefix too many');
    assert.match(mensagem, /256 prefixos declarados/);
    // Each name is looked up in all declarations around it, shadowed ones too.
    const shadowed = (count: number): string =>
      Array.from({ length: count }, (_, place) => ` xmlns:q${place}="urn:q"`).join('');
    const nested = (each: number): string => `${`<a${shadowed(each)}>`.repeat(8)}${long}${'</a>'.repeat(8)}`;
    assert.equal(rootOf(nested(32)).name, 'a');
    assert.match(faultOf(bytesOf(nested(33)), 'one too many').mensagem, /256 declarações de prefixos/);
  });

  test('a million characters of anything come to an end', { timeout: 600_000 }, () => {
    const count = 1_000_000;
    for (const piece of ['<!---->', '<?a?>', ' ', '<!--', '<', '<![CDATA[', '<a ', '"', '&', ']]>', '<?', '<a>x</a>']) {
      const many = piece.repeat(Math.ceil(count / piece.length));
      for (const text of [many, `${many}<a/>`, `<a>${many}</a>`, `<a b="${many}"/>`, `<a ${many}/>`]) {
        const reading = readXml(bytesOf(text));
        if ('root' in reading) reading.positionOf(flat(reading.root).at(-1)!);
        else assert.equal(reading.fault.codigo, 'E201');
      }
    }
  });
});

describe('encodings', () => {
  const inside = '<nome>Conceição & Cia – 10 € 😀</nome>'.replace('&', '&amp;');
  const wanted = 'Conceição & Cia – 10 € 😀';
  const latin = 'Conceição ÿ';

  test('UTF-8, with and without its mark or a declaration', () => {
    for (const head of [
      '',
      '<?xml version="1.0"?>',
      '<?xml version="1.0" encoding="UTF-8"?>',
      "<?xml version='1.0' encoding='utf-8'?>",
    ]) {
      for (const mark of ['', '\ufeff']) assert.equal(rootOf(`${mark}${head}${inside}`).text, wanted);
    }
  });

  test('UTF-16 in both byte orders, with its mark or a declaration', () => {
    for (const encode of [utf16le, utf16be]) {
      const head = '<?xml version="1.0" encoding="UTF-16"?>';
      for (const text of [`\ufeff${head}${inside}`, `\ufeff${inside}`, `${head}${inside}`]) {
        assert.equal(rootOf(encode(text)).text, wanted);
      }
    }
  });

  test('ISO-8859-1 and windows-1252, as declared', () => {
    const text = `<nome>${latin}</nome>`;
    const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?>${text}`;
    assert.equal(rootOf(Buffer.from(declared('ISO-8859-1'), 'latin1')).text, latin);
    assert.equal(rootOf(Buffer.from(declared('iso-8859-1'), 'latin1')).text, latin);
    assert.equal(rootOf(Buffer.from(declared('windows-1252'), 'latin1')).text, latin);
    // 0x80 is the euro sign and 0x96 the dash of windows-1252.
    const euro = Buffer.from('<?xml version="1.0" encoding="windows-1252"?><a>\x80\x96</a>', 'latin1');
    assert.equal(rootOf(euro).text, '€–');
  });

  /** The encodings that a document of each byte form may declare; any other contradicts its bytes. */
  const DECLARABLE: readonly (readonly [what: string, (text: string) => Buffer, readonly string[]])[] = [
    ['UTF-8 with its mark', (text) => bytesOf(`\ufeff${text}`), ['UTF-8', 'utf-8', 'UTF8']],
    ['UTF-16LE with its mark', (text) => utf16le(`\ufeff${text}`), ['UTF-16', 'utf-16', 'UTF-16LE']],
    ['UTF-16BE with its mark', (text) => utf16be(`\ufeff${text}`), ['UTF-16', 'utf-16', 'UTF-16BE']],
    ['UTF-16LE without a mark', utf16le, ['UTF-16', 'utf-16', 'UTF-16LE']],
    ['UTF-16BE without a mark', utf16be, ['UTF-16', 'utf-16', 'UTF-16BE']],
    ['UTF-8 without a mark', bytesOf, ['UTF-8', 'utf-8', 'UTF8']],
  ];
  const DECLARED = ['UTF-8', 'utf-8', 'UTF8', 'UTF-16', 'utf-16', 'UTF-16LE', 'UTF-16BE', 'ISO-8859-1', 'windows-1252'];

  for (const [what, encode, declarable] of DECLARABLE) {
    test(`${what} is read when nothing else is declared, and refused when it is`, () => {
      assert.equal(rootOf(encode(`<?xml version="1.0"?>${inside}`)).text, wanted);
      for (const encoding of DECLARED) {
        const bytes = encode(`<?xml version="1.0" encoding="${encoding}"?>${inside}`);
        if (declarable.includes(encoding)) assert.equal(rootOf(bytes).text, wanted, encoding);
        else if (what !== 'UTF-8 without a mark' || encoding.startsWith('UTF-16')) {
          const { mensagem, linha, coluna, encontrado } = faultOf(bytes, encoding);
          assert.deepEqual([linha, coluna, encontrado], [1, 21, encoding]);
          assert.match(mensagem, new RegExp(`a declaração diz encoding="${encoding}", e .*(?:BOM|UTF-16|oito bits)`));
        }
      }
    });
  }

  test('a declared encoding that the bytes are not of is refused', () => {
    const text = `<nome>${latin}</nome>`;
    faultOf(Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${text}`, 'latin1'), 'Latin-1 declared as UTF-8');
    faultOf(Buffer.from(`<?xml version="1.0" encoding="US-ASCII"?>${text}`, 'latin1'), 'Latin-1 declared as ASCII');
    faultOf(bytesOf(`<?xml version="1.0" encoding="UTF-16"?>${text}`), 'UTF-8 declared as UTF-16');
  });

  test('an encoding that nobody knows is refused by its name', () => {
    for (const encoding of ['KLINGON', 'x-proprio', 'EBCDIC-CP-BR', 'UTF-32', 'CP850', 'Shift_JIS', 'GB18030']) {
      const { mensagem } = faultOf(bytesOf(`<?xml version="1.0" encoding="${encoding}"?><a/>`), encoding);
      assert.ok(mensagem.includes(encoding), mensagem);
    }
  });

  test('the text that is shown is the text that was read', () => {
    const every = 'áÁàãÃâéêíóôõúüçÇñº°§';
    for (const encoding of ['ISO-8859-1', 'ISO-8859-15', 'windows-1252', 'latin1', 'cp1252']) {
      const bytes = Buffer.from(`<?xml version="1.0" encoding="${encoding}"?><a>${every}</a>`, 'latin1');
      assert.equal(rootOf(bytes).text, every, encoding);
      assert.ok(decodeXml(bytes).endsWith(`<a>${every}</a>`), encoding);
      assert.equal(readingOf(bytes).text(), decodeXml(bytes));
    }
    for (const bytes of [bytesOf(inside), bytesOf(`\ufeff${inside}`), utf16le(`\ufeff${inside}`), utf16be(inside)]) {
      assert.equal(decodeXml(bytes), inside, 'and the mark is no part of it');
    }
  });
});

describe('the tree', () => {
  test('text is all that stands directly inside, whatever it is broken by', () => {
    assert.equal(rootOf('<v>15<!-- mil e quinhentos -->00.<![CDATA[0]]>&#48;</v>').text, '1500.00');
    assert.equal(rootOf('<v>1<?i n?>2<?j?>3</v>').text, '123');
    assert.equal(rootOf('<v><![CDATA[a]]><![CDATA[<b>]]></v>').text, 'a<b>');
    assert.equal(rootOf('<v>]]&gt;</v>').text, ']]>');
    const mixed = rootOf('<a>x<b>y</b>z<?p?><c/>w</a>');
    assert.equal(mixed.text, 'xzw');
    assert.deepEqual(
      mixed.children.map(({ name, text }) => [name, text]),
      [
        ['b', 'y'],
        ['c', ''],
      ],
    );
  });

  test('instructions may stand anywhere', () => {
    for (const text of ['<a><?p?><b/></a>', '<a><b/><?p?></a>', '<a><?p?><?q?><b/><?r?></a>', '<a><b/></a><?p?>']) {
      assert.deepEqual(
        rootOf(text).children.map(({ name }) => name),
        ['b'],
        text,
      );
    }
  });

  test('a line break is LF, however it came', () => {
    assert.equal(rootOf('<v>a\r\nb\rc\nd</v>').text, 'a\nb\nc\nd');
    assert.equal(rootOf('<v>a&#13;b</v>').text, 'a\rb', 'unless it is written as a reference');
  });

  test('names are local, with their namespace beside them; declarations are no attributes', () => {
    const root = rootOf(
      '<n:a xmlns:n="urn:n" xmlns="urn:d" xmlns:x="urn:x" b="1" x:c="2" n:d="&lt;&#10;3"><e/><f xmlns=""/><x:g/></n:a>',
    );
    assert.deepEqual([root.name, root.namespace], ['a', 'urn:n']);
    assert.deepEqual(root.attributes, [
      { name: 'b', namespace: '', value: '1' },
      // The attributes stand in canonical order: by namespace, then by name.
      { name: 'd', namespace: 'urn:n', value: '<\n3' },
      { name: 'c', namespace: 'urn:x', value: '2' },
    ]);
    assert.deepEqual(
      root.children.map(({ name, namespace }) => [name, namespace]),
      [
        ['e', 'urn:d'],
        ['f', ''],
        ['g', 'urn:x'],
      ],
    );
  });

  test('elements are numbered in document order from 0', () => {
    const all = flat(rootOf('<a><b><c/></b><d><?p?><e/></d></a>'));
    assert.deepEqual(
      all.map(({ name, index }) => `${name}${index}`),
      ['a0', 'b1', 'c2', 'd3', 'e4'],
    );
  });
});

describe('the place of an element', () => {
  const LINES = [
    '<?xml version="1.0"?><!-- <falso> -->',
    '<a um="1 > 2" dois=\'"&lt;b>"\'>',
    '  <!-- <falso/>',
    '  <falso> --><b/>',
    '  <![CDATA[<falso/>]]><c/><d',
    '    tres="&lt;falso/>"/>',
    '  <?falso <falso/> ?><e/>',
    '  ação 😀<f>texto > solto</f><g  />',
    '</a>',
  ];
  /** Places counted by hand on the lines above. */
  const PLACES: Readonly<Record<string, readonly [number, number]>> = {
    a: [2, 1],
    b: [4, 14],
    c: [5, 23],
    d: [5, 27],
    e: [7, 22],
    f: [8, 9],
    g: [8, 29],
  };

  for (const [name, end] of [
    ['LF', '\n'],
    ['CR LF', '\r\n'],
    ['CR', '\r'],
  ] as const) {
    test(`is told in line and column of characters, with lines of ${name}`, () => {
      const reading = readingOf(LINES.join(end));
      const found = flat(reading.root).map((element) => {
        const { linha, coluna } = reading.positionOf(element);
        return [element.name, [linha, coluna]];
      });
      assert.deepEqual(Object.fromEntries(found), PLACES);
      // A single element is found in another way than all of them.
      for (const { name, index } of flat(reading.root)) {
        const alone = readingOf(LINES.join(end));
        const { linha, coluna } = alone.positionOf(flat(alone.root).find((element) => element.index === index)!);
        assert.deepEqual([linha, coluna], PLACES[name]);
      }
    });
  }

  test('is the same in every encoding', () => {
    const text = LINES.join('\n');
    const plain = readingOf(text);
    const places = flat(plain.root).map(plain.positionOf);
    for (const bytes of [bytesOf(`\ufeff${text}`), utf16le(`\ufeff${text}`), utf16be(text)]) {
      const reading = readingOf(bytes);
      assert.deepEqual(flat(reading.root).map(reading.positionOf), places);
    }
  });

  /** A document, and the beginning of each of its elements. */
  type Grown = { text: string; starts: number[] };
  const noise = fc.constantFrom(
    ...['', ' ', '\n', '\r\n', '\r', 'texto', 'é', '😀', '>', '"', "'", '&lt;w&gt;'],
    ...['<!-- <x> -->', '<!---->', '<?x <y> ?>', '<![CDATA[<z a="]]>', '<![CDATA[-->]]>'],
  );
  const attributes = fc.constantFrom('', ' a="1"', " a='>'", ` a="'>" b='">'`, '\n a="😀"', ' a="&lt;!-- -->"');
  const { tree } = fc.letrec<{ tree: (into: Grown) => void; children: ((into: Grown) => void)[] }>((tie) => ({
    tree: fc
      .record({ attributes, children: tie('children'), before: noise, after: noise })
      .map((drawn) => (into: Grown) => {
        into.starts.push(into.text.length);
        into.text += `<e${drawn.attributes}>${drawn.before}`;
        for (const child of drawn.children) {
          child(into);
          into.text += drawn.after;
        }
        into.text += '</e>';
      }),
    children: fc.oneof(
      { maxDepth: 4 },
      fc.constant<((into: Grown) => void)[]>([]),
      fc.array(tie('tree'), { maxLength: 3 }),
    ),
  }));

  test('of every element of any document', () => {
    fc.assert(
      fc.property(
        tree,
        fc.constantFrom('', '<?xml version="1.0"?>\r\n', '<!-- <e> -->\n', '\n <?e <e> ?>'),
        (grow, head) => {
          const grown: Grown = { text: head, starts: [] };
          grow(grown);
          const reading = readingOf(grown.text);
          assert.deepEqual(
            flat(reading.root).map(reading.positionOf),
            grown.starts.map((start) => placeIn(grown.text, start)),
          );
        },
      ),
    );
  });
});

describe('the canonical infDPS', () => {
  const dps = (inside: string, head = '<DPS xmlns="urn:dps" versao="1.01">'): string => `${head}${inside}</DPS>`;
  const BODY = '<infDPS Id="DPS1"><xNome>Conceição &amp; Cia</xNome></infDPS>';
  const same = canonicalInfDps(bytesOf(dps(BODY)));

  test('is the same for the same declaration in other clothes', () => {
    assert.ok(same?.includes('Conceição &amp; Cia'));
    const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?>${dps(BODY)}`;
    const others: Readonly<Record<string, Uint8Array>> = {
      'a mark': bytesOf(`\ufeff${dps(BODY)}`),
      'another encoding': Buffer.from(declared('ISO-8859-1'), 'latin1'),
      'UTF-16': utf16le(`\ufeff${declared('UTF-16')}`),
      comments: bytesOf(dps(BODY.replace('<xNome>', '<!-- x --><xNome><!-- y -->'))),
      'a CDATA section': bytesOf(dps(BODY.replace('Conceição &amp; Cia', '<![CDATA[Conceição & Cia]]>'))),
      'character references': bytesOf(dps(BODY.replace('ç', '&#231;'))),
      'space around it': bytesOf(dps(`\n  ${BODY}\n`)),
      'space in a tag': bytesOf(dps(BODY.replace('Id="DPS1"', " Id = 'DPS1' ").replace('</xNome>', '</xNome >'))),
      'a signature beside it': bytesOf(dps(`${BODY}<Signature xmlns="urn:s"/>`)),
      'another version of the root': bytesOf(dps(BODY, '<DPS xmlns="urn:dps" versao="9">')),
      'a prefix that it does not use': bytesOf(dps(BODY, '<DPS xmlns="urn:dps" xmlns:n="urn:n">')),
      'an instruction before it': bytesOf(dps(`<?x y?>${BODY}`)),
    };
    for (const [what, bytes] of Object.entries(others)) assert.equal(canonicalInfDps(bytes), same, what);
  });

  test('is another for another declaration', () => {
    const others = [
      BODY.replace('DPS1', 'DPS2'),
      BODY.replace('Cia', 'Cia.'),
      BODY.replace('Conceição', ' Conceição'),
      BODY.replace('xNome>', 'xnome>').replace('</xNome>', '</xnome>'),
      BODY.replace('</infDPS>', '<fone/></infDPS>'),
      BODY.replace('</infDPS>', '\n</infDPS>'),
      BODY.replace('<infDPS ', '<infDPS xmlns="urn:outro" '),
    ];
    const canonical = others.map((other) => canonicalInfDps(bytesOf(dps(other))));
    assert.ok(canonical.every((one) => one !== undefined && one !== same));
    assert.equal(new Set(canonical).size, others.length);
  });

  test('is undefined for what has none', () => {
    for (const text of ['', 'olá', '<DPS>', '<DPS/>', '<DPS><outro/></DPS>', '<a><b><infDPS/></b></a>']) {
      assert.equal(canonicalInfDps(bytesOf(text)), undefined, text);
    }
  });
});

describe('whatever the bytes are, they are read or refused', () => {
  const TOKENS =
    '< > </ /> <a> </a> <a b="1"> <b/> <!-- --> <![CDATA[ ]]> <?x ?> <!DOCTYPE & &amp; &#x; " \' = x: xmlns="u" \r \n é 😀 \u0000';
  const soup = fc
    .array(fc.constantFrom(...TOKENS.split(' ')), { maxLength: 60 })
    .map((tokens) => bytesOf(tokens.join('')));
  const wide = fc
    .tuple(soup, fc.constantFrom<BufferEncoding>('utf16le', 'latin1'))
    .map(([bytes, encoding]) => Buffer.from(bytes.toString('utf8'), encoding));
  const VALID = bytesOf(
    '<?xml version="1.0" encoding="UTF-8"?>\n<a xmlns="urn:a" b="é"><!-- c --><d>1<![CDATA[2]]></d><?e f?></a>',
  );
  const spoilt = fc
    .array(fc.tuple(fc.nat(VALID.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((changes) => {
      const bytes = Buffer.from(VALID);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
  const marked = fc
    .tuple(
      fc.constantFrom([0xff, 0xfe], [0xfe, 0xff], [0xef, 0xbb, 0xbf], [0, 0x3c], [0x3c, 0], [0, 0, 0, 0x3c]),
      fc.uint8Array({ maxLength: 64 }),
    )
    .map(([mark, rest]) => Uint8Array.from([...mark, ...rest]));

  test('and never thrown over', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 256 }), soup, wide, spoilt, marked), (bytes) => {
        const reading = readXml(bytes);
        canonicalInfDps(bytes);
        if ('fault' in reading) {
          assert.equal(reading.fault.codigo, 'E201');
          assert.ok(reading.fault.linha! >= 1 && reading.fault.coluna! >= 1);
          return;
        }
        assert.doesNotMatch(reading.text().slice(0, 200), /^\s*<!DOCTYPE/);
        for (const element of flat(reading.root)) assert.ok(reading.positionOf(element).linha >= 1);
      }),
      { numRuns: 2000 },
    );
  });
});

test('what a canonical form would repeat without end is refused before it is made', () => {
  const repeated = (length: number): Buffer =>
    Buffer.from(`<a xmlns:p="urn:${'x'.repeat(length - 4)}">${'<p:a/>'.repeat(2_000)}</a>`);
  assert.ok('root' in readXml(repeated(128)));
  const reading = readXml(repeated(129));
  assert.ok('fault' in reading);
  assert.equal(reading.fault.codigo, 'E201');
  assert.match(reading.fault.mensagem, /128 caracteres no endereço de um espaço de nomes/);
});

describe('a document that we wrote', () => {
  /** Text that is escaped in XML, and text that looks as if it were. */
  const XS = ['a & b < c > d "e" \'f\'', '&amp;lt;', 'Ação — 10 € 😀', 'linha\\s\\nlinha', ']]>', 'a\u00a0b'];

  for (const xDescServ of XS) {
    test(`reads without a parser as with one: ${JSON.stringify(xDescServ)}`, () => {
      const nota = nfseOf({ 'serv/cServ/xDescServ': xDescServ });
      const reading = readXml(nota);
      assert.ok('root' in reading);
      assert.deepEqual(readOwnXml(nota), reading.root);
      const text = reading.root.children[0]!.children.find(({ name }) => name === 'DPS')!;
      assert.ok(JSON.stringify(text).includes(JSON.stringify(xDescServ).slice(1, -1)));
    });
  }
});

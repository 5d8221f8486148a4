/**
 * Two readers of XML (D-354). libxml2 must accept each document that the reader of plain documents accepts, with the same tree and
 * canonical forms. A grammar makes the documents; they are changed by octets and tokens, and spliced. All samples, fixtures and attacks of
 * this repository are among them.
 *
 * NFSE_TEST_LONGO=1 tries a million, NFSE_TEST_SEMENTE=N those of a seed again.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { distinctDps, patchOf } from '../bench/documents.ts';
import { readCertificate } from '../src/documents/certificate.ts';
import { signatureOf } from '../src/documents/signing.ts';
import { canonicalInfDps } from '../src/documents/xml.ts';
import { DPS_NAMESPACE } from '../src/fiscal/layout/dps.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { bytesOf, CORPORA, readCorpus } from './ataques/ataque.ts';
import { bentXml } from './support/fuzz.ts';
import { MUTATIONS } from './support/mutations.ts';
import { acceptedPatches, nfseOf } from './support/notas.ts';
import { rearranged } from './support/rearrange.ts';
import { LONG, SEED } from './support/seed.ts';
import { type Chance, chanceOf, DSIG, idOf, withSignature } from './support/signatures.ts';
import { documents, provider } from './support/signed-documents.ts';
import { isPlain, isPlainWhole } from './support/two-readings.ts';

const RUNS = LONG ? 1_000_000 : 50_000;
/** One in so many plain documents is compared by every available query. */
const WHOLE_ONE_IN = LONG ? 200 : 100;
/** The share of plain documents of each way: a smaller share would test nothing, a larger one would not test the border. */
const [PLAIN_MIN, PLAIN_MAX] = [0.05, 0.9];

const NFSE = DPS_NAMESPACE;

// Existing documents.

const folder = new URL('..', import.meta.url).pathname;
const read = (file: string): Buffer => readFileSync(`${folder}${file}`);

/** Every text in a JSON value that starts like XML. */
function xmlIn(value: unknown): string[] {
  if (typeof value === 'string') return /^\s*</.test(value) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(xmlIn) : [];
}

const certificate = readCertificate(provider.der);
assert.ok(!('problem' in certificate));
const signer = { key: provider.keys.privateKey, certificate };
const signed = (xml: string): string =>
  withSignature(xml, signatureOf(canonicalInfDps(Buffer.from(xml))!, idOf(xml), signer));
const inOneLine = (xml: string): string => xml.replace(/>\s+</g, '><');

/** Ordinary documents: those that this service receives, writes and publishes. */
const ORDINARY: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  'the examples of the project': globSync('examples/*.xml', { cwd: folder }).map(read),
  'the model of a signature': [read('docs/site/exemplos/assinatura-modelo.xml')],
  'the examples of the description': xmlIn(JSON.parse(read('src/published/openapi/exemplos.json').toString())).filter(
    // One of them is an example of an invalid document.
    (xml) => !xml.endsWith('<infDPS></DPS>'),
  ),
  'the examples of the rules': acceptedPatches().map((patch) => exampleXml(patch)),
  'the same in one line, signed': acceptedPatches()
    .slice(0, 100)
    .map((patch) => signed(inOneLine(exampleXml(patch)))),
  'the documents of the bench': (['comum', 'longo', 'obra'] as const).flatMap((documento) => {
    const documentOf = distinctDps(exampleXml(patchOf(documento, true)), 3);
    return [1, 2, 3].flatMap((number) => [documentOf(number), signed(documentOf(number).toString())]);
  }),
  'the notes that are written': acceptedPatches()
    .slice(0, 40)
    .map((patch) => nfseOf(patch)),
};

const attacks: readonly Buffer[] = CORPORA.flatMap((name) => {
  const { casos, partes } = readCorpus(name);
  return casos.map(({ entrada }) => bytesOf('conexao' in entrada ? entrada.conexao : entrada.corpo, partes));
});

const show = (bytes: Uint8Array, how: string) => (): string =>
  `seed ${SEED}, ${how}, in Base64: ${Buffer.from(bytes).toString('base64')}`;

describe('documents that there are', () => {
  for (const [name, ones] of Object.entries(ORDINARY)) {
    test(`are plain, and read alike: ${name}`, () => {
      assert.ok(ones.length > 0);
      for (const one of ones) {
        const bytes = Buffer.from(one);
        assert.ok(isPlainWhole(bytes, show(bytes, name)), `not plain: ${bytes}`);
      }
    });
  }

  test('are read alike: every attack, and every XML file of the repository', () => {
    const files = globSync('{docs,examples,test,packages,src}/**/*.xml', {
      cwd: folder,
      exclude: (name) => name.endsWith('node_modules'),
    });
    const all = [...attacks, ...files.map(read)];
    assert.ok(all.length > 100);
    const plain = all.filter((bytes, place) => isPlainWhole(bytes, show(bytes, `document ${place}`)));
    assert.ok(plain.length > 0 && plain.length < all.length, `${plain.length} of ${all.length} are plain`);
  });

  test('are read alike: signed documents in every dress and encoding', () => {
    const plain = documents.filter(({ signed, encode, name }) => {
      const bytes = encode(signed);
      return isPlainWhole(bytes, show(bytes, name));
    });
    assert.ok(plain.length > documents.length / 5, `${plain.length} of ${documents.length} are plain`);
  });
});

// Generated documents.

/** Content of a tag after its name; the first ones are plain. */
const ATTRIBUTES = [
  ...['', '', '', ' Id="DPS1"', ' versao="1.01"', ' a="1"', " b='2'", ` xmlns="${NFSE}"`, ` xmlns='${DSIG}'`, ' '],
  ...['  z="" a-b="]]" a.b="=" ab="/" ', ' Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"', ' _="x" _x="y"'],
  ...[' xmlns=""', ' xmlns="urn:x"', ' xmlns:p="urn:p"', ' xml:space="preserve"', ' xml:id="a"', ' xml:lang="pt"'],
  ...[' a="1" a="1"', ` xmlns="${NFSE}" xmlns="${NFSE}"`, ' xmlns:xml="http://www.w3.org/XML/1998/namespace"'],
  ...[' xmlns="http://www.w3.org/2000/xmlns/"', ' xmlns="http://www.w3.org/XML/1998/namespace"', ` xmlns="${NFSE} "`],
  ...[' a = "1"', '\ta="1"', '\na="1"', '\r\na="1"', ' a="\t"', ' a="\n"', ' a="&#10;"', ' a="&#x9;"', ' a="&amp;"'],
  ...[' a="<"', ' a=">"', ' a="]]>"', ' a="\'"', " a='\"'", ' a="é"', ' a=""', ' a', ' a=', ' a=1', ' ="1"', ' "1"'],
  ...[
    ' a="1"b="2"',
    ' p:a="1"',
    ' 1="1"',
    ' é="1"',
    ' xmlnsa="1"',
    ' xmlns-a="1"',
    ' xmlns',
    '/',
    ' /',
    '/ ',
    ' a="\u0085"',
  ],
  ...[' xmlns:a="urn:p" xmlns:b="urn:p" a:c="1" b:c="2"', ' constructor="1" __proto__="2"', ' xml="1"', ' XMLNS="a"'],
] as const;
const NAMES = [
  ...['a', 'b', 'DPS', 'infDPS', 'Signature', 'xNome', 'a.b-c_1', '_', 'xml', 'XMLx', 'xmlns', 'constructor'],
  ...['p:a', ':a', 'a:', '1a', '-a', '.', 'é', 'aé', 'a·', 'xml:a', 'a/b', '', ' a', 'a\u0300', 'ａ'],
] as const;
const TEXTS = [
  ...[
    '',
    '',
    '',
    '1',
    'Ação',
    ' ',
    '\n  ',
    '\t',
    '&amp;',
    '&lt;',
    '&gt;',
    '&quot;',
    '&apos;',
    '"',
    "'",
    '=',
    '/',
    ']]',
    '€',
  ],
  ...[
    '😀',
    '\u00a0',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\ufffd',
    '\ue000',
    '\uffef',
    '\u{1fffe}',
    '\u{10ffff}',
    '\ud7ff',
    '\x7f',
  ],
  ...[
    '\r',
    '\r\n',
    '\0',
    '\x01',
    '\x08',
    '\x0b',
    '\x0c',
    '\x1f',
    '\ufffe',
    '\uffff',
    '>',
    ']]>',
    '&',
    '&amp',
    '&;',
    '& ',
    '\ufdd0',
  ],
  ...[
    '&#65;',
    '&#x41;',
    '&#0;',
    '&#xD;',
    '&#xFFFE;',
    '&#xD800;',
    '&nbsp;',
    '&AMP;',
    '&amp;amp;',
    '&quot',
    '&lt ;',
    '&aposs;',
  ],
  ...[
    '<!-- -->',
    '<!---->',
    '<![CDATA[<a>]]>',
    '<![CDATA[]]>',
    '<?p?>',
    '<?p q?>',
    '<!DOCTYPE a>',
    '<?xml version="1.0"?>',
  ],
  ...[
    '<',
    '</',
    '<>',
    '</>',
    '< a/>',
    '<a',
    '</a >',
    '</ a>',
    '<a/>',
    '<a />',
    '<a></a>',
    '<a></b>',
    '<a/ >',
    '<a//>',
    '<!a>',
  ],
] as const;
const PROLOGS = [
  ...[
    '',
    '',
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '<?xml version="1.0"?>',
  ],
  ...["<?xml version='1.0' encoding='utf-8'?> \n\t", '<?xml version="1.0" encoding="utf-8" standalone="yes" ?>', '\n'],
  ...[
    '<?xml version="1.0" standalone="no"?>',
    '<?xml version="1.1"?>',
    '<?xml version="1.0" encoding="ISO-8859-1"?>',
    '\ufeff',
  ],
  ...[
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<?xml version="1.0" encoding="Utf-8"?>',
    '<?xml encoding="UTF-8"?>',
    '\r\n',
  ],
  ...[
    '<?xml version="1.0" standalone="yes" encoding="UTF-8"?>',
    '<?xml version="1.0" encoding="UTF-8"',
    ' <?xml version="1.0"?>',
  ],
  ...[
    '<?xml version="1.0"encoding="UTF-8"?>',
    '<?xml version="1.0" encoding="UTF-8\'?>',
    '<?xml version="1.0" encoding=""?>',
  ],
  ...[
    '<?xml  version="1.0"?>',
    '<?XML version="1.0"?>',
    '<?xml?>',
    '<?x?>',
    '<!-- x -->',
    '<!DOCTYPE a>',
    'x',
    '&#10;',
    '\0',
  ],
] as const;
const TAILS = [
  '',
  '',
  '',
  '\n',
  ' \n\t',
  '\r\n',
  '\r',
  '<a/>',
  '</a>',
  'x',
  '&#10;',
  '<!-- -->',
  '<?p?>',
  '\0',
  '\ufeff',
  '>',
  '\u00a0',
] as const;
/** The number of plain entries at the head of each list. */
const PLAIN = new Map<readonly string[], number>([
  [ATTRIBUTES, 13],
  [NAMES, 12],
  [TEXTS, 31],
  [PROLOGS, 7],
  [TAILS, 5],
]);

/** Octets that are invalid UTF-8, or start another encoding. */
const OCTETS = [
  'ff',
  'fe',
  '80',
  'c0 80',
  'c1 bf',
  'c3',
  'e0 80 80',
  'e0 9f bf',
  'ed a0 80',
  'ed b0 80',
  'ed a0 bd ed b8 80',
].concat([
  'ef bf',
  'ef bf be',
  'ef bf bf',
  'ef bb bf',
  'f0 80 80 80',
  'f0 9f 98',
  'f4 90 80 80',
  'f8 88 80 80 80',
  '00',
  'e1 80 e2',
  'ff fe',
]);

/** Draws from a list: nearly always a plain entry, now and then any. */
function draw(from: readonly string[], { below, pick }: Chance, strange: number): string {
  return below(strange) === 0 ? pick(from) : from[below(PLAIN.get(from)!)]!;
}

function makeElement(chance: Chance, strange: number, depth = 0): string {
  const name = draw(NAMES, chance, strange);
  const attributes = chance.below(3) === 0 ? draw(ATTRIBUTES, chance, strange) : '';
  const empty = chance.below(8);
  if (empty === 0) return `<${name}${attributes}/>`;
  const parts: string[] = [];
  for (let left = chance.below(4); left > 0; left -= 1) {
    const isText = depth > 5 || chance.below(2) === 0;
    parts.push(isText ? draw(TEXTS, chance, strange) : makeElement(chance, strange, depth + 1));
  }
  const end = chance.below(strange * 4) === 0 ? draw(NAMES, chance, 1) : name;
  return `<${name}${attributes}>${parts.join('')}</${end}>`;
}

function makeDocument(chance: Chance): string {
  const strange = chance.pick([3, 6, 12, 40]);
  return draw(PROLOGS, chance, strange) + makeElement(chance, strange) + draw(TAILS, chance, strange);
}

const TOKENS: readonly Buffer[] = [
  ...[ATTRIBUTES, NAMES, TEXTS, PROLOGS, TAILS].flat().map((text) => Buffer.from(text)),
  ...['<', '>', '/', '"', "'", '=', '&', ';', ':', '!', '?', '-', ' ', '\n', '\r', '\t', 'xmlns', '<a>', '</a>'].map(
    (text) => Buffer.from(text),
  ),
  ...OCTETS.map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex')),
];

/** Octets changed, inserted and removed, pieces repeated and moved, and pieces of another document inserted. */
function bend(bytes: Buffer, other: Buffer, { below, pick }: Chance): Buffer {
  const [from, length] = [below(bytes.length + 1), below(below(4) === 0 ? 40 : 4)];
  const [head, piece, tail] = [
    bytes.subarray(0, from),
    bytes.subarray(from, from + length),
    bytes.subarray(from + length),
  ];
  switch (below(6)) {
    case 0:
      return Buffer.concat([head, Buffer.from([below(256)]), bytes.subarray(from + 1)]);
    case 1:
      return Buffer.concat([head, pick(TOKENS), bytes.subarray(from)]);
    case 2:
      return Buffer.concat([head, pick(TOKENS), tail]);
    case 3:
      return Buffer.concat([head, tail]);
    case 4:
      return Buffer.concat([head, piece, piece, tail]);
    default: {
      const start = below(other.length);
      return Buffer.concat([head, other.subarray(start, start + below(60)), tail]);
    }
  }
}

/** A place between two tags, so that an insertion usually leaves the document well-formed. */
function between(bytes: Buffer, { below }: Chance): number {
  const found = bytes.indexOf('<', below(bytes.length));
  return found <= 0 ? bytes.length : found;
}

const ORDINARY_BYTES = Object.values(ORDINARY)
  .flat()
  .map((one) => Buffer.from(one));
/** Small documents are changed the most: they are read fast, and have as many borders. */
const SMALL = [
  `<DPS xmlns="${NFSE}" versao="1.01"><infDPS Id="DPS1"><xNome>Maria &amp; João</xNome><v>1</v></infDPS></DPS>`,
  `<?xml version="1.0" encoding="UTF-8"?>\n<DPS versao='1.01' xmlns="${NFSE}">\n <infDPS Id="A"/>\n</DPS>\n`,
  `<a><Signature xmlns="${DSIG}"><b Algorithm="x" /></Signature><c>&quot;&apos;]]</c></a>`,
  '<a b="1" c=\'2\'><d/>é€😀<e></e></a>',
].map((text) => Buffer.from(text));

const TABLE = Object.values(MUTATIONS).flat();
const SIGNED_TEXTS = documents.map(({ signed }) => signed);

/** The ways to make documents, and the percentage of each. */
const WAYS: Readonly<Record<string, { readonly percent: number; readonly make: (chance: Chance) => Buffer }>> = {
  'made by a grammar': { percent: 40, make: (chance) => Buffer.from(makeDocument(chance)) },
  'small, and bent': {
    percent: 30,
    make: (chance) => {
      let bytes: Buffer = chance.pick(SMALL);
      for (let left = chance.pick([1, 1, 1, 2, 3]); left > 0; left -= 1)
        bytes = bend(bytes, chance.pick(SMALL), chance);
      return bytes;
    },
  },
  'made by a grammar, and spliced': {
    percent: 17,
    make: (chance) => {
      const [one, other] = [Buffer.from(makeDocument(chance)), Buffer.from(makeElement(chance, 30))];
      const place = between(one, chance);
      return Buffer.concat([one.subarray(0, place), other, one.subarray(place)]);
    },
  },
  'ordinary, and bent': {
    percent: 8,
    make: (chance) => bend(chance.pick(ORDINARY_BYTES), chance.pick(ORDINARY_BYTES), chance),
  },
  'signed, and mutated as an attacker would': {
    percent: 3,
    make: (chance) => {
      const doc = chance.pick(documents);
      return Buffer.from(chance.pick(TABLE).make(doc, chance) ?? rearranged(doc.signed, chance));
    },
  },
  'signed, and the text bent': {
    percent: 2,
    make: (chance) => bentXml(chance.pick(SIGNED_TEXTS), chance, SIGNED_TEXTS).body,
  },
};

describe(`documents that are made (seed ${SEED})`, () => {
  for (const [way, { percent, make }] of Object.entries(WAYS)) {
    test(`are read alike: ${way}`, (t) => {
      const chance = chanceOf(SEED);
      const runs = (RUNS * percent) / 100;
      let plain = 0;
      for (let run = 0; run < runs; run += 1) {
        const bytes = make(chance);
        const isOne = (plain % WHOLE_ONE_IN === 0 ? isPlainWhole : isPlain)(bytes, show(bytes, `${way}, run ${run}`));
        if (isOne) plain += 1;
      }
      t.diagnostic(`${plain} of ${runs} were plain (seed ${SEED})`);
      assert.ok(plain > runs * PLAIN_MIN && plain < runs * PLAIN_MAX, `${plain} of ${runs} were plain`);
    });
  }
});

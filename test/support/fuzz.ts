/**
 * Randomly mutated documents. The seed and the case number alone determine a case, so those two reproduce a failure. The start is a valid
 * document, and a table holds the mutations.
 */
import { type Chance, chanceOf, ENCODINGS } from './signatures.ts';

export type Kind = 'xml' | 'json' | 'evento';

/** A request as it is sent. */
export type FuzzCase = {
  readonly index: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The mutations of this case, for the report. */
  readonly done: readonly string[];
};

export type Corpus = {
  readonly xml: readonly string[];
  readonly json: readonly string[];
  /** Event requests, in JSON. */
  readonly evento: readonly string[];
  /** Notes of the sandbox for events, each by its key and its protocol number. */
  readonly notas: readonly { readonly chave: string; readonly protocolo: string }[];
  /** Slugs of the municipalities. */
  readonly tenants: readonly string[];
};

/** The number of mutations of a case: some cases have none, most one or two, a few many. */
const BENDS = [0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 5] as const;
/**
 * A size above the limit of the service, and below the amount that it still reads of a refused body. Above that amount it closes the
 * connection.
 */
const BODY_MAX_BYTES = 4 * 1024 * 1024;
/** The kinds of requests, by frequency. */
const KINDS = ['xml', 'xml', 'xml', 'json', 'json', 'json', 'evento'] as const satisfies readonly Kind[];
/** A prime far from the steps of the generator, so that neighbouring cases have nothing in common. */
const CASE_STRIDE = 2_654_435_761;

export function caseOf(corpus: Corpus, seed: number, index: number): FuzzCase {
  const chance = chanceOfCase(seed, index);
  const kind = chance.pick(KINDS);
  const { body, done } = bent(chance.pick(corpus[kind]), kind === 'xml' ? XML_BENDS : JSON_BENDS, chance, corpus[kind]);
  return { index, ...requestOf(kind, corpus, chance), body, done: [kind, ...done] };
}

/** The random source of a case. */
export function chanceOfCase(seed: number, index: number): Chance {
  return chanceOf(seed + Math.imul(index + 1, CASE_STRIDE));
}

/** A mutated document, with the mutations applied. */
export type Bent = { readonly body: Buffer; readonly done: readonly string[] };

/** A mutated XML document, as the cases have them. `corpus`: other documents, as a source of fragments. */
export function bentXml(document: string, chance: Chance, corpus: readonly string[]): Bent {
  return bent(document, XML_BENDS, chance, corpus);
}

/** Names that every JavaScript object has, so a careless table lookup finds them. */
const WORDS_OF_OBJECTS = ['__proto__', 'constructor'] as const;
const IN_XML = [/(?<=<\/?)[\w:]+(?=[\s/>])/g, /(?<==")[^"]*(?=")/g, /(?<=>)[^<>]+(?=<)/g];
const IN_JSON = [/(?<=")(?:[^"\\]|\\.)*(?=")/g];

/** Variants of a document, with each name and each value replaced by each of those words. */
export function withWordsOfObjects(document: string, kind: 'xml' | 'json'): Bent[] {
  const places = (kind === 'xml' ? IN_XML : IN_JSON).flatMap((pattern) => [...document.matchAll(pattern)]);
  return places.flatMap((place) =>
    WORDS_OF_OBJECTS.map((word) => {
      const text = document.slice(0, place.index) + word + document.slice(place.index + place[0].length);
      return { body: Buffer.from(text), done: [`${word} for ${place[0]} at ${place.index}`] };
    }),
  );
}

function bent(document: string, ofKind: Named<TextBend>, chance: Chance, corpus: readonly string[]): Bent {
  const done: string[] = [];
  let text = document;
  let bytes: Buffer | undefined;
  for (let left = chance.pick(BENDS); left > 0; left -= 1) {
    const bends = bytes === undefined ? [...TEXT_BENDS, ...ofKind] : [];
    const place = chance.below(bends.length + BYTE_BENDS.length);
    if (place < bends.length) {
      const [name, bend] = bends[place]!;
      text = bend(text, chance, corpus);
      done.push(name);
    } else {
      const [name, bend] = BYTE_BENDS[place - bends.length]!;
      bytes = bend(bytes ?? Buffer.from(text), chance);
      done.push(name);
    }
  }
  return { body: (bytes ?? Buffer.from(text)).subarray(0, BODY_MAX_BYTES), done };
}

type Named<Bend> = readonly (readonly [name: string, bend: Bend])[];
type TextBend = (text: string, chance: Chance, corpus: readonly string[]) => string;
type ByteBend = (bytes: Buffer, chance: Chance) => Buffer;

const PATHS = [
  ...Array<string>(12).fill('nfse/v101'),
  ...['nfse/v101/validacao', 'nfse/v101/validacao', 'assinatura/verificacao', 'assinatura/verificacao', 'nfse'],
];

/** Keys that no note has. They are rare, since a client with many failed lookups is told to wait. */
const STRANGE_CHAVES = ['1', '%00', 'protocolo', 'x'.repeat(50), '3'.repeat(50), '%2e%2e', "'--"];
const STRANGE_CHAVE_EVERY = 40;

function eventoPath({ notas }: Corpus, { below, pick }: Chance): string {
  if (below(STRANGE_CHAVE_EVERY) === 0) return `nfse/${pick(STRANGE_CHAVES)}/eventos`;
  const { chave, protocolo } = pick(notas);
  return below(2) === 0 ? `nfse/${chave}/eventos` : `nfse/protocolo/${protocolo}/eventos`;
}

const TYPES: Readonly<Record<Kind, string>> = {
  xml: 'application/xml',
  json: 'application/json',
  evento: 'application/json',
};
const STRANGE_TYPES = [
  'text/xml; charset=ISO-8859-1',
  'application/json; charset=utf-16',
  'application/xml;charset="utf-8"',
  'APPLICATION/JSON',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/',
  '; ; ;',
  'application/json, application/xml',
];

function requestOf(kind: Kind, corpus: Corpus, chance: Chance): Pick<FuzzCase, 'path' | 'headers'> {
  const { below, pick } = chance;
  const type = below(30) === 0 ? pick([...STRANGE_TYPES, TYPES.xml, TYPES.json]) : TYPES[kind];
  return {
    path: `/${pick(corpus.tenants)}/api/v1/${kind === 'evento' ? eventoPath(corpus, chance) : pick(PATHS)}`,
    headers: {
      'Content-Type': type,
      ...(below(4) === 0 && {
        [kind === 'evento' ? 'X-Evento-Assinatura' : 'X-DPS-Assinatura']: strangeHeader(chance),
      }),
      ...(below(20) === 0 && { 'X-Request-Id': strangeHeader(chance) }),
      ...(below(20) === 0 && { 'Idempotency-Key': strangeHeader(chance) }),
      ...(below(20) === 0 && {
        'X-NFSe-Simular': pick(['adn:rejeita=E1234', 'adn:atraso=1s', 'adn:', strangeHeader(chance)]),
      }),
      ...(below(100) === 0 && { 'Content-Encoding': pick(['gzip', 'identity', 'br, gzip']) }),
      ...(below(50) === 0 && { Accept: pick(['text/plain', 'application/xml', '*/*', ';']) }),
    },
  };
}

/** A header value: visible ASCII, and Latin letters as bytes. */
function strangeHeader({ below, pick }: Chance): string {
  const letters = 'abcXYZ019+/=-._~!%,;:"\'<>{}[]()é ÿ';
  const length = pick([1, 4, 20, 64, 65, 255, 256, 2_000]);
  const text = Array.from({ length }, () => letters[below(letters.length)]).join('');
  return text.trim() || 'x';
}

// Mutations of any text.

const NUMBERS = [
  ...[
    '0',
    '-0',
    '0.00',
    '-1.00',
    '1e3',
    '1E400',
    '1e-400',
    '9'.repeat(16),
    `${'9'.repeat(15)}.99`,
    `${'9'.repeat(17)}.00`,
  ],
  ...[
    '1e999999999999',
    '-1e2147483648',
    '0.005',
    '1.0E7',
    '00.10',
    '+1',
    '.5',
    '5.',
    'NaN',
    'Infinity',
    '0x10',
    '１２',
  ],
  ...['1,00', '1.000,00', '1_000', '9'.repeat(5_000), `0.${'0'.repeat(5_000)}1`, `1e${'9'.repeat(400)}`],
];

const TEXTS = [
  '',
  ' ',
  ' a',
  'a ',
  '\t',
  '\n',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\ufffe',
  '\uffff',
  '\u0001',
  '\u0000',
  '😀',
  'é\u0301',
  '\u202eabc',
  '\u0130',
  'ﬀ',
  '%s%n',
  "'; drop table notas; --",
  '../../etc/passwd',
  '{{7*7}}',
  'constructor',
  '__proto__',
  'toString',
  'null',
  'undefined',
  'true',
  '2026-02-30',
  '9999-12-31',
  '0000-00-00',
  '2026-10-05T00:00:00Z',
  '00000000000000',
  '11222333000182',
  'A'.repeat(2_001),
  'é'.repeat(300),
  'x'.repeat(70_000),
];

const TEXT_BENDS: Named<TextBend> = [
  ['truncated', (text, { below }) => text.slice(0, below(text.length + 1))],
  ['beheaded', (text, { below }) => text.slice(below(text.length + 1))],
  [
    'spliced',
    (text, { below, pick }, corpus) => {
      const other = pick(corpus);
      return text.slice(0, below(text.length + 1)) + other.slice(below(other.length + 1));
    },
  ],
  ['twice', (text) => text + text],
  ['a piece repeated', (text, chance) => repeated(text, chance, chance.pick([2, 3, 50, 2_000]))],
  ['a piece gone', (text, chance) => withPiece(text, chance, () => '')],
  ['a piece backwards', (text, chance) => withPiece(text, chance, (piece) => [...piece].toReversed().join(''))],
  ['a text put in', (text, chance) => putIn(text, chance, chance.pick(TEXTS))],
  ['a number put in', (text, chance) => putIn(text, chance, chance.pick(NUMBERS))],
  [
    'digits changed',
    (text, { below }) => text.replace(/\d/g, (digit) => (below(20) === 0 ? String(below(10)) : digit)),
  ],
  ['letters changed', (text, { below }) => text.replace(/[a-zA-Z]/g, (one) => (below(60) === 0 ? swapCase(one) : one))],
  ['white space around', (text, { pick }) => pick([' ', '\n\n', '\r\n', '\ufeff', ' '.repeat(2_000)]) + text],
  [
    'something behind',
    (text, { pick }) => text + pick(['\u0000', 'x', '{}', '<a/>', '<!-- -->', '\ufeff', '}', ']]>']),
  ],
];

function swapCase(letter: string): string {
  const lower = letter.toLowerCase();
  return lower === letter ? letter.toUpperCase() : lower;
}

function pieceOf(text: string, { below, pick }: Chance): { readonly start: number; readonly end: number } {
  const start = below(text.length + 1);
  return { start, end: Math.min(text.length, start + pick([1, 3, 20, 200])) };
}

function withPiece(text: string, chance: Chance, change: (piece: string) => string): string {
  const { start, end } = pieceOf(text, chance);
  return text.slice(0, start) + change(text.slice(start, end)) + text.slice(end);
}

const repeated = (text: string, chance: Chance, times: number): string =>
  withPiece(text, chance, (piece) => piece.repeat(times));

function putIn(text: string, { below }: Chance, what: string): string {
  const place = below(text.length + 1);
  return text.slice(0, place) + what + text.slice(place);
}

/** The patterns use lookahead, so only a part of a long text is searched. */
const SEARCHED_MAX = 12_000;

/** One of the matches, put through a change; the text is unchanged if nothing matches. */
function oneMatch(text: string, pattern: RegExp, { below, pick }: Chance, change: (match: string) => string): string {
  const start = text.length > SEARCHED_MAX ? below(text.length - SEARCHED_MAX) : 0;
  const found = [...text.slice(start, start + SEARCHED_MAX).matchAll(pattern)];
  if (found.length === 0) return text;
  const { 0: match, index } = pick(found);
  return text.slice(0, start + index) + change(match) + text.slice(start + index + match.length);
}

// Mutations of an XML document.

/** An element without child elements. */
const LEAF = /<([A-Za-z:]+)(?:\s[^<>]*)?>[^<>]*<\/\1\s*>/g;
const LEAF_TEXT = /(?<=<[A-Za-z:]+(?:\s[^<>]*)?>)[^<>]+(?=<\/)/g;
/** A small element with all its content. */
const GROUP =
  /<(end|prest|toma|trib|valores|serv|cServ|IBSCBS|docDedRed|infCompl|regTrib|totTrib|vServPrest)>[\s\S]*?<\/\1>/g;
const NAME = /(?<=<\/?)[A-Za-z]+/g;

const ENTITIES = [
  '&amp;',
  '&#0;',
  '&#xD800;',
  '&#x110000;',
  '&#10;',
  '&nope;',
  '&',
  '&#',
  '&#99999999999;',
  '&lt;b&gt;',
  '&#x1F600;',
];
const DOCTYPES = [
  '<!DOCTYPE DPS>',
  '<!DOCTYPE DPS [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>',
  '<!DOCTYPE DPS SYSTEM "file:///etc/passwd">',
  '<!DOCTYPE DPS [<!ENTITY x SYSTEM "http://127.0.0.1:1/x">]>',
  '<!DOCTYPE',
];
const DECLARATIONS = [
  '<?xml version="1.0" encoding="UTF-7"?>',
  '<?xml version="1.0" encoding="ISO-8859-1"?>',
  '<?xml version="1.0" encoding="UTF-16"?>',
  '<?xml version="1.1"?>',
  '<?xml version="1.0" encoding="windows-1252" standalone="no"?>',
  '<?xml version="1.0" encoding=""?>',
  `<?xml ${' '.repeat(5_000)}`,
  '',
];
const MARKUP = [
  '<!-- x -->',
  '<?alvo dados?>',
  '<![CDATA[<a>&]]>',
  '<a xmlns=""/>',
  '</a>',
  '<',
  '<x:y/>',
  '<a b="1" b="2"/>',
  ']]>',
  '<!--',
];

const XML_BENDS: Named<TextBend> = [
  ['an element gone', (text, chance) => oneMatch(text, LEAF, chance, () => '')],
  ['an element twice', (text, chance) => oneMatch(text, LEAF, chance, (leaf) => leaf + leaf)],
  [
    'an element many times',
    (text, chance) => oneMatch(text, LEAF, chance, (leaf) => leaf.repeat(chance.pick([99, 1_001, 4_000]))),
  ],
  ['a group gone', (text, chance) => oneMatch(text, GROUP, chance, () => '')],
  ['a group twice', (text, chance) => oneMatch(text, GROUP, chance, (group) => group + group)],
  [
    'a group many times',
    (text, chance) => oneMatch(text, GROUP, chance, (group) => group.repeat(chance.pick([99, 400]))),
  ],
  [
    'a value of another',
    (text, chance, corpus) => oneMatch(text, LEAF_TEXT, chance, () => aValueOf(chance.pick(corpus), chance)),
  ],
  ['a strange value', (text, chance) => oneMatch(text, LEAF_TEXT, chance, () => escaped(chance.pick(TEXTS)))],
  ['a raw value', (text, chance) => oneMatch(text, LEAF_TEXT, chance, () => chance.pick(TEXTS))],
  ['a strange number', (text, chance) => oneMatch(text, LEAF_TEXT, chance, () => chance.pick(NUMBERS))],
  ['an amount', (text, chance) => oneMatch(text, /(?<=>)\d+\.\d\d(?=<)/g, chance, () => chance.pick(NUMBERS))],
  ['an empty element', (text, chance) => oneMatch(text, LEAF_TEXT, chance, () => '')],
  ['an element inside another', (text, chance) => oneMatch(text, LEAF_TEXT, chance, (value) => `<a>${value}</a>`)],
  [
    'another name',
    (text, chance) =>
      oneMatch(text, NAME, chance, () => chance.pick(['a', 'xml', 'CNPJ', 'vBC', 'IBSCBS', 'Signature'])),
  ],
  ['a name everywhere', (text, chance) => renamed(text, chance)],
  [
    'deep nesting',
    (text, chance) => {
      const depth = chance.pick([33, 300, 20_000]);
      return oneMatch(text, LEAF_TEXT, chance, (value) => '<a>'.repeat(depth) + value + '</a>'.repeat(depth));
    },
  ],
  ['an entity', (text, chance) => oneMatch(text, LEAF_TEXT, chance, (value) => value + chance.pick(ENTITIES))],
  ['a doctype', (text, { pick }) => text.replace(/(?<=\?>\s*)/, () => pick(DOCTYPES))],
  ['another declaration', (text, { pick }) => text.replace(/^<\?xml[^>]*>/, () => pick(DECLARATIONS))],
  ['markup between', (text, chance) => oneMatch(text, />(?=\s*<)/g, chance, (end) => end + chance.pick(MARKUP))],
  [
    'an attribute',
    (text, chance) =>
      oneMatch(text, /(?<=<[A-Za-z]+)(?=[ >])/g, chance, () =>
        chance.pick([
          ' a="1"',
          ' xmlns="urn:x"',
          ' xmlns:a="urn:a"',
          ' Id="DPS1"',
          ' xml:space="preserve"',
          ' a=1',
          ` a="${'x'.repeat(20_000)}"`,
        ]),
      ),
  ],
  [
    'many attributes',
    (text, chance) =>
      oneMatch(text, /(?<=<[A-Za-z]+)(?=[ >])/g, chance, () =>
        Array.from({ length: chance.pick([257, 3_000]) }, (_, place) => ` a${place}="1"`).join(''),
      ),
  ],
  [
    'many namespaces',
    (text, chance) =>
      oneMatch(text, /(?<=<[A-Za-z]+)(?=[ >])/g, chance, () =>
        Array.from({ length: chance.pick([257, 3_000]) }, (_, place) => ` xmlns:a${place}="urn:${place}"`).join(''),
      ),
  ],
  [
    'another root',
    (text, { pick }) => text.replace(/<(\/?)DPS\b/g, `<$1${pick(['NFSe', 'dps', 'x:DPS', 'infDPS', 'soap:Envelope'])}`),
  ],
  [
    'another version',
    (text, { pick }) => text.replace(/versao="[^"]*"/, `versao="${pick(['1.00', '', '1.01 ', '9', 'x'.repeat(500)])}"`),
  ],
  [
    'another Id',
    (text, { pick }) =>
      text.replace(/ Id="[^"]*"/, () =>
        pick(['', ' Id=""', ' Id="x"', ' Id="DPS"', ` Id="DPS${'9'.repeat(400)}"`, ' id="DPS1"']),
      ),
  ],
  [
    'two siblings turned',
    (text, chance) =>
      oneMatch(text, /(<([A-Za-z]+)>[^<]*<\/\2>\s*)(<([A-Za-z]+)>[^<]*<\/\4>)/g, chance, (pair) =>
        pair.replace(/^(<([A-Za-z]+)>[^<]*<\/\2>\s*)([\s\S]*)$/, '$3$1'),
      ),
  ],
  ['a signature', (text, { pick }) => text.replace('</DPS>', () => `${pick(SIGNATURES)}</DPS>`)],
];

const SIGNATURES = [
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>',
  '<Signature/>',
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><Reference URI="#DPS1"/></SignedInfo><SignatureValue>AAAA</SignatureValue></Signature>',
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><KeyInfo><X509Data><X509Certificate>MIIB</X509Certificate></X509Data></KeyInfo></Signature>',
];

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function aValueOf(text: string, { pick }: Chance): string {
  const values = text.match(LEAF_TEXT) ?? [''];
  return pick(values);
}

function renamed(text: string, { pick }: Chance): string {
  const names = [...new Set(text.match(NAME))];
  if (names.length === 0) return text;
  return text.replaceAll(
    new RegExp(`(?<=</?)${pick(names)}(?=[\\s>/])`, 'g'),
    pick(['a', 'vISSQN', 'dhEmi', 'xPed', ...names]),
  );
}

// Mutations of a JSON body.

const JSON_VALUES = [
  ...[
    'null',
    'true',
    'false',
    '{}',
    '[]',
    '""',
    '[null]',
    '{"a":{}}',
    '[[[[[]]]]]',
    '"\\ud800"',
    '"\\u0000"',
    '"\\uD83D\\uDE00"',
    "'a'",
  ],
  ...NUMBERS,
];
const VALUE = /(?<=":\s*)(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/g;
const KEY = /"(?:[^"\\]|\\.)*"(?=\s*:)/g;
const MEMBER = /"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/g;

const JSON_BENDS: Named<TextBend> = [
  ['another value', (text, chance) => oneMatch(text, VALUE, chance, () => chance.pick(JSON_VALUES))],
  ['a strange text', (text, chance) => oneMatch(text, VALUE, chance, () => JSON.stringify(chance.pick(TEXTS)))],
  ['a raw text', (text, chance) => oneMatch(text, VALUE, chance, () => `"${chance.pick(TEXTS)}"`)],
  ['a number for a text', (text, chance) => oneMatch(text, VALUE, chance, (value) => value.replaceAll('"', ''))],
  ['a text for a number', (text, chance) => oneMatch(text, VALUE, chance, (value) => JSON.stringify(value))],
  ['a strange amount', (text, chance) => oneMatch(text, VALUE, chance, () => `"${chance.pick(NUMBERS)}"`)],
  [
    'another property',
    (text, chance) =>
      oneMatch(text, KEY, chance, () =>
        JSON.stringify(
          chance.pick([
            '__proto__',
            'constructor',
            'toString',
            '',
            'a.b',
            'a'.repeat(10_000),
            'vServ',
            'valor_serviço',
          ]),
        ),
      ),
  ],
  [
    'a property misspelt',
    (text, chance) => oneMatch(text, KEY, chance, (key) => `${withPiece(key.slice(0, -1), chance, () => 'z')}"`),
  ],
  ['a member gone', (text, chance) => oneMatch(text, MEMBER, chance, () => '"a":1')],
  ['a member twice', (text, chance) => oneMatch(text, MEMBER, chance, (member) => `${member},${member}`)],
  [
    'a member many times',
    (text, chance) =>
      oneMatch(text, MEMBER, chance, (member) =>
        Array(chance.pick([100, 5_000]))
          .fill(member)
          .join(),
      ),
  ],
  [
    'many members',
    (text, chance) =>
      oneMatch(
        text,
        MEMBER,
        chance,
        (member) =>
          `${Array.from({ length: chance.pick([100, 5_000]) }, (_, place) => `"p${place}":${place}`).join()},${member}`,
      ),
  ],
  [
    'deep arrays',
    (text, chance) => {
      const depth = chance.pick([33, 1_000, 100_000]);
      return oneMatch(text, VALUE, chance, (value) => '['.repeat(depth) + value + ']'.repeat(depth));
    },
  ],
  [
    'deep objects',
    (text, chance) => {
      const depth = chance.pick([33, 1_000, 50_000]);
      return oneMatch(text, VALUE, chance, (value) => '{"a":'.repeat(depth) + value + '}'.repeat(depth));
    },
  ],
  ['never closed', (text, chance) => oneMatch(text, VALUE, chance, () => chance.pick(['[', '{"a":']).repeat(100_000))],
  ['a comma', (text, chance) => oneMatch(text, /[,}]/g, chance, (end) => `,${end}`)],
  ['a comment', (text, chance) => oneMatch(text, /,/g, chance, () => chance.pick([', // x\n', ', /* x */']))],
  [
    'an escape',
    (text, chance) =>
      oneMatch(text, /[a-z](?=[^"]*")/g, chance, (letter) =>
        chance.pick([`\\u00${letter.charCodeAt(0).toString(16)}`, '\\x41', '\\', '\\u12', '\\/', '\\b']),
      ),
  ],
  [
    'a body that is no object',
    (_text, { pick }) =>
      pick(['', 'null', '[]', '1', '"a"', 'true', '[{}]', '{}', '{', '[1,2', '\u0000', '{"ibscbs":[]}']),
  ],
];

// Mutations of bytes.

const BYTE_BENDS: Named<ByteBend> = [
  [
    'a bit',
    (bytes, { below }) => {
      const bent = Buffer.from(bytes);
      if (bent.length > 0) bent[below(bent.length)]! ^= 1 << below(8);
      return bent;
    },
  ],
  [
    'some bytes',
    (bytes, { below }) => {
      const bent = Buffer.from(bytes);
      for (let left = 1 + below(16); left > 0 && bent.length > 0; left -= 1) bent[below(bent.length)] = below(256);
      return bent;
    },
  ],
  [
    'bytes put in',
    (bytes, { below, pick }) => {
      const place = below(bytes.length + 1);
      const what = Buffer.from(Array.from({ length: pick([1, 2, 8, 300]) }, () => below(256)));
      return Buffer.concat([bytes.subarray(0, place), what, bytes.subarray(place)]);
    },
  ],
  [
    'bytes gone',
    (bytes, { below }) => {
      const place = below(bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1 + below(8))]);
    },
  ],
  [
    'UTF-8 broken',
    (bytes, { below, pick }) => {
      const place = below(bytes.length + 1);
      const what = Buffer.from(pick(['80', 'c0af', 'e282', 'eda080', 'f4908080', 'fe', 'ff', 'f8888080', 'c3']), 'hex');
      return Buffer.concat([bytes.subarray(0, place), what, bytes.subarray(place)]);
    },
  ],
  ['another encoding', (bytes, { pick }) => pick(Object.values(ENCODINGS))(bytes.toString('utf8'))],
  ['UTF-16 without a mark', (bytes) => Buffer.from(bytes.toString('utf8'), 'utf16le')],
  [
    'UTF-16 cut',
    (bytes) =>
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(bytes.toString('utf8'), 'utf16le')]).subarray(0, -1),
  ],
  ['Latin-1', (bytes) => Buffer.from(bytes.toString('utf8'), 'latin1')],
  [
    'noise',
    (_bytes, { below, pick }) => Buffer.from(Array.from({ length: pick([0, 1, 10, 1_000]) }, () => below(256))),
  ],
  ['too much', (bytes, { below }) => (below(40) === 0 ? Buffer.concat([bytes, Buffer.alloc(1_100_000, 0x20)]) : bytes)],
  [
    'nearly too much',
    (bytes, { below }) =>
      below(40) === 0 ? Buffer.concat([bytes, Buffer.alloc(Math.max(0, 1_048_576 - bytes.length), 0x20)]) : bytes,
  ],
];

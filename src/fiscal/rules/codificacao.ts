/** Text that was broken before it arrived: UTF-8 read as Latin-1, lost letters, a leftover escape of XML, HTML or JSON, and HTML markup. */
import { quoted } from '../fault.ts';
import type { Dps } from '../layout/dps.ts';
import type { Breach, Rule } from './rule.ts';

/** The characters of Windows-1252 at 80 to 9F; blanks are the five that it leaves out. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';

/** A continuation byte of UTF-8, as Latin-1 or Windows-1252 shows it. */
const REST = `\\u0080-\\u00BF${WINDOWS_1252.replaceAll(' ', '')}`;

/** The lead bytes of UTF-8 that Portuguese needs (letters and signs C2, C3; dashes and quotes E2), each with its continuation bytes. */
const MISREAD = `[\\u00C2\\u00C3][${REST}]|\\u00E2[${REST}]{2}|\\uFFFD`;

/** A reference of XML or HTML, and an escape of JSON. */
const ESCAPE = String.raw`&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z]{2,8}\d{0,2});|\\u[\dA-Fa-f]{4}`;

const TAG = String.raw`</?([A-Za-z][A-Za-z\d]{0,9})(?:[ /][^<>]{0,200})?>|<!\[CDATA\[|\]\]>`;

/** One pattern for all, because it is applied to every text of a document. */
const SUSPECT = new RegExp(`${MISREAD}|${ESCAPE}|${TAG}`);

const BROKEN = new RegExp(MISREAD);
const ESCAPES = new RegExp(ESCAPE, 'g');
const TAGS = new RegExp(TAG, 'g');

/** Tags that programs put into texts. Any other word between angle brackets is an ordinary word. */
const HTML_TAGS: ReadonlySet<string> = new Set(
  'br p b i u em strong div span ul ol li table tbody tr td th font center small h1 h2 h3 h4 h5 h6 hr'.split(' '),
);

/** References of HTML 4: those of Latin-1 in the order of their numbers, from U+00A0 on. */
const LATIN_1 =
  `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot
  cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml
  Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig
  agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute
  ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`.split(/\s+/);

/** Other references that occur in texts, each with its character. */
const OTHERS =
  `amp & lt < gt > quot " apos ' ndash – mdash — lsquo ‘ rsquo ’ ldquo “ rdquo ” bull • hellip … euro € trade ™`.split(
    ' ',
  );

const REFERENCES: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.map((name, place) => [name, String.fromCharCode(0xa0 + place)] as const),
  ...OTHERS.flatMap((name, place) => (place % 2 === 0 ? [[name, OTHERS[place + 1]!] as const] : [])),
]);

const OUTSIDE_ASCII = /[^\0-\x7F]+/g;

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** A value of the document, or a group of it. */
type Part = unknown;

/** Whether any text below is suspect. Each document is examined once; nothing is allocated until something is found. */
function isBroken(part: Part): boolean {
  if (typeof part === 'string') return describeBroken(part) !== undefined;
  if (typeof part !== 'object' || part === null) return false;
  for (const name in part) if (isBroken((part as Record<string, Part>)[name])) return true;
  return false;
}

/** Every text below that is broken, with its path. */
function findBroken(part: Part, at: string): readonly Breach[] {
  if (typeof part === 'string') {
    const what = describeBroken(part);
    return what === undefined ? [] : [{ at, mensagem: what, encontrado: undefined }];
  }
  if (Array.isArray(part)) return part.flatMap((item: Part, place) => findBroken(item, `${at}[${place + 1}]`));
  if (typeof part !== 'object' || part === null) return [];
  const base = at === '' ? '' : `${at}/`;
  return Object.entries(part).flatMap(([name, value]) => findBroken(value, `${base}${name}`));
}

/** The remark on a text, in Portuguese; undefined for a text that is not suspect, or only looks so. */
export function describeBroken(text: string): string | undefined {
  if (!SUSPECT.test(text)) return undefined;
  const said = [describeMisread(text), describeEscape(text), describeMarkup(text)].filter((one) => one !== undefined);
  return said.length === 0 ? undefined : `${said.join(' ')} Ele segue como veio, e sai impresso assim.`;
}

function describeMisread(text: string): string | undefined {
  if (!BROKEN.test(text)) return undefined;
  for (const word of text.split(/[ \t\n\r]/)) {
    if (!BROKEN.test(word)) continue;
    if (word.includes('\uFFFD')) {
      return `O texto traz "${quoted(word)}", e � está no lugar de uma letra que se perdeu antes de chegar aqui. Escreva-o de novo, e envie o documento em UTF-8.`;
    }
    const meant = word.replace(OUTSIDE_ASCII, (letters) => utf8Of(letters) ?? letters);
    if (meant !== word) {
      return `O texto traz "${quoted(word)}", que parece UTF-8 lido como Latin-1: é "${quoted(meant)}"? Leia-o como UTF-8 antes de montar o documento; num XML em UTF-8, declare encoding="UTF-8".`;
    }
  }
  return undefined;
}

function describeEscape(text: string): string | undefined {
  for (const word of text.split(/[ \t\n\r]/)) {
    const meant = unescapeWhole(word);
    if (meant === word) continue;
    return `O texto traz "${quoted(word)}", que parece escapado duas vezes: é "${quoted(meant)}"? Ponha no documento o texto puro, e deixe que a biblioteca o escape uma vez só.`;
  }
  return undefined;
}

function describeMarkup(text: string): string | undefined {
  for (const [tag, name] of unescapeWhole(text).matchAll(TAGS)) {
    if (name !== undefined && !HTML_TAGS.has(name.toLowerCase())) continue;
    return `O texto traz "${quoted(tag)}", e uma nota não lê marcação de HTML ou XML. Retire-a do texto.`;
  }
  return undefined;
}

/** The text without any escapes: each step removes one level. */
function unescapeWhole(text: string): string {
  for (let whole = text, level = 0; level < LEVELS_MAX; level += 1) {
    const less = whole.replace(ESCAPES, unescapeOne);
    if (less === whole) return whole;
    whole = less;
  }
  return text;
}

/** The maximum number of levels; no sender escapes a text more often. */
const LEVELS_MAX = 5;

/** The character of one escape; the text itself if it is no escape. */
function unescapeOne(escaped: string): string {
  if (escaped.startsWith('\\')) return String.fromCharCode(Number.parseInt(escaped.slice(2), 16));
  const name = escaped.slice(1, -1);
  if (!name.startsWith('#')) return REFERENCES.get(name) ?? capitalsOf(name) ?? escaped;
  const code = /^#[xX]/.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0x1f && code <= 0x10ffff ? String.fromCodePoint(code) : escaped;
}

/** A reference in a text that was converted to capitals. */
function capitalsOf(name: string): string | undefined {
  return name === name.toUpperCase() ? REFERENCES.get(name.toLowerCase())?.toUpperCase() : undefined;
}

/** The letters whose UTF-8 bytes these are in Latin-1; undefined if the bytes are not valid UTF-8. */
function utf8Of(letters: string): string | undefined {
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) {
    const code = letters.charCodeAt(place);
    const windows = code < 0x100 ? -1 : WINDOWS_1252.indexOf(letters[place]!);
    if (code > 0xff && windows < 0) return undefined;
    bytes[place] = windows < 0 ? code : 0x80 + windows;
  }
  try {
    return UTF_8.decode(bytes);
  } catch {
    return undefined;
  }
}

export const CODIFICACAO: readonly Rule[] = [
  {
    code: 'E0003',
    // The path is nominal: the breaches name the actual text of the document.
    at: 'serv/cServ/xDescServ',
    scope: 'aviso',
    message: 'O texto parece ter sido lido na codificação errada, ou escapado duas vezes, antes de chegar aqui.',
    origin: 'Decisão D-195',
    why: 'Um texto em UTF-8 que um programa lê como Latin-1 chega com dois sinais em lugar de cada letra acentuada, e um que foi escapado duas vezes traz o escape no lugar do sinal. A nota o leva como veio, e ele sai impresso assim.',
    must: (dps: Dps) => !isBroken(dps),
    breaches: (dps) => findBroken(dps, ''),
    rejects: [
      { 'serv/cServ/xDescServ': 'ManutenÃ§Ã£o de elevadores' },
      { 'toma/xNome': 'Silva &amp; Filhos', 'serv/cServ/xDescServ': 'Servi&ccedil;o<br>em duas linhas' },
    ],
    accepts: [{ 'serv/cServ/xDescServ': 'MANUTENÇÃO NA CÂMARA DE SÃO PAULO; câmara fria, 2º andar' }],
  },
];

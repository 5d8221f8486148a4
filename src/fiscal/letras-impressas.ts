/**
 * The letters that the printed note (DANFSe) can show: those of the fonts in `documents/fontes`, which a test holds against this list. A
 * note accepts any character of XML. A letter outside the list prints as a question mark, and its sender is told (D-153).
 */

/** Latin, Greek and Cyrillic with the signs of their font, beyond Windows-1252. */
const LETRAS =
  '\u0100-\u036f\u0374\u0375\u037a-\u037e\u0384-\u03ce\u03d0-\u0513\u051a-\u051d\u1d00-\u1dbf\u1e00-\u1e9b\u1e9e\u1ea0-\u1ef9\u1f00-\u1ffe' +
  '\u2010\u2012\u2015-\u2017\u201b\u201f\u2032-\u2034\u203c\u203e\u2044\u205e\u2074-\u2079\u207f-\u2089\u2090-\u2094\u20a0-\u20b5\u20bf' +
  '\u2105\u2113\u2116\u2117\u2126\u212e\u2153\u2154\u215b-\u215e\u2190-\u2195\u2202\u2206\u220f\u2211\u2212\u2215\u2219\u221a\u221e\u221f' +
  '\u2229\u222b\u2248\u2260\u2261\u2264\u2265\u25a0\u25a1\u25aa-\u25ac\u25b2\u25ba\u25bc\u25c4\u25ca-\u25cc\u25cf\u25e6\u2640\u2642\u2660' +
  '\u2663\u2665\u2666\u2c60-\u2c6d\u2c71-\u2c77\ufb01\ufb02';

/** Chinese, Japanese and Korean. */
const IDEOGRAMAS =
  '\u3000-\u3003\u3005-\u3007\u300a-\u3019\u301c-\u301f\u3021-\u3029\u3041-\u3094\u3099-\u309e\u30a0-\u30f6\u30fb-\u30fe\u3105-\u3129' +
  '\u3131-\u318e\u4e00-\u9fa5\uac00-\ud7a3\uf900-\ufa2d\uff01-\uff5e\uff61-\uff9f\uffe0-\uffe6';

/** The letters of Windows-1252 beyond Latin-1. */
const WINDOWS_1252 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';

/** Joiners, direction marks and similar characters print as nothing. */
const PRINTED = new RegExp(
  `^[\\s -~\u00a0-\u00ff${WINDOWS_1252}${LETRAS}${IDEOGRAMAS}\\p{Default_Ignorable_Code_Point}]*$`,
  'u',
);

/** Most texts have no such character. */
const BEYOND = /[\u007f-\u009f\u0250-\uffff]/;

/** Whether the fonts of the printed note have all letters of a text, or their plain forms (`㎡` is m2). */
export function isPrinted(text: string): boolean {
  return !BEYOND.test(text) || [...text.normalize('NFC')].every((letter) => hasForm(letter));
}

function hasForm(letter: string): boolean {
  return PRINTED.test(letter) || PRINTED.test(letter.normalize('NFKC'));
}

/** The first word that does not print correctly, and the name of its script; undefined if there is none. */
export function findUnprinted(text: string): { readonly palavra: string; readonly escrita: string } | undefined {
  if (isPrinted(text)) return undefined;
  const palavra = text.split(/\s/).find((word) => !isPrinted(word));
  const letter = [...(palavra ?? '').normalize('NFC')].find((one) => !hasForm(one));
  if (palavra === undefined || letter === undefined) return undefined;
  return { palavra, escrita: ESCRITAS.find(([pattern]) => pattern.test(letter))?.[1] ?? `o sinal ${codeOf(letter)}` };
}

function codeOf(letter: string): string {
  return `U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Letters that the note does not print, by the name of their script. */
const ESCRITAS: readonly (readonly [pattern: RegExp, nome: string])[] = [
  [/\p{Script=Arabic}/u, 'a escrita árabe'],
  [/\p{Script=Hebrew}/u, 'a escrita hebraica'],
  [/\p{Script=Armenian}/u, 'a escrita armênia'],
  [/\p{Script=Georgian}/u, 'a escrita georgiana'],
  [/\p{Script=Ethiopic}/u, 'a escrita etíope'],
  [
    /\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u,
    'a escrita tailandesa, laosiana, khmer ou birmanesa',
  ],
  [
    /\p{Script=Devanagari}|\p{Script=Bengali}|\p{Script=Gurmukhi}|\p{Script=Gujarati}|\p{Script=Oriya}|\p{Script=Tamil}|\p{Script=Telugu}|\p{Script=Kannada}|\p{Script=Malayalam}|\p{Script=Sinhala}|\p{Script=Tibetan}/u,
    'as escritas da Índia, do Sri Lanka e do Tibete',
  ],
  [/\p{Script=Han}|\p{Script=Hangul}/u, 'este ideograma raro'],
  [/\p{Script=Greek}|\p{Script=Cyrillic}|\p{Script=Latin}/u, 'esta letra rara'],
  [/\p{Extended_Pictographic}|\p{Regional_Indicator}/u, 'emojis nem figuras'],
];

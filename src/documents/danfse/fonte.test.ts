/** The letters of the printed note: the list is compared with the fonts themselves, and the names of missing letters are tried. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findUnprinted, isPrinted } from '../../fiscal/letras-impressas.ts';
import { runsOf, SANS } from './fonte.ts';

const QUESTION_MARK = runsOf(SANS(), '?', new Map())[0]!.hex;

test('what is said to be printed is what the fonts print, of every character of a document', () => {
  const wrong: string[] = [];
  const try_ = (code: number): void => {
    const char = String.fromCodePoint(code);
    // A surrogate is no character, and an unassigned code point has none; white space separates words.
    if (/\p{Cs}|\p{Cn}|\s/u.test(char) || code < 0x20) return;
    const own = runsOf(SANS(), char.normalize('NFC'), new Map()).filter(({ outra }) => outra === undefined);
    const prints = char.normalize('NFKC').includes('?') || !own.some(({ hex }) => hex.includes(QUESTION_MARK));
    if (prints !== isPrinted(char)) wrong.push(`U+${code.toString(16)} ${char}: ${prints}`);
  };
  for (let code = 0; code <= 0x1ffff; code += 1) try_(code);
  // Code points above these are rare ideographs, or nothing: a sample of them is enough.
  for (let code = 0x20000; code <= 0x10ffff; code += 97) try_(code);
  assert.deepEqual(wrong, []);
});

test('names, signs and punctuation of Brazil, Europe and the Far East are printed', () => {
  for (const text of [
    'MANUTENÇÃO NA CÂMARA DE SÃO PAULO; 2º andar – “café” • € 10 ™',
    'Łódź Żółw Nguyễn Ğül Şükrü Ćwiek Őry Þórður Æsir Ŵyn ẞ',
    'Компания «Ромашка», Їжак, Љубав, Ғарыш',
    'Σωκράτης Παπαδόπουλος, ἄνθρωπος',
    '北京中文科技有限公司，臺灣',
    '株式会社ソニー・さくら。ｱｲｳ',
    '삼성전자 주식회사 ㄱ',
    'a\u0301 x\u0302 \u2192 \u2264 \u2212 ½ ㎡ \u200b\u200f\ufe0f\nlinha\tcoluna',
  ]) {
    assert.equal(findUnprinted(text), undefined, text);
  }
});

test('what is not printed is told by its word and the name of its writing', () => {
  for (const [text, palavra, escrita] of [
    ['Serviço de شركة النور', 'شركة', 'a escrita árabe'],
    ['חברה', 'חברה', 'a escrita hebraica'],
    ['Hayastan Հայաստան', 'Հայաստան', 'a escrita armênia'],
    ['ბანკი', 'ბანკი', 'a escrita georgiana'],
    ['नमस्ते', 'नमस्ते', 'as escritas da Índia, do Sri Lanka e do Tibete'],
    ['สวัสดี', 'สวัสดี', 'a escrita tailandesa, laosiana, khmer ou birmanesa'],
    ['Pago ✅', '✅', 'emojis nem figuras'],
    ['𠮷野家', '𠮷野家', 'este ideograma raro'],
    ['\u{1d11e}', '\u{1d11e}', 'o sinal U+1D11E'],
  ] as const) {
    assert.deepEqual(findUnprinted(text), { palavra, escrita });
  }
});

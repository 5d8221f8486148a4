/** Words of a name for comparison: in capitals, without accents, each once; and the first letter of a sentence's continuation. */

/** Words of many names, which are useless for a search. */
const EVERYWHERE = new Set(['LTDA', 'EIRELI', 'EPP', 'MEI', 'CIA', 'DAS', 'DOS', 'DEL', 'SLU']);
const WORD_MIN = 3;
const WORD_MAX = 40;

export function wordsOf(name: string): readonly string[] {
  const plain = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toUpperCase();
  const words = plain.split(/[^0-9A-Z]+/).filter((word) => word.length >= WORD_MIN && !EVERYWHERE.has(word));
  return [...new Set(words.map((word) => word.slice(0, WORD_MAX)))];
}

/** A text without the stop at its end, where a sentence of ours goes on. */
export function trimStop(text: string): string {
  return text.replace(/[.\s]*$/, '');
}

/** A name of two words keeps its letters: `Simples Nacional`. */
export function lowerFirst(text: string): string {
  return /^[A-ZÀ-Ý](?:[A-ZÀ-Ý]|\S* [A-ZÀ-Ý][a-zà-ÿ])/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

/** A text that begins a sentence. */
export function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

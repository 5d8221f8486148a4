/** Words of a name, as they are compared: in capitals, without accents, each once. */

/** What many names have, and nobody is looked up by. */
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

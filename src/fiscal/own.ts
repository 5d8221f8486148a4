/**
 * What a table holds under a word that somebody sent. A plain `table[word]` also finds what every object has, under the words
 * `constructor`, `toString` and `__proto__`, and would take them for known.
 */
export function ownOf<T>(table: Readonly<Record<string, T>>, word: string | undefined): T | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}

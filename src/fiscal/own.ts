/**
 * The value of a table for an external word. A plain `table[word]` would also find `constructor`, `toString` and `__proto__`, which every
 * object has.
 */
export function ownOf<T>(table: Readonly<Record<string, T>>, word: string | undefined): T | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}

/**
 * Frees what the loading of the program left behind: about 28 MB of young generation in each thread. V8 itself gives them back after
 * a hundred seconds without a full collection.
 */

/** Collects once, before requests are answered. `gc` is there where V8 was started with `--expose-gc`, as `npm start` does (D-869). */
export function freeStart(): void {
  // An ordinary collection keeps the size of the young generation while much has just been allocated.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * The stage of a request in another thread: working, storing, or terminated. Both threads see this memory, and only one of them can move it
 * on from working. A request that may be committing is never terminated, and a terminated one stores nothing.
 */
const AT_WORK = 0;
const STORING = 1;
const ENDED = 2;

export function newStage(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(AT_WORK);
}

/** Whether the request may store; it is not terminated from then on. True again each time that it stores. */
export function enterStore(stage: Int32Array): boolean {
  return Atomics.compareExchange(stage, 0, AT_WORK, STORING) !== ENDED;
}

/** Whether the request may be terminated; it does not store from then on. */
export function endBeforeStoring(stage: Int32Array): boolean {
  return Atomics.compareExchange(stage, 0, AT_WORK, ENDED) !== STORING;
}

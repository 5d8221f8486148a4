/**
 * How far a request of another thread is: at work, being stored, or ended. Both threads see this memory, and one of them alone moves it on
 * from work: a request that may be committing is never ended, and an ended one stores nothing.
 */
const AT_WORK = 0;
const STORING = 1;
const ENDED = 2;

export function newStage(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(AT_WORK);
}

/** Whether the request may store; from then on it is not ended. True again each time that it stores. */
export function enterStore(stage: Int32Array): boolean {
  return Atomics.compareExchange(stage, 0, AT_WORK, STORING) !== ENDED;
}

/** Whether the request may be ended; from then on it does not store. */
export function endBeforeStoring(stage: Int32Array): boolean {
  return Atomics.compareExchange(stage, 0, AT_WORK, ENDED) !== STORING;
}

/**
 * How far a request is that another thread answers: at work, gone to be stored, or ended. In memory that both threads see, where only one of
 * them moves it on from work: what may be under way in a commit is never ended, and what was ended stores nothing.
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

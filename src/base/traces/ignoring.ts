/** Errors that change nothing, each with its reason. The reason stands for the reader of the code; nothing of the error is kept. */
const ignore = (): undefined => undefined;

/** The answer to an ignored error of a promise or an emitter: `.catch(ignoring('the socket may be gone already'))`. */
export function ignoring(_reason: string): () => undefined {
  return ignore;
}

/** The same in a `catch` block, whose error nothing reads. */
export function ignoreError(_reason: string): void {}

/** A listener for connections that may be lost while idle, and the answer to the end of a lost one. */
export const ignoreLoss = ignoring('the connection is lost: its next statement fails, and nothing is left to end');

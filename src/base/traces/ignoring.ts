/** Errors that change nothing, each with its reason. `NODE_DEBUG=nfse` shows them; a log would only repeat another failure. */
import { debuglog } from 'node:util';

const show = debuglog('nfse');

/** The reason stands in the code, and tells its reader why no caller needs the error. */
export function ignoreError(error: unknown, reason: string): undefined {
  if (error && show.enabled) show('ignored, since %s: %s', reason, String(error));
}

/** The same for a promise or an emitter: `.catch(ignoring('the socket may be gone already'))`. */
export function ignoring(reason: string): (error: unknown) => undefined {
  return (error) => ignoreError(error, reason);
}

/** A listener for connections that may be lost while idle, and the answer to the end of a lost one. */
export const ignoreLoss = ignoring('the connection is lost: its next statement fails, and nothing is left to end');

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

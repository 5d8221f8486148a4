/** A stub for worlds in which no signature is checked. */
import type { Trust } from '../../src/documents/trust.ts';

export const nobodyTrusted: Trust = {
  warnOfLists: () => undefined,
  lists: () => undefined,
  fundamento: () => undefined,
  judge: () => ({ kind: 'untrusted', mensagem: 'Ninguém é confiável neste teste.' }),
};

/** For worlds in which no signature is looked at. */
import type { Trust } from '../../src/documents/trust.ts';

export const nobodyTrusted: Trust = {
  warnOfLists: () => undefined,
  lists: () => undefined,
  fundamento: () => undefined,
  judge: () => ({ kind: 'untrusted', mensagem: 'Ninguém é confiável neste teste.' }),
};

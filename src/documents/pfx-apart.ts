/** Opens a PKCS#12 from outside. Its author chooses how often the password is digested, so it is opened in a process of its own. */
import { makeRunner } from './run-apart.ts';

const runOpener = makeRunner({
  script: 'pfx-process.ts',
  maxMs: 30_000,
  heapMaxMb: 256,
  // The answer has a hundred certificates at most.
  answerMaxBytes: 4 * 1024 * 1024,
});

/** The words to the process: the file in Base64, and its password. */
export type PfxToOpen = { readonly pfx: string; readonly senha: string };

/** The certificate with its chain and the key, both PEM; or the reason why not, in Portuguese. */
export type PfxOpened = { readonly certificado: string; readonly chave: string } | { readonly problem: string };

const EXHAUSTING: PfxOpened = {
  problem: 'o arquivo pede trabalho demais para ser aberto, e não é como os que as autoridades dão. Exporte-o de novo.',
};

const CROWDED: PfxOpened = { problem: 'outros certificados estão sendo abertos agora. Tente de novo em um minuto.' };

/** Opens the file, which is written nowhere. */
export async function openPfxApart(pfx: Uint8Array, senha: string): Promise<PfxOpened> {
  const words: PfxToOpen = { pfx: Buffer.from(pfx).toString('base64'), senha };
  const opened = await runOpener(JSON.stringify(words));
  if (opened.how === 'ended') return JSON.parse(opened.answer.toString()) as PfxOpened;
  return opened.how === 'crowded' ? CROWDED : EXHAUSTING;
}

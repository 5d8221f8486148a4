/**
 * Opens a PKCS#12 from outside in a process of its own. A hostile file may exhaust it without harm, since its author chooses how often
 * the password is digested.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { ignoring } from '../base/traces/ignoring.ts';

const PROCESS_MAX_MS = 30_000;
const HEAP_MAX_MB = 256;
/** The answer has a hundred certificates at most. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;
const OPENER = path.join(import.meta.dirname, 'pfx-process.ts');

/** The words to the process: the file in Base64, and its password. */
export type PfxToOpen = { readonly pfx: string; readonly senha: string };

/** The certificate with its chain and the key, both PEM; or the reason why not, in Portuguese. */
export type PfxOpened = { readonly certificado: string; readonly chave: string } | { readonly problem: string };

const EXHAUSTING: PfxOpened = {
  problem: 'o arquivo pede trabalho demais para ser aberto, e não é como os que as autoridades dão. Exporte-o de novo.',
};

/** Processes at a time: hostile files would otherwise take every core for half a minute (D-854). */
const RUNNING_MAX = 2;

const CROWDED: PfxOpened = { problem: 'outros certificados estão sendo abertos agora. Tente de novo em um minuto.' };

let running = 0;

/** Opens the file; it is written nowhere, and the process is given no variable of this one. */
export async function openPfxApart(pfx: Uint8Array, senha: string): Promise<PfxOpened> {
  if (running >= RUNNING_MAX) return CROWDED;
  running += 1;
  return runOpener(pfx, senha).finally(() => {
    running -= 1;
  });
}

function runOpener(pfx: Uint8Array, senha: string): Promise<PfxOpened> {
  const options = { timeout: PROCESS_MAX_MS, killSignal: 'SIGKILL', env: {}, maxBuffer: ANSWER_MAX_BYTES } as const;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [`--max-old-space-size=${HEAP_MAX_MB}`, OPENER], options, (error, out) => {
      resolve(error === null ? (JSON.parse(out) as PfxOpened) : EXHAUSTING);
    });
    child.stdin!.on('error', ignoring('the process ended before it had read all, which is answered above'));
    const words: PfxToOpen = { pfx: Buffer.from(pfx).toString('base64'), senha };
    child.stdin!.end(JSON.stringify(words));
  });
}

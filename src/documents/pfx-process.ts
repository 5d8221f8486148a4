/**
 * The process that opens a PKCS#12 from outside. The standard input brings file and password, the standard output takes certificates and
 * key. Other accounts could read arguments.
 */
import { text } from 'node:stream/consumers';
import { signerInPfx, tlsMaterialOf } from './key-files.ts';
import type { PfxOpened, PfxToOpen } from './pfx-apart.ts';

/** Shorter keys are weak; longer ones would slow down every note, and no authority certifies them. */
const BITS = { min: 2048, max: 4096 } as const;

function open({ pfx, senha }: PfxToOpen): PfxOpened {
  try {
    const signer = signerInPfx(Buffer.from(pfx, 'base64'), senha);
    const { modulusLength = 0 } = signer.key.asymmetricKeyDetails ?? {};
    if (modulusLength < BITS.min || modulusLength > BITS.max) {
      return { problem: `a chave tem ${modulusLength} bits; serve a RSA de ${BITS.min} a ${BITS.max}.` };
    }
    const { key, cert } = tlsMaterialOf(signer);
    return { chave: key, certificado: cert };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

process.stdout.write(JSON.stringify(open(JSON.parse(await text(process.stdin)) as PfxToOpen)));

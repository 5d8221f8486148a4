/** RSA keys that the whole run shares: a new key takes as long as a hundred signatures. */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Keys } from '../../src/documents/pki.ts';
import { onEveryEnd } from './cleanup.ts';

const PEM = { type: 'pkcs8', format: 'pem' } as const;

let taken = 0;
onEveryEnd(() => (taken = 0));

/** A different key of 2048 bits at each call of a test file, and the same ones in each file. A file that runs alone makes its own. */
export function readyPem(): string {
  const cluster = process.env['NFSE_TEST_CLUSTER'];
  if (cluster === undefined) return newPem();
  const file = path.join(path.dirname(cluster), `rsa-${taken}.pem`);
  taken += 1;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const pem = newPem();
  // The rename is atomic, so a reader finds a whole key. If two processes make one, the second stays.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, pem, { mode: 0o600 });
  renameSync(own, file);
  return pem;
}

function newPem(): string {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export(PEM) as string;
}

export async function readyKeys(): Promise<Keys> {
  const privateKey = createPrivateKey(readyPem());
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

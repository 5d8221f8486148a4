/** RSA keys that the whole run shares: to make one takes as long as a hundred signatures. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Keys, newKeys } from '../../src/documents/pki.ts';

let taken = 0;

/** Another key at each call of a process, and the same ones in each process. A file run alone makes its own. */
export async function readyKeys(): Promise<Keys> {
  const cluster = process.env.NFSE_TEST_CLUSTER;
  if (cluster === undefined) return newKeys();
  const file = path.join(path.dirname(cluster), `rsa-${taken}.pem`);
  taken += 1;
  try {
    const privateKey = createPrivateKey(await readFile(file));
    return { privateKey, publicKey: createPublicKey(privateKey) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const keys = await newKeys();
  // Whoever reads it finds it whole, and of two that made it the second one stays.
  const own = `${file}.${process.pid}`;
  await writeFile(own, keys.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await rename(own, file);
  return keys;
}

/**
 * Files in one ZIP, made one after the other while the ZIP is written: only a few of thousands are in memory. The only importer of yazl.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { ignoring } from '../base/traces/ignoring.ts';

export type ZipEntry = { readonly nome: string; readonly conteudo: Buffer };

/** Files handed to the writer before it has taken the first. */
const AHEAD = 50;

const AWAITED = 'the race with the other side throws it';

/** Writes a file that only its owner may read, and resolves when it is on the disk. `flags`: `wx` keeps an existing file. */
export async function writeZip(file: string, entries: AsyncIterable<ZipEntry>, flags: 'w' | 'wx' = 'w'): Promise<void> {
  const zip = new ZipFile();
  const out = createWriteStream(file, { mode: 0o600, flags });
  const failed = once(zip as unknown as NodeJS.EventEmitter, 'error').then(([error]) => Promise.reject(error));
  failed.catch(ignoring(AWAITED));
  zip.outputStream.pipe(out);
  const written = finished(out);
  written.catch(ignoring(AWAITED));
  let [added, taken] = [0, 0];
  let room = Promise.withResolvers<void>();
  for await (const { nome, conteudo } of entries) {
    added += 1;
    zip.addReadStreamLazy(nome, { compress: true }, (give) => {
      taken += 1;
      room.resolve();
      give(null, Readable.from([conteudo]));
    });
    while (added - taken >= AHEAD) {
      room = Promise.withResolvers();
      if (added - taken >= AHEAD) await Promise.race([room.promise, failed, written]);
    }
  }
  zip.end();
  await Promise.race([written, failed]);
}

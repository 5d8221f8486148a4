/**
 * Files in one ZIP, made one after the other while the ZIP is written: only a few of thousands are in memory. The only importer of yazl.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { ignoring } from '../base/traces/ignoring.ts';

/** `conteudo`: whole, or made while the ZIP is written. */
export type ZipEntry = { readonly nome: string; readonly conteudo: Buffer | AsyncIterable<string> };

/** Files handed to the writer before it has taken the first. */
const AHEAD = 50;

const AWAITED = 'the race with the other side throws it';

/** Writes a file that only its owner may read, and resolves when it is on the disk. `flags`: `wx` keeps an existing file. */
export async function writeZip(file: string, entries: AsyncIterable<ZipEntry>, flags: 'w' | 'wx' = 'w'): Promise<void> {
  const zip = new ZipFile();
  const out = createWriteStream(file, { mode: 0o600, flags });
  const told = zip as unknown as NodeJS.EventEmitter;
  const failed = once(told, 'error').then(([error]) => Promise.reject(error));
  failed.catch(ignoring(AWAITED));
  zip.outputStream.pipe(out);
  const written = finished(out);
  let content: Readable | undefined;
  // A content that is being made stops with the file, so that its maker never waits for it.
  written.catch((error: Error) => content?.destroy(error));
  let [added, taken] = [0, 0];
  let room = Promise.withResolvers<void>();
  try {
    for await (const { nome, conteudo } of entries) {
      added += 1;
      zip.addReadStreamLazy(nome, { compress: true }, (give) => {
        taken += 1;
        room.resolve();
        content = Readable.from(Buffer.isBuffer(conteudo) ? [conteudo] : conteudo);
        // The library hears no error of a content.
        content.once('error', (error) => told.emit('error', error));
        give(null, content);
      });
      while (added - taken >= AHEAD) {
        room = Promise.withResolvers();
        if (added - taken >= AHEAD) await Promise.race([room.promise, failed, written]);
      }
    }
    zip.end();
    await Promise.race([written, failed]);
  } catch (error) {
    out.destroy();
    throw error;
  }
}

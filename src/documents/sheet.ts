/**
 * Rewrites the first sheet of a spreadsheet (`.xlsx`, `.ods`, `.xls`) as CSV, which the importers read. An archive is measured before it is
 * opened: a small file may unpack to gigabytes. The reader is a process of its own, which a hostile file may exhaust without harm.
 */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fromBufferPromise } from 'yauzl';
import { makeRunner } from './run-apart.ts';
import { isArchive } from './sheet-mark.ts';

const FILE_MAX_BYTES = 32 * 1024 * 1024;
/** The greatest size of the unpacked parts together. */
const UNPACKED_MAX_BYTES = 256 * 1024 * 1024;
const runSheet = makeRunner({ script: 'sheet-process.ts', maxMs: 60_000, heapMaxMb: 768, answerMaxBytes: 1024 * 1024 });

/** Writes the first sheet to `csv`. Throws an Error in Portuguese that names the file. */
export async function writeSheetAsCsv(file: string, csv: string): Promise<void> {
  const name = path.basename(file);
  if ((await stat(file)).size > FILE_MAX_BYTES) throw new Error(`${name} ${TOO_BIG}`);
  const content = await readFile(file);
  const problem = (isArchive(content) ? await measureArchive(content) : undefined) ?? (await runReader(file, csv));
  if (problem !== undefined) throw new Error(`${name} ${problem}`);
}

const TOO_BIG = 'é uma planilha grande demais. Salve-a como CSV UTF-8, que pode ter milhões de linhas.';
const BROKEN =
  'não pôde ser lido como planilha. Abra-o no programa de planilhas e salve-o de novo, ou salve-o como CSV UTF-8.';

/** A place in a row that no sheet has: the reader would make an array as long. */
const FAR = /\br="[A-Z]*\d{8}/;
const PLACE_MAX = 32;

/** Unpacks all parts without keeping them; the reason why the file is not opened, or undefined. */
async function measureArchive(content: Buffer): Promise<string | undefined> {
  let left = UNPACKED_MAX_BYTES;
  let isFar = false;
  const look = (): Writable => {
    let rest = '';
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        left -= chunk.length;
        const text = rest + chunk.toString('latin1');
        isFar ||= FAR.test(text);
        rest = text.slice(-PLACE_MAX);
        done(left < 0 || isFar ? new Error(TOO_BIG) : null);
      },
    });
  };
  try {
    const archive = await fromBufferPromise(content);
    for await (const entry of archive.eachEntry()) await pipeline(await archive.openReadStreamPromise(entry), look());
    return undefined;
  } catch {
    return left < 0 || isFar ? TOO_BIG : BROKEN;
  }
}

const PROBLEMS = {
  ended: undefined,
  refused: BROKEN,
  killed: TOO_BIG,
  crowded: 'não pôde ser lido agora: outras planilhas estão sendo lidas. Tente de novo em um minuto.',
} as const;

/** Runs the reader; the reason why it wrote nothing, or undefined. */
async function runReader(file: string, csv: string): Promise<string | undefined> {
  return PROBLEMS[(await runSheet('', [file, csv])).how];
}

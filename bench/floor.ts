/**
 * What this machine can do at most of the two things that issuing cannot do without: reading the same documents, and
 * making the same bytes durable. Each alone, with nothing else running.
 */

import { DPS_PROFILE } from '../src/documents/signature-shape.ts';
import { checkSignature } from '../src/documents/signed.ts';
import { readXml } from '../src/documents/xml.ts';
import { readDps } from '../src/fiscal/layout/read.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { openEmbedded } from '../src/store/embedded.ts';
import { Pool } from '../src/store/pg.ts';
import { distinctDps } from './documents.ts';

const READ_MS = 3_000;
const INSERT_MS = 5_000;
/** Rows a transaction, as many as the largest group commit. */
const ROWS = 256;
/** Bytes of received DPS and NFS-e of one ordinary note. */
const NOTE_BYTES = 4_200;

export async function floors(dataDir: string): Promise<{ read: number; insert: number }> {
  return { read: readFloor(), insert: await insertFloor(dataDir) };
}

function readFloor(): number {
  const documentOf = distinctDps(exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' }), 50);
  const documents = Array.from({ length: 2_000 }, (_, place) => documentOf(place + 1));
  const read = (document: Buffer): void => {
    const reading = readXml(document);
    if ('fault' in reading || 'faults' in readDps(reading.root)) throw new Error('the floor document is not valid');
  };
  for (const document of documents) read(document);
  let count = 0;
  const began = performance.now();
  while (performance.now() - began < READ_MS) read(documents[count++ % documents.length]!);
  return count / ((performance.now() - began) / 1000);
}

/** What nobody can do without who issues a signed document: parse, digest and RSA verification, and nothing else. */
export function signedFloor(documents: readonly Buffer[]): number {
  const verifyOne = (document: Buffer): void => {
    const reading = readXml(document);
    if ('fault' in reading) throw new Error(reading.fault.mensagem);
    const { faults } = checkSignature(reading, DPS_PROFILE);
    if (faults.length > 0) throw new Error(faults[0]!.mensagem);
  };
  for (const document of documents) verifyOne(document);
  let count = 0;
  const began = performance.now();
  while (performance.now() - began < READ_MS) verifyOne(documents[count++ % documents.length]!);
  return count / ((performance.now() - began) / 1000);
}

/** The same bytes into a table with one key and nothing else, in transactions of the same size, durable. */
async function insertFloor(dataDir: string): Promise<number> {
  const server = await openEmbedded({ dataDir, log: { info() {}, warn() {}, error() {} } });
  const pool = new Pool(server.connection);
  try {
    await pool.query('create table if not exists piso (id bigint primary key, bytes bytea not null)');
    const block = Buffer.from(exampleXml().repeat(Math.ceil((NOTE_BYTES * ROWS) / exampleXml().length))).subarray(
      0,
      NOTE_BYTES * ROWS,
    );
    const text = `insert into piso select $2::bigint + n, substring($1::bytea from 1 + n * $3::int for $3::int)
      from generate_series(0, $4::int - 1) n`;
    let count = 0;
    const began = performance.now();
    while (performance.now() - began < INSERT_MS) {
      await pool.query({ name: 'piso', text, values: [block, count, NOTE_BYTES, ROWS] });
      count += ROWS;
    }
    const rate = count / ((performance.now() - began) / 1000);
    await pool.query('drop table piso');
    return rate;
  } finally {
    await pool.end();
    await server.stop();
  }
}

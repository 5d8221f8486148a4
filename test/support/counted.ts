/**
 * The work of an operation in counts instead of times, so that the result is the same on every machine. The counts are documents that
 * libxml2 parses and writes, digests, and verifications. The libraries are counted at the functions that all code calls.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { XmlDocument } from 'libxml2-wasm';

export type Count = {
  /** Documents that libxml2 parsed, and their bytes. */
  parses: number;
  parsedBytes: number;
  /** Characters of the canonical forms that libxml2 wrote. */
  canonical: number;
  digests: number;
  digestedBytes: number;
  /** Signature values that were verified. */
  verified: number;
};

const count: Count = { parses: 0, parsedBytes: 0, canonical: 0, digests: 0, digestedBytes: 0, verified: 0 };

const { fromBuffer } = XmlDocument;
XmlDocument.fromBuffer = (source, ...rest) => {
  count.parses += 1;
  count.parsedBytes += source.length;
  return fromBuffer.call(XmlDocument, source, ...rest);
};
const { canonicalizeToString } = XmlDocument.prototype;
XmlDocument.prototype.canonicalizeToString = function (...args) {
  const text = canonicalizeToString.apply(this, args);
  count.canonical += text.length;
  return text;
};
const { hash, verify } = crypto;
Object.assign(crypto, {
  hash: (algorithm: string, data: string | Uint8Array, ...rest: [never]) => {
    count.digests += 1;
    count.digestedBytes += Buffer.byteLength(data);
    return hash(algorithm, data as string, ...rest);
  },
  verify: (...args: Parameters<typeof verify>) => {
    count.verified += 1;
    return verify(...args);
  },
});
syncBuiltinESMExports();

/** The counts of one operation. Only one operation at a time can be counted. */
export async function counted(work: () => unknown): Promise<Count> {
  const before = { ...count };
  await work();
  const names = Object.keys(count) as (keyof Count)[];
  return Object.fromEntries(names.map((name) => [name, count[name] - before[name]])) as Count;
}

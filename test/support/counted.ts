/**
 * What a piece of work takes, counted and not timed, so that it is the same on every machine: what libxml2 parses and writes, what is
 * digested, what is verified. The libraries are counted where everybody calls them.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { XmlDocument } from 'libxml2-wasm';

export type Count = {
  /** Documents that libxml2 parsed, and their bytes. */
  parses: number;
  parsedBytes: number;
  /** Characters of canonical forms that it wrote. */
  canonical: number;
  digests: number;
  digestedBytes: number;
  /** Values of signatures that were verified. */
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

/** What was counted while the work was under way. Only one piece of work at a time can be told. */
export async function counted(work: () => unknown): Promise<Count> {
  const before = { ...count };
  await work();
  const names = Object.keys(count) as (keyof Count)[];
  return Object.fromEntries(names.map((name) => [name, count[name] - before[name]])) as Count;
}

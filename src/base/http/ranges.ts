/**
 * Answers with a file, or with the one range of its bytes that the caller names (RFC 9110, 14). A strong tag names the version. Several
 * ranges are answered with the whole file (D-903).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { answerCacheable, tagOf } from './caching.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';

/** A file that does not change. `tag`: strong. `read`: the bytes from a place to the end before another. */
export type ReadyFile = {
  readonly bytes: number;
  readonly tag: string;
  read(from: number, to: number): Buffer | AsyncIterable<Buffer>;
};

/** Headers that the route of a file announces. */
export const OF_FILES = ['ETag', 'Accept-Ranges'] as const;

/** A file that is in memory as a whole. */
export function fileOf(whole: Buffer): ReadyFile {
  return { bytes: whole.length, tag: tagOf(whole), read: (from, to) => whole.subarray(from, to) };
}

/** The range begins after the end of the file. */
export type OutOfRange = { readonly bytes: number };

/** The whole file, its requested part with 206, or 304 for a caller that has it. */
export function answerFile(
  request: HttpRequest,
  file: ReadyFile,
  own: Readonly<Record<string, string>>,
): HttpAnswer | OutOfRange {
  const { bytes, tag } = file;
  const headers = { ...own, 'Accept-Ranges': 'bytes', 'Content-Length': String(bytes) };
  const whole = answerCacheable(request, '', headers, REVALIDATED, tag);
  if (whole.status === 304) return whole;
  const range = rangeOf(request.headers, file);
  if (range === undefined) return { ...whole, body: file.read(0, bytes) };
  const { from, to } = range;
  if (from >= to) return { bytes };
  const part = { 'Content-Length': String(to - from), 'Content-Range': `bytes ${from}-${to - 1}/${bytes}` };
  return { status: 206, headers: { ...whole.headers, ...part }, body: file.read(from, to) };
}

/** Kept by the client itself alone, which must revalidate each time. */
const REVALIDATED = 'private, no-cache';

/** Undefined: no range that is understood, or of another version. */
function rangeOf(
  { range, 'if-range': version }: IncomingHttpHeaders,
  { bytes, tag }: ReadyFile,
): { readonly from: number; readonly to: number } | undefined {
  const asked = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/.exec(range ?? '');
  if (asked === null || (version !== undefined && version !== tag)) return undefined;
  const [, first, last, suffix] = asked;
  if (suffix !== undefined) return { from: Math.max(0, bytes - Number(suffix)), to: bytes };
  const from = Number(first);
  if (last === '') return { from, to: bytes };
  // A last byte before the first makes the range invalid, and an invalid one is ignored.
  const to = Number(last) + 1;
  return to <= from ? undefined : { from, to: Math.min(to, bytes) };
}

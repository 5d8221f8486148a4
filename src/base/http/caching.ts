/** Answers that may be cached: their ETag, and 304 for a caller who has the current version. */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { HttpAnswer, HttpRequest } from './message.ts';

/** A length at which two answers never share a tag. */
const TAG_LENGTH = 22;

export function tagOf(body: string | Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, TAG_LENGTH)}"`;
}

/** A body with its `tag` and its own headers; 304 without a body if the caller has this version. */
export function answerCacheable(
  { headers }: HttpRequest,
  body: string | Buffer,
  own: Readonly<Record<string, string>>,
  cacheControl: string,
  tag = tagOf(body),
): HttpAnswer {
  const vary = own['Vary'];
  const caching = { 'Cache-Control': cacheControl, ETag: tag, ...(vary === undefined ? {} : { Vary: vary }) };
  if (hasCopy(headers, tag)) return { status: 304, headers: caching, body: '' };
  return { status: 200, headers: { ...own, ...caching }, body };
}

/** Whether `If-None-Match` names the current version. */
function hasCopy(headers: IncomingHttpHeaders, tag: string): boolean {
  const named = headers['if-none-match'];
  if (named === undefined) return false;
  const opaque = withoutWeakness(tag);
  return named.split(',').some((one) => {
    const name = withoutWeakness(one.trim());
    return name === opaque || name === '*';
  });
}

/** `If-None-Match` compares weakly (RFC 9110, 13.1.2). */
function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '');
}

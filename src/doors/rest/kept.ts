/** Answers that whoever got them may keep: how one is told from another, and whether the asker has it already. */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Enough that two answers never share one. */
const TAG_LENGTH = 22;

/** The `ETag` of a body. */
export function tagOf(body: string | Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, TAG_LENGTH)}"`;
}

/** Whether `If-None-Match` names the answer as it is now. */
export function isHeld(headers: IncomingHttpHeaders, tag: string): boolean {
  const held = headers['if-none-match'];
  if (held === undefined) return false;
  return held.split(',').some((one) => {
    const name = one.trim().replace(/^W\//, '');
    return name === tag || name === '*';
  });
}

/**
 * Which answers a page of any site may read (CORS): those that are public and need no credential. Nothing else is opened, so
 * that a page can ask nothing in the name of its visitor.
 */
import type { HttpAnswer } from './message.ts';

/** Headers of every answer, refusals included, of an address that is open to pages. */
export const CORS_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' } as const;

/** A browser need not ask again for a day. */
const PREFLIGHT_KEPT_S = 86_400;

/** The answer to OPTIONS, by which a browser asks before it sends a request with headers of its own. */
export const PREFLIGHT: HttpAnswer = {
  status: 204,
  headers: {
    ...CORS_HEADERS,
    Allow: 'GET, HEAD, OPTIONS',
    'Access-Control-Allow-Methods': 'GET, HEAD',
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': String(PREFLIGHT_KEPT_S),
  },
  body: '',
};

/** An answer with an image of our own making, whose address has its digest. */
import { answerCacheable } from './caching.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'image/png',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** It never changes under its address. `whose`: the caches that keep it. */
export function answerImage(request: HttpRequest, png: Buffer, whose: 'public' | 'private'): HttpAnswer {
  return answerCacheable(request, png, HEADERS, `${whose}, max-age=31536000, immutable`);
}

/**
 * Answers that stay the same while the process runs: pages, descriptions, files. Each is made, tagged and compressed once, and then only
 * sent. An answer with the address that its caller names is kept under that address, until others need the room (D-865).
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { answerCacheable, tagOf } from './caching.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';
import { takesGzip } from './negotiation.ts';

/** Bytes of all kept bodies, before compression: the whole site for several addresses. */
const KEPT_MAX_BYTES = 16 * 1024 * 1024;
/** A shorter body fits into one packet anyway. */
const ZIPPED_MIN_BYTES = 1_024;

type Ready = { readonly body: Buffer; readonly tag: string; zipped?: Buffer; zipping?: Promise<void> };

/** The last used are at the end. */
const kept = new Map<string, Ready>();
let keptBytes = 0;
let isZipping = false;

/** `name`: says all that the body hangs on. `make`: is asked once; undefined when there is no such answer. */
export async function answerReady(
  request: HttpRequest,
  name: string,
  make: () => string | Buffer | undefined | Promise<string | Buffer | undefined>,
  own: Readonly<Record<string, string>>,
  cacheControl: string,
): Promise<HttpAnswer | undefined> {
  const ready = recall(name) ?? keep(name, await make());
  if (ready === undefined) return undefined;
  const { body, tag } = ready;
  const headers = { ...own, Vary: 'Accept-Encoding' };
  const zipped = takesGzip(request.headers) ? await zip(ready) : body;
  if (zipped.length >= body.length) return answerCacheable(request, body, headers, cacheControl, tag);
  return answerCacheable(request, zipped, { ...headers, 'Content-Encoding': 'gzip' }, cacheControl, tag);
}

/** One at a time, because callers who name ever new addresses would take every core; meanwhile a body goes out as it is. */
async function zip(ready: Ready): Promise<Buffer> {
  const { body } = ready;
  if (ready.zipped === undefined && body.length >= ZIPPED_MIN_BYTES) {
    if (!isZipping) ready.zipping ??= compress(ready);
    await ready.zipping;
  }
  return ready.zipped ?? body;
}

async function compress(ready: Ready): Promise<void> {
  isZipping = true;
  try {
    ready.zipped = await promisify(gzip)(ready.body, { level: 9 });
  } finally {
    isZipping = false;
  }
}

function recall(name: string): Ready | undefined {
  const ready = kept.get(name);
  if (ready === undefined) return undefined;
  kept.delete(name);
  kept.set(name, ready);
  return ready;
}

function keep(name: string, made: string | Buffer | undefined): Ready | undefined {
  if (made === undefined) return undefined;
  const body = Buffer.from(made);
  // A weak tag: both forms have the same content.
  const ready: Ready = { body, tag: `W/${tagOf(body)}` };
  // Another request may have made it meanwhile.
  keptBytes += body.length - (kept.get(name)?.body.length ?? 0);
  kept.set(name, ready);
  for (const [oldest, { body: old }] of kept) {
    if (keptBytes <= KEPT_MAX_BYTES) break;
    kept.delete(oldest);
    keptBytes -= old.length;
  }
  return ready;
}

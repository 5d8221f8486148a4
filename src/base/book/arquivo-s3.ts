/**
 * The archive in a bucket of a store that speaks S3 (Amazon, MinIO, Ceph, Swift and others), addressed by path. A file is written on a disk
 * of this machine and then sent whole, or in parts. Readings ask for ranges. Only this file uses the client, which signs requests.
 */
import { hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { AwsClient } from 'aws4fetch';
import { ignoring } from '../traces/ignoring.ts';
import type { ArquivoLugar } from './arquivo-lugar.ts';
import { createRascunho, readWhole, removeRascunhos } from './arquivo-rascunho.ts';

/** `prefixo`: the beginning of all names, without a slash at its end; may be empty. */
export type Bucket = {
  readonly nome: string;
  readonly prefixo: string;
  /** The address has no slash at its end. */
  readonly endpoint: string;
  readonly regiao: string;
  readonly chave: string;
  readonly segredo: string;
  readonly sessao: string | undefined;
};

/** Time limit of a request with a small body. A range is some kilobytes. */
const SMALL_MAX_MS = 5_000;
/** Time limit of a request that carries a part, or joins parts. */
const LARGE_MAX_MS = 180_000;
const TOO_LONG = new Error('passou do tempo');
/** A store asks for patience now and then. Large requests are attempted more often. Each pause is four times the one before. */
const ATTEMPTS_MAX = { small: 2, large: 5 };
const AGAIN_MS = 200;
/** Requests are refused at once for so long after such a failure. Otherwise all callers would wait, one behind the other. */
const PAUSE_MS = 2_000;
/** Requests that run at once; the others wait for their turn. */
const AT_ONCE_MAX = 32;
/** Size of the parts in which a file is sent. A large file has larger parts, since a store takes ten thousand at most. */
const PART_BYTES = 16 * 1024 * 1024;
const PARTS_MAX = 10_000;

type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
type Asked = {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer<ArrayBuffer>;
  readonly isLarge?: true;
};
type Answer = { readonly status: number; readonly headers: Headers; readonly body: Buffer };

/** The store does not answer, or says that it cannot answer now. */
class SemResposta extends Error {}

/** Sends requests; `key`: the whole name of an object, or empty for the bucket. */
type Send = (method: Method, key: string, asked?: Asked) => Promise<Answer>;

export function arquivoBucket(bucket: Bucket): ArquivoLugar {
  const send = senderOf(bucket);
  const keyOf = (nome: string): string => (bucket.prefixo === '' ? nome : `${bucket.prefixo}/${nome}`);
  const remove = async (key: string): Promise<void> => {
    await abortUploads(send, key);
    for (const ending of ['', '.pem', '.assinatura', '.sha256']) {
      accepted(await send('DELETE', key + ending), [200, 204, 404]);
    }
  };
  return {
    lugar: `s3://${bucket.nome}${bucket.prefixo && `/${bucket.prefixo}`}`,
    ensure: async () => void accepted(await send('GET', '', { query: { 'list-type': '2', 'max-keys': '1' } }), [200]),
    create: () => createRascunho(tmpdir(), 0o600),
    publish: async ({ file, bytes }, nome) => {
      const handle = await open(file, 'r');
      const read = (at: number, length: number) => readWhole(handle, Buffer.alloc(length), at);
      try {
        await sendFile(send, keyOf(nome), { bytes, read });
      } finally {
        await handle.close();
      }
    },
    writeBeside: async (nome, content) => {
      accepted(await send('PUT', keyOf(nome), { body: Buffer.from(content) }), [200]);
    },
    readBeside: async (nome) => {
      const answer = accepted(await send('GET', keyOf(nome)), [200, 404]);
      return answer.status === 404 ? undefined : answer.body;
    },
    sizeOf: (nome) => sizeOf(send, keyOf(nome)),
    list: async () => {
      const from = bucket.prefixo === '' ? 0 : bucket.prefixo.length + 1;
      const keys = await listKeys(send, keyOf(''));
      return keys.map((key) => key.slice(from)).sort();
    },
    reading: (nome, work) =>
      work(async (at, length) => {
        if (length === 0) return Buffer.alloc(0);
        const range = `bytes=${at}-${at + length - 1}`;
        const { body } = accepted(await send('GET', keyOf(nome), { headers: { Range: range } }), [206]);
        if (body.length !== length) throw new Error(`vieram ${body.length} bytes em vez de ${length}`);
        return body;
      }),
    remove: (nome) => remove(keyOf(nome)),
    removeDrafts: (before) => removeRascunhos(tmpdir(), before),
  };
}

/** Sends signed requests, a few at a time, each with a time limit. Any answer is returned; a missing answer is thrown. */
function senderOf({ nome, endpoint, regiao, chave, segredo, sessao }: Bucket): Send {
  const client = new AwsClient({
    accessKeyId: chave,
    secretAccessKey: segredo,
    ...(sessao === undefined ? {} : { sessionToken: sessao }),
    service: 's3',
    region: regiao,
    retries: 0,
  });
  const inTurn = turnsOf(AT_ONCE_MAX);
  let failure: SemResposta | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const once = async (method: Method, key: string, { query = {}, headers, body, isLarge }: Asked): Promise<Answer> => {
    const search = new URLSearchParams(query).toString().replaceAll('+', '%20');
    const path = [nome, ...key.split('/')].map(encodeURIComponent).join('/');
    const signed = await client.sign(`${endpoint}/${path}${search && `?${search}`}`, {
      method,
      body: body ?? null,
      headers: { ...headers, 'X-Amz-Content-Sha256': hash('sha256', body ?? '') },
    });
    // The garbage collector may drop a signal of AbortSignal.timeout, because no other object refers to it.
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(TOO_LONG), isLarge === true ? LARGE_MAX_MS : SMALL_MAX_MS);
    const answer = await fetch(signed, { redirect: 'error', signal: end.signal })
      .then(async (response) => {
        const { status } = response;
        return { status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
      })
      .finally(() => clearTimeout(timer));
    const { status } = answer;
    if (status === 429 || (status >= 500 && status !== NOT_KNOWN)) throw new Error(describeRefusal(answer));
    return answer;
  };
  return (method, key, asked = {}) =>
    inTurn(async () => {
      if (failure !== undefined && performance.now() - failedAt < PAUSE_MS) throw failure;
      const most = ATTEMPTS_MAX[asked.isLarge === true ? 'large' : 'small'];
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await once(method, key, asked);
        } catch (error) {
          if (attempt < most) {
            await new Promise((resolve) => setTimeout(resolve, AGAIN_MS * 4 ** (attempt - 1)));
            continue;
          }
          failure = new SemResposta(`${endpoint} não responde (${causeOf(error)})`);
          failedAt = performance.now();
          throw failure;
        }
      }
    });
}

/** Runs at most `max` tasks at a time, in their order. */
function turnsOf(max: number) {
  const waiting: (() => void)[] = [];
  let under = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (under === max) await new Promise<void>((resolve) => waiting.push(resolve));
    else under += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) under -= 1;
      else next();
    }
  };
}

/** The code of the socket, or the message of the error. */
function causeOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: { readonly code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}

function accepted(answer: Answer, statuses: readonly number[]): Answer {
  if (statuses.includes(answer.status)) return answer;
  throw new Error(describeRefusal(answer));
}

/** Only the code of an error is taken from the body, since its other words may name the caller. */
function describeRefusal({ status, body }: Answer): string {
  const code = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(body.toString('latin1'))?.[1];
  return `o S3 responde ${status}${code === undefined ? '' : ` ${code}`}`;
}

async function sizeOf(send: Send, key: string): Promise<number | undefined> {
  const { status, headers } = accepted(await send('HEAD', key), [200, 404]);
  return status === 404 ? undefined : Number(headers.get('content-length'));
}

/** Contents of the elements of this name, unchanged. */
function textsOf({ body }: Answer, element: string): readonly string[] {
  return [...body.toString('utf8').matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map((one) => one[1]!);
}

async function listKeys(send: Send, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let token: string | undefined; ; ) {
    const more: Record<string, string> = token === undefined ? {} : { 'continuation-token': token };
    const query = { 'list-type': '2', 'encoding-type': 'url', prefix, ...more };
    const answer = accepted(await send('GET', '', { query }), [200]);
    keys.push(...textsOf(answer, 'Key').map((key) => decodeURIComponent(key.replaceAll('+', ' '))));
    token = textsOf(answer, 'NextContinuationToken')[0]?.replaceAll('&amp;', '&');
    if (token === undefined) return keys;
  }
}

/** The object exists already. A name contains the hash of its file, so the object is the same. */
const IS_THERE = 412;
const NOT_KNOWN = 501;

/**
 * Never overwrites an object. Some stores reject the condition (Swift, for a small file) and get the request without it; callers looked
 * before.
 */
async function sendNew(send: Send, method: Method, key: string, asked: Asked): Promise<Answer> {
  const answer = await send(method, key, { ...asked, headers: { 'If-None-Match': '*' } });
  return answer.status === NOT_KNOWN ? send(method, key, asked) : answer;
}

type Parts = { readonly bytes: number; readonly read: (at: number, length: number) => Promise<Buffer> };

async function sendFile(send: Send, key: string, { bytes, read }: Parts): Promise<void> {
  if ((await sizeOf(send, key)) === bytes) return;
  if (bytes > PART_BYTES) return sendParts(send, key, { bytes, read });
  const body = Buffer.from(await read(0, bytes));
  accepted(await sendNew(send, 'PUT', key, { body, isLarge: true }), [200, IS_THERE]);
}

async function sendParts(send: Send, key: string, { bytes, read }: Parts): Promise<void> {
  const begun = accepted(await send('POST', key, { query: { uploads: '' } }), [200]);
  const [uploadId] = textsOf(begun, 'UploadId');
  if (uploadId === undefined) throw new Error('o S3 não deu nome ao envio em partes');
  const size = Math.max(PART_BYTES, Math.ceil(bytes / PARTS_MAX));
  const parts: string[] = [];
  try {
    for (let at = 0; at < bytes; at += size) {
      const number = parts.length + 1;
      const body = Buffer.from(await read(at, Math.min(size, bytes - at)));
      const query = { partNumber: String(number), uploadId };
      const { headers } = accepted(await send('PUT', key, { query, body, isLarge: true }), [200]);
      parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${headers.get('etag')}</ETag></Part>`);
    }
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const answer = await sendNew(send, 'POST', key, { query: { uploadId }, body, isLarge: true });
    // A late failure comes with status 200. A repetition after a lost answer finds no upload. The size of the object then decides.
    const isDone = answer.status === 200 && textsOf(answer, 'Code').length === 0;
    if (!isDone && (await sizeOf(send, key)) !== bytes) throw new Error(describeRefusal(answer));
    if (answer.status === IS_THERE) await send('DELETE', key, { query: { uploadId } });
  } catch (error) {
    const undone = send('DELETE', key, { query: { uploadId } });
    await undone.catch(ignoring('the failure before is thrown, and the next attempt aborts old uploads'));
    throw error;
  }
}

/** Parts of an abandoned upload take space until they are aborted. Some stores do not list them. */
async function abortUploads(send: Send, key: string): Promise<void> {
  const answer = await send('GET', '', { query: { uploads: '', prefix: key } });
  if (answer.status !== 200) return;
  for (const uploadId of textsOf(answer, 'UploadId')) {
    accepted(await send('DELETE', key, { query: { uploadId } }), [204, 404]);
  }
}

/**
 * One line to one address with one certificate, by undici: a request goes out, and its outcome comes back as data. Only this module decides
 * whether a request can have arrived. HTTP/1.1 is used, because the ADN renegotiates TLS, which HTTP/2 forbids. No redirect is followed,
 * and nothing is repeated.
 */
import tls from 'node:tls';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { buildConnector, Dispatcher, Pool } from 'undici';
import { ignoring } from '../base/traces/ignoring.ts';
import { ownOf } from '../fiscal/own.ts';
import type { Limits } from './limits.ts';
import { JSON_TYPE } from './wire.ts';

const TLS_VERSION_MIN = 'TLSv1.2';
/** The time is below the idle time of typical servers and proxies: a request into a closing connection is lost. */
const KEEP_ALIVE_MS = 4_000;

export type LineSettings = {
  readonly url: URL;
  /** PEM texts: our key, our certificate with its chain, and the trusted authorities; undefined: Mozilla's roots and the system's. */
  readonly tls: { readonly key: string; readonly cert: string; readonly ca: string | undefined };
  readonly limits: Limits;
};

export type Ask = {
  readonly method: 'GET' | 'POST';
  /** Path below the address of the line. */
  readonly path: string;
  readonly body: Buffer | undefined;
  /** The trace that the other side may join. */
  readonly traceparent?: string | undefined;
  /** The total time, including the wait for a connection. */
  readonly totalMs: number;
  /** The size limit of the answer, compressed and uncompressed. */
  readonly bytesMax: number;
};

/** `code` is for the log, `why` for the operator. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly type: string; readonly body: Buffer }
  /** No part of the request was sent over a working connection. `isUnreachable`: no server was there, regardless of the certificate. */
  | { readonly kind: 'unsent'; readonly code: string; readonly why: string; readonly isUnreachable?: boolean }
  /** Our certificate was refused during the handshake, so nothing was read. `isHere`: the error occurred on this host. */
  | { readonly kind: 'barred'; readonly code: string; readonly why: string; readonly isHere?: boolean }
  /** The request left, at least in part, and no whole answer came. */
  | { readonly kind: 'lost'; readonly code: string; readonly why: string };

export type Line = {
  /** Never rejects. */
  request(ask: Ask): Promise<Outcome>;
  /** Waits for running requests, then closes the connections. */
  close(): Promise<void>;
};

export function openLine({ url, tls: keys, limits }: LineSettings): Line {
  const secure = url.protocol === 'https:' ? secureContext(keys) : NOT_SECURE;
  if ('barred' in secure) return { request: async () => secure.barred, close: async () => undefined };
  const base = url.pathname.replace(/\/+$/, '');
  let pool: Promise<Pool> | undefined;
  let closing: Promise<void> | undefined;
  const open = (): Promise<Pool> => (pool ??= openPool(url, secure.context, limits));
  return {
    request: async (ask) => exchange(await open(), base, ask),
    // An unused line is opened in order to be closed, so that it takes no request afterwards.
    close: () => (closing ??= open().then((opened) => opened.close())),
  };
}

/** Loads the library with the first request: it is a quarter of a process's code to load at its start. */
async function openPool(url: URL, context: tls.SecureContext, limits: Limits): Promise<Pool> {
  const { buildConnector, Pool } = await import('undici');
  const connector = buildConnector({
    secureContext: context,
    rejectUnauthorized: true,
    allowH2: false,
    timeout: limits.connectMs,
  });
  return new Pool(url.origin, {
    connections: limits.lotsAtOnce,
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.bodyMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    allowH2: false,
    pipelining: 1,
    connect: (options, callback) =>
      connector(options, (...[error, socket]) => {
        if (error !== null) callback(error, null);
        else afterVerdict(socket as tls.TLSSocket, limits.verdictMs, callback);
      }),
  });
}

const NOT_SECURE = {
  barred: { kind: 'barred', code: 'NOT_HTTPS', why: 'o endereço do ADN precisa começar com https://', isHere: true },
} as const;

type Secure = { readonly context: tls.SecureContext } | { readonly barred: Outcome };

function secureContext({ key, cert, ca }: LineSettings['tls']): Secure {
  try {
    const believed = ca ?? [...tls.getCACertificates('default'), ...tls.getCACertificates('system')];
    return { context: tls.createSecureContext({ key, cert, ca: believed, minVersion: TLS_VERSION_MIN }) };
  } catch (error) {
    const code = codeOf(error);
    const why = `o certificado, a chave do município ou as autoridades do ADN não puderam ser usados em TLS (${code})`;
    return { barred: { kind: 'barred', code, why, isHere: true } };
  }
}

/**
 * A client of TLS 1.3 is ready before the server has checked its certificate. It is then unknown whether an immediate request was read. A
 * connection is therefore used only after the first session ticket of the server, or after a while. The ticket follows the check of the
 * certificate. The certificate of a resumed session was checked before.
 */
function afterVerdict(socket: tls.TLSSocket, verdictMs: number, callback: buildConnector.Callback): void {
  if (socket.getProtocol() !== 'TLSv1.3' || socket.isSessionReused()) {
    callback(null, socket);
    return;
  }
  const settle = (error: Error | undefined): void => {
    clearTimeout(timer);
    socket.off('session', onTicket).off('error', settle).off('end', onEnd).off('close', onEnd);
    if (error === undefined) callback(null, socket);
    else {
      socket.on('error', ignoring('the caller has the first error')).destroy();
      callback(error, null);
    }
  };
  const onTicket = (): void => settle(undefined);
  const onEnd = (): void => settle(Object.assign(new Error('closed'), { code: 'CLOSED_AFTER_HANDSHAKE' }));
  const timer = setTimeout(onTicket, verdictMs);
  socket.once('session', onTicket).once('error', settle).once('end', onEnd).once('close', onEnd);
}

type Answer = { readonly status: number; readonly type: string; readonly encoding: string };

function exchange(pool: Pool, base: string, ask: Ask): Promise<Outcome> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isSent = false;
    let isOver = false;
    let answer: Answer | undefined;
    const chunks: Buffer[] = [];
    let bytes = 0;

    const finish = (outcome: Outcome | Promise<Outcome>): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      resolve(outcome);
    };
    const giveUp = (code: string, why: string): void => {
      finish({ kind: isSent ? 'lost' : 'unsent', code, why });
      // The outcome is already given, so nothing waits any more; the connection is not used again.
      controller?.abort(new Error(code));
    };
    const timer = setTimeout(() => giveUp('TIMEOUT', 'o ADN não respondeu no prazo'), ask.totalMs);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (given) => {
        controller = given;
        if (isOver) return given.abort(new Error('TIMEOUT'));
        // A library that sends the request again on another connection is stopped: only the caller may decide that.
        if (isSent) return giveUp('REPEATED', 'a conexão com o ADN foi interrompida');
        isSent = true;
      },
      onResponseStart: (_controller, status, headers) => {
        if (status < 200) return;
        const type = String(headers['content-type'] ?? '');
        answer = { status, type, encoding: String(headers['content-encoding'] ?? '') };
        if (Number(headers['content-length']) > ask.bytesMax) giveUp('TOO_LARGE', TOO_LARGE);
      },
      onResponseData: (_controller, chunk) => {
        bytes += chunk.length;
        if (bytes > ask.bytesMax) giveUp('TOO_LARGE', TOO_LARGE);
        else if (!isOver) chunks.push(chunk);
      },
      onResponseEnd: () => {
        if (answer === undefined) return giveUp('NO_ANSWER', 'a resposta do ADN veio incompleta');
        finish(readAnswer(answer, Buffer.concat(chunks), ask.bytesMax));
      },
      onResponseError: (_controller, error) => finish(outcomeOf(error, isSent, answer !== undefined)),
    };
    const headers = {
      accept: JSON_TYPE,
      'accept-encoding': 'identity',
      ...(ask.body === undefined ? {} : { 'content-type': JSON_TYPE }),
      ...(ask.traceparent === undefined ? {} : { traceparent: ask.traceparent }),
    };
    try {
      pool.dispatch({ method: ask.method, path: base + ask.path, headers, body: ask.body ?? null }, handler);
    } catch (error) {
      finish(outcomeOf(error, isSent, answer !== undefined));
    }
  });
}

const TOO_LARGE = 'a resposta do ADN passa do tamanho aceito';

const DECODERS: Readonly<Record<string, (data: Buffer, options: ZlibOptions) => Promise<Buffer>>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  'x-gzip': promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
};

/** The answer with its body decoded from a `Content-Encoding` that was not requested. */
async function readAnswer({ status, type, encoding }: Answer, body: Buffer, bytesMax: number): Promise<Outcome> {
  const lost = (code: string, why = 'a resposta do ADN veio corrompida'): Outcome => ({ kind: 'lost', code, why });
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return { kind: 'answered', status, type, body };
  const decode = ownOf(DECODERS, name);
  if (decode === undefined) return lost('UNKNOWN_ENCODING');
  try {
    return { kind: 'answered', status, type, body: await decode(body, { maxOutputLength: bytesMax }) };
  } catch (error) {
    return codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? lost('TOO_LARGE', TOO_LARGE) : lost('BAD_ENCODING');
  }
}

/** The TLS alerts that refuse a certificate; a mere handshake failure may have other reasons. */
const CERTIFICATE_ALERT =
  /ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_|NO_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/;

/** No name, no route, no listener at the port. A time-out is excluded: a server may be silent while it checks a certificate. */
const UNREACHABLE = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/;

const NOT_TLS =
  'o que respondeu no endereço do ADN não fala HTTPS como se espera; confira o endereço e a porta (--adn)';

const WHYS: readonly (readonly [RegExp, string])[] = [
  [
    /^CLOSED_AFTER_HANDSHAKE$/,
    'o ADN encerrou a conexão assim que viu o certificado do município; se isso persiste, confira se ele é aceito',
  ],
  [
    /ALERT_HANDSHAKE_FAILURE$|ALERT_DECRYPT_ERROR$/,
    'o ADN não aceitou abrir a conexão TLS; se isso persiste, confira o certificado do município',
  ],
  [
    /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/,
    'o ADN interrompeu a conexão antes de responder; se isso persiste, confira o certificado do município',
  ],
  [
    /^ECONNREFUSED$/,
    'o ADN recusou a conexão: ninguém atende nesse endereço e porta; se isso persiste, confira o endereço (--adn)',
  ],
  [/^ENOTFOUND$/, 'o nome do ADN não existe no DNS; confira o endereço (--adn) e o DNS desta máquina'],
  [/^EAI_\w+$/, 'o nome do ADN não pôde ser procurado; confira o DNS e a rede desta máquina'],
  [
    /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    'o ADN não aceitou a conexão no prazo; se isso persiste, confira a porta do endereço e o firewall',
  ],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/, 'não há rota até o ADN; confira a rede desta máquina'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'o certificado do servidor do ADN é de outro nome; confira o endereço (--adn)'],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    'o certificado do servidor do ADN está fora da validade; confira também o relógio desta máquina',
  ],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNEXPECTED_MESSAGE|^HPE_/, NOT_TLS],
  [
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/,
    'o ADN e este serviço não têm versão de TLS em comum; aqui se fala TLS 1.2 ou 1.3',
  ],
  [
    /CERT|ISSUER|SIGNATURE|^INVALID_PURPOSE$/,
    'o certificado do servidor do ADN não vem de uma autoridade aceita; confira o arquivo de autoridades (--adn-ca)',
  ],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, 'o ADN não respondeu no prazo'],
  [/^UND_ERR_(CLOSED|DESTROYED)$/, 'o serviço está encerrando'],
];

/** `isAnswered`: an answer had begun, which no server gives to a certificate that it refuses. */
function outcomeOf(error: unknown, isSent: boolean, isAnswered: boolean): Outcome {
  const code = codeOf(error);
  if (CERTIFICATE_ALERT.test(code)) {
    return { kind: 'barred', code, why: 'o ADN recusou o certificado do município ao abrir a conexão' };
  }
  const why = isAnswered
    ? 'o ADN interrompeu a resposta no meio'
    : (WHYS.find(([pattern]) => pattern.test(code))?.[1] ?? 'a conexão com o ADN falhou');
  return isSent ? { kind: 'lost', code, why } : { kind: 'unsent', code, why, isUnreachable: UNREACHABLE.test(code) };
}

/** The code of an error in the program; its text may quote personal data. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,80}$/.test(code) ? code : 'ERROR';
}

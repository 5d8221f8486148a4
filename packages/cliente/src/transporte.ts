/**
 * One HTTP exchange, by `fetch`; or by `node:https` when the connection shows a certificate or trusts a given
 * authority. Nothing is repeated or redirected, and an answer has a size limit.
 */
import { subscribe } from 'node:diagnostics_channel';
import { Agent, request } from 'node:https';

/** O que se envia. */
type Pedido = {
  readonly metodo: string;
  readonly url: string;
  readonly cabecalhos: Readonly<Record<string, string>>;
  readonly corpo: Uint8Array | undefined;
  /** Octets of the longest answer, unless it is the usual limit. */
  readonly respostaMax?: number | undefined;
  readonly signal: AbortSignal;
};

/** O que voltou. */
export type Resposta = { readonly status: number; readonly cabecalhos: Headers; readonly corpo: Uint8Array };

/** Uma ida e volta; rejeita quando não há resposta inteira. */
export type Transporte = (pedido: Pedido) => Promise<Resposta>;

/** A note has about ten KiB, and a page of a catalog about a hundred. The longest answer besides files is the list of codes. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Uma resposta que passa do limite: não é deste serviço. */
export class RespostaLonga extends Error {}

/** Errors of a connection that was never established: no octet of their requests was sent, under any code. */
const UNCONNECTED = new WeakSet<object>();

// fetch hides how far a request came; undici below it publishes that here.
subscribe('undici:client:connectError', (message) => {
  const { error } = message as { readonly error?: unknown };
  if (error instanceof Error) UNCONNECTED.add(error);
});

/** Por `fetch`, a da plataforma ou a que se der. */
export function porFetch(fetcher: typeof fetch): Transporte {
  return async ({ metodo, url, cabecalhos, corpo, respostaMax, signal }) => {
    const response = await fetcher(url, {
      method: metodo,
      headers: cabecalhos,
      // A redirected POST would become a GET, or be made twice.
      redirect: 'manual',
      signal,
      ...(corpo === undefined ? {} : { body: corpo as Uint8Array<ArrayBuffer> }),
    });
    const take = collectAnswer(respostaMax);
    for await (const chunk of response.body ?? []) take(chunk);
    return { status: response.status, cabecalhos: response.headers, corpo: take() };
  };
}

/** Em PEM. */
export type Tls = {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
};

/** Por TLS mostrando um certificado, ou confiando só em `ca`. */
export function porTls({ ca, cert, key }: Tls): Transporte {
  const agent = new Agent({ keepAlive: true, ca, cert, key });
  return ({ metodo, url, cabecalhos, corpo, respostaMax, signal }) =>
    new Promise((resolve, reject) => {
      let isConnected = false;
      const length = corpo === undefined ? {} : { 'Content-Length': String(corpo.length) };
      const sending = request(
        url,
        { agent, method: metodo, headers: { ...cabecalhos, ...length }, signal },
        (answer) => {
          const take = collectAnswer(respostaMax);
          answer.on('error', reject);
          answer.on('data', (chunk: Uint8Array) => {
            try {
              take(chunk);
            } catch (error) {
              sending.destroy(error as Error);
            }
          });
          answer.on('end', () => {
            const pairs = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
              values.map((value): [string, string] => [name, value]),
            );
            resolve({ status: answer.statusCode ?? 0, cabecalhos: new Headers(pairs), corpo: take() });
          });
        },
      );
      sending.on('socket', (socket) => {
        // Data written before the end of the handshake stays here.
        if (sending.reusedSocket) isConnected = true;
        else socket.once('secureConnect', () => (isConnected = true));
      });
      sending.on('error', (error) => {
        if (!isConnected) UNCONNECTED.add(error);
        reject(error);
      });
      sending.end(corpo);
    });
}

/** Collects an answer piece by piece, and returns the whole of it. */
function collectAnswer(max = ANSWER_BYTES_MAX): (chunk?: Uint8Array) => Uint8Array {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return (chunk) => {
    if (chunk === undefined) return Buffer.concat(chunks);
    size += chunk.length;
    if (size > max) throw new RespostaLonga(`a resposta passa de ${max / 1024 / 1024} MiB`);
    chunks.push(chunk);
    return chunk;
  };
}

/** Codes of a foreign `fetch` for a request of which no octet was sent. */
const BEFORE_SENDING: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** An error and its chain of causes: fetch puts the reason in the cause. */
function* causesOf(error: unknown): Iterable<Error> {
  for (let one = error; one instanceof Error; one = one.cause) yield one;
}

/** O código do sistema para o que deu errado na rede, onde há. */
export function codigoDaFalha(error: unknown): string | undefined {
  for (const one of causesOf(error)) {
    const { code } = one as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

/** Uma porta com que a `fetch` não fala, o que ela diz sem código. */
export function isPortaProibida(error: unknown): boolean {
  return [...causesOf(error)].some(({ message }) => message === 'bad port');
}

/** Quem atendeu não fala TLS; o código disso depende de quem pergunta. */
export function isSemTls(error: unknown): boolean {
  return [...causesOf(error)].some(({ message }) => message.includes('wrong version number'));
}

/** Se a requisição certamente não saiu. */
export function naoSaiu(error: unknown): boolean {
  const hasCode = BEFORE_SENDING.has(codigoDaFalha(error) ?? '');
  return hasCode || isPortaProibida(error) || [...causesOf(error)].some((one) => UNCONNECTED.has(one));
}

/**
 * One HTTP exchange, by `fetch`; or by `node:https` where the connection shows a certificate or trusts an authority of its own,
 * which `fetch` cannot. Nothing is repeated here, nothing is followed, and an answer has a limit.
 */
import { Agent, request } from 'node:https';

/** O que se envia. */
export type Pedido = {
  readonly metodo: string;
  readonly url: string;
  readonly cabecalhos: Readonly<Record<string, string>>;
  readonly corpo: Uint8Array | undefined;
  readonly signal: AbortSignal;
};

/** O que voltou. */
export type Resposta = { readonly status: number; readonly cabecalhos: Headers; readonly corpo: Uint8Array };

/** Uma ida e volta; rejeita quando não há resposta inteira. */
export type Transporte = (pedido: Pedido) => Promise<Resposta>;

/** A note has some ten KiB, a page of a catalog some hundred; the list of all codes is the longest answer. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

class TooLong extends Error {}

/** Por `fetch`, a da plataforma ou a que se der. */
export function porFetch(fetcher: typeof fetch): Transporte {
  return async ({ metodo, url, cabecalhos, corpo, signal }) => {
    const response = await fetcher(url, {
      method: metodo,
      headers: cabecalhos,
      // A POST that is sent on would become a GET, or be made twice.
      redirect: 'manual',
      signal,
      ...(corpo === undefined ? {} : { body: corpo as Uint8Array<ArrayBuffer> }),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) limited(chunks, chunk);
    return { status: response.status, cabecalhos: response.headers, corpo: Buffer.concat(chunks) };
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
  return ({ metodo, url, cabecalhos, corpo, signal }) =>
    new Promise((resolve, reject) => {
      const length = corpo === undefined ? {} : { 'Content-Length': String(corpo.length) };
      const sending = request(
        url,
        { agent, method: metodo, headers: { ...cabecalhos, ...length }, signal },
        (answer) => {
          const chunks: Uint8Array[] = [];
          answer.on('error', reject);
          answer.on('data', (chunk: Uint8Array) => {
            try {
              limited(chunks, chunk);
            } catch (error) {
              sending.destroy(error as Error);
            }
          });
          answer.on('end', () => {
            const pairs = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
              values.map((value): [string, string] => [name, value]),
            );
            resolve({ status: answer.statusCode ?? 0, cabecalhos: new Headers(pairs), corpo: Buffer.concat(chunks) });
          });
        },
      );
      sending.on('error', reject);
      sending.end(corpo);
    });
}

function limited(chunks: Uint8Array[], chunk: Uint8Array): void {
  chunks.push(chunk);
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  if (size > ANSWER_BYTES_MAX) throw new TooLong(`a resposta passa de ${ANSWER_BYTES_MAX} bytes`);
}

/** What happens before the first octet of a request is sent: there, surely nothing was done. */
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

/** O código do sistema para o que deu errado na rede, onde há. */
export function codigoDaFalha(error: unknown): string | undefined {
  // fetch tells why in the cause of its error.
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

/** Se a requisição certamente não saiu. */
export function naoSaiu(error: unknown): boolean {
  // fetch has ports to which it does not speak, and says so without a code.
  const isBadPort = error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port';
  return isBadPort || BEFORE_SENDING.has(codigoDaFalha(error) ?? '');
}

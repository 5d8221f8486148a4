/**
 * The certificate of a client in a header of the proxy that ended its TLS connection. One form is PEM in URL encoding (nginx
 * `$ssl_client_escaped_cert`, the balancers of AWS). Another is Base64 of the DER, between colons (RFC 9440, `Client-Cert`) or bare
 * (HAProxy, Traefik). The third is one element of Envoy's `X-Forwarded-Client-Cert`.
 *
 * A value with a comma outside Envoy's quotes is refused. Two proxies, or a proxy and its caller, may have written it, and the first
 * certificate may be either's. The door decides whether the header can be trusted.
 */
import { attempt } from './attempt.ts';
import { type Certificate, type CertificateProblem, pemBlocks, readCertificate } from './certificate.ts';

/** The client's own certificate first, then the others in the header. */
export type HeaderCertificates = { readonly certificates: readonly [Certificate, ...Certificate[]] };

/** A chain of ICP-Brasil has four certificates, and all headers together have 32 KiB. */
const BLOCKS_MAX = 8;

/** The form is `By=…;Hash=…;Cert="…";Subject="…"`: names, and values that hold a comma or semicolon only between quotes. */
const ENVOY = /^(?:[A-Za-z]+=(?:"(?:[^"\\]|\\.)*"|[^",;]*)(?:;|$))+$/;
const ENVOY_CERT = /(?:^|;)Cert="([^"]*)"/;
const BASE64 = /^(:?)([A-Za-z0-9+/]{100,}={0,2})\1$/;

/** The certificates of a header; undefined: the proxy says that its caller showed none. */
export function certificatesOfHeader(value: string): HeaderCertificates | CertificateProblem | undefined {
  const text = value.trim();
  if (text === '') return undefined;
  if (ENVOY.test(text)) {
    const certificate = ENVOY_CERT.exec(text)?.[1];
    return certificate === undefined ? undefined : readPem(certificate);
  }
  const base64 = BASE64.exec(text)?.[2];
  if (base64 !== undefined) return readCertificates([Buffer.from(base64, 'base64')]);
  if (text.includes(',')) {
    return {
      problem: 'O cabeçalho traz mais de um valor: o proxy precisa substituir o que vem de fora, não acrescentar.',
    };
  }
  return readPem(text);
}

function readPem(text: string): HeaderCertificates | CertificateProblem {
  const pem = attempt(() => decodeURIComponent(text));
  if (pem === undefined) return { problem: 'O cabeçalho não está em codificação de URL (%XX).' };
  const blocks = pemBlocks(pem, 'CERTIFICATE');
  return blocks.length === 0
    ? { problem: 'O cabeçalho não traz um certificado em PEM (codificado para URL) nem em Base64.' }
    : readCertificates(blocks.slice(0, BLOCKS_MAX));
}

function readCertificates(ders: readonly Buffer[]): HeaderCertificates | CertificateProblem {
  const certificates: Certificate[] = [];
  for (const der of ders) {
    const certificate = readCertificate(der);
    if (!('problem' in certificate)) certificates.push(certificate);
    // Only the first must be readable: it is the client's own.
    else if (certificates.length === 0) return certificate;
  }
  const [first, ...others] = certificates;
  return { certificates: [first!, ...others] };
}

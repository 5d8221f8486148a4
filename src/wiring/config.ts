/**
 * What the environment says, read once at start and checked: a wrong setting is told in Portuguese with the way to
 * mend it, before anything is opened. Nobody else reads `process.env`.
 */

import { BlockList, isIP } from 'node:net';
import { DRAIN_DEFAULT_S } from '../doors/rest/end-in-order.ts';

export type Config = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** A PostgreSQL of the municipality's own; absent: the embedded one under {@link dataDir}. */
  readonly databaseUrl: string | undefined;
  /** Public address of the service where it stands behind a proxy. */
  readonly baseUrl: string | undefined;
  readonly trustProxy: boolean;
  /** Certificate and key of the service's own TLS, files in PEM; undefined: plain HTTP. */
  readonly tls: { readonly certificado: string; readonly chave: string } | undefined;
  /** Header in which a proxy writes the certificate of its client, in lower case, and the proxies that are believed. */
  readonly certificateHeader: { readonly name: string; readonly proxies: BlockList } | undefined;
  /** How long after a SIGTERM new connections are still served, in milliseconds. */
  readonly drainMs: number;
  readonly logLevel: string;
};

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'];

/** A setting that cannot be used; the message is for the operator. */
export class ConfigError extends Error {}

/** `isTerminal`: a person is looking, and the log of every request would hide the addresses from them. */
export function readConfig(env: NodeJS.ProcessEnv, isTerminal: boolean): Config {
  return {
    host: env.NFSE_HOST || '127.0.0.1',
    port: portOf(env.PORT || String(PORT_DEFAULT)),
    dataDir: env.NFSE_DATA_DIR || './data',
    databaseUrl: urlOf('DATABASE_URL', env.DATABASE_URL, ['postgres:', 'postgresql:']),
    baseUrl: urlOf('NFSE_BASE_URL', env.NFSE_BASE_URL, ['http:', 'https:'])?.replace(/\/+$/, ''),
    trustProxy: flagOf('NFSE_TRUST_PROXY', env.NFSE_TRUST_PROXY),
    tls: tlsOf(env.NFSE_TLS_CERTIFICADO, env.NFSE_TLS_CHAVE),
    certificateHeader: certificateHeaderOf(env.NFSE_CLIENT_CERT_HEADER, env.NFSE_CLIENT_CERT_PROXIES),
    drainMs: 1_000 * secondsOf('NFSE_ESPERA_AO_ENCERRAR', env.NFSE_ESPERA_AO_ENCERRAR || String(DRAIN_DEFAULT_S)),
    logLevel: levelOf(env.NFSE_LOG_LEVEL || (isTerminal ? 'warn' : 'info')),
  };
}

/** Where a service with these settings answers on this machine. A free port is known to the service alone: then the usual one. */
export function serviceUrlOf({ host, port, baseUrl, tls }: Config): string {
  // A certificate is for the public name.
  if (tls !== undefined && baseUrl !== undefined) return baseUrl;
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const name = isIP(own) === 6 ? `[${own}]` : own;
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port === 0 ? PORT_DEFAULT : port}`;
}

const PORT_DEFAULT = 8080;
const DRAIN_MAX_S = 600;

function secondsOf(name: string, text: string): number {
  const seconds = Number(text);
  if (/^\d{1,3}$/.test(text) && seconds <= DRAIN_MAX_S) return seconds;
  throw new ConfigError(`${name}=${text} não serve. Use um número de segundos, de 0 a ${DRAIN_MAX_S}.`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigError(`PORT=${text} não é uma porta. Use um número de 0 a 65535; 0 escolhe uma livre.`);
}

function urlOf(name: string, text: string | undefined, protocols: readonly string[]): string | undefined {
  if (text === undefined || text === '') return undefined;
  const example =
    protocols[0] === 'postgres:' ? 'postgres://usuario:senha@host:5432/banco' : 'https://nfse.exemplo.gov.br';
  // The text itself is not repeated: it may hold a password.
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
    throw new ConfigError(`${name} não é um endereço válido. Exemplo: ${example}`);
  }
  return text;
}

function flagOf(name: string, text: string | undefined): boolean {
  if (text === undefined || text === '' || text === '0' || text === 'nao') return false;
  if (text === '1' || text === 'sim') return true;
  throw new ConfigError(`${name}=${text} não é reconhecido. Use 1 ou 0.`);
}

function tlsOf(certificado: string | undefined, chave: string | undefined): Config['tls'] {
  if (!certificado && !chave) return undefined;
  if (!certificado)
    throw new ConfigError('NFSE_TLS_CHAVE veio sem NFSE_TLS_CERTIFICADO, o certificado que é par dela.');
  if (!chave) throw new ConfigError('NFSE_TLS_CERTIFICADO veio sem NFSE_TLS_CHAVE, a chave privada que é par dele.');
  return { certificado, chave };
}

/** Who writes the header where nothing is said: a proxy on the same machine. */
const PROXIES_DEFAULT = '127.0.0.1,::1';
const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;

function certificateHeaderOf(name: string | undefined, proxies: string | undefined): Config['certificateHeader'] {
  if (!name) {
    if (!proxies) return undefined;
    throw new ConfigError(
      'NFSE_CLIENT_CERT_PROXIES veio sem NFSE_CLIENT_CERT_HEADER, o cabeçalho que o proxy escreve.',
    );
  }
  if (!HEADER_NAME.test(name)) {
    throw new ConfigError(`NFSE_CLIENT_CERT_HEADER=${name} não é o nome de um cabeçalho. Exemplo: X-Client-Cert`);
  }
  const addresses = new BlockList();
  for (const text of (proxies || PROXIES_DEFAULT).split(',')) addProxy(addresses, text.trim());
  return { name: name.toLowerCase(), proxies: addresses };
}

/** An address, or a network as `10.0.0.0/8`. */
function addProxy(addresses: BlockList, text: string): void {
  const [address = '', bits] = text.split('/');
  const family = isIP(address);
  const max = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? max : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  // A network of everybody would let anybody say who they are.
  if (family === 0 || prefix < 1 || prefix > max) {
    throw new ConfigError(
      `NFSE_CLIENT_CERT_PROXIES: "${text}" não é um endereço IP nem uma rede. Exemplo: 127.0.0.1,10.0.0.0/8`,
    );
  }
  addresses.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4');
}

function levelOf(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new ConfigError(`NFSE_LOG_LEVEL=${text} não existe. Use um de: ${LOG_LEVELS.join(', ')}.`);
}

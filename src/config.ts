/**
 * What the environment says, read once at start and checked: a wrong setting is told in Portuguese with the way to
 * mend it, before anything is opened. Nobody else reads `process.env`.
 */

export type Config = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** A PostgreSQL of the municipality's own; absent: the embedded one under {@link dataDir}. */
  readonly databaseUrl: string | undefined;
  /** Public address of the service where it stands behind a proxy. */
  readonly baseUrl: string | undefined;
  readonly trustProxy: boolean;
  readonly logLevel: string;
};

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'];

/** A setting that cannot be used; the message is for the operator. */
export class ConfigError extends Error {}

/** `isTerminal`: a person is looking, and the log of every request would hide the addresses from them. */
export function readConfig(env: NodeJS.ProcessEnv, isTerminal: boolean): Config {
  return {
    host: env.NFSE_HOST || '127.0.0.1',
    port: portOf(env.PORT || '8080'),
    dataDir: env.NFSE_DATA_DIR || './data',
    databaseUrl: urlOf('DATABASE_URL', env.DATABASE_URL, ['postgres:', 'postgresql:']),
    baseUrl: urlOf('NFSE_BASE_URL', env.NFSE_BASE_URL, ['http:', 'https:'])?.replace(/\/+$/, ''),
    trustProxy: flagOf('NFSE_TRUST_PROXY', env.NFSE_TRUST_PROXY),
    logLevel: levelOf(env.NFSE_LOG_LEVEL || (isTerminal ? 'warn' : 'info')),
  };
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

function levelOf(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new ConfigError(`NFSE_LOG_LEVEL=${text} não existe. Use um de: ${LOG_LEVELS.join(', ')}.`);
}

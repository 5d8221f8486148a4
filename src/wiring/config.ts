/** The environment, read once at start by the rows of `base/terminal/variables.ts`, before anything is opened. Nothing else reads `process.env`. */
import { type BlockList, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Bucket } from '../base/book/arquivo-s3.ts';
import type { Vigiado } from '../base/terminal/command.ts';
import type { DatabaseUrl } from '../base/terminal/database-url.ts';
import {
  ConfigError,
  PAINEL_PORT_DEFAULT,
  PORT_DEFAULT,
  VARIABLES,
  type Variable,
} from '../base/terminal/variables.ts';
import type { ProviderSettings } from '../subjects/contas/provider.ts';

export { ConfigError } from '../base/terminal/variables.ts';

export type Config = {
  readonly host: string;
  readonly port: number;
  /** An already listening socket from the service manager (systemd), in place of host and port. */
  readonly socket: number | undefined;
  readonly dataDir: string;
  /** The archive of months: a folder, by its absolute path, or a bucket with its credentials. */
  readonly arquivo: string | Bucket | undefined;
  /** The folder for copies of the database, with the file of their encryption keys. */
  readonly copias: { readonly pasta: string; readonly chave: string | undefined } | undefined;
  /** A PostgreSQL of the municipality's own; absent: the embedded one under {@link dataDir}. */
  readonly databaseUrl: DatabaseUrl | undefined;
  /** Whether that server is a PgBouncer. */
  readonly isPooled: boolean;
  /** Maximum number of connections to the database, for all processes together: for requests, and for deliveries. */
  readonly connections: { readonly serving: number; readonly transmitting: number };
  /** Public address of the service behind a proxy, without a trailing slash. */
  readonly baseUrl: string | undefined;
  /** Address for reports of security flaws. */
  readonly securityContact: string | undefined;
  readonly trustProxy: boolean;
  /** Certificate and key of the service's own TLS, files in PEM; undefined: plain HTTP. */
  readonly tls: { readonly certificado: string; readonly chave: string } | undefined;
  /** Header in which a proxy writes the certificate of its client, in lower case, and the trusted proxies. */
  readonly certificateHeader: { readonly name: string; readonly proxies: BlockList } | undefined;
  /** The console; port 0: there is none. `url`: the origin of its address, if it is not this machine's. */
  readonly painel: {
    readonly host: string;
    readonly port: number;
    readonly url: string | undefined;
    readonly provider: ProviderSettings | undefined;
  };
  /** The port for the monitoring of `nfse transmitir`, on the host of the console; 0: none. */
  readonly transmitterPort: number;
  readonly vigiaPort: number;
  /** Networks that may monitor the service, besides this machine. */
  readonly vigias: BlockList | undefined;
  /** Whether webhooks may also go to addresses of the own network, and without TLS. */
  readonly privateAvisos: boolean;
  /** The time after a SIGTERM in which new connections are still served, in milliseconds. */
  readonly drainMs: number;
  /** The number of processes that answer requests; 1: this one. */
  readonly processes: number;
  readonly logLevel: string;
  /** The collector of traces; the SDK reads its other settings itself; undefined: no traces. */
  readonly traces: { readonly collector: string; readonly serviceName: string } | undefined;
};

type Name = keyof typeof VARIABLES;
type Row<Each extends Name> = (typeof VARIABLES)[Each];
/** Undefined for an unset variable without a default value. */
type Read<Each extends Name> =
  | (Row<Each> extends Variable<infer Value> ? Value : never)
  | (Row<Each> extends { readonly usual: string } ? never : undefined);

/** The settings in the environment of this process, equal to those that the starting program read. */
export function readOwnConfig(): Config {
  return readConfig(process.env, process.stdout.isTTY === true);
}

/** `isTerminal`: a person reads the output, and a log of every request would hide the addresses. */
export function readConfig(env: NodeJS.ProcessEnv, isTerminal: boolean): Config {
  /** An empty variable counts as unset. */
  const read = <Each extends Name>(name: Each): Read<Each> => {
    const { usual, parse }: Variable<unknown> = VARIABLES[name];
    const text = env[name] || usual;
    return (text === undefined ? undefined : parse(text, name)) as Read<Each>;
  };
  return {
    host: read('NFSE_HOST'),
    port: read('PORT'),
    socket: inheritedSocket(env),
    dataDir: read('NFSE_DATA_DIR'),
    arquivo: bucketOf(read('NFSE_ARQUIVO'), {
      endpoint: read('AWS_ENDPOINT_URL_S3'),
      regiao: read('AWS_REGION'),
      chave: read('AWS_ACCESS_KEY_ID'),
      segredo: read('AWS_SECRET_ACCESS_KEY'),
      sessao: read('AWS_SESSION_TOKEN'),
    }),
    copias: copiasOf(read('NFSE_COPIAS'), read('NFSE_COPIAS_CHAVE'), read('NFSE_DATA_DIR')),
    databaseUrl: read('DATABASE_URL'),
    isPooled: read('NFSE_PGBOUNCER') ?? false,
    connections: { serving: read('NFSE_CONEXOES'), transmitting: read('NFSE_CONEXOES_TRANSMISSAO') },
    baseUrl: read('NFSE_BASE_URL')?.replace(/\/+$/, ''),
    securityContact: read('NFSE_CONTATO_SEGURANCA'),
    trustProxy: read('NFSE_TRUST_PROXY') ?? false,
    tls: tlsOf(read('NFSE_TLS_CERTIFICADO'), read('NFSE_TLS_CHAVE')),
    certificateHeader: certificateHeaderOf(read('NFSE_CLIENT_CERT_HEADER'), env['NFSE_CLIENT_CERT_PROXIES'], () =>
      read('NFSE_CLIENT_CERT_PROXIES'),
    ),
    painel: {
      host: read('NFSE_PAINEL_HOST'),
      port: read('NFSE_PAINEL_PORTA'),
      url: read('NFSE_PAINEL_URL'),
      provider: providerOf(read('NFSE_OIDC_EMISSOR'), read('NFSE_OIDC_CLIENTE'), read('NFSE_OIDC_SEGREDO')),
    },
    transmitterPort: read('NFSE_TRANSMITIR_PORTA'),
    vigiaPort: read('NFSE_VIGIA_PORTA'),
    vigias: read('NFSE_VIGIA_REDES'),
    privateAvisos: read('NFSE_AVISOS_PRIVADOS') ?? false,
    processes: read('NFSE_PROCESSOS') ?? processesFor(availableParallelism()),
    drainMs: 1_000 * read('NFSE_ESPERA_AO_ENCERRAR'),
    traces: tracesOf(read('OTEL_EXPORTER_OTLP_ENDPOINT'), () => {
      for (const name of READ_BY_THE_SDK) read(name);
      return read('OTEL_SERVICE_NAME');
    }),
    logLevel: isTerminal && !env['NFSE_LOG_LEVEL'] ? 'warn' : read('NFSE_LOG_LEVEL'),
  };
}

/** The first passed socket (sd_listen_fds(3)). */
const FIRST_SOCKET = 3;

/** The socket was passed to this process, or to `bin/nfse`, which started it and passes the socket on. */
function inheritedSocket({ LISTEN_PID, LISTEN_FDS }: NodeJS.ProcessEnv): number | undefined {
  if (!LISTEN_FDS || ![process.pid, process.ppid].includes(Number(LISTEN_PID))) return undefined;
  if (LISTEN_FDS === '1') return FIRST_SOCKET;
  throw new ConfigError(
    `o systemd entregou ${LISTEN_FDS} sockets (LISTEN_FDS), e o serviço escuta num só: deixe um ListenStream= na unidade .socket.`,
  );
}

/** Wrong values are reported; nothing reads these variables without a collector. */
const READ_BY_THE_SDK = ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'] as const;

function tracesOf(collector: string | undefined, readRest: () => string): Config['traces'] {
  return collector === undefined ? undefined : { collector, serviceName: readRest() };
}

const PROCESSES_MAX = 4;

/** One process keeps two cores busy: one issues, and the other signs, sends and runs the database. */
export function processesFor(cores: number): number {
  return Math.min(PROCESSES_MAX, Math.max(1, Math.floor(cores / 2)));
}

/** The address of a service with these settings on this machine. Only the service itself knows a free port: the default one is assumed. */
export function serviceUrlOf({ host, port, baseUrl, tls }: Config): string {
  // A certificate is valid for the public name.
  if (tls !== undefined && baseUrl !== undefined) return baseUrl;
  return localUrlOf(host, port === 0 ? PORT_DEFAULT : port, tls !== undefined);
}

/** The address of the console for people. A passkey belongs to a name, not to an IP address. */
export function painelUrlOf({ painel: { port, url }, tls }: Config): string {
  return url ?? `${tls === undefined ? 'http' : 'https'}://localhost:${port === 0 ? PAINEL_PORT_DEFAULT : port}`;
}

/** The folder of the certificates that come by the console, of all municipalities. */
export function locateCertificados({ dataDir }: Config): string {
  return path.resolve(dataDir, 'certificados');
}

/** The monitoring address of the service, or of `nfse transmitir`, on this machine; undefined: the listener is off. */
export function vigiaUrlOf({ painel, vigiaPort, transmitterPort, tls }: Config, quem: Vigiado): string | undefined {
  const port = quem === 'servico' ? vigiaPort : transmitterPort;
  return port === 0 || (quem === 'servico' && painel.port === 0)
    ? undefined
    : localUrlOf(painel.host, port, tls !== undefined);
}

function localUrlOf(host: string, port: number, isTls: boolean): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${isTls ? 'https' : 'http'}://${isIP(own) === 6 ? `[${own}]` : own}:${port}`;
}

type Access = Pick<Bucket, 'regiao' | 'sessao'> &
  Readonly<Record<'endpoint' | 'chave' | 'segredo', string | undefined>>;

function bucketOf(lugar: Read<'NFSE_ARQUIVO'>, { endpoint, chave, segredo, ...access }: Access): Config['arquivo'] {
  if (lugar === undefined || typeof lugar === 'string') return lugar;
  if (chave === undefined || segredo === undefined) {
    throw new ConfigError(
      'NFSE_ARQUIVO é um bucket: dê também AWS_ACCESS_KEY_ID e AWS_SECRET_ACCESS_KEY, que o abrem.',
    );
  }
  const usual = `https://s3.${access.regiao}.amazonaws.com`;
  return { ...lugar, ...access, chave, segredo, endpoint: (endpoint ?? usual).replace(/\/+$/, '') };
}

/** The copies would be lost together with the data. */
function copiasOf(pasta: string | undefined, chave: string | undefined, dataDir: string): Config['copias'] {
  if (pasta === undefined) {
    if (chave === undefined) return undefined;
    throw new ConfigError('NFSE_COPIAS_CHAVE veio sem NFSE_COPIAS, a pasta das cópias.');
  }
  const data = path.resolve(dataDir);
  const isWithin = (inner: string, outer: string): boolean => !path.relative(outer, inner).startsWith('..');
  if (isWithin(pasta, data) || isWithin(data, pasta)) {
    throw new ConfigError(
      `NFSE_COPIAS=${pasta} e a pasta dos dados, ${data}, estão uma na outra: perder-se-iam juntas. Escolha uma pasta em outro disco.`,
    );
  }
  return { pasta, chave };
}

function tlsOf(certificado: string | undefined, chave: string | undefined): Config['tls'] {
  if (certificado === undefined && chave === undefined) return undefined;
  if (certificado === undefined)
    throw new ConfigError('NFSE_TLS_CHAVE veio sem NFSE_TLS_CERTIFICADO, o certificado que é par dela.');
  if (chave === undefined)
    throw new ConfigError('NFSE_TLS_CERTIFICADO veio sem NFSE_TLS_CHAVE, a chave privada que é par dele.');
  return { certificado, chave };
}

function providerOf(
  emissor: string | undefined,
  cliente: string | undefined,
  segredo: string | undefined,
): ProviderSettings | undefined {
  if (emissor !== undefined && cliente !== undefined && segredo !== undefined) return { emissor, cliente, segredo };
  if (emissor === undefined && cliente === undefined && segredo === undefined) return undefined;
  throw new ConfigError(
    'Para entrar por um provedor de identidade dê os três: NFSE_OIDC_EMISSOR, NFSE_OIDC_CLIENTE e NFSE_OIDC_SEGREDO.',
  );
}

function certificateHeaderOf(
  name: string | undefined,
  named: string | undefined,
  readProxies: () => BlockList,
): Config['certificateHeader'] {
  if (name !== undefined) return { name, proxies: readProxies() };
  if (!named) return undefined;
  throw new ConfigError('NFSE_CLIENT_CERT_PROXIES veio sem NFSE_CLIENT_CERT_HEADER, o cabeçalho que o proxy escreve.');
}

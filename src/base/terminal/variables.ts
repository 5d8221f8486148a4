/**
 * The environment variables of the service, one row each: its meaning, its default, and the reader of its text. The settings of
 * `wiring/config.ts`, `nfse --help` and the operator's page are derived from these rows. The message about a wrong text is in Portuguese,
 * with the remedy.
 */
import { BlockList, isIP } from 'node:net';
import path from 'node:path';
import { DRAIN_DEFAULT_S } from '../../published/http-limits.ts';
import { type DatabaseUrl, readDatabaseUrl } from './database-url.ts';

/** A setting that cannot be used; the message is for the operator. */
export class ConfigError extends Error {}

export type Variable<Value> = {
  readonly help: string;
  /** The default, as text. */
  readonly usual?: string;
  /** Further information about its values. */
  readonly more?: string;
  /** Content that a diagnostic file shows: the value, or the origin of an address. Undefined: only whether it is set. */
  readonly shows?: 'valor' | 'origem';
  /** Throws a {@link ConfigError}. `name`: of the variable. */
  readonly parse: (text: string, name: string) => Value;
  /** The value is secret; the result may be shown instead. */
  mask?(value: Value): string;
};

const asIs = (text: string): string => text;
const hide = (): string => '(oculto)';

const SAMPLERS = [
  ...['parentbased_always_on', 'parentbased_traceidratio', 'parentbased_always_off'],
  ...['always_on', 'traceidratio', 'always_off'],
];
const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'];

export const PORT_DEFAULT = 8080;
export const PAINEL_PORT_DEFAULT = 8081;
const VIGIA_PORT_DEFAULT = 8083;

/**
 * Default number of connections of a part of the service. Issuances and deliveries of a tenant use one at a time, and readings use others.
 */
const CONNECTIONS_DEFAULT = 12;

export const VARIABLES = {
  PORT: {
    help: 'porta do serviço',
    usual: String(PORT_DEFAULT),
    more: '0 escolhe uma livre',
    shows: 'valor',
    parse: portOf,
  },
  NFSE_HOST: { help: 'endereço em que escuta', usual: '127.0.0.1', parse: asIs },
  NFSE_DATA_DIR: {
    help: 'pasta dos dados do PostgreSQL embutido, da chave da auditoria (auditoria.chave) e dos certificados que vêm pelo console, também com DATABASE_URL',
    usual: './data',
    parse: asIs,
  },
  NFSE_ARQUIVO: {
    help: 'onde fica o arquivo dos meses encerrados (nfse arquivo): o caminho absoluto de uma pasta, ou s3://bucket/prefixo',
    parse: arquivoOf,
  },
  AWS_ENDPOINT_URL_S3: {
    help: 'endereço do S3 desse arquivo; sem ele, o da Amazon na região',
    shows: 'origem',
    parse: urlIn(['http:', 'https:'], 'https://minio.exemplo.gov.br:9000'),
  },
  AWS_REGION: { help: 'região do S3', usual: 'us-east-1', parse: asIs },
  AWS_ACCESS_KEY_ID: { help: 'identificador da chave de acesso ao S3', parse: asIs },
  AWS_SECRET_ACCESS_KEY: { help: 'a chave secreta de acesso ao S3', parse: asIs, mask: hide },
  AWS_SESSION_TOKEN: { help: 'o que acompanha uma chave temporária do S3', parse: asIs, mask: hide },
  NFSE_COPIAS: {
    help: 'pasta das cópias do banco (nfse copia), pelo caminho absoluto; com ela o banco embutido também arquiva o WAL, para a cópia contínua',
    parse: folderOf,
  },
  NFSE_COPIAS_CHAVE: {
    help: 'arquivo com as chaves públicas do age (age1…, uma por linha) para as quais as cópias são cifradas; sem ele não são',
    parse: asIs,
  },
  DATABASE_URL: {
    help: 'um PostgreSQL seu, 15 ou mais novo, no lugar do embutido; vários servidores, com vírgula: vale o que aceita gravações',
    parse: databaseUrlOf,
    mask: ({ location }: DatabaseUrl) => `postgres://${location}`,
  },
  NFSE_PGBOUNCER: { help: '1 quando DATABASE_URL é o endereço de um PgBouncer', shows: 'valor', parse: flagOf },
  NFSE_CONEXOES: {
    help: 'conexões com o banco para atender requisições, divididas entre os processos, ao menos 2 em cada um',
    usual: String(CONNECTIONS_DEFAULT),
    shows: 'valor',
    parse: connectionsOf,
  },
  NFSE_CONEXOES_TRANSMISSAO: {
    help: 'o mesmo, para transmitir ao ADN',
    usual: String(CONNECTIONS_DEFAULT),
    shows: 'valor',
    parse: connectionsOf,
  },
  NFSE_BASE_URL: {
    help: 'endereço público, quando atrás de um proxy; sem ele as respostas trazem o do Host de cada requisição',
    shows: 'origem',
    parse: urlIn(['http:', 'https:'], 'https://nfse.exemplo.gov.br'),
  },
  NFSE_CONTATO_SEGURANCA: {
    help: 'a quem se avisa de uma falha de segurança, em /.well-known/security.txt: mailto:… ou https://…; sem ele não há esse arquivo',
    parse: contactOf,
  },
  NFSE_TRUST_PROXY: { help: '1 para confiar nos cabeçalhos X-Forwarded-* do proxy', shows: 'valor', parse: flagOf },
  NFSE_TLS_CERTIFICADO: { help: 'certificado, em PEM, com que o próprio serviço atende em https', parse: asIs },
  NFSE_TLS_CHAVE: { help: 'a chave privada desse certificado, em PEM', parse: asIs },
  NFSE_CLIENT_CERT_HEADER: {
    help: 'cabeçalho em que o proxy escreve o certificado do cliente, como X-Client-Cert',
    parse: headerOf,
  },
  NFSE_CLIENT_CERT_PROXIES: {
    help: 'endereços ou redes dos proxies em que se confia para isso',
    // The default is a proxy on the same machine.
    usual: '127.0.0.1,::1',
    parse: proxiesOf,
  },
  NFSE_PAINEL_PORTA: {
    help: 'porta do console do município; 0 o desliga',
    usual: String(PAINEL_PORT_DEFAULT),
    shows: 'valor',
    parse: portOf,
  },
  NFSE_PAINEL_HOST: { help: 'endereço em que o console escuta', usual: '127.0.0.1', parse: asIs },
  NFSE_PAINEL_URL: {
    help: 'endereço pelo qual o console é aberto, em https, quando atrás de um proxy; sem ele, http://localhost e a porta',
    shows: 'origem',
    parse: painelUrlOf,
  },
  NFSE_VIGIA_PORTA: {
    help: 'porta em que o serviço é vigiado (/metrics), no endereço de NFSE_PAINEL_HOST, enquanto há console; 0: em nenhuma. Nenhum proxy a encaminha',
    usual: String(VIGIA_PORT_DEFAULT),
    shows: 'valor',
    parse: portOf,
  },
  NFSE_VIGIA_REDES: {
    help: 'redes de onde o serviço é vigiado (/metrics), além desta máquina, como 10.0.0.5,10.1.0.0/16',
    parse: proxiesOf,
  },
  NFSE_TRANSMITIR_PORTA: {
    help: 'porta em que nfse transmitir é vigiado, no endereço de NFSE_PAINEL_HOST; 0: em nenhuma',
    usual: '0',
    shows: 'valor',
    parse: portOf,
  },
  NFSE_OIDC_EMISSOR: {
    help: 'provedor de identidade (OpenID Connect) pelo qual também se entra no console',
    shows: 'origem',
    parse: urlIn(['http:', 'https:'], 'https://sso.exemplo.gov.br/realms/prefeitura'),
  },
  NFSE_OIDC_CLIENTE: { help: 'nome do console nesse provedor (client_id)', parse: asIs },
  NFSE_OIDC_SEGREDO: { help: 'o segredo desse nome (client_secret)', parse: asIs, mask: hide },
  NFSE_AVISOS_PRIVADOS: {
    help: '1 para também avisar (webhooks) endereços da rede interna, e sem https: para desenvolver, e para um ERP na mesma rede',
    shows: 'valor',
    parse: flagOf,
  },
  NFSE_ESPERA_AO_ENCERRAR: {
    help: 'segundos em que ainda se atende depois de um SIGTERM',
    usual: String(DRAIN_DEFAULT_S),
    shows: 'valor',
    parse: secondsOf,
  },
  NFSE_PROCESSOS: {
    help: 'processos que atendem requisições; sem ele, um para cada dois núcleos, de 1 a 4',
    shows: 'valor',
    parse: processesOf,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    help: 'endereço do coletor a que se enviam os traces (OpenTelemetry, OTLP por HTTP); sem ele não há rastreamento',
    shows: 'origem',
    parse: urlIn(['http:', 'https:'], 'http://127.0.0.1:4318'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    help: 'cabeçalhos que o coletor pede, como nome=valor, com vírgula',
    parse: asIs,
    mask: hide,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    help: 'como se fala com o coletor: http/json ou http/protobuf, que aqui é o mesmo endereço, em JSON',
    usual: 'http/json',
    shows: 'valor',
    parse: oneOf(['http/json', 'http/protobuf']),
  },
  OTEL_SERVICE_NAME: { help: 'nome do serviço nos traces', usual: 'emissor-nfse', parse: asIs },
  OTEL_RESOURCE_ATTRIBUTES: {
    help: 'o que mais se diz do serviço nos traces, como nome=valor, com vírgula',
    parse: asIs,
  },
  OTEL_TRACES_SAMPLER: {
    help: `quais requisições deixam um trace: ${SAMPLERS.slice(0, -1).join(', ')} ou ${SAMPLERS.at(-1)}`,
    usual: 'parentbased_always_on',
    shows: 'valor',
    parse: oneOf(SAMPLERS),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    help: 'com traceidratio, a parte delas: 0.01 é uma em cem',
    usual: '1',
    shows: 'valor',
    parse: ratioOf,
  },
  NFSE_LOG_LEVEL: {
    help: `quanto se registra: ${LOG_LEVELS.slice(0, -1).join(', ')} ou ${LOG_LEVELS.at(-1)}`,
    usual: 'info',
    more: 'warn num terminal',
    shows: 'valor',
    parse: oneOf(LOG_LEVELS),
  },
} as const satisfies Readonly<Record<string, Variable<unknown>>>;

/** Each variable, its purpose and its default. */
export const VARIABLES_HELP: readonly (readonly [name: string, help: string])[] = Object.entries<Variable<unknown>>(
  VARIABLES,
).map(([name, { help, usual, more }]) => [
  name,
  usual === undefined ? help : `${help} (padrão ${usual}${more === undefined ? '' : `; ${more}`})`,
]);

/** Each variable in the form for support: no secret, no path, and only the origin of an address. */
export function describeSettings(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries<Variable<unknown>>(VARIABLES).map(([name, row]) => [name, describeSetting(row, name, env[name])]),
  );
}

function describeSetting({ usual, parse, shows }: Variable<unknown>, name: string, text: string | undefined): string {
  if (!text) return usual === undefined ? '(não definida)' : `(não definida; vale ${usual})`;
  try {
    parse(text, name);
  } catch {
    return '(definida, e não serve)';
  }
  if (shows === undefined) return '(definida)';
  return shows === 'valor' ? text : new URL(text).origin;
}

const DRAIN_MAX_S = 600;

/** A folder, or a bucket with the prefix of its names. */
function arquivoOf(text: string, name: string): string | { readonly nome: string; readonly prefixo: string } {
  if (path.isAbsolute(text)) return text;
  const [, nome, prefixo = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/([\w./-]*?)\/*)?$/.exec(text) ?? [];
  if (nome !== undefined) return { nome, prefixo };
  // The text itself is not repeated: it may contain a key of S3.
  throw new ConfigError(
    `${name} não é um caminho absoluto, nem um bucket. Exemplos: /srv/nfse-arquivo, s3://nfse-arquivo/producao`,
  );
}

function folderOf(text: string, name: string): string {
  if (path.isAbsolute(text)) return path.normalize(text);
  const told = text.includes('@') ? '' : `=${text}`;
  throw new ConfigError(`${name}${told} não é um caminho absoluto. Exemplo: /srv/nfse-copias`);
}

function secondsOf(text: string, name: string): number {
  const seconds = Number(text);
  if (/^\d{1,3}$/.test(text) && seconds <= DRAIN_MAX_S) return seconds;
  throw new ConfigError(`${name}=${text} não serve. Use um número de segundos, de 0 a ${DRAIN_MAX_S}.`);
}

/** More processes would need more connections than a database allows. */
const PROCESSES_MAX = 16;

function processesOf(text: string, name: string): number {
  const processes = Number(text);
  if (/^\d{1,2}$/.test(text) && processes >= 1 && processes <= PROCESSES_MAX) return processes;
  throw new ConfigError(`${name}=${text} não serve. Use um número de processos, de 1 a ${PROCESSES_MAX}.`);
}

/** A larger number is meant for several services. */
const CONNECTIONS_MAX = 500;

function connectionsOf(text: string, name: string): number {
  const connections = Number(text);
  if (/^\d{1,3}$/.test(text) && connections >= 1 && connections <= CONNECTIONS_MAX) return connections;
  throw new ConfigError(`${name}=${text} não serve. Use um número de conexões, de 1 a ${CONNECTIONS_MAX}.`);
}

function databaseUrlOf(text: string, name: string): DatabaseUrl {
  try {
    return readDatabaseUrl(text);
  } catch (error) {
    throw new ConfigError(`${name}${(error as Error).message}`);
  }
}

function portOf(text: string, name: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigError(`${name}=${text} não é uma porta. Use um número de 0 a 65535; 0 escolhe uma livre.`);
}

/** An origin for which browsers keep the cookie. */
function painelUrlOf(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === 'localhost');
  if (url !== undefined && isSafe && url.pathname === '/' && url.search === '' && url.username === '')
    return url.origin;
  throw new ConfigError(
    `${name} não é um endereço em https, sem caminho. Exemplo: https://painel.exemplo.gov.br (só localhost pode ser http: o navegador não guarda a sessão de outro).`,
  );
}

function urlIn(protocols: readonly string[], example: string) {
  return (text: string, name: string): string => {
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    // The text itself is not repeated: it may hold a password.
    throw new ConfigError(`${name} não é um endereço válido. Exemplo: ${example}`);
  };
}

/** The text stands in a line of a file of its own. */
function contactOf(text: string, name: string): string {
  if (/^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s/]\S*)$/.test(text) && URL.canParse(text)) return text;
  throw new ConfigError(`${name}=${text} não é reconhecido. Exemplo: mailto:seguranca@exemplo.gov.br`);
}

function flagOf(text: string, name: string): boolean {
  if (text === '0' || text === 'nao') return false;
  if (text === '1' || text === 'sim') return true;
  throw new ConfigError(`${name}=${text} não é reconhecido. Use 1 ou 0.`);
}

function headerOf(text: string, name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(text)) return text.toLowerCase();
  throw new ConfigError(`${name}=${text} não é o nome de um cabeçalho. Exemplo: X-Client-Cert`);
}

function proxiesOf(text: string, name: string): BlockList {
  const addresses = new BlockList();
  for (const one of text.split(',')) addProxy(addresses, one.trim(), name);
  return addresses;
}

/** An address, or a network such as `10.0.0.0/8`. */
function addProxy(addresses: BlockList, text: string, name: string): void {
  const [address = '', bits] = text.split('/');
  const family = isIP(address);
  const max = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? max : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  // A network of all addresses would let anybody claim any identity.
  if (family === 0 || prefix < 1 || prefix > max) {
    throw new ConfigError(`${name}: "${text}" não é um endereço IP nem uma rede. Exemplo: 127.0.0.1,10.0.0.0/8`);
  }
  addresses.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4');
}

function oneOf(words: readonly string[]) {
  return (text: string, name: string): string => {
    if (words.includes(text)) return text;
    throw new ConfigError(`${name}=${text} não existe. Use um de: ${words.join(', ')}.`);
  };
}

function ratioOf(text: string, name: string): number {
  const ratio = Number(text);
  if (/^[\d.]+$/.test(text) && ratio <= 1) return ratio;
  throw new ConfigError(`${name}=${text} não serve. Use um número de 0 a 1, como 0.01.`);
}

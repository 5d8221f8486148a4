/**
 * `DATABASE_URL` in the form of libpq, with one server or several: `postgres://u:p@h1:5432,h2:5432/banco?target_session_attrs=read-write`.
 * Messages about a wrong address never repeat it, since it may hold a password.
 */

/** A database on one server, or on one of several. */
export type DatabaseUrl = {
  /** Servers and database, for the operator; without user and password. */
  readonly location: string;
  /** One entry for each server. `name`: as `host:port`. */
  readonly servers: readonly { readonly name: string; readonly connectionString: string }[];
  /** Session settings of the operator besides ours, such as `-c work_mem=8MB`. */
  readonly options: string | undefined;
};

const SEVERAL = 'postgres://usuario:senha@h1:5432,h2:5432/banco?target_session_attrs=read-write';
const ESCAPES = 'Na senha, escreva : / ? # @ e a vírgula como %3A %2F %3F %23 %40 %2C.';
const INVALID = ` não é um endereço válido. ${ESCAPES} Exemplo: postgres://usuario:senha@host:5432/banco`;
const PORT_DEFAULT = 5432;

/** The parts of an address whose hosts may be a list: user, hosts, path and query. */
const PARTS =
  /^(?<before>postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#@]*)(?<path>\/[^?#@]*)?(?:\?(?<query>[^#]*))?$/;

/** A server among several: a name, an IPv4, an IPv6 in brackets or the folder of a socket with %2F, and a port. */
const SERVER = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::(?<port>\d{1,5}))?$/;

/**
 * The libpq parameter that selects one of several servers, and its allowed values. The service always selects the one that accepts writes.
 */
const WANTED = 'target_session_attrs';
const WRITES = ['read-write', 'primary'];

/** Reads the text. Throws its fault in Portuguese, as a text that follows the name of the variable. */
export function readDatabaseUrl(text: string): DatabaseUrl {
  const { before, hosts, path = '', query } = PARTS.exec(text)?.groups ?? {};
  if (before === undefined || hosts === undefined) throw new Error(INVALID);
  const all = hosts.split(',');
  if (all.length > 1) checkServers(all);
  const after = `${path}${withoutOptions(query)}`;
  const servers = all.map((host) => ({ name: nameOf(host), connectionString: `${before}${host}${after}` }));
  if (!servers.every(({ connectionString }) => URL.canParse(connectionString))) throw new Error(INVALID);
  const asked = new URLSearchParams(query);
  checkQuery(asked, all.length > 1);
  return { location: `${hosts}${path}`, servers, options: asked.get('options') ?? undefined };
}

/** Removes `options` from the address, where they would replace ours. */
function withoutOptions(query: string | undefined): string {
  const others = query?.split('&').filter((one) => !one.startsWith('options=')) ?? [];
  return others.length === 0 ? '' : `?${others.join('&')}`;
}

function checkServers(all: readonly string[]): void {
  for (const [place, text] of all.entries()) {
    const { host, port = PORT_DEFAULT } = SERVER.exec(text)?.groups ?? {};
    if (host !== undefined && Number(port) > 0 && Number(port) <= 65_535) continue;
    throw new Error(` lista servidores, e o ${place + 1}.º não é nome:porta. ${ESCAPES} Exemplo: ${SEVERAL}`);
  }
}

function checkQuery(query: URLSearchParams, isList: boolean): void {
  const wanted = query.get(WANTED);
  if (wanted !== null && !WRITES.includes(wanted))
    throw new Error(` pede um ${WANTED} que não serve, porque o serviço grava. Use ${WANTED}=read-write, ou retire-o.`);
  const named = ['host', 'port'].filter((name) => query.has(name));
  if (isList ? named.length > 0 : named.some((name) => query.get(name)!.includes(',')))
    throw new Error(` diz servidores em ${named[0]}=. Diga todos antes do nome do banco. Exemplo: ${SEVERAL}`);
}

function nameOf(text: string): string {
  const { host = text, port = PORT_DEFAULT } = SERVER.exec(text)?.groups ?? {};
  return `${decodeURIComponent(host)}:${port}`;
}

/**
 * Sends one message to an address that a user has chosen, in the turn of its host (`destinos.ts`). It must not reach the internal network.
 * Names are resolved here, an address that is not public is refused before a connection, and redirects are not followed. Each name is
 * resolved by a socket of its own, so that silent name servers occupy no thread (D-780).
 */
import { lookup, Resolver } from 'node:dns/promises';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ignoring } from '../../base/traces/ignoring.ts';
import type { PedidoDeAviso, PostAviso, RespostaDeAviso } from '../../base/world/world.ts';
import { type Begun, openDestinos } from './destinos.job.ts';
import { isPublicAddress, whyNeverTold } from './enderecos.ts';
import { AVISO_RESPOSTA_S } from './tempos.ts';

/** An `import` of node:http would load the undici inside Node, which its exports name. */
const http = process.getBuiltinModule('node:http');

class NotPublic extends Error {}

/** A name server that does not answer is asked twice. */
const RESOLVING = { timeout: 2_500, tries: 2 };
/** Most interim answers (1xx) that are accepted. */
const INTERIM_MAX = 5;

/** The addresses of a name. A name with one address that is not public is refused as a whole. */
async function resolvePublic(name: string, servers: readonly string[] | undefined) {
  const resolver = new Resolver(RESOLVING);
  if (servers !== undefined) resolver.setServers(servers);
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0) throw (four as PromiseRejectedResult).reason;
  if (!found.every(({ address }) => isPublicAddress(address))) {
    throw new NotPublic(`${name} leva a um endereço que não é público`);
  }
  return found;
}

type Found = { readonly address: string; readonly family: number };
type Resolve = (host: string) => Promise<readonly Found[]>;

/** Lifetime of a resolved name, so that a batch resolves it once. */
const FOUND_FOR_MS = 30_000;
const FOUND_MAX = 1_000;
/** Most addresses of a name that are tried. */
const ADDRESSES_MAX = 4;

/** Caches successful results; a failed name is resolved again. */
function remember(resolve: Resolve): Resolve {
  const all = new Map<string, { readonly found: Promise<readonly Found[]>; readonly until: number }>();
  return (host) => {
    const known = all.get(host);
    if (known !== undefined && performance.now() < known.until) return known.found;
    const found = resolve(host);
    all.delete(host);
    if (all.size >= FOUND_MAX) all.delete(all.keys().next().value!);
    all.set(host, { found, until: performance.now() + FOUND_FOR_MS });
    found.catch(() => all.delete(host));
    return found;
  };
}

/** The connection goes to the addresses that were checked. */
function lookupOf(found: readonly Found[]): LookupFunction {
  return (_name, options, callback) => {
    const [first] = found;
    if (options.all === true) callback(null, [...found]);
    else callback(null, first!.address, first!.family);
  };
}

/** An idle connection is kept for less time than web servers keep theirs: Node does for five seconds. */
const KEPT = { keepAlive: true, timeout: 4_000, maxFreeSockets: 4 };
/** Part of an answer that is read so that the connection can be reused, and the longest time for it. */
const BODY_MAX_BYTES = 16 * 1024;
const BODY_MAX_MS = 1_000;
/** Largest answer to a question: the value alone. */
const ECHO_MAX_BYTES = 1024;

/** Statuses by which a host as a whole refuses messages for now. */
const OF_THE_HOST = [429, 502, 503, 504];
/** Failures of the network address, for any host name there. */
const OF_THE_ADDRESS = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];

/** `isOfAddress`: no connection was made. */
type Sent = RespostaDeAviso & { readonly isOfAddress?: boolean };

type Agents = Readonly<Record<'http:' | 'https:', InstanceType<typeof http.Agent>>>;

function send(
  agents: Agents,
  url: URL,
  pedido: PedidoDeAviso,
  found: readonly Found[],
  mayRepeat = true,
): Promise<Sent> {
  const { headers, corpo, isDesafio } = pedido;
  const { promise, resolve: settle } = Promise.withResolvers<Sent>();
  let isAnswered = false;
  const isTls = url.protocol === 'https:';
  const options: https.RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'Content-Length': String(Buffer.byteLength(corpo)) },
    agent: agents[isTls ? 'https:' : 'http:'],
    lookup: lookupOf(found),
  };
  const request = (isTls ? https : http).request(url, options, (response) => {
    isAnswered = true;
    const status = response.statusCode ?? 0;
    const parts: Buffer[] = [];
    let size = 0;
    const told = (): void => {
      const text = isDesafio && size <= ECHO_MAX_BYTES ? Buffer.concat(parts).toString() : undefined;
      settle({ status, ...(text === undefined ? {} : { corpo: text }) });
    };
    if (!isDesafio) told();
    const late = setTimeout(() => request.destroy(), BODY_MAX_MS);
    response.on('data', (part: Buffer) => {
      size += part.length;
      if (isDesafio && size <= ECHO_MAX_BYTES) parts.push(part);
      if (size > BODY_MAX_BYTES) request.destroy();
    });
    response.on('close', () => {
      clearTimeout(timer);
      clearTimeout(late);
      told();
    });
    response.on('error', ignoring('the body was cut off, and `close` tells the end'));
  });
  const giveUp = (problema: string, isOfAddress = false): void => {
    clearTimeout(timer);
    settle({ problema, isOfAddress });
    request.destroy();
  };
  const timer = setTimeout(
    () => giveUp(`sem resposta em ${AVISO_RESPOSTA_S} s`, request.socket?.connecting ?? true),
    AVISO_RESPOSTA_S * 1000,
  );
  let interim = 0;
  request.on('information', () => {
    interim += 1;
    if (interim > INTERIM_MAX) giveUp('respondeu com avisos provisórios demais (1xx)');
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    // The other side may close an idle connection at any time; it did not get the message then.
    if (mayRepeat && !isAnswered && request.reusedSocket && error.code === 'ECONNRESET') {
      clearTimeout(timer);
      settle(send(agents, url, pedido, found, false));
      return;
    }
    giveUp(describe(error), OF_THE_ADDRESS.includes(error.code ?? ''));
  });
  request.end(corpo);
  return promise;
}

/** `isPrivateAllowed`: private addresses are allowed, and http too. `servers`: name servers in place of the machine's. */
export function avisoPoster({
  isPrivateAllowed,
  servers,
}: {
  readonly isPrivateAllowed: boolean;
  readonly servers?: readonly string[];
}): PostAviso {
  const agents: Agents = { 'http:': new http.Agent(KEPT), 'https:': new https.Agent(KEPT) };
  const destinos = openDestinos();
  const resolve = remember((host) => {
    if (isIP(host) !== 0) return Promise.resolve([{ address: host, family: isIP(host) }]);
    return isPrivateAllowed ? lookup(host, { all: true }) : resolvePublic(host, servers);
  });

  return async (pedido) => {
    const url = new URL(pedido.url);
    const problema = whyNeverTold(url, isPrivateAllowed);
    if (problema !== undefined) return { problema };
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // Questions are counted for the whole machine, messages and failures by port: another port is another program.
    const port = pedido.isDesafio ? '' : `:${url.port || url.protocol}`;
    const keyOf = (at: string): string => `${pedido.isEnsaio ? 'ensaio' : ''} ${at}${port}`;
    const ofHost = destinos.begin(keyOf(host), pedido);
    if ('adiadoMs' in ofHost) return ofHost;
    let found: readonly Found[];
    try {
      found = (await resolve(host)).slice(0, ADDRESSES_MAX);
    } catch (error) {
      ofHost.end('failed');
      return { problema: describe(error as NodeJS.ErrnoException) };
    }
    // The connection may go to any of the addresses.
    const ofAddresses: Begun[] = [];
    for (const { address } of found) {
      const vez = destinos.begin(`${keyOf(address)} `, pedido);
      if ('adiadoMs' in vez) {
        for (const begun of [ofHost, ...ofAddresses]) begun.takeBack(vez.adiadoMs);
        return vez;
      }
      ofAddresses.push(vez);
    }
    // A request that cannot even begin is a failure of this address alone.
    const { isOfAddress = false, ...resposta }: Sent = await Promise.resolve()
      .then(() => send(agents, url, pedido, found))
      .catch((error: NodeJS.ErrnoException) => ({ problema: describe(error) }));
    const isOfHost = 'problema' in resposta || ('status' in resposta && OF_THE_HOST.includes(resposta.status));
    ofHost.end(isOfHost ? 'failed' : 'answered');
    for (const begun of ofAddresses) begun.end(isOfAddress ? 'failed' : 'answered');
    return resposta;
  };
}

const TOLD: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'a conexão foi recusada',
  ECONNRESET: 'a conexão foi cortada',
  ENOTFOUND: 'o nome do endereço não existe',
  ENODATA: 'o nome do endereço não existe',
  EBADNAME: 'o nome do endereço não existe',
  EAI_AGAIN: 'o nome do endereço não se resolve agora',
  ETIMEOUT: 'o nome do endereço não se resolve agora',
  ESERVFAIL: 'o nome do endereço não se resolve agora',
  ETIMEDOUT: 'a conexão não se fez a tempo',
  EHOSTUNREACH: 'não há caminho até o endereço',
  ENETUNREACH: 'não há caminho até o endereço',
  CERT_HAS_EXPIRED: 'o certificado do endereço venceu',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'o certificado do endereço é assinado por ele mesmo',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'não se confia em quem assinou o certificado do endereço',
  ERR_TLS_CERT_ALTNAME_INVALID: 'o certificado do endereço é de outro nome',
};

/** The text reveals nothing of the answer, and nothing of the internal network. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof NotPublic) return 'o nome leva a um endereço que não é público';
  return TOLD[error.code ?? ''] ?? `a conexão falhou (${error.code ?? 'sem código'})`;
}

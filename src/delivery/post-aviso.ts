/**
 * Sends one message to an address that somebody else has chosen. It may lead nowhere inside: names are resolved here, an address that is
 * not public is refused before anything is sent to it, and no redirection is followed. Names are asked of the name servers by sockets of
 * their own: those whose servers never answer take no thread from anybody (D-610).
 */
import { Resolver } from 'node:dns/promises';
import https from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { AVISO_RESPOSTA_S } from '../flows/aviso-tempos.ts';
import type { PostAviso, RespostaDeAviso } from '../flows/world.ts';

/** An `import` of node:http would load the undici inside Node, which its exports name. */
const http = process.getBuiltinModule('node:http');

/**
 * Networks that are not of the public Internet (IANA special-purpose registries), and those in which others hide. An IPv4 address that is
 * written as IPv6 is compared as IPv4.
 */
const V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
];
const V6 = [
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16'],
  ...['3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
];

const INSIDE = new BlockList();
for (const [family, networks] of [['ipv4', V4] as const, ['ipv6', V6] as const]) {
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string];
    INSIDE.addSubnet(address, Number(bits), family);
  }
}

/** Whether an address of the network is one of the public Internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address.replace(/%.*$/s, ''));
  return family !== 0 && !INSIDE.check(address.replace(/%.*$/s, ''), family === 6 ? 'ipv6' : 'ipv4');
}

class NotPublic extends Error {}

/** A name server that does not answer is asked twice. */
const RESOLVING = { timeout: 2_500, tries: 2 };
/** Names of the machine itself, whatever a name server makes of them (RFC 6761). */
const OF_THE_MACHINE = /(^|\.)localhost\.?$/i;
/** Interim answers (1xx) that are listened to. */
const INTERIM_MAX = 5;

/** The addresses of a name, all of them public; one that has another besides is refused whole. */
async function resolvePublic(name: string, servers: readonly string[] | undefined) {
  const notPublic = new NotPublic(`${name} leva a um endereço que não é público`);
  if (OF_THE_MACHINE.test(name)) throw notPublic;
  const resolver = new Resolver(RESOLVING);
  if (servers !== undefined) resolver.setServers(servers);
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0) throw (four as PromiseRejectedResult).reason;
  if (!found.every(({ address }) => isPublicAddress(address))) throw notPublic;
  return found;
}

/** What a connection is made to is what was looked at: the name is resolved this once. */
function publicLookup(servers: readonly string[] | undefined): LookupFunction {
  return (name, options, callback) => {
    const tell = (error: unknown): void => callback(error as NodeJS.ErrnoException, '', 0);
    resolvePublic(name, servers).then((found) => {
      const [first] = found;
      if (options.all === true) callback(null, found);
      else callback(null, first!.address, first!.family);
    }, tell);
  };
}

/** `isPrivateAllowed`: addresses of one's own network are sent to as well, and without TLS. `servers`: of names, in place of the machine's. */
export function avisoPoster({
  isPrivateAllowed,
  servers,
}: {
  readonly isPrivateAllowed: boolean;
  readonly servers?: readonly string[];
}): PostAviso {
  return (text, headers, corpo) => {
    const url = new URL(text);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (!isPrivateAllowed) {
      if (url.protocol !== 'https:')
        return problem('o endereço não é https, e este serviço só avisa assim (NFSE_AVISOS_PRIVADOS=1 permite http)');
      if (isIP(host) !== 0 && !isPublicAddress(host)) return problem('o endereço não é público');
    }
    const asked = new Promise<RespostaDeAviso>((resolve) => {
      const settle = (resposta: RespostaDeAviso): void => {
        clearTimeout(timer);
        request.destroy();
        resolve(resposta);
      };
      const options: https.RequestOptions = {
        method: 'POST',
        headers: { ...headers, 'Content-Length': String(Buffer.byteLength(corpo)) },
        agent: false,
        ...(isPrivateAllowed ? {} : { lookup: publicLookup(servers) }),
      };
      const request = (url.protocol === 'https:' ? https : http).request(url, options, (response) => {
        settle({ status: response.statusCode ?? 0 });
      });
      const timer = setTimeout(
        () => settle({ problema: `sem resposta em ${AVISO_RESPOSTA_S} s` }),
        AVISO_RESPOSTA_S * 1000,
      );
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > INTERIM_MAX) settle({ problema: 'respondeu com avisos provisórios demais (1xx)' });
      });
      request.on('error', (error: NodeJS.ErrnoException) => settle({ problema: describe(error) }));
      request.end(corpo);
    });
    // What cannot even be begun is a failure of this address alone.
    return asked.catch((error: NodeJS.ErrnoException) => ({ problema: describe(error) }));
  };
}

function problem(problema: string): Promise<RespostaDeAviso> {
  return Promise.resolve({ problema });
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

/** Nothing of the answer, and nothing of the network inside. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof NotPublic) return 'o nome leva a um endereço que não é público';
  return TOLD[error.code ?? ''] ?? `a conexão falhou (${error.code ?? 'sem código'})`;
}

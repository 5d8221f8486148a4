/** Addresses to which nothing is ever sent, in any notation. The check runs at registration, and again before each message. */
import { BlockList, isIP } from 'node:net';

/** Networks of IPv4 outside the public Internet (IANA special-purpose registry), and those that embed other addresses. */
const V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
];
/** The only allocated range of IPv6 (RFC 4291); mapped or translated IPv4, NAT64 and local addresses lie outside. */
const V6_GIVEN = '2000::/3';
/** Special networks within it: Teredo and its neighbours, documentation, 6to4. */
const V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const INSIDE = listOf('ipv4', V4);
const INSIDE_V6 = listOf('ipv6', V6);
const GIVEN_V6 = listOf('ipv6', [V6_GIVEN]);

function listOf(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string];
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Whether a network address belongs to the public Internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !INSIDE.check(address);
  // An address with a zone (`%eth0`) is local to a link.
  if (family !== 6 || address.includes('%')) return false;
  return GIVEN_V6.check(address, 'ipv6') && !INSIDE_V6.check(address, 'ipv6');
}

/**
 * Names that the public DNS never has, even if a name server resolves them. RFC 6761, 6762, 7686, 8375 and 9476 reserve them; ICANN
 * reserves `internal`.
 */
const OF_NO_DNS = /(^|\.)(localhost|local|internal|invalid|test|example|onion|alt|home\.arpa)\.?$/i;
/** Two labels or more, each of 1 to 63 characters. */
const NAME = /^(?=.{1,253}\.?$)[^.]{1,63}(\.[^.]{1,63})+\.?$/;

/** The reason why nothing will ever be sent to this address; undefined: none is known. */
export function whyNeverTold({ protocol, hostname, port }: URL, isPrivateAllowed: boolean): string | undefined {
  if (port === '0') return 'à porta 0 ninguém se conecta';
  if (isPrivateAllowed) return undefined;
  if (protocol !== 'https:')
    return 'o endereço não é https, e este serviço só avisa assim (NFSE_AVISOS_PRIVADOS=1 permite http)';
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : 'o endereço não é público';
  return NAME.test(host) && !OF_NO_DNS.test(host) ? undefined : 'o nome do endereço não é público';
}

/** Networks by which all doors count addresses. */

/** Addresses that are counted together, and the number of single addresses that they may count as. */
export type Network = { readonly name: string; readonly times: number };

/**
 * One host has a whole /64 of IPv6 addresses, and a rented /48 has 65,536 such networks. Such a /48 counts as sixteen hosts: strangers run
 * fewer programs within one /48.
 */
export const SITE_TIMES = 16;

/** The networks of an address, from the smallest to the largest; an IPv4 address stands alone. */
export function networksOf(address: string): readonly Network[] {
  if (!address.includes(':')) return [{ name: address, times: 1 }];
  const groups = groupsOf(address);
  const mapped = ipv4In(groups);
  if (mapped !== undefined) return [{ name: mapped, times: 1 }];
  const name = (count: number): string =>
    groups
      .slice(0, count)
      .map((group) => group.toString(16))
      .join(':');
  return [
    { name: name(4), times: 1 },
    { name: `${name(3)}/48`, times: SITE_TIMES },
  ];
}

/** An IPv4 address that is written as IPv6 (RFC 4291, 2.5.5.2) becomes plain IPv4; any other stays as it is. */
export function bareAddress(address: string): string {
  return (address.includes(':') ? ipv4In(groupsOf(address)) : undefined) ?? address;
}

function ipv4In(groups: readonly number[]): string | undefined {
  const [a, b, c, d, e, mark, high, low] = groups;
  if (groups.length !== 8 || a || b || c || d || e || mark !== 0xffff) return undefined;
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join('.');
}

/** The eight numbers of an IPv6 address, whose end may be written as IPv4. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.replace(/%.*$/s, '').split('::');
  const first = numbersOf(head);
  const last = numbersOf(tail ?? '');
  return [...first, ...Array<number>(Math.max(0, 8 - first.length - last.length)).fill(0), ...last];
}

function numbersOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

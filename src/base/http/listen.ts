/** Where a server of HTTP listens. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

export type Place = {
  readonly host: string;
  readonly port: number;
  /** A socket that listens already, by its number, in place of host and port. */
  readonly socket?: number | undefined;
};

/** Listens, and resolves with the address as a client on this host would write it: `http://127.0.0.1:8080`, with `https` where there is TLS. */
export async function listen(server: Server, { host, port, socket }: Place, isTls: boolean): Promise<string> {
  // 'localhost' would be one of two addresses, by the order in which this machine names them.
  server.listen(socket === undefined ? { host: host === 'localhost' ? '127.0.0.1' : host, port } : { fd: socket });
  await once(server, 'listening');
  return addressOf(server.address() as AddressInfo, isTls ? 'https' : 'http');
}

function addressOf({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  if (address === '0.0.0.0' || address === '::') return `${scheme}://localhost:${port}`;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

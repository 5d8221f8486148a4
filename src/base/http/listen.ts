/** The listening address of an HTTP server. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

export type Place = {
  readonly host: string;
  readonly port: number;
  /** Number of a socket that listens already, in place of host and port. */
  readonly socket?: number | undefined;
};

/** Listens, and resolves with the address as a client on this host would write it: `http://127.0.0.1:8080`, with `https` for TLS. */
export async function listen(server: Server, { host, port, socket }: Place, isTls: boolean): Promise<string> {
  // 'localhost' may be either of two addresses, depending on the name resolution of this machine.
  server.listen(socket === undefined ? { host: host === 'localhost' ? '127.0.0.1' : host, port } : { fd: socket });
  await once(server, 'listening');
  return addressOf(server.address() as AddressInfo, isTls ? 'https' : 'http');
}

/** Rejects if the place cannot be listened on, as {@link listen} would: a port in use is told before anything is made. */
export async function tryPlace(place: Place): Promise<void> {
  // A socket that listens already, or a port to be chosen, is always free.
  if (place.socket !== undefined || place.port === 0) return;
  const probe = createServer();
  await listen(probe, place, false);
  probe.close();
  await once(probe, 'close');
}

function addressOf({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  if (address === '0.0.0.0' || address === '::') return `${scheme}://localhost:${port}`;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

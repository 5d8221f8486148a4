/**
 * The open connections are limited and shared among networks (D-289): one network cannot hold all of them. A proxy in front counts as one
 * network, and must share among its own clients.
 */
import type { Server, Socket } from 'node:net';
import { networksOf } from '../world/redes.ts';

/** Connections that are being closed still count for Node. */
const CLOSING_MAX = 100;

/** Closes the oldest connection of the largest network beyond `max`. The new one is closed instead if its network has as many. */
export function shareConnections(server: Server, max: number): void {
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  const leave = (name: string, socket: Socket): void => {
    const line = open.get(name);
    if (line?.delete(socket) !== true) return;
    count -= 1;
    if (line.size === 0) open.delete(name);
  };
  server.maxConnections = max + CLOSING_MAX;
  server.on('connection', (socket: Socket) => {
    const name = networksOf(socket.remoteAddress ?? '').at(-1)!.name;
    const own = open.getOrInsertComputed(name, () => new Set()).add(socket);
    count += 1;
    socket.once('close', () => leave(name, socket));
    if (count <= max) return;
    let most: [string, Set<Socket>] = [name, own];
    for (const one of open) if (one[1].size > most[1].size) most = one;
    const [longest, line] = most;
    const goes = line === own ? socket : line.values().next().value!;
    leave(longest, goes);
    goes.destroy();
  });
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { shareConnections } from './connections.ts';

const MAX = 6;
const server = createServer((socket) => {
  socket.on('error', () => undefined).pipe(socket);
});
before(async () => {
  shareConnections(server, MAX);
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
});
const opened: Socket[] = [];
after(() => {
  for (const socket of opened) socket.destroy();
  server.close();
});

/** Opens a connection from an address of this machine. It resolves once the server echoes or closes it. */
async function from(localAddress: string): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', localAddress, port });
  socket.on('error', () => undefined);
  opened.push(socket);
  socket.write('?');
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return socket;
}
const answered = (sockets: readonly Socket[]): readonly boolean[] => sockets.map(({ bytesRead }) => bytesRead > 0);

test('who holds all connections gives of them to who has fewer, the oldest first', async () => {
  const held: Socket[] = [];
  for (let count = 0; count < MAX; count += 1) held.push(await from('127.0.0.1'));
  assert.deepEqual(answered([...held, await from('127.0.0.1')]), [...Array<boolean>(MAX).fill(true), false]);
  const closed = [0, 1, 2].map((place) => once(held[place]!, 'close'));
  const others = [await from('127.0.0.2'), await from('127.0.0.2'), await from('127.0.0.3')];
  assert.deepEqual(answered(others), [true, true, true]);
  await Promise.all(closed);
  assert.deepEqual(
    held.map(({ closed: is }) => is),
    [true, true, true, false, false, false],
  );
  // Three, two and one are open. A network loses no connection to another network that has as many.
  assert.deepEqual(answered([await from('127.0.0.1')]), [false]);
  held[3]!.destroy();
  await once(held[3]!, 'close');
  for (let tries = 0, got = false; !got; tries += 1) {
    assert.ok(tries < 1_000, 'a place that became free');
    got = answered([await from('127.0.0.1')])[0]!;
  }
});

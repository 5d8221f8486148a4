/** Connections that are handed to a process that dies. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { onEnd } from '../../test/support/cleanup.ts';
import { untilTrue } from '../../test/support/until.ts';
import { AnsweringProcess } from './answering-process.ts';
import type { ServingSettings } from './process-messages.ts';

test('one on its way as it dies is closed, and those behind it are taken back', async () => {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  onEnd(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients: net.Socket[] = [];
  const sockets: net.Socket[] = [];
  for (let count = 0; count < 3; count += 1) {
    const accepted = once(server, 'connection');
    const client = net.connect(port, '127.0.0.1').on('error', () => undefined);
    onEnd(() => client.destroy());
    clients.push(client);
    sockets.push((await accepted)[0]);
  }
  const dying = new AnsweringProcess(
    () => ({}) as ServingSettings,
    () => undefined,
  );
  // It reads nothing that is sent to it: the first connection is on its way, the others wait for it.
  process.kill(dying.pid!, 'SIGSTOP');
  for (const socket of sockets) dying.hand(socket);
  dying.kill();
  await dying.exited;
  assert.deepEqual(dying.takeBack(), sockets.slice(1));
  await untilTrue(() => clients[0]!.closed, 'the connection on its way is closed');
  assert.ok(clients.slice(1).every((client) => !client.closed));
  for (const socket of sockets) socket.destroy();
});

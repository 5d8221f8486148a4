/**
 * Pipelined requests (RFC 9112, 9.3.2): sent on one connection without waiting for answers, they come to Node a whole packet at once.
 * They are answered one after the other, with a turn of the event loop before each, so that other connections are answered in between.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Far more than any client sends ahead; each that waits is kept in memory. */
export const PIPELINED_MAX = 128;

export function openTurns() {
  const waiting = new WeakMap<Socket, number>();
  const crowded = new WeakSet<Socket>();
  return {
    /** Resolves when the answer `before` is sent and the next may be made; false: it never may, because too many wait before it. */
    waitForTurn: async (socket: Socket, before: ServerResponse): Promise<boolean> => {
      const count = waiting.get(socket) ?? 0;
      if (count >= PIPELINED_MAX || crowded.has(socket)) {
        crowded.add(socket);
        return false;
      }
      waiting.set(socket, count + 1);
      // A connection that ends before takes the rest with it.
      await new Promise((resolve) => before.once('finish', resolve));
      await new Promise((resolve) => setImmediate(resolve));
      waiting.set(socket, waiting.get(socket)! - 1);
      return !socket.destroyed;
    },
    /** Whether requests were dropped, so that the next answer ends the connection. A client sends again what was not answered. */
    isCrowded: (socket: Socket): boolean => crowded.has(socket),
  };
}

/**
 * Pipelined requests (RFC 9112, 9.3.2): sent on one connection without waiting for answers. Node receives a whole packet of them at once.
 * They are answered one after the other, with a turn of the event loop before each. Other connections are answered in between.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The limit is far above the needs of any client; each waiting request takes memory. */
export const PIPELINED_MAX = 128;

export function openTurns() {
  const waiting = new WeakMap<Socket, number>();
  const crowded = new WeakSet<Socket>();
  return {
    /** Resolves when the answer `before` is sent and the next may be made; false: never, because too many requests wait before it. */
    waitForTurn: async (socket: Socket, before: ServerResponse): Promise<boolean> => {
      const count = waiting.get(socket) ?? 0;
      if (count >= PIPELINED_MAX || crowded.has(socket)) {
        crowded.add(socket);
        return false;
      }
      waiting.set(socket, count + 1);
      // A connection that ends earlier drops its remaining requests.
      await new Promise((resolve) => before.once('finish', resolve));
      await new Promise((resolve) => setImmediate(resolve));
      waiting.set(socket, waiting.get(socket)! - 1);
      return !socket.destroyed;
    },
    /** Whether requests were dropped, so that the next answer ends the connection. A client repeats the unanswered ones. */
    isCrowded: (socket: Socket): boolean => crowded.has(socket),
  };
}

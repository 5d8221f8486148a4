/**
 * How the HTTP server ends without losing an answer that it owes. A server that stops listening resets the connections that it has
 * not accepted yet, and Node accepts one in each turn of its loop. So requests are held back at the end, until all are accepted.
 */
import type { Server as HttpServer } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * How long new connections are served after a SIGTERM, by default. A load balancer that looks every two seconds has noticed twice by
 * then, and `docker stop` waits ten seconds in all.
 */
export const DRAIN_DEFAULT_S = 5;
/** Requests are held back no longer than this. */
const HOLD_MAX_MS = 1_000;
/** So many turns of the loop without a new connection mean that all are accepted. */
const QUIET_TURNS = 10;
/** A connection without a request within this time is closed. */
const SILENT_MAX_MS = 3_000;
/** Time for the requests under way once the server has stopped accepting; longer than an issuance ever takes. */
export const CLOSE_MAX_MS = 15_000;

/** `isIdle`: whether a connection has had its answers and nothing is under way on it. */
export function endInOrder(server: HttpServer, isTls: boolean, isIdle: (socket: Socket) => boolean) {
  let ending = false;
  let holding: Promise<void> | undefined;
  let came = 0;
  const open = new Set<Socket>();
  server.on('connection', () => (came += 1));
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  const untilNobodyComes = async (): Promise<void> => {
    const began = performance.now();
    for (let quiet = 0; quiet < QUIET_TURNS && performance.now() - began < HOLD_MAX_MS; ) {
      const before = came;
      await new Promise((resolve) => setImmediate(resolve));
      quiet = came === before ? quiet + 1 : 0;
    }
  };

  return {
    /** Whether the next answer ends its connection. */
    isEnding: () => ending,
    /** Resolves when a request may go on; undefined: at once. */
    held: () => holding,
    /** Serves `drainMs` longer, stops accepting, and resolves when what was under way has ended or was cut off. */
    end: async (drainMs: number): Promise<void> => {
      ending = true;
      if (drainMs > 0) await pause(drainMs);
      const { promise, resolve: release } = Promise.withResolvers<void>();
      holding = promise;
      await untilNobodyComes();
      // The close of the TCP server: that of the HTTP server also cuts off connections that are about to ask.
      const closed = new Promise((resolve) => TcpServer.prototype.close.call(server, resolve));
      for (const socket of open) if (isIdle(socket)) socket.destroySoon();
      holding = undefined;
      release();
      const silent = setTimeout(() => server.closeIdleConnections(), SILENT_MAX_MS);
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MAX_MS);
      await closed;
      clearTimeout(silent);
      clearTimeout(cut);
      // Ends what the server of HTTP still does by the clock.
      server.close(() => undefined);
    },
  };
}

/**
 * Ends the HTTP server without losing an answer. A server that stops listening resets the connections that it has not accepted yet. Node
 * accepts one connection in each turn of its loop. Requests are therefore held back at the end, until all connections are accepted.
 */
import type { Server as HttpServer } from 'node:http';
import type { Socket, Server as TcpServer } from 'node:net';

/** Requests are held back no longer than this. */
export const HOLD_MAX_MS = 1_000;
/** All connections are accepted after so many turns of the loop without a new one. */
const QUIET_TURNS = 10;
/** A connection without a request within this time is closed. */
const SILENT_MAX_MS = 3_000;
/** Time for the requests in progress once the server has stopped accepting; longer than any issuance takes. */
export const CLOSE_MAX_MS = 15_000;

/** Resolves after some turns of the loop without a new connection. All earlier ones are accepted then. */
export async function untilNobodyComes(server: TcpServer): Promise<void> {
  let came = 0;
  const count = (): void => {
    came += 1;
  };
  server.on('connection', count);
  const began = performance.now();
  for (let quiet = 0; quiet < QUIET_TURNS && performance.now() - began < HOLD_MAX_MS; ) {
    const before = came;
    await new Promise((resolve) => setImmediate(resolve));
    quiet = came === before ? quiet + 1 : 0;
  }
  server.off('connection', count);
}

/** Connections that come to a server, and their end. `isIdle`: whether all requests of a connection were answered. */
export function endInOrder(server: HttpServer, isTls: boolean, isIdle: (socket: Socket) => boolean) {
  let ending = false;
  let holding: { readonly until: Promise<void>; readonly release: () => void } | undefined;
  let open = 0;
  let allClosed: (() => void) | undefined;
  const askable = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
      if (open === 0) allClosed?.();
    });
  });
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    askable.add(socket);
    socket.once('close', () => askable.delete(socket));
  });

  return {
    /** Whether the next answer ends its connection. */
    isEnding: () => ending,
    /** Resolves when a request may go on; undefined: at once. */
    held: () => holding?.until,
    countOpen: () => open,
    /** Every answer ends its connection after this call. */
    begin: (): void => {
      ending = true;
    },
    /** Requests wait until the end. */
    hold: (): void => {
      const { promise, resolve } = Promise.withResolvers<void>();
      holding ??= { until: promise, release: resolve };
    },
    /**
     * Must be called when no new connections come. Resolves when the requests in progress have ended or were cut off. `lingerMs`: how long
     * an idle connection may still bring a request; without it idle ones are closed at once.
     */
    finish: async (lingerMs = 0): Promise<void> => {
      ending = true;
      if (lingerMs === 0) for (const socket of askable) if (isIdle(socket)) socket.destroySoon();
      holding?.release();
      holding = undefined;
      const silent = setTimeout(() => server.closeIdleConnections(), lingerMs + SILENT_MAX_MS);
      const cut = setTimeout(() => server.closeAllConnections(), lingerMs + CLOSE_MAX_MS);
      if (open > 0) {
        await new Promise<void>((resolve) => {
          allClosed = resolve;
        });
      }
      clearTimeout(silent);
      clearTimeout(cut);
      // Stops the timers of the HTTP server.
      server.close(() => undefined);
    },
  };
}

/** A network between the service and its database that fails silently, as networks do. */
import { createServer, connect as dial, type Socket } from 'node:net';
import path from 'node:path';
import type { ClientConfig } from '../../src/base/pg/pg.ts';
import { onEnd } from './cleanup.ts';

/** The fate of bytes on their way. */
export type Way =
  | 'forwarded'
  /** Both directions, of existing and of new connections. */
  | 'swallowed'
  /** Each answer is late by less than a second. */
  | 'late'
  /** Requests arrive; no answer does from the first `commit` on. */
  | 'answers swallowed from commit on';

export type Proxy = {
  /** The connection to the database through it. */
  readonly connection: ClientConfig;
  way: Way;
  /** The number of swallowed chunks on the way to the database. */
  readonly swallowed: number;
  /** Ends the existing connections on the side of the database, without a word to this side. New connections pass. */
  closeHalf(): void;
  /** The server for new connections, as after a change of a name or an address; existing ones stay. */
  moveTo(database: ClientConfig): void;
};

/** The delay from a question to its answer, including the server's own time. */
const LATE_MS = 900;

/** `hear` gets the bytes for the database before they are passed on. */
export async function startProxy(
  database: ClientConfig,
  hear: (bytes: Buffer, connection: Socket) => void = () => undefined,
): Promise<Proxy> {
  let target = targetOf(database);
  const pairs = new Set<{ readonly near: Socket; readonly far: Socket }>();
  const proxy = { way: 'forwarded' as Way, swallowed: 0 };
  // A swallowed connection does not pass on its end either.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = dial(target);
    const pair = { near, far };
    pairs.add(pair);
    let isDeaf = false;
    let askedAt = 0;
    const late: (string | Buffer)[] = [];
    near.on('data', (bytes: Buffer) => {
      hear(bytes, near);
      askedAt = performance.now();
      if (proxy.way === 'swallowed') {
        proxy.swallowed += 1;
        return;
      }
      if (proxy.way === 'answers swallowed from commit on' && bytes.includes('commit\0')) isDeaf = true;
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (proxy.way === 'swallowed' || isDeaf) return;
      if (proxy.way === 'late') {
        late.push(bytes);
        setTimeout(() => near.write(late.shift()!), Math.max(0, askedAt + LATE_MS - performance.now()));
      } else near.write(bytes);
    });
    near.on('end', () => {
      if (proxy.way === 'swallowed') return;
      near.end();
      far.end();
    });
    near.on('error', () => undefined);
    far.on('error', () => undefined);
    near.on('close', () => {
      pairs.delete(pair);
      far.destroy();
    });
    far.on('close', () => {
      if (pairs.has(pair)) near.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
    server.close();
  });
  const { port } = server.address() as { port: number };
  return Object.assign(proxy, {
    connection: { ...database, host: '127.0.0.1', port },
    moveTo: (other: ClientConfig) => {
      target = targetOf(other);
    },
    closeHalf: () => {
      for (const pair of pairs) {
        pairs.delete(pair);
        pair.far.destroy();
      }
    },
  });
}

/** A host that is a folder holds the server's socket. */
function targetOf({
  host = 'localhost',
  port = 5432,
}: ClientConfig): { path: string } | { host: string; port: number } {
  return host.startsWith('/') ? { path: path.join(host, `.s.PGSQL.${port}`) } : { host, port };
}

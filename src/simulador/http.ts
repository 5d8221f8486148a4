/** The common part of the two servers of the simulator: that of the ADN and that of the control. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';

export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Stops listening and ends the open connections. */
export async function closeServer(server: Server & { closeAllConnections(): void }): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

/** The whole body, unless it has more than `max` bytes or its sender went away. */
export function bodyOf(req: IncomingMessage, max: number): Promise<Buffer | 'large' | 'gone'> {
  if (Number(req.headers['content-length'] ?? 0) > max) return Promise.resolve('large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > max) {
        chunks.length = 0;
        resolve('large');
      } else chunks.push(chunk);
    });
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', () => resolve('gone'));
    req.on('close', () => resolve('gone'));
  });
}

export function send(res: ServerResponse, status: number, type: string, body: string | Buffer): void {
  if (res.destroyed) return;
  res.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}

/** The least server: `node:http` alone answers, in a process of its own. This file is also the program of that process. */
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const BARE_BYTES = 3 * 1024;

export type Bare = { readonly pid: number; readonly port: number; end(): Promise<void> };

export async function openBare(): Promise<Bare> {
  const child = fork(import.meta.filename, { env: process.env });
  const port = await new Promise<number>((resolve) => child.once('message', (message) => resolve(message as number)));
  return {
    pid: child.pid!,
    port,
    end: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function serveBare(): void {
  const body = Buffer.alloc(BARE_BYTES, 'x');
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
}

if (import.meta.main) serveBare();

/** A proxy between a client and the service that loses answers, cuts connections and answers that it is busy. */
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onEnd } from './cleanup.ts';

/** The fate of one request. `lose`: the service handles it, but the answer is lost; `truncate`: only a part of the answer arrives. */
export type Bad =
  | 'hang'
  | 'pass'
  | 'lose'
  | 'cut'
  | 'truncate'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

export type Line = { readonly url: string; readonly keys: string[] };

/** Each request takes the next entry of the script; after its end all pass. `keys` are the received idempotency keys. */
export async function lineBefore(address: string, script: readonly Bad[]): Promise<Line> {
  const left = [...script];
  const keys: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const what = left.shift() ?? 'pass';
    if (headers['idempotency-key'] !== undefined) keys.push(String(headers['idempotency-key']));
    if (what === 'cut') return void incoming.socket.destroy();
    if (what === 'hang') return void incoming.resume();
    if (typeof what === 'object') {
      incoming.resume();
      return void outgoing.writeHead(what.status, what.headers).end(what.body ?? '<html>de um proxy</html>');
    }
    const onward = forward(address + url, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        if (what === 'lose') return void incoming.socket.destroy();
        outgoing.writeHead(answer.statusCode!, { ...answer.headers, 'content-length': String(body.length) });
        if (what === 'pass') return void outgoing.end(body);
        outgoing.write(body.subarray(0, 10));
        setImmediate(() => incoming.socket.destroy());
      });
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys };
}

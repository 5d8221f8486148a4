/** An integrator's programs that learn the outcome of its notes: one follows changes by a cursor, another receives messages. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onEnd } from './cleanup.ts';
import { confirmAvisos } from './desafio.ts';
import { pace } from './pace.ts';
import { ownPort } from './ports.ts';

/** The changes reported for a note that has no event. */
export const LIFE = ['nota.emitida', 'nota.transmitida', 'nota.autorizada'];
const RETRY_MS = 200;
const ANSWERS_AFTER_MS = 15;

export type Mudanca = { readonly id: string; readonly tipo: string; readonly chave_acesso: string };
/** `corpo`: the bytes of the message. */
type Received = { readonly id: string; readonly corpo: string; readonly data: Mudanca };
// biome-ignore lint/suspicious/noExplicitAny: looked at field by field
export type Told = { readonly status: number; readonly body: any };

export const withToken = (token: string) => ({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' });

/** Keeps every message, and can be offline. `isRefused`: whether the next message is answered with a failure and not kept. */
export async function openReceiver(isRefused: () => boolean = () => false) {
  const received: Received[] = [];
  const problems: string[] = [];
  let verifier: Webhook | undefined;
  const listen = (port: number) => {
    const server = createServer((incoming, response) => {
      let corpo = '';
      incoming.setEncoding('utf8').on('data', (chunk) => (corpo += chunk));
      incoming.on('end', () => {
        if (confirmAvisos(corpo, response)) return;
        if (isRefused()) return void response.writeHead(500).end();
        try {
          const { data } = verifier!.verify(corpo, incoming.headers as Record<string, string>) as { data: Mudanca };
          received.push({ id: incoming.headers['webhook-id'] as string, corpo, data });
          // The answer is slow, as over a network: a kill can fall between the receipt and the answer.
          void pace(ANSWERS_AFTER_MS).then(() => response.writeHead(204).end());
        } catch (error) {
          problems.push(`${error}: ${corpo}`);
          response.writeHead(400).end();
        }
      });
    });
    return new Promise<typeof server>((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
  };
  let server = await listen(await ownPort());
  const { port } = server.address() as AddressInfo;
  const leave = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onEnd(leave);
  const comeBack = async (): Promise<void> => {
    server = await listen(port);
  };
  const url = `http://127.0.0.1:${port}/nfse`;
  return { url, received, problems, know: (segredo: string) => (verifier = new Webhook(segredo)), leave, comeBack };
}

/** Follows the changes, and keeps only its cursor and the changes received. `ask`: one query; undefined: no answer came. */
export function follow(ask: (query: string) => Promise<Told | undefined>) {
  const told: Mudanca[] = [];
  const problems: string[] = [];
  let [cursor, isOver, unanswered] = ['', false, 0];
  const run = async (): Promise<void> => {
    while (!isOver) {
      const answer = await ask(`desde=${cursor}&espera=5&limite=100`);
      if (answer === undefined) {
        unanswered += 1;
        await pace(RETRY_MS);
      } else if (answer.status === 200) {
        told.push(...answer.body.mudancas);
        cursor = answer.body.cursor;
      } else problems.push(`${answer.status} ${JSON.stringify(answer.body)}`);
    }
  };
  const running = run();
  const stop = async (): Promise<void> => {
    isOver = true;
    await running;
  };
  return { told, problems, unanswered: () => unanswered, stop };
}

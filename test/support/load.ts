/** Notes that clients keep issuing while a database dies. */
import { setTimeout as pause } from 'node:timers/promises';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { type Answer, emit } from './http.ts';

const CLIENTS = 8;

export type Sent = { readonly number: number; readonly answer: Answer; readonly began: number; readonly ended: number };

/** Clients that issue one note after another, for any answer. `againMs`: the wait before a client that was not served retries. */
export function startLoad(address: string, againMs = 500): { readonly sent: Sent[]; stop(): Promise<void> } {
  const sent: Sent[] = [];
  let number = 0;
  let isEnded = false;
  const client = async (): Promise<void> => {
    while (!isEnded) {
      number += 1;
      const own = number;
      const began = performance.now();
      const answer = await emit(address, exampleXml({ serie: '1', nDPS: String(own) }));
      sent.push({ number: own, answer, began, ended: performance.now() });
      await pause(answer.status === 201 ? 20 : againMs);
    }
  };
  const running = Array.from({ length: CLIENTS }, client);
  return {
    sent,
    stop: async () => {
      isEnded = true;
      await Promise.all(running);
    },
  };
}

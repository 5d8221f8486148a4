/** The processes of a measure, each of which answers one request at a time. */
import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import type { Documento } from './documents.ts';
import type { Command, SenderOrder, Sent } from './sender.ts';

const SENDER = path.join(import.meta.dirname, 'sender.ts');

export type Sender = {
  make(count: number, documento: Documento): Promise<void>;
  send(command: Exclude<Command, { kind: 'make' }>): Promise<Sent>;
  end(): Promise<void>;
};

export function startSender(order: SenderOrder): Sender {
  const child = fork(SENDER, [JSON.stringify(order)]);
  return {
    make: async (count, documento) => {
      await askChild(child, { kind: 'make', count, documento } satisfies Command);
    },
    send: (command) => askChild<Sent>(child, command),
    end: () => endOf(child),
  };
}

/** Waits for the next message of a child process, after `question`. */
export function askChild<Answer>(child: ChildProcess, question?: object): Promise<Answer> {
  if (question !== undefined) child.send(question);
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`um processo da medida terminou (${code})`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as Answer);
    });
  });
}

/** A child process ends when its channel closes. */
export function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.disconnect();
  return ended;
}

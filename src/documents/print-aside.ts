/**
 * Prints notes in a thread of its own, so that the thread that issues goes on issuing. The first note starts that thread, and a minute
 * without one ends it. Notes whose thread dies are printed here (D-864).
 */
import { setImmediate as turn } from 'node:timers/promises';
import { Worker as Thread } from 'node:worker_threads';
import { renderDanfse } from './danfse.ts';
import { PRINT_FAILURES } from './print-failures.ts';
import type { PrintAsked, Printed } from './print-thread.ts';

/** The thread and its code hold 30 MB. */
const IDLE_MS = 60_000;
/** Megabytes of the young generation. A third of them would cost a third more processor time. */
const YOUNG_MB = 48;

type Waiting = {
  readonly asked: PrintAsked;
  readonly resolve: (pdf: Buffer) => void;
  readonly reject: (error: Error) => void;
};
type Printer = { print(one: Waiting): void };

let printer: Printer | undefined;

/** The PDF of an NFS-e, as {@link renderDanfse} makes it; rejects when the text is no NFS-e. */
export function printAside(nfse: string, situacao: PrintAsked['situacao']): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    printer ??= startPrinter(new URL('./print-thread.ts', import.meta.url));
    printer.print({ asked: { nfse, situacao }, resolve, reject });
  });
}

/** `script`: the program of the thread. */
export function startPrinter(script: URL): Printer {
  const waiting: Waiting[] = [];
  const thread = new Thread(script, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
  const forget = (): void => {
    if (printer === own) printer = undefined;
  };
  const idle = setTimeout(() => {
    forget();
    void thread.terminate();
  }, IDLE_MS).unref();
  thread.on('message', (printed: Printed) => {
    const { resolve, reject } = waiting.shift()!;
    // A thread without work does not keep its process.
    if (waiting.length === 0) thread.unref();
    if ('pdf' in printed) resolve(Buffer.from(printed.pdf.buffer));
    else reject(new RangeError(printed.problem));
  });
  thread.on('error', (error) => PRINT_FAILURES.publish(error));
  thread.once('exit', () => {
    forget();
    clearTimeout(idle);
    void printHere(waiting);
  });
  const own: Printer = {
    print: (one) => {
      waiting.push(one);
      idle.refresh();
      thread.ref();
      thread.postMessage(one.asked);
    },
  };
  return own;
}

/** Other work of this thread comes between two notes. */
async function printHere(left: readonly Waiting[]): Promise<void> {
  for (const { asked, resolve, reject } of left) {
    await turn();
    try {
      resolve(renderDanfse(Buffer.from(asked.nfse), asked.situacao));
    } catch (error) {
      reject(error as Error);
    }
  }
}

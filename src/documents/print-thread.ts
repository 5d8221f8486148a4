/** The thread of `print-aside.ts`: it prints one note after the other, in the order in which they come. */
import { parentPort } from 'node:worker_threads';
import { renderDanfse, type SituacaoImpressa } from './danfse.ts';

/** A note to print: its NFS-e as text. */
export type PrintAsked = { readonly nfse: string; readonly situacao: SituacaoImpressa | undefined };

/** The bytes of the PDF, or the error that a document without a printed form throws. */
export type Printed = { readonly pdf: Uint8Array<ArrayBuffer> } | { readonly problem: string };

const port = parentPort;
if (port === null) throw new Error('this file is started as a thread');

port.on('message', ({ nfse, situacao }: PrintAsked) => {
  try {
    // A buffer of Node may lie in a shared pool, which cannot be handed over.
    const pdf = new Uint8Array(renderDanfse(Buffer.from(nfse), situacao));
    port.postMessage({ pdf } satisfies Printed, [pdf.buffer]);
  } catch (error) {
    port.postMessage({ problem: (error as Error).message } satisfies Printed);
  }
});

/**
 * Runs the readers of files from outside, each in a process of its own. A hostile file may exhaust its process without harm. The process
 * gets no variable of this one.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { ignoring } from '../base/traces/ignoring.ts';

/** `script`: a file of this folder. `heapMaxMb`: of its heap, in MB. `answerMaxBytes`: of its standard output. */
type Apart = {
  readonly script: string;
  readonly maxMs: number;
  readonly heapMaxMb: number;
  readonly answerMaxBytes: number;
};

/** `ended`: it answered. `refused`: it ended with a code of its own. `killed`: it had no time, memory or room for its answer left. */
export type Ran =
  | { readonly how: 'ended'; readonly answer: Buffer }
  | { readonly how: 'refused' | 'killed' | 'crowded' };

/** Processes of a kind at a time: hostile files would otherwise take every core and all memory (D-854). */
const RUNNING_MAX = 2;

/** Makes a runner of one kind of file. It writes `input` to the standard input of the process; `args` follow the script. */
export function makeRunner({ script, maxMs, heapMaxMb, answerMaxBytes }: Apart) {
  const words = [`--max-old-space-size=${heapMaxMb}`, path.join(import.meta.dirname, script)];
  const options = { timeout: maxMs, killSignal: 'SIGKILL', env: {}, maxBuffer: answerMaxBytes } as const;
  let running = 0;
  return async (input: Uint8Array | string, args: readonly string[] = []): Promise<Ran> => {
    if (running >= RUNNING_MAX) return { how: 'crowded' };
    running += 1;
    return new Promise<Ran>((resolve) => {
      const all = [...words, ...args];
      const child = execFile(process.execPath, all, { ...options, encoding: 'buffer' }, (error, answer) => {
        if (error === null) resolve({ how: 'ended', answer });
        else resolve({ how: typeof error.code === 'number' && error.signal == null ? 'refused' : 'killed' });
      });
      child.stdin!.on('error', ignoring('the process ended before it had read all, which its end tells'));
      child.stdin!.end(input);
    }).finally(() => {
      running -= 1;
    });
  };
}

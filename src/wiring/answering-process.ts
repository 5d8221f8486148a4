/** One of the processes that answer, as the one that watches sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { errorOf } from './failure.ts';
import type { FromServing, ServingSettings, ToServing } from './process-messages.ts';

/** What ends by itself does so long before: idle connections, a batch under way, requests. */
const END_MAX_MS = 180_000;

/** It died without a word of why it could not start. */
export class Died extends Error {}

/** A socket of Node, which gives its handle away as it is sent to another process. */
type Detachable = Socket & { readonly _handle: { close(): void } | null };
type Leaving = { readonly socket: Socket; readonly handle: Detachable['_handle'] };

function isHere({ socket }: Leaving): boolean {
  return (socket as Detachable)._handle !== null;
}

export class AnsweringProcess {
  /** Resolves when it can be handed connections; rejects with the reason why it cannot start. */
  readonly ready: Promise<void>;
  /** Resolves with how it ended. */
  readonly exited: Promise<string>;
  /** Resolves when its requests wait. */
  readonly held: Promise<void>;
  /** When it became ready, on the clock of `performance.now`. */
  readySince: number | undefined;
  private readonly child: ChildProcess;
  private open = 0;
  private handed = 0;
  private taken = 0;
  /** Handed, and not yet told to be taken, in their order. */
  private leaving: Leaving[] = [];

  constructor(settings: () => ServingSettings, onMessage: (message: FromServing) => void) {
    this.child = fork(new URL('./serving-process.ts', import.meta.url), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ready = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const exited = Promise.withResolvers<string>();
    this.ready = ready.promise;
    this.held = held.promise;
    this.exited = exited.promise;
    // Who waits for it is told.
    this.ready.catch(() => undefined);
    this.child.on('message', (message: FromServing) => {
      if (message.kind === 'ready') {
        this.readySince = performance.now();
        ready.resolve();
      } else if (message.kind === 'failed') {
        ready.reject(errorOf(message.failure));
        this.kill();
      } else if (message.kind === 'held') held.resolve();
      else if (message.kind === 'connections') {
        this.leaving.splice(0, message.handed - this.taken);
        Object.assign(this, { taken: message.handed, open: message.open });
      } else onMessage(message);
    });
    // A message that is not delivered is followed by the end.
    this.child.on('error', () => undefined);
    this.child.once('exit', (code, signal) => {
      const how = signal ?? `código ${code}`;
      ready.reject(new Died(`o processo ${this.pid} morreu (${how})`));
      held.resolve();
      exited.resolve(how);
    });
    this.tell({ kind: 'start', settings: settings() });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isConnected(): boolean {
    return this.child.connected;
  }

  /** Connections that it has, or is about to have. */
  get load(): number {
    return this.open + this.handed - this.taken;
  }

  tell(message: ToServing): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  hand(socket: Socket): void {
    this.handed += 1;
    this.leaving.push({ socket, handle: (socket as Detachable)._handle });
    const message: ToServing = { kind: 'connection' };
    // What could not be sent is among those taken back at its end.
    this.child.send(message, socket, {}, () => undefined);
  }

  /**
   * The connections that did not leave before it died. Node keeps open what was on its way to it, and nobody would ever answer there: such a
   * connection is closed, so that its client sends again.
   */
  takeBack(): readonly Socket[] {
    const [here, sent] = [this.leaving.filter(isHere), this.leaving.filter((one) => !isHere(one))];
    for (const { handle } of sent) handle?.close();
    this.leaving = [];
    return here.map(({ socket }) => socket);
  }

  /** Ends in order; resolves when it has ended. */
  async end(isReplaced: boolean): Promise<void> {
    this.tell({ kind: 'end', isReplaced });
    const late = setTimeout(() => this.kill(), END_MAX_MS);
    await this.exited;
    clearTimeout(late);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

/** One of the processes that answer, as the one that watches sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { errorOf } from './failure.ts';
import type { FromServing, ServingSettings, ToServing } from './process-messages.ts';

/** What ends by itself does so long before: idle connections, a batch under way, requests. */
const END_MAX_MS = 180_000;

/** It died without a word of why it could not start. */
export class Died extends Error {}

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
  /** Handed, and not yet on their way. */
  private readonly leaving = new Set<Socket>();

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
      else if (message.kind === 'connections') Object.assign(this, { taken: message.handed, open: message.open });
      else onMessage(message);
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
    this.leaving.add(socket);
    const message: ToServing = { kind: 'connection' };
    this.child.send(message, socket, {}, () => this.leaving.delete(socket));
  }

  /** The connections that did not leave before it died. */
  takeBack(): readonly Socket[] {
    return [...this.leaving];
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

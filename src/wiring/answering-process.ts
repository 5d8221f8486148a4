/** One of the answering processes, from the view of the watching process. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { ignoring } from '../base/traces/ignoring.ts';
import { errorOf } from './failure.ts';
import type { FromServing, ServingSettings, ToServing } from './process-messages.ts';

/** The time is far above that of an orderly end: idle connections, a batch under way, requests. */
const END_MAX_MS = 180_000;
const UNDELIVERED = 'the end of the process follows an undelivered message';

/** The process died without saying why it could not start. */
export class Died extends Error {}

/** A socket of Node; it loses its handle when it is sent to another process. */
type Detachable = Socket & { readonly _handle: { close(): void } | null };
type Leaving = { readonly socket: Socket; readonly handle: Detachable['_handle'] };

function isHere({ socket }: Leaving): boolean {
  return (socket as Detachable)._handle !== null;
}

export class AnsweringProcess {
  /** Resolves when the process can take connections; rejects with the reason why it cannot start. */
  readonly ready: Promise<void>;
  /** Resolves with the manner of its end. */
  readonly exited: Promise<string>;
  /** Resolves when its requests are on hold. */
  readonly held: Promise<void>;
  /** The time at which it became ready, by `performance.now`. */
  readySince: number | undefined;
  private readonly child: ChildProcess;
  private open = 0;
  private handed = 0;
  private taken = 0;
  /** Connections that were handed over and not yet confirmed, in their order. */
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
    this.ready.catch(ignoring('callers that wait for it get the error themselves'));
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
    this.child.on('error', ignoring(UNDELIVERED));
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

  /** The number of connections that it has, or is about to have. */
  get load(): number {
    return this.open + this.handed - this.taken;
  }

  tell(message: ToServing): void {
    if (this.child.connected) this.child.send(message, ignoring(UNDELIVERED));
  }

  hand(socket: Socket): void {
    this.handed += 1;
    this.leaving.push({ socket, handle: (socket as Detachable)._handle });
    const message: ToServing = { kind: 'connection' };
    const ignored = ignoring('a connection that could not be sent is taken back at the end of the process');
    this.child.send(message, socket, {}, ignored);
  }

  /**
   * The connections that did not leave before the process died. Node keeps a socket open that was already on its way, and no process would
   * ever answer there. Such a connection is closed, so that its client sends again.
   */
  takeBack(): readonly Socket[] {
    const [here, sent] = [this.leaving.filter(isHere), this.leaving.filter((one) => !isHere(one))];
    for (const { handle } of sent) handle?.close();
    this.leaving = [];
    return here.map(({ socket }) => socket);
  }

  /** Ends the process in order; resolves when it has ended. */
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

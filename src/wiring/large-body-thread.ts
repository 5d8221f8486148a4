/** The thread in which requests with large bodies are answered (`doors/rest/perform-aside.ts`), one at a time. */

import type { OnStored } from '../base/book/recent.ts';
import type { AsideCall } from '../base/http/aside.ts';
import type { Quota } from '../base/world/quota.ts';
import { performAside } from '../doors/rest/perform-aside.ts';
import { type Failure, failureOf } from './failure.ts';
import { openWorld } from './open-world.ts';
import { enterStore } from './request-stage.ts';
import { createStore, type Store } from './store.ts';
import { enterThread, type MeasureAsked, type Measured } from './thread.ts';

/** A query to the quota of the request. */
export type QuotaAsked = {
  [Name in keyof Quota]: { readonly name: Name; readonly args: Parameters<Quota[Name]> };
}[keyof Quota];

/** The answer of the quota. */
export type QuotaAnswer = Awaited<ReturnType<Quota[keyof Quota]>>;

/** Messages to the thread: a request with its stage, which both threads see; an answer of its quota; or the order to end. */
export type AsideMessage =
  | { readonly kind: 'call'; readonly call: AsideCall; readonly stage: Int32Array; readonly isCounted: boolean }
  | { readonly kind: 'quota'; readonly answer: QuotaAnswer }
  | MeasureAsked
  | { readonly kind: 'stop' };

/**
 * Messages from the thread: it is ready; the answer or failure of a request; the documents stored by a commit; a query to the quota; a
 * wake-up.
 */
export type AsideReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: Awaited<ReturnType<typeof performAside>> }
  | { readonly kind: 'failure'; readonly error: Failure }
  | { readonly kind: 'stored'; readonly tenant: string; readonly documents: Parameters<OnStored>[1] }
  | { readonly kind: 'quota'; readonly asked: QuotaAsked }
  | { readonly kind: 'wake'; readonly tenant: string }
  | Measured;

const { port, log, pool, end, measure } = await enterThread('corpos_grandes');
const report = (message: AsideReport): void => port.postMessage(message);
const store = createStore(pool, (tenant, documents) => report({ kind: 'stored', tenant, documents }));
const { world: own, close } = openWorld(enterFirst(store), log);
const world = { ...own, wake: (tenant: string) => report({ kind: 'wake', tenant }) };

/** The state of the current request: its stage, and the receiver of the next answer of its quota. */
let stage: Int32Array;
let takeAnswer: (answer: unknown) => void;

/** A function of the quota, which the serving thread counts. */
const ask =
  <Name extends keyof Quota>(name: Name) =>
  (...args: Parameters<Quota[Name]>) =>
    new Promise<Awaited<ReturnType<Quota[Name]>>>((resolve) => {
      takeAnswer = resolve as typeof takeAnswer;
      report({ kind: 'quota', asked: { name, args } as QuotaAsked });
    });
const quota: Quota = { enter: ask('enter'), take: ask('take'), keepsRefusal: ask('keepsRefusal') };

port.on('message', (message: AsideMessage) => {
  if (message.kind === 'stop') void end(close);
  else if (message.kind === 'measure') void measure(message);
  else if (message.kind === 'quota') takeAnswer(message.answer);
  else {
    stage = message.stage;
    void answer(message.call, message.isCounted);
  }
});
report({ kind: 'ready' });

/** The store whose first write of a request enters the stage, so that the request is no longer ended. */
function enterFirst(store: Store): Store {
  const { notas, eventos, lotes } = store;
  return {
    ...store,
    notas: { ...notas, issue: (...asked) => enterAndStore(() => notas.issue(...asked)) },
    eventos: { ...eventos, register: (...asked) => enterAndStore(() => eventos.register(...asked)) },
    lotes: { ...lotes, receive: (...asked) => enterAndStore(() => lotes.receive(...asked)) },
  };
}

/** A request that is being terminated stores nothing: it waits until its thread ends. */
async function enterAndStore<Result>(begin: () => Promise<Result>): Promise<Result> {
  return enterStore(stage) ? begin() : new Promise<never>(() => undefined);
}

async function answer(call: AsideCall, isCounted: boolean): Promise<void> {
  try {
    report({ kind: 'answer', answer: await performAside(world, isCounted ? quota : undefined, call) });
  } catch (error) {
    report({ kind: 'failure', error: failureOf(error) });
  }
}

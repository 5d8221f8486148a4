/** A process that answers the connections handed to it (`processes.ts`). */
import type { Socket } from 'node:net';
import { KEYS_MAX, openBuckets } from '../base/http/buckets.ts';
import { KEEP_ALIVE_MS } from '../base/http/http.ts';
import { type Count, copyBuckets, type Taken } from '../base/http/shared-buckets.ts';
import { ignoring } from '../base/traces/ignoring.ts';
import { createHandedDoor, type HandedDoor } from '../doors/rest/door.ts';
import { holdOwnChaves } from './auditoria-chave.ts';
import { Collector } from './collect.ts';
import { readOwnConfig } from './config.ts';
import { shareConnections } from './connections.ts';
import { failureOf } from './failure.ts';
import { freeStart } from './free-start.ts';
import { createLog } from './log.ts';
import { openLoggedPool } from './logged-pool.ts';
import { migrate } from './migrate.ts';
import { readTls } from './own-tls.ts';
import type { FromServing, ServingSettings, ToServing } from './process-messages.ts';
import { createServing, doorOptionsOf, type Serving, TURN_AWAY_MS } from './serving.ts';
import { createStore } from './store.ts';
import { startTraces } from './traces.ts';

/** The time in which an idle connection may still bring a request to a replaced process: Node closes it earlier. */
const LINGER_MS = KEEP_ALIVE_MS + 5_000;
/** The minimum interval between two reports of the number of connections. */
const TELL_EVERY_MS = 100;

const config = readOwnConfig();
const { log, flush } = createLog(config.logLevel);
const traces = await startTraces(config, log, 'requisicoes');
const ignoreGone = ignoring('the watching process may be gone, and this one then ends by itself');
const tell = (message: FromServing): void => void process.send!(message, undefined, undefined, ignoreGone);

type Answering = { readonly door: HandedDoor; readonly serving: Serving; closeStore(): Promise<void> };
let answering: Answering;
let collector: Collector;
const quotas = openBuckets(() => performance.now(), KEYS_MAX.quotas);
let handed = 0;
/** Unanswered queries to the quotas, by their number. */
const asked = new Map<number, (taken: Taken) => void>();
let questions = 0;

const count: Count = {
  ask: (wanted) =>
    new Promise((resolve) => {
      questions += 1;
      asked.set(questions, resolve);
      tell({ kind: 'take', asked: questions, wanted });
    }),
  report: (spent) => {
    tell({ kind: 'spent', spent });
    return undefined;
  },
};

process.on('message', (message: ToServing, socket?: Socket) => {
  if (message.kind === 'connection') take(socket);
  else if (message.kind === 'spent') for (const one of message.spent) quotas.spend(one);
  else if (message.kind === 'taken') answerAsked(message.asked, message.taken);
  else if (message.kind === 'start') void start(message.settings);
  else if (message.kind === 'address') answering.door.setAddress(message.address);
  else if (message.kind === 'measure') void measure(message.asked);
  else if (message.kind === 'drain') answering.door.drain();
  else if (message.kind === 'hold') {
    answering.door.hold();
    tell({ kind: 'held' });
  } else void end(message.isReplaced);
});

async function start(settings: ServingSettings): Promise<void> {
  // The used quotas are applied first: later uses are reported while the rest starts.
  for (const one of settings.spent) quotas.spend(one);
  try {
    answering = await open(settings);
    tell({ kind: 'ready' });
  } catch (error) {
    flush();
    tell({ kind: 'failed', failure: failureOf(error) });
  }
}

async function open({ connection, processes, place }: ServingSettings): Promise<Answering> {
  collector = new Collector(String(place + 1), 'requisicoes');
  const tls = await readTls(config);
  await holdOwnChaves(config);
  const connections = shareConnections(config, processes);
  const pool = openLoggedPool({ ...connection, max: connections.serving }, log);
  // The migration does nothing, unless this program is newer than the watching process.
  await migrate(pool, (text) => log.info(`atualização do banco: ${text}`));
  const { told, begin } = createServing(log, collector);
  const serving = begin(createStore(pool, told.onStored, told.announce), {
    connection,
    connections,
    logLevel: config.logLevel,
    isSecond: place > 0,
  });
  freeStart();
  const door = createHandedDoor(serving.world, {
    ...doorOptionsOf(config, log, tls, serving.aside),
    processes,
    buckets: { quotas: copyBuckets(quotas, count) },
  });
  return { door, serving, closeStore: () => pool.end() };
}

async function measure(asked: number): Promise<void> {
  tell({ kind: 'measured', asked, snapshot: await collector.collect() });
}

/** Undefined: the connection was lost in transit. */
function take(socket: Socket | undefined): void {
  handed += 1;
  tellConnections();
  if (socket === undefined) return;
  answering.door.take(socket);
  socket.once('close', tellConnections);
}

let isTelling = false;
function tellConnections(): void {
  if (isTelling) return;
  isTelling = true;
  setTimeout(() => {
    isTelling = false;
    tell({ kind: 'connections', handed, open: answering.door.countOpen() });
  }, TELL_EVERY_MS);
}

function answerAsked(number: number, taken: Taken): void {
  asked.get(number)?.(taken);
  asked.delete(number);
}

async function end(isReplaced: boolean): Promise<void> {
  const { door, serving, closeStore } = answering;
  const lingerMs = isReplaced ? LINGER_MS : 0;
  const hurry = setTimeout(serving.aside.turnAway, lingerMs + TURN_AWAY_MS);
  await door.finish(lingerMs);
  clearTimeout(hurry);
  await serving.close();
  await closeStore();
  await traces.end();
  flush();
  process.exit(0);
}

/**
 * The service as several processes. This one runs the database, listens, and hands each connection to the process with the fewest (D-379).
 * It counts the shared quotas, and replaces a process that died. It answers no requests itself, so that it always stays available.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { KEYS_MAX, openBuckets, type Wanted } from '../base/http/buckets.ts';
import { HOLD_MAX_MS, untilNobodyComes } from '../base/http/end-in-order.ts';
import { listen, tryPlace } from '../base/http/listen.ts';
import { takeCounted } from '../base/http/shared-buckets.ts';
import type { Connection } from '../base/pg/servers.ts';
import { ignoring } from '../base/traces/ignoring.ts';
import { AnsweringProcess, Died } from './answering-process.ts';
import { beginOnce } from './begin.ts';
import { Collector, countRestart, Questions } from './collect.ts';
import type { Config } from './config.ts';
import type { Copias } from './copias-keeper.ts';
import { freeStart } from './free-start.ts';
import type { Logger } from './log.ts';
import { openStore } from './open-store.ts';
import { readTls } from './own-tls.ts';
import { startPainel } from './painel-keeper.ts';
import type { FromServing } from './process-messages.ts';
import type { Service } from './service.ts';

/** A process that dies sooner died because of its start. */
const STABLE_MS = 10_000;
/** So many deaths of that kind in a row, with no answering process left, end the service. */
const DEATHS_MAX = 5;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 30_000;
/** Connections that wait for a process; there may be none for a moment, after the last one has died. */
const WAITING_MAX = 1_000;

export async function startProcesses(config: Config, log: Logger, signal?: AbortSignal): Promise<Service> {
  // A wrong certificate and a port in use are reported before anything is opened.
  await readTls(config);
  await tryPlace(config);
  const opened = await openStore(config, log, { signal });
  let copias: Copias | undefined;
  const processes = new Processes(config.processes, opened.connection, log);
  try {
    await beginOnce(opened, config, log);
    if (config.copias !== undefined) {
      const { startCopias } = await import('./copias-keeper.ts');
      copias = startCopias(config.copias, opened, log);
    }
    freeStart();
    await processes.start();
    const address = await processes.listen(config);
    log.info({ pid: process.pid, processos: config.processes }, 'processos que atendem iniciados');
    // The worker sees work made due by the console at its next look.
    const painel = await startPainel(config, opened.connection, log, {
      wake: () => undefined,
      collector: processes.collector,
    });
    return {
      address,
      location: opened.location,
      painel: painel.told,
      failed: processes.failed,
      restart: processes.restart,
      close: async (drainMs = 0) => {
        await Promise.all([painel.stop(), processes.end(drainMs)]);
        await opened.close();
        await copias?.stop();
      },
    };
  } catch (error) {
    await processes.end(0);
    await opened.close();
    await copias?.stop();
    throw error;
  }
}

class Processes {
  /** Rejects if no process can be kept running. */
  readonly failed: Promise<never>;
  private readonly places: (AnsweringProcess | undefined)[];
  /** All processes, including replaced ones that continue until their connections have ended. */
  private readonly all = new Set<AnsweringProcess>();
  private readonly connection: Connection;
  private readonly log: Logger;
  readonly collector = new Collector('principal', 'conexoes');
  private readonly quotas = openBuckets(() => performance.now(), KEYS_MAX.quotas);
  // This process reads nothing from the connections.
  private readonly server: Server = createServer({ pauseOnConnect: true, noDelay: true });
  private readonly fail: (reason: unknown) => void;
  private address: string | undefined;
  private readonly questions = new WeakMap<AnsweringProcess, Questions>();
  private waiting: Socket[] = [];
  private deaths = 0;
  private isEnding = false;
  private restarting: Promise<void> | undefined;
  private isRestartAsked = false;

  constructor(processes: number, connection: Connection, log: Logger) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.failed.catch(ignoring('the starter awaits it, perhaps later'));
    this.fail = reject;
    this.places = Array.from({ length: processes }, () => undefined);
    this.connection = connection;
    this.log = log;
    this.server.on('connection', (socket) => this.hand(socket));
  }

  /** Resolves when all answer; fails with the reason of one that cannot. */
  async start(): Promise<void> {
    await Promise.all(this.places.map((_, place) => this.fill(place)));
  }

  async listen(config: Config): Promise<string> {
    this.address = await listen(this.server, config, config.tls !== undefined);
    for (const one of this.ready) one.tell({ kind: 'address', address: this.address });
    return this.address;
  }

  /** One after the other: a new process answers before the old one is told to end. */
  readonly restart = (): void => {
    this.isRestartAsked = true;
    this.restarting ??= this.replaceAll().finally(() => {
      this.restarting = undefined;
    });
  };

  async end(drainMs: number): Promise<void> {
    this.isEnding = true;
    // A process that is not ready yet answers nothing.
    for (const one of this.all) if (one.readySince === undefined) one.kill();
    this.tellAll({ kind: 'drain' });
    if (drainMs > 0) await pause(drainMs);
    if (this.server.listening) {
      this.tellAll({ kind: 'hold' });
      await Promise.race([Promise.all([...this.all].map(({ held }) => held)), pause(HOLD_MAX_MS)]);
      await untilNobodyComes(this.server);
      this.server.close();
    }
    for (const socket of this.waiting) socket.destroy();
    await Promise.all([...this.all].map((one) => one.end(false)));
  }

  private tellAll(message: { readonly kind: 'drain' | 'hold' }): void {
    for (const one of this.all) one.tell(message);
  }

  private async replaceAll(): Promise<void> {
    while (this.isRestartAsked && !this.isEnding) {
      this.isRestartAsked = false;
      this.log.info({ processos: this.places.length }, 'os processos que atendem são trocados, um a um');
      for (const place of this.places.keys()) if (!(await this.replace(place))) return;
      this.log.info({ processos: this.places.length }, 'processos trocados');
    }
  }

  /** Whether there is a new process in this place, and the one before it has ended. */
  private async replace(place: number): Promise<boolean> {
    const before = this.places[place];
    // An empty place is being filled already.
    if (before === undefined) return !this.isEnding;
    try {
      const fresh = await this.begin(place);
      if (this.isEnding) return false;
      this.places[place] = fresh;
    } catch (error) {
      if (!this.isEnding)
        this.log.error({ err: error }, 'um processo novo não pôde iniciar; os de antes seguem atendendo');
      return false;
    }
    await before.end(true);
    return !this.isEnding;
  }

  /** Starts a process in a place, again until one runs. */
  private async fill(place: number): Promise<void> {
    for (;;) {
      if (this.deaths > 0) await pause(Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (this.deaths - 1)));
      if (this.isEnding) return;
      try {
        this.places[place] = await this.begin(place);
        this.handWaiting();
        return;
      } catch (error) {
        this.deaths += 1;
        countRestart('processo');
        const isNobodyThere = this.ready.length === 0;
        if (isNobodyThere && (!(error instanceof Died) || this.deaths >= DEATHS_MAX)) throw error;
        this.log.error({ err: error }, 'um processo que atende não pôde iniciar; tenta-se de novo');
      }
    }
  }

  /** Starts a process; resolves when it answers. */
  private async begin(place: number): Promise<AnsweringProcess> {
    const settings = () => ({
      connection: this.connection,
      processes: this.places.length,
      place,
      spent: this.quotas.used(),
    });
    const one: AnsweringProcess = new AnsweringProcess(settings, (message) => this.receive(one, message));
    this.all.add(one);
    void one.exited.then((how) => this.bury(place, one, how));
    await one.ready;
    this.measure(place, one);
    if (this.address !== undefined) one.tell({ kind: 'address', address: this.address });
    return one;
  }

  /** Registers the counters of a process until it has ended. */
  private measure(place: number, one: AnsweringProcess): void {
    const questions = new Questions();
    this.questions.set(one, questions);
    const ask = () => questions.ask((asked) => one.tell({ kind: 'measure', asked }));
    const own = { processo: String(place + 1), parte: 'requisicoes', ask, tellsParts: true } as const;
    void one.exited.then(this.collector.add(own));
  }

  private bury(place: number, one: AnsweringProcess, how: string): void {
    this.all.delete(one);
    if (this.places[place] !== one) return;
    this.places[place] = undefined;
    if (this.isEnding) return;
    countRestart('processo');
    const isSoon = performance.now() - one.readySince! < STABLE_MS;
    this.deaths = isSoon ? this.deaths + 1 : 0;
    this.log.error(
      { pid: one.pid, como: how, seguidas: this.deaths },
      'um processo que atende morreu; outro é iniciado',
    );
    for (const socket of one.takeBack()) this.hand(socket);
    if (this.deaths >= DEATHS_MAX && this.ready.length === 0)
      this.fail(new Died(`o processo ${one.pid} morreu (${how})`));
    else this.fill(place).catch(this.fail);
  }

  private get ready(): readonly AnsweringProcess[] {
    return this.places.filter((one) => one?.isConnected === true) as AnsweringProcess[];
  }

  private hand(socket: Socket): void {
    const [first, ...others] = this.ready;
    if (first !== undefined) others.reduce((least, one) => (one.load < least.load ? one : least), first).hand(socket);
    else if (this.waiting.length < WAITING_MAX) this.waiting.push(socket);
    else socket.destroy();
  }

  private handWaiting(): void {
    const all = this.waiting;
    this.waiting = [];
    for (const socket of all) this.hand(socket);
  }

  /** The quota that a process used is subtracted from the copies of the others. */
  private receive(from: AnsweringProcess, message: FromServing): void {
    if (message.kind === 'spent') {
      for (const one of message.spent) this.quotas.spend(one);
      this.tellOthers(from, message.spent);
    } else if (message.kind === 'measured') this.questions.get(from)?.answer(message.asked, message.snapshot);
    else if (message.kind === 'take') {
      const { wanted, asked } = message;
      const taken = takeCounted(this.quotas, wanted);
      from.tell({ kind: 'taken', asked, taken });
      if (taken.short === undefined) this.tellOthers(from, wanted);
    }
  }

  private tellOthers(from: AnsweringProcess, spent: readonly Wanted[]): void {
    for (const one of this.all) if (one !== from) one.tell({ kind: 'spent', spent });
  }
}

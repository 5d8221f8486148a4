/**
 * The processes of the crash test, each on the same data folder, and the ways to kill them. The test sends kill -9 to any of them, or to
 * all at once, or suspends one without notice. Our dead processes start again at once, as under systemd.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cnpjsOf } from '../../bench/documents.ts';
import {
  openStage,
  type Running,
  registerTenant,
  type Simulator,
  type Stage,
  start,
  startService,
  startSimulator,
} from '../../scripts/stage.ts';
import { NAME } from '../../src/base/pg/embedded.ts';
import { Client } from '../../src/base/pg/pg.ts';
import { onEnd } from './cleanup.ts';
import { runBeside } from './cli.ts';
import { ownPort } from './ports.ts';
import { ifThere, readyDataDir, serverProcesses } from './process.ts';
import { until } from './until.ts';

export const SLUG = 'exemplo';
export const PROVIDERS = 3;
const STOPPED_MS = 10_000;
/** The pause before the next start, after a start that failed. */
const RESTART_MS = 500;
const RESTARTS_MAX = 20;
/** Faults of each kind, in shares that make about every third request fail. */
const FALTAS =
  'atraso=0.1,atraso-antes=0.05,erro5xx=0.02,erro429=0.02,html=0.02,reinicio-antes=0.02,reinicio-depois=0.03,resposta-perdida=0.02,' +
  'resposta-dupla=0.1,reordena=0.2,lote-parcial=0.04,corpo-cortado=0.02,sem-lote=0.02,manutencao=0.02,e999=0.02,erro5xx-depois=0.02,' +
  'html-depois=0.02,nomes-camel=0.1,base64-duplo=0.1,atraso_ms=300,perdida_ms=4000';
/** The share of documents that the environment refuses, by a rule that also refuses them again. */
const RECUSAS = [
  { codigo: 'E1289', descricao: 'vISSQN não confere', parte: 0.05 },
  { codigo: 'E0840', tipo: '101101', parte: 0.05 },
];

/** A process that is restarted after each death. */
type Kept<R extends Running = Running> = {
  readonly running: () => R;
  /** Sends kill -9 and starts the next process; resolves when it is ready. */
  revive(): Promise<void>;
};

export type Palco = {
  readonly stage: Stage;
  /** Addresses of the two services, which stay the same. */
  readonly services: readonly [string, string];
  readonly simulator: () => Simulator;
  /** Starts that failed, with their output. */
  readonly failedStarts: readonly string[];
  /** Ways to fail; each resolves when the victim answers again. */
  readonly quedas: readonly Queda[];
  /** A connection of the test itself, which starts no server. */
  connect(): Promise<Client>;
};

export type Queda = {
  /** The name in Portuguese, for the published table. */
  readonly nome: string;
  /** Returns the time from which it could answer again: the end of a suspension, or the death of a process. */
  strike(): Promise<number>;
};

/** Starts everything, with a municipality in production and the sandbox without limits. */
export async function openPalco(seed: number): Promise<Palco> {
  const dataDir = await readyDataDir();
  const env = { NFSE_DATA_DIR: dataDir };
  const casa = await openCasa(path.join(dataDir, 'palco'), seed, env);
  const transmissor = await casa.keep(() => start(['transmitir'], casa.env, /Transmitindo o que está em/));

  const location = path.join(dataDir, 'pg');
  const connect = (): Promise<Client> => until(() => connectionTo(location), 'PostgreSQL takes a connection');
  const quedas = quedasOf({ ...casa, dataDir, location, transmissor, connect });
  return { ...casa, simulator: casa.adn.running, quedas, connect };
}

/** Our processes besides the worker, on the database that this environment names. */
export async function openCasa(dir: string, seed: number, own: NodeJS.ProcessEnv) {
  const env = { ...own, NFSE_ESPERA_AO_ENCERRAR: '0', NFSE_AVISOS_PRIVADOS: '1', NFSE_LOG_LEVEL: 'error' };
  const stage = await openStage(dir, cnpjsOf(PROVIDERS), Date.now());
  const failedStarts: string[] = [];
  const keep = async <R extends Running>(begin: () => Promise<R>): Promise<Kept<R>> => {
    let running = await begin();
    let isEnded = false;
    onEnd(() => {
      isEnded = true;
      return running.end('SIGINT');
    });
    const revive = async (): Promise<void> => {
      await running.end('SIGKILL');
      for (let tries = 1; !isEnded; tries += 1) {
        try {
          running = await begin();
          return;
        } catch (error) {
          failedStarts.push(String(error));
          if (tries === RESTARTS_MAX) throw error;
          await pause(RESTART_MS);
        }
      }
    };
    return { running: () => running, revive };
  };
  const ports = [await ownPort(), await ownPort()] as const;
  let starts = 0;
  const adn = await keep(async () => {
    starts += 1;
    const simulator = await startSimulator(stage, ['--semente', `${seed + starts}`, '--faltas', FALTAS], ports);
    await simulator.ask('/recusas', { method: 'PUT', body: JSON.stringify(RECUSAS) });
    return simulator;
  });
  const [portA, portB] = [String(await ownPort()), String(await ownPort())];
  const serviceA = await keep(() => startService({ ...env, PORT: portA }));
  const providers = stage.pki.prestadores
    .slice(0, PROVIDERS)
    .map(({ documento }) => ({ documento, razaoSocial: 'Prestador de Teste Ltda' }));
  await registerTenant(stage, { slug: SLUG, ibge: '3550308', adn: adn.running().address, providers }, env, runBeside);
  await runBeside(['municipio', 'alterar', 'integracao', '--limite-endereco', '0', '--limite-prestador', '0'], env);
  const serviceB = await keep(() => startService({ ...env, PORT: portB }));
  const services = [serviceA.running().address, serviceB.running().address] as const;
  return { stage, env, adn, serviceA, serviceB, services, failedStarts, keep };
}

/** The content of PostgreSQL's postmaster.pid; undefined while the file is missing or incomplete. */
async function readPidFile(location: string) {
  const text = await readFile(path.join(location, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, socketDir] = text.split('\n');
  return port === undefined ? undefined : { pid: Number(pid), port: Number(port), socketDir };
}

/** Sends kill -9 to the server of a data folder; resolves when a new one runs. */
export async function killPostgres(location: string): Promise<void> {
  const { pid } = (await readPidFile(location))!;
  process.kill(pid, 'SIGKILL');
  await until(async () => (await readPidFile(location))?.pid !== pid || undefined, 'another PostgreSQL');
}

async function connectionTo(location: string): Promise<Client | undefined> {
  const lock = await readPidFile(location);
  if (lock === undefined) return undefined;
  const client = new Client({
    host: lock.socketDir || location,
    port: lock.port,
    user: NAME,
    database: NAME,
    connectionTimeoutMillis: 2_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}

type Struck = {
  readonly dataDir: string;
  readonly location: string;
  readonly serviceA: Kept;
  readonly serviceB: Kept;
  readonly transmissor: Kept;
  readonly adn: Kept;
  readonly connect: () => Promise<Client>;
};

function quedasOf({ dataDir, location, serviceA, serviceB, transmissor, adn, connect }: Struck): readonly Queda[] {
  const answers = async (): Promise<void> => (await connect()).end();
  const killServer = async (): Promise<void> => {
    await killPostgres(location);
    await answers();
  };
  const killed =
    (...kills: readonly (() => Promise<void>)[]) =>
    async (): Promise<number> => {
      const at = performance.now();
      await Promise.all(kills.map((kill) => kill()));
      return at;
    };
  const stopped = async (pids: readonly number[]): Promise<number> => {
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      await pause(STOPPED_MS);
    } finally {
      for (const pid of pids) ifThere(() => process.kill(pid, 'SIGCONT'));
    }
    return performance.now();
  };
  const killBackend = async (): Promise<void> => {
    const client = await connect();
    const thrownOut = new Promise((resolve) => client.once('end', resolve));
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
       order by state_change desc limit 1`,
    );
    process.kill(rows[0]!.pid, 'SIGKILL');
    // The server ends all its processes after a crash of one, because their shared memory may be corrupt.
    await thrownOut;
    await answers();
  };
  const all = [serviceA, serviceB, transmissor, adn].map(({ revive }) => revive);
  return [
    { nome: 'serviço A, kill -9', strike: killed(serviceA.revive) },
    { nome: 'serviço B, kill -9', strike: killed(serviceB.revive) },
    { nome: 'transmissor, kill -9', strike: killed(transmissor.revive) },
    { nome: 'ADN, kill -9', strike: killed(adn.revive) },
    { nome: 'PostgreSQL, kill -9', strike: killed(killServer) },
    { nome: 'um processo do PostgreSQL, kill -9', strike: killed(killBackend) },
    { nome: 'todos de uma vez, kill -9', strike: killed(killServer, ...all) },
    { nome: 'PostgreSQL parado 10 s', strike: () => stopped(serverProcesses(dataDir)) },
    { nome: 'serviço A parado 10 s', strike: () => stopped([serviceA.running().pid]) },
  ];
}

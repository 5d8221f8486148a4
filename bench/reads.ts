/**
 * `npm run bench -- --leituras N`: a note by its key, its events and its printed form. Many connections request them
 * without a pause, over the keys of N notes. The service has a processor of its own when `taskset` exists; its database
 * and the clients share the others. Then every address is measured beside a bare server.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { Client } from '../src/base/pg/pg.ts';
import { askMeasured, micros, placeOf } from './asker.ts';
import { cpuTimesOf, foreignShare, machineTimes, processesOf } from './cpu.ts';
import { measureAddresses } from './enderecos.ts';
import type { MeasureOptions } from './medir.ts';
import { costOf } from './ratios.ts';
import { describeMachine, printTables, type Table, writeTables } from './report.ts';
import { onService, runLoads, type ServiceSide } from './scene.ts';
import type { Row } from './tables.ts';

const WARMUP_MS = 4_000;
const CONNECTIONS = 32;
/** The number of documents made before they are sent. */
const NOTES_AT_ONCE = 5_000;

/** The requests about a note, below the municipality. */
const QUESTIONS = {
  'nota pela chave': (chave: string) => `/api/v1/nfse/${chave}`,
  'eventos de uma nota': (chave: string) => `/api/v1/nfse/${chave}/eventos`,
  'nota impressa (DANFSe)': (chave: string) => `/api/v1/danfse/${chave}`,
} as const satisfies Readonly<Record<string, (chave: string) => string>>;

type Reads = MeasureOptions & { readonly total: number; readonly seconds: number; readonly saves: boolean };

export async function benchReads(dataDir: string, options: Reads): Promise<void> {
  const { connections, commit, total, seconds, saves } = options;
  const reads: Table[] = [];
  const conditions: string[] = [];
  await onService(dataDir, options, async ({ scene, side, load }) => {
    for (let left = total; left > 0; left -= NOTES_AT_ONCE) {
      const command = { kind: 'closed', count: Math.min(left, NOTES_AT_ONCE), connections } as const;
      await runLoads(scene, [{ ...load, command }]);
    }
    const keys = await keysOf(side);
    const isAlone = giveProcessor(side);
    const rows: Row[] = [];
    const before = machineTimes(process.pid);
    for (const [name, pathOf] of Object.entries(QUESTIONS)) {
      rows.push(await ask(side, name, keys.map(pathOf), seconds));
    }
    conditions.push(
      ...describeMachine(commit, foreignShare(before, machineTimes(process.pid))),
      `${keys.length} notas, ${CONNECTIONS} conexões, ${seconds} s cada leitura`,
      isAlone ? 'serviço sozinho num processador' : 'sem taskset, ou num processador só: o serviço não está sozinho',
    );
    reads.push({ title: 'Leituras', head: HEAD, rows });
  });
  const before = machineTimes(process.pid);
  const addresses = [await measureAddresses()];
  printTables([...reads, ...addresses], conditions);
  if (!saves) return;
  writeTables('leituras', reads, conditions);
  writeTables('enderecos', addresses, describeMachine(commit, foreignShare(before, machineTimes(process.pid))));
}

const HEAD = [
  '',
  'CPU do serviço',
  'do fio que atende',
  'do banco',
  'por segundo de CPU do serviço',
  'respondidas por segundo',
  'p50, ms',
  'p99, ms',
  'CPU de quem pergunta',
];

/** `paths`: below the municipality. */
async function ask(side: ServiceSide, name: string, paths: readonly string[], seconds: number): Promise<Row> {
  const base = new URL(side.address).pathname;
  const order = { ...placeOf(side.address), connections: CONNECTIONS, warmupMs: WARMUP_MS, measureMs: seconds * 1000 };
  const asked = await askMeasured({ ...order, paths: paths.map((one) => base + one) }, () =>
    cpuTimesOf(side.pid, side.dataDir),
  );
  const { answers, seconds: lasted, p50, p99, cpu } = asked.result;
  const { servico, emissor, banco } = costOf(asked.before, asked.after, answers);
  return [
    name,
    ...[servico, emissor, banco].map((one) => `${one.toFixed(0)} µs`),
    (1e6 / servico).toFixed(0),
    (answers / lasted).toFixed(0),
    p50.toFixed(1),
    p99.toFixed(1),
    micros(cpu, answers),
  ];
}

/** The keys of all notes, in random order. */
async function keysOf({ dataDir }: ServiceSide): Promise<readonly string[]> {
  const server = await openEmbedded({ dataDir, log: { info() {}, warn() {}, error() {} } });
  const client = new Client(server.connection);
  await client.connect();
  try {
    const { rows } = await client.query<{ chave: string }>(
      'select chave_acesso as chave from notas order by md5(chave_acesso)',
    );
    return rows.map(({ chave }) => chave);
  } finally {
    await client.end();
    await server.stop();
  }
}

/** Gives the first processor to the service alone, and the others to everything else. False: this machine cannot do so. */
function giveProcessor({ pid, dataDir }: ServiceSide): boolean {
  const { servico, banco } = processesOf(pid, dataDir);
  const last = cpus().length - 1;
  if (last === 0) return false;
  const pin = (processors: string, one: number): void => {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', processors, `${one}`], { stdio: 'ignore' });
  };
  try {
    for (const one of servico) pin('0', one);
    for (const one of [...banco, process.pid]) pin(`1-${last}`, one);
    return true;
  } catch {
    return false;
  }
}

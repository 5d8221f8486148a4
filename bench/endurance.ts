/**
 * `npm run bench -- --minutos N`: notes at one rate for a long time. The service and its database are measured every
 * ten seconds: memory, dead rows, the size of tables and indexes, the duration of an answer, and the backlog. The
 * result shows endless growth, and whether autovacuum keeps up.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { Client } from '../src/base/pg/pg.ts';
import { NUMBERS_A_START, WARMUP_NOTES } from './comparar.ts';
import { cpuTimesOf, foreignShare, HAS_THREADS, machineTimes, processesOf } from './cpu.ts';
import type { Held } from './endurance-probe.ts';
import { type Relation, type Sample, saveEndurance, tablesOfEndurance } from './endurance-report.ts';
import type { MeasureOptions } from './medir.ts';
import { costOf } from './ratios.ts';
import { describeMachine, printTables } from './report.ts';
import { countReceived, type OneService, onService, runLoads, type Scene, type ServiceSide } from './scene.ts';

const SAMPLE_SECONDS = 10;
const PROBE = path.join(import.meta.dirname, 'endurance-probe.ts');

type Endurance = MeasureOptions & { readonly minutes: number; readonly saves: boolean };

export async function benchEndurance(dataDir: string, options: Endurance): Promise<void> {
  const { rate, burst, commit, minutes, saves } = options;
  if (!HAS_THREADS) throw new Error('--minutos lê a memória em /proc, que só há no Linux.');
  const probe = path.join(dataDir, 'sonda');
  await mkdir(probe);
  const before = machineTimes(process.pid);
  const env = { NODE_OPTIONS: `--import=${PROBE}`, BENCH_PROBE: probe };
  const work = async ({ scene, side, load }: OneService): Promise<void> => {
    await runLoads(scene, [{ ...load, command: { kind: 'open', count: WARMUP_NOTES, rate, burst } }]);
    const samples = await sendFor({ scene, side, probe }, options);
    const foreign = foreignShare(before, machineTimes(process.pid));
    const conditions = [
      ...describeMachine(commit, foreign),
      `${minutes} minutos a ${rate} notas por segundo, ${burst} por vez`,
    ];
    const tables = tablesOfEndurance(samples);
    printTables(tables, conditions);
    if (saves) saveEndurance(samples, tables, conditions);
    const failed = samples.find(({ sent }) => sent.failures > 0);
    if (failed !== undefined) throw new Error(`notas não foram emitidas; a primeira: ${failed.sent.firstFailure}`);
  };
  await onService(dataDir, options, work, env);
}

/** The progress line for the operator. */
function describeSample({ minute, sent, waiting, rss }: Sample): string {
  const figures = [
    `${(sent.notes / sent.seconds).toFixed(0)} notas por segundo`,
    `RSS ${(rss / 1e6).toFixed(0)} MB`,
    `p99 ${sent.p99.toFixed(0)} ms`,
    `${waiting} por transmitir`,
  ];
  return `${minute.toFixed(1)} min: ${figures.join(', ')}`;
}

type Stand = { readonly scene: Scene; readonly side: ServiceSide; readonly probe: string };

/** Two generators take turns: one makes its documents while the other sends. */
async function sendFor(stand: Stand, { minutes, rate, burst, path: sent }: Endurance): Promise<readonly Sample[]> {
  const { scene, side } = stand;
  const held = await countReceived(scene);
  const server = await openEmbedded({ dataDir: side.dataDir, log: { info() {}, warn() {}, error() {} } });
  const client = new Client(server.connection);
  await client.connect();
  const spare = side.openSender(1 + NUMBERS_A_START);
  const senders = [side.sender, spare];
  const count = rate * SAMPLE_SECONDS;
  const samples: Sample[] = [];
  try {
    await senders[0]!.make(count, sent.documento);
    const began = performance.now();
    let [issued, cpu] = [0, cpuTimesOf(side.pid, side.dataDir)];
    for (let turn = 0; performance.now() - began < minutes * 60_000; turn += 1) {
      const sending = senders[turn % 2]!.send({ kind: 'open', count, rate, burst });
      await senders[(turn + 1) % 2]!.make(count, sent.documento);
      const { notes, seconds, failures, firstFailure, p50, p99 } = await sending;
      issued += notes;
      const now = cpuTimesOf(side.pid, side.dataDir);
      const cost = costOf(cpu, now, notes);
      cpu = now;
      const sample: Sample = {
        minute: (performance.now() - began) / 60_000,
        sent: { notes, seconds, failures, firstFailure, p50, p99 },
        waiting: sent.isSandbox ? 0 : held + issued - (await countReceived(scene)),
        cpu: { servico: cost.servico, banco: cost.banco },
        ...memoryOf(side),
        threads: heldBy(stand),
        ...(await lookAtDatabase(client)),
      };
      samples.push(sample);
      console.error(describeSample(sample));
    }
    return samples;
  } finally {
    await spare.end();
    await client.end();
    await server.stop();
  }
}

/** The resident memory of the service; the private memory of each database process, and the shared buffers once. */
function memoryOf({ pid, dataDir }: ServiceSide): Pick<Sample, 'rss' | 'database'> {
  const { servico, banco } = processesOf(pid, dataDir);
  const [own, database] = [servico.map(statusOf), banco.map(statusOf)];
  const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
  return {
    rss: sum(own.map(({ VmRSS = 0 }) => VmRSS)),
    database:
      sum(database.map(({ RssAnon = 0 }) => RssAnon)) + Math.max(...database.map(({ RssShmem = 0 }) => RssShmem)),
  };
}

/** Bytes by the names of proc(5); an ended process has none. */
function statusOf(pid: number): Readonly<Record<string, number>> {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(/^(\w+):\s+(\d+) kB$/gm);
    return Object.fromEntries([...lines].map(([, name, kib]) => [name!, Number(kib) * 1024]));
  } catch {
    return {};
  }
}

function heldBy({ side, probe }: Stand): readonly Held[] {
  return readdirSync(probe)
    .filter((name) => name.startsWith(`${side.pid}-`) && name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(path.join(probe, name), 'utf8')) as Held);
}

/** Tables with their TOAST tables, and indexes. */
const RELATIONS = `
  select class.relname as name, class.relkind = 'i' as is_index,
    case class.relkind when 'i' then pg_relation_size(class.oid) else pg_table_size(class.oid) end::float8 as bytes,
    coalesce(n_dead_tup, 0)::float8 as dead, coalesce(n_tup_upd, 0)::float8 as updates, coalesce(n_tup_hot_upd, 0)::float8 as hot,
    coalesce(autovacuum_count, 0)::float8 as vacuums, coalesce(autoanalyze_count, 0)::float8 as analyses
  from pg_class class left join pg_stat_user_tables stat on stat.relid = class.oid
  where class.relnamespace = 'public'::regnamespace and class.relkind in ('r', 'i')`;

async function lookAtDatabase(client: Client): Promise<Pick<Sample, 'wal' | 'relations'>> {
  const { rows: relations } = await client.query<Relation>(RELATIONS);
  const { rows } = await client.query<{ wal: number }>("select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as wal");
  return { wal: rows[0]!.wal, relations };
}

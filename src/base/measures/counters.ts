/**
 * What a thread has counted since it began, and what it knows when asked; the only importer of prom-client, and of its parts alone:
 * the whole brings OpenTelemetry, eighty modules more. Counting is an addition in memory. Snapshots of several threads and processes are added up, so that one reading is of the whole service.
 */
import { createRequire } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type prometheus from 'prom-client';
import { ENSAIO_PREFIX } from '../../fiscal/ambiente.ts';
import {
  type CountedName,
  ENSAIOS,
  type GaugeName,
  type Labels,
  METRICS,
  type Metric,
  MUNICIPIOS_MAX,
  OUTROS,
  type Sample,
} from './metrics.ts';

/** As prom-client writes a registry down; it travels between threads and processes. */
export type Snapshot = readonly {
  readonly name: string;
  readonly type: unknown;
  readonly values: readonly { readonly value: number; readonly labels: object }[];
}[];

const load = createRequire(import.meta.url);
const Registry: typeof prometheus.Registry = load('prom-client/lib/registry');
const Counter: typeof prometheus.Counter = load('prom-client/lib/counter');
const Histogram: typeof prometheus.Histogram = load('prom-client/lib/histogram');
const AggregatorRegistry: typeof prometheus.AggregatorRegistry = load('prom-client/lib/cluster');

const registry = new Registry();
const counters = new Map<string, prometheus.Counter | prometheus.Histogram>();
for (const [name, { kind, labels, help, buckets }] of Object.entries<Metric>(METRICS)) {
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  if (kind === 'counter') counters.set(name, new Counter(settings));
  if (kind === 'histogram') counters.set(name, new Histogram({ ...settings, buckets: [...buckets!] }));
}

/** Adds one event. */
export function count(name: CountedName, labels: Labels, more = 1): void {
  (counters.get(name) as prometheus.Counter).inc(labels, more);
}

/** Adds one measure to a histogram. */
export function observe(name: CountedName, labels: Labels, value: number): void {
  (counters.get(name) as prometheus.Histogram).observe(labels, value);
}

const METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** Counts a request that was answered. `route`: the pattern of its path, where it has one. `ms`: how long it took. */
export function countRequest(
  porta: 'publica' | 'painel',
  { method, route, status, ms }: { method: string; route: string | undefined; status: number; ms: number },
): void {
  // A client may write any name there.
  const metodo = METHODS.has(method) ? method : 'outro';
  const rota = route ?? 'nenhuma';
  count('nfse_requisicoes_total', { porta, metodo, rota, status: String(status) });
  observe('nfse_requisicao_duracao_seconds', { porta, metodo, rota }, ms / 1_000);
}

/** Those that this thread has told by their names. */
const named = new Set<string>();

/** As a municipality is called in a label. */
export function nameMunicipio(tenant: string): string {
  if (tenant.startsWith(ENSAIO_PREFIX)) return ENSAIOS;
  if (named.has(tenant)) return tenant;
  if (named.size >= MUNICIPIOS_MAX) return OUTROS;
  named.add(tenant);
  return tenant;
}

/** What is looked at when a snapshot is taken. */
export type Look = () => Iterable<Sample>;
const looks = new Set<Look>();

/** Has something looked at whenever somebody asks; the result ends that. */
export function lookAt(look: Look): () => void {
  looks.add(look);
  return () => void looks.delete(look);
}

/** How late the loop is to look, in nanoseconds, once a thread has begun to measure it. */
let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
const DELAY_LOOK_MS = 20;

/** Begins to measure how late this thread is. */
export function watchLoop(): void {
  delay ??= monitorEventLoopDelay({ resolution: DELAY_LOOK_MS });
  delay.enable();
}

const NS = 1e9;

/** As it was last seen: two readings at one moment see the same. */
let late = 0;

function lookAtLoop(processo: string, parte: string): readonly Sample[] {
  if (delay === undefined) return [];
  // What is measured is the time between two looks.
  if (delay.count > 0) late = Math.max(0, delay.percentile(99) / NS - DELAY_LOOK_MS / 1_000);
  delay.reset();
  return [{ name: 'nfse_laco_atraso_seconds', labels: { processo, parte }, value: late }];
}

/** What this thread has counted, and what it sees now. `processo`, `parte`: which it is, for gauges that say so. */
export async function takeSnapshot(processo: string, parte: string): Promise<Snapshot> {
  const found = [...looks].flatMap((look) => [...look()]);
  const samples = [...found, ...lookAtLoop(processo, parte)].map((sample) => {
    const { labels } = METRICS[sample.name] as Metric;
    const own = { ...(labels.includes('processo') && { processo }), ...(labels.includes('parte') && { parte }) };
    return { ...sample, labels: { ...own, ...sample.labels } };
  });
  const counted = (await registry.getMetricsAsJSON()).filter(({ values }) => values.length > 0);
  return [...(counted as unknown as Snapshot), ...gauges(samples)];
}

/** Gauges as a snapshot has them. */
export function gauges(samples: readonly Sample[]): Snapshot {
  return [...Map.groupBy(samples, ({ name }) => name)].map(([name, some]) => ({
    name,
    help: METRICS[name].help,
    type: 'gauge',
    values: some.map(({ labels, value }) => ({ labels, value })),
    aggregator: 'max',
  }));
}

/** Counters added, histograms added; of a gauge that several tell under the same labels the highest. */
export async function addUp(snapshots: readonly Snapshot[]): Promise<Snapshot> {
  const all = AggregatorRegistry.aggregate(snapshots as unknown as object[][] as object[]);
  return (await all.getMetricsAsJSON()) as unknown as Snapshot;
}

/** What goes on counting when the one who counted is gone. */
export function countedIn(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ type }) => type !== 'gauge');
}

/** The gauges of a snapshot. */
export function samplesIn(snapshot: Snapshot): readonly Sample[] {
  return snapshot.flatMap(({ name, type, values }) =>
    type === 'gauge'
      ? values.map(({ value, labels }) => ({ name: name as GaugeName, labels: labels as Labels, value }))
      : [],
  );
}

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** The text that Prometheus reads. */
export function writeSnapshot(snapshot: Snapshot): Promise<string> {
  return AggregatorRegistry.aggregate([snapshot] as unknown as object[]).metrics();
}

/**
 * Counts of a thread since its start, and its current gauges. Only this file imports prom-client, and only parts of it, since the whole
 * package loads OpenTelemetry with eighty modules. Counting is an addition in memory. Snapshots of several threads and processes are added
 * up, so that one reading covers the whole service.
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

/** A registry in the form of prom-client; it is sent between threads and processes. */
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

/** Adds to a counter, one by default. */
export function count(name: CountedName, labels: Labels, more = 1): void {
  (counters.get(name) as prometheus.Counter).inc(labels, more);
}

/** Adds one measure to a histogram. */
export function observe(name: CountedName, labels: Labels, value: number): void {
  (counters.get(name) as prometheus.Histogram).observe(labels, value);
}

const METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** Counts a request that was answered. `route`: the pattern of its path, if any. `ms`: its duration. */
export function countRequest(
  porta: 'publica' | 'painel',
  { method, route, status, ms }: { method: string; route: string | undefined; status: number; ms: number },
): void {
  // A client may send any method name.
  const metodo = METHODS.has(method) ? method : 'outro';
  const rota = route ?? 'nenhuma';
  count('nfse_requisicoes_total', { porta, metodo, rota, status: String(status) });
  observe('nfse_requisicao_duracao_seconds', { porta, metodo, rota }, ms / 1_000);
}

/** Municipalities that this thread has used as labels. */
const named = new Set<string>();

/** The name of a municipality in a label. */
export function nameMunicipio(tenant: string): string {
  if (tenant.startsWith(ENSAIO_PREFIX)) return ENSAIOS;
  if (named.has(tenant)) return tenant;
  if (named.size >= MUNICIPIOS_MAX) return OUTROS;
  named.add(tenant);
  return tenant;
}

/** Reads gauges when a snapshot is taken. */
export type Look = () => Iterable<Sample>;
const looks = new Set<Look>();

/** Registers a reader of gauges; the returned function removes it. */
export function lookAt(look: Look): () => void {
  looks.add(look);
  return () => void looks.delete(look);
}

/** Delay of the event loop in nanoseconds, once a thread has begun to measure it. */
let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
const DELAY_LOOK_MS = 20;
const NS = 1e9;
const WINDOW_MS = 60_000;

/** The delay within the last full window. Readings leave the windows alone, so that any number of watchers gets the same. */
let lastDelay = 0;

/** Begins to measure the delay of this thread's event loop. */
export function watchLoop(): void {
  if (delay !== undefined) return;
  delay = monitorEventLoopDelay({ resolution: DELAY_LOOK_MS });
  delay.enable();
  setInterval(closeWindow, WINDOW_MS).unref();
}

function closeWindow(): void {
  lastDelay = measureDelay();
  delay?.reset();
}

/** Percentile 99 of the current window, in seconds. */
function measureDelay(): number {
  if (delay === undefined || delay.count === 0) return 0;
  // The histogram measures the time between two samples, so the sampling interval is subtracted.
  return Math.max(0, delay.percentile(99) / NS - DELAY_LOOK_MS / 1_000);
}

function lookAtLoop(processo: string, parte: string): readonly Sample[] {
  if (delay === undefined) return [];
  const value = Math.max(lastDelay, measureDelay());
  return [{ name: 'nfse_laco_atraso_seconds', labels: { processo, parte }, value }];
}

/** The counts of this thread, and its gauges now. `processo`, `parte`: labels of this thread, for gauges that have them. */
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

/** Gauges in the form of a snapshot. */
export function gauges(samples: readonly Sample[]): Snapshot {
  return [...Map.groupBy(samples, ({ name }) => name)].map(([name, some]) => ({
    name,
    help: METRICS[name].help,
    type: 'gauge',
    values: some.map(({ labels, value }) => ({ labels, value })),
    aggregator: 'max',
  }));
}

/** Adds counters and histograms. A gauge with several values under the same labels keeps the highest. */
export async function addUp(snapshots: readonly Snapshot[]): Promise<Snapshot> {
  const all = AggregatorRegistry.aggregate(snapshots as unknown as object[][] as object[]);
  return (await all.getMetricsAsJSON()) as unknown as Snapshot;
}

/** The counters of a snapshot, which stay valid after their process has ended. */
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

/** The snapshot in the text format of Prometheus. */
export function writeSnapshot(snapshot: Snapshot): Promise<string> {
  return AggregatorRegistry.aggregate([snapshot] as unknown as object[]).metrics();
}

/** Prometheus from Debian that watches a test's service: its alerts by name, its query results. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onEnd } from './cleanup.ts';
import { ownPort } from './ports.ts';
import { until } from './until.ts';

export type Watching = {
  /** The firing alerts, each as `name/severity`, without duplicates. */
  firing(): Promise<readonly string[]>;
  /** The result of a query; throws the error of an invalid one. */
  query(
    expr: string,
  ): Promise<readonly { readonly metric: Readonly<Record<string, string>>; readonly value: number }[]>;
  /** The values between two moments, in seconds; those that are not numbers are left out. */
  range(expr: string, within: Readonly<Record<'from' | 'to' | 'step', number>>): Promise<readonly Series[]>;
};
type Series = {
  readonly metric: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [at: number, value: number])[];
};

/** Watches `targets` with these rules, one scrape a second. */
export async function watchWithPrometheus(
  program: string,
  targets: readonly string[],
  rules = 'groups: []',
): Promise<Watching> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-prometheus-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'alertas.yml'), rules);
  await writeFile(
    path.join(folder, 'prometheus.yml'),
    `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
scrape_configs:
  - job_name: nfse
    static_configs: [{ targets: ${JSON.stringify(targets)} }]
rule_files: ['alertas.yml']
`,
  );
  const address = `127.0.0.1:${await ownPort()}`;
  const files = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/dados`];
  const child = spawn(program, [...files, `--web.listen-address=${address}`, '--log.level=error'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  onEnd(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const ask = async (what: string): Promise<{ status: string; error?: string; data: never }> => {
    const response = await fetch(`http://${address}/api/v1/${what}`);
    return (await response.json()) as never;
  };
  await until(async () => {
    if (child.exitCode !== null) throw new Error(said);
    return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok || undefined;
  }, 'Prometheus');
  return {
    firing: async () => {
      const { data } = await ask('alerts');
      const { alerts } = data as { alerts: { state: string; labels: Record<string, string> }[] };
      const names = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
      return [...new Set(names.map(({ alertname, severity }) => `${alertname}/${severity}`))].sort();
    },
    query: async (expr) => {
      const { status, error, data } = await ask(`query?${new URLSearchParams({ query: expr })}`);
      if (status !== 'success') throw new Error(`${expr}: ${error}`);
      const { result } = data as { result: { metric: Record<string, string>; value: [number, string] }[] };
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    range: async (expr, { from, to, step }) => {
      const within = { start: String(from), end: String(to), step: String(step) };
      const { status, error, data } = await ask(`query_range?${new URLSearchParams({ query: expr, ...within })}`);
      if (status !== 'success') throw new Error(`${expr}: ${error}`);
      const { result } = data as { result: { metric: Record<string, string>; values: [number, string][] }[] };
      return result
        .map(({ metric, values }) => {
          const points = values.map(([at, value]): readonly [number, number] => [at, Number(value)]);
          return { metric, points: points.filter(([, value]) => Number.isFinite(value)) };
        })
        .filter(({ points }) => points.length > 0);
    },
  };
}

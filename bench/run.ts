/** What both benchmarks share: the load in its own process, looks at the machine when it begins and ends, and the table. */
import { fork } from 'node:child_process';
import path from 'node:path';
import type { LoadOrder, LoadResult } from './load.ts';

const LOAD = path.join(import.meta.dirname, 'load.ts');

export type Row = readonly string[];

/** Runs the load; `look` is called when the measuring begins and when it ends. */
export function generate<Look>(
  order: LoadOrder,
  look: () => Look | Promise<Look>,
): Promise<{ readonly result: LoadResult; readonly before: Look; readonly after: Look }> {
  const generator = fork(LOAD, [JSON.stringify(order)]);
  let before: Promise<Look> | undefined;
  let after: Promise<Look> | undefined;
  return new Promise((resolve, reject) => {
    generator.on('message', (message) => {
      if (message === 'measuring') before = Promise.resolve(look());
      else if (message === 'measured') after = Promise.resolve(look());
      else {
        Promise.all([before!, after!]).then(
          ([first, last]) => resolve({ result: message as LoadResult, before: first, after: last }),
          reject,
        );
      }
    });
    generator.on('error', reject);
    generator.on('exit', (code) => code === 0 || reject(new Error(`the load generator ended with ${code}`)));
  });
}

/** Every sampled key must be there: a figure of notes that were lost is no figure. */
export async function verifyThere(address: string, slug: string, result: LoadResult): Promise<void> {
  if (result.failures > 0)
    throw new Error(`${result.failures} requests were not issued; first: ${result.firstFailure}`);
  for (const key of result.sampleKeys) {
    const response = await fetch(`${address}/${slug}/api/v1/nfse/${key}`);
    if (response.status !== 200) throw new Error(`an answered note is not there: HTTP ${response.status}`);
    await response.arrayBuffer();
  }
}

const DRAIN_MAX_MS = 120_000;

/** Seconds after the last answer until the last note was authorised. */
export async function drainTime(address: string, slug: string, result: LoadResult): Promise<number> {
  const began = performance.now();
  const last = result.sampleKeys.at(-1);
  for (;;) {
    const response = await fetch(`${address}/${slug}/api/v1/nfse/${last}`);
    const { nota } = (await response.json()) as { nota: { status: string } };
    if (nota.status === 'autorizada') return (performance.now() - began) / 1000;
    if (performance.now() - began > DRAIN_MAX_MS) throw new Error('the last note is not authorised after two minutes');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function latencyRow({ p50, p99, max }: LoadResult): Row {
  return ['latência p50 / p99 / máx', `${p50.toFixed(1)} / ${p99.toFixed(1)} / ${max.toFixed(1)} ms`];
}

export function printRows(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(([name]) => name!.length));
  console.log(rows.map(([name, value]) => `${name!.padEnd(width)}  ${value}`).join('\n'));
}

/** Rows under a head; all columns but the first are figures. */
export function printTable(head: Row, rows: readonly Row[]): void {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  const line = (row: Row): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ');
  console.log([head, ...rows].map(line).join('\n'));
}

/** The cost of a note by part of the service, and the comparison of two services in the same seconds. Arithmetic only. */
import type { CpuTimes } from './cpu.ts';

/** The shown rows: their titles, and the parts of the count that each adds up. */
const ROWS = {
  emissor: ['fio que emite', ['emissor']],
  transmissor: ['fio que transmite', ['transmissor']],
  auxiliares: ['fios auxiliares do V8', ['auxiliares']],
  servico: ['serviço ao todo', ['emissor', 'transmissor', 'auxiliares', 'resto']],
  banco: ['banco', ['banco']],
  tudo: ['serviço + banco', ['emissor', 'transmissor', 'auxiliares', 'resto', 'banco']],
} as const satisfies Readonly<Record<string, readonly [string, readonly (keyof CpuTimes)[]]>>;

export type RowName = keyof typeof ROWS;
/** Processor microseconds per note. */
export type Cost = Readonly<Record<RowName, number>>;

const ROW_NAMES = Object.keys(ROWS) as readonly RowName[];
const OF_THREADS: readonly RowName[] = ['emissor', 'transmissor', 'auxiliares'];

/** The rows of threads are absent when threads are not counted apart. */
export function rowsHere(hasThreads: boolean): readonly RowName[] {
  return ROW_NAMES.filter((row) => hasThreads || !OF_THREADS.includes(row));
}

export function titleOf(row: RowName): string {
  return ROWS[row][0];
}

export function costOf(before: CpuTimes, after: CpuTimes, notes: number): Cost {
  const spent = (part: keyof CpuTimes): number => after[part] - before[part];
  return Object.fromEntries(
    Object.entries(ROWS).map(([row, [, parts]]) => [row, (sumOf(parts.map(spent)) / notes) * 1e6]),
  ) as Cost;
}

/** Both services in one window. */
export type Window = { readonly own: Cost; readonly other: Cost };
/** `error`: the standard error of the mean. */
export type Spread = { readonly median: number; readonly least: number; readonly most: number; readonly error: number };
/** `whole`: over all windows, with rare events in it: a checkpoint, a vacuum. */
export type Comparison = {
  readonly own: Spread;
  readonly other: Spread;
  readonly ratio: Spread;
  readonly whole: number;
};

/** The ratio is taken within each window: a disturbance of the machine affects both sides. */
export function compareWindows(windows: readonly Window[], row: RowName): Comparison {
  return {
    own: spreadOf(windows.map(({ own }) => own[row])),
    other: spreadOf(windows.map(({ other }) => other[row])),
    ratio: spreadOf(windows.map(({ own, other }) => own[row] / other[row])),
    whole: sumOf(windows.map(({ own }) => own[row])) / sumOf(windows.map(({ other }) => other[row])),
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0);
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  const mean = sumOf(sorted) / sorted.length;
  const squares = sumOf(sorted.map((one) => (one - mean) ** 2));
  const error = Math.sqrt(squares / Math.max(1, sorted.length - 1) / sorted.length);
  return { median, least: sorted[0]!, most: sorted.at(-1)!, error };
}

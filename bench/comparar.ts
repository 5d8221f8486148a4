/**
 * `npm run bench -- --comparar REF`: the service of another commit beside this one, in the same seconds: two databases, two generators, one
 * ADN simulator. Both get the same load, at a rate that neither is at its end with, and each window is counted when its last note
 * is authorised. So both did the same work under the same disturbances, and the ratio of their CPU time says what a change is worth.
 */
import path from 'node:path';
import { openStage, ROOT, type Simulator, startSimulator } from '../scripts/stage.ts';
import { checkOut, git, nameOwnTree } from './commit.ts';
import { type CpuTimes, cpuTimesOf, HAS_THREADS } from './cpu.ts';
import { cnpjsOf } from './documents.ts';
import { compareWindows, costOf, ROW_NAMES, ROWS_OF_THREADS, type Spread, titleOf, type Window } from './ratios.ts';
import { printTable, type Row } from './run.ts';
import type { Sent } from './sender.ts';
import { openSide, type Path, type Place, preparePlace, type Side } from './side.ts';

export type ComparisonOptions = {
  readonly ref: string;
  readonly path: Path;
  /** Starts of both services, each with so many windows: what a process draws at its start, in memory and in V8, is drawn again. */
  readonly starts: number;
  readonly windows: number;
  /** Of each service in each window. */
  readonly notes: number;
  /** Notes a second, to each service, so many at once. */
  readonly rate: number;
  readonly burst: number;
  readonly providers: number;
};

/** Longer than it takes V8 to have compiled what runs often. */
const WARMUP_NOTES = 2_500;
const RECEIVED_MAX_MS = 600_000;
const NUMBERS_A_START = 10_000_000;

export async function benchComparison(dataDir: string, options: ComparisonOptions): Promise<void> {
  const { ref, providers, starts, windows: count, notes, rate, burst } = options;
  const names = { own: await nameOwnTree(), other: await git('rev-parse', '--short', `${ref}^{commit}`) };
  const other = await checkOut(ref, path.join(dataDir, 'outro'));
  // Two lists of providers: the same one would make the same access keys twice, which the environment refuses.
  const stage = await openStage(path.join(dataDir, 'palco'), cnpjsOf(2 * providers), Date.now());
  const keys = stage.pki.prestadores;
  const simulator = await startSimulator(stage);
  try {
    const own = { root: ROOT, node: process.execPath };
    const places: Pair<Place> = [
      { tree: own, dataDir: path.join(dataDir, 'este'), providers: keys.slice(0, providers) },
      { tree: other, dataDir: path.join(dataDir, 'aquele'), providers: keys.slice(providers, 2 * providers) },
    ];
    for (const place of places) await preparePlace(place, stage, simulator);
    const windows: Window[] = [];
    for (let start = 0; start < starts; start += 1) {
      windows.push(...(await measureStart(places, start, simulator, options)));
      console.error(`partida ${start + 1} de ${starts}`);
    }
    console.log(
      `\nEste (${names.own}) ao lado de ${ref} (${names.other}), nos mesmos segundos: ${starts} partidas com ${count} janelas de ${notes} notas de cada um, ${rate}/s a cada um, ${burst} por vez.`,
    );
    printComparison(windows);
  } finally {
    await simulator.end('SIGINT');
  }
}

/** This one, and the other. */
type Pair<Of> = readonly [Of, Of];

/** Starts both services, warms them up and measures; which of them is started first alternates. */
async function measureStart(
  places: Pair<Place>,
  start: number,
  simulator: Simulator,
  { path: sent, windows, notes, rate, burst }: ComparisonOptions,
): Promise<Window[]> {
  const opened = new Map<Place, Side>();
  try {
    for (const place of start % 2 === 0 ? places : places.toReversed()) {
      opened.set(place, await openSide(place, sent, 1 + start * NUMBERS_A_START));
    }
    const sides: Pair<Side> = [opened.get(places[0])!, opened.get(places[1])!];
    const { documentos } = await simulator.ask('/estado');
    let received = documentos as number;
    const runWindow = async (count: number): Promise<void> => {
      await Promise.all(sides.map((side) => side.tell({ kind: 'make', count })));
      const results = await Promise.all(sides.map((side) => side.tell({ kind: 'open', count, rate, burst })));
      for (const result of results) checkSent(result);
      received += 2 * count;
      if (!sent.isSandbox) await waitReceived(simulator, received);
      await Promise.all(sides.map((side, place) => side.waitAuthorised(results[place]!)));
    };
    await runWindow(WARMUP_NOTES);
    const looks = [look(sides)];
    for (let window = 0; window < windows; window += 1) {
      await runWindow(notes);
      looks.push(look(sides));
    }
    // Each window begins where the one before ended, so that what a service does between them is counted.
    return looks.slice(1).map((after, place) => {
      const before = looks[place]!;
      return { own: costOf(before[0], after[0], notes), other: costOf(before[1], after[1], notes) };
    });
  } finally {
    for (const side of opened.values()) await side.end();
  }
}

function look(sides: Pair<Side>): Pair<CpuTimes> {
  return [cpuTimesOf(sides[0].pid, sides[0].dataDir), cpuTimesOf(sides[1].pid, sides[1].dataDir)];
}

function checkSent({ failures, firstFailure, remarks }: Sent): void {
  if (failures > 0) throw new Error(`${failures} notas não foram emitidas; a primeira: ${firstFailure}`);
  if (remarks.length > 0) throw new Error(`o documento da medida recebe avisos: ${remarks.join(', ')}`);
}

/** Waits until the environment has every note of both. */
async function waitReceived(simulator: Simulator, notes: number): Promise<void> {
  const began = performance.now();
  for (;;) {
    const { documentos } = (await simulator.ask('/estado')) as { readonly documentos: number };
    if (documentos >= notes) return;
    if (performance.now() - began > RECEIVED_MAX_MS) throw new Error(`o ADN recebeu ${documentos} de ${notes} notas`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function printComparison(windows: readonly Window[]): void {
  const rows = ROW_NAMES.filter((row) => HAS_THREADS || !ROWS_OF_THREADS.includes(row));
  printTable(
    ['CPU por nota emitida e transmitida', 'este, µs', 'outro, µs', 'razão', 'de', 'a'],
    rows.map((row): Row => {
      const { own, other, ratio } = compareWindows(windows, row);
      const each = ({ median }: Spread): string => median.toFixed(0);
      return [
        titleOf(row),
        each(own),
        each(other),
        ...[ratio.median, ratio.least, ratio.most].map((one) => one.toFixed(3)),
      ];
    }),
  );
  console.log(
    '\nMedianas das janelas; a razão é a de cada janela, com a menor e a maior. Abaixo de 1, este custa menos.',
  );
  if (!HAS_THREADS)
    console.log('Sem /proc, o tempo é o que o ps conta de processos inteiros, e os fios não se distinguem.');
}

/**
 * `npm run bench -- --comparar REF`: the service of another commit beside this one, in the same seconds: two databases,
 * two generators, one ADN simulator. Both get the same loads. Each window is counted when its last note is authorised. Both do the same work under the same disturbances: the ratio of their CPU
 * time shows a change's value.
 */
import path from 'node:path';
import { ROOT, type Tree } from '../scripts/stage.ts';
import { startCollector } from './coletor.ts';
import { checkOut, git, nameOfCommit } from './commit.ts';
import { type CpuTimes, cpuTimesOf, foreignShare, HAS_THREADS, machineTimes } from './cpu.ts';
import { commandOf, LOAD_NAMES, type LoadName, type LoadOptions, titleOfLoad } from './loads.ts';
import { compareWindows, costOf, rowsHere, spreadOf, titleOf, type Window } from './ratios.ts';
import { type ComparedRow, describeConditions, printTables, saveComparison, type Table } from './report.ts';
import {
  type Load,
  openScene,
  openSide,
  type Path,
  type Place,
  preparePlace,
  type Ran,
  runLoads,
  type Scene,
  type Side,
  waitQuiet,
} from './scene.ts';
import { countCommits } from './servidor.ts';
import type { Row } from './tables.ts';

export type WindowOptions = LoadOptions & {
  /** The commit of this tree, at the beginning of the measure. */
  readonly commit: string;
  /** Starts of the services, each with its windows: chance effects of a start, in memory and in V8, are drawn anew. */
  readonly starts: number;
  readonly windows: number;
  readonly providers: number;
};

export type ComparisonOptions = WindowOptions & {
  readonly ref: string;
  readonly path: Path;
  readonly saves: boolean;
  /** The share of requests that this service traces; undefined: it has no collector. */
  readonly traced: string | undefined;
};

/** V8 has compiled the frequent code before this many notes. */
export const WARMUP_NOTES = 2_500;
export const NUMBERS_A_START = 10_000_000;

export async function benchComparison(dataDir: string, options: ComparisonOptions): Promise<Windows> {
  const { ref, providers } = options;
  const name = await git('rev-parse', '--short', await nameOfCommit(ref));
  const other = await checkOut(ref, path.join(dataDir, 'outro'));
  const scene = await openScene(dataDir, 2 * providers);
  try {
    const places = placesOf(dataDir, scene, [OWN, other], providers);
    for (const place of places) await preparePlace(place, scene);
    const collector = options.traced === undefined ? undefined : await startCollector();
    const own = collector?.envFor(options.traced!) ?? {};
    const { windows, foreign } = await comparePlaces(scene, places, options, { envs: [own, {}] }).finally(
      collector?.end,
    );
    const conditions = describeConditions(options, foreign);
    const beside = `ao lado de ${ref === name ? ref : `${ref} (${name})`}`;
    const tables = tablesOfLoads(windows, beside, ['este', 'outro']);
    printTables(tables, conditions);
    if (collector !== undefined)
      console.log(
        `\nEste deixou rastros de ${options.traced} das notas: ${collector.spans()} passos chegaram ao coletor.`,
      );
    console.log(
      '\nMedianas das janelas; a razão é a de cada janela, com a menor, a maior e o erro padrão da média; ao todo, a das janelas juntas. Abaixo de 1, este custa menos.',
    );
    if (options.saves) saveComparison('comparacao', beside, rowsOfLoads(windows), tables, conditions);
    return windows;
  } finally {
    await scene.end();
  }
}

/** The tree of the measuring program. */
export const OWN: Tree = { root: ROOT, node: process.execPath };

/** Each place has its own providers: shared ones would make the same access keys twice, which the environment refuses. */
export function placesOf(dataDir: string, { stage }: Scene, trees: Pair<Tree>, providers: number): Pair<Place> {
  const keys = stage.pki.prestadores;
  return [
    { tree: trees[0], dataDir: path.join(dataDir, 'este'), providers: keys.slice(0, providers) },
    { tree: trees[1], dataDir: path.join(dataDir, 'aquele'), providers: keys.slice(providers, 2 * providers) },
  ];
}

/** `further`: measures of two services while both are up. `envs`: further environment variables of each. */
export type Besides = {
  readonly further?: (sides: Pair<Side>) => Promise<void>;
  readonly envs?: Pair<NodeJS.ProcessEnv>;
};

export type Windows = Readonly<Record<LoadName, readonly LoadWindow[]>>;
/** A window with what was sent to both, and the transactions that each database committed. */
export type LoadWindow = Window & { readonly ran: Pair<Ran>; readonly commits: Pair<number> };

/**
 * Windows of issuing on both under each load, over several starts, each followed by further measures; and the share of
 * other programs.
 */
export async function comparePlaces(
  scene: Scene,
  places: Pair<Place>,
  options: WindowOptions & { readonly path: Path },
  besides: Besides = {},
): Promise<{ readonly windows: Windows; readonly foreign: number }> {
  const windows: Record<LoadName, LoadWindow[]> = { uma: [], rajadas: [], pico: [] };
  const before = machineTimes(process.pid);
  for (let start = 0; start < options.starts; start += 1) {
    const measured = await measureStart(scene, places, start, options, besides);
    for (const load of LOAD_NAMES) windows[load].push(...measured[load]);
    console.error(`partida ${start + 1} de ${options.starts}`);
  }
  return { windows, foreign: foreignShare(before, machineTimes(process.pid)) };
}

/** This service, and the other. */
export type Pair<Of> = readonly [Of, Of];

/** Starts both services, warms them up and measures; the order of the starts alternates. */
async function measureStart(
  scene: Scene,
  places: Pair<Place>,
  start: number,
  options: WindowOptions & { readonly path: Path },
  { further, envs }: Besides,
): Promise<Windows> {
  const { path: sent, windows, rate, burst } = options;
  const opened = new Map<Place, Side>();
  try {
    for (const place of start % 2 === 0 ? places : places.toReversed()) {
      const env = envs?.[place === places[0] ? 0 : 1];
      opened.set(place, await openSide(place, sent, 1 + (start + 1) * NUMBERS_A_START, env));
    }
    const sides: Pair<Side> = [opened.get(places[0])!, opened.get(places[1])!];
    const runBoth = (command: Load['command']) => {
      const common = { documento: sent.documento, isTransmitted: !sent.isSandbox, command };
      return runLoads(
        scene,
        sides.map((side) => ({ ...common, side })),
      );
    };
    await runBoth({ kind: 'open', count: WARMUP_NOTES, rate, burst });
    const measureLoad = async (load: LoadName): Promise<readonly LoadWindow[]> => {
      await waitQuiet(sides);
      const command = commandOf(load, options);
      const before = await Promise.all(places.map(countCommits));
      const [runs, looks] = [[] as (readonly Ran[])[], [look(sides)]];
      for (let window = 0; window < windows; window += 1) {
        runs.push(await runBoth(command));
        looks.push(look(sides));
      }
      const after = await Promise.all(places.map(countCommits));
      const commitsOf = (side: 0 | 1): number => (after[side]! - before[side]!) / windows / command.count;
      // Each window begins at the end of the one before, so that work between them is counted.
      return runs.map((ran, place) => {
        const [from, until] = [looks[place]!, looks[place + 1]!];
        return {
          own: costOf(from[0], until[0], command.count),
          other: costOf(from[1], until[1], command.count),
          ran: [ran[0]!, ran[1]!],
          commits: [commitsOf(0), commitsOf(1)],
        };
      });
    };
    const measured = {
      uma: await measureLoad('uma'),
      rajadas: await measureLoad('rajadas'),
      pico: await measureLoad('pico'),
    };
    await further?.(sides);
    return measured;
  } finally {
    for (const side of opened.values()) await side.end();
  }
}

export function look(sides: Pair<Side>): Pair<CpuTimes> {
  return [cpuTimesOf(sides[0].pid, sides[0].database), cpuTimesOf(sides[1].pid, sides[1].database)];
}

function compareRows(windows: readonly Window[]): readonly ComparedRow[] {
  return rowsHere(HAS_THREADS).map((row) => ({ title: titleOf(row), ...compareWindows(windows, row) }));
}

/** The rows of all loads, each under the name of its load. */
export function rowsOfLoads(windows: Windows): readonly ComparedRow[] {
  return LOAD_NAMES.flatMap((load) =>
    compareRows(windows[load]).map((row) => ({ ...row, title: `${titleOfLoad(load)}: ${row.title}` })),
  );
}

/** A table for each load, and one of transactions and of the time until the answer. */
export function tablesOfLoads(windows: Windows, beside: string, names: Pair<string>): readonly Table[] {
  const ofLoads = LOAD_NAMES.map((load) =>
    tableOf(compareRows(windows[load]), `CPU por nota, ${titleOfLoad(load)}, ${beside}`, names),
  );
  const rows = LOAD_NAMES.flatMap((load) => rowsOfAnswers(load, windows[load]));
  return [...ofLoads, { title: 'Transações por nota, e ms até a resposta', head: ['', ...names], rows }];
}

function rowsOfAnswers(load: LoadName, windows: readonly LoadWindow[]): readonly Row[] {
  const cells = (figure: (window: LoadWindow, side: 0 | 1) => number): Row =>
    ([0, 1] as const).map((side) => spreadOf(windows.map((window) => figure(window, side))).median.toFixed(2));
  const hasSmall = windows.some(({ ran }) => ran.some(({ small }) => small.p50 > 0));
  const ofSizes: readonly Row[] = [
    ['do maior município, p50', ...cells(({ ran }, side) => ran[side].giant.p50)],
    ['do maior município, p99', ...cells(({ ran }, side) => ran[side].giant.p99)],
    ['dos pequenos, p50', ...cells(({ ran }, side) => ran[side].small.p50)],
    ['dos pequenos, p99', ...cells(({ ran }, side) => ran[side].small.p99)],
  ];
  const rows: readonly Row[] = [
    ['transações por nota', ...cells(({ commits }, side) => commits[side])],
    ['p50', ...cells(({ ran }, side) => ran[side].p50)],
    ['p99', ...cells(({ ran }, side) => ran[side].p99)],
    ...(hasSmall ? ofSizes : []),
  ];
  return rows.map(([title, ...figures]) => [`${titleOfLoad(load)}: ${title}`, ...figures]);
}

/** `names`: the titles of the two. */
export function tableOf(compared: readonly ComparedRow[], title: string, names: Pair<string>): Table {
  return {
    title,
    head: ['', ...names.map((name) => `${name}, µs`), 'razão', 'de', 'a', 'erro', 'ao todo'],
    rows: compared.map(({ title, own, other, ratio, whole }) => [
      title,
      ...[own.median, other.median].map((one) => one.toFixed(0)),
      ...[ratio.median, ratio.least, ratio.most].map((one) => one.toFixed(3)),
      `± ${ratio.error.toFixed(3)}`,
      whole.toFixed(3),
    ]),
  };
}

/**
 * `npm run bench`: the cost of a note by thread under each load, beside the floor of this machine. Bursts are measured
 * beside the yardstick too. The measure then finds the duration of an answer at 70 % of the maximum rate of notes.
 */
import path from 'node:path';
import { ROOT } from '../scripts/stage.ts';
import { NUMBERS_A_START, WARMUP_NOTES, type WindowOptions } from './comparar.ts';
import { type CpuTimes, cpuTimesOf, foreignShare, machineTimes } from './cpu.ts';
import { DOCUMENTOS, type Documento } from './documents.ts';
import type { Floor } from './floor-pieces.ts';
import { commandOf, LOAD_NAMES, type LoadName } from './loads.ts';
import { type Cost, costOf, spreadOf } from './ratios.ts';
import {
  type FloorProcess,
  keptRate,
  openFloor,
  openScene,
  openSide,
  openYardstick,
  type Path,
  type Place,
  preparePlace,
  type Ran,
  runLoads,
  type Scene,
  type Side,
  waitQuiet,
} from './scene.ts';
import type { Sent } from './sender.ts';

export type MeasureOptions = WindowOptions & { readonly path: Path };

/** One window: the sent notes, and microseconds per note of each. The yardstick is measured in bursts alone. */
export type Measured = { readonly ran: Ran; readonly own: Cost; readonly floor: Floor; readonly yardstick?: Cost };

export type Measures = {
  readonly loads: Readonly<Record<LoadName, readonly Measured[]>>;
  /** The service at 70 % of its sustainable rate. */
  readonly open: readonly Sent[];
  readonly documents: readonly { readonly documento: Documento; readonly cost: Cost }[];
  /** Share of the processors' time that other programs had. */
  readonly foreign: number;
};

/** The yardstick needs a multiple of our time per note, so it gets one note in this many. */
const YARDSTICK_SHARE = 10;
const YARDSTICK_WARMUP = 200;
const SHARE_OF_PEAK = 0.7;
const OPEN_SECONDS = 10;
const DOCUMENT_NOTES = 300;
/** V8 has compiled the code of a kind of document before this many. */
const DOCUMENT_WARMUP = 1_000;

export async function measure(dataDir: string, options: MeasureOptions): Promise<Measures> {
  const { providers, starts, path: sent } = options;
  const scene = await openScene(dataDir, 2 * providers);
  const keys = scene.stage.pki.prestadores;
  const [first, second] = [keys.slice(0, providers), keys.slice(providers, 2 * providers)];
  const own = { root: ROOT, node: process.execPath };
  const place: Place = { tree: own, dataDir: path.join(dataDir, 'este'), providers: first };
  const folder = (name: string) => ({ dataDir: path.join(dataDir, name), providers: second });
  const yardstick = await openYardstick(folder('regua'), scene);
  const floor = openFloor(folder('piso'), scene);
  const before = machineTimes(process.pid);
  try {
    await preparePlace(place, scene);
    // Warms it up.
    await floor.measure();
    const all: Omit<Measures, 'foreign'>[] = [];
    for (let start = 0; start < starts; start += 1) {
      const side = await openSide(place, sent, 1 + start * NUMBERS_A_START);
      try {
        all.push(await measureStart({ scene, side, yardstick, floor }, options));
      } finally {
        await side.end();
      }
      console.error(`partida ${start + 1} de ${starts}`);
    }
    return { ...joinStarts(all), foreign: foreignShare(before, machineTimes(process.pid)) };
  } finally {
    await floor.end();
    await yardstick.end();
    await scene.end();
  }
}

type Stand = { readonly scene: Scene; readonly side: Side; readonly yardstick: Side; readonly floor: FloorProcess };

async function measureStart(stand: Stand, options: MeasureOptions): Promise<Omit<Measures, 'foreign'>> {
  const { scene, side, yardstick } = stand;
  const { path: sent, rate, burst, windows } = options;
  const loadOf = (documento: Documento, command: Parameters<Side['sender']['send']>[0]) => {
    return { side, documento, command, isTransmitted: !sent.isSandbox };
  };
  const open = { kind: 'open', rate, burst } as const;
  const warming = { kind: 'closed', count: YARDSTICK_WARMUP, connections: 4 } as const;
  await runLoads(scene, [
    loadOf(sent.documento, { ...open, count: WARMUP_NOTES }),
    { side: yardstick, documento: 'comum', command: warming, isTransmitted: false },
  ]);
  const loads: Record<LoadName, Measured[]> = { uma: [], rajadas: [], pico: [] };
  for (const load of LOAD_NAMES) {
    await waitQuiet([side]);
    for (let window = 0; window < windows; window += 1) loads[load].push(await measureWindow(stand, load, options));
  }

  const most = Math.round(spreadOf(loads.pico.map(({ ran }) => keptRate(ran))).median * SHARE_OF_PEAK);
  const command = { kind: 'open', count: most * OPEN_SECONDS, rate: most, burst: 1 } as const;
  const result = await runLoads(scene, [loadOf(sent.documento, command)]);

  const documents: Measures['documents'][number][] = [];
  for (const documento of Object.keys(DOCUMENTOS) as Documento[]) {
    await runLoads(scene, [loadOf(documento, { kind: 'closed', count: DOCUMENT_WARMUP, connections: burst })]);
    await waitQuiet([side]);
    const before = cpuOf(side);
    await runLoads(scene, [loadOf(documento, { ...open, count: DOCUMENT_NOTES })]);
    documents.push({ documento, cost: costOf(before, cpuOf(side), DOCUMENT_NOTES) });
  }
  return { loads, open: result, documents };
}

function cpuOf({ pid, database }: Side): CpuTimes {
  return cpuTimesOf(pid, database);
}

/** The service and the floor in the same seconds; at the peak, which wants all processors, the floor comes right after. */
async function measureWindow(
  { scene, side, yardstick, floor }: Stand,
  load: LoadName,
  options: MeasureOptions,
): Promise<Measured> {
  const { documento, isSandbox } = options.path;
  const command = commandOf(load, options);
  const few = Math.round(command.count / YARDSTICK_SHARE);
  const before = [cpuOf(side), cpuOf(yardstick)] as const;
  const measuring = load === 'pico' ? undefined : floor.measure();
  const slowly = { kind: 'open', count: few, rate: options.rate / YARDSTICK_SHARE, burst: 1 } as const;
  const beside = { side: yardstick, documento: 'comum', command: slowly, isTransmitted: false } as const;
  const [ran] = await runLoads(scene, [
    { side, documento, command, isTransmitted: !isSandbox },
    ...(load === 'rajadas' ? [beside] : []),
  ]);
  const own = costOf(before[0], cpuOf(side), command.count);
  const ofYardstick = load === 'rajadas' ? { yardstick: costOf(before[1], cpuOf(yardstick), few) } : {};
  return { ran: ran!, own, floor: await (measuring ?? floor.measure()), ...ofYardstick };
}

function joinStarts(all: readonly Omit<Measures, 'foreign'>[]): Omit<Measures, 'foreign'> {
  const ofLoad = (load: LoadName) => all.flatMap(({ loads }) => loads[load]);
  return {
    loads: { uma: ofLoad('uma'), rajadas: ofLoad('rajadas'), pico: ofLoad('pico') },
    open: all.flatMap(({ open }) => open),
    documents: all.flatMap(({ documents }) => documents),
  };
}

/**
 * `npm run bench`: the cost of a note by thread, beside the floor of this machine and the yardstick in the same
 * seconds. The measure then finds the maximum rate of notes, and the duration of an answer at 70 % of that.
 */
import path from 'node:path';
import { ROOT } from '../scripts/stage.ts';
import { NUMBERS_A_START, WARMUP_NOTES, type WindowOptions } from './comparar.ts';
import { type CpuTimes, cpuTimesOf, foreignShare, machineTimes } from './cpu.ts';
import { DOCUMENTOS, type Documento } from './documents.ts';
import type { Floor } from './floor-pieces.ts';
import { type Cost, costOf, spreadOf } from './ratios.ts';
import {
  type FloorProcess,
  openFloor,
  openScene,
  openSide,
  openYardstick,
  type Path,
  type Place,
  preparePlace,
  runLoads,
  type Scene,
  type Side,
} from './scene.ts';
import type { Sent } from './sender.ts';

export type MeasureOptions = WindowOptions & {
  readonly path: Path;
  readonly connections: number;
};

/** One window: microseconds per note of each. */
export type Shared = { readonly own: Cost; readonly yardstick: Cost; readonly floor: Floor };

export type Measured = {
  readonly shared: readonly Shared[];
  /** The service at full load, each connection sending one note after the other; and at 70 % of its sustainable rate. */
  readonly closed: readonly { readonly sent: Sent; readonly cost: Cost; readonly drained: number }[];
  readonly open: readonly Sent[];
  readonly documents: readonly { readonly documento: Documento; readonly cost: Cost }[];
  /** Share of the processors' time that other programs had. */
  readonly foreign: number;
};

/** The yardstick needs a multiple of our time per note, so it gets one note in this many. */
const YARDSTICK_SHARE = 10;
const YARDSTICK_WARMUP = 200;
const CLOSED_NOTES = 4_000;
const SHARE_OF_PEAK = 0.7;
const OPEN_SECONDS = 10;
const DOCUMENT_NOTES = 300;

export async function measure(dataDir: string, options: MeasureOptions): Promise<Measured> {
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
    await floor.measure();
    const all: Omit<Measured, 'foreign'>[] = [];
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

async function measureStart(stand: Stand, options: MeasureOptions): Promise<Omit<Measured, 'foreign'>> {
  const { scene, side, yardstick } = stand;
  const { path: sent, rate, burst, windows, connections } = options;
  const loadOf = (documento: Documento, command: Parameters<Side['sender']['send']>[0]) => {
    return { side, documento, command, isTransmitted: !sent.isSandbox };
  };
  const open = { kind: 'open', rate, burst } as const;
  const warming = { kind: 'closed', count: YARDSTICK_WARMUP, connections: 4 } as const;
  await runLoads(scene, [
    loadOf(sent.documento, { ...open, count: WARMUP_NOTES }),
    { side: yardstick, documento: 'comum', command: warming, isTransmitted: false },
  ]);
  const shared: Shared[] = [];
  for (let window = 0; window < windows; window += 1) shared.push(await measureShared(stand, options));

  const closed: Measured['closed'][number][] = [];
  for (let window = 0; window < windows; window += 1) {
    const before = cpuOf(side);
    const began = performance.now();
    const [result] = await runLoads(scene, [
      loadOf(sent.documento, { kind: 'closed', count: CLOSED_NOTES, connections }),
    ]);
    const drained = (performance.now() - began) / 1000 - result!.seconds;
    closed.push({ sent: result!, cost: costOf(before, cpuOf(side), CLOSED_NOTES), drained });
  }
  const most = Math.round(spreadOf(closed.map(keptRate)).median * SHARE_OF_PEAK);
  const command = { kind: 'open', count: most * OPEN_SECONDS, rate: most, burst: 1 } as const;
  const result = await runLoads(scene, [loadOf(sent.documento, command)]);

  const documents: Measured['documents'][number][] = [];
  for (const documento of Object.keys(DOCUMENTOS) as Documento[]) {
    const before = cpuOf(side);
    await runLoads(scene, [loadOf(documento, { ...open, count: DOCUMENT_NOTES })]);
    documents.push({ documento, cost: costOf(before, cpuOf(side), DOCUMENT_NOTES) });
  }
  return { shared, closed, open: result, documents };
}

/** Notes per second, issued and authorised: the rate of answers alone would ignore the transmitter's backlog. */
export function keptRate({ sent, drained }: Measured['closed'][number]): number {
  return sent.notes / (sent.seconds + drained);
}

function cpuOf({ pid, dataDir }: Side): CpuTimes {
  return cpuTimesOf(pid, dataDir);
}

/** The service, the yardstick and the floor in the same seconds. */
async function measureShared({ scene, side, yardstick, floor }: Stand, options: MeasureOptions): Promise<Shared> {
  const { path: sent, notes, rate, burst } = options;
  const few = Math.round(notes / YARDSTICK_SHARE);
  const before = [cpuOf(side), cpuOf(yardstick)] as const;
  const measuring = floor.measure();
  const command = { kind: 'open', count: notes, rate, burst } as const;
  const slowly = { ...command, count: few, rate: rate / YARDSTICK_SHARE, burst: 1 } as const;
  await runLoads(scene, [
    { side, documento: sent.documento, command, isTransmitted: !sent.isSandbox },
    { side: yardstick, documento: 'comum', command: slowly, isTransmitted: false },
  ]);
  const floorOf = await measuring;
  return {
    own: costOf(before[0], cpuOf(side), notes),
    yardstick: costOf(before[1], cpuOf(yardstick), few),
    floor: floorOf,
  };
}

function joinStarts(all: readonly Omit<Measured, 'foreign'>[]): Omit<Measured, 'foreign'> {
  return {
    shared: all.flatMap(({ shared }) => shared),
    closed: all.flatMap(({ closed }) => closed),
    open: all.flatMap(({ open }) => open),
    documents: all.flatMap(({ documents }) => documents),
  };
}

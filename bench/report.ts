/** The results of a measure, as tables of the terminal and as the figures and tables of docs/desempenho. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { ROOT } from '../scripts/stage.ts';
import type { WindowOptions } from './comparar.ts';
import { HAS_THREADS } from './cpu.ts';
import { DOCUMENTOS, type Documento } from './documents.ts';
import { floorOf, PIECES, type Piece } from './floor-pieces.ts';
import { describeLoad, LOAD_NAMES, type LoadName, titleOfLoad } from './loads.ts';
import type { Measured, Measures } from './medir.ts';
import { type Comparison, type Cost, rowsHere, spreadOf, titleOf } from './ratios.ts';
import { keptRate, type Ran } from './scene.ts';
import type { Sent } from './sender.ts';
import { drawBars } from './svg.ts';
import { printTable, type Row } from './tables.ts';

const FOLDER = path.join(ROOT, 'docs/desempenho');
/** The segments of the bars of a service and of the floor. */
const PARTS = ['emissor', 'transmissor', 'auxiliares', 'resto', 'banco'] as const;
const LEGEND = ['fio que emite', 'fio que transmite', 'fios auxiliares do V8', 'resto do serviço', 'banco'];

export type Table = { readonly title: string; readonly head: Row; readonly rows: readonly Row[] };

/** Machine, commit and noise: no figure means anything without them. */
export function describeConditions(options: WindowOptions, foreign: number): readonly string[] {
  const { commit, starts, windows } = options;
  return [
    ...describeMachine(commit, foreign),
    `${starts} partidas com ${windows} janelas de cada carga`,
    ...LOAD_NAMES.map((load) => describeLoad(load, options)),
  ];
}

export function describeMachine(commit: string, foreign: number): readonly string[] {
  const [{ model } = { model: '' }, ...others] = cpus();
  return [
    `commit ${commit}, ${new Date().toISOString().slice(0, 10)}; Node ${process.versions.node}, ${process.platform}; ${model.trim()}, ${others.length + 1} processadores`,
    `outros programas tiveram ${(foreign * 100).toFixed(0)} % do tempo de processador gasto`,
    ...(HAS_THREADS
      ? []
      : ['sem /proc, o tempo é o que o ps conta de processos inteiros, e os fios não se distinguem']),
  ];
}

export function printMeasured(measures: Measures, conditions: readonly string[]): void {
  printTables(tablesOf(measures), conditions);
}

export function printTables(tables: readonly Table[], conditions: readonly string[]): void {
  console.log(conditions.join('\n'));
  for (const { title, head, rows } of tables) {
    console.log(`\n${title}`);
    printTable(head, rows);
  }
}

const SPREAD = ['mediana', 'menor', 'maior'];

function cellsOf(values: readonly number[], digits = 0): Row {
  const { median, least, most } = spreadOf(values);
  return [median, least, most].map((one) => one.toFixed(digits));
}

function tablesOf(measures: Measures): readonly Table[] {
  const { loads, open } = measures;
  const pieces = Object.entries(PIECES) as [Piece, readonly [string, string]][];
  return [
    ...LOAD_NAMES.map((load) => tableOfLoad(load, loads[load])),
    {
      title: 'O piso, peça por peça, em µs por nota',
      head: ['', ...SPREAD],
      rows: pieces.map(([name, [, title]]) => [title, ...cellsOf(loads.rajadas.map(({ floor }) => floor[name]))]),
    },
    {
      title: 'CPU por nota de cada documento (serviço + banco), em rajadas, em µs',
      head: ['', ...SPREAD],
      rows: costsOfDocuments(measures).map(({ documento, costs }) => [DOCUMENTOS[documento].titulo, ...cellsOf(costs)]),
    },
    {
      title: 'No pico, e a 70 % dele (tempo de relógio)',
      head: ['', ...SPREAD],
      rows: rowsOfPeak(
        loads.pico.map(({ ran }) => ran),
        open,
      ),
    },
  ];
}

/** The cost of a note under each load as a multiple of the floor, the median of the windows. */
export function timesFloor({ loads }: Measures): Readonly<Record<LoadName, number>> {
  const ofLoad = (load: LoadName): number =>
    Number(spreadOf(loads[load].map(({ own, floor }) => own.tudo / floorOf(floor))).median.toFixed(2));
  return { uma: ofLoad('uma'), rajadas: ofLoad('rajadas'), pico: ofLoad('pico') };
}

/** The service under one load, beside the floor, and beside the yardstick where it was measured. */
function tableOfLoad(load: LoadName, windows: readonly Measured[]): Table {
  const by = (figure: (one: Measured) => number): readonly number[] => windows.map(figure);
  const beside = windows.flatMap(({ own, yardstick }) => (yardstick === undefined ? [] : [{ own, yardstick }]));
  const ofYardstick = () => [
    ['régua (nada é enviado)', ...cellsOf(beside.map(({ yardstick }) => yardstick.tudo))],
    [
      'régua / serviço + banco',
      ...cellsOf(
        beside.map(({ own, yardstick }) => yardstick.tudo / own.tudo),
        2,
      ),
    ],
  ];
  return {
    title: `CPU por nota ${titleOfLoad(load)}, em µs`,
    head: ['', ...SPREAD],
    rows: [
      ...rowsHere(HAS_THREADS).map((row) => [titleOf(row), ...cellsOf(by(({ own }) => own[row]))]),
      ['piso: fio que emite', ...cellsOf(by(({ floor }) => floorOf(floor, 'emissor')))],
      ['piso: fio que transmite', ...cellsOf(by(({ floor }) => floorOf(floor, 'transmissor')))],
      ['piso: banco', ...cellsOf(by(({ floor }) => floorOf(floor, 'banco')))],
      ['piso ao todo', ...cellsOf(by(({ floor }) => floorOf(floor)))],
      [
        'serviço + banco / piso',
        ...cellsOf(
          by(({ own, floor }) => own.tudo / floorOf(floor)),
          2,
        ),
      ],
      ...(beside.length === 0 ? [] : ofYardstick()),
    ],
  };
}

function rowsOfPeak(ran: readonly Ran[], open: readonly Sent[]): readonly Row[] {
  return [
    ['notas por segundo no pico, respondidas', ...cellsOf(ran.map(({ notes, seconds }) => notes / seconds))],
    ['notas por segundo no pico, até autorizadas', ...cellsOf(ran.map(keptRate))],
    ['latência p50 no pico, ms', ...cellsOf(ran.map(({ p50 }) => p50))],
    ['latência p99 no pico, ms', ...cellsOf(ran.map(({ p99 }) => p99))],
    [
      'última nota autorizada após a última resposta, s',
      ...cellsOf(
        ran.map(({ settled, seconds }) => settled - seconds),
        2,
      ),
    ],
    [
      'latência p50 a 70 % do pico até autorizadas, ms',
      ...cellsOf(
        open.map(({ p50 }) => p50),
        2,
      ),
    ],
    [
      'latência p99 a 70 % do pico até autorizadas, ms',
      ...cellsOf(
        open.map(({ p99 }) => p99),
        2,
      ),
    ],
  ];
}

function costsOfDocuments({ documents }: Measures) {
  return (Object.keys(DOCUMENTOS) as Documento[]).map((documento) => {
    const own = documents.filter((one) => one.documento === documento);
    return { documento, costs: own.map(({ cost }) => cost.tudo) };
  });
}

/** Writes the figures and the tables of the page. */
export function saveMeasured(measures: Measures, conditions: readonly string[]): void {
  const { loads } = measures;
  const notes = [...conditions, 'Barras: medianas das janelas. Traços: a menor e a maior das janelas.'];
  const bar = (name: string, values: readonly number[], parts = [spreadOf(values).median]) => {
    const { median, least, most } = spreadOf(values);
    return { name, parts, spread: [least, most] as const, label: `${median.toFixed(0)} µs` };
  };
  const costBar = (name: string, costs: readonly Cost[]) =>
    bar(
      name,
      costs.map(({ tudo }) => tudo),
      PARTS.map((part) => spreadOf(costs.map((cost) => partOfCost(cost, part))).median),
    );
  const floors = loads.rajadas.map(({ floor }) => floor);
  const floor = bar(
    'piso',
    floors.map((one) => floorOf(one)),
    PARTS.map((part) =>
      part === 'auxiliares' || part === 'resto' ? 0 : spreadOf(floors.map((one) => floorOf(one, part))).median,
    ),
  );
  const own = (load: LoadName) =>
    costBar(
      `este serviço, ${titleOfLoad(load)}`,
      loads[load].map((one) => one.own),
    );
  const yardstick = costBar(
    'régua (nada é enviado)',
    loads.rajadas.flatMap(({ yardstick: one }) => one ?? []),
  );
  writeDrawing('custo', {
    title: 'CPU por nota emitida e transmitida',
    legend: LEGEND,
    bars: [floor, ...LOAD_NAMES.toReversed().map(own)],
    notes,
  });
  writeDrawing('regua', {
    title: 'CPU por nota em rajadas, ao lado da régua',
    legend: LEGEND,
    bars: [floor, own('rajadas'), yardstick],
    notes,
  });
  writeDrawing('piso', {
    title: 'O piso, peça por peça',
    bars: (Object.entries(PIECES) as [Piece, readonly [string, string]][]).map(([name, [, title]]) =>
      bar(
        title,
        floors.map((one) => one[name]),
      ),
    ),
    notes,
  });
  writeDrawing('documentos', {
    title: 'CPU por nota de cada documento em rajadas, serviço + banco',
    bars: costsOfDocuments(measures).map(({ documento, costs }) => bar(DOCUMENTOS[documento].titulo, costs)),
    notes,
  });
  writeTables('medida', tablesOf(measures), conditions);
}

/** The rest is the cost of a service outside the threads that are counted apart. */
function partOfCost(cost: Cost, part: (typeof PARTS)[number]): number {
  return part === 'resto' ? cost.servico - cost.emissor - cost.transmissor - cost.auxiliares : cost[part];
}

/** A comparison of two services, with its title. */
export type ComparedRow = Comparison & { readonly title: string };

/** Writes ratios as a figure with a title, and the tables. */
export function saveComparison(
  name: string,
  title: string,
  rows: readonly ComparedRow[],
  tables: readonly Table[],
  conditions: readonly string[],
): void {
  writeDrawing(name, {
    title: `CPU por nota, ${title}`,
    bars: rows.map(({ title, ratio: { median, least, most } }) => {
      return { name: title, parts: [median], spread: [least, most] as const, label: median.toFixed(3) };
    }),
    mark: 1,
    notes: [
      ...conditions,
      'Barras: medianas das razões das janelas; abaixo de 1, este custa menos. Traços: a menor e a maior.',
    ],
  });
  writeTables(name, tables, conditions);
}

export function writeDrawing(name: string, drawing: Parameters<typeof drawBars>[0]): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, `${name}.svg`), drawBars(drawing));
}

/** The tables stand in the page between two markers. */
export function writeTables(name: string, tables: readonly Table[], conditions: readonly string[]): void {
  const file = path.join(FOLDER, 'README.md');
  const page = readFileSync(file, 'utf8');
  const [start, end] = [`<!-- ${name} -->`, `<!-- fim de ${name} -->`];
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`${file} não tem o lugar ${start}`);
  const markdown = tables.map(({ title, head, rows }) =>
    [
      `**${title}**\n`,
      `| ${head.map((one) => one || ' ').join(' | ')} |`,
      `|${head.map((_, column) => (column === 0 ? '---' : '---:')).join('|')}|`,
      ...rows.map((row) => `| ${row.join(' | ')} |`),
      '',
    ].join('\n'),
  );
  writeFileSync(file, `${before}${start}\n\n${conditions.join('; ')}.\n\n${markdown.join('\n')}\n${end}${after}`);
}

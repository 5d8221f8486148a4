/** The results of a measure, as tables of the terminal and as the figures and tables of docs/desempenho. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { ROOT } from '../scripts/stage.ts';
import type { WindowOptions } from './comparar.ts';
import { HAS_THREADS } from './cpu.ts';
import { DOCUMENTOS, type Documento } from './documents.ts';
import { floorOf, PIECES, type Piece } from './floor-pieces.ts';
import { keptRate, type Measured } from './medir.ts';
import { type Comparison, type Cost, rowsHere, type Spread, spreadOf, titleOf } from './ratios.ts';
import { drawBars } from './svg.ts';
import { printTable, type Row } from './tables.ts';

const FOLDER = path.join(ROOT, 'docs/desempenho');
/** The segments of the bars of a service and of the floor. */
const PARTS = ['emissor', 'transmissor', 'auxiliares', 'resto', 'banco'] as const;
const LEGEND = ['fio que emite', 'fio que transmite', 'fios auxiliares do V8', 'resto do serviço', 'banco'];

export type Table = { readonly title: string; readonly head: Row; readonly rows: readonly Row[] };

/** Machine, commit and noise: no figure means anything without them. */
export function describeConditions(options: WindowOptions, foreign: number): readonly string[] {
  const { commit, starts, windows, notes, rate, burst } = options;
  const load = `${starts} partidas com ${windows} janelas de ${notes} notas, ${rate}/s a cada serviço, ${burst} por vez`;
  const [machine, ...noise] = describeMachine(commit, foreign);
  return [machine!, `${load}; ${noise.join('; ')}`];
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

export function printMeasured(measured: Measured, conditions: readonly string[]): void {
  printTables(tablesOf(measured), conditions);
}

export function printTables(tables: readonly Table[], conditions: readonly string[]): void {
  console.log(conditions.join('\n'));
  for (const { title, head, rows } of tables) {
    console.log(`\n${title}`);
    printTable(head, rows);
  }
}

function tablesOf(measured: Measured): readonly Table[] {
  const { shared, closed, open } = measured;
  const micros = (spread: Spread): Row => [spread.median, spread.least, spread.most].map((one) => one.toFixed(0));
  const ratio = (spread: Spread): Row => [spread.median, spread.least, spread.most].map((one) => one.toFixed(2));
  const by = (figure: (one: Measured['shared'][number]) => number): Spread => spreadOf(shared.map(figure));
  const pieces = Object.entries(PIECES) as [Piece, readonly [string, string]][];
  const spread = ['mediana', 'menor', 'maior'];
  return [
    {
      title: 'CPU por nota, nos mesmos segundos, em µs',
      head: ['', ...spread],
      rows: [
        ...rowsHere(HAS_THREADS).map((row) => [titleOf(row), ...micros(by(({ own }) => own[row]))]),
        ['piso: fio que emite', ...micros(by(({ floor }) => floorOf(floor, 'emissor')))],
        ['piso: fio que transmite', ...micros(by(({ floor }) => floorOf(floor, 'transmissor')))],
        ['piso: banco', ...micros(by(({ floor }) => floorOf(floor, 'banco')))],
        ['piso ao todo', ...micros(by(({ floor }) => floorOf(floor)))],
        ['régua (nada é enviado)', ...micros(by(({ yardstick }) => yardstick.tudo))],
      ],
    },
    {
      title: 'Razões dentro de cada janela',
      head: ['', ...spread],
      rows: [
        ['serviço + banco / piso', ...ratio(by(({ own, floor }) => own.tudo / floorOf(floor)))],
        ['régua / serviço + banco', ...ratio(by(({ own, yardstick }) => yardstick.tudo / own.tudo))],
      ],
    },
    {
      title: 'O piso, peça por peça, em µs por nota',
      head: ['', ...spread],
      rows: pieces.map(([name, [, title]]) => [title, ...micros(by(({ floor }) => floor[name]))]),
    },
    {
      title: 'CPU por nota de cada documento (serviço + banco), em µs',
      head: ['', ...spread],
      rows: documentSpreads(measured).map(({ documento, spread }) => [DOCUMENTOS[documento].titulo, ...micros(spread)]),
    },
    {
      title: 'No pico, e a 70 % dele (tempo de relógio)',
      head: ['', ...spread],
      rows: [
        [
          'notas por segundo no pico, respondidas',
          ...micros(spreadOf(closed.map(({ sent }) => sent.notes / sent.seconds))),
        ],
        ['notas por segundo no pico, até autorizadas', ...micros(spreadOf(closed.map(keptRate)))],
        ['serviço + banco no pico, µs de CPU por nota', ...micros(spreadOf(closed.map(({ cost }) => cost.tudo)))],
        ['latência p50 no pico, ms', ...micros(spreadOf(closed.map(({ sent }) => sent.p50)))],
        ['latência p99 no pico, ms', ...micros(spreadOf(closed.map(({ sent }) => sent.p99)))],
        ['última nota autorizada após a última resposta, s', ...ratio(spreadOf(closed.map(({ drained }) => drained)))],
        ['latência p50 a 70 % do pico até autorizadas, ms', ...ratio(spreadOf(open.map(({ p50 }) => p50)))],
        ['latência p99 a 70 % do pico até autorizadas, ms', ...ratio(spreadOf(open.map(({ p99 }) => p99)))],
      ],
    },
  ];
}

function documentSpreads({ documents }: Measured): readonly { documento: Documento; spread: Spread }[] {
  return (Object.keys(DOCUMENTOS) as Documento[]).map((documento) => {
    const own = documents.filter((one) => one.documento === documento);
    return { documento, spread: spreadOf(own.map(({ cost }) => cost.tudo)) };
  });
}

/** Writes the figures and the tables of the page. */
export function saveMeasured(measured: Measured, conditions: readonly string[]): void {
  const { shared } = measured;
  const median = (figure: (one: Measured['shared'][number]) => number): number => spreadOf(shared.map(figure)).median;
  const costParts = (cost: (one: Measured['shared'][number]) => Cost): number[] =>
    PARTS.map((part) => median((one) => partOfCost(cost(one), part)));
  const floorParts = PARTS.map((part) =>
    part === 'auxiliares' || part === 'resto' ? 0 : median(({ floor }) => floorOf(floor, part)),
  );
  const bar = (name: string, parts: number[], values: readonly number[]) => {
    const { median, least, most } = spreadOf(values);
    return { name, parts, spread: [least, most] as const, label: `${median.toFixed(0)} µs` };
  };
  const notes = [
    ...conditions,
    'Barras: medianas das janelas, nos mesmos segundos. Traços: a menor e a maior das janelas.',
  ];
  const own = bar(
    'este serviço',
    costParts((one) => one.own),
    shared.map((one) => one.own.tudo),
  );
  const floor = bar(
    'piso',
    floorParts,
    shared.map((one) => floorOf(one.floor)),
  );
  const yardstick = bar(
    'régua (nada é enviado)',
    costParts((one) => one.yardstick),
    shared.map((one) => one.yardstick.tudo),
  );
  writeDrawing('custo', { title: 'CPU por nota emitida e transmitida', legend: LEGEND, bars: [floor, own], notes });
  writeDrawing('regua', {
    title: 'CPU por nota, ao lado da régua',
    legend: LEGEND,
    bars: [floor, own, yardstick],
    notes,
  });
  writeDrawing('piso', {
    title: 'O piso, peça por peça',
    bars: (Object.entries(PIECES) as [Piece, readonly [string, string]][]).map(([name, [, title]]) =>
      bar(
        title,
        [median((one) => one.floor[name])],
        shared.map((one) => one.floor[name]),
      ),
    ),
    notes,
  });
  writeDrawing('documentos', {
    title: 'CPU por nota de cada documento, serviço + banco',
    bars: documentSpreads(measured).map(({ documento, spread: { median, least, most } }) => {
      const label = `${median.toFixed(0)} µs`;
      return { name: DOCUMENTOS[documento].titulo, parts: [median], spread: [least, most] as const, label };
    }),
    notes,
  });
  writeTables('medida', tablesOf(measured), conditions);
}

/** The rest is the cost of a service outside the threads that are counted apart. */
function partOfCost(cost: Cost, part: (typeof PARTS)[number]): number {
  return part === 'resto' ? cost.servico - cost.emissor - cost.transmissor - cost.auxiliares : cost[part];
}

/** A comparison of two services, with its title. */
export type ComparedRow = Comparison & { readonly title: string };

/** Writes ratios as a figure, and the tables, the first of which has the ratios. */
export function saveComparison(
  name: string,
  rows: readonly ComparedRow[],
  tables: readonly Table[],
  conditions: readonly string[],
): void {
  writeDrawing(name, {
    title: tables[0]!.title,
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

/** The findings of a long run, by sixths of its time: as tables, and as the figures of docs/desempenho. Arithmetic only. */
import type { Held } from './endurance-probe.ts';
import { spreadOf } from './ratios.ts';
import { type Table, writeDrawing, writeTables } from './report.ts';
import type { Sent } from './sender.ts';
import type { Row } from './tables.ts';

/** A table or an index; counts are those of the table. */
export type Relation = {
  readonly name: string;
  readonly is_index: boolean;
  readonly bytes: number;
  readonly dead: number;
  readonly updates: number;
  readonly hot: number;
  readonly vacuums: number;
  readonly analyses: number;
};

/** The values at one moment, and of the notes since the moment before. Bytes, milliseconds; `cpu`: microseconds per note. */
export type Sample = {
  readonly minute: number;
  readonly sent: Pick<Sent, 'notes' | 'failures' | 'firstFailure' | 'seconds' | 'p50' | 'p99'>;
  /** Notes that the environment has not received. */
  readonly waiting: number;
  readonly cpu: { readonly servico: number; readonly banco: number };
  readonly rss: number;
  readonly database: number;
  readonly threads: readonly Held[];
  readonly wal: number;
  readonly relations: readonly Relation[];
};

const PERIODS = 6;
const MB = 1e6;
/** Memory limit of the service. */
const RSS_MAX_MB = 400;
/** Smaller relations are not shown, unless rows of theirs were updated. */
const SHOWN_BYTES = 4 * MB;

export function tablesOfEndurance(samples: readonly Sample[]): readonly Table[] {
  const periods = periodsOf(samples);
  const row = (title: string, figure: (period: Period) => string): Row => [title, ...periods.map(figure)];
  const most = (figure: (one: Sample) => number) => (period: Period) => spread(period, figure).most.toFixed(0);
  const median = (figure: (one: Sample) => number) => (period: Period) => spread(period, figure).median.toFixed(0);
  const heap = ({ threads }: Sample): number => sum(threads.map(({ heapUsed }) => heapUsed)) / MB;
  const outside = ({ threads }: Sample): number => sum(threads.map(({ external }) => external)) / MB;
  return [
    {
      title: 'Memória, latência e banco ao longo do tempo',
      head: ['minutos', ...periods.map(({ name }) => name)],
      rows: [
        row('notas emitidas por segundo', ({ all }) => (notesOf(all) / secondsOf(all)).toFixed(0)),
        row('memória do serviço (RSS), maior, MB', most(megabytes)),
        row('heap em uso, todos os fios, menor, MB', (period) => spread(period, heap).least.toFixed(0)),
        row('fora do heap (buffers), mediana, MB', median(outside)),
        row(
          'memória do banco, maior, MB',
          most(({ database }) => database / MB),
        ),
        row(
          'latência p50, mediana das amostras, ms',
          median(({ sent }) => sent.p50),
        ),
        row(
          'latência p99, mediana das amostras, ms',
          median(({ sent }) => sent.p99),
        ),
        row('atraso do laço de eventos p99, mediana, ms', median(lateOf)),
        row(
          'notas por transmitir, maior',
          most(({ waiting }) => waiting),
        ),
        row(
          'CPU do serviço por nota, mediana, µs',
          median(({ cpu }) => cpu.servico),
        ),
        row(
          'CPU do banco por nota, mediana, µs',
          median(({ cpu }) => cpu.banco),
        ),
        row('linhas mortas, maior', most(deadOf)),
        row('WAL por nota, kB', ({ all, before }) => (growth(all, before, ({ wal }) => wal) / 1e3).toFixed(1)),
        row('tabelas e índices por nota, kB', ({ all, before }) => (growth(all, before, bytesOf) / 1e3).toFixed(1)),
      ],
    },
    { title: 'Tabelas e índices', head: RELATION_HEAD, rows: relationRows(samples) },
  ];
}

/** A sixth of the samples, and the last one before them. */
type Period = { readonly name: string; readonly all: readonly Sample[]; readonly before: Sample };

function periodsOf(samples: readonly Sample[]): readonly Period[] {
  const last = samples.at(-1)!.minute;
  return Array.from({ length: PERIODS }, (_, place) => {
    const [from, to] = [(place * last) / PERIODS, ((place + 1) * last) / PERIODS];
    const all = samples.filter(({ minute }) => minute > from && (minute <= to || place === PERIODS - 1));
    const before = samples.findLast(({ minute }) => minute <= from) ?? samples[0]!;
    return { name: `${from.toFixed(0)} a ${to.toFixed(0)}`, all, before };
  }).filter(({ all }) => all.length > 0);
}

const RELATION_HEAD = [
  '',
  'MB a um sexto',
  'MB à metade',
  'MB no fim',
  'alterações',
  'delas sem tocar índices',
  'linhas mortas, maior',
  'autovacuum',
  'autoanalyze',
];

function relationRows(samples: readonly Sample[]): readonly Row[] {
  const at = (share: number): Sample => samples[Math.ceil((samples.length - 1) * share)]!;
  const shown = at(1).relations.filter(
    ({ bytes, updates }) => bytes >= SHOWN_BYTES || updates > notesOf(samples) / 100,
  );
  const ordered = shown.toSorted((one, other) => other.bytes - one.bytes);
  return ordered.map(({ name, is_index, updates, hot, vacuums, analyses }) => {
    const of = (sample: Sample): Relation | undefined => sample.relations.find((one) => one.name === name);
    const sizes = [1 / PERIODS, 1 / 2, 1].map((share) => ((of(at(share))?.bytes ?? 0) / MB).toFixed(1));
    if (is_index) return [`${name} (índice)`, ...sizes, '', '', '', '', ''];
    const dead = Math.max(...samples.map((sample) => of(sample)?.dead ?? 0));
    const share = updates === 0 ? '' : `${((hot / updates) * 100).toFixed(0)} %`;
    return [name, ...sizes, `${updates}`, share, `${dead}`, `${vacuums}`, `${analyses}`];
  });
}

/** Writes the figures and the tables of the page. */
export function saveEndurance(
  samples: readonly Sample[],
  tables: readonly Table[],
  conditions: readonly string[],
): void {
  const notes = [...conditions, 'Barras: medianas das amostras, uma a cada dez segundos. Traços: a menor e a maior.'];
  const bars = (figure: (one: Sample) => number, unit: string) =>
    periodsOf(samples).map((period) => {
      const { median, least, most } = spread(period, figure);
      const label = `${median.toFixed(0)}${unit}`;
      return { name: `minutos ${period.name}`, parts: [median], spread: [least, most] as const, label };
    });
  writeDrawing('memoria', {
    title: `Memória do serviço (RSS); o limite são ${RSS_MAX_MB} MB`,
    bars: bars(megabytes, ' MB'),
    mark: RSS_MAX_MB,
    notes,
  });
  writeDrawing('linhas-mortas', { title: 'Linhas mortas no banco', bars: bars(deadOf, ''), notes });
  writeTables('hora', tables, conditions);
}

function spread({ all }: Period, figure: (one: Sample) => number) {
  return spreadOf(all.map(figure));
}

/** Growth in bytes per note of a period. */
function growth(all: readonly Sample[], before: Sample, figure: (one: Sample) => number): number {
  return (figure(all.at(-1)!) - figure(before)) / notesOf(all.filter((one) => one !== before));
}

function megabytes({ rss }: Sample): number {
  return rss / MB;
}

function lateOf({ threads }: Sample): number {
  return threads.find(({ thread }) => thread === 0)?.late ?? 0;
}

function deadOf({ relations }: Sample): number {
  return sum(relations.map(({ dead }) => dead));
}

function bytesOf({ relations }: Sample): number {
  return sum(relations.map(({ bytes }) => bytes));
}

function notesOf(samples: readonly Sample[]): number {
  return sum(samples.map(({ sent }) => sent.notes));
}

function secondsOf(samples: readonly Sample[]): number {
  return sum(samples.map(({ sent }) => sent.seconds));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

/**
 * Draws panels of the Grafana dashboard (`src/published/grafana.ts`) as SVG, from the answers of Prometheus to their
 * queries. Stats show one moment; lines and timelines show a span around a fault. Only the features of this dashboard
 * are drawn.
 */

import { html } from '../src/published/site/page-shell.ts';

/** A panel, as the file of the dashboard holds it. */
export type BoardPanel = {
  readonly title: string;
  readonly type: 'stat' | 'timeseries' | 'state-timeline';
  readonly fieldConfig: {
    /** Red lines, by an expression between slashes. */
    readonly overrides: readonly { readonly matcher: { readonly options: string } }[];
    readonly defaults: {
      readonly unit: string;
      readonly min?: number;
      readonly noValue: string;
      readonly thresholds?: { readonly steps: readonly { readonly color: string; readonly value: number | null }[] };
      readonly mappings?: readonly { readonly options: Readonly<Record<string, { readonly text: string }>> }[];
    };
  };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
};

/** `points`: moments in seconds, with their values. */
export type Line = { readonly legend: string; readonly points: readonly (readonly [at: number, value: number])[] };
export type Drawn = { readonly panel: BoardPanel; readonly lines: readonly Line[] };
/** The shown span and the time of the fault, in seconds. `step`: between two points. */
export type Span = Readonly<Record<'from' | 'begin' | 'end' | 'to' | 'step', number>>;

const [WIDTH, LEFT, RIGHT, TOP, PLOT] = [340, 44, 8, 24, 96];
const LINES_MAX = 8;
/** The height of the labels on the time axis. */
const LABEL = 24;
/** Colours of lines, and of judgements; each is visible on white and on black. */
const COLORS = ['#2f7ed8', '#d9741a', '#3a9a4e', '#8e5bd0', '#1a9aa3', '#b08a00', '#808080', '#c2559d'];
const RED = '#d13b3b';
const JUDGED: Readonly<Record<string, string>> = { green: '#2b7a3d', orange: '#a85400', red: '#b3261e' };

/** The legend of a line: labels take the places of their names. */
export function legendOf(format: string, labels: Readonly<Record<string, string>>, title: string): string {
  return format.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => labels[name] ?? '').trim() || title;
}

/** The stats together, then every other panel in a separate picture; a wide page sets them side by side. */
export function drawBoard(all: readonly Drawn[], span: Span): string {
  const stats = all.filter(({ panel }) => panel.type === 'stat');
  const others = all.filter(({ panel }) => panel.type !== 'stat').map((one) => drawPanel(one, span));
  return `<div class="quadro">\n${[drawStats(stats), ...others].join('\n')}\n</div>\n`;
}

const [STAT_COLUMNS, STAT_HEIGHT] = [4, 46];

function drawStats(stats: readonly Drawn[]): string {
  const each = stats.map(({ panel, lines }, place) => {
    const { defaults } = panel.fieldConfig;
    const value = lines[0]?.points.at(-1)?.[1];
    const said = value === undefined ? defaults.noValue : wordOf(panel, value);
    const color = value === undefined ? undefined : JUDGED[colorAt(panel, value)];
    const width = WIDTH / STAT_COLUMNS;
    const [x, y] = [(place % STAT_COLUMNS) * width, Math.floor(place / STAT_COLUMNS) * STAT_HEIGHT];
    const ink = color === undefined ? 'currentColor' : '#fff';
    return `<rect x="${x + 1}" y="${y + 1}" width="${width - 2}" height="${STAT_HEIGHT - 2}" rx="3" fill="${color ?? 'none'}" stroke="${color ?? '#808080'}"></rect>
${textAt(panel.title, x + 5, y + 14, { size: panel.title.length > 17 ? 7.5 : 8.5, ink })}${textAt(said, x + 5, y + 35, { size: value === undefined ? 12 : 16, ink })}`;
  });
  const told = stats.map(({ panel, lines }) => {
    const value = lines[0]?.points.at(-1)?.[1];
    return `${panel.title}: ${value === undefined ? panel.fieldConfig.defaults.noValue : wordOf(panel, value)}`;
  });
  return picture(told.join('; '), Math.ceil(stats.length / STAT_COLUMNS) * STAT_HEIGHT, each.join('\n'));
}

function drawPanel(drawn: Drawn, span: Span): string {
  return drawn.panel.type === 'timeseries' ? drawLines(drawn, span) : drawTimeline(drawn, span);
}

const xOf = ({ from, to }: Span, at: number): number => LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - RIGHT);

/** The frame of a panel over time: the title, the fault behind it, and the seconds since it began. */
function overTime(title: string, span: Span, height: number): string {
  const { begin, end, from, to } = span;
  const every = (to - from) / 5 > 30 ? 60 : (to - from) / 5 > 15 ? 30 : 15;
  const ticks = Array.from({ length: 40 }, (_, place) => (place - 20) * every).filter(
    (second) => begin + second >= from && xOf(span, begin + second) <= WIDTH - LABEL / 2,
  );
  const band = `<rect x="${fix(xOf(span, begin))}" y="${TOP}" width="${fix(xOf(span, end) - xOf(span, begin))}" height="${height}" fill="${RED}" fill-opacity=".13"></rect>`;
  const labels = ticks.map((second) =>
    textAt(`${second} s`, xOf(span, begin + second), TOP + height + 12, { middle: true }),
  );
  return `${textAt(title, 2, 13, { size: 11, bold: true })}${band}${labels.join('')}`;
}

function drawLines({ panel, lines }: Drawn, span: Span): string {
  const { unit, min } = panel.fieldConfig.defaults;
  const peak = ({ points }: Line): number => Math.max(...points.map(([, value]) => Math.abs(value)));
  const shown = lines.toSorted((one, other) => peak(other) - peak(one)).slice(0, LINES_MAX);
  const values = shown.flatMap(({ points }) => points.map(([, value]) => value));
  const low = min ?? Math.min(0, ...values);
  const top = niceMax(Math.max(0, ...values), unit);
  const yOf = (value: number): number => TOP + PLOT - ((Math.max(low, value) - low) / (top - low)) * PLOT;
  const grid = [low, (low + top) / 2, top].map(
    (value) =>
      `<path d="M${LEFT} ${fix(yOf(value))}H${WIDTH - RIGHT}" stroke="#808080" stroke-opacity=".35"></path>${textAt(quantity(value, unit), LEFT - 3, yOf(value) + 3, { end: true })}`,
  );
  const drawn = shown.map(
    (line, place) =>
      `<path d="${pathOf(line, span, yOf)}" fill="none" stroke="${inkOf(panel, line, place)}" stroke-width="1.6" stroke-linejoin="round"></path>`,
  );
  const { text, height } = drawLegend(panel, shown, TOP + PLOT + 26, lines.length - shown.length);
  const empty = shown.length === 0 ? textAt('sem dados', WIDTH / 2, TOP + PLOT / 2, { middle: true, size: 11 }) : '';
  const words = shown.map(
    ({ legend, points }) => `${legend}: até ${quantity(Math.max(...points.map(([, one]) => one)), unit)}`,
  );
  return picture(
    `${panel.title}. ${words.join('; ') || 'sem dados'}`,
    TOP + PLOT + 20 + height,
    `${overTime(panel.title, span, PLOT)}\n${grid.join('')}\n${drawn.join('\n')}\n${empty}${text}`,
  );
}

function inkOf({ fieldConfig }: BoardPanel, { legend }: Line, place: number): string {
  const isRed = fieldConfig.overrides.some(({ matcher }) => new RegExp(matcher.options.slice(1, -1)).test(legend));
  return isRed ? RED : COLORS[place]!;
}

/** A missing point is a gap. */
function pathOf({ points }: Line, span: Span, yOf: (value: number) => number): string {
  return points
    .map(([at, value], place) => {
      const before = points[place - 1]?.[0];
      const isOn = before !== undefined && at - before <= 2.5 * span.step;
      return `${isOn ? 'L' : 'M'}${fix(xOf(span, at))} ${fix(yOf(value))}${isOn || points[place + 1] ? '' : 'h1'}`;
    })
    .join('');
}

function drawLegend(
  panel: BoardPanel,
  lines: readonly Line[],
  top: number,
  more: number,
): { readonly text: string; readonly height: number } {
  let [x, y] = [4, top];
  const all = [
    ...lines.map((line, place) => [line.legend, inkOf(panel, line, place)] as const),
    ...(more > 0 ? [[`e mais ${more}`, 'none'] as const] : []),
  ];
  const text = all.map(([legend, color]) => {
    const width = 16 + legend.length * 5.1;
    if (x + width > WIDTH && x > 4) [x, y] = [4, y + 13];
    const at = x;
    x += width;
    return `<rect x="${fix(at)}" y="${y - 7}" width="7" height="7" fill="${color}"></rect>${textAt(legend, at + 10, y)}`;
  });
  return { text: text.join(''), height: y - top + 14 };
}

const ROW = 24;

function drawTimeline({ panel, lines }: Drawn, span: Span): string {
  const height = Math.max(1, lines.length) * ROW;
  const rows = lines.map(({ legend, points }, row) => {
    const y = TOP + row * ROW;
    const bars = points.map(([at, value]) => {
      const [x, next] = [xOf(span, at), xOf(span, Math.min(span.to, at + span.step))];
      return { x, width: next - x, color: JUDGED[colorAt(panel, value)]! };
    });
    return `${joinBars(bars)
      .map(
        ({ x, width, color }) =>
          `<rect x="${fix(x)}" y="${y + 13}" width="${fix(width)}" height="8" fill="${color}"></rect>`,
      )
      .join('')}${textAt(legend, LEFT, y + 10, { size: 9.5 })}`;
  });
  const none = lines.length === 0 ? textAt('nenhum', LEFT, TOP + 15) : '';
  const said = `${panel.title}: ${lines.map(({ legend }) => legend).join(', ') || 'nenhum'}`;
  return picture(said, TOP + height + 20, `${overTime(panel.title, span, height)}\n${none}${rows.join('\n')}`);
}

type Bar = { readonly x: number; readonly width: number; readonly color: string };

function joinBars(bars: readonly Bar[]): readonly Bar[] {
  const joined: Bar[] = [];
  for (const bar of bars) {
    const last = joined.at(-1);
    const isNext = last !== undefined && last.color === bar.color && bar.x - (last.x + last.width) < 0.5;
    if (isNext) joined[joined.length - 1] = { ...last, width: bar.x + bar.width - last.x };
    else joined.push(bar);
  }
  return joined;
}

function colorAt({ fieldConfig }: BoardPanel, value: number): string {
  const steps = fieldConfig.defaults.thresholds?.steps ?? [];
  return steps.findLast((step) => step.value === null || value >= step.value)?.color ?? 'green';
}

function wordOf({ fieldConfig }: BoardPanel, value: number): string {
  const { unit, mappings = [] } = fieldConfig.defaults;
  return mappings[0]?.options[String(value)]?.text ?? quantity(value, unit);
}

/** A value in a readable unit. */
function quantity(value: number, unit: string): string {
  if (unit === 'percentunit') return `${number(100 * value)} %`;
  if (unit === 's') return Math.abs(value) < 1 && value !== 0 ? `${number(1_000 * value)} ms` : durationOf(value);
  if (unit === 'bytes') return value >= 2 ** 30 ? `${number(value / 2 ** 30)} GB` : `${number(value / 2 ** 20)} MB`;
  return `${number(value)}${{ reqps: '/s', cps: '/s', d: ' d' }[unit] ?? ''}`;
}

function durationOf(seconds: number): string {
  if (Math.abs(seconds) < 120) return `${number(seconds)} s`;
  return Math.abs(seconds) < 7_200 ? `${number(seconds / 60)} min` : `${number(seconds / 3_600)} h`;
}

function number(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits))).replace('.', ',');
}

/** The next of 1, 2, 5 and their tens; bytes use binary units. */
function niceMax(value: number, unit: string): number {
  if (value <= 0) return 1;
  const base = unit !== 'bytes' ? 1 : value >= 2 ** 30 ? 2 ** 30 : 2 ** 20;
  const ten = 10 ** Math.floor(Math.log10(value / base));
  return base * ten * [1, 2, 5, 10].find((one) => one * ten * base >= value * 0.999)!;
}

type Look = {
  readonly size?: number;
  readonly ink?: string;
  readonly bold?: boolean;
  readonly middle?: boolean;
  readonly end?: boolean;
};

function textAt(
  said: string,
  x: number,
  y: number,
  { size = 9, ink = 'currentColor', bold, middle, end }: Look = {},
): string {
  const anchor = middle ? ' text-anchor="middle"' : end ? ' text-anchor="end"' : '';
  return `<text x="${fix(x)}" y="${fix(y)}" font-size="${size}" fill="${ink}"${bold ? ' font-weight="600"' : ''}${anchor}>${markupOf(said)}</text>`;
}

function picture(told: string, height: number, inside: string): string {
  return `<svg role="img" aria-label="${markupOf(told)}" viewBox="0 0 ${WIDTH} ${Math.round(height)}">${inside.replaceAll(/\n+/g, '\n')}</svg>`;
}

function fix(value: number): string {
  return String(Math.round(10 * value) / 10);
}

function markupOf(text: string): string {
  return html`${text}`.html;
}

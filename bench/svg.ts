/** Bars as SVG, for docs/desempenho: one kind of drawing, in light and dark, with the conditions of the measure below. */

export type Bar = {
  readonly name: string;
  /** The lengths of the segments; each has the colour of the legend at the same position. */
  readonly parts: readonly number[];
  /** The least and the greatest measured value. */
  readonly spread?: readonly [least: number, most: number];
  /** The text at the end of the bar. */
  readonly label: string;
};

export type Drawing = {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly legend?: readonly string[];
  /** A line across, at this value. */
  readonly mark?: number;
  readonly notes: readonly string[];
};

const COLOURS = ['#2f6fb3', '#3f9c7c', '#9a78c2', '#b0b4ba', '#d08a3c'];
const [WIDTH, RIGHT, ROW, THICK, LINE] = [860, 110, 34, 18, 17];
/** Width for names; no letter is wider than this. */
const [LEFT_MIN, LETTER] = [280, 7];
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.n{font-size:11px;fill:#59636e}.t{font-size:15px;font-weight:600}.r{stroke:#1f2328;stroke-width:1.5}.m{stroke:#59636e;stroke-dasharray:4 3}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.n{fill:#9198a1}.r{stroke:#f0f6fc}.m{stroke:#9198a1}}`;

export function drawBars({ title, bars, legend = [], mark, notes }: Drawing): string {
  const total = ({ parts }: Bar): number => parts.reduce((sum, part) => sum + part, 0);
  if (!bars.every((bar) => Number.isFinite(total(bar)))) throw new Error(`a bar of "${title}" has no length`);
  const left = Math.max(LEFT_MIN, ...bars.map(({ name }) => 24 + Math.ceil(name.length * LETTER)));
  const width = WIDTH + left - LEFT_MIN;
  const most = Math.max(mark ?? 0, ...bars.map((bar) => Math.max(total(bar), bar.spread?.[1] ?? 0)));
  const scale = (value: number): number => (value / most) * (width - left - RIGHT);
  const top = legend.length > 0 ? 62 : 40;
  const foot = top + bars.length * ROW + 12;
  const height = foot + notes.length * LINE + 8;
  const lines = [
    text(12, 24, title, 't'),
    ...legend.map((name, place) => legendOf(name, place, legend)),
    mark === undefined ? '' : line(left + scale(mark), top - 4, left + scale(mark), foot - 12, 'm'),
    ...bars.map((bar, place) => drawBar(bar, { left, y: top + place * ROW, scale, mark })),
    ...notes.map((note, place) => text(12, foot + (place + 1) * LINE - 4, note, 'n')),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`;
  return `${head}\n<style>${STYLE}</style>\n${lines.filter((one) => one !== '').join('\n')}\n</svg>\n`;
}

function legendOf(name: string, place: number, legend: readonly string[]): string {
  const x = 12 + legend.slice(0, place).reduce((sum, one) => sum + 30 + one.length * 7, 0);
  return `${rect(x, 38, 11, 11, COLOURS[place]!)}${text(x + 16, 48, name, 'n')}`;
}

type Place = {
  readonly left: number;
  readonly y: number;
  readonly scale: (value: number) => number;
  readonly mark: number | undefined;
};

function drawBar({ name, parts, spread, label }: Bar, { left, y, scale, mark }: Place): string {
  let x = left;
  const rects = parts.map((part, place) => {
    const drawn = rect(x, y, scale(part), THICK, COLOURS[place]!);
    x += scale(part);
    return drawn;
  });
  const middle = y + THICK / 2;
  const [least, most] = (spread ?? []).map((value) => left + scale(value));
  const whisker =
    least === undefined
      ? []
      : [
          line(least, middle, most!, middle, 'r'),
          ...[least, most!].map((end) => line(end, y + 4, end, y + THICK - 4, 'r')),
        ];
  const end = Math.max(x, most ?? 0) + 8;
  // The line of the mark crosses no label.
  const across = mark === undefined ? 0 : left + scale(mark);
  const isCrossed = across > end - 4 && across < end + label.length * LETTER + 4;
  const written = text(isCrossed ? across + 6 : end, middle + 4, label);
  return [text(12, middle + 4, name), ...rects, ...whisker, written].join('');
}

function rect(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${height}" fill="${fill}"/>`;
}

function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line x1="${x1.toFixed(1)}" y1="${y1}" x2="${x2.toFixed(1)}" y2="${y2}" class="${kind}"/>`;
}

function text(x: number, y: number, content: string, kind?: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}"${kind === undefined ? '' : ` class="${kind}"`}>${escapeXml(content)}</text>`;
}

function escapeXml(content: string): string {
  return content.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}

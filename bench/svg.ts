/** Bars as SVG, for docs/desempenho: one kind of drawing, in light and dark, with what it was measured on below. */

export type Bar = {
  readonly name: string;
  /** Lengths one after the other; the colour is that of the legend at the same place. */
  readonly parts: readonly number[];
  /** From the least to the most that was measured. */
  readonly spread?: readonly [least: number, most: number];
  /** At the end of the bar. */
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
const [WIDTH, LEFT, RIGHT, ROW, THICK, LINE] = [860, 280, 110, 34, 18, 17];
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.n{font-size:11px;fill:#59636e}.t{font-size:15px;font-weight:600}.r{stroke:#1f2328;stroke-width:1.5}.m{stroke:#59636e;stroke-dasharray:4 3}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.n{fill:#9198a1}.r{stroke:#f0f6fc}.m{stroke:#9198a1}}`;

export function drawBars({ title, bars, legend = [], mark, notes }: Drawing): string {
  const total = ({ parts }: Bar): number => parts.reduce((sum, part) => sum + part, 0);
  const most = Math.max(mark ?? 0, ...bars.map((bar) => Math.max(total(bar), bar.spread?.[1] ?? 0)));
  const scale = (value: number): number => (value / most) * (WIDTH - LEFT - RIGHT);
  const top = legend.length > 0 ? 62 : 40;
  const foot = top + bars.length * ROW + 12;
  const height = foot + notes.length * LINE + 8;
  const lines = [
    text(12, 24, title, 't'),
    ...legend.map((name, place) => legendOf(name, place, legend)),
    ...bars.map((bar, place) => drawBar(bar, top + place * ROW, scale)),
    mark === undefined ? '' : line(LEFT + scale(mark), top - 4, LEFT + scale(mark), foot - 12, 'm'),
    ...notes.map((note, place) => text(12, foot + (place + 1) * LINE - 4, note, 'n')),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(title)}">`;
  return `${head}\n<style>${STYLE}</style>\n${lines.filter((one) => one !== '').join('\n')}\n</svg>\n`;
}

function legendOf(name: string, place: number, legend: readonly string[]): string {
  const x = 12 + legend.slice(0, place).reduce((sum, one) => sum + 30 + one.length * 7, 0);
  return `${rect(x, 38, 11, 11, COLOURS[place]!)}${text(x + 16, 48, name, 'n')}`;
}

function drawBar({ name, parts, spread, label }: Bar, y: number, scale: (value: number) => number): string {
  let x = LEFT;
  const rects = parts.map((part, place) => {
    const drawn = rect(x, y, scale(part), THICK, COLOURS[place]!);
    x += scale(part);
    return drawn;
  });
  const middle = y + THICK / 2;
  const [least, most] = (spread ?? []).map((value) => LEFT + scale(value));
  const whisker =
    least === undefined
      ? []
      : [
          line(least, middle, most!, middle, 'r'),
          ...[least, most!].map((end) => line(end, y + 4, end, y + THICK - 4, 'r')),
        ];
  return [text(12, middle + 4, name), ...rects, ...whisker, text(Math.max(x, most ?? 0) + 8, middle + 4, label)].join(
    '',
  );
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

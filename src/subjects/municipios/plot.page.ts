/** A bar chart as SVG, made on the server: it needs no script, and a screen reader reads the same data. */
import { type Html, html } from '../../published/site/page-shell.ts';

export type Plot = {
  /** Distinguishes this chart from others of the page. */
  readonly id: string;
  readonly title: string;
  /** A description for people who do not see the chart. */
  readonly desc: string;
  readonly bars: readonly { readonly label: string; readonly value: number }[];
  /** One of this many bars has a label below it. */
  readonly labelEvery: number;
};

const [WIDTH, HEIGHT] = [720, 200];
const [LEFT, BOTTOM, TOP] = [44, 22, 8];
const LINES = 4;

const at = (value: number): string => String(Math.round(value * 10) / 10);

/** A number in readable form, with one decimal when it is small. */
export function shortNumber(value: number): string {
  const digits = value > 0 && value < 10 ? 1 : 0;
  return value.toLocaleString('pt-BR', { maximumFractionDigits: digits });
}

/** The least round maximum at which evenly spaced lines cover all values. */
function roundUp(max: number): number {
  if (max <= 0) return LINES;
  const step = 10 ** Math.floor(Math.log10(max / LINES));
  const wanted = max / LINES / step;
  const round = [1, 2, 2.5, 5, 10].find((one) => one >= wanted)!;
  return round * step * LINES;
}

export function plot({ id, title, desc, bars, labelEvery }: Plot): Html {
  const top = roundUp(Math.max(0, ...bars.map(({ value }) => value)));
  const width = (WIDTH - LEFT) / Math.max(1, bars.length);
  const yOf = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const lines = Array.from({ length: LINES + 1 }, (_, place) => {
    const value = (top / LINES) * place;
    const y = at(yOf(value));
    return html`<line class="malha" x1="${at(LEFT)}" x2="${at(WIDTH)}" y1="${y}" y2="${y}"/><text class="eixo" x="${at(LEFT - 6)}" y="${at(yOf(value) + 4)}" text-anchor="end">${value.toLocaleString('pt-BR', { maximumFractionDigits: 3 })}</text>\n`;
  });
  const shown = bars.map(({ label, value }, place) => {
    const x = LEFT + place * width;
    const y = yOf(value);
    const bar =
      value > 0
        ? html`<rect class="barra-do-grafico" x="${at(x)}" y="${at(y)}" width="${at(Math.max(1, width - 1))}" height="${at(HEIGHT - BOTTOM - y)}"><title>${label}: ${shortNumber(value)}</title></rect>\n`
        : undefined;
    const named =
      place % labelEvery === 0
        ? html`<text class="eixo" x="${at(x)}" y="${at(HEIGHT - 5)}">${label}</text>\n`
        : undefined;
    return [bar, named];
  });
  return html`<svg class="grafico" viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" role="img" aria-labelledby="${id}-titulo ${id}-descricao">
<title id="${id}-titulo">${title}</title>
<desc id="${id}-descricao">${desc}</desc>
${lines}${shown.flat()}</svg>
`;
}

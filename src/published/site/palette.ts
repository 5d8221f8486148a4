/** The colours of every page, light and dark, as the federal design system has them (D-846). */
type Colours = Readonly<Record<string, readonly [light: string, dark: string]>>;

export const COLOURS = {
  text: ['#333', '#e6e6e6'],
  quiet: ['#5c5c5c', '#b4bccb'],
  line: ['#ccc', '#33415c'],
  paper: ['#fff', '#0b1528'],
  sheet: ['#f8f8f8', '#12213d'],
  link: ['#1351b4', '#adcdff'],
  bad: ['#b50909', '#fdb8ae'],
  good: ['#216e1f', '#70e17b'],
  warn: ['#776017', '#fee685'],
  edge: ['#757575', '#8494b0'],
  mark: ['#fee685', '#5c4809'],
} as const satisfies Colours;

/** The colours as variables of a style sheet, by what the reader's system prefers. */
export function declareColours(colours: Colours): string {
  const [light, dark] = ([0, 1] as const).map((side) =>
    Object.entries(colours)
      .map(([name, pair]) => `--${name}: ${pair[side]};`)
      .join(' '),
  );
  return `:root { ${light} }\n@media (prefers-color-scheme: dark) {\n  :root { ${dark} }\n}`;
}

/**
 * Fits texts into their cells: cut at the length of the standard, set narrower where their letters are wide, broken into lines.
 * The size of letters never changes: the standard's sizes are minimums.
 */
import { type Folha, type Letra, measure, setText } from './pdf.ts';

/** How narrow letters are set before a text is cut: the width of a condensed face. */
export const MIN_STRETCH = 0.7;

const CUT = '...';

/** A text longer than `max` ends with three points in place of its last characters (77 of 80). */
export function shorten(text: string, max: number | undefined): string {
  if (max === undefined || text.length <= max) return text;
  const characters = [...text];
  if (characters.length <= max) return text;
  return `${characters
    .slice(0, max - CUT.length)
    .join('')
    .trimEnd()}${CUT}`;
}

/** One line that keeps within `width`. */
export function setLine(folha: Folha, letra: Letra, x: number, y: number, text: string, width: number): void {
  const clean = text.replace(/\s+/g, ' ');
  const natural = measure(letra, clean);
  if (natural * MIN_STRETCH <= width) {
    setText(folha, letra, x, y, clean, Math.min(1, width / natural));
    return;
  }
  let kept = clean.length;
  while (kept > 0 && measure(letra, clean.slice(0, kept) + CUT) * MIN_STRETCH > width) kept -= 1;
  setText(folha, letra, x, y, `${clean.slice(0, kept).trimEnd()}${CUT}`, MIN_STRETCH);
}

/** The lines of a text no wider than `width`: broken at spaces, at the breaks it has, and inside what is longer than a line. */
export function wrap(letra: Letra, text: string, width: number): readonly string[] {
  return text.split(/\r?\n/).flatMap((paragraph) => wrapParagraph(letra, paragraph, width));
}

function wrapParagraph(letra: Letra, paragraph: string, width: number): readonly string[] {
  const space = measure(letra, ' ');
  const lines: string[] = [];
  let line = '';
  let lineWidth = 0;
  for (const word of paragraph.split(/\s+/).filter((one) => one !== '')) {
    const wordWidth = measure(letra, word);
    if (line !== '' && lineWidth + space + wordWidth <= width) {
      line += ` ${word}`;
      lineWidth += space + wordWidth;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    lineWidth = wordWidth;
    while (lineWidth > width) {
      let kept = line.length - 1;
      while (kept > 1 && measure(letra, line.slice(0, kept)) > width) kept -= 1;
      lines.push(line.slice(0, kept));
      line = line.slice(kept);
      lineWidth = measure(letra, line);
    }
  }
  return [...lines, line];
}

/** Reads a PDF with poppler and zbar as a reader sees it: words with their places, pictures, codes. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toolOr } from './tools.ts';

/** Centimetres from the upper left corner of the page. */
export type Palavra = {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly right: number;
  readonly bottom: number;
};

export type Pagina = { readonly w: number; readonly h: number; readonly palavras: readonly Palavra[] };

export type Leitor = {
  readonly paginas: (pdf: Uint8Array) => readonly Pagina[];
  /** The pages of several files in order, read in one call. */
  readonly reunidas: (pdfs: readonly Uint8Array[]) => readonly Pagina[];
  /** Rows of the table of fonts, without its header. */
  readonly fontes: (pdf: Uint8Array) => readonly string[];
  /** The page as pixels of three bytes. */
  readonly figura: (pdf: Uint8Array, dpi: number) => { readonly w: number; readonly h: number; readonly rgb: Buffer };
  /** The contents of the codes on the page; undefined if zbar is missing. */
  readonly codigos: (pdf: Uint8Array) => readonly string[] | undefined;
};

const POINTS_PER_CM = 72 / 2.54;

/** Undefined if poppler is missing and cannot be installed; the reason is printed. */
export function leitor(): Leitor | undefined {
  // Another program of that name does not report the places of words.
  const pdftotext = toolOr('pdftotext', 'poppler-utils', (place) =>
    /poppler/i.test(String(spawnSync(place, ['-v']).stderr)),
  );
  if (pdftotext === undefined) return undefined;
  const dir = mkdtempSync(path.join(tmpdir(), 'danfse-'));
  const file = path.join(dir, 'pagina.pdf');
  const run = (tool: string, pdf: Uint8Array, args: readonly string[]): Buffer => {
    writeFileSync(file, pdf);
    return execFileSync(tool, args, { maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'pipe'] });
  };
  return {
    paginas: (pdf) => readBoxes(run(pdftotext, pdf, ['-bbox', file, '-']).toString('utf8')),
    reunidas: (pdfs) => {
      const files = pdfs.map((pdf, at) => {
        const one = path.join(dir, `${at}.pdf`);
        writeFileSync(one, pdf);
        return one;
      });
      const whole = path.join(dir, 'reunidas.pdf');
      execFileSync('pdfunite', [...files, whole], { stdio: ['ignore', 'pipe', 'pipe'] });
      return readBoxes(execFileSync(pdftotext, ['-bbox', whole, '-'], { encoding: 'utf8', maxBuffer: 2 ** 28 }));
    },
    fontes: (pdf) => run('pdffonts', pdf, [file]).toString('utf8').trim().split('\n').slice(2),
    figura: (pdf, dpi) => readPpm(run('pdftoppm', pdf, ['-r', String(dpi), '-singlefile', file])),
    codigos: (pdf) => {
      const zbarimg = toolOr('zbarimg', 'zbar-tools');
      if (zbarimg === undefined) return undefined;
      const picture = path.join(dir, 'pagina.ppm');
      writeFileSync(picture, run('pdftoppm', pdf, ['-r', '150', '-singlefile', file]));
      const said = execFileSync(zbarimg, ['--quiet', '--raw', picture], { stdio: ['ignore', 'pipe', 'pipe'] });
      return said.toString('utf8').trim().split('\n');
    },
  };
}

const WORD = /<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)<\/word>/g;

function readBoxes(html: string): readonly Pagina[] {
  return html
    .split('<page ')
    .slice(1)
    .map((page) => {
      const [, w, h] = /width="([\d.]+)" height="([\d.]+)"/.exec(page)!;
      const palavras = [...page.matchAll(WORD)].map((word) => {
        const [x, y, right, bottom] = word.slice(1, 5).map((value) => Number(value) / POINTS_PER_CM);
        return { text: unescaped(word[5]!), x: x!, y: y!, right: right!, bottom: bottom! };
      });
      return { w: Number(w) / POINTS_PER_CM, h: Number(h) / POINTS_PER_CM, palavras };
    });
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

function readPpm(ppm: Buffer): { w: number; h: number; rgb: Buffer } {
  const head = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.toString('latin1', 0, 40))!;
  return { w: Number(head[1]), h: Number(head[2]), rgb: ppm.subarray(head[0].length) };
}

/** The text of an area, word by word from left to right, line by line. */
export function textIn(
  { palavras }: Pagina,
  { x, y, w, h }: { readonly x: number; readonly y: number; readonly w: number; readonly h: number },
): string {
  const inside = palavras.filter((one) => {
    const middle = (one.y + one.bottom) / 2;
    return one.x >= x - 0.01 && one.x < x + w && middle >= y && middle < y + h;
  });
  return inside
    .toSorted((a, b) => (Math.abs(a.bottom - b.bottom) > 0.1 ? a.bottom - b.bottom : a.x - b.x))
    .map(({ text }) => text)
    .join(' ');
}

/** Pairs of words that overlap by more than the tolerance. */
export function overlaps({ palavras }: Pagina): readonly string[] {
  const sorted = palavras.toSorted((a, b) => a.y - b.y);
  const found: string[] = [];
  for (const [place, one] of sorted.entries()) {
    for (let next = place + 1; next < sorted.length && sorted[next]!.y < one.bottom - HAIR; next += 1) {
      const other = sorted[next]!;
      if (other.x < one.right - HAIR && one.x < other.right - HAIR) found.push(`${one.text} × ${other.text}`);
    }
  }
  return found;
}

/** A tenth of a point: the rounding error of places on the way. */
const HAIR = 0.1 / POINTS_PER_CM;

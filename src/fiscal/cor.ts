/** The colour of a municipality, and the text that can be read on it (WCAG 2.2, 1.4.3). */

const HEX = /^#?([0-9a-f]{6})$/i;

/** `#1351b4`; undefined: the text is no colour of six hexadecimal digits. */
export function readCor(written: string): string | undefined {
  const digits = HEX.exec(written.trim())?.[1];
  return digits && `#${digits.toLowerCase()}`;
}

/** Black or white, the one with more contrast on a colour: at least 4.58 to 1 on any. */
export function chooseText(cor: string): {
  readonly nome: 'branco' | 'preto';
  readonly cor: string;
  readonly contraste: number;
} {
  const light = luminanceOf(cor);
  const [white, black] = [1.05 / (light + 0.05), (light + 0.05) / 0.05];
  return white >= black
    ? { nome: 'branco', cor: '#ffffff', contraste: white }
    : { nome: 'preto', cor: '#000000', contraste: black };
}

/** Relative luminance of a colour of sRGB, from 0 to 1. */
function luminanceOf(cor: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(cor.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

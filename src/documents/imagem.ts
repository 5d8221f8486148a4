/** Makes a small PNG of an image from outside. Only its pixels are taken over. The decoders may be exhausted, so they run apart (D-844). */
import { groupDigits } from '../fiscal/group-digits.ts';
import { PIXELS_MAX, readImagemHead } from './imagem-head.ts';
import { makeRunner } from './run-apart.ts';

export const IMAGEM_BYTES_MAX = 512 * 1024;

const runMaker = makeRunner({
  script: 'imagem-process.ts',
  maxMs: 20_000,
  heapMaxMb: 256,
  // A PNG of the largest size without any compression is smaller.
  answerMaxBytes: 256 * 1024,
});

/** The image as a PNG; or the reason why not, a sentence in Portuguese. */
export type ImagemFeita = { readonly png: Buffer } | { readonly problem: string };

const BROKEN: ImagemFeita = {
  problem: 'A imagem está cortada, ou não se deixa abrir. Abra-a num programa de imagens e salve-a de novo como PNG.',
};

const CROWDED: ImagemFeita = { problem: 'Outras imagens estão sendo feitas agora. Tente de novo em um minuto.' };

/** Looks at type and size before anything is decoded. */
export async function makeImagem(bytes: Buffer): Promise<ImagemFeita> {
  const why = whyNoImagem(bytes);
  if (why !== undefined) return { problem: why };
  const made = await runMaker(bytes);
  return made.how === 'ended' ? { png: made.answer } : made.how === 'crowded' ? CROWDED : BROKEN;
}

function whyNoImagem(bytes: Buffer): string | undefined {
  if (bytes.length > IMAGEM_BYTES_MAX) return `A imagem tem mais de ${IMAGEM_BYTES_MAX / 1024} KB. Salve-a menor.`;
  const head = readImagemHead(bytes);
  if (head === undefined)
    return 'O arquivo não é uma imagem PNG ou JPEG. Um SVG, um GIF ou um PDF se salva antes como PNG.';
  const { largura, altura, isEntrelacada } = head;
  if (largura === 0 || altura === 0) return 'A imagem não tem nenhum ponto.';
  if (largura * altura > PIXELS_MAX) {
    return `A imagem tem ${groupDigits(largura)} × ${groupDigits(altura)} pontos, mais que ${groupDigits(PIXELS_MAX)} ao todo. Salve-a menor.`;
  }
  return isEntrelacada ? 'A imagem é um PNG entrelaçado. Salve-a sem entrelaçamento.' : undefined;
}

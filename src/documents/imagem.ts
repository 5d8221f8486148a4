/**
 * Makes an image from outside anew, as a small PNG that has its pixels and nothing else of it. The decoders run in a process of their
 * own, since a hostile file may exhaust them (D-844).
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { ignoring } from '../base/traces/ignoring.ts';
import { groupDigits } from '../fiscal/group-digits.ts';
import { PIXELS_MAX, readImagemHead } from './imagem-head.ts';

export const IMAGEM_BYTES_MAX = 512 * 1024;

const PROCESS_MAX_MS = 20_000;
const HEAP_MAX_MB = 256;
/** A PNG of the largest size without any compression is smaller. */
const ANSWER_MAX_BYTES = 256 * 1024;
const MAKER = path.join(import.meta.dirname, 'imagem-process.ts');

/** The image as a PNG; or the reason why not, a sentence in Portuguese. */
export type ImagemFeita = { readonly png: Buffer } | { readonly problem: string };

const BROKEN: ImagemFeita = {
  problem: 'A imagem está cortada, ou não se deixa abrir. Abra-a num programa de imagens e salve-a de novo como PNG.',
};

/** Looks at type and size before anything is decoded. */
export async function makeImagem(bytes: Buffer): Promise<ImagemFeita> {
  const why = whyNoImagem(bytes);
  return why === undefined ? makeApart(bytes) : { problem: why };
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

function makeApart(bytes: Buffer): Promise<ImagemFeita> {
  const options = { timeout: PROCESS_MAX_MS, killSignal: 'SIGKILL', env: {}, maxBuffer: ANSWER_MAX_BYTES } as const;
  return new Promise((resolve) => {
    const args = [`--max-old-space-size=${HEAP_MAX_MB}`, MAKER];
    const child = execFile(process.execPath, args, { ...options, encoding: 'buffer' }, (error, png) => {
      resolve(error === null ? { png } : BROKEN);
    });
    child.stdin!.on('error', ignoring('the process ended before it had read all, which is answered above'));
    child.stdin!.end(bytes);
  });
}

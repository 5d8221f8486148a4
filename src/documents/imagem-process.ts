/**
 * The process decodes an image from its standard input and shrinks it. It writes the pixels as a PNG to its standard output. It ends with
 * 1 if the input is no image.
 */
import { buffer } from 'node:stream/consumers';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import { PIXELS_MAX, readImagemHead } from './imagem-head.ts';

/** Pixels of the longer side: twice what the largest page shows. */
const LADO_MAX = 160;
const MEMORY_MAX_MB = 192;
/** Red, green, blue and opacity. */
const CHANNELS = 4;

type Pixels = { readonly width: number; readonly height: number; readonly data: Uint8Array };

function decode(bytes: Buffer): Pixels {
  if (readImagemHead(bytes)?.tipo === 'png') return PNG.sync.read(bytes);
  return jpeg.decode(bytes, {
    useTArray: true,
    tolerantDecoding: false,
    maxResolutionInMP: PIXELS_MAX / 1_000_000,
    maxMemoryUsageInMB: MEMORY_MAX_MB,
  });
}

/** Each pixel is the mean of those that it stands for; a transparent one has no weight in the colour. */
function shrink({ width, height, data }: Pixels): Pixels {
  const scale = Math.max(1, width / LADO_MAX, height / LADO_MAX);
  const [w, h] = [width, height].map((side) => Math.max(1, Math.round(side / scale))) as [number, number];
  const small = new Uint8Array(w * h * CHANNELS);
  for (let y = 0; y < h; y += 1) {
    const [top, bottom] = spanOf(y, h, height);
    for (let x = 0; x < w; x += 1) {
      const [left, right] = spanOf(x, w, width);
      small.set(meanOf(data, width, { left, right, top, bottom }), (y * w + x) * CHANNELS);
    }
  }
  return { width: w, height: h, data: small };
}

function spanOf(place: number, of: number, side: number): readonly [number, number] {
  const from = Math.floor((place * side) / of);
  return [from, Math.max(from + 1, Math.floor(((place + 1) * side) / of))];
}

type Box = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number };

function meanOf(data: Uint8Array, width: number, { left, right, top, bottom }: Box): readonly number[] {
  let [red, green, blue, opacity] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const at = (y * width + x) * CHANNELS;
      const weight = data[at + 3]!;
      red += data[at]! * weight;
      green += data[at + 1]! * weight;
      blue += data[at + 2]! * weight;
      opacity += weight;
    }
  }
  const count = (right - left) * (bottom - top);
  const colours = [red, green, blue].map((sum) => (opacity === 0 ? 0 : Math.round(sum / opacity)));
  return [...colours, Math.round(opacity / count)];
}

try {
  const { width, height, data } = shrink(decode(await buffer(process.stdin)));
  const image = new PNG({ width, height });
  image.data = Buffer.from(data);
  process.stdout.write(PNG.sync.write(image, { deflateLevel: 9 }));
} catch {
  // Anything that the libraries throw means the same.
  process.exitCode = 1;
}

/** QR codes. The only importer of qr. */
import encode from 'qr';

/** The modules of a code, row by row, without a quiet zone: true is dark. */
export function drawQr(text: string): readonly (readonly boolean[])[] {
  // Level M, as is usual. The quiet zone of the library is cut off.
  return encode(text, 'raw', { ecc: 'medium', border: 1 })
    .slice(1, -1)
    .map((row) => row.slice(1, -1));
}

/** The QR code of the printed note, as a matrix of modules. The only user of the QR library. */
import encodeQr from 'qr';

/**
 * Rows of modules, true where dark, without the quiet zone. Level M, as is usual; the standard states none. A note's
 * address makes version 6, 41 modules a side.
 */
export function qrModules(text: string): readonly (readonly boolean[])[] {
  // The library draws at least one module of quiet zone, which is the page's own affair here.
  return encodeQr(text, 'raw', { ecc: 'medium', border: 1 })
    .slice(1, -1)
    .map((row) => row.slice(1, -1));
}

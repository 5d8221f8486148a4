/** `1.000.000`: a count in Portuguese notation. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '.');
}

/** `1.234,56`: an amount in Portuguese notation, from a decimal text such as `1234.56`. */
export function groupDecimal(text: string): string {
  const [whole, cents] = text.split('.');
  return `${whole!.replace(/\B(?=(\d{3})+$)/g, '.')},${cents ?? '00'}`;
}

/** `1,5 s`. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).replace('.', ',')} s`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Sizes in PostgreSQL's units, in steps of 1024. */
export function sizeText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  const text = value < 10 && step > 0 ? value.toFixed(1).replace('.', ',') : String(Math.round(value));
  return `${text} ${UNITS[step]}`;
}

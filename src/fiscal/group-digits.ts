/** `1.000.000`: a count as it is written in Portuguese. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '.');
}

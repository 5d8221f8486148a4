/** `1.000.000`: a count as it is written in Portuguese. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '.');
}

/** `1.234,56`: an amount, a decimal text such as `1234.56`, as it is written in Portuguese. */
export function groupDecimal(text: string): string {
  const [whole, cents] = text.split('.');
  return `${whole!.replace(/\B(?=(\d{3})+$)/g, '.')},${cents ?? '00'}`;
}

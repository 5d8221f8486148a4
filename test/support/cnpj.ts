/** CNPJ with the check digits that the Receita Federal prescribes (modulo 11), from the eight digits of its root. */
export function cnpjCheckDigits(root: string): string {
  let digits = `${root}0001`;
  for (const weights of [
    [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
    [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
  ]) {
    const sum = weights.reduce((total, weight, place) => total + weight * Number(digits[place]), 0);
    digits += sum % 11 < 2 ? '0' : String(11 - (sum % 11));
  }
  return digits;
}

/** Distinct DPS documents made quickly of one: number, provider and value change, everything else stays. */
import { cnpjIsValid } from '../src/fiscal/chave.ts';

/** CNPJ with right check digits for a root number. */
function cnpjOf(root: number): string {
  const base = `${String(root).padStart(8, '0')}0001`;
  for (let dv = 0; dv < 100; dv += 1) {
    const cnpj = base + String(dv).padStart(2, '0');
    if (cnpjIsValid(cnpj)) return cnpj;
  }
  throw new Error('no check digits fit');
}

/** A function from a number to the bytes of a DPS with that `nDPS`, spread over so many providers. */
export function distinctDps(template: string, providers: number): (number: number) => Buffer {
  const cnpjs = Array.from({ length: providers }, (_, place) => cnpjOf(10_000_000 + place));
  const marked = template
    .replace(/<nDPS>[^<]*</, '<nDPS>@1@<')
    .replace(/(<prest>\s*<CNPJ>)[^<]*</, '$1@2@<')
    .replace(/<vServ>[^<]*</, '<vServ>@3@.00<');
  const [first, second, third, last] = marked.split(/@[123]@/);
  if (last === undefined) throw new Error('the template lacks nDPS, CNPJ or vServ');
  return (number) =>
    Buffer.from(`${first}${number}${second}${cnpjs[number % providers]}${third}${100 + (number % 900)}${last}`);
}

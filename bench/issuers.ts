/**
 * The municipalities that issue, and how their notes spread. No figure of notes by municipality is published. The
 * nearest one is the ISSQN (Observatório de Informações Municipais, September 2015). The 304 municipalities with more
 * than a hundred thousand people collected 83.51 % of it.
 */
import { municipios } from '../src/fiscal/catalogs/catalogs.ts';

/** The issuing municipalities, and how their notes spread: as in the country, or the same number to each. */
export type Issuers = { readonly count: number; readonly distribution: Distribution };
export const DISTRIBUTIONS = ['real', 'igual'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];
/** One municipality, by the address of its API and its code. */
export type Issuer = { readonly slug: string; readonly ibge: string };

/** The municipality that issues, or the largest of several. */
export const GIANT: Issuer = { slug: 'exemplo', ibge: '3550308' };
export const ISSUERS_MAX = municipios().length;

/**
 * Zipf's law: the municipality of rank r has a share in proportion to r to the minus this. It is the exponent by which
 * the first 304 of 5,570 have 83.51 % together; the first one then has 20 %.
 */
const EXPONENT = 1.1768;
/** Successive multiples of the golden ratio fill the unit interval evenly in any stretch. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The municipalities by rank, the largest first. */
export function listIssuers(count: number): readonly Issuer[] {
  const others = municipios().filter(({ codigoIbge }) => codigoIbge !== GIANT.ibge);
  return [GIANT, ...others.slice(0, count - 1).map(({ codigoIbge: ibge }) => ({ slug: `m${ibge}`, ibge }))];
}

/** The path that receives the documents of a municipality. */
export function apiOf(slug: string): string {
  return `/${slug}/api/v1/nfse/v101`;
}

/** The place in the list of the municipality that issues a note, by the number of its document. */
export function chooseIssuer({ count, distribution }: Issuers): (number: number) => number {
  if (distribution === 'igual') return (number) => number % count;
  const ends: number[] = [];
  for (let rank = 1; rank <= count; rank += 1) ends.push((ends.at(-1) ?? 0) + rank ** -EXPONENT);
  return (number) => {
    const drawn = ((number * GOLDEN) % 1) * ends.at(-1)!;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > drawn) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

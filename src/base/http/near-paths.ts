/** Finds the addresses nearest to one that does not exist, for the refusal. */
import { nearestName } from '../../fiscal/layout/strange-tag.ts';
import { writeBraces } from '../../published/markdown.ts';

type Known = { readonly method: string; readonly path: string };

/** Maximum number of addresses that an answer names. */
const NAMED_MAX = 3;
/** A longer path is not compared. */
const SEGMENTS_MAX = 12;
const SEGMENT_MAX = 80;

/** Beginning of every address below a municipality. */
const API = ['api', 'v1'];

/** The path of a request below its municipality, in segments, without `api/v1`; undefined for one that is too long. */
function segmentsOf(url: string): readonly string[] | undefined {
  const segments = url
    .replace(/[?#].*$/s, '')
    .split('/')
    .slice(2)
    .filter((segment) => segment !== '');
  const own = segments.filter((segment, place) => place > 1 || !API.includes(segment.toLowerCase()));
  return own.length === 0 || own.length > SEGMENTS_MAX || own.some(({ length }) => length > SEGMENT_MAX)
    ? undefined
    : own;
}

/** The likeness of two segments, from 0 to 1; a parameter resembles its possible values. */
function compareSegments(asked: string, known: string): number {
  // A parameter resembles a number or a key more than a word.
  if (known.startsWith(':')) return /\d/.test(asked) ? 0.9 : 0.3;
  const word = asked.toLowerCase();
  if (word === known) return 1;
  if (nearestName(word, [known]) !== undefined) return 0.8;
  return word.startsWith(known) || known.startsWith(word) ? 0.6 : 0;
}

/** The likeness of two paths, from 0 to 1: the sum over their segments in order, divided by the longer length. */
function comparePaths(asked: readonly string[], known: readonly string[]): number {
  let above = known.map(() => 0);
  for (const segment of asked) {
    const row: number[] = [];
    for (const [place, other] of known.entries()) {
      const both = (above[place - 1] ?? 0) + compareSegments(segment, other);
      row.push(Math.max(both, above[place]!, row[place - 1] ?? 0));
    }
    above = row;
  }
  return above.at(-1)! / Math.max(asked.length, known.length);
}

/** Two paths below this likeness have little in common. */
const NEARNESS_MIN = 0.4;

/** Addresses in the form `POST /{municipio}/api/v1/nfse/v101`, the nearest first; of one method alone if it is given. */
export function findNearPaths(url: string, known: readonly Known[]): readonly string[] {
  const asked = segmentsOf(url);
  if (asked === undefined) return [];
  const catalogs = known.filter(({ path }) => path.startsWith('/api/v1/catalogo/'));
  if (nearestName(asked[0]!.toLowerCase(), ['catalogo']) !== undefined) return catalogs.map(describePath);
  return known
    .map((one) => ({ one, near: comparePaths(asked, one.path.split('/').slice(3)) }))
    .filter(({ near }) => near >= NEARNESS_MIN)
    .toSorted((a, b) => b.near - a.near)
    .slice(0, NAMED_MAX)
    .map(({ one }) => describePath(one));
}

function describePath({ method, path }: Known): string {
  return `${method} /{municipio}${writeBraces(path)}`;
}

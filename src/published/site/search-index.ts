/**
 * The index of the search: the entries with their words, and the ranked entries for a query.
 *
 * Accents, case and plurals do not count. A query is cut to a few words, and each is looked up in a sorted list of words. The work grows
 * with the result, never with the length of the texts. No pattern is made from the query.
 */
import { stripAccents } from '../errors/search.ts';

/** The kind of an entry: a section of a page, an error code, an operation of the reference, an element of the layout. */
export type Kind = 'pagina' | 'codigo' | 'operacao' | 'campo';

export type Entry = {
  readonly kind: Kind;
  readonly title: string;
  /** Address in the service, with the anchor in the page. */
  readonly path: string;
  /** The source of its excerpt. */
  readonly text: string;
  /** Searched like a title, and not shown. */
  readonly alias?: string;
  /** Searched, and not shown. */
  readonly beside?: string;
  /** Names that put the entry first when one of them is the whole question. */
  readonly names: readonly string[];
  /** The page of a section: a page with all the words in different sections is found too. */
  readonly page?: string;
};

/** Entries with a word, by their position, and the weight of the word in each. */
type Postings = Map<number, number>;

export type Index = {
  readonly entries: readonly Entry[];
  /** The words in alphabetical order. */
  readonly words: readonly string[];
  readonly postings: ReadonlyMap<string, Postings>;
  readonly names: ReadonlyMap<string, readonly number[]>;
  /** The first section of each page. */
  readonly firsts: ReadonlyMap<string, number>;
};

/** A word of a title weighs as much as this many in the text. */
const TITLE_WEIGHT = 4;
/** The weight of a word grows with its frequency up to this limit, and shrinks with the text's length (BM25). */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

/** Words that stand in nearly every text; they are ignored if there are others. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  'a o as os um uma e ou de do da dos das em no na nos nas por para com que como qual quando se ao'.split(' '),
);

/** Longest time that making the index may delay other requests. */
const TURN_MS = 10;

/** The index is made in short turns: other requests are served in between. */
export async function indexOf(entries: readonly Entry[]): Promise<Index> {
  let began = performance.now();
  const giveWay = async (): Promise<void> => {
    if (performance.now() - began < TURN_MS) return;
    await new Promise(setImmediate);
    began = performance.now();
  };
  const counts: ReadonlyMap<string, number>[] = [];
  for (const entry of entries) {
    counts.push(countWords(entry));
    await giveWay();
  }
  const lengths = counts.map((count) => count.values().reduce((sum, one) => sum + one, 0));
  const mean = lengths.reduce((sum, one) => sum + one, 0) / Math.max(1, entries.length);
  const postings = new Map<string, Postings>();
  for (const [place, count] of counts.entries()) {
    const norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * (lengths[place]! / mean));
    for (const [word, times] of count) {
      const those = postings.getOrInsertComputed(word, () => new Map());
      those.set(place, (times * (SATURATION + 1)) / (times + norm));
    }
    await giveWay();
  }
  const named = entries.flatMap((entry, place) => entry.names.map((name) => [foldName(name), place] as const));
  const firsts = new Map<string, number>();
  for (const [place, { page }] of entries.entries()) if (page !== undefined) firsts.getOrInsert(page, place);
  return {
    entries,
    words: [...postings.keys()].sort(),
    postings,
    names: new Map(
      [...Map.groupBy(named, ([name]) => name)].map(([name, places]) => [name, places.map(([, place]) => place)]),
    ),
    firsts,
  };
}

function countWords({ title, alias = '', text, beside = '' }: Entry): ReadonlyMap<string, number> {
  const count = new Map<string, number>();
  for (const word of termsOf(`${text} ${beside}`)) count.set(word, (count.get(word) ?? 0) + 1);
  for (const word of termsOf(`${title} ${alias}`)) count.set(word, (count.get(word) ?? 0) + TITLE_WEIGHT);
  return count;
}

/** A name without accents and case, and without empty words: the query `certificado` matches `O certificado`. */
function foldName(text: string): string {
  const words = stripAccents(text).split(/\s+/).filter(Boolean);
  const telling = words.filter((word) => !EMPTY_WORDS.has(word));
  return (telling.length === 0 ? words : telling).join(' ');
}

// Words

/** The words of a text: names whole and in their parts, all without accents and in the singular. */
function termsOf(text: string): readonly string[] {
  return stripAccents(text)
    .split(/[^a-z0-9_./-]+/)
    .flatMap((raw) => {
      const whole = trimMarks(raw);
      const parts = whole.split(/[_./-]+/).filter(Boolean);
      return parts.length > 1 ? [whole, ...parts.map(singular)] : parts.map(singular);
    });
}

const MARKS: ReadonlySet<string> = new Set('_./-');

/** The text without the marks at either end, which belong to a name only inside it. */
function trimMarks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && MARKS.has(text[start]!)) start += 1;
  while (end > start && MARKS.has(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

/** Endings of plurals with those of the singular, the longest first. */
const PLURALS = [
  ['oes', 'ao'],
  ['aes', 'ao'],
  ['ais', 'al'],
  ['eis', 'el'],
  ['res', 'r'],
  ['zes', 'z'],
  ['ns', 'm'],
  ['s', ''],
] as const;
/** A shorter word has no plural that matters (`gas`, `mes`, `dps`). */
const PLURAL_MIN = 5;

function singular(word: string): string {
  if (word.length < PLURAL_MIN) return word;
  const found = PLURALS.find(([ending]) => word.endsWith(ending));
  return found === undefined ? word : word.slice(0, -found[0].length) + found[1];
}

// Questions

/** The longest query in words; the rest is ignored. */
const WORDS_MAX = 8;
/** A shorter word is searched whole, and not as the prefix of others. */
const PREFIX_MIN = 3;
/** The weight of a prefix relative to the whole word. */
const PREFIX_SHARE = 0.4;
/** The score exceeds all that words can give. */
const NAMED_SCORE = 1_000;

/** The words of a query; a name of several parts is one word if the index has it, else its parts are. */
function questionOf(index: Index, asked: string): readonly Postings[] {
  const raw = stripAccents(asked)
    .split(/[^a-z0-9_./-]+/)
    .map(trimMarks)
    .filter(Boolean);
  const telling = raw.filter((word) => !EMPTY_WORDS.has(word));
  const words = [...new Set(telling.length === 0 ? raw : telling)].slice(0, WORDS_MAX);
  return words
    .flatMap((word) => {
      const whole = lookUp(index, word);
      const parts = word.split(/[_./-]+/).filter(Boolean);
      if (whole.size > 0 || parts.length < 2) return [whole];
      return parts.slice(0, WORDS_MAX).map((part) => lookUp(index, part));
    })
    .slice(0, WORDS_MAX);
}

/** The weights of a word, or of the words that it begins, by entry. */
function lookUp({ words, postings, entries }: Index, word: string): Postings {
  const found: Postings = new Map();
  const add = (term: string, share: number): void => {
    const those = postings.get(term);
    if (those === undefined) return;
    const rarity = Math.log(1 + entries.length / those.size) * share;
    for (const [place, weight] of those) found.set(place, Math.max(found.get(place) ?? 0, weight * rarity));
  };
  const one = singular(word);
  add(one, 1);
  if (word !== one) add(word, 1);
  if (one.length < PREFIX_MIN) return found;
  for (let place = firstFrom(words, one); words[place]?.startsWith(one); place += 1) add(words[place]!, PREFIX_SHARE);
  return found;
}

/** The index of the first word that does not sort before the given one. */
function firstFrom(words: readonly string[], word: string): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (words[middle]! < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The entries for a query, the best first: those named by it, those with all its words, pages with the words in several sections. */
export function findEntries(index: Index, asked: string): readonly Entry[] {
  const words = questionOf(index, asked);
  const scores = new Map<number, number>();
  if (words.length > 0) {
    const [fewest, ...others] = words.toSorted((one, other) => one.size - other.size);
    for (const [place, first] of fewest!) {
      if (others.some((those) => !those.has(place))) continue;
      scores.set(
        place,
        others.reduce((sum, those) => sum + those.get(place)!, first),
      );
    }
    for (const place of wholePages(index, words, scores)) scores.set(place, 0);
  }
  for (const place of index.names.get(foldName(asked)) ?? []) {
    scores.set(place, (scores.get(place) ?? 0) + NAMED_SCORE);
  }
  return [...scores]
    .sort(([one, first], [other, second]) => second - first || one - other)
    .map(([place]) => index.entries[place]!);
}

/** The first sections of pages that have every word, although no single section has them all. */
function wholePages(
  { entries, firsts }: Index,
  words: readonly Postings[],
  found: ReadonlyMap<number, number>,
): readonly number[] {
  const pagesWith = (places: Iterable<number>): ReadonlySet<string> =>
    new Set([...places].flatMap((place) => entries[place]!.page ?? []));
  const already = pagesWith(found.keys());
  const [first, ...others] = words.map((those) => pagesWith(those.keys()));
  return [...first!]
    .filter((page) => !already.has(page) && others.every((those) => those.has(page)))
    .map((page) => firsts.get(page)!);
}

/**
 * Search over a list in memory: filters that are prepared once, and pages of the results.
 *
 * The module knows no catalog: its caller defines the filters and the published form of an item.
 */

/** Text without accents, in lower case; every other character only separates words. */
export function comparable(text: string): string {
  const bare = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  return bare.replace(/[^a-z0-9]+/g, ' ').trim();
}

/** The words of a query; a text must contain each of them, in any order. */
export function wordsOf(asked: string): readonly string[] {
  const text = comparable(asked);
  return text === '' ? [] : [...new Set(text.split(' '))];
}

/** The form that a filter expects, if no item has any other; `esperado` in Portuguese. */
type Forma = { readonly isFit: (asked: string) => boolean; readonly esperado: string };

/** How a filter compares. `key` converts the query to the form of the items. A filter by words expects no form. */
type Filter<Item> =
  | {
      readonly by: 'igual' | 'comeco';
      readonly of: (item: Item) => string;
      readonly key?: (asked: string) => string;
      readonly forma?: Forma;
    }
  | { readonly by: 'palavras'; readonly of: (item: Item) => string };

export type Filters<Item, Name extends string = string> = Readonly<Record<Name, Filter<Item>>>;

/** The values of a query, by the name of the filter. */
export type Asked = Readonly<Record<string, string>>;

/** A prepared search: gives the places of the items that pass every filter of the query, in the order of the list. */
export type Search = (asked: Asked) => readonly number[];

/** Prepares each filter over the whole list, so that a query normalises only its own text. */
export function searchOf<Item>(items: readonly Item[], filters: Filters<Item>): Search {
  const finders = new Map<string, Finder>();
  for (const [name, filter] of Object.entries<Filter<Item>>(filters)) finders.set(name, finderOf(items, filter));
  const all = items.map((_, place) => place);
  return (asked) => {
    let found: readonly number[] | undefined;
    for (const [name, finder] of finders) {
      const question = asked[name];
      if (question === undefined) continue;
      const those = finder(question);
      found = found === undefined ? those : common(found, those);
    }
    return found ?? all;
  };
}

/** Places in ascending order. */
type Finder = (asked: string) => readonly number[];

function finderOf<Item>(items: readonly Item[], filter: Filter<Item>): Finder {
  const texts = items.map(filter.of);
  switch (filter.by) {
    case 'igual': {
      const { key } = filter;
      const places = Map.groupBy(
        texts.map((_, place) => place),
        (place) => texts[place]!,
      );
      return (asked) => places.get(key?.(asked) ?? asked) ?? NONE;
    }
    case 'comeco': {
      const { key } = filter;
      return (asked) => startingWith(texts, key?.(asked) ?? asked);
    }
    case 'palavras':
      return wordFinder(texts.map(comparable));
  }
}

const NONE: readonly number[] = [];

function startingWith(texts: readonly string[], start: string): readonly number[] {
  if (start === '') return NONE;
  const places: number[] = [];
  for (let place = 0; place < texts.length; place++) if (texts[place]!.startsWith(start)) places.push(place);
  return places;
}

/** The index knows all places of each group of so many letters. */
const GRAM_LENGTH = 3;

/**
 * The places of the texts that contain every word. The search reads only the texts that have the rarest three letters of a word. It takes a
 * tenth of the time of a full scan, measured on the 5571 municipalities.
 */
function wordFinder(texts: readonly string[]): Finder {
  const places = gramsOf(texts);
  const all = texts.map((_, place) => place);
  return (asked) => {
    const words = wordsOf(asked);
    if (words.length === 0) return NONE;
    let fewest = all;
    for (const word of words) {
      for (let at = 0; at + GRAM_LENGTH <= word.length; at++) {
        const those = places.get(word.slice(at, at + GRAM_LENGTH));
        if (those === undefined) return NONE;
        if (those.length < fewest.length) fewest = those;
      }
    }
    return fewest.filter((place) => words.every((word) => texts[place]!.includes(word)));
  };
}

/** The places of each three letters, in ascending order. A group of letters never spans a space. */
function gramsOf(texts: readonly string[]): ReadonlyMap<string, number[]> {
  const places = new Map<string, number[]>();
  texts.forEach((text, place) => {
    for (let at = 0; at + GRAM_LENGTH <= text.length; at++) {
      const gram = text.slice(at, at + GRAM_LENGTH);
      const those = places.get(gram);
      if (those === undefined) places.set(gram, [place]);
      else if (those.at(-1) !== place) those.push(place);
    }
  });
  return places;
}

/** The common elements of two ascending lists. */
function common(one: readonly number[], other: readonly number[]): readonly number[] {
  const places: number[] = [];
  let at = 0;
  for (const place of one) {
    while (at < other.length && other[at]! < place) at++;
    if (other[at] === place) places.push(place);
  }
  return places;
}

/** The page of a list: `pagina` counts from 1. */
export type Pagina = { readonly pagina: number; readonly porPagina: number };

/** The `paginacao` of the list envelope (specification, "Catalog list envelope"). */
export type Paginacao = {
  readonly pagina_atual: number;
  readonly por_pagina: number;
  readonly total: number;
  readonly total_paginas: number;
};

/** The page data of the envelope; a page behind the last one is empty and no error. */
export function paginacaoOf({ pagina, porPagina }: Pagina, total: number): Paginacao {
  return {
    pagina_atual: pagina,
    por_pagina: porPagina,
    total,
    total_paginas: Math.ceil(total / porPagina),
  };
}

/** The items of a page. */
export function onPage<Item>(items: readonly Item[], { pagina, porPagina }: Pagina): readonly Item[] {
  return items.slice((pagina - 1) * porPagina, pagina * porPagina);
}

/**
 * The search for a code by part of its number, or by words of its title, meaning or paths. Accents and case do not count. The script of the
 * index filters by the same rules over the same words.
 */

import { once } from '../../fiscal/catalogs/table.ts';
import { ERRORS, type PublicError } from '../../fiscal/errors.ts';
import { placesOf } from './page.ts';

/** A longer query is cut: no title has so many characters. */
export const SEARCH_MAX = 80;

/** The text in lower case, without accents, with plurals in -ões as their singular. */
function foldText(text: string): string {
  return stripAccents(text).replace(/oes\b/g, 'ao');
}

/** The text in lower case, without accents. */
export function stripAccents(text: string): string {
  const parts = text.normalize('NFD');
  return parts.replace(/[\u0300-\u036f]/g, '').toLowerCase();
}

export type Searchable = {
  /** The number with and without its zeros. */
  readonly codigo: string;
  readonly titulo: string;
  /** Words that the title lacks, each once. */
  readonly words: string;
};

const byCode = once(() => new Map(ERRORS.map((error) => [error.codigo, makeSearchable(error)])));

/** The words that find a code. */
export function searchableOf({ codigo }: PublicError): Searchable {
  return byCode().get(codigo)!;
}

function makeSearchable(error: PublicError): Searchable {
  const { codigo, mensagem, significado, nacional = '', regras } = error;
  const titulo = foldText(mensagem);
  const places = placesOf(error).flatMap(({ path, campo = '' }) => [path, campo]);
  const rest = [significado, nacional, ...regras.flatMap(({ title = '', why }) => [title, why]), ...places];
  const words = new Set(foldText(rest.join(' ')).split(/[^a-z0-9/._]+|\.+(?![a-z0-9])/));
  const kept = [...words].filter((word) => word.length >= WORD_MIN && !titulo.includes(word));
  return { codigo: `${foldText(codigo)} ${foldText(codigo.replace(/^E0+/, 'E'))}`, titulo, words: kept.join(' ') };
}

/** Shorter words stand in nearly every text, so they are left out. */
const WORD_MIN = 3;

/** A query that looks like a code, whole or in part. */
const CODE = /^e?\d{1,4}$/;

/** The items that a query finds, in their order: by number when a code has that number, else by words. */
export function findMatches<Item>(
  asked: string,
  items: readonly Item[],
  textOf: (item: Item) => Searchable,
): readonly Item[] {
  const words = foldText(asked.slice(0, SEARCH_MAX)).split(/\s+/).filter(Boolean);
  const [first = ''] = words;
  if (words.length === 1 && CODE.test(first)) {
    const byCode = items.filter((item) => textOf(item).codigo.includes(first));
    if (byCode.length > 0) return byCode;
  }
  return items.filter((item) => {
    const { codigo, titulo, words: others } = textOf(item);
    return words.every((word) => codigo.includes(word) || titulo.includes(word) || others.includes(word));
  });
}

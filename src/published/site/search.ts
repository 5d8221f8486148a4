/**
 * The search over the whole documentation: a page that works without scripts, and the best suggestions during typing. The index is made at
 * the first query and kept; no outside service is used.
 */
import { ERRORS } from '../../fiscal/errors.ts';
import { findMatches, SEARCH_MAX, searchableOf, stripAccents } from '../errors/search.ts';
import { shorten } from '../markdown.ts';
import { BUSCA_PATH, ERROS_PATH } from '../paths.ts';
import { framePage, relativePath } from './frame.ts';
import { allowBreaks, type Html, html, type Inserted } from './page-shell.ts';
import { type Entry, findEntries, type Index, type Kind } from './search-index.ts';

/** The name of each kind, and the most results shown of it. A query with more results is too wide to help. */
const KINDS: Readonly<Record<Kind, { readonly nome: string; readonly max: number }>> = {
  pagina: { nome: 'Página', max: 30 },
  codigo: { nome: 'Código de erro', max: 10 },
  operacao: { nome: 'Referência da API', max: 10 },
  campo: { nome: 'Campo do leiaute', max: 10 },
};
const SUGGESTED_MAX = 8;

/** The query as it is read: a longer one is cut. */
export function questionIn(query: URLSearchParams): string {
  // The cut may split a surrogate pair, which no address can hold.
  return (query.get('q') ?? '').trim().slice(0, SEARCH_MAX).toWellFormed();
}

/** Codes with a part of their number come before results by words, and the exact number first. */
function answersTo(index: Index, asked: string): readonly Entry[] {
  const found = findEntries(index, asked);
  if (!/^e?\d{2,4}$/i.test(asked)) return found;
  const codes = new Set(findMatches(asked, ERRORS, searchableOf).map(({ codigo }) => `${ERROS_PATH}/${codigo}`));
  const byNumber = index.entries.filter(({ path }) => codes.has(path));
  const isNamed = ({ names }: Entry): boolean => names.includes(asked.toUpperCase());
  const others = found.filter(({ path }) => !codes.has(path));
  return [...byNumber.filter(isNamed), ...byNumber.filter((entry) => !isNamed(entry)), ...others];
}

/** The first results of each kind, in the common order. */
function shownOf(found: readonly Entry[]): readonly Entry[] {
  const counts = new Map<Kind, number>();
  return found.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= KINDS[kind].max;
  });
}

/** `tell`: turns a text of an entry into the text for the reader. */
export function searchPage(index: Index, asked: string, tell: (text: string) => string): string {
  if (asked === '') return frameResults('Busca', html`<p class="lead">${WHAT}</p>\n`, asked);
  const found = answersTo(index, asked);
  const shown = shownOf(found);
  const codes = found.filter(({ kind }) => kind === 'codigo').length;
  const count = found.length === 1 ? '1 resultado' : `${found.length} resultados`;
  const said = found.length === shown.length ? count : `${count}; os ${shown.length} que mais dizem`;
  const main = html`${
    found.length === 0
      ? html`<p class="lead">Nada com todas essas palavras. Tente menos palavras, um código ou o nome de um campo.</p>\n`
      : html`<p class="quiet">${said}</p>
<ul class="results">
${shown.map((entry) => result(entry, asked, tell))}</ul>
`
  }${
    codes > KINDS.codigo.max
      ? html`<p><a href="${relativePath(BUSCA_PATH, ERROS_PATH)}?q=${encodeURIComponent(asked)}">Todos os ${String(codes)} códigos</a></p>\n`
      : undefined
  }`;
  return frameResults(`Busca: ${asked}`, main, asked);
}

const WHAT = 'Procura em todas as páginas, nos códigos de erro, nos endereços da API e nos campos do leiaute.';

function frameResults(title: string, main: Html, asked: string): string {
  return framePage(title, html`\n<h1>${title}</h1>\n${main}`, BUSCA_PATH, { asked });
}

function result({ kind, title, path, text }: Entry, asked: string, tell: (text: string) => string): Html {
  return html`<li><a href="${relativePath(BUSCA_PATH, path)}">${allowBreaks(title)}</a> <small>${KINDS[kind].nome}</small>
<p>${excerpt(tell(text), asked)}</p></li>
`;
}

/** The best answers for the suggestions during typing; `caminho` is relative to the address of the search. */
export function suggestions(index: Index, asked: string): string {
  const found = asked === '' ? [] : answersTo(index, asked).slice(0, SUGGESTED_MAX);
  return JSON.stringify(
    found.map(({ kind, title, path }) => ({
      titulo: shorten(title, TITLE_MAX),
      tipo: KINDS[kind].nome,
      caminho: relativePath(BUSCA_PATH, path),
    })),
  );
}

const TITLE_MAX = 90;
const CHARS_BEFORE = 60;
const EXCERPT_MAX = 220;

/** The text around the first of the words. */
function excerpt(words: string, asked: string): Inserted {
  const text = words.replace(/\s+/g, ' ');
  const bare = stripAccents(text);
  const first = stripAccents(asked)
    .split(/\s+/)
    .find((word) => word.length > 2 && bare.includes(word));
  if (first === undefined || bare.length !== text.length) return shorten(text, EXCERPT_MAX);
  const place = bare.indexOf(first);
  const start = Math.max(0, place - CHARS_BEFORE);
  return [
    start > 0 ? '…' : '',
    text.slice(start, place),
    html`<mark>${text.slice(place, place + first.length)}</mark>`,
    shorten(text.slice(place + first.length), EXCERPT_MAX),
  ];
}

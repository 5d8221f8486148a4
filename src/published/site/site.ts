/**
 * The documentation: pages written in Markdown (`docs/site`), with facts of the code inserted (`facts.ts`), in the common frame. A page is
 * made at its first request and kept. Only two parts depend on the reader: the service's address in the commands, and the answer to a form.
 *
 * Links are relative, so that they work behind any address.
 */

import { type TabelaIbsCbs, tabelaEmbarcada } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { errorOf } from '../../fiscal/errors.ts';
import { ownOf } from '../../fiscal/own.ts';
import { fenceCode } from '../markdown.ts';
import { ARQUIVOS_PATH, DOCS_PATH, ERROS_PATH, FEED_PATH, MUDANCAS_PATH } from '../paths.ts';
import { projectText } from '../project-text.ts';
import { CALCULATOR_PARAMS, renderCalculator } from './calculator.ts';
import { drawMachine, drawNotaRoad, EVENTO_MACHINE, NOTA_MACHINE } from './drawing.ts';
import { EVERYDAY_WORDS } from './everyday-words.ts';
import { type Facts, LAW_FACTS } from './facts.ts';
import { ARQUIVOS, PACOTE_CLIENTE } from './files.ts';
import { addressOf, framePage, PAGES, type Page, relativePath } from './frame.ts';
import { type Html, html } from './page-shell.ts';
import { type Rendered, renderMarkdown } from './render-markdown.ts';
import { questionIn, searchPage, suggestions } from './search.ts';
import { codeEntries, fieldEntries, operationEntries, toolEntries } from './search-entries.ts';
import { type Entry, type Index, indexOf } from './search-index.ts';

/**
 * A placeholder for the address of the service in a kept page; the example files have the address of `npm start`. The placeholder has no
 * character after which a long name may break, so it stays whole.
 */
const SITE_MARK = 'ENDERECO-DO-SERVICO';
const FILES_SITE = 'http://127.0.0.1:8080';

/** The facts of the pages, and the pages made so far. */
export type Site = {
  readonly facts: Facts;
  readonly rendered: Map<string, Rendered>;
  readonly shells: Map<string, string>;
  index: Promise<Index> | undefined;
};

/** `doorFacts`: the facts of the door that serves the pages. */
export function openSite(doorFacts: Facts): Site {
  return { facts: { ...LAW_FACTS, ...doorFacts }, rendered: new Map(), shells: new Map(), index: undefined };
}

export type DocsRequest = {
  readonly slug: string;
  /** Address of the service for the reader. */
  readonly address: string;
  readonly query: URLSearchParams;
  /** The rates in force, which one page shows and calculates with. */
  readonly tabela: () => Promise<TabelaIbsCbs>;
};

/** The page at a slug; undefined: there is none. */
export async function docsPage(site: Site, { slug, address, query, tabela }: DocsRequest): Promise<string | undefined> {
  const page = PAGES.find((one) => one.slug === slug);
  if (page === undefined) return undefined;
  const rates = slug === CALENDARIO ? await tabela() : tabelaEmbarcada();
  const isAsked = slug === CALENDARIO && CALCULATOR_PARAMS.some((name) => query.has(name));
  const text = isAsked ? wrapPage(page, renderPage(site, page, query, rates)) : wrapPageOnce(site, page, rates);
  const escaped = html`${address}`.html;
  return nameSite(text, escaped);
}

/** A file that the pages offer, with its text for an address of the service; undefined: there is none. */
export function docsFile(
  name: string,
): { readonly type: string; readonly textFor: (address: string) => string } | undefined {
  const file = ownOf(ARQUIVOS, name);
  return file && { type: file.type, textFor: (address) => file.text().replaceAll(FILES_SITE, () => address) };
}

/** The page for an address without a page. */
export function unknownDocsPage(): string {
  const main = html`
<h1>Esta página não existe</h1>
<p>Procure no campo de busca, ou comece pela <a href="../docs">primeira página</a>.</p>`;
  return framePage('Página não encontrada', main, `${DOCS_PATH}/nada`);
}

/** The page that shows the rates in force, and calculates with them. */
export const CALENDARIO = 'calendario-ibs-cbs';

function wrapPageOnce(site: Site, page: Page, tabela: TabelaIbsCbs): string {
  return makeOnce(site.shells, page, tabela, () => wrapPage(page, renderPageOnce(site, page, tabela)));
}

function renderPageOnce(site: Site, page: Page, tabela = tabelaEmbarcada()): Rendered {
  return makeOnce(site.rendered, page, tabela, () => renderPage(site, page, new URLSearchParams(), tabela));
}

function makeOnce<Made>(known: Map<string, Made>, { slug }: Page, { versao }: TabelaIbsCbs, make: () => Made): Made {
  return known.getOrInsertComputed(`${slug} ${versao}`, make);
}

/** A page made from its file. `query`: the fields of its form. */
function renderPage(site: Site, page: Page, query: URLSearchParams, tabela: TabelaIbsCbs): Rendered {
  const here = addressOf(page.slug);
  const source = sourceOf(site, page, tabela);
  return renderMarkdown(source, {
    link: (href) => linkFrom(here, href),
    errorPage: (codigo) => (errorOf(codigo) === undefined ? undefined : relativePath(here, `${ERROS_PATH}/${codigo}`)),
    blocks: {
      ...DRAWINGS,
      ...boardsIn(source),
      ...(page.slug === CALENDARIO ? { calculadora: renderCalculator(query, CALENDARIO, tabela) } : {}),
    },
  });
}

/** The pictures, by the names used in the pages. */
const DRAWINGS: Readonly<Record<string, Html>> = {
  'caminho-da-nota': drawNotaRoad(),
  'desenho-nota': drawMachine(NOTA_MACHINE),
  'desenho-evento': drawMachine(EVENTO_MACHINE),
};

/** The Grafana dashboard under the faults that a page names; `npm run quadro` draws them. */
function boardsIn(source: string): Readonly<Record<string, Html>> {
  const names = [...source.matchAll(/^\{\{(quadro-([a-z-]+))\}\}$/gm)];
  return Object.fromEntries(
    names.map(([, block, name]) => [block, { html: projectText(`docs/site/quadro/${name}.html`) }]),
  );
}

/** Names in braces that are replaced by HTML. */
const BLOCKS: ReadonlySet<string> = new Set(['calculadora', ...Object.keys(DRAWINGS)]);

const PLACEHOLDER = /\{\{([A-Za-z][\w.:-]*)\}\}/g;

/** The address of the service stands in a kept text, until a reader is known. */
export function nameSite(text: string, address: string): string {
  return text.replaceAll(SITE_MARK, () => address);
}

/** The source of a page with its names in braces replaced by the facts. An unknown name is a mistake of the source, and throws. */
export function sourceOf({ facts }: Site, { file }: Page, tabela: TabelaIbsCbs): string {
  return projectText(`docs/site/${file}`).replace(PLACEHOLDER, (whole, name: string) => {
    if (BLOCKS.has(name) || name.startsWith('quadro-')) return whole;
    if (name === 'site') return SITE_MARK;
    if (name.startsWith('arquivo:')) {
      const file = ARQUIVOS[name.slice('arquivo:'.length)];
      if (file !== undefined) return fenceCode('text', file.text().replaceAll(FILES_SITE, SITE_MARK));
    }
    const fact = ownOf(facts, name);
    if (fact === undefined) throw new Error(`the documentation names ${whole}, which is no fact`);
    return fact(tabela);
  });
}

/** The target of a link: another page, an address of the service, a place in the page, or another site. `spell`: changes an address. */
export function linkFrom(here: string, href: string, spell = (path: string): string => path): string {
  if (href.startsWith('#') || /^https?:\/\//.test(href)) return href;
  const [target = '', hash] = href.split('#');
  const end = hash === undefined ? '' : `#${hash}`;
  if (target.startsWith('/')) return relativePath(here, spell(target)) + end;
  const page = PAGES.find(({ file }) => file === target);
  if (page !== undefined) return relativePath(here, spell(addressOf(page.slug))) + end;
  const name = target.slice(target.lastIndexOf('/') + 1);
  if (name === PACOTE_CLIENTE || Object.hasOwn(ARQUIVOS, name)) return relativePath(here, `${ARQUIVOS_PATH}/${name}`);
  throw new Error(`the documentation links to ${href}, which is nowhere`);
}

/** A page with fewer chapters has no table of contents. */
const TOC_MIN = 3;

function wrapPage(page: Page, { title, body, sections }: Rendered): string {
  const chapters = sections.filter(({ level }) => level === 2);
  // The table of contents follows the first paragraph, which introduces the page; a command may stand before it.
  const lead = /^(?:<pre[ >](?:(?!<\/pre>)[\s\S])*<\/pre>\n)?<p>[\s\S]*?<\/p>\n/.exec(body.html)?.[0] ?? '';
  const rest = body.html.slice(lead.length);
  // A page that begins with a list of links has its own table of contents.
  const toc =
    chapters.length < TOC_MIN || /^<ul>\n<li><a href="#/.test(rest)
      ? undefined
      : html`<nav class="toc" aria-label="Nesta página"><b>Nesta página</b>
<ul>
${chapters.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>\n`)}</ul></nav>
`;
  const place = PAGES.indexOf(page);
  const here = addressOf(page.slug);
  const around = html`<nav class="around" aria-label="Antes e depois">${neighbour(PAGES[place - 1], 'prev', here)}${neighbour(PAGES[place + 1], 'next', here)}</nav>`;
  const main = html`
<h1>${title}</h1>
${{ html: lead.replace('<p>', '<p class="lead">') }}${toc}${{ html: rest }}
${around}`;
  return framePage(title, main, here, here === MUDANCAS_PATH ? { head: FEED_LINK } : {});
}

const FEED_LINK = html`<link rel="alternate" type="application/atom+xml" href="${relativePath(MUDANCAS_PATH, FEED_PATH)}">\n`;

function neighbour(page: Page | undefined, rel: 'prev' | 'next', here: string): Html | undefined {
  if (page === undefined) return undefined;
  const label = rel === 'prev' ? 'Antes' : 'Depois';
  return html`<a rel="${rel}" href="${relativePath(here, addressOf(page.slug))}"><small>${label}</small> <span>${page.short}</span></a>`;
}

// Search

/** The page of the search; `address`: of the service for the reader. */
export async function docsSearch(site: Site, query: URLSearchParams, address: string): Promise<string> {
  return searchPage(await indexOfSite(site), questionIn(query), (text) => nameSite(text, address));
}

/** The suggestions during typing, as JSON. */
export async function docsSuggestions(site: Site, query: URLSearchParams): Promise<string> {
  return suggestions(await indexOfSite(site), questionIn(query));
}

function indexOfSite(site: Site): Promise<Index> {
  site.index ??= makeIndex(site);
  return site.index;
}

/** The index needs every page, which takes a while: other requests are served in between. */
async function makeIndex(site: Site): Promise<Index> {
  const entries: Entry[] = [];
  for (const page of PAGES) {
    for (const { level, id, text, words } of renderPageOnce(site, page).sections) {
      const isWhole = level === 1;
      entries.push({
        kind: 'pagina',
        title: isWhole ? page.short : `${page.short}: ${text}`,
        path: `${addressOf(page.slug)}${isWhole ? '' : `#${id}`}`,
        text: words,
        alias: [isWhole ? text : '', EVERYDAY_WORDS[`${page.slug}#${isWhole ? '' : id}`] ?? ''].join(' '),
        names: isWhole ? [page.short, text] : [text],
        page: page.slug,
      });
    }
    await new Promise(setImmediate);
  }
  const layout = PAGES.find(({ slug }) => slug === 'leiaute')!;
  entries.push(...fieldEntries(addressOf(layout.slug), renderPageOnce(site, layout).sections));
  await new Promise(setImmediate);
  entries.push(...toolEntries(), ...codeEntries());
  await new Promise(setImmediate);
  entries.push(...operationEntries());
  await new Promise(setImmediate);
  return indexOf(entries);
}

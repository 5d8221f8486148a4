/** The pages and the description of the service itself, outside any municipality. They are loaded at the first request for one. */

import { API_HEADERS, JSON_TYPE, redirect, refuse } from '../../base/http/attend.ts';
import { answerCacheable } from '../../base/http/caching.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import { preferType } from '../../base/http/negotiation.ts';
import { answerReady } from '../../base/http/ready.ts';
import { refuseTrouble, refuseUnknownCodigo } from '../../base/http/refusals.ts';
import { type Answer, type Door, queryOf, siteOf, type Visit, type Work } from '../../base/http/visit.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { errorMarkdown } from '../../published/errors/markdown.ts';
import { openapiText } from '../../published/openapi/openapi.ts';
import {
  ARQUIVOS_PATH,
  BUSCA_JSON_PATH,
  BUSCA_PATH,
  CONFERIR_PATH,
  DOCS_PATH,
  ENSAIO_PATH,
  ERROS_JSON_PATH,
  ERROS_PATH,
  FAVICON_PATH,
  FEED_PATH,
  LLMS_PATH,
  MARKDOWN_END,
  MIGRAR_PATH,
  OPENAPI_PATH,
  type PagePath,
  REFERENCE_PATH,
  ROBOTS_PATH,
  SCRIPT_PATH,
  SECURITY_PATH,
} from '../../published/paths.ts';
import { projectText } from '../../published/project-text.ts';
import {
  correctSpelling,
  errorIndexPage,
  errorPage,
  errorsJsonText,
  unknownCodePage,
} from '../../published/site/error-pages.ts';
import { PACOTE_CLIENTE } from '../../published/site/files.ts';
import { homePage } from '../../published/site/home-page.ts';
import { mudancasFeed } from '../../published/site/mudancas.ts';
import { docsMarkdown, llmsText } from '../../published/site/page-markdown.ts';
import { PAGE_POLICY } from '../../published/site/page-shell.ts';
import { referenceFile, referencePage, referencePolicy } from '../../published/site/reference.ts';
import { questionIn } from '../../published/site/search.ts';
import {
  CALENDARIO,
  docsFile,
  docsPage,
  docsSearch,
  docsSuggestions,
  openSite,
  unknownDocsPage,
} from '../../published/site/site.ts';
import { ensaioPage } from '../../subjects/ensaios/paginas.rest.ts';
import { conferirPage, migrarPage } from '../../subjects/notas/paginas.rest.ts';
import { tabelaEmVigor } from '../../subjects/notas/queries.ts';
import { drawFavicon, ROBOTS, securityText } from './fixed-files.ts';
import { packCliente } from './pacote-cliente.ts';
import { ROUTES } from './routes.ts';
import { DOOR_FACTS } from './site-facts.ts';

/** A page changes only with the version of the service. */
const PAGES_FRESH_S = 300;
const PAGES_KEPT = `public, max-age=${PAGES_FRESH_S}`;
/** Caching of a page that shows the requested address: only the client itself keeps it. */
const OWN_KEPT = `private, max-age=${PAGES_FRESH_S}`;

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'same-origin',
};

const MARKDOWN_HEADERS: Readonly<Record<string, string>> = { 'Content-Type': 'text/markdown; charset=utf-8' };
const FEED_HEADERS: Readonly<Record<string, string>> = { 'Content-Type': 'application/atom+xml; charset=utf-8' };

const PAGE_SCRIPT = projectText('src/published/site/navegador.js');
const SCRIPT_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'text/javascript; charset=utf-8' };
const TEXT_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain; charset=utf-8' };
const ICON_TYPE: Readonly<Record<string, string>> = { 'Content-Type': 'image/vnd.microsoft.icon' };

/** The documentation, with the facts of this door. */
const DOCS = openSite(DOOR_FACTS);

export const PAGES: Readonly<Record<PagePath, Answer>> = {
  '/': (door, visit) => answerOwn(door, visit, (site) => homePage(site, ROUTES), PAGE_HEADERS, 'no-store'),
  [ERROS_PATH]: (_door, { request }) => {
    const asked = queryOf(request).get('q') ?? '';
    return asked === ''
      ? answerSame(request, () => errorIndexPage(''))
      : answerPage(request, errorIndexPage(asked), PAGES_KEPT);
  },
  [ERROS_JSON_PATH]: (door, visit) => answerOwn(door, visit, errorsJsonText, JSON_TYPE),
  [DOCS_PATH]: (door, visit) => answerFirst(door, visit),
  [`${DOCS_PATH}/`]: () => redirect(308, '../docs'),
  [`${DOCS_PATH}${MARKDOWN_END}`]: (door, visit) => answerDocs(door, visit, '', AS_MARKDOWN),
  [FEED_PATH]: answerFeed,
  [LLMS_PATH]: (door, visit) => answerOwn(door, visit, (site) => llmsText(DOCS, site), TEXT_TYPE),
  [BUSCA_PATH]: async (door, { request }) =>
    answerPage(request, await docsSearch(DOCS, queryOf(request), siteOf(door, request)), OWN_KEPT),
  [BUSCA_JSON_PATH]: async (_door, { request }) =>
    answerCacheable(request, await docsSuggestions(DOCS, queryOf(request)), JSON_TYPE, PAGES_KEPT),
  [SCRIPT_PATH]: (_door, { request }) => answerSame(request, () => PAGE_SCRIPT, SCRIPT_TYPE),
  [`${DOCS_PATH}/:pagina`]: (door, visit) => {
    const page = visit.request.params['pagina']!;
    const bare = bareOf(page);
    return bare === undefined ? answerDocs(door, visit, page) : answerDocs(door, visit, bare, AS_MARKDOWN);
  },
  [CONFERIR_PATH]: (_door, { request }) => answerSame(request, conferirPage),
  [ENSAIO_PATH]: (door, visit) => answerOwn(door, visit, ensaioPage),
  [MIGRAR_PATH]: (_door, { request }) => answerSame(request, migrarPage),
  [`${ARQUIVOS_PATH}/:arquivo`]: answerDocsFile,
  [REFERENCE_PATH]: answerReference,
  [`${REFERENCE_PATH}/:arquivo`]: answerReferenceFile,
  [OPENAPI_PATH]: (door, visit) => answerOwn(door, visit, openapiText, JSON_TYPE),
  [`${ERROS_PATH}/:codigo`]: (door, visit) => answerCode(door, visit, visit.request.params['codigo']!),
  [SECURITY_PATH]: answerSecurity,
  [ROBOTS_PATH]: (_door, { request }) => answerSame(request, () => ROBOTS, TEXT_TYPE),
  [FAVICON_PATH]: (_door, { request }) => answerSame(request, drawFavicon, ICON_TYPE),
};

function answerSecurity(door: Door, visit: Visit): HttpAnswer {
  const { request } = visit;
  const contact = door.options.securityContact;
  if (contact === undefined) return refuse(door, visit, refuseTrouble('unknown_path', undefined));
  const text = securityText(contact, siteOf(door, request), door.world.now());
  return answerCacheable(request, text, TEXT_TYPE, OWN_KEPT);
}

/** The page of a code, in capitals or not. An unknown code gets a page, or the envelope when a program asks. */
async function answerCode(door: Door, visit: Visit, codigo: string): Promise<HttpAnswer> {
  const bare = bareOf(codigo);
  const known = await answerReady(
    visit.request,
    `${ERROS_PATH}/${codigo}`,
    () => (bare === undefined ? errorPage(codigo) : errorMarkdown(bare)),
    bare === undefined ? PAGE_HEADERS : MARKDOWN_HEADERS,
    PAGES_KEPT,
  );
  if (known !== undefined) return known;
  const right = correctSpelling(codigo);
  if (right !== undefined) return redirect(308, right);
  return preferPage(visit.request, refuse(door, visit, refuseUnknownCodigo()), unknownCodePage(codigo));
}

/** The first page. A query in its address leads to the search, as the addresses in older answers expect. */
function answerFirst(door: Door, visit: Visit): ReturnType<Work> {
  const asked = questionIn(queryOf(visit.request));
  if (asked === '') return answerDocs(door, visit, '');
  return redirect(308, `${BUSCA_PATH.slice(1)}?q=${encodeURIComponent(asked)}`);
}

/** The forms of a page of the documentation. */
type Form = {
  readonly write: typeof docsPage;
  readonly headers: Readonly<Record<string, string>>;
  readonly end: string;
};
const AS_PAGE: Form = { write: docsPage, headers: PAGE_HEADERS, end: '' };
const AS_MARKDOWN: Form = { write: docsMarkdown, headers: MARKDOWN_HEADERS, end: MARKDOWN_END };

/** A page of the documentation; it shows the requested address. The page of rates changes with them, and calculates. */
async function answerDocs(
  door: Door,
  visit: Visit,
  slug: string,
  { write, headers, end }: Form = AS_PAGE,
): Promise<HttpAnswer> {
  const { request } = visit;
  const [address, query] = [siteOf(door, request), queryOf(request)];
  const make = () => write(DOCS, { slug, address, query, tabela: () => tabelaEmVigor(door.world) });
  if (slug === CALENDARIO) return answerCacheable(request, (await make())!, headers, OWN_KEPT);
  const known = await answerReady(request, `${DOCS_PATH}${end} ${slug} ${address}`, make, headers, OWN_KEPT);
  return known ?? preferPage(request, refuse(door, visit, refuseTrouble('unknown_path', undefined)), unknownDocsPage());
}

/** The feed of changes, which hangs on the day. */
async function answerFeed(door: Door, { request }: Visit): Promise<HttpAnswer> {
  const [site, hoje] = [siteOf(door, request), municipalMoment(undefined, door.world.now()).date];
  const make = () => mudancasFeed(site, hoje);
  return (await answerReady(request, `${FEED_PATH} ${hoje} ${site}`, make, FEED_HEADERS, OWN_KEPT))!;
}

/** The last segment of an address without its ending, if it asks for Markdown. */
function bareOf(segment: string): string | undefined {
  const bare = segment.endsWith(MARKDOWN_END) ? segment.slice(0, -MARKDOWN_END.length) : '';
  return bare === '' ? undefined : bare;
}

/** A file that a page offers, with the address of the service in it; the package of the client is the same for all. */
async function answerDocsFile(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const name = request.params['arquivo']!;
  if (name === PACOTE_CLIENTE) return answerSame(request, packCliente, { 'Content-Type': 'application/gzip' });
  const file = docsFile(name);
  if (file === undefined) return refuse(door, visit, refuseTrouble('unknown_path', undefined));
  return answerOwn(door, visit, file.textFor, { 'Content-Type': file.type });
}

function answerReference(door: Door, visit: Visit): Promise<HttpAnswer> {
  const policy = { 'Content-Security-Policy': referencePolicy(siteOf(door, visit.request)) };
  return answerOwn(door, visit, referencePage, { ...PAGE_HEADERS, ...policy });
}

async function answerReferenceFile(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const file = referenceFile(request.params['arquivo']!);
  if (file === undefined) return refuse(door, visit, refuseTrouble('unknown_path', undefined));
  return answerSame(request, file.load, { 'Content-Type': file.type });
}

/** An answer that is the same for every caller of its path. */
async function answerSame(request: HttpRequest, make: Made, headers = PAGE_HEADERS): Promise<HttpAnswer> {
  const [path] = request.url.split('?', 1);
  return (await answerReady(request, path!, make, headers, PAGES_KEPT))!;
}

/** An answer that shows the address of the service, as the caller knows it. */
async function answerOwn(
  door: Door,
  { request }: Visit,
  make: (site: string) => ReturnType<Made>,
  headers = PAGE_HEADERS,
  cacheControl = OWN_KEPT,
): Promise<HttpAnswer> {
  const site = siteOf(door, request);
  const [path] = request.url.split('?', 1);
  return (await answerReady(request, `${path} ${site}`, () => make(site), headers, cacheControl))!;
}

type Made = () => string | Buffer | Promise<string | Buffer>;

function answerPage(request: HttpRequest, html: string, cacheControl: string): HttpAnswer {
  return answerCacheable(request, html, PAGE_HEADERS, cacheControl);
}

/** A refusal; a client that accepts HTML gets a page with the same content. */
function preferPage({ headers }: HttpRequest, refusal: HttpAnswer, html: string): HttpAnswer {
  if (preferType(headers, ['application/json', 'text/html']) !== 'text/html') return refusal;
  return { status: refusal.status, headers: { ...API_HEADERS, ...PAGE_HEADERS, Vary: 'Accept' }, body: html };
}

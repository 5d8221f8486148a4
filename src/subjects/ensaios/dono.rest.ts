/**
 * The owner of a private sandbox on its pages. The key is in a cookie of these pages alone, which other sites cannot send. A button sends
 * its request to the sandbox as any integrator would.
 */

import { randomUUID } from 'node:crypto';
import { API_HEADERS } from '../../base/http/attend.ts';
import { siteIn } from '../../base/http/caller.ts';
import { challengeByForm } from '../../base/http/challenges.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import { type Door, findMunicipio, siteOf, type Visit } from '../../base/http/visit.ts';
import { type Form, noForm, readForm } from '../../base/pages/forms.ts';
import { ENSAIO_DIAS, worldOf } from '../../base/world/relogio.ts';
import type { World } from '../../base/world/world.ts';
import { ENSAIO_PATH } from '../../published/paths.ts';
import { framePage, relativePath } from '../../published/site/frame.ts';
import { html, PAGE_POLICY } from '../../published/site/page-shell.ts';
import type { Municipio } from '../notas/queries.ts';
import { type AmbientePublico, admitOwner } from './ambientes.ts';
import { novoPage } from './ensaio.page.ts';

const HEADERS: Readonly<Record<string, string>> = {
  ...API_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  // A stricter policy would remove the origin from the requests of the forms.
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
};

const COOKIE = 'ensaio';
const COOKIE_DAYS_S = ENSAIO_DIAS * 86_400;
/** A form has only a few words. */
const FORM_MAX_BYTES = 16 * 1024;

export const page = (text: string, status = 200, headers: Readonly<Record<string, string>> = {}): HttpAnswer => ({
  status,
  headers: { ...HEADERS, ...headers },
  body: text,
});

/** Redirects to another of these pages, by a path relative to the present one. */
export function goTo(from: string, to: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status: 303, headers: { ...API_HEADERS, Location: relativePath(from, to), ...headers }, body: '' };
}

export function cookieOf(
  { headers, encrypted }: HttpRequest,
  slug: string,
  chave: string,
  site: string,
): Readonly<Record<string, string>> {
  const secure = encrypted || site.startsWith('https:') || headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  const life = chave === '' ? 0 : COOKIE_DAYS_S;
  const where = `Path=${ENSAIO_PATH}; Max-Age=${life}; HttpOnly; SameSite=Strict${secure}`;
  return { 'Set-Cookie': `${COOKIE}-${slug}=${chave}; ${where}` };
}

function chaveIn({ headers }: HttpRequest, slug: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((one) => one.trim());
  return pairs.find((one) => one.startsWith(`${COOKIE}-${slug}=`))?.slice(COOKIE.length + slug.length + 2);
}

/** The form that a button sends; an overlong one counts as empty. */
export async function formOf(request: HttpRequest): Promise<Form> {
  const form = await readFormUpTo(request, FORM_MAX_BYTES);
  return form === 'too_long' ? noForm : form;
}

export async function readFormUpTo(request: HttpRequest, max: number): Promise<Form | 'too_long'> {
  const body = await request.readBody(max);
  if (body === 'body_too_large') return 'too_long';
  const form = typeof body === 'string' ? noForm : await readForm(request.headers['content-type'], body);
  return 'problem' in form ? noForm : form;
}

/** The sandbox of an owner with its world, and the owner's key. */
export type Own = {
  readonly municipio: Municipio;
  readonly world: World;
  readonly chave: string;
  readonly here: string;
};

/** The owner of the sandbox that a page shows; an answer for anybody else. */
export async function ownerOf(door: Door, visit: Visit): Promise<Own | HttpAnswer> {
  const { request } = visit;
  const slug = request.params['ambiente']!;
  const municipio = await findMunicipio(door, visit, slug);
  const chave = chaveIn(request, slug);
  const here = `${ENSAIO_PATH}/${slug}`;
  const admitted =
    municipio === undefined || chave === undefined
      ? undefined
      : await admitOwner(door.world, municipio, { kind: 'token', value: chave });
  if (admitted === 'owner')
    return { municipio: municipio!, world: worldOf(door.world, municipio!), chave: chave!, here };
  return askForKey(door, visit, slug);
}

/** The page for a client with no key or a wrong key; it does not reveal whether a sandbox still exists. */
export function askForKey(door: Door, { request }: Visit, ambiente: string): HttpAnswer {
  const site = siteOf(door, request);
  const [here = ENSAIO_PATH] = request.url.split('?');
  const hasShown = request.method === 'POST' || chaveIn(request, ambiente) !== undefined;
  const problema = hasShown ? 'A chave não é a deste ambiente, ou ele já não existe.' : undefined;
  const action = relativePath(here, ENSAIO_PATH);
  const main = novoPage({ ambiente, problema, site, action });
  return page(framePage('Abrir um ambiente', main, here), 401, challengeByForm('ensaio', action));
}

/** Whether a page of another site sent this request, by the browser's headers. Other programs send no such headers, and have no cookie. */
function isFromElsewhere(request: HttpRequest, trustProxy: boolean): boolean {
  const { origin, 'sec-fetch-site': from } = request.headers;
  if (from !== undefined) return from !== 'same-origin' && from !== 'none';
  if (origin === undefined) return false;
  const site = siteIn(request, trustProxy);
  return site === undefined || !URL.canParse(origin) || new URL(origin).host !== new URL(site).host;
}

const ELSEWHERE = html`
<h1>O formulário veio de outro site</h1>
<p>Nada foi feito. Abra a página do ambiente neste serviço, e use o botão dela.</p>
`;

export const titleOf = ({ nome, municipio }: AmbientePublico): string => (nome ? `${nome} (${municipio})` : municipio);

/** A request to the sandbox. `path`: of the route, below the municipality. */
type ToOwn = {
  readonly content: string | Buffer;
  readonly type: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends a request to the sandbox as any integrator does; returns the id of the request and the answer. */
export async function sendOwn(
  door: Door,
  visit: Visit,
  { municipio }: Own,
  { content, type, path, params, headers: more }: ToOwn,
): Promise<{ readonly id: string; readonly answer: HttpAnswer }> {
  const body = Buffer.from(content);
  const route = door.municipioRoutes.find((one) => one.path === `/:municipio${path}` && one.method === 'POST')!;
  const { cookie: _cookie, 'content-length': _length, ...headers } = visit.request.headers;
  const request: HttpRequest = {
    ...visit.request,
    id: randomUUID(),
    began: performance.now(),
    method: 'POST',
    url: `/${municipio.tenant}${path.replace(/:(\w+)/g, (_whole, name: string) => params[name]!)}`,
    params: { municipio: municipio.tenant, ...params },
    headers: { ...headers, 'content-type': type, 'content-length': String(body.length), ...more },
    peerCertificates: () => [],
    readBody: async (max) => (body.length > max ? 'body_too_large' : body),
  };
  return { id: request.id, answer: await route.handle(request) };
}

/** A request from a page of another site is refused, even with the cookie. */
export function guardPost(door: Door, visit: Visit, work: (visit: Visit) => Promise<HttpAnswer>): Promise<HttpAnswer> {
  const { request } = visit;
  if (request.method !== 'POST' || !isFromElsewhere(request, door.options.trustProxy)) return work(visit);
  return Promise.resolve(page(framePage('Outro site', ELSEWHERE, ENSAIO_PATH), 403));
}

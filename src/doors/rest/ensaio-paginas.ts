/**
 * The pages of a sandbox of one's own: it is made by a button, and its owner sees its clock, the personas with a document for each scenario,
 * and the last requests with their verdicts. Nothing needs a script. The key is in a cookie of these pages alone, which no other site sends.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import {
  type AmbientePublico,
  admitOwner,
  changeAmbiente,
  createAmbiente,
  discardAmbiente,
  ENSAIO_DIAS,
  resetAmbiente,
  showAmbiente,
} from '../../flows/ambientes.ts';
import { documentoDoCenario, listPersonas, showCenario } from '../../flows/ensaio-personas.ts';
import { findRequisicao, listRequisicoes } from '../../flows/ensaio-requisicoes.ts';
import type { Municipio } from '../../flows/queries.ts';
import { worldOf } from '../../flows/relogio.ts';
import type { World } from '../../flows/world.ts';
import { ENSAIO_PATH, ERROS_PATH } from '../../published/paths.ts';
import { framePage, relativePath } from '../../published/site/frame.ts';
import { html, PAGE_POLICY } from '../../published/site/page-shell.ts';
import { ambientePage, type Feito, novoPage } from '../html/ensaio.ts';
import { type Depois, requisicaoPage, semRequisicao } from '../html/ensaio-requisicao.ts';
import { type Form, noForm, readForm } from '../html/forms.ts';
import { API_HEADERS, attend, refuse } from './attend.ts';
import { networksOf } from './buckets.ts';
import { clientOf, siteIn } from './caller.ts';
import { EVENTOS_PATH } from './eventos.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';
import { municipioRoutes } from './municipio-routes.ts';
import { ISSUE_PATH } from './notas.ts';
import { refuseTrouble } from './refusals.ts';
import type { HttpRoute } from './router.ts';
import { type Door, findMunicipio, queryOf, siteOf, type Visit, workInPlace } from './visit.ts';

const HEADERS: Readonly<Record<string, string>> = {
  ...API_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  // A form of a page that sends no referrer would come without its origin.
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
};

const COOKIE = 'ensaio';
const COOKIE_DAYS_S = ENSAIO_DIAS * 86_400;
/** A form has some words. */
const FORM_MAX_BYTES = 16 * 1024;
/** What was issued by a button is kept behind its answer. */
const KEPT_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 50;

const page = (text: string, status = 200, headers: Readonly<Record<string, string>> = {}): HttpAnswer => ({
  status,
  headers: { ...HEADERS, ...headers },
  body: text,
});

/** To another of these pages, relative to the one that was asked for. */
function goTo(from: string, to: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status: 303, headers: { ...API_HEADERS, Location: relativePath(from, to), ...headers }, body: '' };
}

function cookieOf(
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

async function formOf(request: HttpRequest) {
  const body = await request.readBody(FORM_MAX_BYTES);
  const form = typeof body === 'string' ? noForm : await readForm(request.headers['content-type'], body);
  return 'problem' in form ? noForm : form;
}

/** Where an owner stands: his sandbox as its world sees it, and his key. */
type Own = { readonly municipio: Municipio; readonly world: World; readonly chave: string; readonly here: string };

/** The owner of the sandbox that a page is about; an answer to whoever is not. */
async function ownerOf(door: Door, visit: Visit): Promise<Own | HttpAnswer> {
  const { request } = visit;
  const slug = request.params.ambiente!;
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

/** What whoever shows no key sees, and whoever shows another's: of one that is gone there is none. */
function askForKey(door: Door, { request }: Visit, ambiente: string): HttpAnswer {
  const site = siteOf(door, request);
  const [here = ENSAIO_PATH] = request.url.split('?');
  const hasShown = request.method === 'POST' || chaveIn(request, ambiente) !== undefined;
  const problema = hasShown ? 'A chave não é a deste ambiente, ou ele já não existe.' : undefined;
  const action = relativePath(here, ENSAIO_PATH);
  return page(framePage('Abrir um ambiente', novoPage({ ambiente, problema, site, action }), here), 401);
}

/** Whether a browser says that a page of another site sends this; what is no browser says nothing, and has no cookie. */
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

async function showOwn(door: Door, visit: Visit, feito: Feito = {}): Promise<HttpAnswer> {
  const own = await ownerOf(door, visit);
  if ('status' in own) return own;
  const { world, municipio, chave, here } = own;
  const [ambiente, requisicoes] = await Promise.all([
    showAmbiente(world, municipio),
    listRequisicoes(world, municipio),
  ]);
  const site = siteOf(door, visit.request);
  const main = ambientePage({ ambiente, chave, site, personas: listPersonas(), requisicoes, feito });
  return page(framePage(titleOf(ambiente), main, here), feito.problema === undefined ? 200 : 400);
}

const titleOf = ({ nome, municipio }: AmbientePublico): string => (nome ? `${nome} (${municipio})` : municipio);

async function makeOne(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const form = await formOf(request);
  const site = siteOf(door, request);
  if (form.text('ambiente').trim() !== '') return openOne(door, visit, form);
  const shared = await findMunicipio(door, visit, SANDBOX_SLUG);
  if (shared === undefined) return refuse(door, visit, refuseTrouble('unknown_path', undefined));
  const nome = form.text('nome').trim();
  const body = Buffer.from(JSON.stringify(nome === '' ? {} : { nome }));
  const rede = networksOf(clientOf(request, door.options.trustProxy)).at(-1)!.name;
  const made = await workInPlace(door, () => createAmbiente(door.world, shared, { body, rede }));
  if (made === undefined || made === 'not_here' || 'faults' in made) {
    const problema =
      made === undefined || made === 'not_here' ? 'Tente de novo em instantes.' : made.faults[0].mensagem;
    return page(framePage('Um ambiente só seu', novoPage({ problema, site }), ENSAIO_PATH), 429);
  }
  const { municipio } = made.ambiente;
  return goTo(ENSAIO_PATH, `${ENSAIO_PATH}/${municipio}`, cookieOf(request, municipio, made.chave, site));
}

/** Who has one already opens it by its key. */
async function openOne(door: Door, visit: Visit, form: Form): Promise<HttpAnswer> {
  const { request } = visit;
  const [slug, chave] = [form.text('ambiente').trim(), form.text('chave').trim()];
  const isName = /^ensaio-[a-z0-9]{6}$/.test(slug) && /^[\w-]{1,100}$/.test(chave);
  const municipio = isName ? await findMunicipio(door, visit, slug) : undefined;
  const admitted = municipio && (await admitOwner(door.world, municipio, { kind: 'token', value: chave }));
  if (admitted !== 'owner') return askForKey(door, visit, slug);
  return goTo(ENSAIO_PATH, `${ENSAIO_PATH}/${slug}`, cookieOf(request, slug, chave, siteOf(door, request)));
}

type Act = (door: Door, visit: Visit, own: Own, form: Form) => Promise<HttpAnswer>;

const jsonBody = (body: object): Buffer => Buffer.from(JSON.stringify(body));

const ACTS: Readonly<Record<string, Act>> = {
  emitir: (door, visit, own, form) => issueScenario(door, visit, own, form),
  evento: (door, visit, own, form) => registerEvento(door, visit, own, form),
  avancar: (door, visit, own, form) => setClock(door, visit, own, { avancar: form.text('avancar') }),
  relogio: (door, visit, own, form) =>
    setClock(door, visit, own, { relogio: `${form.text('dia')}T${form.text('hora') || '12:00'}:00-03:00` }),
  reiniciar: async (door, visit, own) => {
    const done = await resetAmbiente(own.world, own.municipio, jsonBody({}));
    return done === 'gone' ? askForKey(door, visit, own.municipio.tenant) : goTo(own.here, own.here);
  },
  descartar: async (door, { request }, { world, municipio, here }) => {
    await discardAmbiente(world, municipio);
    return goTo(here, ENSAIO_PATH, cookieOf(request, municipio.tenant, '', siteOf(door, request)));
  },
};

async function act(door: Door, visit: Visit): Promise<HttpAnswer> {
  const own = await ownerOf(door, visit);
  if ('status' in own) return own;
  const form = await formOf(visit.request);
  const named = form.text('acao');
  if (Object.hasOwn(ACTS, named)) return ACTS[named]!(door, visit, own, form);
  return showOwn(door, visit, { problema: 'O botão não é nenhum dos desta página. Abra-a de novo.' });
}

async function setClock(door: Door, visit: Visit, own: Own, asked: object): Promise<HttpAnswer> {
  const { world, municipio, here } = own;
  const done = await changeAmbiente(world, municipio, jsonBody(asked));
  if (done === 'gone') return askForKey(door, visit, municipio.tenant);
  return 'faults' in done ? showOwn(door, visit, { problema: done.faults[0].mensagem }) : goTo(here, `${here}#relogio`);
}

/** Issues the document of a scenario as any integrator does, and shows the request with its answer. */
async function issueScenario(door: Door, visit: Visit, own: Own, form: Form): Promise<HttpAnswer> {
  const cenario = form.text('cenario');
  const substitui = form.text('substitui') || undefined;
  const sent = documentOf(own, cenario, { forma: form.text('forma') || 'xml', substitui });
  if ('problema' in sent) return showOwn(door, visit, sent);
  const id = await sendOwn(door, visit, own, { ...sent, path: ISSUE_PATH, params: {} });
  return goTo(
    own.here,
    `${own.here}/requisicoes/${id}?${new URLSearchParams({ cenario, ...(substitui && { substitui }) })}`,
  );
}

/** Registers the event of a scenario on its note, likewise. */
async function registerEvento(door: Door, visit: Visit, own: Own, form: Form): Promise<HttpAnswer> {
  const [nota, substituta] = [form.text('nota'), form.text('substituta') || undefined];
  const sent = documentOf(own, form.text('cenario'), { forma: 'evento', nota, substituta });
  if ('problema' in sent) return showOwn(door, visit, sent);
  const id = await sendOwn(door, visit, own, { ...sent, path: EVENTOS_PATH, params: { chave_acesso: nota } });
  return goTo(own.here, `${own.here}/requisicoes/${id}`);
}

type Sent = { readonly text: string; readonly tipo: 'xml' | 'json' };

function documentOf(
  { world }: Own,
  cenario: string,
  pedido: Parameters<typeof documentoDoCenario>[3],
): Sent | { readonly problema: string } {
  const [persona = '', id = ''] = cenario.split('/');
  const found = documentoDoCenario(world, persona, id, pedido);
  if (found === undefined) return { problema: 'Não há cenário com este nome.' };
  return 'faults' in found ? { problema: found.faults[0].mensagem } : found;
}

type ToOwn = Sent & { readonly path: string; readonly params: Readonly<Record<string, string>> };

/** Sends something to the sandbox as any integrator does; the id of the request. */
async function sendOwn(door: Door, visit: Visit, { municipio }: Own, { text, tipo, path, params }: ToOwn) {
  const body = Buffer.from(text);
  const route = municipioRoutes(door).find((one) => one.path === `/:municipio${path}` && one.method === 'POST')!;
  const { cookie: _cookie, 'content-length': _length, ...headers } = visit.request.headers;
  const request: HttpRequest = {
    ...visit.request,
    id: randomUUID(),
    began: performance.now(),
    method: 'POST',
    url: `/${municipio.tenant}${path.replace(/:(\w+)/g, (_whole, name: string) => params[name]!)}`,
    params: { municipio: municipio.tenant, ...params },
    headers: { ...headers, 'content-type': `application/${tipo}`, 'content-length': String(body.length) },
    peerCertificates: () => [],
    readBody: async () => body,
  };
  await route.handle(request);
  return request.id;
}

async function showRequest(door: Door, visit: Visit): Promise<HttpAnswer> {
  const own = await ownerOf(door, visit);
  if ('status' in own) return own;
  const { world, municipio, here } = own;
  const id = visit.request.params.requisicao!;
  const until = performance.now() + KEPT_WITHIN_MS;
  for (;;) {
    const requisicao = await findRequisicao(world, municipio, id);
    const at = `${here}/requisicoes/${id}`;
    const errosAt = (codigo: string): string => `${relativePath(at, ERROS_PATH)}/${codigo}`;
    if (requisicao !== undefined) {
      const depois = depoisDe(door, visit, municipio);
      const back = relativePath(at, here);
      const main = requisicaoPage({ requisicao, municipio: municipio.tenant, back, errosAt, depois });
      return page(framePage(`${requisicao.metodo} ${requisicao.status}`, main, at));
    }
    if (performance.now() > until) return page(framePage('Requisição', semRequisicao(relativePath(at, here)), at), 404);
    await pause(LOOK_EVERY_MS);
  }
}

/** What follows in the scenario whose document was issued by a button. */
function depoisDe(door: Door, { request }: Visit, { tenant }: Municipio): Depois | undefined {
  const query = queryOf(request);
  const cenario = query.get('cenario') ?? '';
  const [persona = '', id = ''] = cenario.split('/');
  const found = showCenario(persona, id);
  if (found === undefined || found.evento === null) return undefined;
  const substitui = query.get('substitui') ?? undefined;
  return {
    cenario,
    evento: found.evento,
    temSubstituta: found.substituta,
    substitui,
    base: `${siteOf(door, request)}/${tenant}/api/v1`,
  };
}

export const ensaioPage = (site: string): string => framePage('Um ambiente só seu', novoPage({ site }), ENSAIO_PATH);

/** What a page of another site sends does nothing, whatever the browser sends along. */
function guardPost(door: Door, visit: Visit, work: (visit: Visit) => Promise<HttpAnswer>): Promise<HttpAnswer> {
  const { request } = visit;
  if (request.method !== 'POST' || !isFromElsewhere(request, door.options.trustProxy)) return work(visit);
  return Promise.resolve(page(framePage('Outro site', ELSEWHERE, ENSAIO_PATH), 403));
}

export function ensaioRoutes(door: Door): readonly HttpRoute[] {
  const route = (method: 'GET' | 'POST', path: string, work: (visit: Visit) => Promise<HttpAnswer>): HttpRoute => ({
    method,
    path,
    handle: (request) => attend(door, request, path, (visit) => guardPost(door, visit, work)),
  });
  return [
    route('POST', ENSAIO_PATH, (visit) => makeOne(door, visit)),
    route('GET', `${ENSAIO_PATH}/:ambiente`, (visit) => showOwn(door, visit)),
    route('POST', `${ENSAIO_PATH}/:ambiente`, (visit) => act(door, visit)),
    route('GET', `${ENSAIO_PATH}/:ambiente/requisicoes/:requisicao`, (visit) => showRequest(door, visit)),
  ];
}

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
  documentoDoCenario,
  ENSAIO_DIAS,
  listPersonas,
  resetAmbiente,
  showAmbiente,
} from '../../flows/ambientes.ts';
import { findRequisicao, listRequisicoes } from '../../flows/ensaio-requisicoes.ts';
import type { Municipio } from '../../flows/queries.ts';
import { worldOf } from '../../flows/relogio.ts';
import type { World } from '../../flows/world.ts';
import { ENSAIO_PATH, ERROS_PATH } from '../../published/paths.ts';
import { framePage, relativePath } from '../../published/site/frame.ts';
import { PAGE_POLICY } from '../../published/site/page-shell.ts';
import { ambientePage, type Feito, novoPage, requisicaoPage } from '../html/ensaio.ts';
import { noForm, readForm } from '../html/forms.ts';
import { API_HEADERS, attend, refuse } from './attend.ts';
import { clientOf } from './caller.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';
import { municipioRoutes } from './municipio-routes.ts';
import { ISSUE_PATH } from './notas.ts';
import { refuseTrouble } from './refusals.ts';
import type { HttpRoute } from './router.ts';
import { type Door, findMunicipio, siteOf, type Visit, workInPlace } from './visit.ts';

const HEADERS: Readonly<Record<string, string>> = {
  ...API_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'no-referrer',
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
  return page(
    framePage('Abrir um ambiente', novoPage({ ambiente: slug, site: siteOf(door, request) }), `${here}/`),
    401,
  );
}

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
  return page(framePage(titleOf(ambiente), main, here));
}

const titleOf = ({ nome, municipio }: AmbientePublico): string => (nome ? `${nome} (${municipio})` : municipio);

async function makeOne(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { request } = visit;
  const form = await formOf(request);
  const site = siteOf(door, request);
  // Who has one already opens it by its key.
  const [slug, given] = [form.text('ambiente').trim(), form.text('chave').trim()];
  if (slug !== '') {
    const isName = /^ensaio-[a-z0-9]{6}$/.test(slug) && /^[\w-]{1,100}$/.test(given);
    return isName
      ? goTo(ENSAIO_PATH, `${ENSAIO_PATH}/${slug}`, cookieOf(request, slug, given, site))
      : page(framePage('Abrir um ambiente', novoPage({ ambiente: slug, site }), ENSAIO_PATH), 400);
  }
  const shared = await findMunicipio(door, visit, SANDBOX_SLUG);
  if (shared === undefined) return refuse(door, visit, refuseTrouble('unknown_path', undefined));
  const nome = form.text('nome').trim();
  const body = Buffer.from(JSON.stringify(nome === '' ? {} : { nome }));
  const rede = clientOf(request, door.options.trustProxy);
  const made = await workInPlace(door, () => createAmbiente(door.world, shared, { body, rede }));
  if (made === undefined || made === 'not_here' || 'faults' in made) {
    const problema =
      made === undefined || made === 'not_here' ? 'Tente de novo em instantes.' : made.faults[0].mensagem;
    return page(framePage('Um ambiente só seu', novoPage({ problema, site }), ENSAIO_PATH), 429);
  }
  const { municipio } = made.ambiente;
  return goTo(ENSAIO_PATH, `${ENSAIO_PATH}/${municipio}`, cookieOf(request, municipio, made.chave, site));
}

async function act(door: Door, visit: Visit): Promise<HttpAnswer> {
  const own = await ownerOf(door, visit);
  if ('status' in own) return own;
  const { world, municipio, here } = own;
  const { request } = visit;
  const form = await formOf(request);
  const again = (body: object) => Buffer.from(JSON.stringify(body));
  switch (form.text('acao')) {
    case 'emitir':
      return issueScenario(door, visit, own, form.text('cenario'), form.text('forma') === 'json' ? 'json' : 'xml');
    case 'avancar': {
      const done = await changeAmbiente(world, municipio, again({ avancar: form.text('avancar') }));
      return 'faults' in done ? showOwn(door, visit, { problema: done.faults[0].mensagem }) : goTo(here, here);
    }
    case 'relogio': {
      const relogio = `${form.text('dia')}T${form.text('hora') || '12:00'}:00-03:00`;
      const done = await changeAmbiente(world, municipio, again({ relogio }));
      return 'faults' in done ? showOwn(door, visit, { problema: done.faults[0].mensagem }) : goTo(here, here);
    }
    case 'reiniciar': {
      await resetAmbiente(world, municipio, again({}));
      return goTo(here, here);
    }
    case 'descartar': {
      await discardAmbiente(world, municipio);
      return goTo(here, ENSAIO_PATH, cookieOf(request, municipio.tenant, '', siteOf(door, request)));
    }
    default:
      return showOwn(door, visit, { problema: 'O botão não é nenhum dos desta página. Abra-a de novo.' });
  }
}

/** Issues the document of a scenario as any integrator does, and shows the request with its answer. */
async function issueScenario(
  door: Door,
  visit: Visit,
  { world, municipio, here }: Own,
  named: string,
  forma: 'xml' | 'json',
): Promise<HttpAnswer> {
  const [persona = '', cenario = ''] = named.split('/');
  const text = documentoDoCenario(world, persona, cenario, forma);
  if (text === undefined) return showOwn(door, visit, { problema: 'Não há cenário com este nome.' });
  const body = Buffer.from(text);
  const path = `/:municipio${ISSUE_PATH}`;
  const issue = municipioRoutes(door).find((route) => route.path === path && route.method === 'POST')!;
  const { cookie: _cookie, 'content-length': _length, ...headers } = visit.request.headers;
  const request: HttpRequest = {
    ...visit.request,
    id: randomUUID(),
    began: performance.now(),
    method: 'POST',
    url: `/${municipio.tenant}${ISSUE_PATH}`,
    params: { municipio: municipio.tenant },
    headers: { ...headers, 'content-type': `application/${forma}`, 'content-length': String(body.length) },
    peerCertificates: () => [],
    readBody: async () => body,
  };
  await issue.handle(request);
  return goTo(here, `${here}/requisicoes/${request.id}`);
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
      const main = requisicaoPage({ requisicao, municipio: municipio.tenant, back: relativePath(at, here), errosAt });
      return page(framePage(`${requisicao.metodo} ${requisicao.status}`, main, at));
    }
    if (performance.now() > until) return showOwn(door, visit, { problema: 'Esta requisição já não se guarda.' });
    await pause(LOOK_EVERY_MS);
  }
}

export const ensaioPage = (site: string): string => framePage('Um ambiente só seu', novoPage({ site }), ENSAIO_PATH);

export function ensaioRoutes(door: Door): readonly HttpRoute[] {
  const route = (method: 'GET' | 'POST', path: string, work: (visit: Visit) => Promise<HttpAnswer>): HttpRoute => ({
    method,
    path,
    handle: (request) => attend(door, request, path, work),
  });
  return [
    route('POST', ENSAIO_PATH, (visit) => makeOne(door, visit)),
    route('GET', `${ENSAIO_PATH}/:ambiente`, (visit) => showOwn(door, visit)),
    route('POST', `${ENSAIO_PATH}/:ambiente`, (visit) => act(door, visit)),
    route('GET', `${ENSAIO_PATH}/:ambiente/requisicoes/:requisicao`, (visit) => showRequest(door, visit)),
  ];
}

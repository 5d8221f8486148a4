/**
 * The pages of a private sandbox. A button makes it; its owner sees the clock, the personas with a document for each scenario, and the last
 * requests with their verdicts. No page needs a script. The key is in a cookie of these pages alone, which other sites cannot send.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { attend, refuse } from '../../base/http/attend.ts';
import { clientOf } from '../../base/http/caller.ts';
import type { HttpAnswer } from '../../base/http/message.ts';
import { refuseTrouble, refuseUnavailable } from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import {
  CROWD_WAIT_S,
  CROWDED_SERVICE,
  type Door,
  findMunicipio,
  queryOf,
  siteOf,
  type Visit,
  workInPlace,
} from '../../base/http/visit.ts';
import type { Form } from '../../base/pages/forms.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import { networksOf } from '../../base/world/redes.ts';
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { ENSAIO_PATH, ERROS_PATH } from '../../published/paths.ts';
import { framePage, relativePath } from '../../published/site/frame.ts';
import { EVENTOS_PATH } from '../eventos/eventos.rest.ts';
import { ISSUE_PATH } from '../notas/notas.rest.ts';
import type { Municipio } from '../notas/queries.ts';
import {
  admitOwner,
  changeAmbiente,
  createAmbiente,
  discardAmbiente,
  resetAmbiente,
  showAmbiente,
} from './ambientes.ts';
import { CADASTROS_DO_ENSAIO, downloadCadastro, fillCadastro, showCadastro } from './cadastros.rest.ts';
import {
  askForKey,
  cookieOf,
  formOf,
  goTo,
  guardPost,
  type Own,
  ownerOf,
  page,
  sendOwn,
  titleOf,
} from './dono.rest.ts';
import { ambientePage, type Feito, novoPage } from './ensaio.page.ts';
import { documentoDoCenario, listPersonas, showCenario } from './personas.ts';
import { type Depois, requisicaoPage, semRequisicao } from './requisicao.page.ts';
import { findRequisicao, listRequisicoes } from './requisicoes.ts';
import { readRigor } from './rigor.page.ts';

/** The request of a button is written after its answer, within this time. */
const KEPT_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 50;

/** `refused`: by the flow that a button asked for. */
async function showOwn(door: Door, visit: Visit, feito: Feito = {}, refused?: Refused): Promise<HttpAnswer> {
  const own = await ownerOf(door, visit);
  if ('status' in own) return own;
  const { world, municipio, chave, here } = own;
  const [ambiente, requisicoes] = await Promise.all([
    showAmbiente(world, municipio),
    listRequisicoes(world, municipio),
  ]);
  const site = siteOf(door, visit.request);
  const main = ambientePage({
    ...{ ambiente, chave, site, requisicoes, feito },
    personas: listPersonas(),
    cadastros: CADASTROS_DO_ENSAIO,
  });
  const status = feito.problema === undefined ? 200 : (refused?.status ?? 400);
  return page(framePage(titleOf(ambiente), main, here), status, refused && refuseAsFlow(refused).headers);
}

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
  const made = await workInPlace(door, shared, () => createAmbiente(door.world, shared, { body, rede }));
  if (made === undefined || made === 'not_here')
    return refuse(door, visit, refuseUnavailable(CROWDED_SERVICE, CROWD_WAIT_S));
  if ('faults' in made) {
    const [{ mensagem: problema }] = made.faults;
    const again = framePage('Um ambiente só seu', novoPage({ problema, site }), ENSAIO_PATH);
    return page(again, made.status, refuseAsFlow(made).headers);
  }
  const { municipio } = made.ambiente;
  return goTo(ENSAIO_PATH, `${ENSAIO_PATH}/${municipio}`, cookieOf(request, municipio, made.chave, site));
}

/** The holder of a key opens an existing sandbox. */
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
  rigor: async (door, visit, own, form) => {
    const asked = readRigor(form);
    const done = await changeAmbiente(own.world, own.municipio, jsonBody(asked));
    if (done === 'gone') return askForKey(door, visit, own.municipio.tenant);
    if (!('faults' in done)) return goTo(own.here, `${own.here}#rigor`);
    return showOwn(door, visit, { problema: done.faults[0].mensagem, rigor: asked }, done);
  },
  reiniciar: async (door, visit, own) => {
    const done = await resetAmbiente(own.world, own.municipio, jsonBody({}));
    if (done === 'gone') return askForKey(door, visit, own.municipio.tenant);
    if (!('faults' in done)) return goTo(own.here, own.here);
    return showOwn(door, visit, { problema: done.faults[0].mensagem }, done);
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
  if (!('faults' in done)) return goTo(here, `${here}#relogio`);
  return showOwn(door, visit, { problema: done.faults[0].mensagem }, done);
}

/** Issues the document of a scenario as any integrator does, and shows the request with its answer. */
async function issueScenario(door: Door, visit: Visit, own: Own, form: Form): Promise<HttpAnswer> {
  const cenario = form.text('cenario');
  const substitui = form.text('substitui') || undefined;
  const sent = documentOf(own, cenario, { forma: form.text('forma') || 'xml', substitui });
  if ('problema' in sent) return showOwn(door, visit, sent);
  const { id } = await sendOwn(door, visit, own, { ...sent, path: ISSUE_PATH, params: {} });
  return goTo(
    own.here,
    `${own.here}/requisicoes/${id}?${new URLSearchParams({ cenario, ...(substitui && { substitui }) })}`,
  );
}

/** Registers the event of a scenario on its note in the same way. */
async function registerEvento(door: Door, visit: Visit, own: Own, form: Form): Promise<HttpAnswer> {
  const [nota, substituta] = [form.text('nota'), form.text('substituta') || undefined];
  const sent = documentOf(own, form.text('cenario'), { forma: 'evento', nota, substituta });
  if ('problema' in sent) return showOwn(door, visit, sent);
  const { id } = await sendOwn(door, visit, own, { ...sent, path: EVENTOS_PATH, params: { chave_acesso: nota } });
  return goTo(own.here, `${own.here}/requisicoes/${id}`);
}

function documentOf(
  { world }: Own,
  cenario: string,
  pedido: Parameters<typeof documentoDoCenario>[3],
): { readonly content: string; readonly type: string } | { readonly problema: string } {
  const [persona = '', id = ''] = cenario.split('/');
  const found = documentoDoCenario(world, persona, id, pedido);
  if (found === undefined) return { problema: 'Não há cenário com este nome.' };
  if ('faults' in found) return { problema: found.faults[0].mensagem };
  return { content: found.text, type: `application/${found.tipo}` };
}

async function showRequest(door: Door, visit: Visit): Promise<HttpAnswer> {
  const own = await ownerOf(door, visit);
  if ('status' in own) return own;
  const { world, municipio, here } = own;
  const id = visit.request.params['requisicao']!;
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

/** The next step of a scenario whose document was issued by a button. */
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
    route('GET', `${ENSAIO_PATH}/:ambiente/cadastros/:cadastro`, (visit) => showCadastro(door, visit)),
    route('POST', `${ENSAIO_PATH}/:ambiente/cadastros/:cadastro`, (visit) => fillCadastro(door, visit)),
    route('GET', `${ENSAIO_PATH}/:ambiente/cadastros/:cadastro/csv`, (visit) => downloadCadastro(door, visit)),
  ];
}

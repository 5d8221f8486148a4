/** Public pages of a municipality for takers and small providers: the form for a note, and the page of one. */
import { setTimeout as pause } from 'node:timers/promises';
import { API_HEADERS, attend, redirect, refuse } from '../../base/http/attend.ts';
import { clientOf } from '../../base/http/caller.ts';
import { answerImage } from '../../base/http/image.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import {
  refuseTooManyMisses,
  refuseTrouble,
  refuseUnavailable,
  refuseUnknownMunicipio,
} from '../../base/http/refusals.ts';
import type { Refused } from '../../base/http/route.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import {
  CROWD_WAIT_S,
  CROWDED_BODIES,
  CROWDED_QUESTIONS,
  type Door,
  findMunicipio,
  siteOf,
  type Visit,
} from '../../base/http/visit.ts';
import { type Form, readForm } from '../../base/pages/forms.ts';
import { findBrasao } from '../../base/world/brasoes.ts';
import { nameMunicipio } from '../../fiscal/catalogs/catalogs.ts';
import { whyNoChave } from '../../fiscal/chave.ts';
import { BALCAO_PATH, BRASAO_PATH, CONSULTA_PATH } from '../../published/paths.ts';
import { admitMark, type Marca } from '../../published/site/marca.ts';
import { PAGE_POLICY } from '../../published/site/page-shell.ts';
import { type Balcao, balcaoPage, lostPage, notaPage, UNKNOWN_PAGE } from './consulta.page.ts';
import { findNotaPeloNumero, findNotaPublica, whyNoNumero } from './consulta-publica.ts';
import type { Municipio } from './queries.ts';

const HEADERS: Readonly<Record<string, string>> = {
  ...API_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

/** An answer with a page for people, kept by nobody. */
export const page = (text: string, status = 200): HttpAnswer => ({ status, headers: HEADERS, body: text });

const pageOf = (text: string, marca: Marca, status = 200): HttpAnswer => ({
  status,
  headers: { ...HEADERS, 'Content-Security-Policy': admitMark(PAGE_POLICY, marca) },
  body: text,
});

/** The mark of a municipality. `root`: the way from the page to the address of the municipality. */
function markOf({ tenant, codigoIbge, brasao, cor }: Municipio, root: string): Marca {
  const address = brasao && `${root}brasao/${brasao}`;
  return { nome: nameMunicipio(codigoIbge) ?? tenant, brasao: address, cor };
}

/** Answers what is not at an address: a page for a browser, and the refusal for a program. */
export function answerLost(door: Door, visit: Visit, refused: Refused): HttpAnswer {
  const { request, municipio } = visit;
  const answer = refuse(door, visit, refused);
  if (!asksForPage(request)) return answer;
  const [path] = request.url.split('?');
  if (municipio !== undefined && path === `/${municipio.tenant}`) return redirect(303, `${municipio.tenant}/`);
  const site = siteOf(door, request);
  const balcao = municipio && `${site}/${municipio.tenant}/`;
  const mensagem = refused.refusal.faults.map((fault) => fault.mensagem).join(' ');
  return { ...answer, ...page(lostPage(mensagem, site, balcao), answer.status) };
}

/** Browsers name HTML when they open an address; programs that take anything do not. */
function asksForPage({ method, headers: { accept } }: HttpRequest): boolean {
  return method === 'GET' && accept?.includes('text/html') === true;
}

/** The form has four short fields. */
const FORM_MAX_BYTES = 4_096;

/** Looks a note up within the limits of guessing; the answer is the same for all that is not there. */
async function lookUp<Found>(
  door: Door,
  visit: Visit,
  find: () => Promise<Found | undefined>,
): Promise<Found | HttpAnswer> {
  const client = clientOf(visit.request, door.options.trustProxy);
  const turn = door.misses.turnOf(client);
  if (turn === undefined) return refuse(door, visit, refuseUnavailable(CROWDED_QUESTIONS, CROWD_WAIT_S));
  if (turn > 0) await pause(turn);
  const found = await find();
  if (found !== undefined) return found;
  const excess = await door.misses.count(client, 1);
  return excess === undefined ? page(UNKNOWN_PAGE, 404) : refuse(door, visit, refuseTooManyMisses(excess));
}

async function consult(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { municipio: slug, chave } = visit.request.params;
  const found = await lookUp(door, visit, async () => {
    const municipio = await findMunicipio(door, visit, slug!);
    const nota = municipio && (await findNotaPublica(door.world, municipio, chave!.replace(/^NFS/, '')));
    return nota && { nota, marca: markOf(municipio, '../') };
  });
  if ('status' in found) return found;
  const { nota, marca } = found;
  return pageOf(notaPage(nota, marca, `${siteOf(door, visit.request)}/${slug}/nota/${nota.chave}`), marca);
}

async function showBrasao(door: Door, visit: Visit): Promise<HttpAnswer> {
  const { municipio: slug, impressao } = visit.request.params;
  const municipio = await findMunicipio(door, visit, slug!);
  if (municipio === undefined) return answerLost(door, visit, refuseUnknownMunicipio(slug!));
  const png = await findBrasao(door.world, municipio.tenant, impressao!);
  if (png === undefined) return answerLost(door, visit, refuseTrouble('unknown_path', undefined));
  return answerImage(visit.request, png, 'public');
}

async function showBalcao(door: Door, visit: Visit): Promise<HttpAnswer> {
  const municipio = await findMunicipio(door, visit, visit.request.params['municipio']!);
  if (municipio === undefined)
    return answerLost(door, visit, refuseUnknownMunicipio(visit.request.params['municipio']!));
  const balcao = balcaoOf(municipio);
  return pageOf(balcaoPage(balcao), balcao.marca);
}

const balcaoOf = (municipio: Municipio): Balcao => ({
  marca: markOf(municipio, ''),
  temNumeros: municipio.codigoIbge !== undefined,
  isEnsaio: municipio.ambiente !== 'producao',
});

/** A key leads to the page of its note; a number is looked up, and misses count as those of a key. */
async function search(door: Door, visit: Visit): Promise<HttpAnswer> {
  const slug = visit.request.params['municipio']!;
  const municipio = await findMunicipio(door, visit, slug);
  if (municipio === undefined) return refuse(door, visit, refuseUnknownMunicipio(slug));
  const body = await visit.request.readBody(FORM_MAX_BYTES);
  if (body === 'crowded') return refuse(door, visit, refuseUnavailable(CROWDED_BODIES, CROWD_WAIT_S));
  if (typeof body === 'string') return refuse(door, visit, refuseTrouble(body, undefined));
  const form = await readForm(visit.request.headers['content-type'], body);
  const balcao = balcaoOf(municipio);
  const again = (problema: string, pedido?: Balcao['pedido']): HttpAnswer =>
    pageOf(balcaoPage({ ...balcao, problema, pedido }), balcao.marca, 422);
  if ('problem' in form) return again(form.problem);
  const asked = readAsked(form);
  const { chave, ...pedido } = asked;
  if (chave !== '') {
    const wrong = whyNoChave(chave);
    return wrong === undefined ? redirect(303, `nota/${chave}`) : again(wrong, asked);
  }
  const { codigoIbge } = municipio;
  if (codigoIbge === undefined) return again('Escreva a chave de acesso da nota.', asked);
  const wrong = whyNoNumero(pedido);
  if (wrong !== undefined) return again(wrong, asked);
  const found = await lookUp(door, visit, () => findNotaPeloNumero(door.world, { ...municipio, codigoIbge }, pedido));
  return 'status' in found ? found : pageOf(notaPage(found, balcao.marca), balcao.marca);
}

/** A printed key has blanks, and dots or dashes, between its groups. */
function readAsked(form: Form): NonNullable<Balcao['pedido']> {
  const chave = form.text('chave').replace(/^\s*NFS(?:-?e)?|[\s.\-/]+/gi, '');
  return { chave, numero: form.text('numero'), documento: form.text('documento'), valor: form.text('valor') };
}

export function consultaRoutes(door: Door): readonly HttpRoute[] {
  const route = (method: 'GET' | 'POST', path: string, work: typeof consult): HttpRoute => ({
    method,
    path,
    handle: (request) => attend(door, request, path, (visit) => work(door, visit)),
  });
  return [
    route('GET', CONSULTA_PATH, consult),
    route('GET', BALCAO_PATH, showBalcao),
    route('GET', BRASAO_PATH, showBrasao),
    route('POST', BALCAO_PATH, search),
  ];
}

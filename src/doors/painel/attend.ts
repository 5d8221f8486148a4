/**
 * A request to the console from its arrival to its answer: the checks of address and origin, the user's identity, the user's permissions,
 * and the writing of the answer. Every row of the table goes through here, so no page repeats these steps.
 */

import { clientOf, siteIn } from '../../base/http/caller.ts';
import { challengeByForm } from '../../base/http/challenges.ts';
import { answerImage } from '../../base/http/image.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import { CROWD_WAIT_S } from '../../base/http/visit.ts';
import { countRequest } from '../../base/measures/counters.ts';
import { TOKEN_FIELD } from '../../base/pages/fields.ts';
import { cleanText, type Form, noForm, readForm } from '../../base/pages/forms.ts';
import { framePage } from '../../base/pages/frame.ts';
import {
  asksForPart,
  cookiesOf,
  keptCookie,
  PAGE_HEADERS,
  passingCookie,
  SESSION,
  sessionCookie,
} from '../../base/pages/headers.ts';
import {
  type Answer,
  type InMunicipio,
  type PageShown,
  type PainelWorld,
  pathIn,
  type Quem,
  type Row,
  type Visit,
} from '../../base/pages/visit.ts';
import { findMunicipio } from '../../base/world/municipios.ts';
import { isPapel, mayAs, PAPEIS_NAMES, type Papel } from '../../base/world/papeis.ts';
import { storeTroubleOf, tellTrouble } from '../../base/world/store-trouble.ts';
import { nameMunicipio } from '../../fiscal/catalogs/catalogs.ts';
import { admitMark, type Marca } from '../../published/site/marca.ts';
import { html } from '../../published/site/page-shell.ts';
import { recordRefusal } from '../../subjects/contas/acessos.ts';
import { mustEnroll } from '../../subjects/contas/conta-propria.ts';
import { endSessao, formTokenOf, readVisitor, tellOnce, type Visitor } from '../../subjects/contas/entrada.ts';

export type PainelOptions = { readonly trustProxy: boolean; readonly accessLog: boolean };

const BODY_MAX_BYTES = 256 * 1024;

/** Rows of the table as the router takes them. */
export function routesOf(world: PainelWorld, options: PainelOptions, rows: readonly Row[]): readonly HttpRoute[] {
  return rows.map((row) => ({
    method: row.method,
    path: row.path,
    handle: (request) => attend(world, options, row, request),
  }));
}

async function attend(world: PainelWorld, options: PainelOptions, row: Row, request: HttpRequest): Promise<HttpAnswer> {
  const rede = clientOf(request, options.trustProxy);
  let answer: HttpAnswer;
  try {
    answer = elsewhere(world, options, request) ?? (await answerRow(world, row, request, rede));
  } catch (error) {
    answer = answerFailure(world, row, request, error);
  }
  const took = performance.now() - request.began;
  countRequest('painel', { method: request.method, route: row.path, status: answer.status, ms: took });
  if (options.accessLog) {
    const ms = Math.round(took * 10) / 10;
    const about = {
      request: request.id,
      client: rede,
      method: request.method,
      route: row.path,
      status: answer.status,
      ms,
    };
    world.log.info(about, 'painel');
  }
  return answer;
}

/** The answer to a request outside the console's own address: another name of this machine is redirected, all else is refused. */
function elsewhere(
  { place }: PainelWorld,
  { trustProxy }: PainelOptions,
  request: HttpRequest,
): HttpAnswer | undefined {
  const site = siteIn(request, trustProxy);
  // A proxy that ends the TLS may not say so; the name decides.
  if (site !== undefined && new URL(site).host === new URL(place.origin).host) return undefined;
  const isOfHere =
    site !== undefined && isLoopback(new URL(site).hostname) && isLoopback(new URL(place.origin).hostname);
  if (isOfHere && request.method === 'GET' && new URL(site).port === new URL(place.origin).port) {
    return { status: 302, headers: { ...PAGE_HEADERS, Location: `${place.origin}${request.url}` }, body: '' };
  }
  return writePage(
    {
      status: 421,
      title: 'Outro endereço',
      main: html`<p>Este console só atende em <a href="${place.origin}">${place.origin}</a>. Para abri-lo por outro endereço, quem opera o
serviço o põe em NFSE_PAINEL_URL.</p>`,
    },
    undefined,
  );
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name);
}

async function answerRow(world: PainelWorld, row: Row, request: HttpRequest, rede: string): Promise<HttpAnswer> {
  const token = cookiesOf(request).get(SESSION);
  const visitor = token === undefined ? undefined : await readVisitor(world, token);
  const asksWho = row.quem !== 'todos' || row.path.startsWith('/convite/');
  if (visitor === undefined && asksWho && isFromElsewhere(request)) return LOAD_AGAIN;
  const navegador = request.headers['user-agent'] ?? '';
  const url = new URL(request.url, world.place.origin);
  const visit: Visit = {
    world,
    request,
    params: Object.fromEntries(Object.entries(request.params).map(([name, text]) => [name, cleanText(text)])),
    query: new URLSearchParams([...url.searchParams].map(([name, text]) => [name, cleanText(text)])),
    from: { rede, navegador },
    form: noForm,
  };
  const turned = await turnAway(visit, row.quem, visitor);
  if (turned !== undefined) return write(visit, visitor, turned);
  if (row.method === 'GET') return write(visit, visitor, await row.handle(callOf(visit, visitor)));
  const sent = await readPosted(visit, row, visitor);
  if ('title' in sent) return write(visit, visitor, sent);
  // Session and roles are read again: they may have ended while the form arrived.
  const still = token === undefined ? undefined : await readVisitor(world, token);
  const late = await turnAway(visit, row.quem, still);
  return write(visit, still, late ?? (await row.handle(callOf({ ...visit, form: sent }, still))));
}

function callOf(visit: Visit, visitor: Visitor | undefined): InMunicipio {
  const slug = visit.request.params['municipio'];
  return { ...visit, visitor, slug, papel: slug && visitor?.conta.papeis[slug] } as InMunicipio;
}

/** The redirection or refusal of a user without permission; undefined: the user may go on. */
async function turnAway(visit: Visit, quem: Quem, visitor: Visitor | undefined): Promise<Answer | undefined> {
  if (quem === 'todos') return undefined;
  if (visitor === undefined) return { goTo: '/entrar' };
  const { sessao, conta } = visitor;
  if (quem === 'entrando') return undefined;
  if (sessao.etapa !== 'inteira' || mustEnroll(visitor)) return { goTo: '/segundo-fator' };
  if (!isPapel(quem)) return undefined;
  const slug = visit.params['municipio']!;
  const papel = Object.hasOwn(conta.papeis, slug) ? conta.papeis[slug] : undefined;
  if (papel !== undefined && mayAs(papel, quem)) return undefined;
  const { world, request, from } = visit;
  const pedido = `${request.method} ${new URL(request.url, world.place.origin).pathname}`.slice(0, PEDIDO_MAX);
  const motivo =
    papel === undefined
      ? `sem papel em ${slug.slice(0, PEDIDO_MAX)}`
      : `papel ${PAPEIS_NAMES[papel]}, e pede ${PAPEIS_NAMES[quem]}`;
  await recordRefusal(world, conta, papel === undefined ? undefined : slug, { pedido, motivo, rede: from.rede });
  return papel === undefined ? NOT_THERE : refuseRole(papel, quem);
}

const PEDIDO_MAX = 200;

const NOT_THERE: PageShown = {
  status: 404,
  title: 'Página não encontrada',
  main: html`<p>Não há esta página, ou ela é de um município para o qual esta conta não trabalha. <a href="/">Ver o que há para esta conta</a>.</p>`,
};

function refuseRole(papel: Papel, needed: Papel): PageShown {
  return {
    status: 403,
    title: 'Seu papel não permite isto',
    main: html`<p>Isto pede o papel <b>${PAPEIS_NAMES[needed]}</b>, e o seu neste município é <b>${PAPEIS_NAMES[papel]}</b>. Quem administra os usuários pode mudá-lo.</p>
<p><a href="/">Voltar ao começo</a></p>`,
  };
}

const BODY_TROUBLES: Readonly<Record<string, Pick<PageShown, 'status' | 'waitS'> & { readonly said: string }>> = {
  body_too_large: { status: 413, said: 'O que foi enviado é grande demais para este formulário.' },
  timeout: { status: 408, said: 'O envio demorou demais, e foi interrompido.' },
  crowded: { status: 503, waitS: CROWD_WAIT_S, said: 'Muitos envios grandes chegam ao mesmo tempo. Tente de novo.' },
};
const BROKEN_BODY = { status: 400, said: 'O envio não chegou inteiro. Tente de novo.' };

/** The form of a POST that came from one of our pages; otherwise the refusal (D-540). */
async function readPosted(
  { world, request }: Visit,
  row: Row,
  visitor: Visitor | undefined,
): Promise<Form | PageShown> {
  if (!isFromHere(request, world.place.origin)) return NOT_OURS;
  const body = await request.readBody(row.bodyMax ?? BODY_MAX_BYTES);
  if (!Buffer.isBuffer(body)) {
    const { said, ...refused } = BODY_TROUBLES[body] ?? BROKEN_BODY;
    return { ...refused, title: 'O envio não foi lido', main: html`<p>${said}</p>` };
  }
  const form = await readForm(request.headers['content-type'], body);
  if ('problem' in form) return { status: 400, title: 'O envio não foi lido', main: html`<p>${form.problem}</p>` };
  const sent = String(request.headers['x-formulario'] ?? form.text(TOKEN_FIELD));
  if (visitor !== undefined && row.quem !== 'todos' && sent !== formTokenOf(visitor)) return NOT_OURS;
  return form;
}

const NOT_OURS: PageShown = {
  status: 403,
  title: 'Formulário vencido',
  main: html`<p>O formulário não veio de uma página aberta nesta sessão: ela venceu, ou outra pessoa entrou neste navegador.
Nada foi feito. <a href="/">Comece de novo pelo console</a>.</p>`,
};

/** True when the browser says that one of our pages sent the request. Silence is not believed. */
function isFromHere({ headers }: HttpRequest, origin: string): boolean {
  return headers.origin === origin || (headers.origin === undefined && headers['sec-fetch-site'] === 'same-origin');
}

/** True when the user followed a link of another site: the browser then omits the cookie. */
function isFromElsewhere({ method, headers }: HttpRequest): boolean {
  return method === 'GET' && headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] === 'navigate';
}

/** The page loads itself again, now from our site, so the browser sends the cookie. */
const OPENING = '<!doctype html><html lang="pt-BR"><title>Abrindo…</title><p>Abrindo…</p></html>';
const LOAD_AGAIN: HttpAnswer = { status: 200, headers: { ...PAGE_HEADERS, Refresh: '0' }, body: OPENING };

async function write(visit: Visit, visitor: Visitor | undefined, answer: Answer): Promise<HttpAnswer> {
  const { world, request } = visit;
  // A new session replaces the one that the browser sent, even for another user.
  if ('token' in answer && answer.token && visitor) await endSessao(world, visitor.sessao.impressao);
  if ('goTo' in answer) {
    const { goTo, recado, token, passing, keep } = answer;
    // The next page belongs to the new session, if there is one.
    const next = recado !== undefined && token ? await readVisitor(world, token) : visitor;
    if (recado !== undefined && next !== undefined) await tellOnce(world, next, recado);
    if (asksForPart(request)) return { status: 200, headers: { ...PAGE_HEADERS, 'HX-Redirect': goTo }, body: '' };
    const headers = { ...PAGE_HEADERS, ...sessionCookie(token), ...passingCookie(passing), ...keptCookie(keep) };
    // Browsers refuse to be redirected from a form to another site (form-action).
    if (request.method === 'POST' && !goTo.startsWith('/')) {
      return { status: 200, headers: { ...headers, Refresh: `0; url=${goTo}` }, body: OPENING };
    }
    return { status: 303, headers: { ...headers, Location: goTo }, body: '' };
  }
  if ('json' in answer) {
    const type = { 'Content-Type': 'application/json; charset=utf-8' };
    return {
      status: answer.status ?? 200,
      headers: { ...PAGE_HEADERS, ...type, ...sessionCookie(answer.token) },
      body: JSON.stringify(answer.json),
    };
  }
  if ('image' in answer) return answerImage(request, answer.image, 'private');
  if ('file' in answer) {
    const { file, type, name } = answer;
    const saved = name === undefined ? {} : { 'Content-Disposition': `attachment; filename="${name}"` };
    return { status: 200, headers: { ...PAGE_HEADERS, 'Content-Type': type, ...saved }, body: file };
  }
  const recado = visitor?.sessao.recado ?? undefined;
  if (recado !== undefined && !asksForPart(request)) await tellOnce(world, visitor!, undefined);
  const slug = request.params['municipio'];
  return writePage(answer, { visitor, slug, marca: await findMarca(world, slug, visitor), recado });
}

/** The mark of a municipality for which the visitor works. A rehearsal says that it is one. */
async function findMarca(
  world: PainelWorld,
  slug: string | undefined,
  visitor: Visitor | undefined,
): Promise<Marca | undefined> {
  if (slug === undefined || visitor === undefined || !Object.hasOwn(visitor.conta.papeis, slug)) return undefined;
  const { ambiente, codigoIbge, brasao, cor } = (await findMunicipio(world, slug)) ?? {};
  const name = nameMunicipio(codigoIbge) ?? slug;
  const nome = codigoIbge !== undefined && ambiente === 'homologacao' ? `${name} (homologação)` : name;
  return { nome, cor, brasao: brasao && pathIn(slug, `/brasao/${brasao}`) };
}

function writePage(page: PageShown, around: Parameters<typeof framePage>[1]): HttpAnswer {
  const again = page.refreshS === undefined ? {} : { Refresh: String(page.refreshS) };
  const policy = admitMark(PAGE_HEADERS['Content-Security-Policy']!, around?.marca);
  const challenge = page.status === 401 ? challengeByForm('console', '/entrar') : {};
  const later = page.waitS === undefined ? {} : { 'Retry-After': String(page.waitS) };
  const headers = { ...PAGE_HEADERS, 'Content-Security-Policy': policy, ...again, ...challenge, ...later };
  return { status: page.status ?? 200, headers, body: framePage(page, around) };
}

function answerFailure({ log }: PainelWorld, { path }: Row, request: HttpRequest, error: unknown): HttpAnswer {
  tellTrouble(log, error, { request: request.id, route: path }, 'uma página do painel falhou');
  const trouble = storeTroubleOf(error);
  const main =
    trouble === undefined
      ? html`<p>Isto é um defeito do serviço, e está no registro dele sob <code>${request.id}</code>. Nada do que você pediu ficou pela metade:
o que não foi confirmado não foi feito.</p>`
      : html`<p>${trouble.mensagem} Tente de novo em ${String(trouble.esperaS)} s.</p>`;
  const refused = trouble === undefined ? { status: 500 } : { status: 503, waitS: trouble.esperaS };
  return writePage({ ...refused, title: 'Não foi possível agora', main }, undefined);
}

/** Answers a request that no route takes. */
export function answerUnknown(status: number): HttpAnswer {
  return writePage({ ...NOT_THERE, status }, undefined);
}

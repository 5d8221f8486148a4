/**
 * The pages of the codes: the index with its search, and one page per code. Each page is complete in itself. The links between them are
 * relative, so that they work behind any address. `../errors/page.ts` makes their content.
 */

import { once } from '../../fiscal/catalogs/table.ts';
import type { Pedido } from '../../fiscal/errors/row.ts';
import { ERRORS, errorOf, type PublicError } from '../../fiscal/errors.ts';
import { groupsOf } from '../errors/groups.ts';
import { type ErrorJson, errorJson } from '../errors/json.ts';
import { ALCANCE_DA_REGRA, WITHOUT_REJECTED } from '../errors/markdown.ts';
import {
  type Answer,
  type Case,
  type ErrorPage,
  type Fragment,
  fieldsOf,
  httpOf,
  pageOf,
  type Sample,
} from '../errors/page.ts';
import { findMatches, SEARCH_MAX, searchableOf } from '../errors/search.ts';
import { ERROS_PATH } from '../paths.ts';
import { framePage, searchForm } from './frame.ts';
import { allowBreaks, type Html, html, type Inserted } from './page-shell.ts';

/** Last segment of the path of the index: the links are relative to it. */
const ERROS = ERROS_PATH.slice(ERROS_PATH.lastIndexOf('/') + 1);

const index = once(() => indexOf(''));
const pages = new Map<string, string>();

/** The index, with a link to each code; `asked`: the search query. */
export function errorIndexPage(asked = ''): string {
  const question = asked.trim().slice(0, SEARCH_MAX);
  return question === '' ? index() : indexOf(question);
}

/** The page of a code; undefined when there is no such code. */
export function errorPage(codigo: string): string | undefined {
  const error = errorOf(codigo);
  if (error === undefined) return undefined;
  let text = pages.get(codigo);
  if (text === undefined) {
    text = renderErrorPage(error);
    pages.set(codigo, text);
  }
  return text;
}

/** The code meant by an address in other letters (`e0310`); undefined: no such code, or the letters are right. */
export function correctSpelling(codigo: string): string | undefined {
  const right = codigo.trim().toUpperCase();
  return right !== codigo && errorOf(right) !== undefined ? right : undefined;
}

/** The page for an unknown code: the codes of the same number, and the search. */
export function unknownCodePage(codigo: string): string {
  const asked = codigo.slice(0, SEARCH_MAX);
  const digits = /^E?0*(\d+)$/i.exec(asked)?.[1];
  const alike = digits === undefined ? [] : ERRORS.filter((error) => String(Number(error.codigo.slice(1))) === digits);
  return framePage(
    'Código não encontrado',
    html`
<h1>Não há o código ${asked}</h1>
${
  alike.length === 0
    ? html`<p>Confira o código na resposta que o trouxe, ou procure por um campo ou por uma palavra da mensagem.</p>\n`
    : html`<p>Com esse número há:</p>\n<ul class="codes">\n${alike.map((error) => html`<li>${codeLink(error, error.codigo)}</li>\n`)}</ul>\n`
}${searchBox(`../${ERROS}`, asked)}`,
    `${ERROS_PATH}/nada`,
  );
}

/** The index with all codes. Codes outside the query's result are hidden, so that the script can show them again. */
function indexOf(asked: string): string {
  const shown = new Set(asked === '' ? ERRORS : findMatches(asked, ERRORS, searchableOf));
  const groups = groupsOf(ERRORS, fieldsOf).map((group) => ({
    ...group,
    isShown: group.errors.some((error) => shown.has(error)),
  }));
  const main = html`
<h1>Códigos de erro</h1>
<p class="lead">Cada código que uma resposta pode trazer: o que significa, como resolver e, quando ele diz respeito à DPS,
um trecho recusado e um aceito, em XML e em JSON.</p>
${searchBox(ERROS, asked)}
<p id="achados" role="status" data-none="${NOTHING_FOUND}">${asked === '' ? undefined : countText(shown.size)}</p>
<nav class="groups" aria-label="Assuntos">
${groups.map(({ id, titulo }) => html`<a href="#${id}">${titulo}</a>\n`)}</nav>
${groups.map(
  ({ id, titulo, errors, isShown }) => html`<section id="${id}" data-g${isShown ? undefined : HIDDEN}>
<h2>${titulo}</h2>
<ul class="codes">
${errors.map((error) => renderEntry(error, shown.has(error)))}</ul>
</section>
`,
)}<section class="reading">
<h2>Como ler</h2>
<p>Decida pelo status HTTP e pelo código: o texto das mensagens pode mudar, o sentido de um código não. Uma resposta traz
todos os erros que se acharam; o primeiro está no cabeçalho do envelope.</p>
<p>Sem marca, o código vem com HTTP 422. <b>Nacional</b>: regra do padrão nacional que a especificação deste serviço não
nomeia; em produção recusa, no ambiente de integração é um aviso. <b>Aviso</b>: acompanha a nota emitida e nada recusa.
<b>Reservado</b>: o sentido está fixado e nenhuma resposta o traz ainda. <b>Antigo</b>: outro código tomou o seu lugar.</p>
<p>Para programas, a mesma tabela está em <a href="${ERROS}.json">${ERROS}.json</a>.</p>
</section>`;
  return framePage('Códigos de erro', main, ERROS_PATH, { searching: asked !== '' });
}

const HIDDEN: Html = html` hidden`;
const NOTHING_FOUND =
  'Nenhum código. Tente o número, o nome de um campo do leiaute ou uma só palavra do que a resposta diz.';

function countText(count: number): string {
  if (count === 0) return NOTHING_FOUND;
  return count === 1 ? '1 código' : `${count} códigos`;
}

function searchBox(action: string, asked: string): Html {
  return searchForm(action, asked, 'Buscar um código', 'Código, campo ou palavra');
}

function renderEntry(error: PublicError, isShown: boolean): Html {
  const { codigo, words } = searchableOf(error);
  const quiet = error.situacao === 'enviado' ? undefined : html` class="quiet"`;
  return html`<li data-c="${codigo}" data-b="${words}"${quiet}${isShown ? undefined : HIDDEN}>${codeLink(error, `${ERROS}/${error.codigo}`)}${badge(error)}</li>\n`;
}

/** A code and its title, as a link. */
function codeLink({ codigo, mensagem }: PublicError, href: string): Html {
  return html`<a href="${href}"><code>${codigo}</code> <span>${mensagem}</span></a>`;
}

/** A mark for a code that is not simply a 422 everywhere. */
function badge(error: PublicError): Html | undefined {
  const { status, statuses, situacao, alcance } = error;
  if (situacao === 'substituido') return html` <small>antigo</small>`;
  if (situacao === 'reservado') return html` <small>reservado</small>`;
  if (status === 'aviso') return html` <small class="remark">aviso</small>`;
  if (alcance === 'nacional') return html` <small class="national">nacional</small>`;
  const isUsual = statuses.every((one) => one === 422);
  return isUsual ? undefined : html` <small>HTTP ${httpOf(error)}</small>`;
}

function renderErrorPage(error: PublicError): string {
  const { codigo, mensagem, nacional, situacao } = error;
  const page = pageOf(error);
  const place = ERRORS.indexOf(error);
  const isOld = situacao === 'substituido';
  const isUnusual = error.alcance !== 'geral';
  return framePage(
    `${codigo}: ${mensagem}`,
    html`
<p class="up"><a href="../${ERROS}">Todos os códigos</a></p>
<h1><code>${codigo}</code> ${mensagem}</h1>
${page.notice === undefined ? undefined : html`<p class="notice">${linkReplacement(page.notice, error)}</p>\n`}${
  isOld
    ? undefined
    : html`<p class="status"><b>HTTP ${page.http}.</b>${isUnusual ? badge(error) : undefined} ${page.retry}</p>\n`
}<h2>O que significa</h2>
<p>${allowBreaks(error.significado)}</p>
<h2>Como resolver</h2>
<p>${allowBreaks(error.comoResolver)}</p>
${isOld ? undefined : html`<h2>A quem diz respeito</h2>\n<p>${page.reach}</p>\n`}${fields(page)}${examples(page, error)}${
  nacional === undefined ? undefined : html`<h2>Em outros sistemas</h2>\n<p>${nacional}</p>\n`
}
<p class="origin">Origem: ${error.origem}.</p>
<nav class="around" aria-label="Antes e depois">${neighbour(ERRORS[place - 1], 'prev')}${neighbour(ERRORS[place + 1], 'next')}</nav>`,
    `${ERROS_PATH}/${codigo}`,
  );
}

function linkReplacement(text: string, { substituidoPor }: PublicError): Inserted {
  if (substituidoPor === undefined) return text;
  const [before, after] = text.split(substituidoPor);
  return [before, html`<a href="${substituidoPor}">${substituidoPor}</a>`, after];
}

function neighbour(error: PublicError | undefined, rel: 'prev' | 'next'): Html | undefined {
  if (error === undefined) return undefined;
  return html`<a rel="${rel}" href="${error.codigo}"><code>${error.codigo}</code> <span>${error.mensagem}</span></a>`;
}

function fields({ fields }: ErrorPage): Html | undefined {
  if (fields.length === 0) return undefined;
  return html`<h2>Onde</h2>
<ul class="paths">
${fields.map(
  ({ path, campo }) =>
    html`<li><code>${allowBreaks(path)}</code>${campo === undefined ? undefined : html`<span>em JSON <code>${allowBreaks(campo)}</code></span>`}</li>\n`,
)}</ul>
`;
}

function examples({ cases }: ErrorPage, { pedidos, status }: PublicError): Html | undefined {
  if (cases.length === 0 && pedidos.length === 0) return undefined;
  return html`<section id="exemplos">
<h2>Exemplos</h2>
${pedidos.map((pedido) => renderRequest(pedido, status !== 'aviso'))}${cases.map((one) => example(one, cases.length > 1))}</section>
`;
}

/** A refused and an accepted request, for a code that no part of a DPS can show. */
function renderRequest({ titulo, recusado, aceito }: Pedido, refuses: boolean): Html {
  return html`${titulo === undefined ? undefined : html`<p><b>${titulo}.</b></p>\n`}${figure(
    refuses ? 'rejected' : 'remarked',
    html`<pre tabindex="0"><code>${recusado}</code></pre>\n`,
  )}${figure('accepted', html`<pre tabindex="0"><code>${aceito}</code></pre>\n`)}`;
}

const CAPTIONS = { rejected: 'Recusado', remarked: 'Aceito, com aviso', accepted: 'Aceito' } as const;

function figure(kind: keyof typeof CAPTIONS, content: Html): Html {
  return html`<figure class="${kind}">
<figcaption>${CAPTIONS[kind]}</figcaption>
${content}</figure>
`;
}

function example(one: Case, isOneOfMany: boolean): Html {
  const { at, title, why, mend, alcance, expected, rejected, refuses, accepted } = one;
  const place = at === undefined ? 'Na estrutura do documento' : html`Em <code>${allowBreaks(at)}</code>`;
  return html`${isOneOfMany ? html`<h3>${place}</h3>\n` : undefined}${
    title === undefined ? undefined : html`<p><b>${title}.</b></p>\n`
  }${why === undefined ? undefined : html`<p>${allowBreaks(why)}</p>\n`}${
    mend === undefined ? undefined : html`<p>Como resolver: ${allowBreaks(mend)}</p>\n`
  }${alcance === undefined ? undefined : html`<p class="reach">${ALCANCE_DA_REGRA[alcance]}</p>\n`}${
    expected === undefined ? undefined : html`<p>Esperado: ${expected}.</p>\n`
  }${rejected.map(({ sample, answers }) =>
    figure(
      refuses ? 'rejected' : 'remarked',
      html`${bodies(sample)}<ul class="answers">\n${answers.map(answer)}</ul>\n`,
    ),
  )}${rejected.length === 0 ? html`<p>${WITHOUT_REJECTED}</p>\n` : undefined}${accepted.map((sample) =>
    figure('accepted', bodies(sample)),
  )}`;
}

function answer({ codigo, xpath, campo, mensagem }: Answer): Html {
  const named = campo === undefined ? undefined : html`<code>${allowBreaks(campo)}</code>`;
  return html`<li><b>${codigo}</b> ${mensagem} <code>${allowBreaks(xpath)}</code>${named}</li>\n`;
}

/** An example in XML and in JSON, side by side if the page is wide enough. */
function bodies({ xml, json }: Sample): Html {
  return html`<div class="bodies">
${body('XML', xml)}${body('JSON', json)}</div>
`;
}

function body(form: 'XML' | 'JSON', fragment: Fragment | undefined): Html | undefined {
  if (fragment === undefined) return undefined;
  const lines = fragment.map(({ text, marked }, place) => {
    const bare = text.trimStart();
    const indent = text.slice(0, text.length - bare.length);
    const end = place === fragment.length - 1 ? '' : '\n';
    return marked ? html`${indent}<mark>${bare}</mark>${end}` : html`${text}${end}`;
  });
  return html`<div><small>${form}</small><pre tabindex="0"><code>${lines}</code></pre></div>\n`;
}

const table = once(makeTable);
let lastTable: { readonly site: string; readonly text: string } | undefined;

/** The table for programs, with page addresses under the reader's own address of the service. */
export async function errorsJsonText(site: string): Promise<string> {
  const entries = await table();
  if (lastTable?.site !== site) {
    const lines = entries.map((entry) => JSON.stringify({ ...entry, doc_url: `${site}${entry.doc_url}` }));
    lastTable = { site, text: `[${lines.join(',\n')}]\n` };
  }
  return lastTable.text;
}

/** Longest time that making the table may delay other requests. */
const TURN_MS = 10;

/** The law judges every example while the table is made, which takes a while: other requests are served in between. */
async function makeTable(): Promise<readonly ErrorJson[]> {
  const entries: ErrorJson[] = [];
  let began = performance.now();
  for (const error of ERRORS) {
    entries.push(errorJson(error, ERROS_PATH));
    if (performance.now() - began < TURN_MS) continue;
    await new Promise(setImmediate);
    began = performance.now();
  }
  return entries;
}

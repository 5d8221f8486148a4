/**
 * The pages that a person reads in a browser: the start page, the index of the codes and one page a code. Each is
 * whole in itself, without scripts; the links between the pages of the codes are relative, so that they hold behind
 * any address. What a page says is decided in `../../fiscal/errors`.
 */
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { type Case, type ErrorPage, type Fragment, pageOf } from '../../fiscal/errors/page.ts';
import { ERRORS, errorOf, type PublicError } from '../../fiscal/errors.ts';
import { WITHOUT_REJECTED } from '../../fiscal/errors-markdown.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { ERROS_PATH } from './envelope.ts';
import { ROUTES } from './routes.ts';

/** Last segment of the path of the index, which is where its links begin. */
const ERROS = ERROS_PATH.slice(ERROS_PATH.lastIndexOf('/') + 1);

/** Text that is HTML already. */
type Html = { readonly html: string };

type Inserted = string | Html | readonly Inserted[] | undefined;

/** Escapes what is inserted, unless it is HTML. */
function html(strings: TemplateStringsArray, ...inserted: readonly Inserted[]): Html {
  return { html: strings.reduce((text, part, place) => text + markup(inserted[place - 1]) + part) };
}

function markup(inserted: Inserted): string {
  if (inserted === undefined) return '';
  if (typeof inserted === 'string') return inserted.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
  return 'html' in inserted ? inserted.html : inserted.map(markup).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

let index: string | undefined;
const pages = new Map<string, string>();

/** The table of all codes, with a link to each. */
export function errorIndexPage(): string {
  index ??= indexOf();
  return index;
}

/** The page of a code; undefined when there is no such code. */
export function errorPage(codigo: string): string | undefined {
  const error = errorOf(codigo);
  if (error === undefined) return undefined;
  let text = pages.get(codigo);
  if (text === undefined) {
    text = written(error);
    pages.set(codigo, text);
  }
  return text;
}

/** The start page. `site`: the address of the service as the reader knows it, without a slash at its end. */
export function homePage(site: string): string {
  const routes = ROUTES.filter(({ deprecated }) => !deprecated);
  return document(
    'Emissor de NFS-e',
    html`
<h1>Emissor de NFS-e</h1>
<p class="lead">Recebe a DPS do leiaute nacional 1.01 e responde com a NFS-e e a sua chave de acesso.</p>

<h2>Experimente</h2>
<p>O ambiente de integração não pede certificado nem cadastro, e o que se emite nele não tem valor fiscal.</p>
<pre><code>curl -H 'Content-Type: application/xml' \\
  --data-binary @dps.xml \\
  ${site}/${SANDBOX_SLUG}/api/v1/nfse/v101</code></pre>

<h2>Endereços</h2>
<p>O primeiro segmento é o município; <code>${SANDBOX_SLUG}</code> é o ambiente de integração.</p>
<ul class="routes">
${routes.map(({ method, path, summary }) => html`<li><code><b>${method}</b> ${breakable(`/{municipio}${path.replace(/:(\w+)/g, '{$1}')}`)}</code><span>${summary}</span></li>\n`)}</ul>

<h2>Documentação</h2>
<ul class="links">
<li><a href="${site}${ERROS_PATH}">Códigos de erro</a>: o que cada um significa, como resolver, exemplos.</li>
<li><a href="${site}/health/live">/health/live</a>: o processo responde.</li>
<li><a href="${site}/health/ready">/health/ready</a>: o serviço pode atender.</li>
</ul>`,
  );
}

function indexOf(): string {
  const short = ERRORS.filter(({ codigo }) => codigo.length === 4);
  const long = ERRORS.filter(({ codigo }) => codigo.length > 4);
  return document(
    'Códigos de erro',
    html`
<h1>Códigos de erro</h1>
<p class="lead">Cada código que uma resposta pode trazer: o que significa, como resolver e, quando ele diz respeito à DPS,
um trecho recusado e um aceito.</p>
<p>Decida pelo status HTTP e pelo código: o texto das mensagens pode mudar, o sentido de um código não. Uma resposta traz
todos os erros da etapa que recusou; o primeiro está no cabeçalho do envelope.</p>
<h2>Códigos do serviço</h2>
${listOf(short)}
<h2>Códigos na numeração nacional, e os da assinatura em JSON</h2>
${listOf(long)}`,
  );
}

function listOf(errors: readonly PublicError[]): Html {
  return html`<ul class="codes">
${errors.map(
  (error) =>
    html`<li${error.situacao === 'enviado' ? undefined : html` class="quiet"`}><a href="${ERROS}/${error.codigo}"><code>${error.codigo}</code> <span>${error.mensagem}</span></a> <small>${statusLabel(error)}</small></li>\n`,
)}</ul>`;
}

function statusLabel({ status, situacao }: PublicError): string {
  if (situacao === 'substituido') return 'antigo';
  if (situacao === 'reservado') return 'reservado';
  return status === 'aviso' ? 'aviso' : `HTTP ${status}`;
}

function written(error: PublicError): string {
  const { codigo, mensagem, nacional, situacao } = error;
  const page = pageOf(error);
  const place = ERRORS.indexOf(error);
  return document(
    `${codigo}: ${mensagem}`,
    html`
<nav><a href="../${ERROS}">Todos os códigos</a></nav>
<h1><code>${codigo}</code> ${mensagem}</h1>
${page.notice === undefined ? undefined : html`<p class="notice">${linked(page.notice, error)}</p>\n`}${
  situacao === 'substituido' ? undefined : html`<p class="status"><b>HTTP ${page.http}.</b> ${page.retry}</p>\n`
}<h2>O que significa</h2>
<p>${breakable(error.significado)}</p>
<h2>Como resolver</h2>
<p>${breakable(error.comoResolver)}</p>
${fields(page)}${examples(page)}${nacional === undefined ? undefined : html`<h2>Em outros sistemas</h2>\n<p>${nacional}</p>\n`}
<p class="origin">Origem: ${error.origem}.</p>
<nav class="around">${neighbour(ERRORS[place - 1], 'prev')}${neighbour(ERRORS[place + 1], 'next')}</nav>`,
  );
}

function linked(text: string, { substituidoPor }: PublicError): Inserted {
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
${fields.map((path) => html`<li><code>${breakable(path)}</code></li>\n`)}</ul>
`;
}

function examples({ cases }: ErrorPage): Html | undefined {
  if (cases.length === 0) return undefined;
  return html`<section id="exemplos">
<h2>Exemplos</h2>
${cases.map((one) => example(one, cases.length > 1))}</section>
`;
}

function example({ at, why, expected, rejected, accepted }: Case, isOneOfMany: boolean): Html {
  const place = at === undefined ? 'Na estrutura do documento' : html`Em <code>${breakable(at)}</code>`;
  return html`${isOneOfMany ? html`<h3>${place}</h3>\n` : undefined}${
    why === undefined ? undefined : html`<p>${why}</p>\n`
  }${expected === undefined ? undefined : html`<p>Esperado: ${expected}.</p>\n`}${rejected.map(
    ({ fragment, answers }) => html`<figure class="rejected">
<figcaption>Recusado</figcaption>
${xml(fragment)}
<ul class="answers">
${answers.map(answer)}</ul>
</figure>
`,
  )}${rejected.length === 0 ? html`<p>${WITHOUT_REJECTED}</p>\n` : undefined}${accepted.map(
    (fragment) => html`<figure class="accepted">
<figcaption>Aceito</figcaption>
${xml(fragment)}
</figure>
`,
  )}`;
}

function answer({ codigo, xpath, mensagem }: Fault): Html {
  return html`<li><b>${codigo}</b> ${mensagem} <code>${breakable(xpath)}</code></li>\n`;
}

function xml(fragment: Fragment): Html {
  const lines = fragment.map(({ text, marked }, place) => {
    const bare = text.trimStart();
    const indent = text.slice(0, text.length - bare.length);
    const end = place === fragment.length - 1 ? '' : '\n';
    return marked ? html`${indent}<mark>${bare}</mark>${end}` : html`${text}${end}`;
  });
  return html`<pre><code>${lines}</code></pre>`;
}

/** A path, or a text with long names in it, that may break on a narrow screen where a slash or a low line stands. */
function breakable(text: string): Inserted {
  return text.split(/(?<=[/_])/).flatMap((part, place) => (place === 0 ? [part] : [html`<wbr>`, part]));
}

function document(title: string, main: Html): string {
  return html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>${main}
</main>
</body>
</html>
`.html;
}

const STYLE = `
:root { --text: #1c2024; --quiet: #5f6b76; --line: #d9dfe5; --paper: #fff; --sheet: #f5f7f9; --link: #0b5cad;
  --bad: #b3261e; --good: #1e7a3c; --mark: #ffe9a8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ec; --quiet: #9aa6b2; --line: #37414b; --paper: #14181c; --sheet: #1d2328; --link: #7db8f5;
    --bad: #ff8a80; --good: #6fcf8f; --mark: #5c4a12; }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .75rem 0 1rem; text-wrap: balance; }
h1 code { display: block; color: var(--quiet); font-size: 1rem; font-weight: 400; margin-bottom: .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
p, ul { margin: 0 0 .75rem; }
a { color: var(--link); text-underline-offset: .15em; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .9em; }
pre { background: var(--sheet); border: 1px solid var(--line); border-radius: .375rem; margin: 0; padding: .75rem 1rem;
  overflow-x: auto; line-height: 1.5; }
pre code { font-size: .85rem; }
mark { background: var(--mark); color: inherit; border-radius: .2rem; padding: .1rem .2rem; margin: 0 -.2rem; }
nav { font-size: .95rem; }
.lead { font-size: 1.1rem; }
.notice { border-left: .25rem solid var(--link); background: var(--sheet); padding: .6rem 1rem; }
.status b { white-space: nowrap; }
.origin { color: var(--quiet); font-size: .9rem; border-top: 1px solid var(--line); margin-top: 2rem; padding-top: .75rem; }
.around { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.around a { flex: 1 1 14rem; border: 1px solid var(--line); border-radius: .375rem; padding: .6rem .9rem;
  text-decoration: none; }
.around a[rel=next] { text-align: right; }
.around code, .around span { display: block; }
.around span { color: var(--text); font-size: .9rem; }
.paths, .links { padding-left: 1.2rem; }
.codes, .routes, .answers { list-style: none; padding: 0; }
.codes li { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between;
  border-top: 1px solid var(--line); }
.codes a { display: grid; grid-template-columns: 4.5rem 1fr; gap: .25rem .75rem; flex: 1; padding: .45rem 0;
  align-items: baseline; text-decoration: none; }
.codes a span { color: var(--text); }
.codes a:hover span, .around a:hover span { text-decoration: underline; }
.codes small { color: var(--quiet); white-space: nowrap; }
.codes .quiet a span { color: var(--quiet); }
.routes li { border-top: 1px solid var(--line); padding: .5rem 0; }
.routes code, .routes span { display: block; }
.routes span { color: var(--quiet); }
figure { margin: 0 0 1.25rem; padding-left: .9rem; border-left: .25rem solid var(--line); }
figcaption { font-weight: 600; margin-bottom: .35rem; }
.rejected { border-color: var(--bad); }
.rejected figcaption, .answers b { color: var(--bad); }
.accepted { border-color: var(--good); }
.accepted figcaption { color: var(--good); }
.answers { margin: .5rem 0 0; }
.answers li + li { margin-top: .5rem; }
.answers code { display: block; color: var(--quiet); }
@media (max-width: 32rem) {
  main { padding: 1rem 1rem 3rem; }
  h1 { font-size: 1.35rem; }
  .codes a { display: block; }
  .codes a span { display: block; }
  pre { padding: .6rem .75rem; }
}
@media print { body { background: #fff; color: #000; } .around, nav { display: none; } }
`;

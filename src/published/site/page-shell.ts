/**
 * The shell of every page: escaped text, the frame of the document, its style, and the policy of a browser for it. A page of the
 * documentation has one script, a file of this service; all content is there without it.
 */
import { createHash } from 'node:crypto';
import { COLOURS, declareColours } from './palette.ts';
import { SITE_STYLE } from './style.ts';

/** Text that is HTML already. */
export type Html = { readonly html: string };

export type Inserted = string | Html | readonly Inserted[] | undefined;

/** A template whose insertions are escaped, unless they are HTML. */
export function html(strings: TemplateStringsArray, ...inserted: readonly Inserted[]): Html {
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

/**
 * A path, or a text with long names, that may break on a narrow screen. It breaks after a slash, an underscore or a dot inside a name, and
 * never inside a number (`07.02.02`, `01/10/2026`).
 */
export function allowBreaks(text: string): Inserted {
  return text
    .split(/(?<=[/_.])(?<!\d[/.](?=\d))(?=[\w{])/)
    .flatMap((part, place) => (place === 0 ? [part] : [html`<wbr>`, part]));
}

export type Ways = {
  /** True: the service has filtered the list of the page. */
  readonly searching?: boolean;
  /** Further elements of the head. */
  readonly head?: Html | undefined;
  /** The bar above the text. */
  readonly bar?: Html | undefined;
  /** Present for a documentation page: HTML before and after its text, in the style of those pages, and its script. */
  readonly site?: { readonly before: Html; readonly after: Html; readonly script: string };
};

/** A whole page. */
export function document(title: string, main: Html, { searching = false, head, bar, site }: Ways = {}): string {
  const classes = [...(searching ? ['searching'] : []), ...(site === undefined ? [] : ['site'])].join(' ');
  return html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}<style>${{ html: STYLE }}</style>${site && html`\n<style>${{ html: SITE_STYLE }}</style>\n<script type="module" src="${site.script}"></script>`}
</head>
<body${classes === '' ? undefined : html` class="${classes}"`}>
${bar}${site?.before}<main${site && html` id="conteudo" tabindex="-1"`}>${main}
</main>
${site?.after}</body>
</html>
`.html;
}

const STYLE = `
${declareColours(COLOURS)}
* { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
body > .barra { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; padding: .6rem 1.25rem; border-bottom: 1px solid var(--line);
  background: var(--bar, var(--sheet)); color: var(--on-bar, var(--text)); }
.barra .brasao { height: 2.5rem; width: auto; max-width: 7.5rem; }
body > main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; overflow-wrap: break-word; }
main > p, main > section > p, main > ul, .codes, .notice { max-width: 46rem; }
[hidden] { display: none !important; }
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
small { font-size: .8rem; }
.status small, .codes small { border: 1px solid var(--line); border-radius: 1rem; padding: .05rem .55rem; color: var(--quiet);
  white-space: nowrap; font-family: system-ui, sans-serif; }
.codes small { white-space: normal; max-width: 10rem; border-radius: .8rem; }
.status small.national, .codes small.national { color: var(--link); border-color: currentColor; }
.status small.remark, .codes small.remark { color: var(--warn); border-color: currentColor; }
.search { display: flex; gap: .5rem; max-width: 46rem; margin: 1rem 0 .5rem; }
.search input { flex: 1; min-width: 0; font: inherit; color: inherit; background: var(--paper); padding: .5rem .75rem;
  border: 1px solid var(--edge); border-radius: .375rem; }
.search button { font: inherit; color: inherit; background: var(--sheet); padding: .5rem .9rem; cursor: pointer;
  border: 1px solid var(--edge); border-radius: .375rem; }
:focus-visible { outline: .15rem solid var(--link); outline-offset: .1rem; }
#achados { min-height: 1.55em; color: var(--quiet); margin: 0; }
.groups { display: flex; flex-wrap: wrap; gap: .4rem; }
.groups a { border: 1px solid var(--line); border-radius: 1rem; padding: .15rem .7rem; text-decoration: none; }
.searching .groups, .searching .reading { display: none; }
.bodies { display: grid; gap: .5rem .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
.bodies > div { min-width: 0; }
.bodies small { color: var(--quiet); }
.reach { color: var(--quiet); }
.lead { font-size: 1.1rem; }
.situacao { border-left: .3rem solid var(--link); background: var(--sheet); padding: .6rem 1rem; }
.situacao.bom { border-color: var(--good); }
.situacao.erro { border-color: var(--bad); }
.situacao.aviso { border-color: var(--warn); }
.nota div { display: grid; grid-template-columns: minmax(7rem, 14rem) minmax(0, 1fr); gap: 1rem; padding: .3rem 0; border-bottom: 1px solid var(--line); }
.nota dt { color: var(--quiet); }
.nota dd { margin: 0; overflow-wrap: anywhere; }
.consulta input { width: 100%; max-width: 34rem; font: inherit; color: inherit; background: var(--paper); padding: .5rem .75rem;
  border: 1px solid var(--edge); border-radius: .375rem; }
.consulta fieldset { border: 1px solid var(--line); border-radius: .375rem; margin: 0 0 1rem; max-width: 36rem; }
.consulta button { font: inherit; color: inherit; background: var(--sheet); padding: .5rem .9rem; cursor: pointer;
  border: 1px solid var(--edge); border-radius: .375rem; }
.agir code { overflow-wrap: anywhere; }
.notice { border-left: .25rem solid var(--link); background: var(--sheet); padding: .6rem 1rem; }
.origin { color: var(--quiet); font-size: .9rem; border-top: 1px solid var(--line); margin-top: 2rem; padding-top: .75rem; }
.around { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.around a { flex: 1 1 14rem; border: 1px solid var(--line); border-radius: .375rem; padding: .6rem .9rem;
  text-decoration: none; }
.around a[rel=next] { text-align: right; }
.around code, .around span { display: block; }
.around span { color: var(--text); font-size: .9rem; }
.paths span { display: block; color: var(--quiet); font-size: .9rem; }
.paths, .links { padding-left: 1.2rem; }
.codes, .routes, .answers { list-style: none; padding: 0; }
.codes li { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between;
  border-top: 1px solid var(--line); }
.codes a { display: grid; grid-template-columns: 4.5rem 1fr; gap: .25rem .75rem; flex: 1; padding: .45rem 0;
  align-items: baseline; text-decoration: none; }
.codes a span { color: var(--text); }
.codes a:hover span, .around a:hover span { text-decoration: underline; }
.codes .quiet a span { color: var(--quiet); }
.routes li { border-top: 1px solid var(--line); padding: .5rem 0; }
.routes code, .routes span { display: block; }
.routes span { color: var(--quiet); }
figure { margin: 0 0 1.25rem; padding-left: .9rem; border-left: .25rem solid var(--line); }
figcaption { font-weight: 600; margin-bottom: .35rem; }
.rejected { border-color: var(--bad); }
.rejected figcaption, .answers b { color: var(--bad); }
.remarked { border-color: var(--warn); }
.remarked figcaption, .remarked .answers b { color: var(--warn); }
.accepted { border-color: var(--good); }
.accepted figcaption { color: var(--good); }
.answers { margin: .5rem 0 0; }
.answers li + li { margin-top: .5rem; }
.answers code { display: block; color: var(--quiet); }
@media (max-width: 32rem) {
  body > main { padding: 1rem 1rem 3rem; }
  h1 { font-size: 1.35rem; }
  .groups { flex-wrap: nowrap; overflow-x: auto; margin: 0 -1rem; padding: .15rem 1rem .5rem; }
  .groups a { flex: none; }
  .nota div { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: .75rem; }
  .codes a { display: block; }
  .codes a span { display: block; }
  pre { padding: .6rem .75rem; }
}
@media print {
  :root { --text: #000; --quiet: #444; --line: #bbb; --paper: #fff; --sheet: #fff; --link: #000; }
  body { background: #fff; color: #000; }
  .around, .agir, nav { display: none; }
  .nota div { break-inside: avoid; }
}
`;

export function digestOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The styles of the documentation pages, as a policy admits them. */
export const STYLE_DIGESTS = `${digestOf(STYLE)} ${digestOf(SITE_STYLE)}`;

/**
 * The policy allows the style of the pages, and this service's script and icon. The script and the search form contact this service alone.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${STYLE_DIGESTS}`,
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The frame of every page of the console: the bar, the menu of a municipality, and the message that is shown once. */

import { type Marca, markHead, markName } from '../../published/site/marca.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { formTokenOf, type Visitor } from '../../subjects/contas/entrada.ts';
import { mayAs, type Papel } from '../world/papeis.ts';
import { assetPath } from './assets.ts';
import { notice, tokenField } from './fields.ts';
import { type Here, MENU } from './menu.ts';
import { type PageShown, pathIn } from './visit.ts';

type Around = {
  readonly visitor: Visitor | undefined;
  /** Municipality of the address. */
  readonly slug: string | undefined;
  /** Its mark; undefined: the visitor does not work for it. */
  readonly marca: Marca | undefined;
  readonly recado: string | undefined;
};

/** A whole page as HTML. `around` undefined: the visitor is unknown. */
export function framePage({ title, main, here }: PageShown, around: Around | undefined): string {
  const { visitor, slug, marca, recado }: Partial<Around> = around ?? {};
  const isInside = visitor?.sessao.etapa === 'inteira';
  const papel = slug === undefined ? undefined : visitor?.conta.papeis[slug];
  return html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content='{"allowEval":false,"includeIndicatorStyles":false,"selfRequestsOnly":true}'>
<title>${title} · NFS-e${slug === undefined || papel === undefined ? undefined : ` ${slug}`}</title>
${marca?.brasao === undefined ? html`<link rel="icon" href="data:,">\n` : undefined}${marca && markHead(marca)}<link rel="stylesheet" href="${assetPath('painel.css')}">
<script src="${assetPath('htmx.js')}" defer></script>
<script src="${assetPath('painel.js')}" defer></script>
</head>
<body>
<a class="salto" href="#conteudo">Ir ao conteúdo</a>
${isInside ? bar(visitor, slug, marca) : html`<header class="barra"><span class="marca">NFS-e</span> <span class="ao-lado">${help()}</span></header>\n`}${papel === undefined || !isInside ? undefined : menu(slug!, papel, here)}<main id="conteudo" tabindex="-1">
<h1>${title}</h1>
${recado === undefined ? undefined : notice('bom', recado)}${main}
</main>
</body>
</html>
`.html;
}

/** Address of the help. */
export const AJUDA_PATH = '/ajuda';

/** The help opens beside a form that is half written. */
const help = (): Html => html`<a href="${AJUDA_PATH}" target="_blank">Ajuda</a>`;

function bar(visitor: Visitor, slug: string | undefined, marca: Marca | undefined): Html {
  const { conta } = visitor;
  const others = Object.keys(conta.papeis).filter((one) => one !== slug);
  return html`<header class="barra"><a class="marca" href="/">NFS-e</a> ${marca && markName(marca)}
${others.length === 0 ? undefined : html`<a href="/municipios">${slug === undefined ? 'Municípios' : 'Trocar de município'}</a>`}
<span class="ao-lado">${help()}</span> <span class="quem"><a href="/conta">${conta.nome}</a></span>
<form method="post" action="/sair">${tokenField(formTokenOf(visitor))}<button class="simples">Sair</button></form></header>
`;
}

function menu(slug: string, papel: Papel, here: Here | undefined): Html {
  const seen = MENU.filter((entry) => mayAs(papel, entry.papel));
  const list = html`<ul>
${seen.map(
  (entry) =>
    html`<li><a href="${pathIn(slug, entry.path)}"${entry.here === here ? html` aria-current="page"` : undefined}>${entry.name}</a></li>\n`,
)}</ul>`;
  const place = MENU.find((entry) => entry.here === here)?.name;
  // A narrow screen shows the second one: a list that opens without scripts, under the name of the present page.
  return html`<nav class="menu" aria-label="Páginas do município">${list}</nav>
<nav class="menu dobrado" aria-label="Páginas do município"><details><summary>Menu${place && html`: <b>${place}</b>`}</summary>
${list}</details></nav>
`;
}

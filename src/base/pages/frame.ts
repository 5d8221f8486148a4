/** The frame of every page of the console: the bar, the menu of a municipality, and the message that is shown once. */

import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
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
  readonly recado: string | undefined;
};

/** A whole page as HTML. `around` undefined: the visitor is unknown. */
export function framePage({ title, main, here }: PageShown, around: Around | undefined): string {
  const { visitor, slug, recado } = around ?? { visitor: undefined, slug: undefined, recado: undefined };
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
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath('painel.css')}">
<script src="${assetPath('htmx.js')}" defer></script>
<script src="${assetPath('painel.js')}" defer></script>
</head>
<body>
<a class="salto" href="#conteudo">Ir ao conteúdo</a>
${isInside ? bar(visitor, slug) : html`<header class="barra"><span class="marca">NFS-e</span></header>\n`}${papel === undefined || !isInside ? undefined : menu(slug!, papel, here)}<main id="conteudo" tabindex="-1">
<h1>${title}</h1>
${recado === undefined ? undefined : notice('bom', recado)}${main}
</main>
</body>
</html>
`.html;
}

function bar(visitor: Visitor, slug: string | undefined): Html {
  const { conta } = visitor;
  const others = Object.keys(conta.papeis).filter((one) => one !== slug);
  const where: Inserted = slug !== undefined && Object.hasOwn(conta.papeis, slug) ? html`<b>${slug}</b>` : undefined;
  return html`<header class="barra"><a class="marca" href="/">NFS-e</a> ${where}
${others.length === 0 ? undefined : html`<a href="/municipios">${slug === undefined ? 'Municípios' : 'Trocar de município'}</a>`}
<span class="quem"><a href="/conta">${conta.nome}</a></span>
<form method="post" action="/sair">${tokenField(formTokenOf(visitor))}<button class="simples">Sair</button></form></header>
`;
}

function menu(slug: string, papel: Papel, here: Here | undefined): Html {
  const seen = MENU.filter((entry) => mayAs(papel, entry.papel));
  return html`<nav class="menu" aria-label="Páginas do município"><ul>
${seen.map(
  (entry) =>
    html`<li><a href="${pathIn(slug, entry.path)}"${entry.here === here ? html` aria-current="page"` : undefined}>${entry.name}</a></li>\n`,
)}</ul></nav>
`;
}

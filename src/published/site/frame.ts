/**
 * The frame of every page of the documentation, of the codes and of the reference: a bar with the search before the text, a menu of all
 * pages after it. The list of pages stands here, in their reading order.
 */

import { SEARCH_MAX } from '../errors/search.ts';
import {
  BUSCA_PATH,
  CONFERIR_PATH,
  DOCS_PATH,
  ENSAIO_PATH,
  ERROS_PATH,
  MARKDOWN_END,
  MIGRAR_PATH,
  REFERENCE_PATH,
  SCRIPT_PATH,
} from '../paths.ts';
import { document, type Html, html, type Ways } from './page-shell.ts';

export type Page = {
  /** Last segment of its address; empty for the first page. */
  readonly slug: string;
  /** File in `docs/site`. */
  readonly file: string;
  readonly group: (typeof GROUPS)[number];
  /** Name in the menu, because the title may be too long. */
  readonly short: string;
};

export const GROUPS = ['Começar', 'Integrar', 'Consultar', 'Município'] as const;

/** The pages in their reading order. */
export const PAGES: readonly Page[] = [
  { slug: '', file: 'inicio.md', group: 'Começar', short: 'Início' },
  { slug: 'primeira-nota', file: 'primeira-nota.md', group: 'Começar', short: 'Primeira nota' },
  { slug: 'assinatura', file: 'assinatura.md', group: 'Começar', short: 'Assinatura' },
  { slug: 'surpresas', file: 'surpresas.md', group: 'Começar', short: 'O que surpreende' },
  { slug: 'ensaios', file: 'ensaios.md', group: 'Começar', short: 'Integração e ensaios' },
  { slug: 'ambientes', file: 'ambientes.md', group: 'Começar', short: 'Um ambiente próprio' },
  { slug: 'desfechos', file: 'desfechos.md', group: 'Integrar', short: 'Os desfechos de um envio' },
  { slug: 'cliente', file: 'cliente.md', group: 'Integrar', short: 'Cliente em TypeScript' },
  { slug: 'clientes', file: 'clientes.md', group: 'Integrar', short: 'PHP, Python, Java e C#' },
  { slug: 'estados', file: 'estados.md', group: 'Integrar', short: 'Estados e consulta' },
  { slug: 'identidade', file: 'identidade.md', group: 'Integrar', short: 'Tokens' },
  { slug: 'nacional', file: 'nacional.md', group: 'Integrar', short: 'Porta nacional' },
  { slug: 'listas', file: 'listas.md', group: 'Integrar', short: 'Listas de notas e eventos' },
  { slug: 'seguir', file: 'seguir.md', group: 'Integrar', short: 'Seguir o que muda' },
  { slug: 'webhooks', file: 'webhooks.md', group: 'Integrar', short: 'Avisos (webhooks)' },
  { slug: 'danfse', file: 'danfse.md', group: 'Integrar', short: 'O PDF da nota (DANFSe)' },
  { slug: 'eventos', file: 'eventos.md', group: 'Integrar', short: 'Eventos' },
  { slug: 'calendario-ibs-cbs', file: 'calendario-ibs-cbs.md', group: 'Integrar', short: 'Calendário IBS/CBS' },
  { slug: 'catalogos', file: 'catalogos.md', group: 'Integrar', short: 'Catálogos' },
  { slug: 'diferencas', file: 'diferencas.md', group: 'Integrar', short: 'Diferenças da API nacional' },
  { slug: 'soap', file: 'soap.md', group: 'Integrar', short: 'Serviço SOAP legado' },
  { slug: 'leiaute', file: 'leiaute.md', group: 'Consultar', short: 'Leiaute e corpo JSON' },
  { slug: 'soap-tabelas', file: 'soap-tabelas.md', group: 'Consultar', short: 'Tabelas do serviço SOAP' },
  { slug: 'glossario', file: 'glossario.md', group: 'Consultar', short: 'Glossário' },
  { slug: 'limites', file: 'limites.md', group: 'Consultar', short: 'Limites' },
  { slug: 'ataques', file: 'ataques.md', group: 'Consultar', short: 'Ataques para ensaiar' },
  { slug: 'seguranca', file: 'seguranca.md', group: 'Consultar', short: 'Segurança' },
  { slug: 'confiabilidade', file: 'confiabilidade.md', group: 'Consultar', short: 'Confiabilidade' },
  { slug: 'suites', file: 'suites.md', group: 'Consultar', short: 'Suítes públicas' },
  { slug: 'mudancas-da-api', file: 'mudancas-da-api.md', group: 'Consultar', short: 'Mudanças da API' },
  { slug: 'mudancas', file: 'mudancas.md', group: 'Consultar', short: 'Versões' },
  { slug: 'prefeitura', file: 'prefeitura.md', group: 'Município', short: 'Para a prefeitura' },
  { slug: 'producao', file: 'producao.md', group: 'Município', short: 'Pôr em produção' },
  { slug: 'instalar', file: 'instalar.md', group: 'Município', short: 'O arquivo do serviço' },
  { slug: 'operacao', file: 'operacao.md', group: 'Município', short: 'Operação' },
  { slug: 'vigiar', file: 'vigiar.md', group: 'Município', short: 'Vigiar' },
  { slug: 'quadro', file: 'quadro.md', group: 'Município', short: 'O quadro' },
  { slug: 'painel', file: 'painel.md', group: 'Município', short: 'O console' },
  { slug: 'planilhas', file: 'planilhas.md', group: 'Município', short: 'As planilhas de notas' },
  { slug: 'copias', file: 'copias.md', group: 'Município', short: 'Cópias e restauração' },
  { slug: 'disponibilidade', file: 'disponibilidade.md', group: 'Município', short: 'Alta disponibilidade' },
  { slug: 'crescer', file: 'crescer.md', group: 'Município', short: 'Crescer' },
  { slug: 'rastros', file: 'rastros.md', group: 'Município', short: 'Rastreamento' },
  { slug: 'evidencia', file: 'evidencia.md', group: 'Município', short: 'As provas de uma nota' },
  { slug: 'titulares', file: 'titulares.md', group: 'Município', short: 'Guarda e dados de pessoas' },
  { slug: 'arquivo', file: 'arquivo.md', group: 'Município', short: 'Arquivo dos meses' },
  { slug: 'auditoria', file: 'auditoria.md', group: 'Município', short: 'Auditoria' },
];

/** Pages without a file in `docs/site`. `about`: one sentence. */
export const BESIDE: readonly (Pick<Page, 'group'> & {
  readonly path: string;
  readonly title: string;
  readonly about: string;
})[] = [
  {
    path: REFERENCE_PATH,
    title: 'Referência da API',
    group: 'Consultar',
    about: 'Cada endereço da API, com parâmetros, respostas e exemplos, para experimentar no navegador.',
  },
  {
    path: ERROS_PATH,
    title: 'Códigos de erro',
    group: 'Consultar',
    about: 'Cada código que uma resposta pode trazer: o que significa, como resolver, a quem diz respeito.',
  },
  {
    path: ENSAIO_PATH,
    title: 'Fazer um ambiente',
    group: 'Começar',
    about:
      'Faça um município de ensaio, com prestadores prontos, um relógio que você adianta, e as suas últimas requisições.',
  },
  {
    path: CONFERIR_PATH,
    title: 'Conferir um documento',
    group: 'Integrar',
    about: 'Cole uma DPS, em XML ou JSON, e veja cada erro no seu lugar, com o texto já corrigido.',
  },
  {
    path: MIGRAR_PATH,
    title: 'Vir da API nacional',
    group: 'Integrar',
    about: 'Cole o que se envia à API nacional, e veja o que muda e o documento já mudado.',
  },
];

/** Address of a page. */
export function addressOf(slug: string): string {
  return slug === '' ? DOCS_PATH : `${DOCS_PATH}/${slug}`;
}

const WITH_MARKDOWN: ReadonlySet<string> = new Set([...PAGES.map(({ slug }) => addressOf(slug)), ERROS_PATH]);

/** The address of a page as Markdown; undefined: it has no such form. */
export function markdownOf(path: string): string | undefined {
  return WITH_MARKDOWN.has(path) || path.startsWith(`${ERROS_PATH}/E`) ? `${path}${MARKDOWN_END}` : undefined;
}

/** The relative link from one address of the service to another. */
export function relativePath(from: string, to: string): string {
  const folder = from.slice(0, from.lastIndexOf('/') + 1);
  if (to.startsWith(folder)) return to.slice(folder.length);
  return `${'../'.repeat(folder.split('/').length - 2)}${to.slice(1)}`;
}

/** `asked`: the search query. */
type Around = Omit<Ways, 'site'> & { readonly asked?: string };

/** A page with the bar before its text and the menu after it. */
export function framePage(title: string, main: Html, here: string, { asked = '', head, ...ways }: Around = {}): string {
  const markdown = markdownOf(here);
  const before = html`<a class="skip" href="#conteudo">Ir ao conteúdo</a>
<header class="bar"><a href="${relativePath(here, DOCS_PATH)}">Documentação da NFS-e</a> <a class="to-menu" href="#paginas">Páginas</a>
${searchForm(relativePath(here, BUSCA_PATH), asked, 'Buscar na documentação', 'Buscar na documentação')}</header>
`;
  const after = html`<nav class="menu" id="paginas" aria-label="Páginas da documentação">
${GROUPS.map(
  (group) => html`<h2>${group}</h2>
<ul>
${PAGES.filter((page) => page.group === group).map((page) => item(page.short, addressOf(page.slug), here, currentAt(addressOf(page.slug), here)))}${BESIDE.filter(
  (one) => one.group === group,
).map(({ path, title }) => item(title, path, here, currentAt(path, here)))}</ul>
`,
)}</nav>
`;
  return document(`${title} · NFS-e`, main, {
    ...ways,
    head: html`${head}${markdown && html`<link rel="alternate" type="text/markdown" href="${relativePath(here, markdown)}">\n`}`,
    site: { before, after, script: relativePath(here, SCRIPT_PATH) },
  });
}

/** A page is current at its own address; the index of codes is also current at one of its codes. */
function currentAt(path: string, here: string): 'page' | 'true' | undefined {
  if (path === here) return 'page';
  return path === ERROS_PATH && here.startsWith(`${ERROS_PATH}/`) ? 'true' : undefined;
}

export function searchForm(action: string, asked: string, label: string, placeholder: string): Html {
  return html`<form class="search" role="search" method="get" action="${action}">
<input type="search" name="q" value="${asked}" maxlength="${String(SEARCH_MAX)}" aria-label="${label}" placeholder="${placeholder}" autocomplete="off">
<button>Buscar</button>
</form>`;
}

function item(name: string, path: string, here: string, current: 'page' | 'true' | undefined): Html {
  const mark = current && html` aria-current="${current}"`;
  return html`<li><a href="${relativePath(here, path)}"${mark}>${name}</a></li>\n`;
}

/**
 * The reference of the API, for trying it in a browser: Swagger UI, served from its package, over our own description. Nothing is fetched
 * from another site; a script translates its buttons and headings into Portuguese.
 *
 * This is the only file that knows the package, of which it serves two files.
 */

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { once } from '../../fiscal/catalogs/table.ts';
import { ownOf } from '../../fiscal/own.ts';
import { OPENAPI_PATH, REFERENCE_PATH } from '../paths.ts';
import { framePage } from './frame.ts';
import { digestOf, type Html, html, STYLE_DIGESTS } from './page-shell.ts';
import { COLOURS } from './palette.ts';

/** Last segment of the path: the links of the page are relative to it. */
const HERE = REFERENCE_PATH.slice(REFERENCE_PATH.lastIndexOf('/') + 1);

type ReferenceFile = { readonly type: string; readonly load: () => Promise<Buffer> };

const FILES: Readonly<Record<string, ReferenceFile>> = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8', load: () => readPackageFile('swagger-ui.css') },
  'swagger-ui-bundle.js': {
    type: 'text/javascript; charset=utf-8',
    load: () => readPackageFile('swagger-ui-bundle.js'),
  },
  'referencia.js': { type: 'text/javascript; charset=utf-8', load: async () => Buffer.from(script()) },
};

function readPackageFile(name: string): Promise<Buffer> {
  return readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));
}

/** A file that the page needs; undefined: no file has this name. */
export function referenceFile(name: string): ReferenceFile | undefined {
  return ownOf(FILES, name);
}

export const referencePage = once(() =>
  framePage(
    'Referência da API',
    html`
<h1>Referência da API</h1>
<p>A mesma descrição, para programas, está em <a href="..${OPENAPI_PATH}">openapi.json</a>.</p>
<noscript><p class="notice">Para experimentar os endereços no navegador esta página precisa de JavaScript. O que eles fazem está também em <a href="../docs#os-endereços">Os endereços</a>.</p></noscript>
<div id="referencia"></div>`,
    REFERENCE_PATH,
    {
      head: html`<link rel="icon" href="data:,">
<link rel="stylesheet" href="${HERE}/swagger-ui.css">
<style>${{ html: STYLE } satisfies Html}</style>
<script src="${HERE}/swagger-ui-bundle.js" defer></script>
<script src="${HERE}/referencia.js" defer></script>
`,
    },
  ),
);

const STYLE = `
.site > main:has(#referencia) { max-width: none; padding-left: 1rem; padding-right: 1rem; }
.site > main > h1, .site > main > h1 + p { padding-left: 20px; }
.swagger-ui, .swagger-ui .scheme-container { background: none !important; box-shadow: none; }
.swagger-ui .info hgroup.main { display: none; }
.swagger-ui .parameter__name.required::after { content: "obrigatório"; }
.swagger-ui .loading-container .loading::after { content: "carregando"; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .info { margin: 20px 0; }
.swagger-ui .opblock .opblock-summary-path, .swagger-ui .opblock .opblock-summary-path__deprecated { min-width: 0; }
.swagger-ui .pdf { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; margin: .5rem 0; }
.swagger-ui .pdf a { color: var(--link); font-size: 1rem; overflow-wrap: anywhere; }
.swagger-ui [hidden] { display: none; }
.swagger-ui :focus-visible { outline: .15rem solid ${COLOURS.link[0]}; outline-offset: .1rem; }
html.dark-mode .swagger-ui .pdf { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; margin: .5rem 0; }
.swagger-ui .pdf a { color: var(--link); font-size: 1rem; overflow-wrap: anywhere; }
.swagger-ui [hidden] { display: none; }
.swagger-ui :focus-visible { outline-color: ${COLOURS.link[1]}; }
@media (max-width: 40rem) {
  .site > main > h1, .site > main > h1 + p, .swagger-ui .wrapper, .swagger-ui .scheme-container .schemes.wrapper { padding: 0; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap; min-width: 0; }
  .swagger-ui .opblock .opblock-summary-path { flex: 1 1 60%; overflow-wrap: anywhere; }
  .swagger-ui .opblock .opblock-summary-description { flex: 1 1 100%; padding: .25rem .5rem; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex: 1 1 100%; padding: 0; }
  .swagger-ui .opblock-body { overflow-x: auto; }
  .swagger-ui table.parameters tr, .swagger-ui table.parameters td { display: block; width: auto; }
  .swagger-ui table.parameters thead { display: none; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; }
  .swagger-ui .scheme-container .schemes { flex-direction: column; gap: 1rem; }
  .swagger-ui .servers > label { margin-right: 0; }
  .swagger-ui .servers .computed-url code { margin: 0; overflow-wrap: anywhere; }
  .swagger-ui .response-controls { flex-wrap: wrap; gap: .5rem; }
  .swagger-ui .response-controls select { min-width: 11rem; max-width: 100%; }
}
`;

/** Heading or button of the viewer, and its Portuguese text. */
const WORDS: Readonly<Record<string, string>> = {
  Servers: 'Endereço',
  'Computed URL:': 'Endereço completo:',
  'Server variables': 'Partes do endereço',
  Authorize: 'Certificado',
  'Available authorizations': 'Como o serviço sabe quem pergunta',
  Close: 'Fechar',
  Parameters: 'Parâmetros',
  'No parameters': 'Sem parâmetros',
  Name: 'Nome',
  Description: 'Descrição',
  'Request body': 'Corpo da requisição',
  Responses: 'Respostas',
  Response: 'Resposta',
  Code: 'Status',
  Details: 'Pormenores',
  Links: 'Ligações',
  'No links': '–',
  'Media type': 'Tipo do corpo',
  'Media Type': 'Tipo do corpo',
  'Request content type': 'Tipo do corpo da requisição',
  Examples: 'Exemplos',
  'Examples: ': 'Exemplos: ',
  'Example Description': 'O exemplo',
  'Example Value': 'Exemplo',
  Example: 'Exemplo',
  Schema: 'Esquema',
  Schemas: 'Esquemas',
  Model: 'Modelo',
  'Edit Value': 'Editar',
  'Try it out': 'Experimentar',
  'Try it out ': 'Experimentar',
  Cancel: 'Cancelar',
  Reset: 'Restaurar',
  Execute: 'Enviar',
  Clear: 'Limpar',
  'Server response': 'O que o serviço respondeu',
  'Request URL': 'Endereço da requisição',
  Request: 'Requisição',
  Snippets: 'Em linha de comando',
  'Response body': 'Corpo da resposta',
  'Response headers': 'Cabeçalhos da resposta',
  'Request duration': 'Duração',
  Headers: 'Cabeçalhos',
  'Headers:': 'Cabeçalhos:',
  Type: 'Tipo',
  Download: 'Baixar',
  Loading: 'Carregando',
  'Loading...': 'Carregando…',
  'Default value': 'Valor padrão',
  'Default value : ': 'Valor padrão: ',
  'Available values': 'Valores',
  'Send empty value': 'Enviar vazio',
  required: 'obrigatório',
  '* required': '* obrigatório',
  ' required': ' obrigatório',
  deprecated: 'antigo',
  Deprecated: 'Antigo',
  'Warning: Deprecated': 'Endereço antigo, mantido para quem já o usa',
  'Expand all': 'Abrir tudo',
  'Collapse all': 'Fechar tudo',
  Required: 'Obrigatório',
  'Find out more': 'Saiba mais',
  'Filter by tag or path': 'Filtrar por assunto ou endereço',
  'Controls ': 'Vale para o cabeçalho ',
  ' header.': '.',
  'can be read-only': 'só na resposta',
  Undocumented: 'Sem descrição',
  'Failed to fetch.': 'A requisição não chegou ao serviço.',
  'Possible Reasons:': 'O que pode ter sido:',
};

/** The script that shows the description in the reader's colour scheme, and translates the words of the viewer into Portuguese. */
function script(): string {
  return `(() => {
  const words = new Map(Object.entries(${JSON.stringify(WORDS)}));
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', shade);
  shade();
  // What the description itself says, and what one writes, stays as it is.
  const isOurs = (node) => (node.nodeType === 1 ? node : node.parentElement)?.closest('.renderedMarkdown, .markdown, pre, code, textarea, input, option') !== null;
  const translate = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = root.nodeType === 3 ? root : texts.nextNode(); node; node = texts.nextNode()) {
      const word = words.get(node.nodeValue) ?? words.get(node.nodeValue.trim());
      if (word !== undefined && node.nodeValue !== word && !isOurs(node)) node.nodeValue = word;
    }
    if (root.nodeType !== 1) return;
    for (const element of [root, ...root.querySelectorAll('[placeholder], [aria-label], [title]')]) {
      for (const name of ['placeholder', 'aria-label', 'title']) {
        const word = words.get(element.getAttribute(name) ?? '');
        if (word !== undefined) element.setAttribute(name, word);
      }
    }
  };
  // The viewer writes a PDF as text: in its place stand a link to it and one to what has come. Its own nodes are hidden, never removed.
  const pdfs = new Map();
  const keepPdf = (response) => {
    if (/^application\\/pdf\\b/.test(response.headers?.['content-type'] ?? '') && response.data instanceof Blob) {
      const [, name = 'nota.pdf'] = /filename="([^"]+)"/.exec(response.headers['content-disposition'] ?? '') ?? [];
      pdfs.set(response.url, { name, copy: URL.createObjectURL(response.data) });
    }
    return response;
  };
  const link = (text, attributes) => Object.assign(document.createElement('a'), { textContent: text, ...attributes });
  const showPdf = (cell) => {
    const said = cell.querySelector('p.i');
    const url = cell.closest('.responses-inner')?.querySelector('.request-url pre')?.textContent;
    const pdf = said === null ? undefined : pdfs.get(url);
    for (const one of cell.querySelectorAll('p.i, .highlight-code')) one.hidden = pdf !== undefined;
    const shown = cell.querySelector('.pdf');
    if (shown !== null && shown.dataset.copy === pdf?.copy) return;
    shown?.remove();
    if (pdf === undefined) return;
    const links = Object.assign(document.createElement('p'), { className: 'pdf' });
    links.dataset.copy = pdf.copy;
    links.append(
      link('Abrir o PDF', { href: url, target: '_blank', rel: 'noopener' }),
      link('Baixar ' + pdf.name, { href: pdf.copy, download: pdf.name }),
    );
    cell.prepend(links);
  };
  const place = document.getElementById('referencia');
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === 'characterData') translate(target);
      else for (const node of addedNodes) translate(node);
    }
    for (const cell of place.querySelectorAll('.live-responses-table tbody .response-col_description')) showPdf(cell);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
  SwaggerUIBundle({
    url: '..${OPENAPI_PATH}',
    domNode: place,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    validatorUrl: null,
    requestSnippetsEnabled: true,
    responseInterceptor: keepPdf,
  });
})();
`;
}

/** `site`: address of the service, which receives the requests of a reader. */
export function referencePolicy(site: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${STYLE_DIGESTS} ${digestOf(STYLE)}`,
    "img-src 'self' data:",
    `connect-src 'self' ${site}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

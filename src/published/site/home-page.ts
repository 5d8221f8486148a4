import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';
import { VERSOES } from '../../fiscal/layout/layouts.ts';
import { writeBraces } from '../markdown.ts';
import type { DescribedRoute } from '../openapi/described.ts';
import { DOCS_PATH, ERROS_JSON_PATH, ERROS_PATH, OPENAPI_PATH, PORTAL, REFERENCE_PATH } from '../paths.ts';
import { allowBreaks, document, html } from './page-shell.ts';

/** The start page. `site`: the address of the service for the reader, without a slash at its end. */
export function homePage(site: string, routes: readonly DescribedRoute[]): string {
  const current = routes.filter(({ deprecated }) => !deprecated);
  return document(
    'Emissor de NFS-e',
    html`
<h1>Emissor de NFS-e</h1>
<p class="lead">Recebe a DPS do leiaute nacional ${VERSOES} e responde com a NFS-e e a sua chave de acesso.</p>

<h2>Recebeu uma nota?</h2>
<p>O QR Code impresso nela abre a página que diz se ela vale. Sem ele, consulte pela chave ou pelo número no endereço do município que a emitiu, <code>${site}/{municipio}/</code>,
ou no <a href="${PORTAL}" rel="noreferrer">portal nacional da NFS-e</a>.</p>

<h2>Experimente</h2>
<p>O ambiente de integração não pede certificado nem cadastro, e o que se emite nele não tem valor fiscal.</p>
<pre tabindex="0"><code>curl -H 'Content-Type: application/xml' \\
  --data-binary @dps.xml \\
  ${site}/${SANDBOX_SLUG}/api/v1/nfse/v101</code></pre>

<h2>Endereços</h2>
<p>O primeiro segmento é o município; <code>${SANDBOX_SLUG}</code> é o ambiente de integração.</p>
<ul class="routes">
${current.map(({ method, path, summary }) => html`<li><code><b>${method}</b> ${allowBreaks(`/{municipio}${writeBraces(path)}`)}</code><span>${summary}</span></li>\n`)}</ul>

<h2>Documentação</h2>
<ul class="links">
<li><a href="${site}${DOCS_PATH}">Documentação</a>: a primeira nota, assinatura, estados, eventos, ensaios, operação.</li>
<li><a href="${site}${REFERENCE_PATH}">Referência da API</a>: cada endereço, com parâmetros, respostas e exemplos, para experimentar no navegador.</li>
<li><a href="${site}${OPENAPI_PATH}">openapi.json</a>: a mesma descrição, para programas (OpenAPI 3.1).</li>
<li><a href="${site}${ERROS_PATH}">Códigos de erro</a>: o que cada um significa, como resolver, exemplos.</li>
<li><a href="${site}${ERROS_JSON_PATH}">Códigos de erro em JSON</a>: a mesma tabela, para programas.</li>
<li><a href="${site}/health/live">/health/live</a>: o processo responde.</li>
<li><a href="${site}/health/ready">/health/ready</a>: o serviço pode atender.</li>
</ul>`,
  );
}

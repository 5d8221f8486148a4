/** The page of a migrated document of the national API: its unwrapping, its changes, and the result to send. */

import { DIFERENCAS } from '../../published/api-nacional.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { annotated } from './annotated.page.ts';
import type { Assunto, Migracao, Migrado, NaoMigrado } from './migrar-dps.ts';

/** `errosAt`: address of the page of a code. */
export function migrated({ documentos, alem }: Migracao, errosAt: (codigo: string) => string): Html {
  const more =
    alem === 0
      ? undefined
      : html`<p class="recado">O lote tem mais ${alem === 1 ? 'um documento, que não é mostrado' : `${alem} documentos, que não são mostrados`} aqui; <code>nfse migrar-dps</code> os mostra.</p>\n`;
  return html`${more}${documentos.map((one, place) => documentShown(one, errosAt, documentos.length > 1 ? place + 1 : undefined))}`;
}

/** `place`: the position in a lot, from 1. */
function documentShown(
  one: Migrado | NaoMigrado,
  errosAt: (codigo: string) => string,
  place: number | undefined,
): Html {
  const head = place === undefined ? undefined : html`<h2>Documento ${String(place)}</h2>\n`;
  const steps = one.embrulho.map(({ diz }) => html`<li>${diz}</li>\n`);
  const opened = steps.length === 0 ? undefined : html`<p>Aberto passo a passo:</p>\n<ol>\n${steps}</ol>\n`;
  if ('problema' in one) return html`${head}${opened}<div class="recado erro" role="alert">${one.problema}</div>\n`;
  const { conferido, mudancas, corrigidas, destino } = one;
  return html`${head}${opened}${outcome(conferido.faults.length)}${
    mudancas.length === 0
      ? undefined
      : html`<h2>O que muda neste documento</h2>
<dl class="nota">
${mudancas.map(({ assunto, diz }) => html`<div><dt>${DIFERENCAS[assunto].titulo}</dt><dd>${diz}</dd></div>\n`)}</dl>
`
  }${
    corrigidas.length === 0
      ? undefined
      : html`<h2>Corrigido, porque só há um jeito</h2>
<ul>
${corrigidas.map(({ codigo, mensagem }) => html`<li><a href="${errosAt(codigo)}">${codigo}</a> ${mensagem}</li>\n`)}</ul>
`
  }<h2>Para assinar e enviar</h2>
<p>Por <code>POST /{municipio}${destino}</code>; nos ensaios <code>{municipio}</code> é <code>integracao</code>. Em produção, assine-o antes.</p>
<div class="campo"><label for="${idOf('mudado', place)}">Documento mudado</label>
<textarea id="${idOf('mudado', place)}" class="texto" rows="12" readonly spellcheck="false">
${conferido.texto}</textarea></div>
<h2>Como ele fica</h2>
${annotated({ ...conferido, embrulho: [], corrigido: undefined }, errosAt)}`;
}

const idOf = (name: string, place: number | undefined): string => (place === undefined ? name : `${name}-${place}`);

function outcome(left: number): Html {
  return left === 0
    ? html`<div class="recado bom" role="status">Com o que muda, o serviço o aceita. Nada foi emitido.</div>\n`
    : html`<div class="recado erro" role="alert">Mudado o que é certo, ${left === 1 ? 'resta 1 erro, que pede' : `restam ${left} erros, que pedem`} decisão sua.</div>\n`;
}

/** The table of all differences. `more`: address of the page with details. */
export function differences(more: string): Html {
  const rows = Object.keys(DIFERENCAS).map((assunto) => DIFERENCAS[assunto as Assunto]);
  return html`<h2>Na API nacional, e aqui</h2>
<p><a href="${more}">Diferenças da API nacional</a> diz mais: as tags que não se enviam, as regras e os valores. No terminal, o mesmo que esta página faz <code>nfse migrar-dps ARQUIVO --saida ARQUIVO</code>.</p>
<div class="table wide" tabindex="0" role="group" aria-label="Na API nacional, e aqui"><table>
<thead><tr><th scope="col">O quê</th><th scope="col">Na API nacional</th><th scope="col">Aqui</th></tr></thead>
<tbody>
${rows.map(({ titulo, nacional, aqui }) => html`<tr><td>${titulo}</td><td data-l="Na API nacional">${inCode(nacional)}</td><td data-l="Aqui">${inCode(aqui)}</td></tr>\n`)}</tbody></table></div>
`;
}

/** Text between grave accents becomes code. */
function inCode(text: string): Inserted {
  return text.split('`').map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part));
}

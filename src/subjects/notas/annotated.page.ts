/** The page of a checked document: its kind, each line with its faults, the corrected text, and its amounts. */
import type { Fault } from '../../fiscal/fault.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import type { Conferido, NaoReconhecido } from './conferir.ts';

/** Lines around a fault in a long document; a short one is shown whole. */
const AROUND = 3;
const WHOLE_MAX = 400;
/** Characters shown of a long line around a fault: a document may be all on a few lines. */
const LINE_MAX = 600;
const BESIDE = 120;

/** `errosAt`: address of the page of a code. */
export function annotated(found: Conferido | NaoReconhecido, errosAt: (codigo: string) => string): Html {
  if ('problema' in found) return html`<div class="recado erro" role="alert">${found.problema}</div>\n`;
  const { especie, embrulho, texto, faults, avisos, naoConferido, corrigido } = found;
  const wrapped = embrulho.length === 0 ? '' : `, depois de aberto: ${embrulho.join(', ')}`;
  const count = faults.length === 1 ? 'Há 1 erro' : `Há ${faults.length} erros`;
  return html`<p>Isto é ${especie === 'pedido de evento em JSON' ? 'um' : 'uma'} ${especie}${wrapped}.</p>
${
  faults.length === 0
    ? html`<div class="recado bom" role="status">Nenhum erro. Nada foi emitido.</div>\n`
    : html`<div class="recado erro" role="alert">${count}. Cada um está no seu lugar, com o que o conserta.</div>\n`
}${naoConferido.map((sentence) => html`<p class="quieto">${sentence}</p>\n`)}${mended(corrigido)}${lines(texto, faults, errosAt)}${remarks(avisos, errosAt)}${amounts(found)}`;
}

function mended(corrigido: Conferido['corrigido']): Inserted {
  if (corrigido === undefined) return undefined;
  const { texto, correcoes, restam, eraAssinado } = corrigido;
  const left =
    restam.length === 0
      ? 'Assim não há mais erro.'
      : `Depois disso ${restam.length === 1 ? 'resta 1 erro, que pede' : `restam ${restam.length} erros, que pedem`} decisão sua: ${[...new Set(restam.map(({ codigo }) => codigo))].join(', ')}.`;
  return html`<h2>Tudo corrigido</h2>
<p>${correcoes === 1 ? 'Foi aplicada 1 correção' : `Foram aplicadas ${correcoes} correções`}, das que são certas. ${left}${
    eraAssinado ? ' O documento era assinado: corrigido, precisa ser assinado de novo.' : ''
  }</p>
<div class="campo"><label for="corrigido">Texto corrigido</label>
<textarea id="corrigido" rows="12" readonly spellcheck="false">
${texto}</textarea></div>
`;
}

function lines(texto: string, faults: readonly Fault[], errosAt: (codigo: string) => string): Html {
  const all = texto.split(/\r\n|\r|\n/);
  const placed = Map.groupBy(
    faults.filter(({ linha }) => linha !== undefined && linha <= all.length),
    ({ linha }) => linha!,
  );
  const elsewhere = faults.filter(({ linha }) => linha === undefined || linha > all.length);
  const isShown = (linha: number): boolean =>
    all.length <= WHOLE_MAX || [...placed.keys()].some((one) => Math.abs(one - linha) <= AROUND);
  const shown: Html[] = [];
  let isGap = false;
  for (const [place, line] of all.entries()) {
    const linha = place + 1;
    if (!isShown(linha)) {
      if (!isGap) shown.push(html`<li class="salta" aria-hidden="true">…</li>\n`);
      isGap = true;
      continue;
    }
    isGap = false;
    const own = placed.get(linha) ?? [];
    const text = line.length <= LINE_MAX ? line : excerptOf(line, own);
    shown.push(
      html`<li${own.length > 0 ? html` class="com-erro"` : undefined} value="${String(linha)}"><code>${text}</code>${own.map((fault) => faultShown(fault, errosAt))}</li>\n`,
    );
  }
  return html`<h2>O documento, linha a linha</h2>
${elsewhere.map((fault) => faultShown(fault, errosAt))}<div class="tabela" tabindex="0" role="region" aria-label="O documento, linha a linha"><ol class="anotado">
${shown}</ol></div>
`;
}

/** A long line is cut to the text around its faults. */
function excerptOf(line: string, faults: readonly Fault[]): string {
  if (faults.length === 0) return `${line.slice(0, BESIDE)}…`;
  return faults
    .map(({ coluna = 1 }) => {
      const from = Math.max(0, coluna - 1 - BESIDE);
      return `${from === 0 ? '' : '…'}${line.slice(from, coluna - 1 + 2 * BESIDE)}…`;
    })
    .join(' ');
}

function faultShown(
  { codigo, mensagem, xpath, campo, encontrado, esperado, correcao }: Fault,
  errosAt: (codigo: string) => string,
): Html {
  const details: Inserted[] = [
    campo === undefined
      ? xpath === ''
        ? undefined
        : html`Em <code>${xpath}</code>. `
      : html`Campo <code>${campo}</code>. `,
    encontrado === undefined ? undefined : html`Veio <code>${encontrado}</code>. `,
    esperado === undefined ? undefined : html`Espera-se ${esperado}. `,
    correcao === undefined
      ? undefined
      : correcao === ''
        ? 'Correção: retire-o.'
        : html`Correção: <code>${correcao}</code>`,
  ];
  return html`<div class="falta"><a href="${errosAt(codigo)}">${codigo}</a> ${mensagem}<br><small>${details}</small></div>\n`;
}

function remarks(avisos: Conferido['avisos'], errosAt: (codigo: string) => string): Inserted {
  if (avisos.length === 0) return undefined;
  return html`<h2>Avisos</h2>
<p>Não impedem a emissão.</p>
<ul>${avisos.map(({ codigo, mensagem }) => html`<li><a href="${errosAt(codigo)}">${codigo}</a> ${mensagem}</li>\n`)}</ul>
`;
}

function amounts({ valores, calculo }: Conferido): Inserted {
  if (valores.length === 0) return undefined;
  const rows = (cells: readonly (readonly Inserted[])[]): Html =>
    html`${cells.map((row) => html`<tr>${row.map((cell, place) => html`<td${place === row.length - 1 ? html` class="num"` : undefined}>${cell}</td>`)}</tr>\n`)}`;
  return html`<h2>Valores que a nota teria</h2>
<div class="tabela" tabindex="0" role="region" aria-label="Valores"><table>
<thead><tr><th scope="col">Valor</th><th scope="col" class="num">R$ ou %</th></tr></thead>
<tbody>
${rows(valores)}</tbody></table></div>
<h2>O cálculo, passo a passo</h2>
<div class="tabela" tabindex="0" role="region" aria-label="Cálculo"><table>
<thead><tr><th scope="col">Campo</th><th scope="col">Como se chega a ele</th><th scope="col" class="num">Valor</th></tr></thead>
<tbody>
${rows(calculo.map(({ campo, formula, valor }) => [campo, formula, valor ?? 'não consta']))}</tbody></table></div>
`;
}

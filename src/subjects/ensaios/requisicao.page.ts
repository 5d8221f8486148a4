/** One of the last requests to a sandbox as a page: the request, the answer, the corrections, and the next step of its scenario. */

import { allowBreaks, type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { curlOf, spoken, statusMark } from './ensaio.page.ts';
import type { RequisicaoInteira } from './requisicoes.ts';

/** The next step after a note that a button issued. `base`: the first part of the sandbox's addresses. */
export type Depois = {
  /** `persona/cenario`. */
  readonly cenario: string;
  /** Type of the event. */
  readonly evento: string;
  /** Another note replaces it before the event. */
  readonly temSubstituta: boolean;
  /** The key of the note that this one replaces. */
  readonly substitui: string | undefined;
  readonly base: string;
};

type Answered = {
  readonly requisicao: RequisicaoInteira;
  readonly municipio: string;
  readonly back: string;
  readonly errosAt: (codigo: string) => string;
  readonly depois: Depois | undefined;
};

type Erro = {
  readonly codigo?: string;
  readonly mensagem?: string;
  readonly encontrado?: string;
  readonly esperado?: string;
  readonly correcao?: string;
  readonly xpath?: string;
  readonly campo?: string;
};

export function requisicaoPage({ requisicao, municipio, back, errosAt, depois }: Answered): Html {
  const { metodo, caminho, status, em, ms, id, resposta } = requisicao;
  const answer = parsed(resposta);
  const chave = status === 201 && typeof answer?.chave_acesso === 'string' ? answer.chave_acesso : undefined;
  return html`
<p class="up"><a href="${back}">${municipio}</a></p>
<h1><code>${metodo}</code> ${allowBreaks(caminho)}</h1>
<p class="recado ${status < 400 ? 'bom' : 'erro'}" role="status">${statusMark(status)} em ${String(ms)} ms, ${spoken(em, true)}. Requisição <code>${allowBreaks(id)}</code>.</p>
${toMend(errosIn(answer), errosAt)}${chave === undefined || depois === undefined ? undefined : after(depois, chave, back)}<h2>O que se enviou</h2>
${sent(requisicao)}
<h2>O que se respondeu</h2>
${resposta === null ? html`<p>${isForgotten(requisicao) ? FORGOTTEN : 'A resposta não é texto, ou é longa demais para se guardar.'}</p>` : source(answer === undefined ? resposta : JSON.stringify(answer, null, 2), 'O que se respondeu')}
`;
}

const FORGOTTEN = 'Já não se guarda: o ambiente guarda o das requisições mais novas.';

/** Neither its body nor its answer is still kept. */
function isForgotten({ corpo_bytes, resposta }: RequisicaoInteira): boolean {
  return corpo_bytes === null && resposta === null;
}

function sent(requisicao: RequisicaoInteira): Html {
  const { tipo, corpo, corpo_bytes } = requisicao;
  if (corpo !== null) return html`<p class="quiet">${tipo ?? ''}</p>${source(corpo, 'O que se enviou')}`;
  if (isForgotten(requisicao)) return html`<p>${FORGOTTEN}</p>`;
  if (corpo_bytes === null) return html`<p>Nenhum corpo se guardou: não veio, ou a recusa veio antes que se lesse.</p>`;
  return html`<p>${corpo_bytes === 0 ? 'Nenhum corpo.' : `Um corpo de ${corpo_bytes} bytes que não é texto.`}</p>`;
}

/** `back`: address of the sandbox's page. */
export function semRequisicao(back: string): Html {
  return html`
<h1>Esta requisição já não se guarda</h1>
<p>O ambiente guarda as últimas 200, até que se reinicie. <a href="${back}">Voltar ao ambiente</a>.</p>
`;
}

/** A text of any length in a scrollable box that the keyboard reaches. */
function source(text: string, called: string): Html {
  return html`<pre class="quebra alto" tabindex="0" role="region" aria-label="${called}"><code>${text}</code></pre>`;
}

function toMend(erros: readonly Erro[], errosAt: (codigo: string) => string): Inserted {
  if (erros.length === 0) return undefined;
  return html`<h2>O que mudar</h2>
<ol>
${erros.map(
  ({
    codigo = '',
    mensagem = '',
    encontrado,
    esperado,
    correcao,
    xpath,
    campo,
  }) => html`<li><a href="${errosAt(codigo)}">${codigo}</a> ${mensagem}${
    campo || xpath ? html` <code class="quiet">${allowBreaks((campo || xpath)!)}</code>` : undefined
  }${
    encontrado ? html`<br>Veio <code>${allowBreaks(encontrado)}</code>` : undefined
  }${esperado ? html`<br>Esperava-se: ${esperado}` : undefined}${correcao === undefined ? undefined : html`<pre class="quebra"><code>${correcao}</code></pre>`}</li>
`,
)}</ol>
`;
}

/** The next document of the scenario, as a button and as a command. */
function after({ cenario, evento, temSubstituta, substitui, base }: Depois, chave: string, back: string): Html {
  const from = `${base}/ambiente/personas/${cenario}`;
  if (temSubstituta && substitui === undefined) {
    return html`<h2>A nota que a substitui</h2>
<p>Emita-a, e depois se registra nesta o evento <code>${allowBreaks(evento)}</code>.</p>
<form method="post" action="${back}" class="conferir"><input type="hidden" name="acao" value="emitir"><input type="hidden" name="cenario" value="${cenario}"><input type="hidden" name="substitui" value="${chave}">
<p class="linha"><button name="forma" value="xml">Emitir a substituta em XML</button> <button name="forma" value="json">Em JSON</button></p></form>
<pre class="quebra"><code>${curlOf(`${from}?substitui=${chave}`, 'xml', `${base}/nfse/v101`)}</code></pre>
`;
  }
  const nota = substitui ?? chave;
  const substituta = substitui === undefined ? undefined : chave;
  const query = new URLSearchParams({ forma: 'evento', nota, ...(substituta && { substituta }) });
  return html`<h2>O evento</h2>
<p>O cenário segue com <code>${allowBreaks(evento)}</code> ${substituta === undefined ? 'nesta nota' : 'na nota que esta substitui'}.</p>
<form method="post" action="${back}" class="conferir"><input type="hidden" name="acao" value="evento"><input type="hidden" name="cenario" value="${cenario}"><input type="hidden" name="nota" value="${nota}"><input type="hidden" name="substituta" value="${substituta ?? ''}">
<p class="linha"><button>Registrar o evento</button></p></form>
<pre class="quebra"><code>${curlOf(`${from}?${query}`, 'json', `${base}/nfse/${nota}/eventos`)}</code></pre>
`;
}

type Answer = { readonly erros?: unknown; readonly chave_acesso?: unknown };

/** Undefined: the text is no JSON object. */
function parsed(text: string | null): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function errosIn(answer: Answer | undefined): readonly Erro[] {
  return Array.isArray(answer?.erros) ? (answer.erros as readonly Erro[]) : [];
}

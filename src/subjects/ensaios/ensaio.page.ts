/** A private sandbox as pages: its creation and its content. */

import { cutText } from '../../fiscal/fault.ts';
import { allowBreaks, type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import type { AmbientePublico } from './ambientes.ts';
import { type CadastroDaPagina, cadastros } from './cadastro.page.ts';
import type { CenarioPublico, PersonaPublica } from './personas.ts';
import type { RequisicaoPublica } from './requisicoes.ts';
import { type RigorPedido, rigor } from './rigor.page.ts';

/** The result of the last button. `rigor`: the settings that were asked for and refused. */
export type Feito = { readonly problema?: string | undefined; readonly rigor?: RigorPedido };

const problem = (problema: string | undefined): Inserted =>
  problema === undefined ? undefined : html`<div class="recado erro" role="alert">${problema}</div>\n`;

/** `ambiente`: the sandbox that somebody wants to open; `action`: target of the forms, by default the page itself. */
type Novo = Feito & { readonly ambiente?: string; readonly site: string; readonly action?: string };

export function novoPage({ problema, ambiente = '', site, action }: Novo): Html {
  const to = action && html` action="${action}"`;
  return html`
<h1>Um ambiente só seu</h1>
<p class="lead">Um município de ensaio com prestadores prontos, relógio que você adianta, e as suas últimas requisições com o que cada uma respondeu. Some em 30 dias,
ou quando você quiser. Nada do que se emite nele tem valor fiscal.</p>
${problem(problema)}<form method="post"${to} class="conferir">
<p><label for="nome">Nome, se quiser</label><br><input id="nome" name="nome" maxlength="60" autocomplete="off"></p>
<p><button>Fazer um ambiente</button></p>
</form>
<p>O mesmo por um comando, que responde também a chave do dono:</p>
<pre class="quebra"><code>curl -X POST ${site}/integracao/api/v1/ambientes</code></pre>
<h2 id="abrir">Abrir um que já tem</h2>
<form method="post"${to} class="conferir">
<p><label for="ambiente">Ambiente</label><br><input id="ambiente" name="ambiente" value="${ambiente}" placeholder="ensaio-k7m2qd" autocomplete="off" spellcheck="false" required></p>
<p><label for="chave">Chave do dono</label><br><input id="chave" name="chave" type="password" autocomplete="off" required></p>
<p><button>Abrir</button></p>
</form>
`;
}

type Shown = {
  readonly ambiente: AmbientePublico;
  readonly chave: string;
  readonly site: string;
  readonly cadastros: readonly CadastroDaPagina[];
  readonly personas: readonly PersonaPublica[];
  readonly requisicoes: readonly RequisicaoPublica[];
  readonly feito: Feito;
};

export function ambientePage({ ambiente, chave, site, personas, cadastros: all, requisicoes, feito }: Shown): Html {
  const { municipio, nome, expira_em } = ambiente;
  return html`
<h1>${nome ?? municipio}</h1>
${problem(feito.problema)}<p class="lead">Os endereços começam por <code>${allowBreaks(`${site}/${municipio}`)}</code>. Existe até ${spoken(expira_em)}.</p>
<details class="dobra"><summary>A chave do dono</summary>
<p>Quem a tem é o dono. Guarde-a: com ela se abre esta página em outro navegador, e nos endereços do ambiente ela vai em <code>Authorization: Bearer</code>. Os comandos
desta página a leem de uma variável:</p>
<pre class="quebra"><code>CHAVE=${chave}</code></pre></details>
${clock(ambiente)}${personasOf(personas, `${site}/${municipio}/api/v1`)}${rigor(ambiente, feito.rigor)}${cadastros(all, municipio)}${last(requisicoes, municipio)}<h2 id="fim">Começar de novo</h2>
<form method="post" class="conferir"><p><button name="acao" value="reiniciar">Reiniciar</button> tira tudo o que se emitiu e cadastrou, e deixa o ambiente como novo.</p></form>
<form method="post" class="conferir"><p><button name="acao" value="descartar">Jogar fora</button> tira o ambiente inteiro, agora.</p></form>
`;
}

function clock({ relogio, adiantado_s }: AmbientePublico): Html {
  const ahead = adiantado_s === 0 ? 'a hora de agora' : `${adiantado_s > 0 ? 'adiante' : 'atrás'} da hora de agora`;
  return html`<h2 id="relogio">O relógio</h2>
<p>Aqui são <b>${spoken(relogio)}</b> (${ahead}). O relógio corre, e só avança: com ele passam os prazos, as esperas e as datas da lei.</p>
<form method="post" class="conferir"><input type="hidden" name="acao" value="avancar">
<p class="linha"><span>Avançar</span> ${Object.entries(SPANS).map(([span, said]) => html`<button name="avancar" value="${span}">${said}</button> `)}</p></form>
<form method="post" class="conferir"><input type="hidden" name="acao" value="relogio">
<p class="linha"><label for="dia">Ou ir a</label> <input id="dia" name="dia" type="date" required> <label for="hora">às</label> <input id="hora" name="hora" type="time" value="23:55">
<button>Acertar</button></p></form>
`;
}

const SPANS: Readonly<Record<string, string>> = { '1h': '1 hora', '1d': '1 dia', '7d': '7 dias', '30d': '30 dias' };

/** `31/12/2026, 23:55`: a moment as people write it; seconds are optional. */
export function spoken(moment: string, seconds = false): string {
  const [, ano, mes, dia, hora, segundo] = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2})(:\d{2})/.exec(moment) ?? [];
  return ano === undefined ? moment : `${dia}/${mes}/${ano}, ${hora}${seconds ? segundo : ''}`;
}

/** The status of an answer, with a colour for success or failure. */
export function statusMark(status: number): Html {
  return html`<span class="marca ${status < 400 ? 'bom' : 'erro'}">${String(status)}</span>`;
}

function personasOf(personas: readonly PersonaPublica[], base: string): Html {
  return html`<h2 id="personas">Personas</h2>
<p>Prestadores prontos, com um documento para cada cenário. O botão o emite aqui, e mostra a requisição com a resposta; o comando faz o mesmo de onde você quiser.</p>
${personas.map((persona) => personaOf(persona, base))}`;
}

function personaOf(
  { id, titulo, historia, documento, razao_social, inscricao_municipal, cenarios }: PersonaPublica,
  base: string,
): Html {
  const count = cenarios.length === 1 ? '1 cenário' : `${cenarios.length} cenários`;
  return html`<details class="dobra" id="${id}"><summary>${titulo} <span class="quiet">${count}</span></summary>
<p>${historia}</p>
<p class="quiet">${razao_social}, ${documento}, inscrição municipal ${inscricao_municipal}</p>
${cenarios.map((cenario) => cenarioOf(cenario, `${id}/${cenario.id}`, base))}</details>
`;
}

function cenarioOf({ titulo, explica, evento, substituta }: CenarioPublico, named: string, base: string): Html {
  const then = substituta ? ' Depois de emitida, a página da requisição oferece a nota que a substitui.' : undefined;
  const event = html` Depois de emitida, a página da requisição oferece o evento <code>${allowBreaks(evento ?? '')}</code>.`;
  return html`<h3>${titulo}</h3>
<p>${explica}${then ?? (evento === null ? undefined : event)}</p>
<form method="post" class="conferir"><input type="hidden" name="acao" value="emitir"><input type="hidden" name="cenario" value="${named}">
<p class="linha"><button name="forma" value="xml">Emitir em XML</button> <button name="forma" value="json">Emitir em JSON</button></p></form>
<pre class="quebra"><code>${curlOf(`${base}/ambiente/personas/${named}`, 'xml', `${base}/nfse/v101`)}</code></pre>
`;
}

/** The command that fetches a document of a scenario and sends it. */
export function curlOf(from: string, tipo: 'xml' | 'json', to: string): string {
  return `curl -s -H "Authorization: Bearer $CHAVE" \\
  '${from}' |
curl -s -H 'Content-Type: application/${tipo}' --data-binary @- \\
  ${to}`;
}

/** A query may have any length; the page of the request shows it whole. */
const CAMINHO_SHOWN_MAX = 120;

function last(requisicoes: readonly RequisicaoPublica[], municipio: string): Html {
  if (requisicoes.length === 0) {
    return html`<h2 id="requisicoes">Últimas requisições</h2>
<p>Ainda nenhuma. O que se envia a <code>/${municipio}/api/v1/…</code> aparece aqui, com o corpo e a resposta.</p>
`;
  }
  const said = requisicoes.length === 1 ? 'Uma.' : `As últimas ${requisicoes.length}, da mais nova à mais antiga.`;
  return html`<h2 id="requisicoes">Últimas requisições</h2>
<p>${said}</p>
<div class="wide"><table class="ultimas">
<thead><tr><th scope="col">Status</th><th scope="col">Quando</th><th scope="col">Requisição</th></tr></thead>
<tbody>
${requisicoes.map(
  ({
    id,
    em,
    metodo,
    caminho,
    status,
  }) => html`<tr><td>${statusMark(status)}</td><td>${spoken(em, true)}</td><td><a href="${municipio}/requisicoes/${id}"><code>${metodo} ${allowBreaks(cutText(caminho.replace(`/${municipio}`, ''), CAMINHO_SHOWN_MAX))}</code></a></td></tr>
`,
)}</tbody></table></div>
`;
}

/** A sandbox of one's own as pages: how one is made, what there is in it, and one of its last requests. */
import type { AmbientePublico, PersonaPublica } from '../../flows/ambientes.ts';
import type { RequisicaoInteira, RequisicaoPublica } from '../../flows/ensaio-requisicoes.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';

/** What the last button came to. */
export type Feito = { readonly problema?: string };

const problem = (problema: string | undefined): Inserted =>
  problema === undefined ? undefined : html`<div class="recado erro" role="alert">${problema}</div>\n`;

/** `ambiente`: the name of one that somebody wants to open. */
export function novoPage({
  problema,
  site,
  ambiente = '',
}: Feito & { readonly site: string; readonly ambiente?: string }): Html {
  return html`
<h1>Um ambiente só seu</h1>
<p class="lead">Um município de ensaio com prestadores prontos, relógio que você adianta, e as suas últimas requisições com o que cada uma respondeu. Some em 30 dias,
ou quando você quiser. Nada do que se emite nele tem valor fiscal.</p>
${problem(problema)}<form method="post" class="conferir">
<p><label for="nome">Nome, se quiser</label> <input id="nome" name="nome" maxlength="60" autocomplete="off"></p>
<p><button>Fazer um ambiente</button></p>
</form>
<p>O mesmo por um comando, que responde também a chave do dono:</p>
<pre><code>curl -X POST ${site}/integracao/api/v1/ambientes</code></pre>
<h2>Abrir um que já tem</h2>
<form method="post" class="conferir">
<p><label for="ambiente">Ambiente</label> <input id="ambiente" name="ambiente" value="${ambiente}" placeholder="ensaio-k7m2qd" autocomplete="off" spellcheck="false" required></p>
<p><label for="chave">Chave do dono</label> <input id="chave" name="chave" type="password" autocomplete="off" required></p>
<p><button>Abrir</button></p>
</form>
`;
}

type Shown = {
  readonly ambiente: AmbientePublico;
  readonly chave: string;
  readonly site: string;
  readonly personas: readonly PersonaPublica[];
  readonly requisicoes: readonly RequisicaoPublica[];
  readonly feito: Feito;
};

export function ambientePage({ ambiente, chave, site, personas, requisicoes, feito }: Shown): Html {
  const { municipio, nome, expira_em } = ambiente;
  return html`
<h1>${nome ?? municipio}</h1>
${problem(feito.problema)}<p class="lead">Os endereços começam por <code>${site}/${municipio}</code>. Existe até ${spoken(expira_em)}.</p>
<details><summary>A chave do dono</summary>
<p>Vai em <code>Authorization: Bearer</code> nos endereços do ambiente. Guarde-a: quem a tem é o dono.</p>
<pre><code>${chave}</code></pre></details>
${clock(ambiente)}${personasOf(personas, { site, municipio })}${last(requisicoes, municipio)}<h2>Começar de novo</h2>
<form method="post" class="conferir"><p><button name="acao" value="reiniciar">Reiniciar</button> tira tudo o que se emitiu e cadastrou, e deixa o ambiente como novo.</p></form>
<form method="post" class="conferir"><p><button name="acao" value="descartar">Jogar fora</button> tira o ambiente inteiro, agora.</p></form>
`;
}

function clock({ relogio, adiantado_s }: AmbientePublico): Html {
  const ahead = adiantado_s === 0 ? 'a hora de agora' : `${adiantado_s > 0 ? 'adiante' : 'atrás'} da hora de agora`;
  return html`<h2>O relógio</h2>
<p>Aqui são <b>${spoken(relogio)}</b> (${ahead}). O relógio corre, e só avança: com ele passam os prazos, as esperas e as datas da lei.</p>
<form method="post" class="conferir"><input type="hidden" name="acao" value="avancar">
<p>Avançar ${['1h', '1d', '7d', '30d'].map((one) => html`<button name="avancar" value="${one}">${SPANS[one]}</button> `)}</p></form>
<form method="post" class="conferir"><input type="hidden" name="acao" value="relogio">
<p><label for="dia">Ou ir a</label> <input id="dia" name="dia" type="date" required> <label for="hora">às</label> <input id="hora" name="hora" type="time" value="23:55">
<button>Acertar</button></p></form>
`;
}

const SPANS: Readonly<Record<string, string>> = { '1h': '1 hora', '1d': '1 dia', '7d': '7 dias', '30d': '30 dias' };

/** `31/12/2026, 23:55`: the moment as people say it. */
function spoken(moment: string): string {
  const [, ano, mes, dia, hora] = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2})/.exec(moment) ?? [];
  return ano === undefined ? moment : `${dia}/${mes}/${ano}, ${hora}`;
}

function personasOf(
  personas: readonly PersonaPublica[],
  at: { readonly site: string; readonly municipio: string },
): Html {
  return html`<h2>Personas</h2>
<p>Prestadores prontos, com um documento para cada cenário. O botão o emite aqui, e mostra a requisição com a resposta; o comando faz o mesmo de onde você quiser.</p>
${personas.map(
  ({
    id,
    titulo,
    historia,
    documento,
    razao_social,
    inscricao_municipal,
    cenarios,
  }) => html`<details class="persona" id="${id}"><summary>${titulo}</summary>
<p>${historia}</p>
<p class="quieto">${razao_social}, ${documento}, inscrição municipal ${inscricao_municipal}</p>
${cenarios.map(
  (cenario) => html`<h3>${cenario.titulo}</h3>
<p>${cenario.explica}${cenario.evento === null ? '' : ` Depois se registra nela um evento: ${cenario.evento}.`}</p>
<form method="post" class="conferir"><input type="hidden" name="acao" value="emitir"><input type="hidden" name="cenario" value="${id}/${cenario.id}">
<p><button name="forma" value="xml">Emitir em XML</button> <button name="forma" value="json">Emitir em JSON</button></p></form>
<pre><code>${curlOf(at, `${id}/${cenario.id}`)}</code></pre>
`,
)}</details>
`,
)}`;
}

function curlOf({ site, municipio }: { readonly site: string; readonly municipio: string }, cenario: string): string {
  const base = `${site}/${municipio}/api/v1`;
  return `curl -s -H "Authorization: Bearer $CHAVE" ${base}/ambiente/personas/${cenario} | curl -s -H 'Content-Type: application/xml' --data-binary @- ${base}/nfse/v101`;
}

function last(requisicoes: readonly RequisicaoPublica[], municipio: string): Html {
  if (requisicoes.length === 0) {
    return html`<h2>Últimas requisições</h2>
<p>Ainda nenhuma. O que se envia a <code>/${municipio}/api/v1/…</code> aparece aqui, com o corpo e a resposta.</p>
`;
  }
  return html`<h2>Últimas requisições</h2>
<p>As últimas ${String(requisicoes.length)}, da mais nova à mais antiga.</p>
<div class="largo" tabindex="0" role="region" aria-label="Últimas requisições"><table>
<thead><tr><th scope="col">Quando</th><th scope="col">Status</th><th scope="col">Requisição</th></tr></thead>
<tbody>
${requisicoes.map(
  ({
    id,
    em,
    metodo,
    caminho,
    status,
  }) => html`<tr><td>${spoken(em)}</td><td>${String(status)}</td><td><a href="${municipio}/requisicoes/${id}"><code>${metodo} ${caminho}</code></a></td></tr>
`,
)}</tbody></table></div>
`;
}

type Answered = {
  readonly requisicao: RequisicaoInteira;
  readonly municipio: string;
  readonly back: string;
  readonly errosAt: (codigo: string) => string;
};

type Erro = {
  readonly codigo?: string;
  readonly mensagem?: string;
  readonly correcao?: string;
  readonly xpath?: string;
  readonly campo?: string;
};

export function requisicaoPage({ requisicao, municipio, back, errosAt }: Answered): Html {
  const { metodo, caminho, status, em, ms, id, tipo, corpo, corpo_bytes, resposta } = requisicao;
  const erros = errosIn(resposta);
  const isGood = status < 400;
  return html`
<p><a href="${back}">${municipio}</a></p>
<h1>${metodo} ${caminho}</h1>
<div class="recado ${isGood ? 'bom' : 'erro'}" role="status">${String(status)}, em ${String(ms)} ms. ${spoken(em)}. Requisição <code>${id}</code>.</div>
${
  erros.length === 0
    ? undefined
    : html`<h2>O que mudar</h2>
<ol>
${erros.map(
  ({
    codigo = '',
    mensagem = '',
    correcao,
    xpath,
    campo,
  }) => html`<li><a href="${errosAt(codigo)}">${codigo}</a> ${mensagem}${
    campo || xpath ? html` <span class="quieto">${campo ?? xpath}</span>` : undefined
  }${correcao === undefined ? undefined : html`<pre><code>${correcao}</code></pre>`}</li>
`,
)}</ol>
`
}<h2>O que se enviou</h2>
${corpo === null ? html`<p>${corpo_bytes === 0 ? 'Nenhum corpo.' : `Um corpo de ${corpo_bytes} bytes que não é texto.`}</p>` : html`<p class="quieto">${tipo ?? ''}</p><pre><code>${corpo}</code></pre>`}
<h2>O que se respondeu</h2>
${resposta === null ? html`<p>A resposta não é texto, ou é longa demais para se guardar.</p>` : html`<pre><code>${pretty(resposta)}</code></pre>`}
`;
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

function pretty(text: string): string {
  const value = parsed(text);
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : text;
}

function errosIn(resposta: string | null): readonly Erro[] {
  const value = parsed(resposta) as { readonly erros?: unknown } | null | undefined;
  return Array.isArray(value?.erros) ? (value.erros as readonly Erro[]) : [];
}

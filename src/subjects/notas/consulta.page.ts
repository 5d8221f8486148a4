/** The page of a note for its taker, and that of a municipality: the form for a note, and where a small provider issues. */
import { PORTAL } from '../../published/paths.ts';
import { type Marca, markHead, markName } from '../../published/site/marca.ts';
import { document, type Html, html, type Inserted, type Ways } from '../../published/site/page-shell.ts';
import type { NotaPublica, NumeroPedido } from './consulta-publica.ts';

const EMISSOR = 'https://www.nfse.gov.br/EmissorNacional';

/** The bar of a municipality above its pages. */
function frameBy(marca: Marca): Ways {
  return { head: markHead(marca), bar: html`<header class="barra">${markName(marca)}</header>\n` };
}

/** `temNumeros`: notes may be asked for by their number. `pedido`: the typed fields; `problema`: the fault of one. */
export type Balcao = {
  readonly marca: Marca;
  readonly temNumeros: boolean;
  readonly isEnsaio: boolean;
  readonly problema?: string | undefined;
  readonly pedido?: (NumeroPedido & { readonly chave: string }) | undefined;
};

export function balcaoPage({ marca, temNumeros, isEnsaio, problema, pedido }: Balcao): string {
  const field = (name: keyof NonNullable<Balcao['pedido']>, label: string, help: string): Html =>
    html`<p><label for="${name}">${label}</label><br>
<small id="${name}-ajuda">${help}</small><br>
<input id="${name}" name="${name}" value="${pedido?.[name] ?? ''}" autocomplete="off" spellcheck="false" aria-describedby="${name}-ajuda"></p>
`;
  const byNumber = html`<fieldset><legend>Ou, sem a chave</legend>
${field('numero', 'Número da nota', 'O número da NFS-e, como está impresso.')}${field('documento', 'CNPJ ou CPF do prestador', 'De quem prestou o serviço.')}${field('valor', 'Valor do serviço', 'Como 1.234,56.')}</fieldset>
`;
  return document(
    `Nota fiscal de serviço, ${marca.nome}`,
    html`
<h1>Nota fiscal de serviço eletrônica</h1>
${isEnsaio ? html`<p class="notice">Este ambiente é de ensaio: as notas dele não têm valor fiscal.</p>\n` : undefined}<h2>Consulte a sua nota</h2>
${problema === undefined ? undefined : html`<p class="situacao erro" role="alert">${problema}</p>\n`}<form method="post" action="./" class="consulta">
${field('chave', 'Chave de acesso', 'As 50 posições, com ou sem espaços; estão na nota impressa.')}${temNumeros ? byNumber : undefined}<p><button>Consultar</button></p>
</form>
<p>Com a chave se vê a nota inteira; pelo número, só se ela vale. Toda nota autorizada se consulta também no <a href="${PORTAL}" rel="noreferrer">portal nacional da NFS-e</a>.</p>
<h2>Vai emitir uma nota?</h2>
<ul>
<li><b>MEI, microempresa ou empresa de pequeno porte do Simples Nacional</b>: emita no <a href="${EMISSOR}" rel="noreferrer">emissor nacional</a> (${EMISSOR}), na web ou pela API dele.</li>
<li><b>Outros prestadores</b>: emita pelo sistema que a sua empresa já usa (ERP), que se liga a este serviço. Quem o mantém começa pela <a href="../docs">documentação</a>.</li>
</ul>`,
    frameBy(marca),
  );
}

/** The answer is the same for a missing municipality, a missing note, an invalid key, and a wrong number. */
export const UNKNOWN_PAGE = document(
  'Nota não encontrada',
  html`
<h1>Nota não encontrada</h1>
<p>Neste endereço não há nota com estes dados (E301). Confira os 50 dígitos da chave, ou o número, o prestador e o valor, que estão na nota impressa, e o município que a emitiu.</p>
<p>Toda nota autorizada se consulta também no <a href="${PORTAL}" rel="noreferrer">portal nacional da NFS-e</a>.</p>
`,
);

/** A wrong address, for a person. `site`: address of the service; `balcao`: that of a municipality, which the address names. */
export function lostPage(mensagem: string, site: string, balcao: string | undefined): string {
  return document(
    'Não há nada neste endereço',
    html`
<h1>Não há nada neste endereço</h1>
<p>${mensagem}</p>
<ul>
${balcao === undefined ? undefined : html`<li><a href="${balcao}">Consultar uma nota deste município</a></li>\n`}<li><a href="${site}/">Este serviço</a>, e a <a href="${site}/docs">documentação</a> dele</li>
<li><a href="${PORTAL}" rel="noreferrer">Consultar uma nota no portal nacional da NFS-e</a></li>
</ul>`,
  );
}

/** `endereco`: of this page, whole; undefined: the note was found by its number, and has no page of its own. */
export function notaPage(nota: NotaPublica, marca: Marca, endereco?: string): string {
  const { chave, municipio, tom, situacao, diz, substituidaPor, fatos, consultadaEm } = nota;
  return document(
    `Nota ${situacao.toLowerCase()}`,
    html`
<h1>Nota fiscal de serviço eletrônica</h1>
<p class="situacao ${tom}"><b>${situacao}.</b> ${diz}${
      substituidaPor === undefined ? undefined : html` A que vale é <a href="${substituidaPor}">${substituidaPor}</a>.`
    }</p>
<dl class="nota">
${fatos.map(([nome, valor]) => html`<div><dt>${nome}</dt><dd>${valor}</dd></div>\n`)}${
  chave === undefined ? undefined : html`<div><dt>Chave de acesso</dt><dd><code>${chave}</code></dd></div>\n`
}<div><dt>Consultada em</dt><dd>${consultadaEm}, em ${municipio}</dd></div>
</dl>
${endereco === undefined ? BY_NUMBER : documents(nota, endereco)}`,
    frameBy(marca),
  );
}

const BY_NUMBER = html`<p class="quiet">Pelo número só se sabe se a nota vale. Com a <a href="./">chave de acesso</a>, que o prestador ou a nota impressa dão, se vê a nota inteira.</p>`;

function documents(
  { chave, municipio, temDanfse, nacional, admiteManifestacao, situacao }: NotaPublica,
  endereco: string,
): Html {
  const mail = `mailto:?subject=${encodeURIComponent(`Nota fiscal de serviço, ${situacao.toLowerCase()}`)}&body=${encodeURIComponent(endereco)}`;
  const danfse: Inserted = temDanfse
    ? html`<p><a href="../api/v1/danfse/${chave}">Nota impressa (DANFSe, em PDF)</a>, que traz os documentos das pessoas por inteiro.</p>\n`
    : undefined;
  return html`${danfse}${
    nacional === undefined
      ? html`<p class="quiet">Emitida em ${municipio}. Não está no portal nacional.</p>`
      : html`<p><a href="${nacional}" rel="noreferrer">Conferir no portal nacional da NFS-e</a>, que diz o mesmo. Emitida em ${municipio}.</p>`
  }
<section class="agir">
<h2>Guardar ou enviar</h2>
<p>Imprima esta página, ou envie o endereço dela <a href="${mail}">por e-mail</a>: <code>${endereco}</code>. Quem tem o endereço vê a nota inteira; não o publique.</p>
${admiteManifestacao ? TOMADOR : undefined}<p><a href="../">Consultar outra nota</a></p>
</section>`;
}

/** A confirmation and a rejection are signed: there is no button that could stand for the taker. */
const TOMADOR = html`<h2>Se o serviço foi prestado a você</h2>
<ul>
<li><b>Confirmar</b> diz que o serviço foi prestado como está na nota. Depois disso ela já não se cancela: só se substitui.</li>
<li><b>Rejeitar</b> diz que não foi, e por quê.</li>
</ul>
<p>Os dois se assinam com o certificado digital (e-CPF ou e-CNPJ) de quem tomou o serviço: o sistema da sua empresa os envia como <a href="../../docs/eventos">eventos</a>. Sem certificado, peça ao prestador que
corrija ou cancele a nota, ou procure o atendimento da prefeitura com a chave de acesso.</p>
`;

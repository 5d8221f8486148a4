/** The registers of a private sandbox as pages: their list, and each one with its lines, its file and the result of an upload. */
import { groupDigits } from '../../fiscal/group-digits.ts';
import { allowBreaks, type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import type { CadastroImportado } from './ambientes.ts';

/** A register as its page shows it. */
export type CadastroDaPagina = {
  /** The name in addresses. */
  readonly nome: string;
  readonly titulo: string;
  readonly sobre: string;
  /** The file replaces the whole register: rows that are absent from it are removed. */
  readonly isWhole: boolean;
  readonly colunas: readonly { readonly nome: string; readonly diz: string; readonly isNeeded: boolean }[];
};

export function cadastros(all: readonly CadastroDaPagina[], municipio: string): Html {
  return html`<h2 id="cadastros">Os cadastros</h2>
<p>São os de um município. De cada um você vê as linhas, baixa o arquivo CSV e envia outro.</p>
<ul class="links">
${all.map(({ nome, titulo, sobre }) => html`<li><a href="${municipio}/cadastros/${nome}">${titulo}</a>. ${sobre}</li>\n`)}</ul>
`;
}

/** The result of an uploaded file, or the reason of its refusal. */
export type Envio =
  | { readonly feito: CadastroImportado }
  | { readonly problema: string; readonly recusadas?: readonly string[] };

type Shown = {
  readonly cadastro: CadastroDaPagina;
  readonly municipio: string;
  readonly back: string;
  readonly linhas: readonly (readonly string[])[];
  /** There are more lines than are shown. */
  readonly isMore: boolean;
  readonly envio?: Envio | undefined;
  /** The refused text, for correction. */
  readonly texto: string;
};

export function cadastroPage({ cadastro, municipio, back, linhas, isMore, envio, texto }: Shown): Html {
  const { nome, titulo, sobre, isWhole, colunas } = cadastro;
  return html`
<p class="up"><a href="${back}">${municipio}</a></p>
<h1>${titulo}</h1>
${envio && outcome(envio)}<p>${sobre}</p>
<h2 id="linhas">O que há nele</h2>
${lines(cadastro, linhas, isMore)}<p><a href="${nome}/csv" download="${nome}.csv">Baixar o arquivo CSV</a></p>
<h2 id="enviar">Enviar um arquivo</h2>
<p>${
    isWhole
      ? 'O arquivo é o cadastro inteiro: o que não está nele sai.'
      : 'O que o arquivo nomeia fica como ele diz, e o que ele não nomeia fica como está.'
  } Com uma linha recusada nada é gravado.</p>
<form method="post" enctype="multipart/form-data" class="conferir">
<p><label for="csv">Linhas em CSV, com o cabeçalho</label><br>
<textarea id="csv" name="csv" rows="8" spellcheck="false" wrap="off" aria-describedby="csv-ajuda">
${texto}</textarea></p>
<p><label for="arquivo">Ou um arquivo</label><br><input id="arquivo" name="arquivo" type="file" accept=".csv,text/csv" aria-describedby="csv-ajuda"></p>
<p id="csv-ajuda" class="quiet">Vírgula ou ponto e vírgula, UTF-8 ou a codificação do Windows. Se há um arquivo, vale ele.</p>
<p><button>Enviar</button></p>
</form>
<details class="dobra"><summary>As colunas do arquivo</summary>
<p>Com estes nomes na primeira linha, em qualquer ordem.</p>
<ul>
${colunas.map(
  (one) =>
    html`<li><code>${allowBreaks(one.nome)}</code>${one.isNeeded ? ' (precisa vir)' : undefined}: ${one.diz}</li>\n`,
)}</ul></details>
`;
}

function lines({ titulo, colunas }: CadastroDaPagina, linhas: Shown['linhas'], isMore: boolean): Html {
  if (linhas.length === 0) return html`<p>Nenhuma linha.</p>\n`;
  const count =
    linhas.length === 1 ? '1 linha.' : `${isMore ? 'As primeiras ' : ''}${groupDigits(linhas.length)} linhas.`;
  return html`<p>${count}${isMore ? ' O arquivo tem todas.' : undefined}</p>
<div class="tabela" tabindex="0" role="region" aria-label="Linhas de ${titulo}"><table class="cadastro">
<thead><tr>${colunas.map(({ nome }) => html`<th scope="col">${nome}</th>`)}</tr></thead>
<tbody>
${linhas.map((linha) => html`<tr>${linha.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table></div>
`;
}

function outcome(envio: Envio): Html {
  if ('problema' in envio) {
    const { problema, recusadas = [] } = envio;
    return html`<div class="recado erro" role="alert">${problema} Nada foi gravado.</div>
${refused(recusadas)}`;
  }
  const { linhas, contas } = envio.feito;
  return html`<div class="recado bom" role="status"><p>${linhas === 1 ? 'Gravou-se 1 linha' : `Gravaram-se ${groupDigits(linhas)} linhas`} do arquivo.</p>
<ul>
${contas.map(
  ({ de, novos, alterados, iguais, retirados }) =>
    html`<li>${de}: ${[
      ['novos', novos],
      ['alterados', alterados],
      ['iguais', iguais],
      ...(retirados > 0 ? [['retirados', retirados]] : []),
    ]
      .map(([said, count]) => `${said} ${groupDigits(count as number)}`)
      .join(', ')}.</li>\n`,
)}</ul></div>
`;
}

function refused(recusadas: readonly string[]): Inserted {
  if (recusadas.length === 0) return undefined;
  return html`<h2>Linhas recusadas</h2>
<p>O texto continua no formulário: corrija e envie de novo. O cabeçalho é a linha 1.</p>
<ul class="recusadas">
${recusadas.map((said) => html`<li>${said}</li>\n`)}</ul>
`;
}

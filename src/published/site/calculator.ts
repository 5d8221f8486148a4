/**
 * The calculator of the documentation. It shows the date from which a service needs the IBS and CBS group. It also shows the official
 * calculation for one amount, step by step. The service answers the form, so no script is needed.
 *
 * The form asks only for the deciding values. The dry run (`validacao.ts`) applies the whole law to a whole document.
 */
import type { TabelaIbsCbs } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { type Classificacao, classificacaoOf, classificacoes, servicoOf } from '../../fiscal/catalogs/catalogs.ts';
import { once } from '../../fiscal/catalogs/table.ts';
import { linhaDe, motivoDe } from '../../fiscal/cronograma.ts';
import { type Decimal, formatDecimal, readDecimal, ZERO } from '../../fiscal/decimal.ts';
import { explainIbsCbs } from '../../fiscal/explain-ibscbs.ts';
import { assessIbsCbs, type IbsCbsInput } from '../../fiscal/ibscbs.ts';
import { brazilianDate, isDay } from '../../fiscal/moment.ts';
import { shorten } from '../markdown.ts';
import { allowBreaks, type Html, html } from './page-shell.ts';

/** Parameters of the form, in its order. */
export const CALCULATOR_PARAMS = ['codigo', 'competencia', 'simples', 'cclasstrib', 'valor', 'issqn'] as const;
type Param = (typeof CALCULATOR_PARAMS)[number];

/** A longer text in a field is cut before it is read. */
const TYPED_MAX = 40;
/** The classification of full taxation, which most services have. */
const DEFAULT_CLASSIFICACAO = '000001';

type Asked = Readonly<Record<Param, string>>;

/** The form and, after a query, the answer by these rates. `action`: address of the page, as a link from it. */
export function renderCalculator(query: URLSearchParams, action: string, tabela: TabelaIbsCbs): Html {
  const asked = Object.fromEntries(
    CALCULATOR_PARAMS.map((name) => [name, (query.get(name) ?? '').trim().slice(0, TYPED_MAX)]),
  ) as Asked;
  const isAsked = CALCULATOR_PARAMS.some((name) => query.has(name));
  return html`${formOf(asked, action)}${isAsked ? answerTo(asked, tabela) : undefined}`;
}

function formOf(asked: Asked, action: string): Html {
  const simples = asked.simples === 'sim';
  return html`<form class="calculator" method="get" action="${action}#resultado">
<p><label for="codigo">Código do serviço (cTribNac)</label>
<input id="codigo" name="codigo" required maxlength="8" inputmode="numeric" placeholder="010101 ou 01.01.01" value="${asked.codigo}"></p>
<p><label for="competencia">Competência (dCompet)</label>
<input id="competencia" name="competencia" type="date" required value="${dayOf(asked.competencia) ?? ''}"></p>
<p><label for="simples">Prestador no Simples Nacional ou MEI, na competência</label>
<select id="simples" name="simples"><option value="nao"${simples ? undefined : SELECTED}>não</option><option value="sim"${simples ? SELECTED : undefined}>sim</option></select></p>
<p><label for="cclasstrib">Classificação (cClassTrib)</label>
<select id="cclasstrib" name="cclasstrib">${options(asked.cclasstrib || DEFAULT_CLASSIFICACAO)}</select></p>
<p><label for="valor">Valor do serviço (vServ), se quiser os valores</label>
<input id="valor" name="valor" inputmode="decimal" placeholder="1.000,00" value="${asked.valor}"></p>
<p><label for="issqn">ISSQN da nota, que sai da base</label>
<input id="issqn" name="issqn" inputmode="decimal" placeholder="20,00" value="${asked.issqn}"></p>
<p><button>Calcular</button></p>
</form>
`;
}

const SELECTED: Html = html` selected`;

const ofServices = once(() => classificacoes().filter(({ indNFSe }) => indNFSe));

function options(chosen: string): readonly Html[] {
  return ofServices().map(
    ({ codigo, nome, descricao }) =>
      html`<option value="${codigo}"${codigo === chosen ? SELECTED : undefined}>${codigo} ${shorten(nome ?? descricao, OPTION_MAX)}</option>`,
  );
}

/** Long enough to distinguish every classification: some differ only after ninety characters. */
const OPTION_MAX = 120;

/** The fields of the form, read. */
type Read = {
  readonly cTribNac: string;
  readonly dCompet: string;
  readonly optante: boolean;
  readonly classificacao: Classificacao;
  readonly vServ: Decimal | undefined;
  readonly vISSQN: Decimal;
};

function answerTo(asked: Asked, tabela: TabelaIbsCbs): Html {
  const problems: string[] = [];
  const read = readFrom(asked, problems);
  if (read === undefined) {
    return html`<section id="resultado" class="result">
<h3>Não deu para calcular</h3>
<ul>
${problems.map((problem) => html`<li>${problem}</li>\n`)}</ul>
</section>
`;
  }
  const { cTribNac, dCompet, optante } = read;
  const linha = linhaDe(cTribNac, optante);
  const isDue = linha.desde <= dCompet;
  const servico = servicoOf(cTribNac);
  return html`<section id="resultado" class="result">
<h3>${isDue ? 'O grupo IBSCBS é exigido' : 'O grupo IBSCBS ainda não é exigido'}</h3>
<p>Na competência ${brazilianDate(dCompet)}, ${isDue ? 'a DPS sem o grupo é recusada' : 'a nota pode ser emitida sem o grupo, mesmo se for enviada depois'}:
ele é exigido desde a competência <b>${brazilianDate(linha.desde)}</b>, porque ${motivoDe(cTribNac, optante)}.</p>
${servico === undefined ? undefined : html`<p class="quiet">${cTribNac}: ${servico.descricao}${servico.emissivel ? '' : ' Este código é só um título da lista: uma nota não pode levá-lo.'}</p>\n`}${amountsOf(read, tabela)}</section>
`;
}

function readFrom(asked: Asked, problems: string[]): Read | undefined {
  const cTribNac = asked.codigo.replace(/[.\s-]/g, '');
  if (!/^\d{6}$/.test(cTribNac)) {
    problems.push('O código do serviço tem 6 dígitos, como 010101: item, subitem e desdobro da lista nacional.');
  } else if (servicoOf(cTribNac) === undefined) {
    problems.push(`O código ${cTribNac} não está na lista nacional.`);
  }
  const dCompet = dayOf(asked.competencia);
  if (dCompet === undefined) problems.push('A competência é um dia: AAAA-MM-DD ou DD/MM/AAAA.');
  const classificacao = classificacaoOf(asked.cclasstrib || DEFAULT_CLASSIFICACAO);
  if (classificacao === undefined || !classificacao.indNFSe) {
    problems.push('Esta classificação não está na tabela das que valem para serviços.');
  }
  const vServ = amountIn(asked.valor, 'O valor do serviço', problems);
  const vISSQN = amountIn(asked.issqn, 'O ISSQN', problems) ?? ZERO;
  if (vServ !== undefined && vISSQN > vServ) problems.push('O ISSQN passa do valor do serviço.');
  if (problems.length > 0 || dCompet === undefined || classificacao === undefined) return undefined;
  return { cTribNac, dCompet, optante: asked.simples === 'sim', classificacao, vServ, vISSQN };
}

/** `YYYY-MM-DD` of a real day, typed as `YYYY-MM-DD` or as `DD/MM/YYYY`. */
function dayOf(text: string): string | undefined {
  const brazilian = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(text);
  const day = brazilian === null ? text : `${brazilian[3]}-${brazilian[2]}-${brazilian[1]}`;
  return isDay(day) ? day : undefined;
}

/** An amount in Brazilian notation: thousands apart (`1.000`, `1 000,00`) or not, at most two decimals behind a comma. */
const BRAZILIAN = /^(?:\d{1,3}(?:\.\d{3})+|\d{1,3}(?: \d{3})+|\d+)(?:,\d{1,2})?$/;
/** An amount in program notation. Three digits behind the point are thousands, which the pattern above reads. */
const PLAIN = /^\d+\.\d{1,2}$/;

/**
 * Reads `1.000` as a thousand, the Brazilian meaning, and accepts `1000.00` too. An ambiguous amount, such as `1,000.00`, is reported and
 * not guessed.
 */
function amountIn(text: string, what: string, problems: string[]): Decimal | undefined {
  const bare = text.replace(/\s+/g, ' ').replace(/^R\$ ?/i, '');
  if (bare === '') return undefined;
  const value = BRAZILIAN.test(bare)
    ? readDecimal(bare.replace(/[. ]/g, '').replace(',', '.'))
    : PLAIN.test(bare)
      ? readDecimal(bare)
      : undefined;
  if (value !== undefined) return value;
  const read = `Veio "${text}", que não se lê assim.`;
  problems.push(`${what} é um número com até duas casas, de vírgula antes dos centavos, como 1.000,00. ${read}`);
  return undefined;
}

function amountsOf({ dCompet, classificacao, vServ, vISSQN }: Read, tabela: TabelaIbsCbs): Html | undefined {
  const { inicioVigencia, fimVigencia, codigo, cst } = classificacao;
  if (dCompet < inicioVigencia || (fimVigencia !== undefined && dCompet > fimVigencia)) {
    return html`<p>A classificação ${codigo} não vale nesta competência: ela vale desde ${brazilianDate(inicioVigencia)}${fimVigencia === undefined ? '' : ` até ${brazilianDate(fimVigencia)}`}.</p>\n`;
  }
  if (vServ === undefined) return undefined;
  const input: IbsCbsInput = { dCompet, vServ, vISSQN, vLiq: vServ, CST: cst, cClassTrib: codigo };
  const amounts = assessIbsCbs(input, tabela);
  if ('unavailable' in amounts) {
    return html`<p>Os valores não se calculam ainda: nenhuma alíquota de ${amounts.unavailable} está publicada para esta competência.</p>\n`;
  }
  return html`<div class="table" tabindex="0" role="group" aria-label="Cálculo"><table>
<caption>Cálculo oficial com CST ${cst} e cClassTrib ${codigo}, campo a campo da nota</caption>
<thead><tr><th scope="col">Campo</th><th scope="col">Como se chega a ele</th><th scope="col" class="right">Valor</th></tr></thead>
<tbody>${explainIbsCbs(input, amounts, tabela).map(
    ({ campo, formula, valor }) =>
      html`<tr><td><code>${allowBreaks(campo.slice(campo.lastIndexOf('/') + 1))}</code></td><td>${formula}</td><td class="right">${valor}</td></tr>\n`,
  )}</tbody>
</table></div>
<p class="quiet">Sem descontos, PIS, Cofins próprios, retenções nem reembolsos, que também mudam a base ou o líquido (${`vLiq ${formatDecimal(vServ)}`}). O
cálculo de uma DPS inteira, com o do ISSQN, é o da validação sem emitir.</p>
`;
}

/** The rigour of a private sandbox as a form: the present settings, and their change. */

import type { Form } from '../../base/pages/forms.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import type { AmbientePublico } from './ambientes.ts';

/** Settings with a checkbox each. */
const BOXES = [
  ['exige_cadastro', 'Só emite quem está no cadastro de prestadores e autorizado, como em produção'],
  ['exige_numero', 'Uma DPS sem número é recusada'],
  ['exige_nota_no_evento', 'O pedido de um evento tem de nomear a nota'],
] as const;

const REGRAS = [
  ['avisa', 'avisa, e a nota sai'],
  ['recusa', 'recusa, como em produção'],
] as const;

type Nome = (typeof BOXES)[number][0] | 'regras_nacionais' | 'aliquota_padrao';

/** The settings as the form sent them, valid or not. */
export type RigorPedido = Readonly<Partial<Record<Nome, string | boolean | null>>>;

/** The settings in the words of the API. An empty rate means none. */
export function readRigor(form: Form): RigorPedido {
  const [regras_nacionais, aliquota] = [form.text('regras_nacionais'), form.text('aliquota_padrao').trim()];
  return {
    ...Object.fromEntries(BOXES.map(([nome]) => [nome, form.text(nome) === 'sim'])),
    ...(regras_nacionais !== '' && { regras_nacionais }),
    aliquota_padrao: aliquota === '' ? null : aliquota.replace(',', '.'),
  };
}

/** `asked`: refused settings, for correction. */
export function rigor(ambiente: AmbientePublico, asked: RigorPedido = {}): Html {
  const { regras_nacionais, aliquota_padrao } = ambiente;
  const regras = asked.regras_nacionais ?? regras_nacionais ?? AMBIENTES.homologacao.regrasNacionais;
  const aliquota = asked.aliquota_padrao ?? aliquota_padrao ?? '';
  return html`<h2 id="rigor">O rigor</h2>
<p>Com que rigor o ambiente confere o que se envia a ele. O que está aqui é o que vale agora.</p>
<form method="post" class="conferir"><input type="hidden" name="acao" value="rigor">
${BOXES.map(
  ([nome, said]) => html`<p class="caixa"><input type="checkbox" id="${nome}" name="${nome}" value="sim"${
    (asked[nome] ?? ambiente[nome]) ? html` checked` : undefined
  }> <label for="${nome}">${said}</label></p>
`,
)}<p><label for="regras_nacionais">Uma regra nacional que a especificação deste serviço não nomeia</label><br>
<select id="regras_nacionais" name="regras_nacionais">${REGRAS.map(
    ([value, said]) => html`<option value="${value}"${value === regras ? html` selected` : undefined}>${said}</option>`,
  )}</select></p>
<p><label for="aliquota_padrao">Alíquota do ISSQN onde não há lista de serviços, em %</label><br>
<input id="aliquota_padrao" name="aliquota_padrao" value="${String(aliquota)}" inputmode="decimal" autocomplete="off" size="8" aria-describedby="aliquota-ajuda"><br>
<small id="aliquota-ajuda">Como 2,00. Vazia: nenhuma.</small></p>
<p><button>Gravar o rigor</button></p></form>
`;
}

/** The page of a person's own account: password, second factors, open sessions. */

import { facts, field, form, hidden, momentOf, notice, table } from '../../base/pages/fields.ts';
import { type Answer, forInside, type Inside, type PageShown, type Row } from '../../base/pages/visit.ts';
import type { Problem } from '../../base/world/operator.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { dotDocumento } from '../../fiscal/chave.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import {
  changePassword,
  dropPasskey,
  dropSecret,
  ENTER_ANEW,
  keepCpfAgente,
  mayEnroll,
  type TrocaDeSenha,
  takeSecret,
} from './conta-propria.ts';
import { formTokenOf, listSessoes, signOutElsewhere } from './entrada.ts';
import { leaveForm, passkeyButton, passkeyName, passwordFields, secretForm } from './entrar.page.ts';
import { RESERVA_PATH } from './reserva.page.ts';

type Problems = Readonly<Partial<Record<keyof TrocaDeSenha, string>>>;

/** `cpf`: a CPF of the agent that was refused, with the reason. */
async function contaPage(
  call: Inside,
  problems: Problems = {},
  refused?: Problem,
  cpf?: { readonly text: string } & Problem,
): Promise<PageShown> {
  const { world, visitor } = call;
  const { conta, sessao } = visitor;
  const token = formTokenOf(visitor);
  const sessoes = await listSessoes(world, visitor);
  const isWrong = refused !== undefined || cpf !== undefined || Object.keys(problems).length > 0;
  return {
    title: 'Minha conta',
    ...(isWrong ? { status: 422 } : {}),
    main: html`${refused === undefined ? undefined : notice('erro', refused.problem)}${facts([
      ['Nome', conta.nome],
      ['Login', conta.login],
      ['Conta criada em', momentOf(conta.criada_em)],
      ['Conta criada por', conta.criada_por ?? 'não se guardou'],
    ])}
<h2>Segundo fator</h2>
${factors(call, token)}
<h2>Sessões abertas</h2>
${table(
  'Onde esta conta está aberta agora',
  ['Desde', 'Vista', 'Endereço', 'Navegador'],
  sessoes.map((one) => [
    momentOf(one.criada_em),
    one.impressao.equals(sessao.impressao) ? 'esta' : momentOf(one.vista_em),
    one.rede,
    one.navegador,
  ]),
)}${
  sessoes.length < 2
    ? undefined
    : form({ action: '/conta/sessoes', token, fields: undefined, button: 'Encerrar as outras sessões', isGrave: true })
}
${agente(call, cpf)}<h2>Senha</h2>
${
  conta.senha === null && !mayEnroll(visitor, world.now())
    ? html`<p>${ENTER_ANEW}</p>`
    : form({
        action: '/conta/senha',
        token,
        fields: senhaFields(conta.senha !== null, problems),
        button: 'Trocar a senha',
      })
}`,
  };
}

/** The CPF of the agent, for a person who may act by office somewhere. */
function agente({ visitor }: Inside, refused?: { readonly text: string } & Problem): Inserted {
  const { papeis, cpf_agente } = visitor.conta;
  if (cpf_agente === null && !Object.values(papeis).some((papel) => mayAs(papel, 'operacao'))) return undefined;
  return html`<h2>Atos de ofício</h2>
${form({
  action: CPF_PATH,
  token: formTokenOf(visitor),
  fields: field({
    name: 'cpf_agente',
    label: 'CPF do agente da administração tributária',
    help: 'O formulário dos atos de ofício o propõe; o primeiro ato o guarda. Vai no evento, e o ADN o recebe. Vazio, sai da conta.',
    value: refused?.text ?? dotDocumento(cpf_agente ?? ''),
    problem: refused?.problem,
    inputmode: 'numeric',
    autocomplete: 'off',
  }),
  button: 'Guardar o CPF',
})}`;
}

function senhaFields(hasOne: boolean, problems: Problems): readonly Html[] {
  const atual = field({
    name: 'atual',
    label: 'Senha atual',
    type: 'password',
    autocomplete: 'current-password',
    problem: problems.atual,
    required: true,
  });
  return [...(hasOne ? [atual] : []), ...passwordFields(problems)];
}

function factors({ world, visitor }: Inside, token: string): Html {
  const isChangeable = mayEnroll(visitor, world.now());
  const { totp, passkeys, reservas } = visitor.conta;
  const drop = (action: string, fields?: Html): Inserted =>
    isChangeable ? form({ action: `/conta/${action}/retirar`, token, fields, button: 'Retirar' }) : '';
  const rows = [
    ...(totp === null ? [] : [['Aplicativo de códigos', '', drop('codigo')]]),
    ...passkeys.map(({ id, nome, criada_em }) => [
      `Passkey «${nome}»`,
      momentOf(criada_em),
      drop('passkey', html`<input type="hidden" name="id" value="${id}">`),
    ]),
  ];
  const shown =
    rows.length === 0
      ? html`<p>Nenhum ainda.</p>`
      : table('Segundos fatores da conta', ['O quê', 'Desde', hidden('Ação')], rows);
  const app =
    totp === null
      ? html`<p><a class="botao simples" href="/conta/codigo">Acrescentar um aplicativo de códigos</a></p>\n`
      : undefined;
  const reserva =
    rows.length === 0
      ? undefined
      : html`<p>Códigos de reserva por usar: ${String(reservas)}. <a href="${RESERVA_PATH}">${reservas === 0 ? 'Criar' : 'Criar outros'}</a></p>\n`;
  if (!isChangeable)
    return html`${shown}${reserva}<p>${ENTER_ANEW}</p>
${leaveForm(token, 'Sair')}`;
  return html`${shown}${reserva}${app}<h3>Acrescentar uma passkey</h3>
${passkeyName}${passkeyButton('nova', token, 'Criar passkey')}`;
}

async function secretPage(call: Inside, problem?: string): Promise<PageShown> {
  return {
    title: 'Aplicativo de códigos',
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`${problem === undefined ? undefined : notice('erro', problem)}${await secretForm(call, '/conta/codigo')}
<p><a href="/conta">Voltar sem mudar nada</a></p>`,
  };
}

const said = (recado: string, token?: string): Answer => ({
  goTo: '/conta',
  recado,
  ...(token === undefined ? {} : { token }),
});

const CPF_PATH = '/conta/cpf-agente';

export const CONTA_ROUTES: readonly Row[] = [
  forInside('GET', '/conta', (call) => contaPage(call)),
  forInside('GET', '/conta/codigo', async (call) =>
    call.visitor.conta.totp === null && mayEnroll(call.visitor, call.world.now())
      ? secretPage(call)
      : { goTo: '/conta' },
  ),
  forInside('POST', '/conta/codigo', async (call) => {
    if (call.visitor.conta.totp !== null) return { goTo: '/conta' };
    const taken = await takeSecret(call.world, call.visitor, call.form.text('codigo'), call.from);
    return 'problem' in taken
      ? secretPage(call, taken.problem)
      : said('O aplicativo de códigos vale a partir de agora.', taken.token);
  }),
  forInside('POST', '/conta/codigo/retirar', async (call) => {
    const refused = await dropSecret(call.world, call.visitor, call.from);
    return refused === undefined ? said('O aplicativo de códigos foi retirado.') : contaPage(call, {}, refused);
  }),
  forInside('POST', '/conta/passkey/retirar', async (call) => {
    const refused = await dropPasskey(call.world, call.visitor, call.form.text('id'), call.from);
    return refused === undefined ? said('A passkey foi retirada.') : contaPage(call, {}, refused);
  }),
  forInside('POST', '/conta/senha', async (call) => {
    const { form: sent } = call;
    const asked = { atual: sent.text('atual'), senha: sent.text('senha'), repetida: sent.text('repetida') };
    const wrong = await changePassword(call.world, call.visitor, asked, call.from);
    return wrong === undefined
      ? said('A senha foi trocada, e as outras sessões foram encerradas.')
      : contaPage(call, wrong.problems);
  }),
  forInside('POST', CPF_PATH, async (call) => {
    const text = call.form.text('cpf_agente');
    const refused = await keepCpfAgente(call.world, call.visitor, text, call.from);
    if (refused !== undefined) return contaPage(call, {}, undefined, { text, ...refused });
    return said(text.trim() === '' ? 'O CPF saiu da conta.' : 'O CPF está guardado na conta.');
  }),
  forInside('POST', '/conta/sessoes', async ({ world, visitor, from }) => {
    await signOutElsewhere(world, visitor, from);
    return said('As outras sessões foram encerradas.');
  }),
];

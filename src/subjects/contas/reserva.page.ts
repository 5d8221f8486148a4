/** The page of the recovery codes of one's own account: it makes a set, and shows it once. */

import { form, notice } from '../../base/pages/fields.ts';
import { forInside, type Inside, type PageShown, type Row } from '../../base/pages/visit.ts';
import { html } from '../../published/site/page-shell.ts';
import { ENTER_ANEW, makeReservas, mayEnroll } from './conta-propria.ts';
import { formTokenOf, hasFactor } from './entrada.ts';
import { CODES_COUNT } from './recovery-codes.ts';

export const RESERVA_PATH = '/conta/reserva';
const TITLE = 'Códigos de reserva';

function reservaPage({ world, visitor }: Inside, problem?: string): PageShown {
  const { reservas } = visitor.conta;
  const standing =
    reservas === 0
      ? html`<p>Esta conta não tem nenhum.</p>`
      : html`<p>Esta conta tem ${String(reservas)} por usar. Ao criar outros, os de antes deixam de servir.</p>`;
  const make = mayEnroll(visitor, world.now())
    ? form({
        action: RESERVA_PATH,
        token: formTokenOf(visitor),
        fields: undefined,
        button: reservas === 0 ? 'Criar e mostrar os códigos' : 'Criar outros e mostrar',
      })
    : html`<p>${ENTER_ANEW}</p>`;
  return {
    title: TITLE,
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`${problem === undefined ? undefined : notice('erro', problem)}<p>Com um código de reserva, e a senha, você entra quando perde o telefone ou a chave. São ${String(CODES_COUNT)}, e cada um serve uma
vez. Guarde-os em papel, longe do computador e do telefone: quem os tem, e a senha, entra no seu lugar.</p>
${standing}${make}<p><a href="/">Agora não</a></p>`,
  };
}

async function showCodes(call: Inside): Promise<PageShown> {
  const made = await makeReservas(call.world, call.visitor, call.from);
  if ('problem' in made) return reservaPage(call, made.problem);
  return {
    title: TITLE,
    main: html`${notice('aviso', 'Copie ou imprima agora: estes códigos não são mostrados de novo.')}<pre>${made.codigos.join('\n')}</pre>
<p>Para usar um, entre com o login e a senha, e na página do segundo fator escolha «Entrar com um código de reserva».</p>
<p class="botoes"><a class="botao" href="/">Guardei os códigos</a></p>`,
  };
}

export const RESERVA_ROUTES: readonly Row[] = [
  forInside('GET', RESERVA_PATH, async (call) =>
    hasFactor(call.visitor.conta) ? reservaPage(call) : { goTo: '/conta' },
  ),
  forInside('POST', RESERVA_PATH, showCodes),
];

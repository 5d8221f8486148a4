/** Entering: invitation, password, second factor, identity provider, and leaving. */

import { facts, field, folded, form, momentOf, notice, withNames } from '../../base/pages/fields.ts';
import { cookiesOf, PASSING } from '../../base/pages/headers.ts';
import {
  type Answer,
  forAll,
  forEntering,
  type Inside,
  type PageShown,
  type Row,
  type Visit,
} from '../../base/pages/visit.ts';
import type { Problem } from '../../base/world/operator.ts';
import { PAPEIS_NAMES } from '../../base/world/papeis.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import {
  ENTER_ANEW,
  mayEnroll,
  mustEnroll,
  offerPasskey,
  offerSecret,
  takePasskey,
  takeSecret,
} from './conta-propria.ts';
import {
  type Aceite,
  acceptConvite,
  acceptPapeis,
  CONVITE_SPENT,
  type ConviteAberto,
  choosesLogin,
  FIRST_SPENT,
  isFirst,
  isJustShown,
  isMadeHere,
  isUnclaimed,
  readConvite,
  SHOW_ANEW,
} from './convites.ts';
import {
  askForPasskey,
  countQuestion,
  type Entered,
  endSessao,
  formTokenOf,
  hasFactor,
  keepQuestion,
  proveCode,
  provePasskey,
  proveReserva,
  signIn,
  signInConvidado,
  signInProved,
  signOut,
  takeQuestion,
  tooOften,
  type Visitor,
} from './entrada.ts';
import { RESERVA_PATH } from './reserva.page.ts';

/** The next page after a completed step. */
function goOn({ token, etapa }: Entered): Answer {
  return { goTo: etapa === 'inteira' ? '/' : '/segundo-fator', token };
}

const problemOf = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : notice('erro', text);

function signInPage({ world }: Visit, problem?: string, login = ''): PageShown {
  const other =
    world.provider === undefined
      ? undefined
      : html`<p><a class="botao simples" href="/entrar/provedor">Entrar pelo provedor de identidade</a></p>`;
  const fields = [
    field({ name: 'login', label: 'Login', value: login, autocomplete: 'username', required: true, autofocus: true }),
    field({ name: 'senha', label: 'Senha', type: 'password', autocomplete: 'current-password', required: true }),
  ];
  return {
    title: 'Entrar',
    ...(problem === undefined ? {} : { status: 401 }),
    main: html`<div class="estreita">${problemOf(problem)}
${form({ action: '/entrar', token: undefined, fields, button: 'Entrar' })}${other}
<p class="quieto">Esqueceu a senha, ou perdeu o segundo fator? Quem administra os usuários do município lhe dá um link novo. Se ninguém mais
administra, quem opera o serviço o faz na máquina dele: <code>nfse usuario redefinir LOGIN</code>.</p></div>`,
  };
}

// Invitation.

async function spentPage(world: Visit['world']): Promise<PageShown> {
  const main = (await isUnclaimed(world)) ? withNames(FIRST_SPENT) : CONVITE_SPENT;
  return { status: 410, title: 'Link vencido', main: html`<p>${main}</p>` };
}

type Visited = Visit & { readonly visitor: Visitor | undefined };

async function invitationPage(
  visit: Visited,
  problems: Readonly<Partial<Record<keyof Aceite, string>>> = {},
  refused?: string,
): Promise<PageShown> {
  const found = await readConvite(visit.world, visit.params['convite']!);
  if (found === undefined) return spentPage(visit.world);
  const { conta, mayTake } = found;
  const { world, visitor } = visit;
  const isMade = await isMadeHere(world, found);
  const isOwner = visitor?.conta.id === conta.id && isJustShown(visitor.sessao, world.now());
  const title = isFirst(conta) ? 'Primeiro administrador' : mayTake ? 'Sua conta' : 'Um papel novo';
  const isWrong = refused !== undefined || Object.keys(problems).length > 0;
  return {
    title,
    status: isWrong ? 422 : 200,
    main: html`<div class="estreita">${problemOf(refused)}${isFirst(conta) ? FIRST : aboutInvitation(found, isMade || isOwner)}
${mayTake ? undefined : ownAccount(visit, isOwner)}${choiceForm(visit, found, isMade, problems)}</div>`,
  };
}

const FIRST = html`<p>Esta é a primeira conta do console. Ela administra os municípios que há, e cria as contas das outras pessoas. Depois da
senha vem o segundo fator.</p>`;

/** The roles that the person is about to accept, and the account for them. `isTold`: the creator's name may be shown. */
function aboutInvitation({ conta, ofertas }: ConviteAberto, isTold: boolean): Html {
  const por = isTold
    ? conta.criada_por
    : `quem não trabalha para ${ofertas.map(({ municipio }) => municipio).join(', ')}`;
  return facts([
    ['Login', conta.login],
    ['Conta criada', `${momentOf(conta.criada_em)}${por === null ? '' : ` por ${por}`}`],
    ...ofertas.map(({ municipio, papel, dado_por }): [string, string] => [
      `Papel em ${municipio}`,
      `${PAPEIS_NAMES[papel]}${dado_por === null ? '' : `, dado por ${dado_por}`}`,
    ]),
  ]);
}

/** The owner of an account in use accepts a role by a new proof. */
function ownAccount({ request }: Visited, isOwner: boolean): Html {
  const accept = isOwner
    ? form({ action: `${request.url}/aceitar`, token: undefined, fields: undefined, button: 'Aceitar o papel' })
    : html`<p>${SHOW_ANEW}</p><p><a class="botao simples" href="/entrar">Entrar</a></p>`;
  return html`<h2>Se a conta é sua</h2>
${accept}<h2>Se não é, ou você não a reconhece</h2>
<p>Não entre com ela. Escolha outro login, que será só seu; o papel passa para ele.</p>`;
}

function choiceForm(
  visit: Visited,
  found: ConviteAberto,
  isMade: boolean,
  problems: Readonly<Partial<Record<keyof Aceite, string>>>,
): Html {
  const { conta, mayTake } = found;
  const said = (name: keyof Aceite, stands: string): string => visit.form.text(name) || stands;
  const isNamed = mayTake && isMade && !isFirst(conta) && conta.nome !== conta.login;
  const fields = [
    choosesLogin(found)
      ? field({
          name: 'login',
          label: 'Login',
          value: said('login', ''),
          help: 'Com que você vai entrar; o seu e-mail serve.',
          problem: problems.login,
          autocomplete: 'username',
          required: true,
        })
      : html`<input type="hidden" name="login" value="${conta.login}" autocomplete="username">`,
    field({
      name: 'nome',
      label: 'Nome',
      value: said('nome', isNamed ? conta.nome : ''),
      problem: problems.nome,
      autocomplete: 'name',
      required: true,
    }),
    ...passwordFields(problems),
  ];
  const path = `/convite/${encodeURIComponent(visit.params['convite']!)}`;
  const provider =
    visit.world.provider === undefined || isFirst(conta)
      ? undefined
      : html`<form method="post" action="${path}/provedor"><button class="simples">Aceitar pelo provedor de identidade</button></form>`;
  return html`${form({ action: path, token: undefined, fields, button: 'Criar a conta' })}${provider}`;
}

/** The fields of a new password. */
export function passwordFields(problems: { readonly senha?: string; readonly repetida?: string }): readonly Html[] {
  const help =
    'Ao menos 12 caracteres. Três ou quatro palavras sem relação entre si são fáceis de lembrar; o seu nome, o do município e palavras como prefeitura não contam.';
  const kind = { type: 'password', autocomplete: 'new-password', required: true } as const;
  return [
    field({ name: 'senha', label: 'Senha', help, problem: problems.senha, ...kind }),
    field({ name: 'repetida', label: 'A senha de novo', problem: problems.repetida, ...kind }),
  ];
}

async function acceptInvitation(visit: Visited): Promise<Answer> {
  const { world, form, from, params } = visit;
  const asked = {
    nome: form.text('nome'),
    login: form.text('login'),
    senha: form.text('senha'),
    repetida: form.text('repetida'),
  };
  const accepted = await acceptConvite(world, params['convite']!, asked);
  if ('problem' in accepted) return spentPage(world);
  if ('problems' in accepted) return invitationPage(visit, accepted.problems);
  const entered = await signInConvidado(world, accepted.conta, from);
  return entered === undefined ? spentPage(world) : goOn(entered);
}

/** Accepts a role for the account that has just been entered. */
async function acceptRole(visit: Visited): Promise<Answer> {
  const { world, visitor, params } = visit;
  if (visitor === undefined) return invitationPage(visit, {}, SHOW_ANEW);
  const accepted = await acceptPapeis(world, params['convite']!, visitor);
  return 'problem' in accepted ? invitationPage(visit, {}, accepted.problem) : { goTo: '/' };
}

// Second factor.

function secondFactorPage(call: Inside, problem?: string): Promise<PageShown> | PageShown {
  if (mustEnroll(call.visitor) && !mayEnroll(call.visitor, call.world.now())) return enterAnewPage(call);
  return mustEnroll(call.visitor) ? enrollmentPage(call, problem) : codePage(call, problem);
}

function codePage({ visitor }: Inside, problem?: string): PageShown {
  const { totp, passkeys } = visitor.conta;
  const token = formTokenOf(visitor);
  const code = field({
    name: 'codigo',
    label: 'Código do aplicativo',
    help: 'Os seis dígitos que o aplicativo de autenticação mostra agora.',
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    maxlength: 7,
    required: true,
    autofocus: true,
  });
  return {
    title: 'Segundo fator',
    ...(problem === undefined ? {} : { status: 401 }),
    main: html`<div class="estreita">${problemOf(problem)}
${totp === null ? undefined : form({ action: '/segundo-fator', token, fields: code, button: 'Entrar' })}${
  passkeys.length === 0 ? undefined : passkeyButton('usada', token, 'Usar a passkey')
}
${reservaForm(visitor, token)}${leaveForm(token)}</div>`,
  };
}

/** The way in for a person whose phone or key is lost. */
function reservaForm({ conta }: Visitor, token: string): Html {
  const body =
    conta.reservas === 0
      ? html`<p>Esta conta não tem códigos de reserva por usar. Peça um link novo a quem administra os usuários do município, ou a quem opera o
serviço (<code>nfse usuario redefinir LOGIN</code>).</p>`
      : form({
          action: '/segundo-fator/reserva',
          token,
          fields: field({
            name: 'reserva',
            label: 'Código de reserva',
            help: 'Um dos que você guardou; cada um serve uma vez.',
            autocomplete: 'off',
            maxlength: 40,
            required: true,
          }),
          button: 'Entrar com o código',
        });
  return folded('Entrar com um código de reserva', body);
}

/** A button that asks the browser for a passkey; hidden if the browser has no passkeys. */
export function passkeyButton(kind: 'nova' | 'usada', token: string, text: string): Html {
  const path = kind === 'nova' ? '/conta/passkey' : '/segundo-fator/passkey';
  return html`<p><button type="button" hidden data-passkey="${kind}" data-opcoes="${path}/opcoes" data-resposta="${path}" data-formulario="${token}">${text}</button></p>
<p id="passkey-dito" role="status"></p>
<noscript><p class="quieto">A passkey pede JavaScript; o código do aplicativo não.</p></noscript>
`;
}

export const leaveForm = (token: string, button = 'Entrar com outra conta'): Html =>
  html`<form method="post" action="/sair"><input type="hidden" name="formulario" value="${token}"><button class="simples">${button}</button></form>`;

function enterAnewPage({ visitor }: Inside): PageShown {
  return {
    title: 'Escolha o segundo fator',
    main: html`<p>Esta conta agora age por um município, e precisa de um segundo fator. ${ENTER_ANEW}</p>
${leaveForm(formTokenOf(visitor), 'Sair')}`,
  };
}

async function enrollmentPage(call: Inside, problem?: string): Promise<PageShown> {
  const token = formTokenOf(call.visitor);
  return {
    title: 'Escolha o segundo fator',
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`<p>Esta conta age por um município. Além da senha, ela entra com uma coisa que só você tem.</p>
${problemOf(problem)}<h2>Um aplicativo de códigos</h2>
${await secretForm(call, '/segundo-fator/codigo')}
<h2>Ou uma passkey</h2>
<p>O desbloqueio deste computador, o telefone ou uma chave de segurança.</p>
${passkeyName}${passkeyButton('nova', token, 'Criar passkey')}${leaveForm(token)}`,
  };
}

export const passkeyName = field({
  name: 'nome',
  label: 'Nome da passkey',
  help: 'Para que você a reconheça, como «computador da sala 3».',
  maxlength: 60,
});

/** The secret for an app, as a QR code and as text, and the form for one of its codes. */
export async function secretForm({ world, visitor }: Inside, action: string): Promise<Html> {
  const { segredo, qr } = await offerSecret(world, visitor);
  const shown = segredo.match(/.{1,4}/g)!.join(' ');
  const fields = field({
    name: 'codigo',
    label: 'Código que o aplicativo mostra',
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    maxlength: 7,
    required: true,
  });
  return html`<ol><li>Abra um aplicativo de autenticação no telefone (FreeOTP, Google Authenticator, o do navegador) e leia este código:
${qrPicture(qr)}</li>
<li>Ou digite nele o segredo: <code>${shown}</code></li>
<li>Escreva abaixo os seis dígitos que ele mostra.</li></ol>
${form({ action, token: formTokenOf(visitor), fields, button: 'Confirmar' })}`;
}

/** A QR code as one path, a square for each module. */
function qrPicture(rows: readonly (readonly boolean[])[]): Html {
  const size = String(rows.length);
  const path = rows.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('')).join('');
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="Código QR com o segredo, que também está escrito abaixo" shape-rendering="crispEdges"><path d="${path}"/></svg>`;
}

/** A page with the problem, or the next step. */
async function goOnOr(
  result: Entered | Problem,
  page: (problem: string) => Promise<PageShown> | PageShown,
): Promise<Answer> {
  return 'problem' in result ? page(result.problem) : goOn(result);
}

/** The same, for a script. */
function tellScript(result: Entered | Problem, to = '/'): Answer {
  if ('problem' in result) return { json: { problema: result.problem }, status: 422 };
  return { json: { ir: to }, token: result.token };
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Identity provider.

async function askProvider(visit: Visited): Promise<Answer> {
  const { world, from, params, visitor, request } = visit;
  if (world.provider === undefined) return NO_PROVIDER;
  // An image on another site must not start a visit to the provider, nor use up the network's limit.
  if (![undefined, 'document'].includes(request.headers['sec-fetch-dest'] as string)) return { goTo: '/entrar' };
  const wait = await countQuestion(world, from.rede);
  if (wait !== undefined) return signInPage(visit, tooOften(wait));
  if (params['convite'] !== undefined && (await readConvite(world, params['convite'])) === undefined)
    return spentPage(world);
  try {
    const { url, kept } = await world.provider.ask(`${world.place.origin}/entrar/retorno`);
    const question: Question = { kept, convite: params['convite'], antes: visitor?.sessao.impressao.toString('hex') };
    return { goTo: url, passing: await keepQuestion(world, JSON.stringify(question), from) };
  } catch (error) {
    world.log.warn({ err: error }, 'o provedor de identidade não respondeu');
    return NO_ANSWER;
  }
}

/** Kept while the person is at the provider. `convite`: link of the invitation; `antes`: the earlier session, whose cookie stays behind. */
type Question = { readonly kept: string; readonly convite?: string | undefined; readonly antes?: string | undefined };

const NO_PROVIDER: PageShown = {
  status: 404,
  title: 'Sem provedor de identidade',
  main: html`<p>Este console não tem provedor de identidade configurado. <a href="/entrar">Entre com login e senha</a>.</p>`,
};
const NO_ANSWER: PageShown = {
  status: 502,
  title: 'O provedor de identidade não respondeu',
  main: html`<p>Tente de novo em alguns instantes, ou <a href="/entrar">entre com login e senha</a>.</p>`,
};

async function returnFromProvider(visit: Visit): Promise<Answer> {
  const { world, request, from } = visit;
  const token = cookiesOf(request).get(PASSING);
  const question = token === undefined ? undefined : await takeQuestion(world, token);
  if (question === undefined || world.provider === undefined) {
    return signInPage(
      visit,
      'A volta do provedor de identidade demorou demais, ou não começou neste navegador. Comece de novo.',
    );
  }
  const url = `${world.place.origin}${request.url}`;
  const { kept, convite, antes } = JSON.parse(question) as Question;
  const person = await world.provider.read(url, kept).catch((error: unknown) => {
    world.log.warn({ err: error }, 'o provedor de identidade não respondeu');
    return undefined;
  });
  if (person === undefined)
    return signInPage(visit, 'O provedor de identidade não confirmou quem você é. Comece de novo.');
  const entered = await signInProved(world, person, convite, from);
  if (antes !== undefined && 'token' in entered) await endSessao(world, Buffer.from(antes, 'hex'));
  return goOnOr(entered, (problem) => signInPage(visit, problem));
}

const passkeyText = (call: Visit): Inserted & string => call.form.text('passkey');

export const ENTRADA_ROUTES: readonly Row[] = [
  forAll('GET', '/entrar', async (visit) =>
    visit.visitor?.sessao.etapa === 'inteira' ? { goTo: '/' } : signInPage(visit),
  ),
  forAll('POST', '/entrar', async (visit) => {
    const [login, senha] = [visit.form.text('login'), visit.form.text('senha')];
    const entered = await signIn(visit.world, { login, senha }, visit.from);
    return goOnOr(entered, (problem) => signInPage(visit, problem, login));
  }),
  forAll('GET', '/entrar/provedor', askProvider),
  forAll('GET', '/entrar/retorno', returnFromProvider),
  forAll('GET', '/convite/:convite', (visit) => invitationPage(visit)),
  forAll('POST', '/convite/:convite', acceptInvitation),
  forAll('POST', '/convite/:convite/aceitar', acceptRole),
  // Only a form of our page accepts: a provider may answer a link of another site without a question to the person.
  forAll('POST', '/convite/:convite/provedor', askProvider),
  forEntering('GET', '/segundo-fator', async (call) =>
    call.visitor.sessao.etapa === 'inteira' && !mustEnroll(call.visitor) ? { goTo: '/' } : secondFactorPage(call),
  ),
  forEntering('POST', '/segundo-fator', async (call) => {
    const proved = await proveCode(call.world, call.visitor, call.form.text('codigo'), call.from);
    return goOnOr(proved, (problem) => codePage(call, problem));
  }),
  forEntering('POST', '/segundo-fator/codigo', async (call) => {
    if (hasFactor(call.visitor.conta)) return secondFactorPage(call);
    const taken = await takeSecret(call.world, call.visitor, call.form.text('codigo'), call.from);
    if ('problem' in taken) return secondFactorPage(call, taken.problem);
    return { goTo: RESERVA_PATH, token: taken.token };
  }),
  forEntering('POST', '/segundo-fator/reserva', async (call) => {
    const proved = await proveReserva(call.world, call.visitor, call.form.text('reserva'), call.from);
    if ('problem' in proved) return codePage(call, proved.problem);
    const recado =
      'O código de reserva foi usado. Se o telefone ou a chave se perdeu, retire-o aqui e acrescente outro.';
    return { goTo: '/conta', token: proved.token, recado };
  }),
  forEntering('POST', '/segundo-fator/passkey/opcoes', async ({ world, visitor }) => ({
    json: await askForPasskey(world, visitor),
  })),
  forEntering('POST', '/segundo-fator/passkey', async (call) =>
    tellScript(await provePasskey(call.world, call.visitor, parseAnswer(passkeyText(call)), call.from)),
  ),
  forEntering('POST', '/conta/passkey/opcoes', async ({ world, visitor }) =>
    mayEnroll(visitor, world.now()) ? { json: await offerPasskey(world, visitor) } : NOT_YET,
  ),
  forEntering('POST', '/conta/passkey', async (call) => {
    const { world, visitor, from } = call;
    if (!mayEnroll(visitor, world.now())) return NOT_YET;
    const nome = call.form.text('nome');
    const taken = await takePasskey(world, visitor, parseAnswer(passkeyText(call)), nome, from);
    return tellScript(taken, visitor.sessao.etapa === 'inteira' ? '/conta' : RESERVA_PATH);
  }),
  forEntering('POST', '/sair', async ({ world, visitor, from }) => {
    await signOut(world, visitor, from);
    return { goTo: '/entrar', token: '' };
  }),
];

const NOT_YET: Answer = { json: { problema: ENTER_ANEW }, status: 403 };

/** The people who work for the municipality: accounts, their roles, and the links by which they begin. */

import {
  type Estado,
  facts,
  field,
  folded,
  form,
  link,
  mark,
  momentOf,
  notice,
  table,
} from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { needMotivo, type Problem } from '../../base/world/operator.ts';
import { isPapel, PAPEIS, PAPEIS_HELP, PAPEIS_NAMES } from '../../base/world/papeis.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { confirmForm, goesBack, namePessoa, readSealed } from './confirmacao.page.ts';
import { formTokenOf } from './entrada.ts';
import {
  bloquearUsuario,
  criarUsuario,
  type Direito,
  foreseeRedefinir,
  isOnlyOffered,
  listDireitos,
  listUsuarios,
  type Quem,
  redefinirUsuario,
  retirarUsuario,
  type Usuario,
} from './usuarios.ts';

const HERE = 'usuarios';
const LIST = '/usuarios';

const quemOf = (call: InMunicipio): Quem => ({ ...byHand(call), conta: call.visitor.conta.id });

const SITUACOES: Readonly<Record<Usuario['situacao'], Estado>> = {
  ativo: { nome: 'ativo', tom: 'bom' },
  convidado: { nome: 'convidado: ainda não abriu o link', tom: 'aviso' },
  bloqueado: { nome: 'bloqueado', tom: 'erro' },
};

const OFFERED: Estado = { nome: 'a pessoa ainda não aceitou o papel', tom: 'aviso' };

function factorsOf({ segundoFator, provedor }: Usuario): string {
  const names = { codigo: 'aplicativo', passkey: 'passkey' } as const;
  return (
    [...segundoFator.map((one) => names[one]), ...(provedor ? ['provedor de identidade'] : [])].join(', ') || 'nenhum'
  );
}

function papelIn({ papeis, ofertas }: Usuario, slug: string): string {
  const papel = papeis[slug];
  return papel === undefined ? `${PAPEIS_NAMES[ofertas[slug]!]}, ainda não aceito` : PAPEIS_NAMES[papel];
}

/** The beginning of a role, or the end of the link that waits for its acceptance. */
function sinceOf(direito: Direito | undefined): string {
  if (direito === undefined) return '';
  const { aceito_em, convite_expira_em } = direito;
  if (aceito_em !== null) return momentOf(aceito_em);
  return convite_expira_em === null ? 'sem link' : `não vale ainda; o link serve até ${momentOf(convite_expira_em)}`;
}

async function listPage(call: InMunicipio): Promise<PageShown> {
  const { slug, world } = call;
  const [usuarios, direitos] = await Promise.all([listUsuarios(world, slug), listDireitos(world, slug)]);
  const direitoOf = new Map(direitos.map((one) => [one.login, one]));
  return {
    title: 'Usuários',
    here: HERE,
    main: html`<p class="botoes"><a class="botao" href="${pathIn(slug, `${LIST}/novo`)}">Criar usuário</a></p>
${table(
  `Quem trabalha para ${slug}`,
  ['Login', 'Nome', 'Papel', 'Desde', 'Dado por', 'Situação', 'Segundo fator'],
  usuarios.map((one) => {
    const direito = direitoOf.get(one.login);
    const isOffered = isOnlyOffered(one, slug, usuarios);
    return [
      link(pathOf(slug, one.login), one.login),
      isOffered ? '' : one.nome,
      papelIn(one, slug),
      sinceOf(direito),
      direito?.dado_por ?? 'não se guardou',
      mark(isOffered ? OFFERED : SITUACOES[one.situacao]),
      isOffered ? '' : factorsOf(one),
    ];
  }),
)}${ROLES}`,
  };
}

const ROLES = html`<h2>O que cada papel permite</h2>
<dl class="fatos">${PAPEIS.map((papel) => html`<div><dt>${PAPEIS_NAMES[papel]}</dt><dd>${PAPEIS_HELP[papel]}</dd></div>\n`)}</dl>
`;

const pathOf = (slug: string, login: string): string => pathIn(slug, `${LIST}/${encodeURIComponent(login)}`);

const roleField = (value: string | undefined): Html =>
  field({
    name: 'papel',
    label: 'Papel',
    value,
    choices: PAPEIS.map((papel) => [papel, `${PAPEIS_NAMES[papel]}: ${PAPEIS_HELP[papel]}`]),
    required: true,
  });

function newPage({ slug, visitor, form: sent }: InMunicipio, problem?: string): PageShown {
  const fields = [
    field({
      name: 'login',
      label: 'Login',
      value: sent.text('login'),
      help: 'O e-mail da pessoa. Quem já tem conta neste serviço aceita o papel com ela, pelo link que a página seguinte mostra.',
      required: true,
    }),
    field({ name: 'nome', label: 'Nome', value: sent.text('nome'), required: true }),
    roleField(sent.text('papel') || 'leitura'),
  ];
  return {
    title: 'Criar usuário',
    here: HERE,
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`${problem === undefined ? undefined : notice('erro', problem)}${form({
      action: pathIn(slug, `${LIST}/novo`),
      token: formTokenOf(visitor),
      fields,
      button: 'Criar',
      beside: link(pathIn(slug, LIST), 'Voltar'),
    })}`,
  };
}

async function createUsuario(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const papel = sent.text('papel');
  if (!isPapel(papel)) return newPage(call, 'Escolha o papel.');
  const asked = { login: sent.text('login'), nome: sent.text('nome'), municipio: slug, papel };
  const made = await criarUsuario(world, asked, quemOf(call));
  if ('problem' in made) return newPage(call, made.problem);
  const { usuario, convite } = made;
  if (convite !== undefined) return invitationPage(call, usuario.login, convite);
  return {
    goTo: pathIn(slug, LIST),
    recado: `${usuario.login} já trabalhava aqui, e agora tem o papel ${PAPEIS_NAMES[papel]}.`,
  };
}

/** The link, which is shown only once. */
function invitationPage({ slug, world }: InMunicipio, login: string, convite: string): PageShown {
  return {
    title: 'Link para a pessoa',
    here: HERE,
    main: html`<p>Entregue este link a <b>${login}</b>, e só a ela. Com ele a pessoa escolhe a senha e o segundo fator, ou mostra os que já tem; o papel
só vale depois disso. Serve uma vez, por 72 horas, e não é mostrado de novo.</p>
<pre>${`${world.place.origin}/convite/${convite}`}</pre>
<p>${link(pathIn(slug, LIST), 'Voltar aos usuários')}</p>`,
  };
}

type Found = { readonly usuario: Usuario; readonly isOffered: boolean };

async function oneOf({ world, slug, params }: InMunicipio): Promise<Found | undefined> {
  const usuarios = await listUsuarios(world, slug);
  const usuario = usuarios.find(({ login }) => login === params['login']);
  return usuario && { usuario, isOffered: isOnlyOffered(usuario, slug, usuarios) };
}

async function onePage(call: InMunicipio, refused?: Problem): Promise<PageShown> {
  const { slug, visitor } = call;
  const found = await oneOf(call);
  if (found === undefined) {
    return {
      status: 404,
      title: 'Usuário não encontrado',
      here: HERE,
      main: html`<p>Ninguém com este login trabalha para ${slug}. ${link(pathIn(slug, LIST), 'Ver quem trabalha')}.</p>`,
    };
  }
  const { usuario, isOffered } = found;
  const { login } = usuario;
  const isBlocked = usuario.situacao === 'bloqueado';
  const act = (path: string, button: string, isGrave: boolean, about: Html, fields: Inserted = undefined): Html => {
    const isTried = call.request.url.endsWith(`/${path}`);
    const motivo = field({
      name: 'motivo',
      label: 'Motivo',
      help: 'Fica no histórico.',
      value: isTried ? call.form.text('motivo') : '',
      required: path === 'bloquear' || path === 'redefinir',
      of: path,
    });
    const shown = form({
      action: `${pathOf(slug, login)}/${path}`,
      token: formTokenOf(visitor),
      fields: [fields, motivo],
      button,
      isGrave,
    });
    return folded(button, html`${about}${shown}`, isTried);
  };
  const about = isOffered
    ? [['Situação', mark(OFFERED)] as const]
    : [
        ['Situação', mark(SITUACOES[usuario.situacao])] as const,
        ['Segundo fator', factorsOf(usuario)] as const,
        ['Conta criada em', momentOf(usuario.criadoEm)] as const,
        ['Conta criada por', usuario.criadoPor ?? 'não se guardou'] as const,
      ];
  const ruled = html`${act(
    'redefinir',
    'Redefinir a conta',
    true,
    html`<p>Para quem esqueceu a senha ou perdeu o segundo fator. ${REDEFINIDA}</p>`,
  )}${
    isBlocked
      ? act('desbloquear', 'Desbloquear a conta', false, html``)
      : act(
          'bloquear',
          'Bloquear a conta',
          true,
          html`<p>Quem está bloqueado não entra, e as sessões abertas se encerram.</p>`,
        )
  }`;
  return {
    title: isOffered ? login : usuario.nome,
    here: HERE,
    ...(refused === undefined ? {} : { status: 422 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused.problem)}${facts([
      ['Login', login],
      ['Papel aqui', papelIn(usuario, slug)],
      ...about,
    ])}<p>${link(pathIn(slug, '/trilha', { quem: login }), 'O que esta pessoa fez')}</p>
${act('papel', 'Mudar o papel', false, html``, roleField(usuario.papeis[slug] ?? usuario.ofertas[slug]))}${isOffered ? undefined : ruled}${act(
  'retirar',
  `Retirar de ${slug}`,
  true,
  html`<p>A pessoa deixa de trabalhar para este município; a conta continua onde mais trabalha. Uma conta com que ninguém entrou, e que não
trabalha em outro lugar, é apagada.</p>`,
)}`,
  };
}

/** Acts on an account and shows the result on the page of `to`. */
async function actOn(
  call: InMunicipio,
  act: (login: string, by: Quem) => Promise<Problem | undefined>,
  said: string,
  to: string = pathOf(call.slug, call.params['login']!),
): Promise<Answer> {
  const found = await oneOf(call);
  if (found === undefined) return onePage(call);
  const refused = await act(found.usuario.login, quemOf(call));
  return refused === undefined ? { goTo: to, recado: said } : onePage(call, refused);
}

const REDEFINIDA =
  'A pessoa recebe um link novo. A senha, os segundos fatores e as sessões de agora deixam de valer, e isto não se desfaz.';

/** Redefines an account once its page of confirmation was sent. */
async function redefine(call: InMunicipio): Promise<Answer> {
  const { world, slug } = call;
  const found = await oneOf(call);
  if (found === undefined || goesBack(call)) return onePage(call);
  const { login, nome } = found.usuario;
  const by = quemOf(call);
  const read = needMotivo(by);
  if ('problem' in read) return onePage(call, read);
  const action = `${pathOf(slug, login)}/redefinir`;
  const content = { motivo: read.motivo };
  if (readSealed(call, action, content) !== undefined) {
    const made = await redefinirUsuario(world, login, by);
    return 'problem' in made ? onePage(call, made) : invitationPage(call, login, made.convite);
  }
  const refused = await foreseeRedefinir(world, login, by);
  if (refused !== undefined) return onePage(call, refused);
  return {
    title: 'Redefinir a conta?',
    here: HERE,
    main: html`<p>${REDEFINIDA}</p>
${facts([
  ['De quem', `${nome} (${login})`],
  ['Motivo', read.motivo],
  ['Por quem', namePessoa(call)],
])}${confirmForm(call, { action, content, state: {}, button: 'Redefinir a conta' })}`,
  };
}

const one = (path: string, handle: (call: InMunicipio) => Promise<Answer>): Row =>
  forRole('administracao', 'POST', `${LIST}/:login${path}`, handle);

export const USUARIOS_ROUTES: readonly Row[] = [
  forRole('administracao', 'GET', LIST, listPage),
  forRole('administracao', 'GET', `${LIST}/novo`, async (call) => newPage(call)),
  forRole('administracao', 'POST', `${LIST}/novo`, createUsuario),
  forRole('administracao', 'GET', `${LIST}/:login`, (call) => onePage(call)),
  one('/papel', async (call) => {
    const papel = call.form.text('papel');
    if (!isPapel(papel)) return onePage(call, { problem: 'Escolha o papel.' });
    let convite: string | undefined;
    const change = async (login: string, by: Quem): Promise<Problem | undefined> => {
      const made = await criarUsuario(call.world, { login, nome: undefined, municipio: call.slug, papel }, by);
      if ('problem' in made) return made;
      convite = made.convite;
      return undefined;
    };
    const answer = await actOn(call, change, `O papel agora é ${PAPEIS_NAMES[papel]}.`);
    return convite === undefined ? answer : invitationPage(call, call.params['login']!, convite);
  }),
  one('/bloquear', (call) =>
    actOn(call, (login, by) => bloquearUsuario(call.world, login, true, by), 'A conta foi bloqueada.'),
  ),
  one('/desbloquear', (call) =>
    actOn(call, (login, by) => bloquearUsuario(call.world, login, false, by), 'A conta foi desbloqueada.'),
  ),
  one('/retirar', (call) =>
    actOn(
      call,
      async (login, by) => {
        const done = await retirarUsuario(call.world, login, call.slug, by);
        return 'problem' in done ? done : undefined;
      },
      `${call.params['login']} já não trabalha para ${call.slug}.`,
      pathIn(call.slug, LIST),
    ),
  ),
  one('/redefinir', redefine),
];

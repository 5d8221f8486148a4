/** Tokens that give access to the data of a CNPJ or CPF: those in force, and their end. */

import { facts, field, form, hidden, link, notice, table } from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { MOTIVO_MAX } from '../../base/world/operator.ts';
import { mayAs } from '../../base/world/papeis.ts';
import { showDocumento, whyNoDocumento } from '../../fiscal/chave.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { writtenMoment } from '../eventos/palavras.page.ts';
import {
  findTokenDoMunicipio,
  listTokensDoMunicipio,
  revokeTokenByHand,
  TOKEN_POR,
  TOKENS_MAX,
  type TokenDoMunicipio,
} from './tokens.ts';

const HERE = 'tokens';
const PATH = '/tokens';

const ABOUT = html`<p>Quem tem o certificado de um CNPJ ou CPF pede com ele um token, e com o token lista notas e cadastra endereços de aviso. Um token não
emite nada, e vence sozinho; revogado, deixa de servir em segundos. O token em si não se guarda: aqui só se vê que existe.</p>
`;

async function listPage(call: InMunicipio): Promise<PageShown> {
  const { world, slug, query, papel } = call;
  const documento = query.get('documento')?.trim() ?? '';
  const problem = documento === '' ? undefined : whyNoDocumento(documento);
  const search = html`<form method="get" class="filtros" role="search">
${field({
  name: 'documento',
  label: 'CNPJ ou CPF',
  value: documento,
  problem: problem && `O que escreveu ${problem}.`,
})}<button>Filtrar</button>
</form>
`;
  if (problem !== undefined) return { title: 'Tokens', here: HERE, status: 422, main: html`${ABOUT}${search}` };
  const tokens = await listTokensDoMunicipio(world, slug, documento || undefined);
  return {
    title: 'Tokens',
    here: HERE,
    main: html`${ABOUT}${search}${tokens.length === 0 ? html`<p>Nenhum token em vigor${documento === '' ? '' : ' deste documento'}.</p>\n` : listed(slug, tokens, mayAs(papel, 'administracao'))}`,
  };
}

function listed(slug: string, tokens: readonly TokenDoMunicipio[], mayRevoke: boolean): Html {
  const head = ['Documento', 'Para quê', 'Dado em', 'Vence em', 'Dado por', 'Token'];
  const rows = tokens.map((one) => [
    showDocumento(one.documento),
    one.escopos.join(', '),
    writtenMoment(one.criado_em),
    writtenMoment(one.expira_em),
    TOKEN_POR[one.por],
    html`<code>${one.id}</code>`,
    ...(mayRevoke ? [link(pathIn(slug, `${PATH}/${one.id}`), html`Revogar${hidden(` o token ${one.id}`)}`)] : []),
  ]);
  const cut =
    tokens.length === TOKENS_MAX
      ? notice('aviso', `São os ${TOKENS_MAX.toLocaleString('pt-BR')} mais novos. Os outros se veem pelo documento.`)
      : undefined;
  const whole = mayRevoke ? [...head, 'O que fazer'] : head;
  return html`${cut}${table('Tokens em vigor, do mais novo ao mais antigo', whole, rows)}`;
}

const NOT_THERE = (slug: string): PageShown => ({
  title: 'Token não encontrado',
  here: HERE,
  status: 404,
  main: html`<p>Este token não está em vigor: foi revogado, venceu, ou nunca houve. ${link(pathIn(slug, PATH), 'Ver os que há')}.</p>`,
});

async function onePage(call: InMunicipio, problem?: string): Promise<PageShown> {
  const { world, slug, params, visitor, form: sent } = call;
  const token = await findTokenDoMunicipio(world, slug, params['token']!);
  if (token === undefined) return NOT_THERE(slug);
  const motivo = field({
    name: 'motivo',
    label: 'Motivo',
    help: 'Fica no histórico.',
    value: sent.text('motivo'),
    problem,
    required: true,
    maxlength: MOTIVO_MAX,
  });
  return {
    title: 'Revogar um token',
    here: HERE,
    ...(problem === undefined ? {} : { status: 422 }),
    main: html`${facts([
      ['Documento', showDocumento(token.documento)],
      ['Para quê', token.escopos.join(', ')],
      ['Dado em', writtenMoment(token.criado_em)],
      ['Vence em', writtenMoment(token.expira_em)],
      ['Dado por', TOKEN_POR[token.por]],
      ['Token', html`<code>${token.id}</code>`],
    ])}<p>Revogado, ele não volta: o programa que o usa recebe 401 até que o dono do documento peça outro, com o seu certificado.</p>
${form({
  action: pathIn(slug, `${PATH}/${token.id}`),
  token: formTokenOf(visitor),
  fields: motivo,
  button: 'Revogar',
  isGrave: true,
  beside: link(pathIn(slug, PATH), 'Voltar sem revogar'),
})}`,
  };
}

async function revoke(call: InMunicipio): Promise<Answer> {
  const { world, slug, params } = call;
  const by = byHand(call);
  if (by.motivo === undefined) return onePage(call, 'Escreva por que se revoga.');
  const revoked = await revokeTokenByHand(world, slug, params['token']!, by);
  if ('problem' in revoked) return onePage(call, revoked.problem);
  return { goTo: pathIn(slug, PATH), recado: `O token ${revoked.id} foi revogado.` };
}

export const TOKENS_ROUTES: readonly Row[] = [
  forRole('leitura', 'GET', PATH, listPage),
  forRole('administracao', 'GET', `${PATH}/:token`, (call) => onePage(call)),
  forRole('administracao', 'POST', `${PATH}/:token`, revoke),
];

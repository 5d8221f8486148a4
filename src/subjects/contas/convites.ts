/** Invitations: a link that is valid once, by which a person chooses the password of an account made for them. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Problem } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import { municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { HOUR_MS } from '../../fiscal/moment.ts';
import { type Conta, type Contas, type Convite, type Oferta, PRIMEIRA } from './contas.rows.ts';
import { hashPassword, whyWeak } from './password.ts';
import type { ProvedPerson } from './provider.ts';
import type { Sessao } from './sessoes.rows.ts';

export type ContasWorld = Pick<World, 'store' | 'now'>;

const TOKEN_BYTES = 32;
/** A link is handed over in person, by letter or by message. */
export const CONVITE_MS = 72 * HOUR_MS;

/** The stored hash of a secret. */
export function printOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export function makeSecretText(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** A link that is valid once, and its stored form. */
export function makeConvite(now: number): { readonly secret: string; readonly convite: Convite } {
  const secret = makeSecretText();
  return { secret, convite: { impressao: printOf(secret), expiraEm: now + CONVITE_MS } };
}

/**
 * The secret of the link for the first administrator, new at each start until it is used. It makes an administrator of every existing
 * municipality. Undefined: there is an account; the first one deletes the earlier link.
 */
export async function inviteFirst({ store, now }: ContasWorld): Promise<string | undefined> {
  const municipios = await store.municipios.list();
  return store.contas.alone(async (contas) => {
    const all = await contas.list();
    if (all.some((conta) => !isFirst(conta))) return undefined;
    const id = all[0]?.id ?? randomUUID();
    const { secret, convite } = makeConvite(now());
    await contas.create({ id, login: PRIMEIRA, nome: 'Administrador', por: null }, now());
    await contas.change(id, { convite }, now());
    for (const { tenant } of municipios) {
      await contas.offerPapel(id, { municipio: tenant, papel: 'administracao', dado_por: null }, convite);
    }
    return secret;
  });
}

/** Whether it is the account that waits for the first administrator. */
export function isFirst({ login }: Pick<Conta, 'login'>): boolean {
  return login === PRIMEIRA;
}

/** Whether the account has a proof. */
export function isTaken({ senha, oidc_sujeito }: Pick<Conta, 'senha' | 'oidc_sujeito'>): boolean {
  return senha !== null || oidc_sujeito !== null;
}

/**
 * The content of a link: an account, and the roles that it gives. `mayTake`: the account has no proof, and the link may give it its first.
 * A link of another municipality may not if the account has roles, because they were given to another person (D-771).
 */
export type ConviteAberto = {
  readonly conta: Conta;
  readonly ofertas: readonly Oferta[];
  readonly mayTake: boolean;
};

/** Reads a link that is still valid. */
export function readConvite({ store, now }: ContasWorld, secret: string): Promise<ConviteAberto | undefined> {
  return readAberto(store.contas, secret, now());
}

async function readAberto(
  contas: Pick<Contas, 'findByConvite' | 'listOfertas'>,
  secret: string,
  now: number,
): Promise<ConviteAberto | undefined> {
  const impressao = printOf(secret);
  const conta = await contas.findByConvite(impressao, now);
  if (conta === undefined || conta.bloqueada_em !== null) return undefined;
  const ofertas = await contas.listOfertas(impressao, now);
  const isOwn = conta.convite?.equals(impressao) === true;
  const mayTake = !isTaken(conta) && (isOwn || Object.keys(conta.papeis).length === 0);
  return mayTake || ofertas.length > 0 ? { conta, ofertas, mayTake } : undefined;
}

/** Suffix of a person's name who made an account, or offered a role, by command. */
export const BY_COMMAND = ', por comando';
export function isByCommand(por: string | null): boolean {
  return por?.endsWith(BY_COMMAND) ?? false;
}

/**
 * Whether an account was made by command, or by a person who now works for the link's municipality. The link then shows the data of the
 * account.
 */
export async function isMadeHere(
  { store }: Pick<ContasWorld, 'store'>,
  { conta: { criada_por }, ofertas }: ConviteAberto,
): Promise<boolean> {
  if (ofertas.length === 0 || criada_por === null || isByCommand(criada_por)) return true;
  const papeis = (await store.contas.findByLogin(criada_por))?.papeis;
  return ofertas.some(({ municipio }) => Object.hasOwn({ ...papeis }, municipio));
}

const LOGIN = /^[a-z0-9][a-z0-9._@+-]{2,99}$/;
/** Reserved: the page of such an account would have the address of the form for new ones. */
const PATH_OF_FORM = 'novo';
const NOME_MAX = 100;

/** A login in lower case, or the reason why it is invalid. */
export function readLogin(text: string): { readonly login: string } | Problem {
  const login = text.trim().toLowerCase();
  if (login === PATH_OF_FORM)
    return { problem: `O login não pode ser «${PATH_OF_FORM}». Escolha outro; o e-mail serve.` };
  if (LOGIN.test(login)) return { login };
  return {
    problem:
      'O login tem de 3 a 100 posições: letras sem acento, dígitos, ponto, hífen, sublinhado, + e @. O e-mail serve.',
  };
}

export function readNome(text: string): { readonly nome: string } | Problem {
  const nome = text.trim().replace(/\s+/g, ' ');
  if (nome === '') return { problem: 'O nome está vazio: escreva como a pessoa assina.' };
  return nome.length <= NOME_MAX ? { nome } : { problem: `O nome tem ${nome.length} caracteres; cabem ${NOME_MAX}.` };
}

export type Aceite = {
  readonly nome: string;
  /** Chosen by the first administrator, and by a person who does not own the link's account; ignored otherwise. */
  readonly login: string;
  readonly senha: string;
  readonly repetida: string;
};

type Accepted = { readonly conta: Conta };

/** Uses up a link by a chosen password: for its own account, or for a new one if that account has an owner. */
export async function acceptConvite(
  world: ContasWorld,
  secret: string,
  asked: Aceite,
): Promise<Accepted | { readonly problems: Readonly<Partial<Record<keyof Aceite, string>>> } | Problem> {
  const found = await readConvite(world, secret);
  if (found === undefined) return { problem: CONVITE_SPENT };
  const nome = readNome(asked.nome);
  const login = choosesLogin(found) ? readLogin(asked.login) : { login: found.conta.login };
  const about = [...('nome' in nome ? [nome.nome] : []), ...('login' in login ? [login.login] : [])];
  const municipios = [...Object.keys(found.conta.papeis), ...found.ofertas.map(({ municipio }) => municipio)];
  const senha = await whySenha(world, asked, municipios, about);
  const problems = {
    ...('problem' in nome ? { nome: nome.problem } : {}),
    ...('problem' in login ? { login: login.problem } : {}),
    ...senha,
  };
  if ('problem' in nome || 'problem' in login || Object.keys(problems).length > 0) return { problems };
  const { store, now } = world;
  const tomada = { nome: nome.nome, login: login.login, senha: await hashPassword(asked.senha) };
  return store.contas.alone(async (contas) => {
    const open = await readAberto(contas, secret, now());
    // Nothing happens if the link no longer does what the page said.
    if (open === undefined || open.mayTake !== found.mayTake) return { problem: CONVITE_SPENT };
    const { conta, ofertas, mayTake } = open;
    const other = await contas.findByLogin(tomada.login);
    if (other !== undefined && (other.id !== conta.id || !mayTake)) {
      return { problems: { login: `O login ${tomada.login} já é de outra conta. Escolha outro.` } };
    }
    const id = mayTake ? conta.id : randomUUID();
    if (!mayTake) {
      const por = ofertas[0]!.dado_por;
      await contas.create({ id, login: tomada.login, nome: tomada.nome, por }, now());
    }
    if (!(await contas.takeConta(id, tomada, now()))) return { problem: CONVITE_SPENT };
    return finish(contas, id, secret, ofertas, now());
  });
}

/** Whether the person chooses a login: the link's account waits for the first administrator, or has an owner. */
export function choosesLogin({ conta, mayTake }: ConviteAberto): boolean {
  return isFirst(conta) || !mayTake;
}

/** Accepts the roles of a link for an account that the person has just proved to own. */
export async function acceptPapeis(
  { store, now }: ContasWorld,
  secret: string,
  { conta: shown, sessao }: { readonly conta: Conta; readonly sessao: Sessao },
): Promise<Accepted | Problem> {
  return store.contas.alone(async (contas) => {
    const open = await readAberto(contas, secret, now());
    if (open === undefined) return { problem: CONVITE_SPENT };
    const isOpen = (await contas.sessoes.find(sessao.impressao)) !== undefined;
    if (!isOpen || open.conta.id !== shown.id || !isJustShown(sessao, now())) return { problem: SHOW_ANEW };
    return finish(contas, shown.id, secret, open.ofertas, now());
  });
}

export const JUST_MINUTES = 10;
const JUST_MS = JUST_MINUTES * 60_000;

/** Whether the person has entered completely a moment ago. */
export function isJustShown({ etapa, criada_em }: Pick<Sessao, 'etapa' | 'criada_em'>, now: number): boolean {
  return etapa === 'inteira' && now - +criada_em <= JUST_MS;
}

export const SHOW_ANEW = `Para aceitar o papel, entre com essa conta e abra este link de novo em até ${JUST_MINUTES} minutos.`;

/** Uses up a link by an identity of the provider: for the account with that identity, else for the link's account. */
export async function acceptProved(
  { store, now }: ContasWorld,
  secret: string,
  { emissor, sujeito }: Pick<ProvedPerson, 'emissor' | 'sujeito'>,
): Promise<Accepted | Problem> {
  return store.contas.alone(async (contas) => {
    const open = await readAberto(contas, secret, now());
    if (open === undefined || isFirst(open.conta)) return { problem: CONVITE_SPENT };
    const { conta, ofertas } = open;
    const own = await contas.findBySujeito(emissor, sujeito);
    if (own !== undefined) {
      const there = ofertas.find(
        ({ municipio }) => own.id !== conta.id && municipio in { ...own.papeis, ...own.ofertas },
      );
      if (ofertas.length === 0 || own.bloqueada_em !== null || there !== undefined) {
        return {
          problem: `O provedor confirmou quem você é: a conta ${own.login}, a que este link não serve. Peça outro para ela.`,
        };
      }
      return finish(contas, own.id, secret, ofertas, now());
    }
    const { login, nome } = conta;
    if (!(open.mayTake && (await contas.takeConta(conta.id, { login, nome, oidc: { emissor, sujeito } }, now())))) {
      return {
        problem: `A conta ${login} já está em uso, e não por este acesso do provedor. Abra o link de novo para entrar com ela, ou para escolher outro login.`,
      };
    }
    return finish(contas, conta.id, secret, ofertas, now());
  });
}

/** Gives the account the roles of the link, and records this in the trails of their municipalities. */
async function finish(
  contas: Contas,
  id: string,
  secret: string,
  ofertas: readonly Oferta[],
  em: number,
): Promise<Accepted> {
  await contas.acceptPapeis(id, printOf(secret), em);
  const conta = (await contas.find(id))!;
  const about = { em, quem: conta.login, via: 'painel', objeto: 'usuario', chave: conta.login } as const;
  for (const { municipio, papel } of ofertas) {
    await contas.record(municipio, { ...about, acao: 'papel aceito', depois: { papel } });
  }
  return { conta };
}

/** Whether nobody has an account yet: the console waits for its first administrator. */
export async function isUnclaimed({ store }: Pick<ContasWorld, 'store'>): Promise<boolean> {
  return (await store.contas.list()).every(isFirst);
}

/** The text where nobody could give a new link (D-847). */
export const FIRST_SPENT =
  'Este link não serve mais: o serviço foi iniciado outra vez e mostrou um novo, que vale no lugar deste. Ainda não há nenhum usuário. Use o link mais novo, que está na saída ou no registro do serviço; ou, na máquina dele, faça o primeiro usuário com `nfse usuario criar LOGIN --municipio MUNICIPIO --papel administracao`.';

export const CONVITE_SPENT =
  'Este link não serve mais: já foi usado, venceu ou foi trocado por outro. Peça um novo a quem administra os usuários, ou a quem opera o serviço (nfse usuario redefinir).';

/** Describes the problems of a chosen password. `slugs`: the municipalities of its owner, which attackers try first. */
export async function whySenha(
  { store }: Pick<ContasWorld, 'store'>,
  { senha, repetida }: { readonly senha: string; readonly repetida: string },
  slugs: readonly string[],
  about: readonly string[],
): Promise<{ readonly senha?: string; readonly repetida?: string }> {
  const municipios = (await store.municipios.list()).filter(({ tenant }) => slugs.includes(tenant));
  const names = municipios.flatMap(({ tenant, codigoIbge }) => [tenant, municipioOf(codigoIbge ?? '')?.nome ?? '']);
  const weak = await whyWeak(senha, [...about, ...names]);
  if (weak !== undefined) return { senha: weak };
  return senha === repetida ? {} : { repetida: 'A senha repetida é diferente da primeira. Digite as duas de novo.' };
}

/** Invitations: a link that serves once, by which somebody chooses the password of an account that was made for them. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { hashPassword, whyWeak } from '../identity/password.ts';
import { type Conta, type Contas, PRIMEIRA } from '../store/contas.ts';
import type { Problem } from './operator.ts';
import type { World } from './world.ts';

export type ContasWorld = Pick<World, 'store' | 'now'>;

const TOKEN_BYTES = 32;
const HOUR_MS = 3_600_000;
/** A link is handed over by person, letter or message. */
export const CONVITE_MS = 72 * HOUR_MS;

/** What is kept of a secret that somebody else has. */
export function printOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export function makeSecretText(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Invites the owner of an account; the secret of the link, of which only the last one serves. */
export async function inviteConta(contas: Contas, id: string, now: number): Promise<string> {
  const secret = makeSecretText();
  await contas.change(id, { convite: { impressao: printOf(secret), expiraEm: now + CONVITE_MS } }, now);
  return secret;
}

/**
 * The secret of the link for the first administrator, anew at each start until it is used: administrator of every municipality that there
 * is. Undefined: there is an account, and with the first one the link before is gone.
 */
export async function inviteFirst({ store, now }: ContasWorld): Promise<string | undefined> {
  const municipios = await store.municipios.list();
  return store.contas.alone(async (contas) => {
    const all = await contas.list();
    if (all.some((conta) => !isFirst(conta))) return undefined;
    const id = all[0]?.id ?? randomUUID();
    await contas.create({ id, login: PRIMEIRA, nome: 'Administrador' }, now());
    for (const { tenant } of municipios) await contas.setPapel(id, tenant, 'administracao');
    return inviteConta(contas, id, now());
  });
}

/** Whether it is the account that nobody has taken yet. */
export function isFirst({ login }: Pick<Conta, 'login'>): boolean {
  return login === PRIMEIRA;
}

/** The account of an invitation that still serves; `isFirst`: its owner chooses the login as well. */
export async function readConvite(
  { store, now }: ContasWorld,
  secret: string,
): Promise<{ readonly conta: Conta; readonly isFirst: boolean } | undefined> {
  const conta = await store.contas.findByConvite(printOf(secret));
  if (conta === undefined || conta.bloqueada_em !== null || +conta.convite_expira_em! <= now()) return undefined;
  return { conta, isFirst: isFirst(conta) };
}

const LOGIN = /^[a-z0-9][a-z0-9._@+-]{2,99}$/;
const NOME_MAX = 100;

/** A login in lower case, or why it cannot be one. */
export function readLogin(text: string): { readonly login: string } | Problem {
  const login = text.trim().toLowerCase();
  if (LOGIN.test(login)) return { login };
  return {
    problem:
      'O login tem de 3 a 100 posições: letras sem acento, algarismos, ponto, hífen, sublinhado, + e @. O e-mail serve.',
  };
}

export function readNome(text: string): { readonly nome: string } | Problem {
  const nome = text.trim().replace(/\s+/g, ' ');
  if (nome === '') return { problem: 'O nome está vazio: escreva como a pessoa assina.' };
  return nome.length <= NOME_MAX ? { nome } : { problem: `O nome tem ${nome.length} caracteres; cabem ${NOME_MAX}.` };
}

export type Aceite = {
  readonly nome: string;
  /** Of the first administrator, who chooses it; of others it stands. */
  readonly login: string;
  readonly senha: string;
  readonly repetida: string;
};

/** Uses an invitation up. The account, or all that is wrong, by field. */
export async function acceptConvite(
  world: ContasWorld,
  secret: string,
  asked: Aceite,
): Promise<
  { readonly conta: Conta } | { readonly problems: Readonly<Partial<Record<keyof Aceite, string>>> } | Problem
> {
  const found = await readConvite(world, secret);
  if (found === undefined) return { problem: CONVITE_SPENT };
  const { conta, isFirst } = found;
  const nome = readNome(asked.nome);
  const login = isFirst ? readLogin(asked.login) : { login: conta.login };
  const about = [...('nome' in nome ? [nome.nome] : []), ...('login' in login ? [login.login] : [])];
  const senha = await whySenha(asked, about);
  const problems = {
    ...('problem' in nome ? { nome: nome.problem } : {}),
    ...('problem' in login ? { login: login.problem } : {}),
    ...senha,
  };
  if ('problem' in nome || 'problem' in login || Object.keys(problems).length > 0) return { problems };
  const { store, now } = world;
  const aceita = { nome: nome.nome, login: login.login, senha: await hashPassword(asked.senha) };
  return store.contas.alone(async (contas) => {
    const other = await contas.findByLogin(aceita.login);
    if (other !== undefined && other.id !== conta.id) {
      return { problems: { login: `O login ${aceita.login} já é de outra conta.` } };
    }
    const isTaken = await contas.acceptConvite(conta.id, printOf(secret), aceita, now());
    return isTaken ? { conta: (await contas.find(conta.id))! } : { problem: CONVITE_SPENT };
  });
}

export const CONVITE_SPENT =
  'Este link não serve mais: já foi usado, venceu ou foi trocado por outro. Peça um novo a quem administra os usuários, ou a quem opera o serviço (nfse usuario redefinir).';

/** What is wrong with a password that is chosen. */
export async function whySenha(
  { senha, repetida }: { readonly senha: string; readonly repetida: string },
  about: readonly string[],
): Promise<{ readonly senha?: string; readonly repetida?: string }> {
  const weak = await whyWeak(senha, about);
  if (weak !== undefined) return { senha: weak };
  return senha === repetida ? {} : { repetida: 'A senha repetida é diferente da primeira. Digite as duas de novo.' };
}

/** Accounts as whoever administers them sees and changes them: by municipality, from the console or by command. */
import { randomUUID } from 'node:crypto';
import type { NovoAto } from '../store/atos.ts';
import type { Conta, Papel } from '../store/contas.ts';
import { type ContasWorld, inviteConta, readLogin, readNome } from './convites.ts';
import { municipioNamed } from './municipios.ts';
import type { PorMao, Problem } from './operator.ts';
import { mayAs } from './papeis.ts';

/** `podeTudo`: municipalities that the asker administers; undefined: all, as by command. */
export type Quem = PorMao & { readonly administra?: ReadonlySet<string> | undefined };

export type Usuario = {
  readonly login: string;
  readonly nome: string;
  readonly papeis: Readonly<Record<string, Papel>>;
  readonly situacao: 'ativo' | 'convidado' | 'bloqueado';
  readonly segundoFator: readonly ('codigo' | 'passkey')[];
  readonly provedor: boolean;
  readonly criadoEm: Date;
};

/** Accounts that work for a municipality, or all. */
export async function listUsuarios({ store }: ContasWorld, municipio?: string): Promise<readonly Usuario[]> {
  const contas = await store.contas.list();
  return contas.filter(({ papeis }) => municipio === undefined || Object.hasOwn(papeis, municipio)).map(usuarioOf);
}

function usuarioOf({
  login,
  nome,
  papeis,
  bloqueada_em,
  senha,
  oidc_sujeito,
  totp,
  passkeys,
  criada_em,
}: Conta): Usuario {
  const isNew = senha === null && oidc_sujeito === null;
  return {
    login,
    nome,
    papeis,
    situacao: bloqueada_em !== null ? 'bloqueado' : isNew ? 'convidado' : 'ativo',
    segundoFator: [
      ...(totp === null ? [] : (['codigo'] as const)),
      ...(passkeys.length > 0 ? (['passkey'] as const) : []),
    ],
    provedor: oidc_sujeito !== null,
    criadoEm: criada_em,
  };
}

export type NovoUsuario = {
  readonly login: string;
  /** Of an account that is there already, its own stands. */
  readonly nome: string | undefined;
  readonly municipio: string;
  readonly papel: Papel;
};

/** `convite`: the secret of the link to hand over; undefined where the account was there already, and was given a role. */
export type Criado = { readonly usuario: Usuario; readonly convite: string | undefined };

/** Makes an account, or gives one that is there a role in a municipality. */
export async function criarUsuario(world: ContasWorld, asked: NovoUsuario, by: Quem): Promise<Criado | Problem> {
  const { store, now } = world;
  const { municipio, papel } = asked;
  await municipioNamed(world, municipio);
  const login = readLogin(asked.login);
  if ('problem' in login) return login;
  const nome = readNome(asked.nome ?? login.login);
  if ('problem' in nome) return nome;
  const isNew = await store.contas.create({ id: randomUUID(), login: login.login, nome: nome.nome }, now());
  const conta = (await store.contas.findByLogin(login.login))!;
  const antes = conta.papeis[municipio];
  const kept = papel === 'administracao' ? undefined : await whyKept(world, conta, municipio);
  if (kept !== undefined) return kept;
  const convite = isNew ? await inviteConta(world, conta.id) : undefined;
  await store.contas.setPapel(conta.id, municipio, papel);
  await record(world, [municipio], conta, isNew ? 'criado' : 'papel mudado', by, { papel: antes }, { papel });
  return { usuario: usuarioOf((await store.contas.find(conta.id))!), convite };
}

/** Takes the role of an account in a municipality away; the account stays. */
export async function retirarUsuario(
  world: ContasWorld,
  login: string,
  municipio: string,
  by: Quem,
): Promise<Problem | undefined> {
  const conta = await findConta(world, login);
  const papel = conta?.papeis[municipio];
  if (conta === undefined || papel === undefined) return noUsuario(login, municipio);
  const kept = await whyKept(world, conta, municipio);
  if (kept !== undefined) return kept;
  await world.store.contas.setPapel(conta.id, municipio, undefined);
  await record(world, [municipio], conta, 'retirado', by, { papel }, {});
  return undefined;
}

/** Why an account keeps the role that it has: nobody else administers the municipality. */
async function whyKept(
  { store }: ContasWorld,
  { login, papeis }: Conta,
  municipio: string,
): Promise<Problem | undefined> {
  if (papeis[municipio] !== 'administracao') return undefined;
  const contas = await store.contas.list();
  const isOther = (one: Conta): boolean =>
    one.login !== login && one.bloqueada_em === null && one.papeis[municipio] === 'administracao';
  if (contas.some(isOther)) return undefined;
  return {
    problem: `${login} é quem resta para administrar ${municipio}. Dê antes a outra pessoa o papel administracao.`,
  };
}

/** Blocks an account, which ends its sessions, or lets it in again. */
export async function bloquearUsuario(
  world: ContasWorld,
  login: string,
  isBlocked: boolean,
  by: Quem,
): Promise<Problem | undefined> {
  const { store, now } = world;
  const found = await governed(world, login, by);
  if ('problem' in found) return found;
  const { conta } = found;
  const is = conta.bloqueada_em !== null;
  if (is === isBlocked) return { problem: `A conta ${login} já está ${is ? 'bloqueada' : 'ativa'}.` };
  if (isBlocked && by.via === 'painel' && by.quem === conta.login) {
    return { problem: 'Esta é a sua própria conta: quem a bloqueia é outra pessoa.' };
  }
  if (isBlocked && !by.motivo?.trim()) return { problem: 'Falta o motivo do bloqueio: ele fica na trilha.' };
  await store.contas.change(conta.id, { bloqueadaEm: isBlocked ? now() : null }, now());
  if (isBlocked) await store.sessoes.endAll(conta.id, undefined, now());
  await record(world, Object.keys(conta.papeis), conta, isBlocked ? 'bloqueado' : 'desbloqueado', by, {}, {});
  return undefined;
}

/** Forgets by what an account proves who it is, and invites its owner anew: the secret of the link. */
export async function redefinirUsuario(
  world: ContasWorld,
  login: string,
  by: Quem,
): Promise<{ readonly convite: string } | Problem> {
  const { store, now } = world;
  const found = await governed(world, login, by);
  if ('problem' in found) return found;
  const { conta } = found;
  await store.contas.forgetProofs(conta.id);
  await store.sessoes.endAll(conta.id, undefined, now());
  const convite = await inviteConta(world, conta.id);
  await record(world, Object.keys(conta.papeis), conta, 'redefinido', by, {}, {});
  return { convite };
}

/** An account that the asker may block or take over: of one that also works elsewhere only who administers all of it. */
async function governed(world: ContasWorld, login: string, { administra }: Quem): Promise<{ conta: Conta } | Problem> {
  const conta = await findConta(world, login);
  const municipios = Object.keys(conta?.papeis ?? {});
  const isSeen = administra === undefined || municipios.some((one) => administra.has(one));
  if (conta === undefined || !isSeen) return noUsuario(login, undefined);
  if (administra !== undefined && !municipios.every((one) => administra.has(one))) {
    return {
      problem: `A conta ${login} também trabalha para outros municípios, e só quem administra todos eles, ou opera o serviço, a bloqueia ou redefine. Aqui você pode retirar o papel dela.`,
    };
  }
  return { conta };
}

function findConta({ store }: ContasWorld, login: string): Promise<Conta | undefined> {
  return store.contas.findByLogin(login.trim().toLowerCase());
}

function noUsuario(login: string, municipio: string | undefined): Problem {
  const where = municipio === undefined ? '' : ` em ${municipio}`;
  return { problem: `Não há usuário com o login ${login}${where}. Confira-o na lista de usuários.` };
}

async function record(
  { store, now }: ContasWorld,
  tenants: readonly string[],
  { login }: Conta,
  acao: string,
  { quem, via, motivo }: PorMao,
  antes: object,
  depois: object,
): Promise<void> {
  const ato: NovoAto = { em: now(), quem, via, objeto: 'usuario', chave: login, acao, motivo, antes, depois };
  for (const tenant of tenants) await store.atos.record(tenant, [ato]);
}

/** The municipalities that somebody administers. */
export function administeredBy({ papeis }: Conta): ReadonlySet<string> {
  return new Set(Object.keys(papeis).filter((municipio) => mayAs(papeis[municipio]!, 'administracao')));
}

/** Accounts as an administrator sees and changes them: by municipality, from the console or by command. */

import { randomUUID } from 'node:crypto';
import type { NovoAto } from '../../base/book/atos.ts';
import type { Papel } from '../../base/book/papeis.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import { type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import { mayAs } from '../../base/world/papeis.ts';
import type { Conta, Contas, Direito } from './contas.rows.ts';
import {
  BY_COMMAND,
  type ContasWorld,
  isByCommand,
  isFirst,
  isTaken,
  makeConvite,
  readLogin,
  readNome,
} from './convites.ts';

/** `conta`: account of the asker, whose roles are read again at the time of the act; undefined: by command, which may do all. */
export type Quem = PorMao & { readonly conta?: string | undefined };

export type Usuario = {
  readonly login: string;
  readonly nome: string;
  readonly papeis: Readonly<Record<string, Papel>>;
  /** Given, and not accepted yet. */
  readonly ofertas: Readonly<Record<string, Papel>>;
  readonly situacao: 'ativo' | 'convidado' | 'bloqueado';
  readonly segundoFator: readonly ('codigo' | 'passkey')[];
  readonly provedor: boolean;
  readonly criadoEm: Date;
  readonly criadoPor: string | null;
};

/** Accounts that work for a municipality, or all. */
export async function listUsuarios({ store }: ContasWorld, municipio?: string): Promise<readonly Usuario[]> {
  const contas = await store.contas.list();
  const isSeen = (conta: Conta): boolean =>
    !isFirst(conta) && (municipio === undefined || Object.hasOwn({ ...conta.ofertas, ...conta.papeis }, municipio));
  return contas.filter(isSeen).map(usuarioOf);
}

export type { Direito } from './contas.rows.ts';

/** The roles in a municipality: of whom, by whom and since when; offers have no beginning yet. */
export function listDireitos({ store }: ContasWorld, municipio: string): Promise<readonly Direito[]> {
  return store.contas.listDireitos(municipio);
}

/**
 * Whether a municipality has only offered a role to an account that has an owner, or that another municipality made. It learns nothing more
 * of the account until the role is accepted. `all`: the accounts of the municipality.
 */
export function isOnlyOffered(
  { papeis, ofertas, situacao, criadoPor }: Usuario,
  municipio: string,
  all: readonly Usuario[],
): boolean {
  if (Object.hasOwn(papeis, municipio)) return false;
  const isElsewhere = Object.keys({ ...papeis, ...ofertas }).some((one) => one !== municipio);
  if (situacao !== 'convidado' || isElsewhere) return true;
  const isOfHere = all.some((one) => one.login === criadoPor && Object.hasOwn(one.papeis, municipio));
  return !isOfHere && !isByCommand(criadoPor);
}

function usuarioOf(conta: Conta): Usuario {
  const { login, nome, papeis, ofertas, totp, passkeys } = conta;
  return {
    login,
    nome,
    papeis,
    ofertas,
    situacao: conta.bloqueada_em !== null ? 'bloqueado' : isTaken(conta) ? 'ativo' : 'convidado',
    segundoFator: [
      ...(totp === null ? [] : (['codigo'] as const)),
      ...(passkeys.length > 0 ? (['passkey'] as const) : []),
    ],
    provedor: conta.oidc_sujeito !== null,
    criadoEm: conta.criada_em,
    criadoPor: conta.criada_por,
  };
}

export type NovoUsuario = {
  readonly login: string;
  /** An existing account keeps its own name. */
  readonly nome: string | undefined;
  readonly municipio: string;
  readonly papel: Papel;
};

/** `convite`: the secret of the link by which the role is accepted; undefined: an accepted role was changed. */
export type Criado = { readonly usuario: Usuario; readonly convite: string | undefined };

/** Makes an account, or gives an existing one a role in a municipality. */
export async function criarUsuario(world: ContasWorld, asked: NovoUsuario, by: Quem): Promise<Criado | Problem> {
  const { store, now } = world;
  const { municipio, papel } = asked;
  await municipioNamed(world, municipio);
  const login = readLogin(asked.login);
  if ('problem' in login) return login;
  const nome = readNome(asked.nome ?? login.login);
  if ('problem' in nome) return nome;
  return store.contas.alone(async (contas) => {
    const denied = await whyDenied(contas, by, municipio);
    if (denied !== undefined) return denied;
    const por = describeQuem(by);
    const isNew = await contas.create({ id: randomUUID(), login: login.login, nome: nome.nome, por }, now());
    const conta = (await contas.findByLogin(login.login))!;
    const antes = conta.papeis[municipio];
    const kept = papel === 'administracao' ? undefined : await whyKept(contas, conta, municipio);
    if (kept !== undefined) return kept;
    const { secret, convite } = makeConvite(now());
    if (antes === undefined) await contas.offerPapel(conta.id, { municipio, papel, dado_por: por }, convite);
    else await contas.setPapel(conta.id, municipio, papel, por);
    const acao = isNew ? 'criado' : antes === undefined ? 'papel oferecido' : 'papel mudado';
    await record(contas, [municipio], conta, acao, by, now(), { papel: antes }, { papel });
    const usuario = usuarioOf((await contas.find(conta.id))!);
    return { usuario, convite: antes === undefined ? secret : undefined };
  });
}

/** Name of the person who acts, as the owner of the account sees it. */
function describeQuem({ quem, via }: PorMao): string {
  return via === 'comando' ? `${quem}${BY_COMMAND}` : quem;
}

/** Removes the role of an account in a municipality. The account stays, unless nobody has ever entered it and it has no other role (D-836). */
export function retirarUsuario(
  { store, now }: ContasWorld,
  login: string,
  municipio: string,
  by: Quem,
): Promise<{ readonly isDeleted: boolean } | Problem> {
  return store.contas.alone(async (contas) => {
    const denied = await whyDenied(contas, by, municipio);
    if (denied !== undefined) return denied;
    const conta = await findConta(contas, login);
    const papel = conta?.papeis[municipio] ?? conta?.ofertas[municipio];
    if (conta === undefined || papel === undefined) return noUsuario(login, municipio);
    const kept = await whyKept(contas, conta, municipio);
    if (kept !== undefined) return kept;
    await contas.setPapel(conta.id, municipio, undefined);
    const isDeleted = await contas.dropUnused(conta.id);
    await record(contas, [municipio], conta, isDeleted ? 'retirado e apagado' : 'retirado', by, now(), { papel }, {});
    return { isDeleted };
  });
}

/** The reason why an account keeps its role: it is the only administrator of the municipality. */
async function whyKept(contas: Contas, { login, papeis }: Conta, municipio: string): Promise<Problem | undefined> {
  if (papeis[municipio] !== 'administracao') return undefined;
  const isOther = (one: Conta): boolean =>
    one.login !== login && one.bloqueada_em === null && one.papeis[municipio] === 'administracao';
  if ((await contas.list()).some(isOther)) return undefined;
  return {
    problem: `${login} é quem resta para administrar ${municipio}. Dê antes a outra pessoa o papel administracao.`,
  };
}

/** Blocks an account, which ends its sessions, or unblocks it. */
export function bloquearUsuario(
  { store, now }: ContasWorld,
  login: string,
  isBlocked: boolean,
  by: Quem,
): Promise<Problem | undefined> {
  return store.contas.alone(async (contas) => {
    const found = await governed(contas, login, by);
    if ('problem' in found) return found;
    const { conta } = found;
    const is = conta.bloqueada_em !== null;
    if (is === isBlocked) return { problem: `A conta ${login} já está ${is ? 'bloqueada' : 'ativa'}.` };
    if (isBlocked && by.via === 'painel' && by.quem === conta.login) {
      return { problem: 'Esta é a sua própria conta: quem a bloqueia é outra pessoa.' };
    }
    if (isBlocked && !by.motivo?.trim()) return { problem: 'Falta o motivo do bloqueio: ele fica no histórico.' };
    await contas.change(conta.id, { bloqueadaEm: isBlocked ? now() : null }, now());
    if (isBlocked) await contas.sessoes.endAll(conta.id, undefined, now());
    const acao = isBlocked ? 'bloqueado' : 'desbloqueado';
    await record(contas, municipiosOf(conta), conta, acao, by, now(), {}, {});
    return undefined;
  });
}

/** The reason why the account cannot be redefined; undefined: it can. Nothing is changed. */
export function foreseeRedefinir({ store }: ContasWorld, login: string, by: Quem): Promise<Problem | undefined> {
  return store.contas.alone(async (contas) => {
    const found = await governed(contas, login, by);
    return 'problem' in found ? found : undefined;
  });
}

/** Deletes the proofs of an account, and invites its owner anew; returns the secret of the link. */
export function redefinirUsuario(
  { store, now }: ContasWorld,
  login: string,
  by: Quem,
): Promise<{ readonly convite: string } | Problem> {
  return store.contas.alone(async (contas) => {
    const found = await governed(contas, login, by);
    if ('problem' in found) return found;
    const { conta, administra } = found;
    await contas.forgetProofs(conta.id);
    await contas.sessoes.endAll(conta.id, undefined, now());
    const { secret, convite } = makeConvite(now());
    await contas.change(conta.id, { convite }, now());
    // If the account has accepted no role yet, the same link accepts the roles that the asker may give.
    const ofertas = Object.keys(conta.papeis).length > 0 ? [] : Object.entries(conta.ofertas);
    for (const [municipio, papel] of ofertas) {
      const oferta = { municipio, papel, dado_por: describeQuem(by) };
      if (administra(municipio)) await contas.offerPapel(conta.id, oferta, convite);
    }
    await record(contas, municipiosOf(conta), conta, 'redefinido', by, now(), {}, {});
    return { convite: secret };
  });
}

/** The municipalities of an account's roles, or of its offers if it has accepted none. */
function municipiosOf({ papeis, ofertas }: Conta): readonly string[] {
  const accepted = Object.keys(papeis);
  return accepted.length > 0 ? accepted : Object.keys(ofertas);
}

type Governed = { readonly conta: Conta; readonly administra: (municipio: string) => boolean };

/** An account that the asker may block or take over. An account of several municipalities needs an asker who administers all of them. */
async function governed(contas: Contas, login: string, by: Quem): Promise<Governed | Problem> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const administra = await administeredBy(contas, by);
  const conta = await findConta(contas, login);
  const isSeen = by.conta === undefined || Object.keys({ ...conta?.papeis, ...conta?.ofertas }).some(administra);
  if (conta === undefined || isFirst(conta) || !isSeen) return noUsuario(login, undefined);
  // An owned account without a role is ruled by no municipality: an offer gives no power over it.
  const hasGovernor = !isTaken(conta) || Object.keys(conta.papeis).length > 0;
  if (by.conta !== undefined && (!hasGovernor || !municipiosOf(conta).every(administra))) {
    return {
      problem: `A conta ${login} também trabalha para outros municípios, e só quem administra todos eles, ou opera o serviço, a bloqueia ou redefine. Aqui você pode retirar o papel dela.`,
    };
  }
  return { conta, administra };
}

/** The municipalities that the asker administers now. */
async function administeredBy(contas: Contas, { conta }: Quem): Promise<(municipio: string) => boolean> {
  if (conta === undefined) return () => true;
  const asker = await contas.find(conta);
  const papeis = asker === undefined || asker.bloqueada_em !== null ? {} : asker.papeis;
  return (municipio) => Object.hasOwn(papeis, municipio) && mayAs(papeis[municipio]!, 'administracao');
}

/** The reason for a refusal in a municipality: no reason was given, or the asker has lost the role since the page was opened. */
async function whyDenied(contas: Contas, by: Quem, municipio: string): Promise<Problem | undefined> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const administra = await administeredBy(contas, by);
  if (administra(municipio)) return undefined;
  return {
    problem: `Nada foi feito: a sua conta já não administra ${municipio}. O papel mudou depois que esta página se abriu.`,
  };
}

function findConta(contas: Contas, login: string): Promise<Conta | undefined> {
  return contas.findByLogin(login.trim().toLowerCase());
}

function noUsuario(login: string, municipio: string | undefined): Problem {
  const where = municipio === undefined ? '' : ` em ${municipio}`;
  return { problem: `Não há usuário com o login ${login}${where}. Confira-o na lista de usuários.` };
}

async function record(
  contas: Contas,
  tenants: readonly string[],
  { login }: Conta,
  acao: string,
  { quem, via, motivo }: PorMao,
  em: number,
  antes: object,
  depois: object,
): Promise<void> {
  const ato: NovoAto = { em, quem, via, objeto: 'usuario', chave: login, acao, motivo, antes, depois };
  for (const tenant of tenants) await contas.record(tenant, ato);
}

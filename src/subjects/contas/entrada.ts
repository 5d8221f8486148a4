/** Entering the console: password, second factor, session, and the ends of sessions. A refusal reveals nothing but the next step. */
import { createHmac } from 'node:crypto';
import type { Tomada } from '../../base/book/contagens.ts';
import type { Problem } from '../../base/world/operator.ts';
import { needsSecondFactor } from '../../base/world/papeis.ts';
import { networksOf } from '../../base/world/redes.ts';
import type { World } from '../../base/world/world.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { recordAcesso } from './acessos.ts';
import type { Conta, Contas } from './contas.rows.ts';
import { acceptProved, makeSecretText, printOf } from './convites.ts';
import { stepOf } from './one-time-code.ts';
import { askPasskey, type Place, verifyPasskey } from './passkey.ts';
import { verifyPassword } from './password.ts';
import type { ProvedPerson } from './provider.ts';
import { printOfCode } from './recovery-codes.ts';
import type { Fator, NovaSessao, Sessao } from './sessoes.rows.ts';

export type EntradaWorld = Pick<World, 'store' | 'now' | 'log'> & { readonly place: Place };

/** Limit of inactivity, for a desk that was left. */
export const IDLE_MS = 30 * MINUTE_MS;
/** Length of a session: a working day. */
export const SESSION_MS = 12 * 60 * MINUTE_MS;
/** Limit between two steps of entering. */
const STEP_MS = 10 * MINUTE_MS;
/** Interval at which the last activity is recorded. */
const SEEN_EVERY_MS = MINUTE_MS;
/** More wrong codes in a row than typing errors explain. */
const CODES_MAX = 20;

/** Attempts a minute: of a login from one network, of a network, of a login from everywhere. */
const ATTEMPTS = { loginHere: 6, rede: 30, login: 60 } as const;

/** Origin of a visitor. */
export type From = { readonly rede: string; readonly navegador: string };

/** A person who has completed a step: `token` goes into the cookie. */
export type Entered = { readonly token: string; readonly conta: Conta; readonly etapa: 'segundo_fator' | 'inteira' };

/** The person behind a request of the console. */
export type Visitor = { readonly sessao: Sessao; readonly conta: Conta; readonly token: string };

const WRONG =
  'Login ou senha não conferem, ou a conta está bloqueada. Confira os dois. Quem administra os usuários do município, ou quem opera o serviço, pode redefinir a conta.';

/** Enters with a login and a password; all refusals are alike, and take as long. */
export async function signIn(
  world: EntradaWorld,
  { login, senha }: { readonly login: string; readonly senha: string },
  from: From,
): Promise<Entered | Problem> {
  const name = login.trim().toLowerCase().slice(0, 100);
  const wait = await countAttempt(world, name, from.rede);
  if (wait !== undefined) return { problem: tooOften(wait) };
  const conta = await world.store.contas.findByLogin(name);
  const isRight = await verifyPassword(senha, conta?.senha ?? undefined);
  if (conta === undefined) return { problem: WRONG };
  if (!isRight || conta.bloqueada_em !== null) {
    // The write is not awaited: an existing account must not take longer than a missing one.
    recordAcesso(world, conta, isRight ? 'recusado: conta bloqueada' : 'recusado: senha errada', from);
    return { problem: WRONG };
  }
  return (await enter(world, conta, from, undefined)) ?? { problem: WRONG };
}

/** Signs in a person whom the identity provider confirmed; `convite`: the secret of the link, if one was used. */
export async function signInProved(
  world: EntradaWorld,
  person: ProvedPerson,
  convite: string | undefined,
  from: From,
): Promise<Entered | Problem> {
  const { emissor, sujeito, hasSecondFactor } = person;
  const accepted = convite === undefined ? undefined : await acceptProved(world, convite, person);
  if (accepted !== undefined && 'problem' in accepted) return accepted;
  const conta = accepted?.conta ?? (await world.store.contas.findBySujeito(emissor, sujeito));
  if (accepted !== undefined) recordAcesso(world, accepted.conta, 'aceitou o convite', from);
  const entered = conta && (await enter(world, conta, from, hasSecondFactor ? 'provedor' : undefined));
  return entered ?? { problem: NO_ACCOUNT };
}

const NO_ACCOUNT =
  'O provedor de identidade confirmou quem você é, mas nenhuma conta daqui está ligada a esse acesso. Abra o link que lhe entregaram e escolha nele o provedor; sem link, peça um a quem administra os usuários.';

/** The step after the first proof; undefined: it no longer holds. */
async function enter(
  world: EntradaWorld,
  conta: Conta,
  from: From,
  fator: Fator | undefined,
): Promise<Entered | undefined> {
  const isWhole = fator !== undefined || !(hasFactor(conta) || needsSecondFactor(conta.papeis));
  const etapa = isWhole ? 'inteira' : 'segundo_fator';
  const token = await world.store.contas.alone(async (contas) =>
    (await stands(contas, conta)) === undefined
      ? undefined
      : openSessao(contas, { conta: conta.id, etapa, fator, ...from }, world.now()),
  );
  if (token === undefined) return undefined;
  if (isWhole) recordAcesso(world, conta, 'entrou', from);
  return { token, conta, etapa };
}

export function hasFactor({ totp, passkeys }: Conta): boolean {
  return totp !== null || passkeys.length > 0;
}

/** The current account if its proof still holds: it is not blocked, and its proofs are unchanged. */
export async function stands(contas: Contas, { id, senha, oidc_sujeito }: Conta): Promise<Conta | undefined> {
  const conta = await contas.find(id);
  const isSame = conta?.bloqueada_em === null && conta.senha === senha && conta.oidc_sujeito === oidc_sujeito;
  return isSame ? conta : undefined;
}

/** The token of a new session; undefined: its one-time code was used before. */
async function openSessao(
  { sessoes }: Pick<Contas, 'sessoes'>,
  sessao: Omit<NovaSessao, 'impressao'>,
  now: number,
): Promise<string | undefined> {
  const token = makeSecretText();
  const navegador = sessao.navegador.slice(0, NAVEGADOR_MAX);
  return (await sessoes.create({ ...sessao, navegador, impressao: printOf(token) }, now)) ? token : undefined;
}

const NAVEGADOR_MAX = 200;

/** Counts a password before it is tried: whole seconds to wait; undefined: go on. A spent narrow limit takes nothing from a wider one. */
export async function countAttempt({ store }: EntradaWorld, login: string, rede: string): Promise<number | undefined> {
  const whose = printOf(login).toString('base64url').slice(0, 22);
  const buckets = [
    // One network has at most half of a login's attempts, so that it cannot lock the owner out.
    ...networksOf(rede).map(({ name, times }) => ({
      ...{ rede: `${whose} ${name}`, custo: 1 },
      tamanho: Math.min(ATTEMPTS.loginHere * times, ATTEMPTS.login / 2),
    })),
    ...ofNetworks(rede),
    { rede: whose, tamanho: ATTEMPTS.login, custo: 1 },
  ];
  return takeInTurn(store, 'entrada', buckets);
}

/** Counts a visit to the identity provider, of which only the network is known: seconds to wait; undefined: go on. */
export function countQuestion({ store }: EntradaWorld, rede: string): Promise<number | undefined> {
  return takeInTurn(store, 'provedor', ofNetworks(rede));
}

const ofNetworks = (rede: string): readonly Tomada[] =>
  networksOf(rede).map(({ name, times }) => ({ rede: name, tamanho: ATTEMPTS.rede * times, custo: 1 }));

async function takeInTurn(
  { contagens }: EntradaWorld['store'],
  contagem: string,
  buckets: readonly Tomada[],
): Promise<number | undefined> {
  for (const bucket of buckets) {
    const [taken] = await contagens.take(contagem, [bucket]);
    if (!taken!.coube) return Math.ceil(MINUTE_MS / 1000 / bucket.tamanho);
  }
  return undefined;
}

export const tooOften = (wait: number): string => `Houve tentativas demais. Espere ${wait} s e tente de novo.`;

/** The owner of the cookie; undefined: the session or the account is no longer valid. */
export async function readVisitor({ store, now }: EntradaWorld, token: string): Promise<Visitor | undefined> {
  const sessao = await store.sessoes.find(printOf(token));
  if (sessao === undefined || sessao.conta === null || isOver(sessao, now())) return undefined;
  const conta = await store.contas.find(sessao.conta);
  if (conta === undefined || conta.bloqueada_em !== null) return undefined;
  if (now() - +sessao.vista_em > SEEN_EVERY_MS) await store.sessoes.see(sessao.impressao, now());
  return { sessao, conta, token };
}

function isOver({ etapa, criada_em, vista_em }: Sessao, now: number): boolean {
  if (etapa !== 'inteira') return now - +criada_em > STEP_MS;
  return now - +criada_em > SESSION_MS || now - +vista_em > IDLE_MS;
}

/** The token in the forms of a session, so that no other page can send them. */
export function formTokenOf({ token }: Pick<Visitor, 'token'>): string {
  return createHmac('sha256', token).update('formulário').digest('base64url');
}

/** A seal of a session over a text that the service showed; no script of a page can make it. */
export function sealOf({ token }: Pick<Visitor, 'token'>, text: string): string {
  return createHmac('sha256', token).update(`confirmação ${text}`).digest('base64url');
}

const WRONG_CODE =
  'O código não confere. Use o que o aplicativo mostra agora, uma vez só; se continua assim, acerte o relógio do telefone.';
const CODES_SPENT =
  'Houve códigos errados demais em seguida, e esta conta já não entra por código. Entre com a passkey ou com um código de reserva, ou peça a quem administra os usuários que redefina a conta.';

/** Proves the second factor by a one-time code: a new, complete session replaces the earlier one. */
export async function proveCode(
  world: EntradaWorld,
  visitor: Visitor,
  code: string,
  from: From,
): Promise<Entered | Problem> {
  const { store, now } = world;
  const { conta } = visitor;
  if (conta.totp === null) return { problem: WRONG_CODE };
  if (!(await store.contas.countCode(conta.id, CODES_MAX))) return { problem: CODES_SPENT };
  const passo = stepOf(code, conta.totp, now());
  const entered =
    passo === undefined
      ? undefined
      : await promote(world, visitor, from, {
          fator: 'codigo',
          passo,
          write: (contas) => contas.forgetCodes(conta.id),
        });
  if (entered !== undefined) return entered;
  recordAcesso(world, conta, 'recusado: código errado', from);
  return { problem: WRONG_CODE };
}

/** The challenge for the browser's passkey. */
export async function askForPasskey({ store, place }: EntradaWorld, { sessao, conta }: Visitor): Promise<object> {
  const { options, challenge } = await askPasskey(place, conta.passkeys);
  await store.sessoes.challenge(sessao.impressao, challenge);
  return options;
}

const WRONG_PASSKEY = 'A passkey não foi reconhecida. Tente de novo, com uma das que estão nesta conta.';

export async function provePasskey(
  world: EntradaWorld,
  visitor: Visitor,
  answer: unknown,
  from: From,
): Promise<Entered | Problem> {
  const { store, place } = world;
  const { conta, sessao } = visitor;
  const challenge = await store.sessoes.takeChallenge(sessao.impressao);
  if (challenge === undefined) return { problem: WRONG_PASSKEY };
  const wait = await countFactor(world, 'passkey', conta, from);
  if (wait !== undefined) return { problem: tooOften(wait) };
  const keys = conta.passkeys.map((key) => ({ ...key, chave: new Uint8Array(key.chave) }));
  const proved = await verifyPasskey(place, challenge, answer, keys);
  if (proved === undefined) {
    recordAcesso(world, conta, 'recusado: passkey errada', from);
    return { problem: WRONG_PASSKEY };
  }
  await store.passkeys.use(proved.id, proved.contador);
  return (await promote(world, visitor, from, { fator: 'passkey' })) ?? { problem: SESSION_OVER };
}

/** Counts a second factor before it is tried: seconds to wait; undefined: go on. */
function countFactor(
  { store }: EntradaWorld,
  kind: 'passkey' | 'reserva',
  { id }: Conta,
  { rede }: From,
): Promise<number | undefined> {
  const tries = networksOf(rede).map(({ name, times }) => ({
    ...{ rede: `${kind} ${id} ${name}`, custo: 1 },
    tamanho: ATTEMPTS.loginHere * times,
  }));
  return takeInTurn(store, 'entrada', tries);
}

const WRONG_RESERVA =
  'Este código de reserva não confere, ou já foi usado. Cada um serve uma vez; confira-o, ou use outro da lista.';

/** Proves the second factor by a recovery code, which is used up. A locked app serves again. */
export async function proveReserva(
  world: EntradaWorld,
  visitor: Visitor,
  code: string,
  from: From,
): Promise<Entered | Problem> {
  const { conta } = visitor;
  const wait = await countFactor(world, 'reserva', conta, from);
  if (wait !== undefined) return { problem: tooOften(wait) };
  const write = async (contas: Contas): Promise<boolean> => {
    if (!(await contas.takeReserva(conta.id, printOfCode(code)))) return false;
    await contas.forgetCodes(conta.id);
    return true;
  };
  const entered = await promote(world, visitor, from, { fator: 'codigo', fits: hasFactor, write });
  if (entered === undefined) {
    recordAcesso(world, conta, 'recusado: código de reserva errado', from);
    return { problem: WRONG_RESERVA };
  }
  recordAcesso(world, conta, 'usou um código de reserva', from);
  return entered;
}

export const SESSION_OVER = 'Esta sessão acabou, ou a conta mudou enquanto a página estava aberta. Entre de novo.';

/** The proof that completes a session. `fits`: condition on the account; `write`: further writes, false if they fail. */
type Promotion = {
  readonly fator: Fator;
  readonly passo?: number | undefined;
  readonly fits?: (conta: Conta) => boolean;
  readonly write?: (contas: Contas) => Promise<unknown>;
};

/** Replaces a session by a complete one, under another cookie. Undefined: the code was used before, or the session is over. */
export async function promote(
  { store, now, log }: EntradaWorld,
  { conta, sessao }: Visitor,
  from: From,
  { fator, passo, fits, write }: Promotion,
): Promise<Entered | undefined> {
  const token = await store.contas.alone(async (contas) => {
    const [found, open] = [await stands(contas, conta), await contas.sessoes.find(sessao.impressao)];
    if (found === undefined || open === undefined || fits?.(found) === false) return undefined;
    // A repeated proof does not prolong a session.
    const criada_em = open.etapa === 'inteira' ? open.criada_em : undefined;
    const nova = { conta: conta.id, etapa: 'inteira', fator, passo, criada_em, ...from } as const;
    const opened = await openSessao(contas, nova, now());
    if (opened === undefined) return undefined;
    const isWritten = (await write?.(contas)) !== false;
    await contas.sessoes.end(isWritten ? sessao.impressao : printOf(opened), now());
    return isWritten ? opened : undefined;
  });
  if (token === undefined) return undefined;
  if (sessao.etapa !== 'inteira') recordAcesso({ store, now, log }, conta, 'entrou', from);
  return { token, conta, etapa: 'inteira' };
}

export async function signOut(world: EntradaWorld, { sessao, conta }: Visitor, from: From): Promise<void> {
  await world.store.sessoes.end(sessao.impressao, world.now());
  recordAcesso(world, conta, 'saiu', from);
}

/** Ends a session that another one replaces. */
export function endSessao({ store, now }: EntradaWorld, impressao: Uint8Array): Promise<void> {
  return store.sessoes.end(impressao, now());
}

/** Ends all other sessions of the account. */
export async function signOutElsewhere(world: EntradaWorld, { sessao, conta }: Visitor, from: From): Promise<void> {
  const ended = await world.store.sessoes.endAll(conta.id, sessao.impressao, world.now());
  if (ended > 0) recordAcesso(world, conta, 'encerrou as outras sessões', from);
}

/** Open sessions of an account. */
export async function listSessoes({ store, now }: EntradaWorld, { conta }: Visitor): Promise<readonly Sessao[]> {
  return (await store.sessoes.list(conta.id, now() - IDLE_MS)).filter((sessao) => !isOver(sessao, now()));
}

/** Sessions that ended long ago are deleted. */
const FORGET_MS = 2 * SESSION_MS;

export async function forgetSessoes({ store, now }: EntradaWorld): Promise<void> {
  await store.sessoes.forget(now() - FORGET_MS);
}

// Visits to the identity provider.

/** The token of a person who is sent to the provider; `kept`: data for the check of the answer. */
export async function keepQuestion(world: EntradaWorld, kept: string, from: From): Promise<string> {
  const sessao = { conta: undefined, etapa: 'identidade', desafio: kept, ...from } as const;
  return (await openSessao(world.store, sessao, world.now()))!;
}

/** The kept data, once; undefined: no visit was begun, or too long ago. */
export async function takeQuestion({ store, now }: EntradaWorld, token: string): Promise<string | undefined> {
  const sessao = await store.sessoes.find(printOf(token));
  if (sessao?.etapa !== 'identidade' || isOver(sessao, now())) return undefined;
  const kept = await store.sessoes.takeChallenge(sessao.impressao);
  await store.sessoes.end(sessao.impressao, now());
  return kept;
}

/** Enters after an accepted invitation, which was the first proof. */
export function signInConvidado(world: EntradaWorld, conta: Conta, from: From): Promise<Entered | undefined> {
  recordAcesso(world, conta, 'aceitou o convite', from);
  return enter(world, conta, from, undefined);
}

/** Keeps a message that the next page of a session shows once; undefined: it was shown. */
export function tellOnce({ store }: EntradaWorld, { sessao }: Visitor, recado: string | undefined): Promise<unknown> {
  return store.sessoes.tell(sessao.impressao, recado);
}

/** Changes of a person's own account: password, one-time codes, passkeys. */

import type { Problem } from '../../base/world/operator.ts';
import { needsSecondFactor } from '../../base/world/papeis.ts';
import { drawQr } from '../../documents/qr.ts';
import { bareDocumento, cpfIsValid } from '../../fiscal/chave.ts';
import { recordAcesso } from './acessos.ts';
import type { Conta, Contas } from './contas.rows.ts';
import { isJustShown, JUST_MINUTES, whySenha } from './convites.ts';
import {
  countAttempt,
  type Entered,
  type EntradaWorld,
  type From,
  hasFactor,
  promote,
  SESSION_OVER,
  stands,
  tooOften,
  type Visitor,
} from './entrada.ts';
import { describeSecret, makeSecret, stepOf } from './one-time-code.ts';
import { askNewPasskey, readNewPasskey } from './passkey.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { makeRecoveryCodes, printOfCode } from './recovery-codes.ts';

/** A secret for an app, which is valid once one of its codes was given. */
export type SecretShown = {
  readonly segredo: string;
  /** The address that an app reads, as a QR code: rows of modules. */
  readonly qr: readonly (readonly boolean[])[];
};

export async function offerSecret({ store, place }: EntradaWorld, { sessao, conta }: Visitor): Promise<SecretShown> {
  // The session keeps its first secret: a reload, a mistyped code or a try of a passkey does not make an app scan twice.
  const segredo = (await store.sessoes.offerSecret(sessao.impressao, makeSecret())) ?? makeSecret();
  return { segredo, qr: drawQr(describeSecret(segredo, conta.login, place.issuer)) };
}

/** Accepts the offered secret by one of its codes; the session is then complete, under another cookie. */
export async function takeSecret(
  world: EntradaWorld,
  visitor: Visitor,
  code: string,
  from: From,
): Promise<Entered | Problem> {
  const { now } = world;
  const { sessao, conta } = visitor;
  const { segredo } = sessao;
  if (!mayEnroll(visitor, now())) return { problem: ENTER_ANEW };
  if (segredo === null) return { problem: 'O código secreto venceu. Leia o novo com o aplicativo.' };
  const passo = stepOf(code, segredo, now());
  const wrong = {
    problem:
      'O código não confere com o segredo mostrado. Digite o que o aplicativo mostra agora; se continua assim, acerte o relógio do telefone.',
  };
  if (passo === undefined) return wrong;
  const write = async (contas: Contas): Promise<void> => {
    await contas.change(conta.id, { totp: segredo }, now());
    await contas.forgetCodes(conta.id);
  };
  const fits = (one: Conta): boolean => one.totp === null && mayEnroll({ sessao, conta: one }, now());
  const entered = await promote(world, visitor, from, { fator: 'codigo', passo, fits, write });
  if (entered === undefined) return wrong;
  recordAcesso(world, conta, 'passou a entrar por código do aplicativo', from);
  return entered;
}

export async function offerPasskey({ store, place }: EntradaWorld, { sessao, conta }: Visitor): Promise<object> {
  const { options, challenge } = await askNewPasskey(place, conta.login, conta.nome, conta.passkeys);
  await store.sessoes.challenge(sessao.impressao, challenge);
  return options;
}

const NOME_MAX = 60;

export async function takePasskey(
  world: EntradaWorld,
  visitor: Visitor,
  answer: unknown,
  nome: string,
  from: From,
): Promise<Entered | Problem> {
  const { store, now, place } = world;
  const { sessao, conta } = visitor;
  if (!mayEnroll(visitor, now())) return { problem: ENTER_ANEW };
  const challenge = await store.sessoes.takeChallenge(sessao.impressao);
  const key = challenge === undefined ? undefined : await readNewPasskey(place, challenge, answer);
  if (key === undefined)
    return {
      problem:
        'A passkey não foi aceita. Tente de novo; o console precisa ser aberto pelo endereço que o serviço mostra.',
    };
  const called = nome.trim().slice(0, NOME_MAX) || `passkey ${conta.passkeys.length + 1}`;
  if (conta.passkeys.some(({ id }) => id === key.id)) return { problem: 'Esta passkey já está na conta.' };
  const write = (contas: Contas): Promise<unknown> => contas.passkeys.add(conta.id, { ...key, nome: called }, now());
  const fits = (one: Conta): boolean => mayEnroll({ sessao, conta: one }, now());
  const entered = await promote(world, visitor, from, { fator: 'passkey', fits, write });
  if (entered === undefined) return { problem: SESSION_OVER };
  recordAcesso(world, conta, `acrescentou a passkey ${called}`, from);
  return entered;
}

/** A session with a password alone may add a factor only if there is none; a complete one only shortly after entering. */
export function mayEnroll({ sessao, conta }: Pick<Visitor, 'sessao' | 'conta'>, now: number): boolean {
  return sessao.etapa === 'inteira' ? isJustShown(sessao, now) : !hasFactor(conta);
}

/** A stolen cookie alone must not change the proofs of the account. */
export const ENTER_ANEW = `Para mudar os segundos fatores, ou escolher a primeira senha, saia e entre de novo: vale por ${JUST_MINUTES} minutos.`;

/** Removes a factor, unless it is the last one of an account that needs one. */
async function dropFactor(
  { store, now }: EntradaWorld,
  visitor: Visitor,
  left: (conta: Conta) => number,
  drop: (contas: Contas) => Promise<void>,
): Promise<Problem | undefined> {
  if (!isJustShown(visitor.sessao, now())) return { problem: ENTER_ANEW };
  return store.contas.alone(async (contas) => {
    const conta = await stands(contas, visitor.conta);
    if (conta === undefined) return { problem: SESSION_OVER };
    if (left(conta) <= 0 && needsSecondFactor(conta.papeis)) {
      return {
        problem:
          'É o último segundo fator desta conta, que age por um município e precisa de um. Acrescente outro antes.',
      };
    }
    await drop(contas);
    return undefined;
  });
}

export async function dropPasskey(
  world: EntradaWorld,
  visitor: Visitor,
  id: string,
  from: From,
): Promise<Problem | undefined> {
  const { conta } = visitor;
  const key = conta.passkeys.find((one) => one.id === id);
  if (key === undefined) return undefined;
  const left = ({ totp, passkeys }: Conta): number =>
    passkeys.filter((one) => one.id !== id).length + (totp === null ? 0 : 1);
  const kept = await dropFactor(world, visitor, left, (contas) => contas.passkeys.remove(conta.id, id));
  if (kept !== undefined) return kept;
  recordAcesso(world, conta, `retirou a passkey ${key.nome}`, from);
  return undefined;
}

export async function dropSecret(world: EntradaWorld, visitor: Visitor, from: From): Promise<Problem | undefined> {
  const { conta } = visitor;
  if (conta.totp === null) return undefined;
  const left = ({ passkeys }: Conta): number => passkeys.length;
  const kept = await dropFactor(world, visitor, left, (contas) => contas.change(conta.id, { totp: null }, world.now()));
  if (kept !== undefined) return kept;
  recordAcesso(world, conta, 'deixou de entrar por código do aplicativo', from);
  return undefined;
}

/** Makes a new set of recovery codes, which is shown once; the earlier codes no longer serve. */
export async function makeReservas(
  world: EntradaWorld,
  visitor: Visitor,
  from: From,
): Promise<{ readonly codigos: readonly string[] } | Problem> {
  const { store, now } = world;
  if (!isJustShown(visitor.sessao, now())) return { problem: ENTER_ANEW };
  const codigos = makeRecoveryCodes();
  const isMade = await store.contas.alone(async (contas) => {
    const [conta, open] = [await stands(contas, visitor.conta), await contas.sessoes.find(visitor.sessao.impressao)];
    if (conta === undefined || open === undefined || !hasFactor(conta)) return false;
    await contas.setReservas(conta.id, codigos.map(printOfCode));
    return true;
  });
  if (!isMade) return { problem: SESSION_OVER };
  recordAcesso(world, visitor.conta, 'criou códigos de reserva', from);
  return { codigos };
}

/** Keeps the CPF of the agent, as its owner writes it; an empty text removes it. The trail does not have the CPF (D-842). */
export async function keepCpfAgente(
  world: EntradaWorld,
  { conta }: Visitor,
  text: string,
  from: From,
): Promise<Problem | undefined> {
  const cpf = bareDocumento(text);
  if (cpf !== '' && !cpfIsValid(cpf)) {
    return {
      problem: 'Não é um CPF: são 11 dígitos, com os dois verificadores certos. Pontos, traço e espaços podem ficar.',
    };
  }
  await world.store.contas.change(conta.id, { cpfAgente: cpf || null }, world.now());
  recordAcesso(
    world,
    conta,
    cpf === '' ? 'retirou da conta o CPF de agente' : 'guardou na conta o CPF de agente',
    from,
  );
  return undefined;
}

export type TrocaDeSenha = { readonly atual: string; readonly senha: string; readonly repetida: string };

/** Changes the password; all other sessions end. Returns the problems by field. */
export async function changePassword(
  world: EntradaWorld,
  visitor: Visitor,
  asked: TrocaDeSenha,
  from: From,
): Promise<{ readonly problems: Readonly<Partial<Record<keyof TrocaDeSenha, string>>> } | undefined> {
  const { store, now } = world;
  const { conta, sessao } = visitor;
  if (conta.senha === null) {
    if (!isJustShown(sessao, now())) return { problems: { senha: ENTER_ANEW } };
  } else {
    const wait = await countAttempt(world, conta.login, from.rede);
    if (wait !== undefined) return { problems: { atual: tooOften(wait) } };
    if (!(await verifyPassword(asked.atual, conta.senha))) return { problems: { atual: 'A senha atual não confere.' } };
  }
  const problems = await whySenha(world, asked, Object.keys({ ...conta.ofertas, ...conta.papeis }), [
    conta.login,
    conta.nome,
  ]);
  if (Object.keys(problems).length > 0) return { problems };
  const senha = await hashPassword(asked.senha);
  const isChanged = await store.contas.alone(async (contas) => {
    const open = await contas.sessoes.find(sessao.impressao);
    if (open === undefined || (await stands(contas, conta)) === undefined) return false;
    await contas.change(conta.id, { senha }, now());
    await contas.sessoes.endAll(conta.id, sessao.impressao, now());
    return true;
  });
  if (!isChanged) return { problems: { atual: SESSION_OVER } };
  recordAcesso(world, conta, 'trocou a senha', from);
  return undefined;
}

/** Whether the person must first set up a second factor. */
export function mustEnroll({ conta, sessao }: Visitor): boolean {
  return !hasFactor(conta) && needsSecondFactor(conta.papeis) && sessao.fator === null;
}

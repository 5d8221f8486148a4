/**
 * The logins of the demonstration: three people of a town hall, invited by command. Each takes the link by HTTP as a
 * browser does: a login of the demonstration is like any other (D-830).
 */
import { randomInt } from 'node:crypto';
import type { Papel } from '../src/base/world/papeis.ts';
import { codeAt } from '../src/subjects/contas/one-time-code.ts';
import { run } from './stage.ts';

export type Login = {
  readonly login: string;
  readonly nome: string;
  readonly papel: Papel;
  readonly senha: string;
  /** The secret of the codes; undefined: the role only reads, and needs none. */
  readonly segredo: string | undefined;
};

/** A code of the step before serves to choose the app, so that the present one still serves to enter. */
const STEP_MS = 30_000;

type Pessoa = Pick<Login, 'login' | 'nome' | 'papel'>;

/** Invites a person, and takes the link: a password, and a second factor where the role asks for one. */
export async function makeLogin(
  pessoa: Pessoa,
  municipio: string,
  origin: string,
  env: NodeJS.ProcessEnv,
): Promise<Login> {
  const { login, nome, papel } = pessoa;
  const said = await run(['usuario', 'criar', login, '--municipio', municipio, '--papel', papel, '--nome', nome], env);
  const path = /\/convite\/[\w-]+/.exec(said)![0];
  const senha = makeSenha();
  const browser = new Browser(origin);
  await browser.open(path);
  const entered = await browser.send(path, { login, nome, senha, repetida: senha });
  const [, shown] = /<code>([A-Z2-7 ]{20,})<\/code>/.exec(entered) ?? [];
  if (shown === undefined) return { ...pessoa, senha, segredo: undefined };
  const segredo = shown.replaceAll(' ', '');
  await browser.send('/segundo-fator/codigo', { codigo: codeAt(segredo, Date.now() - STEP_MS) });
  return { ...pessoa, senha, segredo };
}

const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const GROUPS = 4;
const GROUP_LETTERS = 4;

/** A password to be read aloud: no letter looks like another. */
function makeSenha(): string {
  const letter = (): string => LETTERS[randomInt(LETTERS.length)]!;
  const group = (): string => Array.from({ length: GROUP_LETTERS }, letter).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** Keeps cookies, follows redirects, and sends the token of the open page with its form. */
class Browser {
  private readonly origin: string;
  private readonly cookies = new Map<string, string>();
  private page = '';

  constructor(origin: string) {
    this.origin = origin;
  }

  open(path: string): Promise<string> {
    return this.ask(path, { headers: { 'Sec-Fetch-Site': 'none' } });
  }

  send(path: string, fields: Readonly<Record<string, string>>): Promise<string> {
    const token = /name="formulario" value="([^"]*)"/.exec(this.page)?.[1];
    const body = new URLSearchParams({ ...(token === undefined ? {} : { formulario: token }), ...fields });
    return this.ask(path, { method: 'POST', body, headers: { Origin: this.origin, 'Sec-Fetch-Site': 'same-origin' } });
  }

  private async ask(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<string> {
    const Cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { 'User-Agent': 'demonstração', ...init.headers, Cookie };
    const answer = await fetch(new URL(path, this.origin), { ...init, headers, redirect: 'manual' });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      this.cookies.set(name!, value!);
    }
    const to = answer.headers.get('location');
    this.page = await answer.text();
    if (to !== null) return this.open(to);
    if (!answer.ok)
      throw new Error(`o console respondeu ${answer.status} em ${path.replace(/convite\/.*/, 'convite')}`);
    return this.page;
  }
}

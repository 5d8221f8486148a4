/** The console as it runs, beside a test's service. Its users reach it by HTTP, as a browser without scripts does. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TOTP } from 'otpauth';
import type { PainelSetup } from '../../src/base/pages/visit.ts';
import type { Papel } from '../../src/base/world/papeis.ts';
import { openPainel } from '../../src/doors/painel/painel.ts';
import { acceptConvite } from '../../src/subjects/contas/convites.ts';
import type { Provider } from '../../src/subjects/contas/provider.ts';
import { criarUsuario } from '../../src/subjects/contas/usuarios.ts';
import type { Page } from './browser.ts';
import { onEnd } from './cleanup.ts';
import { assertDots, assertWords } from './glossario.ts';
import { ownPort } from './ports.ts';
import type { TestService } from './service.ts';

export type TestPainel = {
  readonly origin: string;
  readonly world: PainelSetup;
};

/** The console on the world of a test's service; `asked`: a fixed port. */
export async function startTestPainel(
  { world, address }: TestService,
  provider?: Provider,
  asked?: number,
): Promise<TestPainel> {
  const port = asked ?? (await ownPort());
  const origin = `http://localhost:${port}`;
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-painel-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  const certificados = path.join(folder, 'certificados');
  const place = { origin, issuer: 'NFS-e' };
  const painelWorld: PainelSetup = { ...world, baseUrl: address, certificados, place, provider };
  const options = { host: '127.0.0.1', port, tls: undefined, trustProxy: false, accessLog: true };
  const server = await openPainel(painelWorld, options);
  onEnd(() => server.close());
  return { origin, world: painelWorld };
}

export const SENHA = 'quatro cavalos bordam janelas';

/** A user with an account; `segredo`: the TOTP secret. */
export type Usuario = { readonly login: string; readonly segredo: string };

/** An account with a password and a TOTP app. */
export async function makeUsuario(
  { world }: TestPainel,
  login: string,
  papeis: Readonly<Record<string, Papel>>,
): Promise<Usuario> {
  const [[municipio, papel] = assert.fail('a role'), ...others] = Object.entries(papeis);
  const made = await criarUsuario(world, { login, nome: `Pessoa ${login}`, municipio, papel }, BY_COMMAND);
  assert.ok('usuario' in made, JSON.stringify(made));
  const accepted = await acceptConvite(world, made.convite!, {
    login,
    nome: `Pessoa ${login}`,
    senha: SENHA,
    repetida: SENHA,
  });
  assert.ok('conta' in accepted, JSON.stringify(accepted));
  for (const [other, given] of others) await world.store.contas.setPapel(accepted.conta.id, other, given);
  const segredo = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  await world.store.contas.change(accepted.conta.id, { totp: segredo }, world.now());
  return { login, segredo };
}

const BY_COMMAND = { quem: 'teste', via: 'comando' } as const;

/** The TOTP code at an instant. */
export function codeAt(segredo: string, instant: number): string {
  return new TOTP({ secret: segredo }).generate({ timestamp: instant });
}

export type Shown = {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
  readonly path: string;
};

/** A browser without scripts: it keeps cookies, follows redirects, and sends the origin of a form. */
export class Pessoa {
  readonly origin: string;
  private readonly cookies = new Map<string, string>();
  private last = '';

  constructor({ origin }: Pick<TestPainel, 'origin'>) {
    this.origin = origin;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  open(path: string): Promise<Shown> {
    return this.ask(path, { headers: { 'Sec-Fetch-Site': 'none' } });
  }

  /** Sends a form of the open page, with the CSRF token of that page. */
  send(path: string, fields: Readonly<Record<string, string | readonly string[] | Blob>> = {}): Promise<Shown> {
    const token = /name="formulario" value="([^"]*)"/.exec(this.last)?.[1];
    const body = Object.values(fields).some((value) => value instanceof Blob) ? new FormData() : new URLSearchParams();
    if (token !== undefined) body.append('formulario', token);
    for (const [name, value] of Object.entries(fields)) {
      if (value instanceof Blob) (body as FormData).append(name, value);
      else for (const one of [value].flat()) body.append(name, one);
    }
    return this.ask(path, { method: 'POST', body, headers: { Origin: this.origin, 'Sec-Fetch-Site': 'same-origin' } });
  }

  /** Confirms the act that the open page repeats; `changed`: hidden fields that come back otherwise. */
  confirm(changed: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const [whole, action] =
      /<form method="post" action="([^"]*)">(?:(?!<\/form>)[\s\S])*name="selo"[\s\S]*?<\/form>/.exec(this.last) ??
      assert.fail(`no second step: ${this.last}`);
    return this.send(readText(action!), { ...readHidden(whole), ...changed });
  }

  async ask(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Shown> {
    const headers = { 'User-Agent': 'pessoa de teste', ...init.headers, Cookie: this.cookie };
    const answer = await fetch(new URL(path, this.origin), { ...init, headers, redirect: 'manual' });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      if (value === '') this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    const to = answer.headers.get('location');
    const html = await answer.text();
    if (to !== null && new URL(to, this.origin).origin === this.origin) return this.open(to);
    if (answer.headers.get('content-type')?.startsWith('text/html')) {
      assertWords(html, path);
      assertDots(html, path);
    }
    this.last = html;
    return { status: answer.status, html, headers: answer.headers, path };
  }
}

function readText(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** The hidden fields of a form but its token. */
function readHidden(html: string): Record<string, string> {
  const inputs = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return Object.fromEntries(
    inputs.flatMap(([, name, value]) => (name === 'formulario' ? [] : [[name!, readText(value!)] as const])),
  );
}

/** A user who has logged in. */
export async function enter(painel: TestPainel, { login, segredo }: Usuario): Promise<Pessoa> {
  const pessoa = new Pessoa(painel);
  await pessoa.open('/entrar');
  const second = await pessoa.send('/entrar', { login, senha: SENHA });
  assert.match(second.html, /Segundo fator/);
  const inside = await pessoa.send('/segundo-fator', { codigo: codeAt(segredo, painel.world.now()) });
  assert.equal(inside.status, 200, inside.html);
  return pessoa;
}

/** The same in a browser. */
export async function enterInBrowser(
  page: Page,
  { origin, world }: TestPainel,
  { login, segredo }: Usuario,
): Promise<void> {
  await page.open(`${origin}/entrar`);
  await page.fill('#campo-login', login);
  await page.fill('#campo-senha', SENHA);
  await page.click('main button');
  await page.fill('#campo-codigo', codeAt(segredo, world.now()));
  await page.click('main button');
  await page.until(`document.querySelector('.barra .quem') !== null`);
}

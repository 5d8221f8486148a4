/** Entering the console by an identity provider that speaks OpenID Connect. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { makeUsuario, startTestPainel, type TestPainel } from '../../../test/support/painel.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startProvedor } from '../../../test/support/provedor.ts';
import { startTestService } from '../../../test/support/service.ts';
import type { Papel } from '../../base/world/papeis.ts';
import { openProvider } from './provider.ts';
import { criarUsuario } from './usuarios.ts';

const PESSOAS = {
  ana: { email: 'ana@exemplo.gov.br', verificado: true, segundoFator: true },
  bia: { email: 'bia@exemplo.gov.br', verificado: true, segundoFator: false },
  caio: { email: 'ana@exemplo.gov.br', verificado: false, segundoFator: true },
  duda: { email: 'duda@exemplo.gov.br', verificado: true, segundoFator: true },
} as const;

/** A browser that visits both: cookies by origin, redirects followed. */
class Navegador {
  private readonly jars = new Map<string, Map<string, string>>();
  path = '';
  html = '';

  async go(url: string, body?: URLSearchParams): Promise<void> {
    const { origin, pathname } = new URL(url);
    const jar = this.jars.get(origin) ?? new Map<string, string>();
    this.jars.set(origin, jar);
    const Cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = body === undefined ? {} : { method: 'POST', body, headers: { Cookie, Origin: origin } };
    const answer = await fetch(url, { redirect: 'manual', headers: { Cookie }, ...sent });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      if (value === '') jar.delete(name!);
      else jar.set(name!, value!);
    }
    this.path = pathname;
    this.html = await answer.text();
    const to = answer.headers.get('location') ?? answer.headers.get('refresh')?.replace(/^0; url=/, '') ?? null;
    if (to !== null) return this.go(new URL(to, url).href);
    this.url = url;
  }

  url = '';
}

let painel: TestPainel;

/** Enters as a person whom the provider knows, by a link or, from the second time on, without one. */
async function enterAs(nome: keyof typeof PESSOAS, convite?: string): Promise<Navegador> {
  const navegador = new Navegador();
  if (convite === undefined) await navegador.go(`${painel.origin}/entrar/provedor`);
  else await navegador.go(`${painel.origin}/convite/${convite}/provedor`, new URLSearchParams());
  assert.match(navegador.html, /name="nome"/, 'at the provider');
  await navegador.go(navegador.url, new URLSearchParams({ nome }));
  return navegador;
}

describe('by the identity provider', () => {
  before(async () => {
    const service = await startTestService({ worker: false, clock: { now: Date.now() } });
    const port = await ownPort();
    const settings = await startProvedor(`http://localhost:${port}/entrar/retorno`, PESSOAS);
    painel = await startTestPainel(service, openProvider(settings), port);
  });

  /** The link of an account that is made for a person. */
  async function invite(login: string, papel: Papel): Promise<string> {
    const asked = { login, nome: `Pessoa ${login}`, municipio: 'integracao', papel };
    const made = await criarUsuario(painel.world, asked, { quem: 'teste', via: 'comando' });
    assert.ok('convite' in made && made.convite !== undefined);
    return made.convite;
  }

  test('whoever the provider has asked for two factors is inside; from then on by who they are there', async () => {
    const first = await enterAs('ana', await invite('ana@exemplo.gov.br', 'administracao'));
    assert.match(first.html, /Pessoa ana@exemplo/);
    const conta = (await painel.world.store.contas.findByLogin('ana@exemplo.gov.br'))!;
    assert.equal(conta.oidc_sujeito, 'ana');
    assert.match((await enterAs('ana')).html, /Pessoa ana@exemplo/);
  });

  test('with one factor there, the second is asked for here', async () => {
    const navegador = await enterAs('bia', await invite('bia@exemplo.gov.br', 'operacao'));
    assert.match(navegador.html, /<h1>Escolha o segundo fator<\/h1>/);
  });

  test('an e-mail opens no account, whoever says that it is verified: an account is joined by its link', async () => {
    await makeUsuario(painel, 'duda@exemplo.gov.br', { integracao: 'operacao' });
    await invite('caio@exemplo.gov.br', 'leitura');
    for (const nome of ['duda', 'caio'] as const) {
      const navegador = await enterAs(nome);
      assert.match(navegador.html, /nenhuma conta daqui está ligada a esse acesso/, nome);
    }
    assert.equal((await painel.world.store.contas.findByLogin('duda@exemplo.gov.br'))!.oidc_sujeito, null);
  });

  test('a link of an account that somebody has already joins no identity to it', async () => {
    const { world } = painel;
    await world.store.municipios.create(
      { tenant: 'outra', ambiente: 'homologacao', codigoIbge: '3304557' },
      world.now(),
    );
    const asked = { login: 'duda@exemplo.gov.br', nome: 'Duda', municipio: 'outra', papel: 'operacao' } as const;
    const made = await criarUsuario(world, asked, { quem: 'teste', via: 'comando' });
    assert.ok('convite' in made && made.convite !== undefined);
    const navegador = await enterAs('duda', made.convite);
    assert.match(navegador.html, /já está em uso, e não por este acesso do provedor/);
    const conta = (await world.store.contas.findByLogin('duda@exemplo.gov.br'))!;
    assert.deepEqual([conta.oidc_sujeito, conta.papeis], [null, { integracao: 'operacao' }]);
  });

  test('another site leads nobody to accept a role', async () => {
    const url = `${painel.origin}/convite/${await invite('eva@exemplo.gov.br', 'leitura')}/provedor`;
    const Origin = 'https://outro.example';
    const asked = [{}, { method: 'POST', headers: { Origin, 'Sec-Fetch-Site': 'cross-site' } }, { method: 'POST' }];
    const answers = await Promise.all(asked.map((init) => fetch(url, { redirect: 'manual', ...init })));
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('location') ?? headers.get('refresh')]),
      [
        [405, null],
        [403, null],
        [403, null],
      ],
    );
  });

  test('an ID token that is signed by another key opens nothing', async () => {
    const service = await startTestService({ worker: false, clock: { now: Date.now() } });
    const port = await ownPort();
    const settings = await startProvedor(`http://localhost:${port}/entrar/retorno`, PESSOAS, 'localhost', false);
    const before = painel;
    painel = await startTestPainel(service, openProvider(settings), port);
    const navegador = await enterAs('ana', await invite('ana@exemplo.gov.br', 'administracao'));
    painel = before;
    assert.match(navegador.html, /não confirmou quem você é/);
    assert.equal(await service.store.contas.findBySujeito(settings.emissor, 'ana'), undefined);
  });

  test('an answer that was made for another browser, or comes twice, opens nothing', async () => {
    const victim = new Navegador();
    await victim.go(`${painel.origin}/entrar/retorno?code=abc&state=xyz`);
    assert.match(victim.html, /Comece de novo/);
    const navegador = new Navegador();
    await navegador.go(`${painel.origin}/entrar/provedor`);
    // The answer of the provider with another state.
    await navegador.go(`${painel.origin}/entrar/retorno?code=abc&state=xyz`);
    assert.match(navegador.html, /não confirmou quem você é/);
    await navegador.go(`${painel.origin}/entrar/retorno?code=abc&state=xyz`);
    assert.match(navegador.html, /Comece de novo/);
  });

  test('a provider that is away is told, and the password still serves', async () => {
    const service = await startTestService({ worker: false });
    const away = { emissor: `http://localhost:${await ownPort()}`, cliente: 'painel', segredo: 'segredo' };
    const alone = await startTestPainel(service, openProvider(away));
    const answer = await fetch(`${alone.origin}/entrar/provedor`);
    assert.equal(answer.status, 502);
    assert.match(await answer.text(), /não respondeu.*entre com login e senha/s);
  });
});

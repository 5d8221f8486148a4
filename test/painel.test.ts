/** The console by HTTP, as a browser without scripts uses it: login, roles, forms, and the answers to strangers. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { isPapel, mayAs, PAPEIS, type Papel } from '../src/base/world/papeis.ts';
import { PAINEL_ROUTES } from '../src/doors/painel/painel.ts';
import { MINUTE_MS } from '../src/fiscal/moment.ts';
import { inviteFirst } from '../src/subjects/contas/convites.ts';
import { criarUsuario } from '../src/subjects/contas/usuarios.ts';
import {
  codeAt,
  enter,
  makeUsuario,
  Pessoa,
  SENHA,
  type Shown,
  startTestPainel,
  type Usuario,
} from './support/painel.ts';
import { startTestService } from './support/service.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world, origin } = painel;
const OTHER = 'vila-alheia';
await world.store.municipios.create({ tenant: OTHER, ambiente: 'homologacao', codigoIbge: '3550308' }, world.now());

/** A municipality's trail of one user, newest first. */
async function trailOf(quem: string, municipio = 'integracao') {
  return world.store.atos.list(municipio, { quem }, 1_000);
}

/** Attempts are counted each minute, by the clock of the database. */
async function waitOut(): Promise<void> {
  service.clock.now += MINUTE_MS;
  await service.pool.query('delete from contagens');
}

/** A page or a redirect, which is not followed. */
async function raw(path: string, headers: Record<string, string> = {}, body?: string): Promise<Response> {
  const init = { redirect: 'manual', headers, ...(body === undefined ? {} : { method: 'POST', body }) } as const;
  return fetch(new URL(path, origin), init);
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('the first administrator', () => {
  test('opens the link, chooses a password and a second factor, and is inside; the link serves once', async () => {
    const service = await startTestService({ worker: false });
    const painel = await startTestPainel(service);
    const { world } = painel;
    const convite = (await inviteFirst(world))!;
    const pessoa = new Pessoa(painel);
    const page = await pessoa.open(`/convite/${convite}`);
    assert.match(page.html, /<h1>Primeiro administrador<\/h1>/);
    const chosen = { login: 'ana@exemplo.gov.br', nome: 'Ana Lima', senha: SENHA, repetida: SENHA };
    for (const senha of ['123456789012', 'prefeitura2026', 'integracao@2026', 'ana.lima/2026']) {
      const weak = await pessoa.send(`/convite/${convite}`, { ...chosen, senha, repetida: senha });
      assert.equal(weak.status, 422, senha);
      assert.match(weak.html, /value="Ana Lima"/);
    }
    const second = await pessoa.send(`/convite/${convite}`, chosen);
    assert.match(second.html, /<h1>Escolha o segundo fator<\/h1>/);
    const segredo = /<code>([A-Z2-7 ]+)<\/code>/.exec(second.html)![1]!.replaceAll(' ', '');
    // No other page is open before the second factor is set up.
    assert.equal((await pessoa.open('/m/integracao/usuarios')).path, '/segundo-fator');
    const wrong = await pessoa.send('/segundo-fator/codigo', { codigo: '000000' });
    assert.equal(wrong.status, 422);
    // The same secret is shown, so that an app that has it already stays valid.
    assert.ok(wrong.html.replaceAll(' ', '').includes(segredo));
    const inside = await pessoa.send('/segundo-fator/codigo', { codigo: codeAt(segredo, world.now()) });
    assert.equal(inside.status, 200);
    assert.match(inside.html, /Ana Lima/);
    assert.equal((await new Pessoa(painel).open(`/convite/${convite}`)).status, 410);
    assert.equal(await inviteFirst(world), undefined, 'somebody has an account now');
  });
});

test('a first link that a later start has replaced says how to get another, and not to ask whom there is not', async () => {
  const painel = await startTestPainel(await startTestService({ worker: false }));
  const dead = (await inviteFirst(painel.world))!;
  const newest = (await inviteFirst(painel.world))!;
  const page = await new Pessoa(painel).open(`/convite/${dead}`);
  assert.equal(page.status, 410);
  assert.match(page.html, /nfse usuario criar LOGIN --municipio MUNICIPIO --papel administracao/);
  assert.doesNotMatch(page.html, /quem administra/);
  assert.equal((await new Pessoa(painel).open(`/convite/${newest}`)).status, 200);
  await makeUsuario(painel, 'ana', { integracao: 'administracao' });
  assert.match((await new Pessoa(painel).open(`/convite/${dead}`)).html, /Peça um novo a quem administra os usuários/);
});

describe('entering', () => {
  let bia: Usuario;
  before(async () => {
    bia = await makeUsuario(painel, 'bia', { integracao: 'operacao' });
  });
  // Each test has its own attempts and codes.
  beforeEach(waitOut);

  test('a code serves once, also in another session', async () => {
    await enter(painel, bia);
    const pessoa = new Pessoa(painel);
    await pessoa.open('/entrar');
    await pessoa.send('/entrar', { login: 'bia', senha: SENHA });
    const again = await pessoa.send('/segundo-fator', { codigo: codeAt(bia.segredo, world.now()) });
    assert.equal(again.status, 401);
    assert.match(again.html, /O código não confere/);
  });

  test('an account that is there, one that is not and one that is blocked are refused in the same words', async () => {
    await makeUsuario(painel, 'bloqueada', { integracao: 'leitura' });
    const conta = (await world.store.contas.findByLogin('bloqueada'))!;
    await world.store.contas.change(conta.id, { bloqueadaEm: world.now() }, world.now());
    const answers: Shown[] = [];
    for (const [login, senha] of [
      ['bia', 'errada'],
      ['ninguem', 'errada'],
      ['bloqueada', SENHA],
    ] as const) {
      const pessoa = new Pessoa(painel);
      await pessoa.open('/entrar');
      answers.push(await pessoa.send('/entrar', { login, senha }));
    }
    const [one, ...others] = answers.map(({ status, html }) => `${status} ${html.replace(/value="[a-z]*"/, '')}`);
    for (const other of others) assert.equal(other, one);
    assert.match(one!, /^401 /);
    const seen = await trailOf('bia');
    assert.ok(seen.some(({ acao, em }) => acao === 'recusado: senha errada' && em.getTime() === world.now()));
  });

  test('who tries often waits, whatever the password; another person does not', async () => {
    const pessoa = new Pessoa(painel);
    await pessoa.open('/entrar');
    let tries = 0;
    let last: Shown;
    do {
      last = await pessoa.send('/entrar', { login: 'bia', senha: 'errada' });
      // The allowance grows with time. Counters dated an hour ahead do not grow on a slow machine.
      if (tries === 0) await service.pool.query('update contagens set em = em + 3600');
      tries += 1;
    } while (!last.html.includes('tentativas demais') && tries < 50);
    assert.equal(tries, 7, 'six a minute for a login from one address');
    const right = await pessoa.send('/entrar', { login: 'bia', senha: SENHA });
    assert.match(right.html, /tentativas demais/);
    const other = await makeUsuario(painel, 'caio', { integracao: 'leitura' });
    await enter(painel, other);
  });

  test('the cookie is for this host alone, out of the reach of scripts, and another one at each step', async () => {
    const first = await raw('/entrar', { ...FORM, Origin: origin }, `login=bia&senha=${encodeURIComponent(SENHA)}`);
    const [cookie] = first.headers.getSetCookie();
    assert.match(cookie!, /^__Host-nfse-painel=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/);
    // A token that somebody else planted is never accepted.
    const planted = await raw(
      '/entrar',
      { ...FORM, Origin: origin, Cookie: `__Host-nfse-painel=${'A'.repeat(43)}` },
      `login=bia&senha=${encodeURIComponent(SENHA)}`,
    );
    assert.doesNotMatch(planted.headers.getSetCookie()[0]!, /=A{43}/);
    const half = cookie!.split(';', 1)[0]!;
    const page = await (await raw('/segundo-fator', { Cookie: half })).text();
    const token = /name="formulario" value="([^"]*)"/.exec(page)![1]!;
    const second = await raw(
      '/segundo-fator',
      { ...FORM, Origin: origin, Cookie: half },
      new URLSearchParams({ formulario: token, codigo: codeAt(bia.segredo, world.now()) }).toString(),
    );
    const whole = second.headers.getSetCookie()[0]!.split(';', 1)[0]!;
    assert.notEqual(whole, half);
    // The half-open session has ended.
    assert.equal((await raw('/segundo-fator', { Cookie: half })).headers.get('location'), '/entrar');
    assert.equal((await raw('/conta', { Cookie: whole })).status, 200);
  });

  test('a session ends after half an hour at rest, after twelve hours, and when its owner leaves', async () => {
    const resting = await enter(painel, bia);
    service.clock.now += 29 * MINUTE_MS;
    assert.equal((await resting.open('/conta')).status, 200);
    service.clock.now += 31 * MINUTE_MS;
    assert.equal((await resting.open('/conta')).path, '/entrar');
    const busy = await enter(painel, bia);
    for (let half = 0; half < 28; half += 1) {
      service.clock.now += 25 * MINUTE_MS;
      assert.equal((await busy.open('/conta')).path, '/conta', `after ${(half + 1) * 25} minutes`);
    }
    service.clock.now += 25 * MINUTE_MS;
    assert.equal((await busy.open('/conta')).path, '/entrar', 'after more than twelve hours');
    const leaving = await enter(painel, bia);
    const { cookie } = leaving;
    await leaving.open('/conta');
    await leaving.send('/sair');
    assert.equal((await raw('/conta', { Cookie: cookie })).headers.get('location'), '/entrar');
  });

  test('log out everywhere leaves the one session that asks', async () => {
    const one = await enter(painel, bia);
    await waitOut();
    const other = await enter(painel, bia);
    await other.open('/conta');
    const said = await other.send('/conta/sessoes');
    assert.match(said.html, /As outras sessões foram encerradas/);
    assert.equal((await one.open('/conta')).path, '/entrar');
    assert.equal((await other.open('/conta')).path, '/conta');
  });

  test('a new password ends the other sessions; the old one no longer serves', async () => {
    const dora = await makeUsuario(painel, 'dora', { integracao: 'leitura' });
    const pessoa = await enter(painel, dora);
    await pessoa.open('/conta');
    const nova = 'outra frase bem comprida';
    const wrong = await pessoa.send('/conta/senha', { atual: 'nada disso', senha: nova, repetida: nova });
    assert.equal(wrong.status, 422);
    assert.match(wrong.html, /A senha atual não confere/);
    const weak = 'integracao@2026';
    const refused = await pessoa.send('/conta/senha', { atual: SENHA, senha: weak, repetida: weak });
    assert.match(refused.html, /dos que se tentam primeiro: palavras como prefeitura/);
    const changed = await pessoa.send('/conta/senha', { atual: SENHA, senha: nova, repetida: nova });
    assert.match(changed.html, /A senha foi trocada/);
    const other = new Pessoa(painel);
    await other.open('/entrar');
    assert.equal((await other.send('/entrar', { login: 'dora', senha: SENHA })).status, 401);
    assert.match((await other.send('/entrar', { login: 'dora', senha: nova })).html, /Segundo fator/);
  });
});

describe('what comes from elsewhere', () => {
  let pessoa: Pessoa;
  let formulario: string;
  before(async () => {
    await waitOut();
    pessoa = await enter(painel, await makeUsuario(painel, 'eva', { integracao: 'administracao' }));
    const page = await pessoa.open('/m/integracao/usuarios/novo');
    formulario = /name="formulario" value="([^"]*)"/.exec(page.html)![1]!;
  });
  const body = (token: string, login: string): string =>
    new URLSearchParams({ formulario: token, login, nome: 'Intruso', papel: 'administracao' }).toString();

  for (const [what, headers, token] of [
    ['another site with the token', { Origin: 'https://mau.exemplo' }, undefined],
    ['another port of this machine', { Origin: 'http://localhost:1' }, undefined],
    ['a page of no origin', { Origin: 'null' }, undefined],
    ['a client that says nothing of itself', {}, undefined],
    ['a page of ours without the token', { Origin: origin }, ''],
    ['a page of ours with the token of another session', { Origin: origin }, 'A'.repeat(43)],
  ] as const) {
    test(`a form of ${what} does nothing`, async () => {
      const sent = body(token ?? formulario, 'intruso');
      const answer = await raw('/m/integracao/usuarios/novo', { ...FORM, ...headers, Cookie: pessoa.cookie }, sent);
      assert.equal(answer.status, 403);
      assert.equal(await world.store.contas.findByLogin('intruso'), undefined);
    });
  }

  test('a name of another machine is told where the console is, and nothing else', async () => {
    const { port } = new URL(origin);
    const answer = await fetch(`http://127.0.0.1:${port}/conta`, {
      redirect: 'manual',
      headers: { Cookie: pessoa.cookie },
    });
    assert.equal(answer.status, 302);
    assert.equal(answer.headers.get('location'), `${origin}/conta`);
    const { get } = await import('node:http');
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { Host: 'mau.exemplo', Cookie: pessoa.cookie };
      get({ host: '127.0.0.1', port, path: '/conta', headers }, (message) => {
        message.resume();
        resolve(message.statusCode);
      }).on('error', reject);
    });
    assert.equal(status, 421);
  });

  test('no page may be framed, run a foreign script or be kept by a cache', async () => {
    for (const path of ['/entrar', '/conta', '/nada']) {
      const { headers } = await pessoa.open(path);
      assert.match(
        headers.get('content-security-policy')!,
        /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/,
      );
      assert.doesNotMatch(headers.get('content-security-policy')!, /unsafe/);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.doesNotMatch((await pessoa.open(path)).html, /<script(?! src="\/estatico\/)|<style|\son\w+=|\sstyle=/);
    }
  });

  test('a name of a person is text wherever it is shown', async () => {
    const nome = '<img src=x onerror=alert(1)>"\'&';
    await criarUsuario(
      world,
      { login: 'xss', nome, municipio: 'integracao', papel: 'leitura' },
      { quem: 't', via: 'comando' },
    );
    for (const path of ['/m/integracao/usuarios', '/m/integracao/usuarios/xss']) {
      const { html } = await pessoa.open(path);
      assert.ok(html.includes('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;'), path);
      assert.ok(!html.includes('<img'), path);
    }
  });

  test('no address leads out of the console', async () => {
    for (const path of [
      '//mau.exemplo/',
      '/\\mau.exemplo',
      '/entrar?volta=https://mau.exemplo',
      '/%2F%2Fmau.exemplo',
    ]) {
      const answer = await fetch(`${origin}${path}`, { redirect: 'manual', headers: { Cookie: pessoa.cookie } });
      const to = answer.headers.get('location');
      assert.ok(to === null || new URL(to, origin).origin === origin, `${path} leads to ${to}`);
    }
  });
});

describe('roles', () => {
  const rows = PAINEL_ROUTES.filter(({ quem }) => isPapel(quem));
  const pathOf = (path: string, municipio: string): string =>
    path.replace(':municipio', municipio).replace(/:\w+/g, 'nada');
  const people = new Map<Papel, Pessoa>();
  before(async () => {
    for (const papel of PAPEIS) {
      await waitOut();
      people.set(papel, await enter(painel, await makeUsuario(painel, `de-${papel}`, { integracao: papel })));
    }
  });

  /** A request as the pages send it, with the token of the session. */
  async function ask(pessoa: Pessoa, method: 'GET' | 'POST', path: string): Promise<Response> {
    if (method === 'GET') return raw(path, { Cookie: pessoa.cookie });
    const { html } = await pessoa.open('/conta');
    const formulario = /name="formulario" value="([^"]*)"/.exec(html)![1]!;
    return raw(
      path,
      { ...FORM, Origin: origin, Cookie: pessoa.cookie },
      `formulario=${encodeURIComponent(formulario)}`,
    );
  }

  for (const papel of PAPEIS) {
    test(`${papel}: every page and every form, here and in another municipality`, async () => {
      const pessoa = people.get(papel)!;
      for (const { method, path, quem } of rows) {
        const what = `${method} ${path}`;
        const here = await ask(pessoa, method, pathOf(path, 'integracao'));
        if (mayAs(papel, quem as Papel)) assert.ok(here.status !== 403 && here.status < 500, `${what}: ${here.status}`);
        else assert.equal(here.status, 403, what);
        const there = await ask(pessoa, method, pathOf(path, OTHER));
        const nowhere = await ask(pessoa, method, pathOf(path, 'nao-existe'));
        assert.equal(there.status, 404, what);
        // A municipality of others and a missing one look alike.
        assert.equal(await there.text(), await nowhere.text(), what);
        service.clock.now += 1_000;
      }
      const refused = (await trailOf(`de-${papel}`)).filter(({ acao }) => acao === 'recusado');
      assert.ok(
        refused.some(({ depois }) => JSON.stringify(depois).includes(`sem papel em ${OTHER}`)),
        'what was asked of another municipality is in the trail',
      );
      assert.equal((await trailOf(`de-${papel}`, OTHER)).length, 0, 'and not in that of the other one');
    });
  }

  test('every form of another site, of no site, or without the token of the session does nothing', async () => {
    const pessoa = people.get('administracao')!;
    const { html } = await pessoa.open('/conta');
    const body = `formulario=${encodeURIComponent(/name="formulario" value="([^"]*)"/.exec(html)![1]!)}`;
    for (const { path } of PAINEL_ROUTES.filter(({ method, quem }) => method === 'POST' && quem !== 'todos')) {
      for (const [headers, sent] of [
        [{ Origin: 'https://mau.exemplo' }, body],
        [{}, body],
        [{ Origin: origin }, ''],
        [{ Origin: origin }, `formulario=${'A'.repeat(43)}`],
      ] as const) {
        const answer = await raw(
          pathOf(path, 'integracao'),
          { ...FORM, ...headers, Cookie: pessoa.cookie } as Record<string, string>,
          sent,
        );
        assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
        assert.match(await answer.text(), /Formulário vencido/, path);
      }
    }
    assert.equal((await pessoa.open('/conta')).path, '/conta', 'the session still stands');
  });

  test('a stranger is sent to the entrance from every page and every form', async () => {
    for (const { method, path, quem } of PAINEL_ROUTES) {
      if (quem === 'todos') continue;
      const stranger = new Pessoa(painel);
      const answer =
        method === 'GET'
          ? await raw(pathOf(path, 'integracao'))
          : await raw(pathOf(path, 'integracao'), { ...FORM, Origin: origin }, '');
      assert.equal(answer.status, 303, `${method} ${path}`);
      assert.equal(answer.headers.get('location'), '/entrar', `${method} ${path}`);
      assert.equal(stranger.cookie, '');
    }
  });

  test('a role that is taken away is gone with the next page', async () => {
    await waitOut();
    const fabio = await makeUsuario(painel, 'fabio', { integracao: 'administracao' });
    const pessoa = await enter(painel, fabio);
    assert.equal((await pessoa.open('/m/integracao/usuarios')).status, 200);
    const conta = (await world.store.contas.findByLogin('fabio'))!;
    await world.store.contas.setPapel(conta.id, 'integracao', 'leitura');
    assert.equal((await pessoa.open('/m/integracao/usuarios')).status, 403);
    await world.store.contas.setPapel(conta.id, 'integracao', undefined);
    assert.equal((await pessoa.open('/m/integracao/trilha')).status, 404);
  });
});

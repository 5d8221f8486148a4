/** Attacks with sessions, factors and links of the console: acts that still succeed, counted attempts, and records in the trail. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, test } from 'node:test';
import { codeAt, enter, makeUsuario, type Pessoa, SENHA, startTestPainel } from '../../../test/support/painel.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startProvedor } from '../../../test/support/provedor.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { signIn } from './entrada.ts';
import { openProvider } from './provider.ts';
import { bloquearUsuario, criarUsuario } from './usuarios.ts';

const [A, B] = ['integracao', 'vila-alheia'];
const BY = { quem: 'teste', via: 'comando' } as const;
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world, origin } = painel;
await world.store.municipios.create({ tenant: B, ambiente: 'homologacao', codigoIbge: '3550308' }, world.now());
const { port } = new URL(origin);

// Each test starts with fresh codes and attempts.
beforeEach(async () => {
  service.clock.now += 2 * MINUTE_MS;
  await service.pool.query('delete from contagens');
});

const tokenIn = (html: string): string => /name="formulario" value="([^"]*)"/.exec(html)![1]!;

describe('a form that was begun before what its sender may do has changed', () => {
  /** Sends a part of a form, waits until the console has checked the session, runs `act`, and sends the rest. */
  async function sendAround(
    pessoa: Pessoa,
    path: string,
    fields: object,
    act: () => Promise<unknown>,
  ): Promise<string> {
    const token = tokenIn((await pessoa.open(path)).html);
    service.clock.now += 2 * MINUTE_MS;
    const body = new URLSearchParams({ formulario: token, ...fields }).toString();
    const socket = connect(Number(port), '127.0.0.1');
    const answer = text(socket);
    await once(socket, 'connect');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: ${origin}\r\nCookie: ${pessoa.cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 10)}`,
    );
    await until(async () => {
      const { rows } = await service.pool.query('select 1 from sessoes where vista_em = $1', [new Date(world.now())]);
      return rows[0];
    }, 'the console has read the session');
    await act();
    socket.write(body.slice(10));
    return answer;
  }

  const form = { url: 'https://mal.exemplo.com.br/tudo', descricao: 'x', motivo: 'y' };
  const count = async (): Promise<number> =>
    (await service.pool.query(`select 1 from webhooks where url like '%mal.exemplo%'`)).rowCount!;

  test('does nothing once the account is blocked', async () => {
    const pessoa = await enter(painel, await makeUsuario(painel, 'mal', { [A]: 'administracao' }));
    const answer = await sendAround(pessoa, `/m/${A}/avisos/novo`, form, () =>
      bloquearUsuario(world, 'mal', true, { ...BY, motivo: 'demitido' }),
    );
    assert.match(answer, /^HTTP\/1\.1 303 [\s\S]*location: \/entrar/i);
    assert.equal(await count(), 0);
  });

  test('does nothing once the role is less', async () => {
    const pessoa = await enter(painel, await makeUsuario(painel, 'menor', { [A]: 'administracao' }));
    const { id } = (await world.store.contas.findByLogin('menor'))!;
    const answer = await sendAround(pessoa, `/m/${A}/avisos/novo`, form, () =>
      world.store.contas.setPapel(id, A, 'leitura'),
    );
    assert.match(answer, /^HTTP\/1\.1 403 /);
    assert.equal(await count(), 0);
  });
});

/** Acts of the entrance in the trail of a municipality. */
const acessosOf = async (login: string) =>
  (await world.store.atos.list(A, { objeto: 'acesso', chave: login }, 1_000)).map(({ acao }) => acao);
const kept = async (login: string): Promise<boolean | undefined> => (await acessosOf(login)).length > 0 || undefined;
/** Counters dated an hour ahead are not refilled on a slow machine. */
const stopRefill = () => service.pool.query('update contagens set em = em + 3600');

describe('the trail is not filled', () => {
  test('by answers to a passkey that nobody was asked for', async () => {
    const usuario = await makeUsuario(painel, 'leitor', { [A]: 'leitura' });
    const pessoa = await enter(painel, usuario);
    await until(() => kept('leitor'), 'the entrance is in the trail');
    for (let sent = 0; sent < 5; sent += 1) {
      await pessoa.open('/conta');
      await pessoa.send('/segundo-fator/passkey', { passkey: '{}' });
    }
    await pessoa.open('/conta');
    await pessoa.send('/sair');
    await until(async () => (await acessosOf('leitor')).includes('saiu') || undefined, 'the end is in the trail');
    assert.deepEqual((await acessosOf('leitor')).toSorted(), ['entrou', 'saiu']);
  });

  test('by wrong passkeys, which are counted; nor by ends of no session or of no factor', async () => {
    const usuario = await makeUsuario(painel, 'chaveira', { [A]: 'leitura' });
    const pessoa = await enter(painel, usuario);
    const told: string[] = [];
    for (let sent = 0; sent < 8; sent += 1) {
      const token = { formulario: tokenIn((await pessoa.open('/conta')).html) };
      await pessoa.send('/segundo-fator/passkey/opcoes', token);
      told.push((await pessoa.send('/segundo-fator/passkey', { ...token, passkey: '{}' })).html);
      if (sent === 0) await stopRefill();
      for (const path of ['/conta/sessoes', '/conta/codigo/retirar']) {
        await pessoa.open('/conta');
        await pessoa.send(path);
      }
    }
    assert.match(told[0]!, /não foi reconhecida/);
    assert.match(told.at(-1)!, /tentativas demais/);
    const acoes = await acessosOf('chaveira');
    assert.ok(!acoes.some((acao) => acao.startsWith('encerrou')));
    assert.equal(acoes.filter((acao) => acao.startsWith('deixou')).length, 1);
  });

  test('by wrong passwords of a known login; what was done is still taken, and the log has the rest', async () => {
    const usuario = await makeUsuario(painel, 'conhecida', { [A]: 'leitura' });
    for (let place = 0; place < 20; place += 1) {
      const from = { rede: `192.0.2.${place}`, navegador: '' };
      await signIn(world, { login: 'conhecida', senha: 'errada' }, from);
      if (place === 0) await until(() => kept('conhecida'), 'the first is in the trail').then(stopRefill);
    }
    const logged = (): number =>
      service.logged.filter(({ message }) => message === 'a trilha não toma mais acessos desta conta neste minuto')
        .length;
    await until(
      async () => (await acessosOf('conhecida')).length + logged() >= 20 || undefined,
      'each attempt is in the trail or in the log',
    );
    assert.equal(logged(), 10);
    await enter(painel, usuario);
    await until(
      async () => (await acessosOf('conhecida')).includes('entrou') || undefined,
      'the entrance is in the trail',
    );
    const refused = (await acessosOf('conhecida')).filter((acao) => acao.startsWith('recusado'));
    assert.equal(refused.length, 10);
  });
});

describe('the way to the identity provider', () => {
  test('is counted by network, and a link that does not serve leads nobody there', async () => {
    const at = await ownPort();
    const provedor = await startProvedor(`http://localhost:${at}/entrar/retorno`, {});
    const own = await startTestPainel(service, openProvider(provedor), at);
    const rows = async () => (await service.pool.query(`select 1 from sessoes where etapa = 'identidade'`)).rowCount;
    const ask = (path: string, init: RequestInit = {}) => fetch(own.origin + path, { redirect: 'manual', ...init });
    const answer = await ask('/convite/nada/provedor', { method: 'POST', headers: { Origin: own.origin } });
    assert.equal(answer.status, 410);
    assert.equal(await rows(), 0);
    await stopRefill();
    for (let asked = 0; asked < 29; asked += 1) await ask('/entrar/provedor');
    assert.match(await (await ask('/entrar/provedor')).text(), /tentativas demais/);
    assert.equal(await rows(), 29);
  });
});

test('a Host header that is no address is answered as another name, and is no fault', async () => {
  const logged = service.logged.length;
  for (const host of ['localhost:99999', '[::::::::::]', '1.2.3.4.5.6']) {
    const socket = connect(Number(port), '127.0.0.1');
    const answer = text(socket);
    socket.write(`GET /entrar HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(await answer, /^HTTP\/1\.1 421 /, host);
  }
  assert.ok(!service.logged.slice(logged).some(({ message }) => message.includes('falhou')));
});

test('no account has the login that is the address of the form', async () => {
  const asked = { login: 'Novo', nome: 'Novo', municipio: A, papel: 'leitura' } as const;
  const made = await criarUsuario(world, asked, BY);
  assert.ok('problem' in made && made.problem.includes('«novo»'));
});

describe('a session that has only its cookie to show', () => {
  test('lasts no longer than twelve hours, though its codes be given again', async () => {
    const usuario = await makeUsuario(painel, 'renova', { [A]: 'operacao' });
    const pessoa = await enter(painel, usuario);
    for (let part = 0; part < 29; part += 1) {
      service.clock.now += 25 * MINUTE_MS;
      assert.equal((await pessoa.open('/conta')).path, part < 28 ? '/conta' : '/entrar', `${part}`);
      await pessoa.send('/segundo-fator', { codigo: codeAt(usuario.segredo, world.now()) });
    }
  });

  test('neither adds nor drops a factor; whoever enters anew does', async () => {
    const usuario = await makeUsuario(painel, 'mesa', { [A]: 'leitura' });
    const pessoa = await enter(painel, usuario);
    const totp = async () => (await world.store.contas.findByLogin('mesa'))!.totp;
    service.clock.now += 11 * MINUTE_MS;
    const page = await pessoa.open('/conta');
    assert.match(page.html, /saia e entre de novo/);
    assert.doesNotMatch(page.html, /Criar passkey|Retirar/);
    assert.match((await pessoa.send('/conta/codigo/retirar')).html, /saia e entre de novo/);
    assert.equal(await totp(), usuario.segredo);
    const asked = { formulario: tokenIn(page.html) };
    assert.equal((await pessoa.send('/conta/passkey/opcoes', asked)).status, 403);
    assert.equal((await pessoa.send('/conta/passkey', { ...asked, passkey: '{}' })).status, 403);
    const anew = await enter(painel, usuario);
    await anew.open('/conta');
    await anew.send('/conta/codigo/retirar');
    assert.equal(await totp(), null);
    // The secret is on the page, but its code comes too late.
    const segredo = /<code>([A-Z2-7 ]+)<\/code>/.exec((await anew.open('/conta/codigo')).html)![1]!.replaceAll(' ', '');
    service.clock.now += 11 * MINUTE_MS;
    const late = await anew.send('/conta/codigo', { codigo: codeAt(segredo, world.now()) });
    assert.match(late.html, /saia e entre de novo/);
    assert.equal(await totp(), null);
  });

  test('chooses no first password', async () => {
    const pessoa = await enter(painel, await makeUsuario(painel, 'semsenha', { [A]: 'leitura' }));
    const { id } = (await world.store.contas.findByLogin('semsenha'))!;
    await world.store.contas.change(id, { senha: null }, world.now());
    service.clock.now += 11 * MINUTE_MS;
    assert.doesNotMatch((await pessoa.open('/conta')).html, /name="senha"/);
    const nova = 'outra frase bem comprida';
    assert.equal((await pessoa.send('/conta/senha', { senha: nova, repetida: nova })).status, 422);
    assert.equal((await world.store.contas.findByLogin('semsenha'))!.senha, null);
  });
});

test('a session ends where the same browser enters as somebody else', async () => {
  const pessoa = await enter(painel, await makeUsuario(painel, 'primeira', { [A]: 'leitura' }));
  const cookie = { Cookie: pessoa.cookie };
  await makeUsuario(painel, 'segunda', { [A]: 'leitura' });
  assert.equal((await fetch(`${origin}/conta`, { redirect: 'manual', headers: cookie })).status, 200);
  assert.match((await pessoa.send('/entrar', { login: 'segunda', senha: SENHA })).html, /Segundo fator/);
  assert.equal((await fetch(`${origin}/conta`, { redirect: 'manual', headers: cookie })).status, 303);
});

test('an account is redefined with a reason, after a page that says its effect', async () => {
  const chefe = await enter(painel, await makeUsuario(painel, 'chefona', { [A]: 'administracao' }));
  await makeUsuario(painel, 'esquecida', { [A]: 'leitura' });
  const at = `/m/${A}/usuarios/esquecida`;
  const hasPassword = async () => (await world.store.contas.findByLogin('esquecida'))!.senha !== null;
  await chefe.open(at);
  assert.equal((await chefe.send(`${at}/redefinir`, { motivo: ' ' })).status, 422);
  const asked = await chefe.send(`${at}/redefinir`, { motivo: 'perdeu o telefone' });
  assert.match(asked.html, /<h1>Redefinir a conta\?<\/h1>[\s\S]*perdeu o telefone/);
  assert.ok(await hasPassword(), 'nothing is done before it is confirmed');
  assert.match((await chefe.confirm({ voltar: '1' })).html, /value="perdeu o telefone"/);
  await chefe.send(`${at}/redefinir`, { motivo: 'perdeu o telefone' });
  assert.match((await chefe.confirm()).html, /\/convite\//);
  assert.ok(!(await hasPassword()));
});

test('a reason that does not fit is refused by each act on an account', async () => {
  const chefe = await enter(painel, await makeUsuario(painel, 'chefia', { [A]: 'administracao' }));
  await makeUsuario(painel, 'alvo', { [A]: 'leitura' });
  const motivo = 'x'.repeat(256);
  const path = `/m/${A}/usuarios`;
  for (const act of ['alvo/papel', 'alvo/bloquear', 'alvo/redefinir', 'alvo/retirar', 'novo']) {
    await chefe.open(`${path}/novo`);
    const sent = { motivo, papel: 'operacao', login: 'outra', nome: 'Outra' };
    const { status, html } = await chefe.send(`${path}/${act}`, sent);
    assert.equal(status, 422, act);
    assert.match(html, /O motivo tem 256 caracteres; cabem 255/, act);
  }
  assert.equal(await world.store.contas.findByLogin('outra'), undefined);
});

/** The second factor that gets lost: the secret that stays while it is scanned, and the recovery codes. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import {
  codeAt,
  enter,
  makeUsuario,
  Pessoa,
  SENHA,
  startTestPainel,
  type Usuario,
} from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { redefinirUsuario } from './usuarios.ts';

const AQUI = 'integracao';
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world } = painel;

beforeEach(async () => {
  service.clock.now += 2 * MINUTE_MS;
  await service.pool.query('delete from contagens');
});

const secretIn = (html: string): string => /<code>([A-Z2-7 ]+)<\/code>/.exec(html)![1]!.replaceAll(' ', '');
const codesIn = (html: string): readonly string[] => /<pre>([^<]*)<\/pre>/.exec(html)![1]!.split('\n');
const tokenIn = (html: string): string => /name="formulario" value="([^"]*)"/.exec(html)![1]!;
const storedOf = async (login: string): Promise<readonly Buffer[]> =>
  (
    await service.pool.query<{ codigos_reserva: Buffer[] }>('select codigos_reserva from contas where login = $1', [
      login,
    ])
  ).rows[0]!.codigos_reserva;

/** A person with a password alone, at the page that asks for the second factor. */
async function beforeFactor({ login }: Usuario): Promise<Pessoa> {
  const pessoa = new Pessoa(painel);
  await pessoa.open('/entrar');
  await pessoa.send('/entrar', { login, senha: SENHA });
  return pessoa;
}

test('the secret stays over a reload, over a try of a passkey, and in two tabs that open at once', async () => {
  const usuario = await makeUsuario(painel, 'celular', { [AQUI]: 'operacao' });
  const { id } = (await world.store.contas.findByLogin('celular'))!;
  await world.store.contas.change(id, { totp: null }, world.now());
  const pessoa = await beforeFactor(usuario);
  const pages = await Promise.all([1, 2, 3].map(() => pessoa.open('/segundo-fator')));
  const [segredo, ...others] = pages.map(({ html }) => secretIn(html));
  assert.deepEqual(others, [segredo, segredo]);
  const options = await pessoa.send('/conta/passkey/opcoes', { formulario: tokenIn(pages[0]!.html) });
  assert.equal(options.status, 200);
  assert.equal(secretIn((await pessoa.open('/segundo-fator')).html), segredo);
  const next = await pessoa.send('/segundo-fator/codigo', { codigo: codeAt(segredo!, world.now()) });
  assert.equal(next.path, '/conta/reserva');
  assert.match(next.html, /Esta conta não tem nenhum/);
  assert.equal((await world.store.contas.findByLogin('celular'))!.totp, segredo);
});

describe('recovery codes', () => {
  test('are shown once, stored as digests, and serve once each', async () => {
    const usuario = await makeUsuario(painel, 'papel', { [AQUI]: 'operacao' });
    const pessoa = await enter(painel, usuario);
    await pessoa.open('/conta/reserva');
    const codes = codesIn((await pessoa.send('/conta/reserva')).html);
    assert.equal(codes.length, 10);
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) assert.match(code, /^[a-z2-9]{4}(?:-[a-z2-9]{4}){3}$/);
    const digests = codes.map((code) => hash('sha256', code.replaceAll('-', '')));
    assert.deepEqual(
      (await storedOf('papel')).map((one) => one.toString('hex')),
      digests,
    );
    const again = (await pessoa.open('/conta/reserva')).html;
    assert.ok(!codes.some((code) => again.includes(code)));
    assert.match(again, /tem 10 por usar/);

    const lost = await beforeFactor(usuario);
    // Capitals, spaces and missing hyphens are as good.
    const entered = await lost.send('/segundo-fator/reserva', {
      reserva: ` ${codes[3]!.toUpperCase().replaceAll('-', ' ')} `,
    });
    assert.equal(entered.path, '/conta');
    assert.match(entered.html, /O código de reserva foi usado/);
    assert.match(entered.html, /Códigos de reserva por usar: 9/);
    const second = await beforeFactor(usuario);
    const refused = await second.send('/segundo-fator/reserva', { reserva: codes[3]! });
    assert.equal(refused.status, 401);
    assert.match(refused.html, /já foi usado/);
    assert.equal((await second.open('/conta')).path, '/segundo-fator');
  });

  test('one code, sent many times at once, lets one session in', async () => {
    const usuario = await makeUsuario(painel, 'disputa', { [AQUI]: 'operacao' });
    const pessoa = await enter(painel, usuario);
    await pessoa.open('/conta/reserva');
    const [code] = codesIn((await pessoa.send('/conta/reserva')).html);
    const others = await Promise.all(Array.from({ length: 5 }, () => beforeFactor(usuario)));
    const shown = await Promise.all(others.map((one) => one.send('/segundo-fator/reserva', { reserva: code! })));
    assert.equal(shown.filter(({ path }) => path === '/conta').length, 1);
  });

  test('open an account whose app is locked, and wrong ones are counted', async () => {
    const usuario = await makeUsuario(painel, 'travada', { [AQUI]: 'operacao' });
    const pessoa = await enter(painel, usuario);
    await pessoa.open('/conta/reserva');
    const [code] = codesIn((await pessoa.send('/conta/reserva')).html);
    await service.pool.query(`update contas set codigos_errados = 20 where login = 'travada'`);
    service.clock.now += MINUTE_MS;
    const lost = await beforeFactor(usuario);
    const locked = await lost.send('/segundo-fator', { codigo: codeAt(usuario.segredo, world.now()) });
    assert.match(locked.html, /código de reserva/);
    for (let tried = 0; tried < 6; tried += 1) {
      const wrong = await lost.send('/segundo-fator/reserva', { reserva: 'aaaa-bbbb-cccc-dddd' });
      assert.match(wrong.html, /não confere/, `${tried}`);
      // Counters dated an hour ahead are not refilled on a slow machine.
      if (tried === 0) await service.pool.query('update contagens set em = em + 3600');
    }
    assert.match((await lost.send('/segundo-fator/reserva', { reserva: code! })).html, /tentativas demais/);
    await service.pool.query('delete from contagens');
    assert.equal((await lost.send('/segundo-fator/reserva', { reserva: code! })).path, '/conta');
    assert.equal((await world.store.contas.findByLogin('travada'))!.codigos_errados, 0);
  });

  test('a new set replaces the old one, and a redefined account has none', async () => {
    const usuario = await makeUsuario(painel, 'trocada', { [AQUI]: 'operacao' });
    const pessoa = await enter(painel, usuario);
    await pessoa.open('/conta/reserva');
    const [old] = codesIn((await pessoa.send('/conta/reserva')).html);
    await pessoa.open('/conta/reserva');
    const [fresh] = codesIn((await pessoa.send('/conta/reserva')).html);
    assert.match(
      (await (await beforeFactor(usuario)).send('/segundo-fator/reserva', { reserva: old! })).html,
      /não confere/,
    );
    assert.equal(
      (await (await beforeFactor(usuario)).send('/segundo-fator/reserva', { reserva: fresh! })).path,
      '/conta',
    );
    await redefinirUsuario(world, 'trocada', { quem: 'teste', via: 'comando' });
    assert.deepEqual(await storedOf('trocada'), []);
  });

  test('are made only a moment after entering, and only beside a factor', async () => {
    const usuario = await makeUsuario(painel, 'tarde', { [AQUI]: 'leitura' });
    const pessoa = await enter(painel, usuario);
    service.clock.now += 11 * MINUTE_MS;
    assert.match((await pessoa.open('/conta/reserva')).html, /saia e entre de novo/);
    const late = await pessoa.send('/conta/reserva', { formulario: tokenIn((await pessoa.open('/conta')).html) });
    assert.equal(late.status, 422);
    assert.deepEqual(await storedOf('tarde'), []);
    const anew = await enter(painel, usuario);
    await anew.open('/conta');
    await anew.send('/conta/codigo/retirar');
    assert.equal((await anew.open('/conta/reserva')).path, '/conta');
  });

  test('the trail tells of them, and of none of their letters', async () => {
    const usuario = await makeUsuario(painel, 'contada', { [AQUI]: 'operacao' });
    const pessoa = await enter(painel, usuario);
    await pessoa.open('/conta/reserva');
    const [code] = codesIn((await pessoa.send('/conta/reserva')).html);
    await (await beforeFactor(usuario)).send('/segundo-fator/reserva', { reserva: code! });
    const acts = async () => world.store.atos.list(AQUI, { objeto: 'acesso', chave: 'contada' }, 100);
    const found = await until(async () => {
      const all = await acts();
      return all.some(({ acao }) => acao === 'usou um código de reserva') ? all : undefined;
    }, 'the use is in the trail');
    assert.ok(found.some(({ acao }) => acao === 'criou códigos de reserva'));
    const told = JSON.stringify([found, service.logged]);
    for (const part of [code!, code!.replaceAll('-', '')]) assert.ok(!told.includes(part));
  });
});

test('a forgotten password has two ways, and the entrance tells both', async () => {
  const { html } = await new Pessoa(painel).open('/entrar');
  assert.match(html, /Quem administra os usuários do município/);
  assert.match(html, /nfse usuario redefinir/);
});

/** The page of who may do what in a municipality: since when, by whom, which links are still waited for, and accounts that nobody took. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { enter, makeUsuario, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { acceptConvite } from './convites.ts';
import { criarUsuario } from './usuarios.ts';

const [AQUI, ALI] = ['integracao', 'vila-alheia'];
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world } = painel;
await world.store.municipios.create({ tenant: ALI, ambiente: 'homologacao', codigoIbge: '3550308' }, world.now());
const chefe = await enter(painel, await makeUsuario(painel, 'chefe', { [AQUI]: 'administracao' }));
const BY = { quem: 'root', via: 'comando' } as const;

beforeEach(async () => {
  service.clock.now += 2 * MINUTE_MS;
  await service.pool.query('delete from contagens');
});

/** The cells of a person in the list. */
async function cellsOf(login: string): Promise<readonly string[]> {
  const { html } = await chefe.open(`/m/${AQUI}/usuarios`);
  const row = new RegExp(`<tr>(?:(?!<tr>)[\\s\\S])*>${login}<[\\s\\S]*?</tr>`).exec(html)?.[0] ?? '';
  return [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell]) => cell!.replace(/<[^>]*>/g, ''));
}

async function offer(login: string, municipio: string): Promise<string> {
  const made = await criarUsuario(world, { login, nome: `Nome ${login}`, municipio, papel: 'operacao' }, BY);
  assert.ok('usuario' in made);
  return made.convite!;
}

test('a role is told with its giver and its beginning, and a link with its end', async () => {
  // 21/11/2026 12:02 in Brasília, and 72 hours later.
  const convite = await offer('marta', AQUI);
  const [, nome, papel, desde, por, situacao] = await cellsOf('marta');
  assert.deepEqual([nome, papel, por], ['Nome marta', 'operação, ainda não aceito', 'root, por comando']);
  assert.equal(desde, 'não vale ainda; o link serve até 24/11/2026 12:02:00');
  assert.match(situacao!, /ainda não abriu o link/);
  service.clock.now += MINUTE_MS;
  const senha = 'seis canoas descem devagar';
  await acceptConvite(world, convite, { login: 'marta', nome: 'Marta', senha, repetida: senha });
  assert.deepEqual((await cellsOf('marta')).slice(2, 5), ['operação', '21/11/2026 12:03:00', 'root, por comando']);
});

test('a role that is changed is from then on of its changer', async () => {
  await makeUsuario(painel, 'nilo', { [AQUI]: 'leitura' });
  await chefe.open(`/m/${AQUI}/usuarios/nilo`);
  await chefe.send(`/m/${AQUI}/usuarios/nilo/papel`, { papel: 'atendimento', motivo: 'mudou de mesa' });
  const [, , papel, , por] = await cellsOf('nilo');
  assert.deepEqual([papel, por], ['atendimento', 'chefe']);
});

test('the account of an administrator who never came is deleted with its last role, and one in use stays', async () => {
  await offer('sumido', AQUI);
  await offer('sumido', ALI);
  await chefe.open(`/m/${AQUI}/usuarios`);
  await chefe.send(`/m/${AQUI}/usuarios/sumido/retirar`, { motivo: 'não veio' });
  assert.deepEqual(await cellsOf('sumido'), []);
  assert.ok(await world.store.contas.findByLogin('sumido'), 'another municipality waits for it');
  const done = await nfseHere(
    ['usuario', 'retirar', 'sumido', '--municipio', ALI, '--motivo', 'não veio'],
    service.pool,
  );
  assert.match(done.out, /Ninguém chegou a entrar com a conta, que foi apagada/);
  assert.equal(await world.store.contas.findByLogin('sumido'), undefined);
  await makeUsuario(painel, 'usada', { [AQUI]: 'leitura' });
  await chefe.open(`/m/${AQUI}/usuarios`);
  await chefe.send(`/m/${AQUI}/usuarios/usada/retirar`, { motivo: 'saiu' });
  assert.ok(await world.store.contas.findByLogin('usada'));
  const acts = await world.store.atos.list(ALI, { objeto: 'usuario', chave: 'sumido' }, 10);
  assert.deepEqual([acts[0]?.acao, acts[0]?.motivo], ['retirado e apagado', 'não veio']);
});

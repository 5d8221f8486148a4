/**
 * A municipality gives a role to an existing account. The role is valid once the person has accepted it, and no proof of another person
 * obtains it.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { codeAt, enter, makeUsuario, Pessoa, SENHA, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import type { Papel } from '../../base/world/papeis.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { criarUsuario, redefinirUsuario, retirarUsuario } from './usuarios.ts';

const [A, B] = ['integracao', 'vila-alheia'];
const OUTRA = 'cinco potros pintam quintais';
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world } = painel;
await world.store.municipios.create({ tenant: B, ambiente: 'homologacao', codigoIbge: '3550308' }, world.now());
const chefes = { a: 'chefe@a.gov.br', b: 'chefe@b.gov.br' } as const;
const ofA = await makeUsuario(painel, chefes.a, { [A]: 'administracao' });
const ofB = await makeUsuario(painel, chefes.b, { [B]: 'administracao' });

// Each test starts with fresh codes and attempts.
beforeEach(async () => {
  service.clock.now += MINUTE_MS;
  await service.pool.query('delete from contagens');
});

/** The link that a page of the console, or a command, shows. */
function linkIn(text: string): string {
  return /\/convite\/[\w-]+/.exec(text)?.[0] ?? assert.fail(`no link in ${text}`);
}

/** The link with which a municipality gives a role, made on its page. */
async function give(chefe: Pessoa, municipio: string, login: string, papel: Papel): Promise<string> {
  await chefe.open(`/m/${municipio}/usuarios/novo`);
  const { html } = await chefe.send(`/m/${municipio}/usuarios/novo`, { login, nome: 'Maria', papel });
  return linkIn(html);
}

const papeisOf = async (login: string) => (await world.store.contas.findByLogin(login))?.papeis;

/** Enters with a password that was just chosen, and sets up an app for codes. */
async function enroll(pessoa: Pessoa, html: string): Promise<void> {
  const segredo = /<code>([A-Z2-7 ]+)<\/code>/.exec(html)![1]!.replaceAll(' ', '');
  assert.equal((await pessoa.send('/segundo-fator/codigo', { codigo: codeAt(segredo, world.now()) })).status, 200);
}

describe('an account that an administrator of another municipality made in advance', () => {
  test('gets nothing by the role that is given later; the person gets it under another login', async () => {
    const login = 'maria@b.gov.br';
    const chefe = await enter(painel, ofA);
    const linkOfA = await give(chefe, A, login, 'operacao');
    // The creator of the account takes it over: password and second factor.
    const mallory = new Pessoa(painel);
    await mallory.open(linkOfA);
    await enroll(mallory, (await mallory.send(linkOfA, { login, nome: 'Maria', senha: SENHA, repetida: SENHA })).html);
    assert.deepEqual(await papeisOf(login), { [A]: 'operacao' });

    const linkOfB = await give(await enter(painel, ofB), B, login, 'administracao');
    assert.deepEqual(await papeisOf(login), { [A]: 'operacao' }, 'given, not accepted');
    assert.equal((await mallory.open(`/m/${B}/hoje`)).status, 404);
    assert.equal((await mallory.open(`/m/${B}/usuarios`)).status, 404);

    const maria = new Pessoa(painel);
    const page = await maria.open(linkOfB);
    assert.match(page.html, new RegExp(`por quem não trabalha para ${B}`), 'who made the account');
    assert.doesNotMatch(page.html, new RegExp(chefes.a));
    assert.match(page.html, /Conta criada<\/dt><dd>.*\d{2}\/\d{2}\/\d{4}/, 'and when');
    assert.match(page.html, new RegExp(`Papel em ${B}.*administração, dado por ${chefes.b}`));
    const same = await maria.send(linkOfB, { login, nome: 'Maria', senha: OUTRA, repetida: OUTRA });
    assert.equal(same.status, 422);
    assert.match(same.html, /já é de outra conta\. Escolha outro/);
    const own = { login: 'maria.souza@b.gov.br', nome: 'Maria Souza', senha: OUTRA, repetida: OUTRA };
    await enroll(maria, (await maria.send(linkOfB, own)).html);
    assert.deepEqual(await papeisOf(own.login), { [B]: 'administracao' });
    assert.deepEqual(await papeisOf(login), { [A]: 'operacao' });
    assert.equal((await maria.open(`/m/${B}/usuarios`)).status, 200);
    assert.equal((await mallory.open(`/m/${B}/usuarios`)).status, 404);
    assert.equal((await new Pessoa(painel).open(linkOfB)).status, 410, 'the link serves once');
  });

  test('and that nobody has taken is taken by the first link; the other one asks for its proofs then', async () => {
    const login = 'nina@b.gov.br';
    const linkOfA = await give(await enter(painel, ofA), A, login, 'operacao');
    const linkOfB = await give(await enter(painel, ofB), B, login, 'operacao');
    const nina = new Pessoa(painel);
    await nina.open(linkOfB);
    await enroll(nina, (await nina.send(linkOfB, { login, nome: 'Nina', senha: OUTRA, repetida: OUTRA })).html);
    assert.deepEqual(await papeisOf(login), { [B]: 'operacao' });
    const mallory = new Pessoa(painel);
    assert.match((await mallory.open(linkOfA)).html, /<h1>Um papel novo<\/h1>/);
    const tried = await mallory.send(linkOfA, { login, nome: 'Nina', senha: SENHA, repetida: SENHA });
    assert.equal(tried.status, 422);
    assert.match((await new Pessoa(painel).send('/entrar', { login, senha: SENHA })).html, /não conferem/);
  });
});

describe('whoever has the account', () => {
  test('accepts the role by entering anew and opening the link', async () => {
    const olga = await makeUsuario(painel, 'olga@b.gov.br', { [A]: 'operacao' });
    const link = await give(await enter(painel, ofB), B, olga.login, 'operacao');
    const early = new Pessoa(painel);
    assert.match((await early.open(link)).html, /entre com essa conta e abra este link de novo/);
    assert.equal((await early.send(`${link}/aceitar`)).status, 422);
    const pessoa = await enter(painel, olga);
    assert.match((await pessoa.open(link)).html, /Aceitar o papel/);
    assert.match((await pessoa.open(link)).html, /por teste, por comando/, 'who made the account');
    assert.equal((await pessoa.send(`${link}/aceitar`)).status, 200);
    assert.deepEqual(await papeisOf(olga.login), { [A]: 'operacao', [B]: 'operacao' });
    const told = await world.store.atos.list(B, { objeto: 'usuario', chave: olga.login }, 10);
    const accepted = told.find(({ acao }) => acao === 'papel aceito');
    assert.deepEqual([accepted?.quem, accepted?.depois], [olga.login, { papel: 'operacao' }]);
    // An accepted role can be changed at once, without a link.
    const more = await criarUsuario(world, { login: olga.login, nome: undefined, municipio: B, papel: 'leitura' }, BY);
    assert.ok('usuario' in more && more.convite === undefined);
    assert.equal((await papeisOf(olga.login))![B], 'leitura');
  });

  test('does not accept it with a session of this morning, and nobody else with the link alone', async () => {
    const pia = await makeUsuario(painel, 'pia@b.gov.br', { [A]: 'operacao' });
    const pessoa = await enter(painel, pia);
    const link = await give(await enter(painel, ofB), B, pia.login, 'operacao');
    service.clock.now += 11 * MINUTE_MS;
    assert.equal((await pessoa.send(`${link}/aceitar`)).status, 422);
    const other = await enter(painel, ofA);
    assert.equal((await other.send(`${link}/aceitar`)).status, 422);
    assert.deepEqual(await papeisOf(pia.login), { [A]: 'operacao' });
  });
});

test('a link of one municipality does not take an account that another one has redefined', async () => {
  const rita = await makeUsuario(painel, 'rita@a.gov.br', { [A]: 'administracao' });
  const linkOfB = await give(await enter(painel, ofB), B, rita.login, 'leitura');
  const redefined = await redefinirUsuario(world, rita.login, { ...BY, motivo: 'perdeu o telefone' });
  assert.ok('convite' in redefined);
  const mallory = new Pessoa(painel);
  assert.match((await mallory.open(linkOfB)).html, /<h1>Um papel novo<\/h1>/);
  const chosen = { login: rita.login, nome: 'Rita', senha: SENHA, repetida: SENHA };
  assert.equal((await mallory.send(linkOfB, chosen)).status, 422);
  assert.deepEqual((await world.store.contas.findByLogin(rita.login))!.senha, null);
});

test('an administrator of one municipality does not rule an account by offering it a role', async () => {
  const sara = await makeUsuario(painel, 'sara@a.gov.br', { [A]: 'operacao' });
  const chefe = await enter(painel, ofB);
  await give(chefe, B, sara.login, 'leitura');
  for (const act of ['bloquear', 'redefinir']) {
    await chefe.open(`/m/${B}/usuarios/${encodeURIComponent(sara.login)}`);
    const path = `/m/${B}/usuarios/${encodeURIComponent(sara.login)}/${act}`;
    const { status, html } = await chefe.send(path, { motivo: 'teste' });
    assert.equal(status, 422, act);
    assert.match(html, /também trabalha para outros municípios/);
  }
  await enter(painel, sara);
  // The same holds for an account that has no role at present.
  assert.deepEqual(await retirarUsuario(world, sara.login, A, { ...BY, motivo: 'saiu' }), { isDeleted: false });
  for (const act of ['bloquear', 'redefinir']) {
    const path = `/m/${B}/usuarios/${encodeURIComponent(sara.login)}/${act}`;
    assert.equal((await chefe.send(path, { motivo: 'teste' })).status, 422, act);
  }
  const conta = (await world.store.contas.findByLogin(sara.login))!;
  assert.ok(conta.senha !== null && conta.bloqueada_em === null);
});

test('an administrator sees of an account that has been offered a role nothing but the offer', async () => {
  const vera = await makeUsuario(painel, 'vera@a.gov.br', { [A]: 'operacao' });
  const chefe = await enter(painel, ofB);
  const convite = await give(chefe, B, vera.login, 'leitura');
  const about = /Pessoa vera|ativo|aplicativo|Conta criada/;
  const seen = async (path: string): Promise<string> =>
    (await chefe.open(`/m/${B}/usuarios${path}`)).html.replace(/[\s\S]*<main/, '').replaceAll('chefe@b.gov.br', '');
  const one = `/${encodeURIComponent(vera.login)}`;
  const row = (html: string): string => /<tr>(?:(?!<tr>)[\s\S])*vera@a[\s\S]*?<\/tr>/.exec(html)![0];
  assert.doesNotMatch(row(await seen('')), about);
  assert.doesNotMatch(await seen(one), about);
  const own = await enter(painel, vera);
  await own.open(convite);
  assert.equal((await own.send(`${convite}/aceitar`)).status, 200);
  assert.match(row(await seen('')), about);
  assert.match(await seen(one), about);
});

test('nor of one that another town hall made and nobody has taken; its own it sees', async () => {
  const login = 'joao@x.gov.br';
  const named = async (chefe: Pessoa, municipio: string): Promise<string> => {
    await chefe.open(`/m/${municipio}/usuarios/novo`);
    const asked = { login, nome: `Segredo de ${municipio}`, papel: 'leitura' };
    return linkIn((await chefe.send(`/m/${municipio}/usuarios/novo`, asked)).html);
  };
  const chefe = await enter(painel, ofA);
  const seenBy = async (who: Pessoa, municipio: string): Promise<string> =>
    (await who.open(`/m/${municipio}/usuarios/${encodeURIComponent(login)}`)).html.replace(/[\s\S]*<main/, '');
  const ownLink = await named(chefe, A);
  assert.match(await seenBy(chefe, A), /Segredo de integracao[\s\S]*Conta criada/);
  assert.match((await new Pessoa(painel).open(ownLink)).html, /por chefe@a[\s\S]*value="Segredo de integracao"/);
  const other = await enter(painel, ofB);
  const link = await named(other, B);
  for (const isOfA of [true, false]) {
    if (!isOfA) assert.deepEqual(await retirarUsuario(world, login, A, BY), { isDeleted: false });
    assert.doesNotMatch(await seenBy(other, B), /Segredo|chefe@a|Conta criada/);
    assert.doesNotMatch((await new Pessoa(painel).open(link)).html, /Segredo|chefe@a/);
  }
});

test('a page that was opened while the role was there does nothing after it is gone', async () => {
  const tina = await makeUsuario(painel, 'tina@a.gov.br', { [A]: 'administracao' });
  const conta = (await world.store.contas.findByLogin(tina.login))!;
  const by = { quem: tina.login, via: 'painel', conta: conta.id } as const;
  await world.store.contas.setPapel(conta.id, A, 'leitura');
  const made = await criarUsuario(world, { login: 'ursula', nome: 'U', municipio: A, papel: 'administracao' }, by);
  assert.ok('problem' in made && made.problem.includes(`já não administra ${A}`));
  assert.equal(await papeisOf('ursula'), undefined);
});

const BY = { quem: 'teste', via: 'comando' } as const;

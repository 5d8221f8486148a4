/** The console by HTTP, as a browser without scripts has it: entering, roles, forms, and what a stranger is told. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inviteFirst } from '../src/flows/convites.ts';
import { codeAt, enter, makeUsuario, Pessoa, SENHA, startTestPainel } from './support/painel.ts';
import { startTestService } from './support/service.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world } = painel;

describe('the first administrator', () => {
  test('opens the link, chooses a password and a second factor, and is inside', async () => {
    const convite = (await inviteFirst(world))!;
    const pessoa = new Pessoa(painel);
    const page = await pessoa.open(`/convite/${convite}`);
    assert.match(page.html, /<h1>Primeiro administrador<\/h1>/);
    const weak = await pessoa.send(`/convite/${convite}`, {
      login: 'ana@exemplo.gov.br',
      nome: 'Ana Lima',
      senha: '123456789012',
      repetida: '123456789012',
    });
    assert.equal(weak.status, 422);
    assert.match(weak.html, /value="Ana Lima"/);
    const second = await pessoa.send(`/convite/${convite}`, {
      login: 'ana@exemplo.gov.br',
      nome: 'Ana Lima',
      senha: SENHA,
      repetida: SENHA,
    });
    assert.match(second.html, /<h1>Escolha o segundo fator<\/h1>/);
    const segredo = /<code>([A-Z2-7 ]+)<\/code>/.exec(second.html)![1]!.replaceAll(' ', '');
    const wrong = await pessoa.send('/segundo-fator/codigo', { codigo: '000000' });
    assert.equal(wrong.status, 422);
    // The same secret is shown, so that an app that has it already stays right.
    assert.ok(wrong.html.replaceAll(' ', '').includes(segredo));
    const inside = await pessoa.send('/segundo-fator/codigo', { codigo: codeAt(segredo, world.now()) });
    assert.match(inside.html, /Ana Lima/);
    assert.equal(inside.status, 200);
    const again = await new Pessoa(painel).open(`/convite/${convite}`);
    assert.equal(again.status, 410);
    assert.equal(await inviteFirst(world), undefined, 'somebody has an account now');
  });
});

describe('somebody with an account', () => {
  test('enters by password and code; the same code does not serve twice', async () => {
    const bia = await makeUsuario(painel, 'bia', { integracao: 'operacao' });
    await enter(painel, bia);
    const pessoa = new Pessoa(painel);
    await pessoa.open('/entrar');
    await pessoa.send('/entrar', { login: 'bia', senha: SENHA });
    const again = await pessoa.send('/segundo-fator', { codigo: codeAt(bia.segredo, world.now()) });
    assert.equal(again.status, 401);
    assert.match(again.html, /O código não confere/);
  });
});

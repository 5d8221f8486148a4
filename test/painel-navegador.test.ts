/** The console in a browser: login with and without scripts, by passkey and by keyboard, on a phone and on a desktop. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { MINUTE_MS } from '../src/fiscal/moment.ts';
import { inviteFirst } from '../src/subjects/contas/convites.ts';
import { openBrowser, type Page } from './support/browser.ts';
import { codeAt, makeUsuario, SENHA, startTestPainel, type TestPainel, type Usuario } from './support/painel.ts';
import { startTestService } from './support/service.ts';

const browser = await openBrowser();
const PICTURES = process.env['NFSE_TEST_IMAGENS'];
const skip = browser === undefined ? 'there is no Chromium' : false;

describe('the console in a browser', { skip }, () => {
  if (browser === undefined) return;
  const clock = { now: Date.now() };
  let painel: TestPainel;
  let page: Page;
  let convite: string | undefined;
  before(async () => {
    const service = await startTestService({ worker: false, clock });
    painel = await startTestPainel(service);
    // The first administrator is invited while there is no other account.
    convite = await inviteFirst(painel.world);
    page = await browser.newPage(true);
    await page.resize(1_280, 900);
  });

  const heading = (text: string): Promise<void> =>
    page.until(`document.querySelector('h1')?.innerText === ${JSON.stringify(text)}`);

  test('the first administrator', async (t) => {
    await t.test('the first administrator comes in by the link of the start', async () => {
      await page.open(`${painel.origin}/convite/${convite}`);
      for (const [name, text] of Object.entries({ login: 'ana', nome: 'Ana Lima', senha: SENHA, repetida: SENHA })) {
        await page.fill(`#campo-${name}`, text);
      }
      await page.click('main button');
      await heading('Escolha o segundo fator');
      // A camera needs large modules and a white edge of four of them (ISO/IEC 18004); a telephone's window is narrow.
      for (const width of [390, 1_280]) {
        await page.resize(width, 900);
        const [module, edge] = await page.evaluate<[number, number]>(`(() => {
          const one = document.querySelector('.qr');
          const edge = parseFloat(getComputedStyle(one).paddingLeft);
          return [(one.getBoundingClientRect().width - 2 * edge) / one.viewBox.baseVal.width, edge];
        })()`);
        assert.ok(module >= 5, `${module} pixels a module`);
        assert.ok(edge >= 4 * module, `${edge} pixels of edge`);
        if (PICTURES !== undefined) await page.picture(path.join(PICTURES, `segundo-fator-${width}.png`));
      }
      const segredo = await page.evaluate<string>(`document.querySelector('main code').innerText`);
      await page.fill('#campo-codigo', codeAt(segredo.replaceAll(' ', ''), clock.now));
      await page.click('main form button');
      await page.until(`document.querySelector('.barra .quem')?.innerText === 'Ana Lima'`);
    });

    await t.test('a passkey is made, and from then on it is the second factor', async () => {
      await page.addAuthenticator();
      await page.open(`${painel.origin}/conta`);
      await page.fill('#campo-nome', 'computador da sala 3');
      await page.click('[data-passkey=nova]');
      await page.until(`document.body.innerText.includes('Passkey «computador da sala 3»')`);
      await page.click('.barra button');
      await heading('Entrar');
      await page.fill('#campo-login', 'ana');
      await page.fill('#campo-senha', SENHA);
      await page.click('main button');
      await heading('Segundo fator');
      await page.click('[data-passkey=usada]');
      await page.until(`document.querySelector('.barra .quem')?.innerText === 'Ana Lima'`);
      const conta = (await painel.world.store.contas.findByLogin('ana'))!;
      assert.equal(conta.passkeys.length, 1);
    });

    await t.test('a passkey of another authenticator is refused', async () => {
      const other = await browser.newPage(true);
      await other.addAuthenticator();
      const ana = await painel.world.store.contas.findByLogin('ana');
      assert.ok(ana !== undefined);
      await other.open(`${painel.origin}/entrar`);
      await other.fill('#campo-login', 'ana');
      await other.fill('#campo-senha', SENHA);
      await other.click('main button');
      await other.click('[data-passkey=usada]');
      await other.until(`document.getElementById('passkey-dito').innerText.includes('A passkey não foi usada')`);
    });

    await t.test('the keyboard alone fills in the entrance', async () => {
      const keys = await browser.newPage(true);
      await keys.open(`${painel.origin}/entrar`);
      const focused = (): Promise<string> =>
        keys.evaluate(`document.activeElement.id || document.activeElement.innerText`);
      assert.equal(await focused(), 'campo-login');
      await keys.press('Tab');
      assert.equal(await focused(), 'campo-senha');
      await keys.press('Tab');
      assert.equal(await focused(), 'Entrar');
      // The first Tab on a page reaches the link that skips the menu.
      await page.open(`${painel.origin}/m/integracao/usuarios`);
      await page.press('Tab');
      assert.equal(await page.evaluate(`document.activeElement.className`), 'salto');
      await page.press('Enter');
      assert.equal(await page.evaluate(`document.activeElement.id`), 'conteudo');
    });
  });

  describe('without scripts', () => {
    let bia: Usuario;
    let plain: Page;
    before(async () => {
      bia = await makeUsuario(painel, 'bia', { integracao: 'administracao' });
      plain = await browser.newPage(true);
      await plain.scripts(false);
    });

    test('somebody enters by password and code, makes an account for a colleague, and leaves', async () => {
      await plain.open(`${painel.origin}/`);
      await plain.until(`document.querySelector('h1')?.innerText === 'Entrar'`);
      await plain.fill('#campo-login', bia.login);
      await plain.fill('#campo-senha', SENHA);
      await plain.click('main button');
      clock.now += MINUTE_MS;
      await plain.fill('#campo-codigo', codeAt(bia.segredo, clock.now));
      await plain.click('main button');
      await plain.until(`document.querySelector('.barra .quem')?.innerText === 'Pessoa bia'`);
      await plain.open(`${painel.origin}/m/integracao/usuarios`);
      await plain.click('main .botao');
      await plain.fill('#campo-login', 'caio@exemplo.gov.br');
      await plain.fill('#campo-nome', 'Caio Reis');
      await plain.click('main form button');
      const link = await plain.evaluate<string>(`document.querySelector('main pre').innerText`);
      assert.match(link, new RegExp(`^${painel.origin}/convite/[\\w-]{43}$`));
      assert.deepEqual(plain.complaints, []);
    });
  });
});

/** Entering the console by an identity provider in a browser, which sends no strict cookie with requests from another site. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../../../test/support/browser.ts';
import { startTestPainel } from '../../../test/support/painel.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startProvedor } from '../../../test/support/provedor.ts';
import { startTestService } from '../../../test/support/service.ts';
import { openProvider } from './provider.ts';
import { criarUsuario } from './usuarios.ts';

const browser = await openBrowser();
const ana = { email: 'ana@exemplo.gov.br', verificado: true, segundoFator: true };

for (const scripts of [true, false]) {
  // Another port is the same site; another host name is another site, as the provider of a state is.
  for (const host of ['localhost', '127.0.0.1'] as const) {
    const skip = browser === undefined ? 'there is no Chromium' : false;
    const called = `somebody enters by a provider at ${host}, ${scripts ? 'with scripts' : 'without'}, and is not there after leaving`;
    test(called, { skip }, async () => {
      const service = await startTestService({ worker: false, clock: { now: Date.now() } });
      const port = await ownPort();
      const settings = await startProvedor(`http://localhost:${port}/entrar/retorno`, { ana }, host);
      const painel = await startTestPainel(service, openProvider(settings), port);
      const asked = { login: ana.email, nome: 'Ana', municipio: 'integracao', papel: 'operacao' } as const;
      const made = await criarUsuario(painel.world, asked, { quem: 'teste', via: 'comando' });
      assert.ok('convite' in made);
      const page = await browser!.newPage(true);
      await page.scripts(scripts);
      await page.open(`${painel.origin}/convite/${made.convite}`);
      await page.click('form[action$="/provedor"] button');
      await page.until(`document.querySelector('input[name=nome]') !== null`);
      await page.fill('input[name=nome]', 'ana');
      await page.click('button');
      await page.until(`document.querySelector('.barra .quem') !== null`);
      assert.match(await page.evaluate('document.body.innerText'), /Hoje/);
      await page.click('.barra button');
      await page.until(`document.querySelector('h1')?.innerText === 'Entrar'`);
      // The provider of the test has no icon.
      assert.deepEqual(
        page.complaints.filter((one) => !one.includes('status of 404')),
        [],
      );
    });
  }
}

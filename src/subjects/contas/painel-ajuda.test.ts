/** The help of the console: before and after entering, with the tasks of the town hall in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, makeUsuario, Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);

test('the bar leads to the help, also on the page for entering', async () => {
  const stranger = new Pessoa(painel);
  const clerk = await enter(painel, await makeUsuario(painel, 'ana', { integracao: 'leitura' }));
  for (const [pessoa, path] of [
    [stranger, '/entrar'],
    [clerk, '/m/integracao/hoje'],
  ] as const) {
    const { html } = await pessoa.open(path);
    const [, help] = /<header class="barra">[\s\S]*?<a href="([^"]*)"[^>]*>Ajuda<\/a>[\s\S]*?<\/header>/.exec(html)!;
    const page = await pessoa.open(help!);
    assert.equal(page.status, 200, path);
    assert.match(page.html, /<h1>Para quem trabalha na prefeitura<\/h1>/);
    assert.match(page.html, /Esqueceu a senha\?/);
    assert.match(page.html, /Deferir ou indeferir um cancelamento/);
  }
});

test('every link of the help leads somewhere: within it, within the console, or to the documentation', async () => {
  const { html } = await new Pessoa(painel).open('/ajuda');
  const [, main] = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)!;
  const links = [...main!.matchAll(/ href="([^"]*)"/g)].map(([, href]) => href!);
  const [outside] = links.filter((href) => !href.startsWith('#'));
  assert.equal((await fetch(outside!)).url, `${service.address}/docs`);
  const inside = links.filter((href) => href !== outside);
  assert.ok(inside.length > 5);
  for (const href of inside) assert.ok(html.includes(` id="${decodeURIComponent(href.slice(1))}"`), href);
});

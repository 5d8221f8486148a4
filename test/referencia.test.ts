/**
 * The reference in a browser that reaches this machine alone: it comes whole from the service, keeps its own policy, speaks
 * Portuguese, fits a phone, can be walked with the keyboard, and a request that one tries there is answered.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { openBrowser, type Page } from './support/browser.ts';
import { request } from './support/http.ts';
import { startTestService } from './support/service.ts';

const { address } = await startTestService({ worker: false });
const browser = await openBrowser();
/** Set to look at it. */
const PICTURES = process.env.NFSE_TEST_FIGURAS;

describe('the reference over HTTP', () => {
  test('the page allows nothing from elsewhere', async () => {
    const { status, headers, body } = await request(address, '/docs/api');
    assert.equal(status, 200);
    const policy = headers.get('content-security-policy')!;
    assert.match(policy, /^default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe-eval|unsafe-inline|https:|\*/);
    for (const [, link = ''] of String(body).matchAll(/(?:href|src)="([^"]+)"/g)) {
      if (link === 'data:,') continue;
      assert.doesNotMatch(link, /^(?:https?:)?\/\//);
      const there = await fetch(new URL(link, `${address}/docs/api`));
      assert.equal(there.status, 200, link);
      await there.body?.cancel();
    }
  });

  test('the files are compressed for who takes it, kept, and nothing else is served', async () => {
    for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'referencia.js']) {
      const path = `${address}/docs/api/${name}`;
      const plain = await fetch(path, { headers: { 'Accept-Encoding': 'identity' } });
      const zipped = await fetch(path, { headers: { 'Accept-Encoding': 'gzip' } });
      assert.equal(plain.headers.get('content-encoding'), null);
      assert.equal(zipped.headers.get('content-encoding'), 'gzip');
      assert.equal(zipped.headers.get('vary'), 'Accept-Encoding');
      // The client has unpacked it.
      assert.equal(await zipped.text(), await plain.text());
      assert.ok(Number(zipped.headers.get('content-length')) < Number(plain.headers.get('content-length')));
      const held = await fetch(path, {
        headers: { 'Accept-Encoding': 'gzip', 'If-None-Match': zipped.headers.get('etag')! },
      });
      assert.equal(held.status, 304);
    }
    for (const name of ['index.html', 'package.json', '..%2Fpackage.json', 'constructor', 'swagger-ui-bundle.js.map']) {
      assert.equal((await request(address, `/docs/api/${name}`)).status, 404, name);
    }
  });
});

describe('the reference in a browser', { skip: browser === undefined ? 'there is no Chromium' : false }, () => {
  /** At a desk, for all that is done there: to draw every operation is seconds of work. */
  let page: Page;
  before(async () => {
    if (browser === undefined) return;
    page = await browser.newPage();
    await page.resize(1200, 1400);
    await page.open(`${address}/docs/api`);
    await page.until(`document.querySelectorAll('.opblock').length >= ${ROUTES.length}`);
  });

  test('shows every operation, in Portuguese, with nothing from elsewhere and no complaint', async () => {
    if (PICTURES !== undefined) await page.picture(`${PICTURES}/referencia-1200.png`);
    const labels = await page.evaluate<string>(`document.getElementById('referencia').innerText`);
    for (const heading of ['Emissão', 'Eventos', 'Consultas', 'Catálogos', 'Assinatura', 'Serviço']) {
      assert.ok(labels.includes(heading), heading);
    }
    await page.evaluate(`document.querySelector('[id$="emitirNota"] .opblock-summary-control').click()`);
    await page.until(`document.querySelector('[id$="emitirNota"] .responses-table')`);
    const opened = await page.evaluate<string>(`document.querySelector('[id$="emitirNota"]').innerText`);
    for (const word of ['Experimentar', 'Parâmetros', 'Corpo da requisição', 'Respostas', 'Exemplo']) {
      assert.ok(opened.includes(word), `${word} is not in: ${opened.slice(0, 2_000)}`);
    }
    // The description has an example of every answer, so the viewer invents none.
    const examples = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('[id$="emitirNota"] .responses-table .response')].flatMap((row) => [...row.querySelectorAll('.microlight')].map((one) => one.innerText))`,
    );
    assert.ok(examples.length > 10, String(examples.length));
    for (const text of examples) {
      const shown = JSON.parse(text);
      if ('status' in shown) continue;
      assert.ok(shown.erros[0].doc_url.startsWith(`${address}/docs/erros/${shown.codigo_erro}`), text);
      assert.equal(shown.erros[0].codigo, shown.codigo_erro);
    }
    for (const word of ['Try it out', 'Parameters', 'Request body', 'Responses', 'No parameters', 'Example Value']) {
      assert.ok(!opened.includes(word), word);
    }
    if (PICTURES !== undefined) {
      await page.evaluate(`document.querySelector('[id$="emitirNota"]').scrollIntoView()`);
      await page.picture(`${PICTURES}/referencia-aberta-1200.png`);
    }
    assert.deepEqual(page.complaints, []);
    for (const url of page.requests) assert.ok(url.startsWith(`${address}/`) || url.startsWith('data:'), url);
  });

  test('a request is tried with the keyboard alone, and answered by this service', async () => {
    await page.resize(1200, 1000);
    const focus = (selector: string): Promise<unknown> =>
      page.evaluate(`document.querySelector('[id$="-validarDps"] ${selector}').focus()`);
    await focus('.opblock-summary-control');
    await page.press('Enter');
    await page.until(`document.querySelector('[id$="-validarDps"] .try-out__btn')`);
    await focus('.try-out__btn');
    await page.press('Enter');
    await page.until(`document.querySelector('[id$="-validarDps"] .execute')`);
    await focus('.execute');
    await page.press('Enter');
    await page.until(`document.querySelector('[id$="-validarDps"] .live-responses-table tbody .response-col_status')`);
    const status = await page.evaluate<string>(
      `document.querySelector('[id$="-validarDps"] .live-responses-table tbody .response-col_status').innerText`,
    );
    if (PICTURES !== undefined) {
      await page.evaluate(`document.querySelector('[id$="-validarDps"] .live-responses-table').scrollIntoView()`);
      await page.picture(`${PICTURES}/referencia-resposta.png`);
    }
    assert.match(status, /^200/);
    assert.ok(page.requests.includes(`${address}/integracao/api/v1/nfse/v101/validacao`));
    assert.deepEqual(page.complaints, []);
  });

  test('fits a phone, in the dark too', async () => {
    const page = await browser!.newPage();
    await page.resize(390, 844);
    await page.dark(true);
    await page.open(`${address}/docs/api`);
    await page.until(`document.querySelectorAll('.opblock').length >= ${ROUTES.length}`);
    await page.evaluate(`document.querySelector('[id$="listarEventosDoTipo"] .opblock-summary-control').click()`);
    await page.until(`document.querySelector('[id$="listarEventosDoTipo"] .responses-table')`);
    await page.until(`document.querySelector('[id$="listarEventosDoTipo"] .responses-table .microlight')`);
    // A window gets wider with what is in it, so it is held to what a phone has.
    const scroll = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(scroll <= 390, `${scroll} px`);
    const { narrow, past } = await page.evaluate<{ narrow: readonly number[]; past: readonly string[] }>(`(() => {
      const operation = document.querySelector('[id$="listarEventosDoTipo"]');
      const widths = [...operation.querySelectorAll('.responses-table select')].map((one) => one.getBoundingClientRect().width);
      const cells = [...operation.querySelectorAll('.responses-table td, .responses-table th')];
      return {
        narrow: widths.filter((width) => width < 150),
        past: cells.filter((one) => one.getBoundingClientRect().right > 390).map((one) => one.innerText),
      };
    })()`);
    assert.deepEqual({ narrow, past }, { narrow: [], past: [] });
    assert.ok(await page.evaluate(`document.documentElement.classList.contains('dark-mode')`));
    if (PICTURES !== undefined) {
      await page.picture(`${PICTURES}/referencia-390.png`);
      await page.evaluate(`document.querySelector('[id$="listarEventosDoTipo"]').scrollIntoView()`);
      await page.picture(`${PICTURES}/referencia-aberta-390.png`);
    }
  });
});

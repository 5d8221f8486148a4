/**
 * The reference in a browser that reaches this machine alone. It comes completely from the service, obeys its own policy, is in Portuguese,
 * fits a phone, and works by keyboard. A request tried there is answered.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { openBrowser, type Page } from './support/browser.ts';
import { emit, noteByKey, request } from './support/http.ts';
import { startTestService } from './support/service.ts';
import { until } from './support/until.ts';

const { address } = await startTestService();
const browser = await openBrowser();
/** Set to keep pictures for inspection. */
const PICTURES = process.env['NFSE_TEST_IMAGENS'];

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
      // The client has decompressed it.
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
  /** One page for all desktop tests: it takes seconds to render every operation. */
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

  test('what the search finds of an operation opens it there', async () => {
    const page = await browser!.newPage();
    for (const [asked, id] of [
      ['emitirNota', 'emitirNota'],
      ['/api/v1/catalogo/moedas', 'catalogo_moedas'],
    ] as const) {
      await page.open(`${address}/docs/busca?q=${encodeURIComponent(asked)}`);
      await page.evaluate(`document.querySelector('.results a[href*="api#/"]').click()`);
      await page.until(`document.querySelector('[id$="-${id}"].is-open .responses-table')`);
    }
  });

  test('a PDF that one tries is linked, to be opened or kept; what is no PDF afterwards is shown as before', async () => {
    // A browser logs an answer 404 as an error; the other tests allow none.
    const page = await browser!.newPage();
    await page.resize(1200, 1000);
    const { body } = await emit(address, exampleXml({}));
    const chave: string = body.chave_acesso;
    await until(
      async () => (await noteByKey(address, chave)).body.nota.status === 'autorizada' || undefined,
      'authorised',
    );
    const operation = '[id$="-baixarDanfse"]';
    await page.open(`${address}/docs/api?pdf#/Consultas/baixarDanfse`);
    await page.until(`document.querySelector('${operation} .try-out__btn')`);
    await page.evaluate(`document.querySelector('${operation} .try-out__btn').click()`);
    await page.until(`document.querySelector('${operation} .execute')`);
    const ask = async (typed: string): Promise<void> => {
      // The viewer listens to a user's input events, not to values that a script sets.
      await page.evaluate(`(() => {
        const input = document.querySelector('${operation} tr[data-param-name="chave_acesso"] input');
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '${typed}');
        for (const name of ['input', 'change']) input.dispatchEvent(new Event(name, { bubbles: true }));
      })()`);
      // The viewer takes the value over after a while, and requests the old one until then.
      await page.until(`(() => {
        const asked = () => document.querySelector('${operation} .request-url pre')?.textContent.endsWith('${typed}');
        if (!asked()) document.querySelector('${operation} .execute').click();
        return asked();
      })()`);
      await page.until(`document.querySelector('${operation} .live-responses-table tbody .response-col_status')`);
    };
    await ask(chave);
    await page.until(`document.querySelector('${operation} .pdf a')`);
    const [links, shown, start] = await page.evaluate<[[string, string, string][], number, string]>(`(async () => {
      const links = [...document.querySelectorAll('${operation} .pdf a')];
      return [links.map((one) => [one.textContent, one.href, one.download]),
        [...document.querySelectorAll('${operation} .live-responses-table .response-col_description .highlight-code')].slice(0, 1)
          .filter((one) => one.checkVisibility()).length,
        await (await fetch(links[0].href)).text().then((text) => text.slice(0, 5))];
    })()`);
    const file = `danfse-${chave}.pdf`;
    assert.deepEqual(links[0], ['Abrir o PDF', `${address}/integracao/api/v1/danfse/${chave}`, '']);
    assert.deepEqual([links[1]![0], links[1]![2], shown, start], [`Baixar ${file}`, file, 0, '%PDF-']);
    assert.match(links[1]![1], /^blob:/);
    if (PICTURES !== undefined) {
      await page.evaluate(`document.querySelector('${operation} .live-responses-table').scrollIntoView()`);
      await page.picture(`${PICTURES}/referencia-pdf.png`);
    }
    await ask('0'.repeat(50));
    await page.until(
      `document.querySelector('${operation} .live-responses-table tbody .response-col_status').innerText.startsWith('404')`,
    );
    await page.until(`document.querySelector('${operation} .pdf') === null`);
    await page.until(`document.querySelector('${operation} .live-responses-table .highlight-code').checkVisibility()`);
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
    // A window grows with its content, so the width is compared with that of a phone.
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

/** The face of a municipality in a browser: its bar with arms and colour, its menu on a phone, and pages that are no wider than it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { assertAccessible, assertFits } from '../../../test/support/axe.ts';
import { openBrowser, type Page } from '../../../test/support/browser.ts';
import { balcao } from '../../../test/support/eventos.ts';
import { enterInBrowser, makeUsuario, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';

const browser = await openBrowser();
const PICTURES = process.env['NFSE_TEST_IMAGENS'];
const skip = browser === undefined ? 'there is no Chromium' : false;

/** A red square of two by two points, made by another program (Python, zlib). */
const ARMS = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IaAHRAwQCgAfHgQZ2PY+qQAAAABJRU5ErkJggg==',
  'base64',
);

/** Neither file is there, and no blank breaks their names. */
const FOLDER = `/srv/${'prefeitura-municipal-'.repeat(8)}`;

describe('the face of a municipality', { skip }, () => {
  if (browser === undefined) return;
  let page: Page;
  let origin: string;
  let address: string;
  before(async () => {
    const service = await startTestService({ worker: false, clock: { now: Date.now() } });
    const { store, clock } = service;
    await balcao(service.address).issue();
    address = service.address;
    const chaves = { certificado: `${FOLDER}certificado.pem`, chave: `${FOLDER}chave.pem` };
    const adn = { url: 'https://adn.nfse.gov.br', ca: undefined, chaves };
    const codigos = { amarelo: ['3550308', '#ffcd07'], azul: ['3304557', '#071d41'] } as const;
    for (const [tenant, [codigoIbge, cor]] of Object.entries(codigos)) {
      const made = { tenant, ambiente: 'producao', codigoIbge, cor, adn } as const;
      assert.ok(await store.municipios.create(made, clock.now));
      const impressao = createHash('sha256').update(ARMS).digest('hex');
      assert.ok(await store.brasoes.set(tenant, { impressao, png: ARMS }, []));
    }
    const painel = await startTestPainel(service);
    origin = painel.origin;
    page = await browser.newPage(true);
    const papeis = { amarelo: 'administracao', azul: 'administracao', integracao: 'administracao' } as const;
    await enterInBrowser(page, painel, await makeUsuario(painel, 'clara', papeis));
  });

  const hasArms = `document.querySelector('.barra .brasao').naturalWidth === 2`;

  for (const width of [390, 1_280]) {
    for (const isDark of [false, true]) {
      test(`is read by everybody, ${width} pixels wide, ${isDark ? 'dark' : 'light'}`, async () => {
        await page.resize(width, 900);
        await page.dark(isDark);
        const inside = ['hoje', 'municipio', 'municipio/brasao', 'municipio/alterar'];
        const pages = [
          ...['amarelo', 'azul'].flatMap((slug) => inside.map((one) => `${origin}/m/${slug}/${one}`)),
          `${address}/amarelo/`,
          `${address}/azul/`,
        ];
        for (const [place, where] of pages.entries()) {
          await page.open(where);
          await page.until(hasArms);
          await assertFits(page, where);
          await assertAccessible(page, where);
          const name = `face-${place}-${width}${isDark ? '-escura' : ''}.png`;
          if (PICTURES !== undefined) await page.picture(path.join(PICTURES, name));
        }
        assert.deepEqual(page.complaints, []);
      });
    }
  }

  test('shows five cards in one row, and the button of a search beside its field', async () => {
    await page.resize(1_280, 900);
    await page.dark(false);
    await page.open(`${origin}/m/integracao/hoje`);
    const tops = await page.evaluate<readonly number[]>(
      `[...document.querySelectorAll('.cartao')].map((one) => one.getBoundingClientRect().top)`,
    );
    assert.equal(tops.length, 5);
    assert.equal(new Set(tops).size, 1, tops.join());
    await page.open(`${origin}/m/integracao/notas`);
    const [field, button] = await page.evaluate<readonly [DOMRect, DOMRect]>(
      `['#campo-q', '.procura button'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())`,
    );
    assert.ok(button.left >= field.right && button.top < field.bottom && button.bottom > field.top);
  });

  test('has a CNPJ in one piece on a phone, and a state that is read without its colour', async () => {
    await page.resize(390, 800);
    await page.dark(false);
    await page.open(`${origin}/m/integracao/cadastros/prestadores`);
    const pieces = `[...document.querySelectorAll('.inteiro')].map((one) => one.getClientRects().length)`;
    assert.deepEqual(await page.evaluate(pieces), [1]);
    await assertFits(page, 'prestadores');
    const hidden = `[...document.querySelectorAll('.tabela')].map((one) => one.scrollWidth - one.clientWidth)`;
    assert.deepEqual(await page.evaluate(hidden), [0], 'each row is a card, of which nothing is beyond the edge');
    const headings = `[...document.querySelectorAll('tbody tr:first-child td')].map((one) => getComputedStyle(one, '::before').content)`;
    assert.ok((await page.evaluate<readonly string[]>(headings)).some((one) => one.includes('Nome')));
    const look = `(() => {
      const state = document.querySelector('.estado');
      const { color, backgroundColor, borderTopStyle, borderTopColor } = getComputedStyle(state);
      return { word: state.innerText, isEdged: borderTopStyle === 'solid' && borderTopColor !== backgroundColor, color };
    })()`;
    type Look = { readonly word: string; readonly isEdged: boolean; readonly color: string };
    const usual = await page.evaluate<Look>(look);
    await page.forceColours();
    const forced = await page.evaluate<Look>(look);
    assert.deepEqual([forced.word, forced.isEdged], ['autorizado', true]);
    assert.notEqual(forced.color, usual.color);
    await page.dark(false);
  });

  test('has a menu on a phone that says where one is, and opens without scripts', async () => {
    await page.resize(390, 800);
    await page.scripts(false);
    await page.open(`${origin}/m/azul/municipio/alterar`);
    const shown = `[...document.querySelectorAll('.menu a')].filter((one) => one.checkVisibility()).map((one) => one.innerText)`;
    assert.equal(await page.evaluate(`document.querySelector('.menu.dobrado summary').innerText`), 'Menu: Município');
    assert.deepEqual(await page.evaluate(shown), []);
    await page.click('.menu.dobrado summary');
    const links = await page.evaluate<readonly string[]>(shown);
    assert.ok(links.includes('Hoje') && links.includes('Histórico'), links.join());
    await page.resize(1_280, 800);
    assert.deepEqual(await page.evaluate(shown), links, 'a wide window shows the same, once');
    await page.scripts(true);
  });
});

/**
 * The documentation in a browser, as a reader has it: on a phone and on a desk, in the light and in the dark, with and without
 * scripts. Skipped, with the reason printed, where there is no Chromium.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROS_PATH } from '../src/published/paths.ts';
import { addressOf, PAGES } from '../src/published/site/frame.ts';
import { openBrowser, type Page } from './support/browser.ts';
import { startTestService } from './support/service.ts';

const { address } = await startTestService({ worker: false });
const browser = await openBrowser();
const skip = browser === undefined ? 'there is no Chromium' : false;

const PHONE = 390;
const DESK = 1_200;

/** Of a colour as a browser gives it, from 0 to 255. */
function lightness(colour: string): number {
  const [red = 0, green = 0, blue = 0] = colour.match(/\d+/g)!.map(Number);
  return (red + green + blue) / 3;
}

/** Until a page that was left for another is there, and whole. */
function arrived(page: Page, expression: string): Promise<void> {
  return page.until(`document.readyState === 'complete' && (${expression})`);
}

describe('in a browser', { skip }, async () => {
  if (browser === undefined) return;
  const page: Page = await browser.newPage();
  /** What each page is like on a phone; it is opened once for all who ask. */
  const onPhone = new Map<string, { readonly cut: readonly string[]; readonly scripts: number }>();
  const paths = [...PAGES.map(({ slug }) => addressOf(slug)), '/docs?q=certificado', ERROS_PATH, `${ERROS_PATH}/E0014`];

  test(`${PHONE} px, ${DESK} px: nothing complains, nothing is wider than the window, and nothing else is asked for`, async () => {
    for (const path of paths) {
      // No script looks at the width: a page is laid out anew as it would be if it had come so.
      await page.resize(PHONE, 844);
      await page.open(address + path);
      const [cut, scripts] = await page.evaluate<[string[], number]>(`[
        [...document.querySelectorAll('.table')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText.slice(0, 60)),
        document.scripts.length]`);
      onPhone.set(path, { cut, scripts });
      for (const width of [PHONE, DESK]) {
        await page.resize(width, 844);
        const [inner, scroll] = await page.evaluate<number[]>('[innerWidth, document.documentElement.scrollWidth]');
        assert.ok(scroll! <= inner! && inner === width, `${path} is ${scroll} px wide in ${inner} of ${width}`);
        // What scrolls by itself is a table or a source, and can be reached by the keyboard.
        const cut = await page.evaluate<string[]>(`
          [...document.querySelectorAll('main *')]
            .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === 'auto')
            .filter((one) => one.tabIndex !== 0 && one.closest('[tabindex]') === null)
            .map((one) => one.outerHTML.slice(0, 80))`);
        if (path.startsWith('/docs') && !path.startsWith(ERROS_PATH)) assert.deepEqual(cut, [], `${path} at ${width}`);
      }
    }
    assert.deepEqual(page.complaints, []);
    // A browser's own pictures, as that of a calendar, are data.
    const asked = page.requests.filter((url) => !url.startsWith('data:') && url !== 'about:blank');
    assert.deepEqual(new Set(asked.map((url) => new URL(url).origin)), new Set([address]));
  });

  test('in the dark the paper is dark and the text is light, and the other way round', async () => {
    for (const isDark of [true, false]) {
      await page.dark(isDark);
      for (const path of ['/docs', '/docs/primeira-nota', '/docs/calendario-ibs-cbs']) {
        await page.open(address + path);
        const [paper, text, link, source] = await page.evaluate<string[]>(`[
          getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
          getComputedStyle(document.querySelector('.menu a:not([aria-current])')).color,
          getComputedStyle(document.querySelector('pre, input')).backgroundColor]`);
        const contrast = (one: string): number => Math.abs(lightness(one) - lightness(paper!));
        assert.equal(lightness(paper!) < 64, isDark, path);
        assert.ok(contrast(text!) > 150 && contrast(link!) > 90, `${path}: ${paper} ${text} ${link}`);
        assert.equal(lightness(source!) < 64, isDark, path);
      }
    }
  });

  test('the menu is at the side of a desk, and after the text on a phone', async () => {
    const places = (): Promise<number[]> =>
      page.evaluate(`['main', '.menu'].flatMap((one) => {
        const { left, top } = document.querySelector(one).getBoundingClientRect();
        return [left, top];
      })`);
    await page.resize(DESK, 844);
    await page.open(`${address}/docs/eventos`);
    const [mainLeft, mainTop, menuLeft, menuTop] = await places();
    assert.ok(menuLeft! < mainLeft! && menuTop! <= mainTop! + 1);
    await page.resize(PHONE, 844);
    const [, phoneMain, , phoneMenu] = await places();
    assert.ok(phoneMenu! > phoneMain!);
  });

  test('a table of many columns is read row by row on a phone, each cell under its name', async () => {
    await page.resize(PHONE, 844);
    for (const path of ['/docs/leiaute', '/docs/eventos', '/docs/calendario-ibs-cbs']) {
      await page.open(address + path);
      const [wide, named, scrolled, narrow] = await page.evaluate<number[]>(`(() => {
        const tables = [...document.querySelectorAll('.wide')];
        const cells = [...document.querySelectorAll('.wide td:not(:empty)')];
        return [tables.length, cells.filter((one) => one.dataset.l !== undefined).length,
          tables.filter((one) => one.scrollWidth > one.clientWidth).length,
          cells.filter((one) => one.clientWidth < 300).length];
      })()`);
      assert.ok(wide! > 0 && named! > 0, path);
      assert.deepEqual([scrolled, narrow], [0, 0], path);
    }
  });

  test('no table is cut by the edge of a phone', () => {
    for (const { slug } of PAGES) assert.deepEqual(onPhone.get(addressOf(slug))?.cut, [], slug);
  });

  test('the calculator is filled in and answered', async () => {
    await page.open(`${address}/docs/calendario-ibs-cbs`);
    await page.evaluate(`(() => {
      for (const [name, value] of [['codigo', '01.01.01'], ['competencia', '2026-11-20'], ['valor', '1.000,00'], ['issqn', '20,00']]) {
        document.getElementById(name).value = value;
      }
      document.querySelector('.calculator button').click();
    })()`);
    await arrived(page, `document.querySelector('#resultado td') !== null`);
    assert.match(
      await page.evaluate<string>(`document.getElementById('resultado').innerText`),
      /é exigido[\s\S]*8\.82/,
    );
    assert.equal(await page.evaluate('location.hash'), '#resultado');
    assert.deepEqual(page.complaints, []);
  });

  test('the search is asked and answered', async () => {
    await page.open(`${address}/docs/eventos`);
    await page.evaluate(`(() => {
      document.querySelector('input[name=q]').value = 'xmlsec1';
      document.querySelector('.bar button').click();
    })()`);
    await arrived(page, `document.querySelector('.results a') !== null`);
    await page.evaluate(`document.querySelector('.results a').click()`);
    await arrived(page, `location.pathname === '/docs/assinatura'`);
    assert.deepEqual(page.complaints, []);
  });

  test('a page has no script to miss', () => {
    for (const { slug } of PAGES) assert.equal(onPhone.get(addressOf(slug))?.scripts, 0, slug);
  });
});

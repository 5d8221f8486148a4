/**
 * The documentation in a reader's browser: on a phone and on a desktop, light and dark, with and without scripts. The test is skipped, with
 * the reason printed, if there is no Chromium. NFSE_TEST_IMAGENS names a folder for pictures.
 */

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { ERRORS } from '../src/fiscal/errors.ts';
import { EVENTO_ESTADOS, EVENTO_MOVES } from '../src/fiscal/evento.ts';
import { NOTA_ESTADOS, NOTA_MOVES } from '../src/fiscal/nota.ts';
import { ERROS_PATH, REFERENCE_PATH } from '../src/published/paths.ts';
import { errorPage } from '../src/published/site/error-pages.ts';
import { addressOf, PAGES } from '../src/published/site/frame.ts';
import { assertAccessible, assertFits } from './support/axe.ts';
import { openBrowser, type Page } from './support/browser.ts';
import { startTestService } from './support/service.ts';

const { address } = await startTestService({ worker: false });
const browser = await openBrowser();
const skip = browser === undefined ? 'there is no Chromium' : false;

const PHONE = 390;
const DESK = 1_280;
const DESK_HEIGHT = 800;

const PICTURES = process.env['NFSE_TEST_IMAGENS'];
if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });

/** The codes with the longest pages, and the one with the longest list of statuses. */
const LONG_CODES = [
  'E003',
  ...ERRORS.map(({ codigo }) => ({ codigo, length: errorPage(codigo)!.length }))
    .toSorted((one, other) => other.length - one.length)
    .slice(0, 24)
    .map(({ codigo }) => codigo),
];

/** The lightness of a colour as a browser gives it, from 0 to 255. */
function lightness(colour: string): number {
  const [red = 0, green = 0, blue = 0] = colour.match(/\d+/g)!.map(Number);
  return (red + green + blue) / 3;
}

/** Waits until the next page is completely loaded. */
function arrived(page: Page, expression: string): Promise<void> {
  return page.until(`document.readyState === 'complete' && (${expression})`);
}

describe('in a browser', { skip }, async () => {
  if (browser === undefined) return;
  const page: Page = await browser.newPage();
  // An empty page has no storage that a test could clear.
  await page.open(`${address}/docs`);
  const paths = [
    ...PAGES.map(({ slug }) => addressOf(slug)),
    ...['/docs/busca', '/docs/busca?q=certificado', '/docs/busca?q=toma/end/endExt', '/docs/conferir', ERROS_PATH],
    ...LONG_CODES.map((codigo) => `${ERROS_PATH}/${codigo}`),
  ];

  test('every page, on a phone and on a desk', async (t) => {
    /** Cut tables and the number of scripts of each page on a phone. Each page is opened once for all steps. */
    const onPhone = new Map<string, { readonly cut: readonly string[]; readonly scripts: number }>();

    await t.test(
      `${PHONE} px, ${DESK} px: nothing complains, nothing is wider than the window, and nothing else is asked for`,
      async () => {
        for (const path of paths) {
          // No script checks the width: the layout is the same as after a load at this width.
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
            // A part that scrolls by itself is a table or a source text, and the keyboard reaches it.
            const cut = await page.evaluate<string[]>(`
            [...document.querySelectorAll('main *')]
              .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === 'auto')
              .filter((one) => one.tabIndex !== 0 && one.closest('[tabindex]') === null)
              .map((one) => one.outerHTML.slice(0, 80))`);
            if (!path.startsWith(`${ERROS_PATH}?`)) assert.deepEqual(cut, [], `${path} at ${width}`);
          }
        }
        assert.deepEqual(page.complaints, []);
        // A browser's built-in pictures, such as a calendar's, are data URLs.
        const asked = page.requests.filter((url) => !url.startsWith('data:') && url !== 'about:blank');
        assert.deepEqual(new Set(asked.map((url) => new URL(url).origin)), new Set([address]));
      },
    );

    await t.test('no table is cut by the edge of a phone', () => {
      for (const { slug } of PAGES) assert.deepEqual(onPhone.get(addressOf(slug))?.cut, [], slug);
    });

    await t.test('a page has one script', () => {
      for (const { slug } of PAGES) assert.equal(onPhone.get(addressOf(slug))?.scripts, 1, slug);
    });
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

  test('each kind of page has the same bar, search and menu, and nothing keeps anybody from using it', async () => {
    for (const [name, at] of [
      ['inicio', '/docs'],
      ['primeira-nota', '/docs/primeira-nota'],
      ['estados', '/docs/estados'],
      ['operacao', '/docs/operacao'],
      ['quadro', '/docs/quadro'],
      ['calendario', '/docs/calendario-ibs-cbs'],
      ['busca', '/docs/busca?q=cTribNac'],
      ['codigos', ERROS_PATH],
      ['codigo', `${ERROS_PATH}/E003`],
      ['conferir', '/docs/conferir'],
      ['referencia', REFERENCE_PATH],
    ] as const) {
      const isReference = at === REFERENCE_PATH;
      for (const [width, height] of [
        [PHONE, 844],
        [DESK, DESK_HEIGHT],
      ] as const) {
        for (const isDark of [false, true]) {
          const called = `${name}-${width}-${isDark ? 'escuro' : 'claro'}`;
          await page.resize(width, height);
          await page.dark(isDark);
          await page.open(address + at);
          if (isReference) await page.until(`document.querySelectorAll('.opblock').length > 20`);
          const frame = await page.evaluate<readonly number[]>(`['.bar a[href]', '.bar form[role=search] input[name=q]',
            '.menu h2', '.menu a[aria-current]', 'main > h1'].map((one) => document.querySelectorAll(one).length)`);
          assert.deepEqual(frame, [2, 1, 4, at.startsWith('/docs/busca') ? 0 : 1, 1], called);
          await assertFits(page, called);
          // The output of the reference's viewer is not ours; the rest of the page has no fault.
          if (isReference) await page.evaluate(`document.getElementById('referencia').remove()`);
          await assertAccessible(page, called);
          if (PICTURES !== undefined && !isReference) await page.picture(path.join(PICTURES, `docs-${called}.png`));
        }
      }
    }
    await page.dark(false);
    assert.deepEqual(page.complaints, []);
  });

  test('"Operação" on a small desk: the text begins in the window, as wide as a line may be, and the menu shows where one is', async () => {
    await page.resize(DESK, DESK_HEIGHT);
    await page.open(`${address}/docs/operacao`);
    const seen = await page.evaluate<{
      readonly heading: number;
      readonly main: readonly number[];
      readonly toc: number;
      readonly current: readonly number[];
      readonly past: readonly string[];
    }>(`(() => {
      const box = (one) => document.querySelector(one).getBoundingClientRect();
      const wide = [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1
        && one.closest('pre, .table') === null);
      return {
        heading: box('main h1').top,
        main: [box('main').left, box('main').width],
        toc: document.querySelectorAll('.toc a').length,
        current: [box('.menu a[aria-current]').top, box('.menu a[aria-current]').bottom],
        past: wide.map((one) => one.outerHTML.slice(0, 60)),
      };
    })()`);
    assert.ok(seen.heading < 150, `the heading is at ${seen.heading}`);
    assert.ok(seen.main[0]! < DESK / 4 && seen.main[1]! > DESK / 2, String(seen.main));
    assert.ok(seen.toc > 15, String(seen.toc));
    assert.ok(seen.current[0]! >= 0 && seen.current[1]! <= DESK_HEIGHT, String(seen.current));
    assert.deepEqual(seen.past, []);
    // The menu stays visible deep in the page.
    await page.evaluate(`document.getElementById('atualizar').scrollIntoView()`);
    const top = await page.evaluate<number>(
      `document.querySelector('.menu a[aria-current]').getBoundingClientRect().top`,
    );
    assert.ok(top >= 0 && top < DESK_HEIGHT, String(top));
  });

  test('a source is copied, also where the browser has no clipboard of its own', async () => {
    await page.open(`${address}/docs/primeira-nota`);
    const copied = (before: string): Promise<readonly string[]> =>
      page.evaluate(`(async () => {
        let taken;
        ${before}
        const source = document.querySelector('main .fonte');
        const button = source.querySelector('.copiar');
        const said = new Promise((resolve) => {
          // After a while it says again what it does.
          const told = () => button.textContent !== 'Copiar' && resolve(button.textContent);
          new MutationObserver(told).observe(button, { childList: true });
        });
        button.click();
        const label = await said;
        return [taken, source.querySelector('pre').textContent, label,
          document.querySelector('[role=status].oculto').textContent];
      })()`);
    const modern = `Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { taken = text; } } });`;
    const old = `Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
      document.execCommand = () => { taken = document.activeElement.value; return true; };`;
    for (const before of [modern, old]) {
      const [taken, text, button, said] = await copied(before);
      assert.equal(taken, text);
      assert.match(text!, /^curl -s -X POST http/);
      assert.deepEqual([button, said], ['Copiado', 'Copiado']);
    }
    const [, , button] = await copied(`document.execCommand = () => false;`);
    assert.equal(button, 'Não foi possível copiar');
  });

  test('of several languages one is shown, and the choice holds on the next page', async () => {
    const shown = (): Promise<readonly string[]> =>
      page.evaluate(
        `[...document.querySelectorAll('.aba')].filter((one) => one.checkVisibility()).map((one) => one.dataset.nome)`,
      );
    await page.evaluate('localStorage.clear()');
    await page.open(`${address}/docs/primeira-nota`);
    assert.deepEqual(await shown(), ['Node', 'Node']);
    await page.evaluate(
      `[...document.querySelectorAll('[role=tab]')].find((one) => one.textContent === 'PHP').click()`,
    );
    assert.deepEqual(await shown(), ['PHP', 'PHP']);
    await page.open(`${address}/docs/danfse`);
    assert.deepEqual(await shown(), ['PHP']);
    // A page that lacks the language shows its first one, and keeps the choice.
    await page.evaluate(`localStorage.setItem('nfse-docs-linguagem', 'c#')`);
    await page.open(`${address}/docs/danfse?outra`);
    assert.deepEqual(await shown(), ['curl']);
    await page.open(`${address}/docs/primeira-nota?outra`);
    assert.deepEqual(await shown(), ['C#', 'C#']);
    // A link to another language shows that one.
    await page.open(`${address}/docs/primeira-nota#python`);
    assert.deepEqual(await shown(), ['Python', 'Python']);
  });

  test('the languages are chosen with the keyboard', async () => {
    await page.evaluate('localStorage.clear()');
    await page.open(`${address}/docs/danfse?teclado`);
    const state = await page.evaluate<readonly string[]>(`(() => {
      const tab = () => document.activeElement;
      const press = (key) => tab().dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      document.querySelector('[role=tab][tabindex="0"]').focus();
      const seen = [tab().textContent];
      for (const key of ['ArrowRight', 'End', 'ArrowRight', 'ArrowLeft', 'Home']) { press(key); seen.push(tab().textContent); }
      return [...seen, tab().getAttribute('aria-selected'), document.getElementById(tab().getAttribute('aria-controls')).dataset.nome];
    })()`);
    assert.deepEqual(state, ['curl', 'Node', 'Java', 'curl', 'Java', 'curl', 'true', 'curl']);
  });

  test('answers are suggested while one types, and chosen with the keyboard', async () => {
    await page.resize(PHONE, 844);
    await page.open(`${address}/docs/eventos?sugestoes`);
    await page.evaluate(`(() => {
      const box = document.querySelector('.bar input[name=q]');
      box.focus();
      box.value = 'e084';
      box.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    await page.until(`document.querySelectorAll('#sugestoes [role=option]').length > 1`);
    const [open, first, inside] = await page.evaluate<[string, string, boolean]>(`[
      document.querySelector('.bar input').getAttribute('aria-expanded'),
      document.querySelector('#sugestoes [role=option]').textContent,
      document.getElementById('sugestoes').getBoundingClientRect().right <= innerWidth]`);
    assert.deepEqual([open, inside], ['true', true]);
    assert.match(first, /^E084\d .* Código de erro$/);
    await assertAccessible(page, 'suggestions');
    if (PICTURES !== undefined) await page.picture(path.join(PICTURES, 'docs-sugestoes-390.png'));
    await page.evaluate(`(() => {
      const box = document.querySelector('.bar input[name=q]');
      for (const key of ['ArrowDown', 'Enter']) box.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    })()`);
    await arrived(page, `location.pathname.startsWith('/docs/erros/E084')`);
    assert.deepEqual(page.complaints, []);
  });

  test('the machines are drawn: every state and every way out, readable on a phone', async () => {
    await page.resize(PHONE, 844);
    await page.open(`${address}/docs/estados?desenhos`);
    const [nota, evento] = await page.evaluate<
      readonly {
        readonly estados: string[];
        readonly gatilhos: string[];
        readonly words: number;
        readonly font: number;
        readonly past: number;
        readonly nome: string;
      }[]
    >(`[...document.querySelectorAll('.desenho')].map((figure) => {
      const svg = figure.querySelector('svg');
      const box = svg.getBoundingClientRect();
      const texts = (kind) => [...svg.querySelectorAll('text.' + kind)].map((one) => one.textContent);
      return {
        estados: texts('estado'),
        gatilhos: texts('gatilho'),
        words: figure.querySelectorAll('details li').length,
        font: 12 * box.width / svg.viewBox.baseVal.width,
        past: [...svg.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > box.right + 1).length,
        nome: document.getElementById(svg.getAttribute('aria-labelledby')).textContent,
      };
    })`);
    for (const [drawn, estados, moves] of [
      [nota, NOTA_ESTADOS, NOTA_MOVES],
      [evento, EVENTO_ESTADOS, EVENTO_MOVES],
    ] as const) {
      assert.deepEqual(drawn!.estados, ['começo', ...Object.keys(estados)]);
      assert.deepEqual(
        drawn!.gatilhos.map((text) => text.replace(' ↻', '')).toSorted(),
        moves.map(({ on }) => on).toSorted(),
      );
      assert.equal(drawn!.words, moves.length);
      assert.ok(drawn!.font > 11.5, String(drawn!.font));
      assert.equal(drawn!.past, 0, 'something is drawn past the edge');
      assert.match(drawn!.nome, /em palavras/);
    }
  });

  test('without scripts everything is there: all languages, the search, the list of codes', async () => {
    await page.scripts(false);
    try {
      await page.open(`${address}/docs/primeira-nota?sem`);
      const [panels, buttons] = await page.evaluate<number[]>(`[
        [...document.querySelectorAll('.aba')].filter((one) => one.checkVisibility() && one.querySelector('h3').checkVisibility()).length,
        document.querySelectorAll('.copiar, [role=tab]').length]`);
      assert.deepEqual([panels, buttons], [10, 0]);
      await page.evaluate(`(() => {
        document.querySelector('.bar input[name=q]').value = 'E0840';
        document.querySelector('.bar button').click();
      })()`);
      await arrived(
        page,
        `document.querySelector('.results a')?.textContent.replaceAll('\u200b', '').startsWith('E0840')`,
      );
    } finally {
      await page.scripts(true);
    }
  });
});

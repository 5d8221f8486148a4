import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERRORS } from '../../fiscal/errors.ts';
import { ERROS_PATH } from './envelope.ts';
import { errorIndexPage, errorPage, homePage } from './pages.ts';
import { ROUTES } from './routes.ts';

const SITE = 'https://nfse.exemplo.gov.br';

/** Addresses of the links of a page that stands at a path. */
function linksOf(page: string, at: string): readonly string[] {
  return [...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => new URL(href!, SITE + at).href);
}

/** Start and end tags match, so that nothing that was inserted closed or opened one. */
function assertBalanced(page: string): void {
  const open: string[] = [];
  for (const [, slash, name] of page.matchAll(/<(\/)?([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (['meta', 'wbr'].includes(name!)) continue;
    if (slash === undefined) open.push(name!);
    else assert.equal(open.pop(), name);
  }
  assert.deepEqual(open, []);
}

const pages = ERRORS.map(({ codigo }) => ({ codigo, page: errorPage(codigo)!, at: `${ERROS_PATH}/${codigo}` }));
const known = new Set([SITE + ERROS_PATH, ...pages.map(({ at }) => SITE + at)]);

describe('the page of a code', () => {
  test('is there for every code of the table, and for nothing else', () => {
    for (const { codigo, page } of pages) assert.ok(page.includes(`<h1><code>${codigo}</code> `), codigo);
    for (const codigo of ['E0000', 'e0246', '', '__proto__', '../E002']) assert.equal(errorPage(codigo), undefined);
  });

  test('leads to the index and to its neighbours', () => {
    for (const { codigo, page, at } of pages) {
      const links = linksOf(page, at);
      assert.ok(links.includes(SITE + ERROS_PATH), codigo);
      for (const link of links) assert.ok(known.has(link), `${codigo} leads to ${link}`);
    }
    assert.ok(linksOf(errorPage('E303')!, `${ERROS_PATH}/E303`).includes(`${SITE}${ERROS_PATH}/E0014`));
  });

  test('has the place to which exemplo_ref points, where the code has examples', () => {
    for (const { codigo, exemplos, regras } of ERRORS) {
      const has = exemplos !== undefined || regras.length > 0;
      assert.equal(errorPage(codigo)!.includes('id="exemplos"'), has, codigo);
    }
  });

  test('shows a tag of a document as text', () => {
    const page = errorPage('E0246')!;
    assert.ok(page.includes('<mark>&lt;cPais&gt;BR&lt;/cPais&gt;</mark>'));
    assert.ok(!page.includes('<cPais'));
  });

  test('is written once', () => {
    assert.equal(errorPage('E0246'), errorPage('E0246'));
    assert.equal(errorIndexPage(), errorIndexPage());
  });
});

test('the index leads to every code', () => {
  const links = linksOf(errorIndexPage(), ERROS_PATH);
  assert.deepEqual(
    links,
    ERRORS.map(({ codigo }) => `${SITE}${ERROS_PATH}/${codigo}`),
  );
});

describe('the start page', () => {
  test('leads to the codes and to the health of the service', () => {
    const links = linksOf(homePage(SITE), '/');
    assert.deepEqual(links, [`${SITE}${ERROS_PATH}`, `${SITE}/health/live`, `${SITE}/health/ready`]);
  });

  test('names every address that is not deprecated', () => {
    const page = homePage(SITE).replaceAll('<wbr>', '');
    for (const { method, path, deprecated } of ROUTES) {
      const shown = `<b>${method}</b> /{municipio}${path.replace(/:(\w+)/g, '{$1}')}</code>`;
      assert.equal(page.includes(shown), deprecated !== true, `${method} ${path}`);
    }
  });

  test('escapes the address that it was reached by', () => {
    const page = homePage('https://x"><script>alert(1)</script>&');
    assert.ok(!page.includes('<script'));
    assert.ok(page.includes('https://x&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;/integracao/'));
    assertBalanced(page);
  });
});

test('every page is whole in itself: balanced, in Portuguese, without scripts or anything fetched', () => {
  for (const page of [homePage(SITE), errorIndexPage(), ...pages.map((one) => one.page)]) {
    assertBalanced(page);
    assert.ok(page.startsWith('<!doctype html>\n<html lang="pt-BR">'));
    assert.doesNotMatch(page, /<script|<link|<img|@import|url\(|style="|\son\w+=/);
    assert.doesNotMatch(page, /undefined|\[object|NaN/);
  }
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import { ROUTES } from '../../doors/rest/routes.ts';
import { ERRORS, hasExamples } from '../../fiscal/errors.ts';
import type { ErrorJson } from '../errors/json.ts';
import { DOCS_PATH, ERROS_JSON_PATH, ERROS_PATH, SCRIPT_PATH } from '../paths.ts';
import { projectText } from '../project-text.ts';
import { correctSpelling, errorIndexPage, errorPage, errorsJsonText, unknownCodePage } from './error-pages.ts';
import { framePage, PAGES } from './frame.ts';
import { homePage } from './home-page.ts';
import { allowBreaks, html, PAGE_POLICY } from './page-shell.ts';

const SITE = 'https://nfse.exemplo.gov.br';

/** Addresses of the links on a page at a path. */
function linksOf(page: string, at: string): readonly string[] {
  return [...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => new URL(href!, SITE + at).href);
}

/** Start and end tags match, so no inserted text closed or opened a tag. */
function assertBalanced(page: string): void {
  const open: string[] = [];
  for (const [, slash, name] of page.matchAll(/<(\/)?([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (['meta', 'link', 'wbr', 'input'].includes(name!)) continue;
    if (slash === undefined) open.push(name!);
    else assert.equal(open.pop(), name);
  }
  assert.deepEqual(open, []);
}

const pages = ERRORS.map(({ codigo }) => ({ codigo, page: errorPage(codigo)!, at: `${ERROS_PATH}/${codigo}` }));
/** The addresses that every page of the documentation links to, from its bar and its menu. */
const framed = linksOf(framePage('', html``, `${ERROS_PATH}/E003`), `${ERROS_PATH}/E003`);
const known = new Set([...framed, ...pages.flatMap(({ at }) => [SITE + at, `${SITE}${at}.md`])]);

describe('the page of a code', () => {
  test('is there for every code of the table, and for nothing else', () => {
    for (const { codigo, page } of pages) assert.ok(page.includes(`<h1><code>${codigo}</code> `), codigo);
    for (const codigo of ['E0000', 'e0246', '', '__proto__', '../E002']) assert.equal(errorPage(codigo), undefined);
  });

  test('leads to the index and to its neighbours', () => {
    for (const { codigo, page, at } of pages) {
      const links = linksOf(page, at);
      assert.ok(links.includes(SITE + ERROS_PATH), codigo);
      for (const link of links) {
        const isHere = link.startsWith(`${SITE}${at}#`);
        assert.ok(known.has(link) || isHere, `${codigo} leads to ${link}`);
      }
      assert.ok(page.includes('action="../../docs/busca"'), codigo);
      assert.ok(links.length > PAGES.length, codigo);
    }
    assert.ok(linksOf(errorPage('E303')!, `${ERROS_PATH}/E303`).includes(`${SITE}${ERROS_PATH}/E0014`));
  });

  test('has the place to which exemplo_ref points, where the code has examples', () => {
    for (const error of ERRORS) {
      assert.equal(errorPage(error.codigo)!.includes('id="exemplos"'), hasExamples(error), error.codigo);
    }
  });

  test('shows what fails and what passes where no part of a DPS can: the request, the signature, the registry', () => {
    for (const codigo of 'E003 E0014 E101 E102 E103 E110 E111 E201 E301 E601 E703 E901 E903 E904 E906 E999 E0840 E9006 E9007'.split(
      ' ',
    )) {
      const [, examples] = errorPage(codigo)!.split('id="exemplos"');
      assert.match(examples ?? '', /Recusado<[\s\S]*Aceito</, codigo);
    }
    assert.match(errorPage('E003')!, /Content-Type: application\/json\n\n&lt;DPS /);
    assert.match(errorPage('E201')!, /Silva &amp; Filhos[\s\S]*Silva &amp;amp; Filhos/);
  });

  test('is found in other letters too', () => {
    assert.deepEqual(['e0310', ' E0310', 'e901'].map(correctSpelling), ['E0310', 'E0310', 'E901']);
    for (const codigo of ['E0310', 'E0000', 'toString', '']) assert.equal(correctSpelling(codigo), undefined);
  });

  test('of a code that does not exist has the search, and the codes of its number', () => {
    for (const asked of ['E310', '310', 'e00310']) {
      const page = unknownCodePage(asked);
      assert.ok(linksOf(page, `${ERROS_PATH}/${asked}`).includes(`${SITE}${ERROS_PATH}/E0310`), asked);
      assertBalanced(page);
    }
    const page = unknownCodePage('"><script>alert(1)</script>');
    assert.ok(!page.includes('<script>') && page.includes('action="../erros"'));
    const links = linksOf(page, `${ERROS_PATH}/x`).filter((link) => !link.includes('#'));
    assert.deepEqual(
      links.filter((link) => !known.has(link)),
      [],
    );
    assertBalanced(page);
  });

  test('breaks a long name on a narrow screen, and no number', () => {
    const shown = (text: string): string => html`${allowBreaks(text)}`.html;
    assert.equal(shown('toma/end/endExt e codigo_nbs'), 'toma/<wbr>end/<wbr>endExt e codigo_<wbr>nbs');
    assert.equal(shown('ibscbs.total_cbs'), 'ibscbs.<wbr>total_<wbr>cbs');
    for (const number of ['07.02.02', '1000.00', '01/10/2026']) assert.equal(shown(number), number);
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

/** The codes that an index shows, in its order. */
function shownIn(page: string): readonly string[] {
  return [...page.matchAll(/<li data-c="[^"]*" data-b="[^"]*"(?: class="quiet")?( hidden)?><a href="erros\/(E\d+)">/g)]
    .filter(([, hidden]) => hidden === undefined)
    .map(([, , codigo]) => codigo!);
}

describe('the index', () => {
  test('leads to every code once, and to its own groups', () => {
    const links = linksOf(errorIndexPage(), ERROS_PATH);
    const codes = links.filter((link) => link.startsWith(`${SITE}${ERROS_PATH}/`));
    assert.deepEqual(codes.toSorted(), ERRORS.map(({ codigo }) => `${SITE}${ERROS_PATH}/${codigo}`).toSorted());
    for (const link of links.filter((one) => one.includes('#'))) {
      assert.match(
        errorIndexPage(),
        new RegExp(`<(?:section|main|nav)[^>]* id="${new URL(link).hash.slice(1)}"`),
        link,
      );
    }
    assert.equal(shownIn(errorIndexPage()).length, ERRORS.length);
    assert.ok(links.includes(SITE + ERROS_JSON_PATH));
  });

  test('has the menu of the pages around it, asked or not', () => {
    for (const page of [errorIndexPage(), errorIndexPage('obra')]) {
      const menu = /<nav class="menu"[\s\S]*?<\/nav>/.exec(page)![0];
      assert.match(menu, /<a href="erros" aria-current="page">Códigos de erro<\/a>/);
      assert.equal(menu.match(/<a /g)!.length, PAGES.length + 5);
      assert.match(page, /<body class="(?:searching )?site">/);
    }
  });

  test('marks what is not a 422 everywhere', () => {
    const page = errorIndexPage();
    const marked = (codigo: string): string | undefined =>
      new RegExp(`<a href="erros/${codigo}">.*?</a>(?: <small[^>]*>([^<]*)</small>)?</li>`).exec(page)?.[1];
    assert.equal(marked('E003'), 'HTTP 400, 405, 408, 413, 414, 417, 422 ou 431');
    assert.equal(marked('E703'), 'HTTP 503, 429, 409 ou 422');
    assert.equal(marked('E002'), 'HTTP 422 ou 400');
    assert.equal(marked('E0188'), undefined);
    assert.equal(marked('E303'), 'antigo');
    assert.equal(marked('E0004'), 'aviso');
    for (const { codigo, alcance, situacao } of ERRORS) {
      assert.equal(marked(codigo) === 'nacional', alcance === 'nacional' && situacao === 'enviado', codigo);
    }
  });
});

/** Queries as a person types them, and codes that must be among the results. */
const QUESTIONS: readonly (readonly [asked: string, wanted: readonly string[], not: readonly string[]])[] = [
  ['E0188', ['E0188'], ['E0191', 'E003']],
  ['e188', ['E0188'], ['E0191']],
  ['0246', ['E0246'], ['E0242']],
  ['E90', ['E901', 'E9002', 'E9007'], ['E101']],
  ['inscricao municipal', ['E103'], ['E0188']],
  ['INSCRIÇÃO', ['E103'], ['E0188']],
  ['retenções', ['E0428', 'E0720'], ['E0188']],
  ['retencao', ['E0428', 'E0720'], ['E0188']],
  ['tomador_endereco', ['E0246'], ['E103']],
  ['toma/end/endExt', ['E0242', 'E0246'], ['E103']],
  ['ctribnac', ['E002', 'E1402'], ['E999']],
  ['certificado validade', ['E903', 'E9006'], ['E901']],
];

describe('the search', () => {
  for (const [asked, wanted, not] of QUESTIONS) {
    test(`for ${asked}`, () => {
      const shown = shownIn(errorIndexPage(asked));
      for (const codigo of wanted) assert.ok(shown.includes(codigo), `${codigo} is not among ${shown}`);
      for (const codigo of not) assert.ok(!shown.includes(codigo), `${codigo} is among ${shown}`);
    });
  }

  test('finds every code by its number alone', () => {
    for (const { codigo } of ERRORS) assert.ok(shownIn(errorIndexPage(codigo)).includes(codigo), codigo);
  });

  test('says how many there are, or that there is none', () => {
    assert.match(errorIndexPage('e0188'), /<p id="achados"[^>]*>1 código<\/p>/);
    assert.match(errorIndexPage('zzzz'), /<p id="achados"[^>]*>Nenhum código\. /);
    assert.deepEqual(shownIn(errorIndexPage('zzzz')), []);
    assert.match(errorIndexPage(), /<p id="achados"[^>]*><\/p>/);
  });

  test('shows nothing of an empty group', () => {
    const page = errorIndexPage('E0188');
    assert.match(page, /<section id="tomador" data-g>/);
    assert.match(page, /<section id="prestador" data-g hidden>/);
  });

  test('repeats what was asked as text, and no more than a title may have', () => {
    const page = errorIndexPage(`"><script>alert(1)</script>${'x'.repeat(1_000)}`);
    assert.ok(!page.includes('<script>'));
    assert.match(page, /value="&quot;&gt;&lt;script&gt;/);
    assert.ok(!page.includes('x'.repeat(81)));
    assertBalanced(page);
  });
});

describe('the script of the index', () => {
  const script = projectText('src/published/site/navegador.js');

  test('is a file of the service, which the policy admits with the styles and nothing else', () => {
    const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');
    const styles = [...errorIndexPage().matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style]) => style!);
    assert.ok(PAGE_POLICY.includes(`style-src ${styles.map((style) => `'sha256-${digestOf(style)}'`).join(' ')};`));
    assert.match(PAGE_POLICY, /; script-src 'self'; connect-src 'self'; /);
    assert.doesNotMatch(PAGE_POLICY, /unsafe|\*|https?:/);
    for (const { page, at } of [{ page: errorIndexPage(), at: ERROS_PATH }, ...pages]) {
      const scripts = [...page.matchAll(/<script type="module" src="([^"]*)"><\/script>/g)].map(([, src]) => src!);
      assert.equal(page.split('<script').length - 1, 1);
      assert.deepEqual(
        scripts.map((src) => new URL(src, SITE + at).href),
        [SITE + SCRIPT_PATH],
      );
    }
    const home = homePage(SITE, ROUTES);
    assert.ok(!home.includes('<script') && home.includes(`<style>${styles[0]}</style>`));
  });

  test('finds what the service finds', () => {
    const page = errorIndexPage();
    const items = [...page.matchAll(/<li data-c="([^"]*)" data-b="([^"]*)"[^>]*>.*?<span>(.*?)<\/span>/g)].map(
      ([, c, b, title]) => ({
        dataset: { c, b },
        hidden: false,
        querySelector: () => ({ textContent: title!.replaceAll('&#39;', "'").replaceAll('&quot;', '"') }),
      }),
    );
    assert.equal(items.length, ERRORS.length);
    let filter = (): void => assert.fail('the script listens to nothing');
    const addEventListener = (_name: string, listen: () => void): void => {
      filter = listen;
    };
    const box = { value: '', addEventListener };
    const said = { textContent: '', dataset: { none: 'nenhum' } };
    vm.runInNewContext(script, {
      document: {
        querySelector: (wanted: string) => (wanted.startsWith('main') ? box : null),
        getElementById: () => said,
        createElement: () => ({ setAttribute: () => undefined, append: () => undefined }),
        querySelectorAll: (wanted: string) => (wanted.startsWith('li') ? items : []),
        body: { append: () => undefined, classList: { toggle: () => undefined } },
      },
      history: { replaceState: () => undefined },
      location: { pathname: ERROS_PATH },
    });
    for (const asked of [...QUESTIONS.map(([one]) => one), '', 'zzzz', 'e0', '2026', 'da', 'IBS  cbs']) {
      box.value = asked;
      filter();
      const shown = items.filter(({ hidden }) => !hidden).map(({ dataset }) => dataset.c!.split(' ')[0]);
      assert.deepEqual(
        shown,
        shownIn(errorIndexPage(asked)).map((codigo) => codigo.toLowerCase()),
        asked,
      );
    }
  });
});

describe('the table for programs', async () => {
  const table = JSON.parse(await errorsJsonText(SITE)) as readonly ErrorJson[];

  test('has every code of the table, with the address of its page', () => {
    assert.deepEqual(
      table.map(({ codigo, doc_url }) => [codigo, doc_url]),
      ERRORS.map(({ codigo }) => [codigo, `${SITE}${ERROS_PATH}/${codigo}`]),
    );
  });

  test('says of a code what its page says', () => {
    const e0246 = table.find(({ codigo }) => codigo === 'E0246')!;
    const { exemplos, ...said } = e0246;
    assert.deepEqual(
      { status: said.status, alcance: said.alcance, transitorio: said.transitorio, situacao: said.situacao },
      { status: 422, alcance: 'geral', transitorio: false, situacao: 'enviado' },
    );
    assert.ok(said.caminhos.some(({ caminho }) => caminho === 'toma/end/endExt/cPais'));
    const [first] = exemplos;
    assert.match(first!.recusados[0]!.xml!, /<cPais>BR<\/cPais>/);
    assert.deepEqual(first!.recusados[0]!.respostas, ['E0246']);
    assert.match(first!.aceitos[0]!.xml!, /<cPais>US<\/cPais>/);
    assert.equal(table.find(({ codigo }) => codigo === 'E1515')!.status, null);
    assert.equal(table.find(({ codigo }) => codigo === 'E303')!.substituido_por, 'E0014');
  });

  test('quotes the code under each of its rejected examples, and shows each in some form', () => {
    for (const { codigo, exemplos } of table) {
      for (const { recusados, aceitos } of exemplos) {
        for (const { respostas } of recusados) assert.ok(respostas.includes(codigo), codigo);
        for (const { xml, json } of [...recusados, ...aceitos]) assert.ok((xml ?? json ?? '') !== '', codigo);
      }
    }
  });

  test('is for another reader with the address that he knows', async () => {
    const other = await errorsJsonText('https://outro');
    assert.ok(other.includes(`"https://outro${ERROS_PATH}/E002"`) && !other.includes(SITE));
  });
});

describe('the start page', () => {
  test('leads to the documentation, the reference, the codes and the health of the service', () => {
    const links = linksOf(homePage(SITE, ROUTES), '/');
    assert.deepEqual(links, [
      'https://www.nfse.gov.br/ConsultaPublica/',
      `${SITE}${DOCS_PATH}`,
      `${SITE}/docs/api`,
      `${SITE}/openapi.json`,
      `${SITE}${ERROS_PATH}`,
      `${SITE}${ERROS_JSON_PATH}`,
      `${SITE}/health/live`,
      `${SITE}/health/ready`,
    ]);
  });

  test('names every address that is not deprecated', () => {
    const page = homePage(SITE, ROUTES).replaceAll('<wbr>', '');
    for (const { method, path, deprecated } of ROUTES) {
      const shown = `<b>${method}</b> /{municipio}${path.replace(/:(\w+)/g, '{$1}')}</code>`;
      assert.equal(page.includes(shown), deprecated !== true, `${method} ${path}`);
    }
  });

  test('escapes the address that it was reached by', () => {
    const page = homePage('https://x"><script>alert(1)</script>&', ROUTES);
    assert.ok(!page.includes('<script'));
    assert.ok(page.includes('https://x&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;/integracao/'));
    assertBalanced(page);
  });
});

test('every page is whole in itself: balanced, in Portuguese, without anything fetched but the one script', () => {
  for (const page of [homePage(SITE, ROUTES), errorIndexPage(), ...pages.map((one) => one.page)]) {
    assertBalanced(page);
    assert.ok(page.startsWith('<!doctype html>\n<html lang="pt-BR">'));
    assert.doesNotMatch(
      page.replace('<script type="module" src="', ''),
      /<script|<link(?! rel="alternate")|<img|@import|url\(|style="|\son\w+=/,
    );
    assert.doesNotMatch(page, /undefined|\[object|NaN/);
  }
});

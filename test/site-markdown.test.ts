/** The pages as Markdown, and the list of them for language models, as a program finds and reads them. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ERRORS } from '../src/fiscal/errors.ts';
import { ERROS_PATH } from '../src/published/paths.ts';
import { addressOf, PAGES } from '../src/published/site/frame.ts';
import { startTestService } from './support/service.ts';

let address: string;
before(async () => {
  ({ address } = await startTestService({ worker: false }));
});

/** Answers already asked for, by their address. */
const statuses = new Map<string, number>();

async function statusAt(url: string): Promise<number> {
  if (!statuses.has(url)) statuses.set(url, (await fetch(url, { headers: { Accept: 'text/html' } })).status);
  return statuses.get(url)!;
}

/** The Markdown that a page names in its head. */
async function markdownBeside(at: string): Promise<{ url: string; html: string; markdown: string }> {
  const html = await (await fetch(address + at)).text();
  const [, href] = /<link rel="alternate" type="text\/markdown" href="([^"]+)">/.exec(html) ?? [];
  assert.ok(href !== undefined, `${at} names no Markdown`);
  const url = new URL(href, address + at).href;
  assert.equal(url, `${address}${at}.md`);
  const answer = await fetch(url);
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/markdown; charset=utf-8'], url);
  return { url, html, markdown: await answer.text() };
}

const withoutCode = (markdown: string): string => markdown.replace(/^ *(`{3,})[\s\S]*?^ *\1$|`[^`\n]*`/gm, '');

test('each page is Markdown at its address with .md, of the same chapters, and its links lead somewhere', async () => {
  for (const at of [...PAGES.map(({ slug }) => addressOf(slug)), ERROS_PATH]) {
    const { url, html, markdown } = await markdownBeside(at);
    assert.match(markdown, /^# \S/, at);
    const prose = withoutCode(markdown);
    assert.doesNotMatch(prose, /\{\{|^<!--|ENDERECO-DO-SERVICO|undefined/m, at);
    const chapters = [...prose.matchAll(/^## /gm)].length;
    if (at !== ERROS_PATH) assert.equal(chapters, [...html.matchAll(/<h2 id=/g)].length, at);
    else for (const { codigo } of ERRORS) assert.ok(prose.includes(`[${codigo}](erros/${codigo}.md)`), codigo);
    for (const [, href] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      const target = new URL(href!, url);
      if (target.origin !== address) continue;
      target.hash = '';
      assert.equal(await statusAt(target.href), 200, `${at}.md leads to ${href}`);
    }
  }
});

test('a link of a page leads to Markdown where there is some', async () => {
  const text = await (await fetch(`${address}/docs/ensaios.md`)).text();
  assert.match(text, /\[Um ambiente próprio\]\(ambientes\.md\)/);
  assert.match(text, /\[Limites\]\(limites\.md#frequência\)/);
  assert.ok(text.includes(`${address}/integracao/api/v1/nfse/v101`));
  assert.match(await (await fetch(`${address}/docs.md`)).text(), /\]\(docs\/surpresas\.md\)/);
});

test('each code is Markdown too, with the links of its neighbours', async () => {
  for (const { codigo } of ERRORS.filter((_, place) => place % 40 === 0)) {
    const { markdown } = await markdownBeside(`${ERROS_PATH}/${codigo}`);
    assert.ok(markdown.startsWith(`# ${codigo}\n`), codigo);
  }
  const replaced = await (await fetch(`${address}${ERROS_PATH}/E303.md`)).text();
  assert.match(replaced, /\[E0014\]\(E0014\.md\)/);
});

test('what is not there is refused, and what a reader has is not sent again', async () => {
  for (const at of ['/docs/nada.md', '/docs/.md', '/docs/erros/E1.md', '/docs/busca.md', '/docs/ensaios.md.md'])
    assert.equal((await fetch(address + at)).status, 404, at);
  for (const at of ['/docs/ensaios.md', '/docs/calendario-ibs-cbs.md', '/llms.txt']) {
    const tag = (await fetch(address + at)).headers.get('etag')!;
    assert.equal((await fetch(address + at, { headers: { 'If-None-Match': tag } })).status, 304, at);
  }
});

test('llms.txt is a title, a summary and sections of links with a sentence each, and names every page', async () => {
  const answer = await fetch(`${address}/llms.txt`);
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
  const [head = '', ...sections] = (await answer.text()).split(/^## .+$/m);
  assert.match(head, /^# .+\n\n> .+\n\n/);
  assert.ok(sections.length >= 2);
  const named = new Set<string>();
  for (const line of sections
    .join('\n')
    .split('\n')
    .filter((one) => one !== '')) {
    const [, name, url = '', about = ''] = /^- \[(.+)\]\((\S+)\): (.+)$/.exec(line) ?? [];
    assert.ok(name !== undefined, line);
    assert.match(about, /^[\p{Lu}].{15,}[.]$/u, line);
    assert.doesNotMatch(about, /\]\(|\*\*|\{\{/, line);
    assert.equal(await statusAt(url), 200, url);
    named.add(url);
  }
  for (const { slug } of PAGES) assert.ok(named.has(`${address}${addressOf(slug)}.md`), slug);
  for (const at of ['/openapi.json', '/docs/erros.json', '/docs/erros.md', '/docs/arquivos/EmissorNfse.php'])
    assert.ok(named.has(address + at), at);
});

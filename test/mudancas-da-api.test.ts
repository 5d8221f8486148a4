/** The changes of the API: their page, their feed by RFC 4287, and the version that the description tells. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { XmlDocument } from 'libxml2-wasm';
import manifest from '../package.json' with { type: 'json' };
import { mudancasFeed } from '../src/published/site/mudancas.ts';
import { request } from './support/http.ts';
import { ROOT } from './support/process.ts';
import { startTestService } from './support/service.ts';

const PAGE = '/docs/mudancas-da-api';
const ATOM = { a: 'http://www.w3.org/2005/Atom' };

let address: string;
before(async () => {
  ({ address } = await startTestService({ worker: false }));
});

/** The texts at a path of an Atom document. */
function textsAt(xml: string, xpath: string): readonly string[] {
  const document = XmlDocument.fromString(xml);
  try {
    return document.find(xpath, ATOM).map((node) => node.content);
  } finally {
    document.dispose();
  }
}

test('the page tells each change for integrators under its day, and nothing for operators', async () => {
  const { status, body } = await request(address, `${PAGE}.md`);
  assert.equal(status, 200);
  const days = body.split(/^### /m).slice(1) as string[];
  for (const name of globSync('changes/[0-9]*.md', { cwd: ROOT })) {
    const [head = '', ...lines] = readFileSync(path.join(ROOT, name), 'utf8').split('\n');
    const first = lines.find((line) => line.startsWith('- '))!.slice(0, 60);
    const [, year, month, day] = /\((\d{4})-(\d\d)-(\d\d)\)$/.exec(head) ?? [];
    const here = days.find((one) => one.startsWith(`${day}/${month}/${year}\n`));
    if (head.startsWith('## Para quem integra')) assert.ok(here?.includes(first), `${name}: ${first}`);
    else assert.ok(!body.includes(first), name);
  }
});

// Specification, "IBS/CBS obligation schedule"; ADCT, art. 126, II.
test('rules that begin on a day stand with it, and with their treatment in each environment', async () => {
  const { body } = await request(address, `${PAGE}.md`);
  for (const row of [
    /^\| 01\/10\/2026 \| O grupo `IBSCBS` .*LC 116\/2003 em geral\. \| `E802` \| recusa \| recusa \|$/m,
    /^\| 01\/12\/2026 \| O grupo `IBSCBS` .*1\.03, 1\.05, 1\.09 e 16\.01.* \| `E802` \| recusa \| recusa \|$/m,
    /^\| 01\/01\/2027 \| O grupo `IBSCBS` .*Simples Nacional.* \| `E802` \| recusa \| recusa \|$/m,
    /^\| 01\/01\/2027 \| O PIS e a COFINS acabam.* \| `E803` \| avisa \| avisa \|$/m,
  ])
    assert.match(body, row);
});

describe('the feed', () => {
  test('has each part that RFC 4287 demands, once', async () => {
    const answer = await fetch(`${address}${PAGE}.atom`);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/atom+xml; charset=utf-8']);
    const xml = await answer.text();
    for (const part of ['id', 'title', 'updated', 'author/a:name', 'link[@rel="self"]'])
      assert.equal(textsAt(xml, `/a:feed/a:${part}`).length, 1, part);
    assert.deepEqual(textsAt(xml, '/a:feed/a:link[@rel="self"]/@href'), [`${address}${PAGE}.atom`]);
    const count = textsAt(xml, '/a:feed/a:entry').length;
    assert.ok(count > 4);
    for (const part of ['id', 'title', 'updated', 'summary', 'link[@rel="alternate"]'])
      assert.equal(textsAt(xml, `/a:feed/a:entry[count(a:${part})=1]`).length, count, part);
    const ids = textsAt(xml, '//a:id');
    assert.equal(new Set(ids).size, count + 1);
    for (const id of ids)
      assert.match(id, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const moments = textsAt(xml, '/a:feed/a:entry/a:updated');
    for (const moment of moments) assert.match(moment, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-03:00$/);
    assert.deepEqual(moments, moments.toSorted().toReversed());
    assert.deepEqual(textsAt(xml, '/a:feed/a:updated'), moments.slice(0, 1));
    for (const text of textsAt(xml, '//a:title | //a:summary')) assert.doesNotMatch(text, /\*\*|`|\]\(/);
    const tag = answer.headers.get('etag')!;
    assert.equal((await fetch(`${address}${PAGE}.atom`, { headers: { 'If-None-Match': tag } })).status, 304);
    assert.match(
      await (await fetch(address + PAGE)).text(),
      /type="application\/atom\+xml" href="mudancas-da-api\.atom"/,
    );
  });

  test('names an entry alike for good, whatever the address of the service', () => {
    const idsAt = (site: string): readonly string[] => textsAt(mudancasFeed(site, '2026-12-31'), '//a:id');
    assert.deepEqual(idsAt('https://um.gov.br'), idsAt('https://outro.gov.br/"<&'));
  });

  test('tells a rule from ninety days before it begins', () => {
    const isTold = (hoje: string): boolean =>
      mudancasFeed('https://um.gov.br', hoje).includes('Competência 01/01/2027: ');
    // October has 31 days, November 30 and December 31: 90 days before 1 January is 3 October.
    assert.deepEqual(['2026-10-02', '2026-10-03'].map(isTold), [false, true]);
  });
});

test('the description tells the version of the program and its commit, and the page says the same', async () => {
  const { version } = (await request(address, '/openapi.json')).body.info;
  assert.match(version, /^\d+\.\d+\.\d+(\+[0-9a-f]{12})?$/);
  assert.equal(version.split('+')[0], manifest.version);
  assert.ok((await request(address, `${PAGE}.md`)).body.includes(`\`${version}\``));
});

/** The rows of a city for tables of public libraries: each block parses in its language, and its addresses are those of the door. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { XmlDocument } from 'libxml2-wasm';
import { request } from './support/http.ts';
import { startTestService } from './support/service.ts';

/** Absent programs check nothing; the addresses of their blocks are checked all the same. */
const has = (program: string): false | string =>
  spawnSync(program, ['--version']).error === undefined ? false : `pede ${program}`;

type Block = { readonly language: string; readonly text: string };

let address: string;
let blocks: readonly Block[];
before(async () => {
  ({ address } = await startTestService({ worker: false }));
  const page = await (await fetch(`${address}/docs/nacional.md`)).text();
  const [, section = ''] = page.split(/^## A linha de uma cidade$/m);
  blocks = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
});

const blocksIn = (language: string): readonly string[] => {
  const found = blocks.filter((one) => one.language === language).map(({ text }) => text);
  assert.ok(found.length > 0, language);
  return found;
};

/** The addresses of a city, and of the sandbox. */
const [CITY, SANDBOX] = ['exemplo/SefinNacional', 'integracao/SefinNacional'];

describe('each row of a city', () => {
  test('is JSON by the code of the city, with both environments', () => {
    const names = blocksIn('json').map((text) => {
      const { urls } = JSON.parse(text)['3550308'];
      assert.deepEqual(Object.values(urls), [`${address}/${CITY}`, `${address}/${SANDBOX}`]);
      return Object.keys(urls).join(' ');
    });
    assert.deepEqual(names, ['sefin_producao sefin_homologacao', 'sefin_production sefin_staging']);
  });

  test('is an element of the list of OpenAC with its seven addresses in each environment', () => {
    for (const text of blocksIn('xml')) {
      const document = XmlDocument.fromString(text);
      const textsAt = (xpath: string): readonly string[] => document.find(xpath).map(({ content }) => content);
      assert.deepEqual(textsAt('/serviceInfo/@Id'), ['3550308']);
      for (const [ambiente, path] of [
        ['1', CITY],
        ['2', SANDBOX],
      ]) {
        const here = `/serviceInfo/Ambientes/Ambiente[@Tipo="${ambiente}"]/Enderecos/Endereco`;
        assert.equal(textsAt(here).length, 7);
        assert.deepEqual(
          textsAt(`${here}[starts-with(., "${address}")]`),
          Array.from({ length: 4 }, () => `${address}/${path}`),
        );
      }
      document.dispose();
    }
  });

  test('is PHP', { skip: has('php') }, () => {
    for (const text of blocksIn('php')) {
      const input = text.startsWith("'") ? `<?php return [${text}];` : `<?php ${text}`;
      const { status, stdout, stderr } = spawnSync('php', ['-l'], { input, encoding: 'utf8' });
      assert.equal(status, 0, stdout + stderr);
    }
  });

  test('is Python', { skip: has('python3') }, () => {
    for (const input of blocksIn('python')) {
      const { status, stderr } = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
        input,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
    }
  });

  test('has only addresses of the door and of the national environment', () => {
    for (const { text } of blocks) {
      const found = [...text.matchAll(/https?:\/\/[^"'<]+/g)].map(([url]) => url);
      assert.ok(found.length > 0, text);
      for (const url of found) {
        const isOfAdn = /^https:\/\/adn\.(?:producaorestrita\.)?nfse\.gov\.br(?:\/contribuintes)?$/.test(url);
        assert.ok(isOfAdn || url === `${address}/${CITY}` || url === `${address}/${SANDBOX}`, url);
      }
    }
  });

  test('leads to a door that answers in the national form', async () => {
    const { status, body } = await request(address, `/${SANDBOX}/nfse/${'1'.repeat(50)}`);
    assert.equal(status, 404);
    assert.equal(body.erros[0].Codigo, 'E301');
  });
});

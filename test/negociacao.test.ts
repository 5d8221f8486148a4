/** The form of an answer: refusals as the caller prefers them (envelope, RFC 9457, or a page), and parts of a PDF. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { authorised, emit } from './support/http.ts';
import { startTestService } from './support/service.ts';

const PROBLEM = 'application/problem+json';
const UNKNOWN = '/integracao/api/v1/nfse/35503082112223330001810000000000001262512345678904';
let address: string;

async function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${address}${path}`, { headers });
  // Each byte is a character, also in a PDF.
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  return { status: answer.status, headers: answer.headers, type: answer.headers.get('content-type'), text };
}

before(async () => {
  address = (await startTestService()).address;
});

describe('a refusal', () => {
  test('is RFC 9457 with our fields beside, for those that name its type', async () => {
    const usual = await ask(UNKNOWN);
    assert.deepEqual([usual.status, usual.type], [404, 'application/json; charset=utf-8']);
    assert.equal(usual.headers.get('vary'), 'Accept');
    const answer = await ask(UNKNOWN, { Accept: PROBLEM });
    assert.deepEqual([answer.status, answer.type], [404, PROBLEM]);
    assert.equal(answer.headers.get('vary'), 'Accept');
    const { type, title, status, detail, instance, ...ours } = JSON.parse(answer.text);
    const envelope = JSON.parse(usual.text);
    assert.deepEqual(Object.keys(ours), Object.keys(envelope));
    assert.deepEqual([ours.codigo_erro, ours.erros], [envelope.codigo_erro, envelope.erros]);
    assert.deepEqual([status, detail, type], [404, envelope.mensagem, envelope.erros[0].doc_url]);
    assert.ok(title.length > 0);
    assert.equal(instance, `urn:uuid:${answer.headers.get('x-request-id')}`);
    // The type leads to the page of the code.
    assert.equal((await fetch(type)).status, 200);
  });

  test('keeps its envelope for those that take anything, and its challenge and waits in each form', async () => {
    for (const Accept of ['*/*', 'application/*', `${PROBLEM};q=0, */*`, 'application/json', 'text/plain'])
      assert.equal((await ask(UNKNOWN, { Accept })).type, 'application/json; charset=utf-8', Accept);
    const [plain, problem] = await Promise.all(
      ['application/json', PROBLEM].map((Accept) =>
        ask('/integracao/api/v1/notas', { Accept, Authorization: 'Bearer nada' }),
      ),
    );
    assert.deepEqual([plain!.status, problem!.status], [401, 401]);
    assert.match(plain!.headers.get('www-authenticate') ?? '', /^Bearer /);
    assert.equal(problem!.headers.get('www-authenticate'), plain!.headers.get('www-authenticate'));
    assert.equal(problem!.type, PROBLEM);
  });

  test('of a request that has no route, or cannot be read, is a problem too', async () => {
    for (const path of ['/nada', '/integracao/api/v1/nada', '/%zz']) {
      const { type, text, status } = await ask(path, { Accept: PROBLEM });
      assert.equal(type, PROBLEM, path);
      assert.equal(JSON.parse(text).status, status);
    }
  });

  test('is a page for a browser, and no page for those that refuse one', async () => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await ask('/docs/erros/E9999', { Accept: browser });
    assert.deepEqual([page.status, page.type], [404, 'text/html; charset=utf-8']);
    const json = await ask('/docs/erros/E9999', { Accept: 'text/html;q=0, */*' });
    assert.deepEqual([json.status, json.type], [404, 'application/json; charset=utf-8']);
  });

  test('at the national door has the form of the national API whatever is asked for', async () => {
    const { type } = await ask('/integracao/SefinNacional/nfse/1', { Accept: PROBLEM });
    assert.equal(type, 'application/json; charset=utf-8');
  });
});

describe('a DANFSe', () => {
  test('is sent once to a client that keeps it, and in parts to one that resumes', async () => {
    const { chave_acesso } = (await emit(address, exampleXml())).body;
    await authorised(address, chave_acesso);
    const path = `/integracao/api/v1/danfse/${chave_acesso}`;
    const whole = await ask(path);
    const tag = whole.headers.get('etag')!;
    assert.match(tag, /^"[^"]+"$/);
    assert.equal(whole.headers.get('accept-ranges'), 'bytes');
    assert.equal((await ask(path, { 'If-None-Match': tag })).status, 304);
    const rest = await ask(path, { Range: 'bytes=5-', 'If-Range': tag });
    assert.deepEqual([rest.status, rest.text], [206, whole.text.slice(5)]);
    assert.equal(rest.headers.get('content-length'), String(rest.text.length));
  });
});

// The answers that a page of another site may read: the public ones, with their refusals, and no other address of the service.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { SPECIFIED_CATALOGS } from './support/catalogos.ts';
import { startTestService } from './support/service.ts';

const { address } = await startTestService({ worker: false });

const PUBLIC_PATHS = ROUTES.filter(({ isPublic }) => isPublic).map(({ path }) => `/integracao${path}`);
const PUBLIC = [...PUBLIC_PATHS, '/openapi.json', '/docs/erros.json', '/docs/arquivos/dps.xml'];
/** Unknown items and filters of existing catalogues. */
const PUBLIC_REFUSALS = [
  '/integracao/api/v1/catalogo/nbs?page=0',
  '/integracao/api/v1/catalogo/motivos_evento?tipo_evento=nenhum',
  '/desconhecido/api/v1/catalogo/nbs',
  '/docs/arquivos/nenhum',
];
const ORIGIN = { Origin: 'https://erp.exemplo' };

const corsOf = ({ headers }: Response): readonly string[] =>
  [...headers].flatMap(([name, value]) => (name.startsWith('access-control-') ? [`${name}: ${value}`] : []));

describe('what is public', () => {
  test('are the catalogues of the specification, at least', () => {
    for (const nome of SPECIFIED_CATALOGS) assert.ok(PUBLIC.includes(`/integracao/api/v1/catalogo/${nome}`), nome);
  });

  for (const path of [...PUBLIC, ...PUBLIC_REFUSALS]) {
    test(`GET ${path} is for a page of any site`, async () => {
      const answer = await fetch(address + path, { headers: ORIGIN });
      await answer.arrayBuffer();
      assert.equal(answer.status >= 400, PUBLIC_REFUSALS.includes(path), String(answer.status));
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.equal(answer.headers.get('access-control-expose-headers'), '*');
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
    });
  }

  for (const path of PUBLIC) {
    test(`OPTIONS ${path} is answered, and the copy of a browser is not sent again`, async () => {
      const asked = {
        ...ORIGIN,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'if-none-match',
      };
      const preflight = await fetch(address + path, { method: 'OPTIONS', headers: asked });
      assert.deepEqual([preflight.status, await preflight.text()], [204, '']);
      assert.deepEqual(corsOf(preflight).toSorted(), [
        'access-control-allow-headers: *',
        'access-control-allow-methods: GET, HEAD',
        'access-control-allow-origin: *',
        'access-control-expose-headers: *',
        'access-control-max-age: 86400',
      ]);
      assert.equal(preflight.headers.get('x-nfse-ambiente'), path.startsWith('/integracao') ? 'homologacao' : null);
      const first = await fetch(address + path, { headers: ORIGIN });
      await first.arrayBuffer();
      const kept = { ...ORIGIN, 'If-None-Match': first.headers.get('etag')! };
      const again = await fetch(address + path, { headers: kept });
      assert.deepEqual([again.status, again.headers.get('access-control-allow-origin')], [304, '*']);
    });
  }

  test('the preflight of an unknown municipality is a refusal', async () => {
    const preflight = await fetch(`${address}/desconhecido/api/v1/catalogo/nbs`, { method: 'OPTIONS' });
    assert.equal(preflight.status, 404);
    assert.equal((await preflight.json()).codigo_erro, 'E601');
  });
});

describe('everything else', () => {
  const others = ROUTES.filter(({ isPublic }) => !isPublic).map(
    ({ path }) => `/integracao${path.replace(/:\w+/g, '1')}`,
  );
  for (const path of new Set([
    ...others,
    '/',
    '/health/live',
    '/docs',
    '/docs/erros',
    '/integracao/soap/nfes',
    '/integracao/api/v1/catalogo/nbs2',
  ])) {
    test(`${path} is for no other site`, async () => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await fetch(address + path, { method, headers: ORIGIN });
        await answer.arrayBuffer();
        assert.deepEqual(corsOf(answer), [], method);
        if (method === 'OPTIONS') assert.ok(answer.status === 405 || answer.status === 404, String(answer.status));
      }
    });
  }
});

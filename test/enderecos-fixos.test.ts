/** Files that machines look for at fixed addresses, and the compression of what programs download. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { createRestDoor } from '../src/doors/rest/door.ts';
import { onEnd } from './support/cleanup.ts';
import { ask, request } from './support/http.ts';
import { freshFolder } from './support/openssl.ts';
import { startTestService, type TestService } from './support/service.ts';
import { toolOr } from './support/tools.ts';

const FILE = toolOr('file', 'file');
const SECURITY = '/.well-known/security.txt';
const CONTACT = 'mailto:seguranca@exemplo.gov.br';
const SITE = 'https://nfse.exemplo.gov.br';
const DAY_MS = 86_400_000;

let service: TestService;
before(async () => {
  service = await startTestService({ worker: false });
});

async function openDoor(baseUrl: string | undefined): Promise<string> {
  const options = { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false };
  const door = await createRestDoor(service.world, { ...options, baseUrl, securityContact: CONTACT });
  onEnd(() => door.close());
  return door.address;
}

describe('security.txt (RFC 9116)', () => {
  test('has the contact of the operator, an end within a year, the language and its address', async () => {
    const { status, headers, body } = await request(await openDoor(SITE), SECURITY);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    const fields = body
      .trimEnd()
      .split('\n')
      .map((line: string) => line.split(': '));
    assert.deepEqual(
      fields.map(([name]: [string]) => name),
      ['Contact', 'Expires', 'Preferred-Languages', 'Canonical'],
    );
    const { Contact, Expires, Canonical, ...rest } = Object.fromEntries(fields);
    assert.deepEqual([Contact, Canonical, rest], [CONTACT, SITE + SECURITY, { 'Preferred-Languages': 'pt-BR' }]);
    assert.match(Expires, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const left = Date.parse(Expires) - service.clock.now;
    assert.ok(left > 30 * DAY_MS && left < 365 * DAY_MS, Expires);
  });

  test('names no address without TLS', async () => {
    assert.doesNotMatch((await request(await openDoor(undefined), SECURITY)).body, /Canonical/);
  });

  test('is not there without a contact, which it must have', async () => {
    const { status, body } = await request(service.address, SECURITY);
    assert.deepEqual([status, body.codigo_erro], [404, 'E601']);
  });
});

test('robots.txt opens the documentation, and closes what programs ask', async () => {
  const { status, headers, body } = await request(service.address, '/robots.txt');
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
  assert.match(body, /^User-agent: \*\n(?:Disallow: \/\S+\n)+$/);
  for (const closed of ['/*/api/', '/*/soap/', '/*/SefinNacional/', '/docs/busca'])
    assert.ok(body.includes(`Disallow: ${closed}\n`), closed);
  // A crawler that may not ask for a note never reads that it is not to be listed.
  assert.doesNotMatch(body, /nota/);
});

test('the favicon is one small icon that its page may show', { skip: FILE === undefined }, async () => {
  const answer = await fetch(`${service.address}/favicon.ico`);
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/vnd.microsoft.icon']);
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.ok(bytes.length < 500);
  const place = path.join(freshFolder(), 'favicon.ico');
  writeFileSync(place, bytes);
  assert.match(execFileSync(FILE!, ['-b', place]).toString(), /icon resource - 1 icon, 16x16/);
  const page = await request(service.address, '/docs');
  assert.match(page.headers.get('content-security-policy')!, /img-src 'self'/);
});

test('the description, the codes and the pages are compressed for those who want it, and for nobody else', async () => {
  const { address } = service;
  for (const asked of [
    '/openapi.json',
    '/docs/erros.json',
    '/docs/erros',
    '/docs/erros/E0014',
    '/docs',
    '/docs/limites',
    '/',
  ]) {
    const plain = await ask(address + asked);
    assert.equal(plain.headers.get('content-encoding'), null, asked);
    for (const refusing of ['gzip;q=0', 'gzip;q=0, *', 'identity', 'br'])
      assert.equal(
        (await ask(address + asked, { headers: { 'Accept-Encoding': refusing } })).headers.get('content-encoding'),
        null,
      );
    for (const wanted of ['gzip', 'gzip;q=0.5', 'br, gzip;q=0.8', '*']) {
      const response = await fetch(address + asked, { headers: { 'Accept-Encoding': wanted } });
      assert.equal(response.headers.get('content-encoding'), 'gzip', `${asked}: ${wanted}`);
      assert.match(response.headers.get('vary') ?? '', /Accept-Encoding/, asked);
      assert.equal(await response.text(), plain.text, asked);
    }
  }
});

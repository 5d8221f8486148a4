/** Answers that an integrator provokes by a header: only in a private sandbox, and a refusal leaves nothing behind. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Answer, request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { readTabelas } from '../../base/pg/tabelas.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const { address, pool } = await startTestService({ worker: false });

async function makeSlug(): Promise<string> {
  const { body } = await request(address, '/integracao/api/v1/ambientes', { method: 'POST' });
  return body.ambiente.municipio;
}

const slug = await makeSlug();
let number = 0;

type Sent = { readonly to?: string; readonly simular?: string; readonly chave?: string; readonly nDPS?: string };

function issue({ to = slug, simular, chave, nDPS = String(++number) }: Sent): Promise<Answer> {
  return request(address, `/${to}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/xml',
      ...(simular === undefined ? {} : { 'X-NFSe-Simular': simular }),
      ...(chave === undefined ? {} : { 'Idempotency-Key': chave }),
    },
    body: exampleXml({ serie: '1', nDPS }),
  });
}

/** Rows of the sandbox in each table, without the requests that its owner is shown. */
async function countRows(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { nome, isOfTenant } of await readTabelas(pool as never)) {
    if (!isOfTenant || nome.startsWith('ensaio')) continue;
    const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${nome} where tenant = $1`, [
      slug,
    ]);
    counts[nome] = rows[0]!.n;
  }
  return counts;
}

describe('a provoked refusal', () => {
  for (const status of [429, 503] as const) {
    test(`of ${status} says when again, writes nothing, and the same request succeeds without the header`, async () => {
      const before = await countRows();
      const sent = { chave: randomUUID(), nDPS: String(++number) };
      const refused = await issue({ ...sent, simular: `api:recusa=${status}` });
      assert.deepEqual([refused.status, refused.body.codigo_erro], [status, 'E703']);
      assert.equal(refused.headers.get('retry-after'), '2');
      assert.match(refused.body.mensagem, /é um ensaio/);
      if (status === 429) assert.match(refused.headers.get('ratelimit')!, /^"ensaio";r=0;t=2, "endereco";r=\d+/);
      assert.deepEqual(await countRows(), before);
      const issued = await issue(sent);
      assert.equal(issued.status, 201, JSON.stringify(issued.body));
      assert.equal(issued.headers.get('x-nfse-repetida'), null);
    });
  }

  test('of a query and of the national door has the form of each', async () => {
    const query = await request(address, `/${slug}/api/v1/catalogo/paises`, {
      headers: { 'X-NFSe-Simular': 'api:recusa=503' },
    });
    assert.deepEqual([query.status, query.body.codigo_erro], [503, 'E703']);
    const body = JSON.stringify({ dpsXmlGZipB64: gzipSync(exampleXml()).toString('base64') });
    const nacional = await request(address, `/${slug}/SefinNacional/nfse`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-NFSe-Simular': 'api:recusa=429' },
      body,
    });
    assert.equal(nacional.status, 429);
    assert.equal(nacional.body.erros[0].Codigo, 'E703');
  });

  test('is shown to the owner among the last requests', async () => {
    const made = (await request(address, '/integracao/api/v1/ambientes', { method: 'POST' })).body;
    const refused = await issue({ to: made.ambiente.municipio, simular: 'api:recusa=429' });
    const { body } = await request(address, `/${made.ambiente.municipio}/api/v1/ambiente/requisicoes`, {
      headers: { Authorization: `Bearer ${made.chave}` },
    });
    assert.equal(body.requisicoes[0].id, refused.headers.get('x-request-id'));
    assert.equal(body.requisicoes[0].status, 429);
  });
});

describe('a provoked answer', () => {
  test('has one remark more, and the note is issued', async () => {
    const { status, body } = await issue({ simular: 'api:aviso' });
    assert.equal(status, 201);
    const [aviso] = body.avisos;
    assert.deepEqual([aviso.codigo, aviso.campo], ['E003', 'X-NFSe-Simular']);
    assert.match(aviso.mensagem, /este aviso é um ensaio/);
  });

  test('says by the fields of RFC 9745 and RFC 8594 that its address will be withdrawn', async () => {
    const { status, headers } = await issue({ simular: 'api:obsoleto' });
    assert.equal(status, 201);
    const [, since] = /^@(\d+)$/.exec(headers.get('deprecation')!)!;
    const sunset = Date.parse(headers.get('sunset')!);
    assert.equal(new Date(sunset).toUTCString(), headers.get('sunset'));
    assert.ok(sunset > Number(since) * 1_000);
    const [, target] = /^<([^>]+)>; rel="deprecation"/.exec(headers.get('link')!)!;
    assert.equal((await fetch(target!)).status, 200);
  });

  test('comes late, after all was done', async () => {
    const { notas } = await countRows();
    let isHeld = true;
    const late = issue({ simular: 'api:demora=5s' }).finally(() => {
      isHeld = false;
    });
    await until(async () => (await countRows())['notas']! > notas! || undefined, 'the note of the late answer');
    assert.ok(isHeld, 'the answer waits');
    assert.equal((await late).status, 201);
  });

  test('is cut: before anything is done, or in place of the answer', async () => {
    const [none, done] = [String(++number), String(++number)];
    const before = await countRows();
    await assert.rejects(issue({ nDPS: none, simular: 'api:queda' }), { code: 'ECONNRESET' });
    assert.deepEqual(await countRows(), before);
    assert.equal((await issue({ nDPS: none })).status, 201);
    const chave = randomUUID();
    await assert.rejects(issue({ nDPS: done, chave, simular: 'api:resposta-perdida' }), { code: 'ECONNRESET' });
    const again = await issue({ nDPS: done, chave });
    assert.deepEqual([again.status, again.headers.get('x-nfse-repetida')], [201, 'true']);
    assert.equal((await issue({ nDPS: done })).body.codigo_erro, 'E0014');
  });

  test('is late only for as many as have a place', async () => {
    const headers = { 'X-NFSe-Simular': 'api:demora=5s' };
    let answered = 0;
    const asked = Array.from({ length: 60 }, async () => {
      const { status } = await request(address, `/${slug}/api/v1/catalogo/paises`, { headers });
      assert.equal(status, 200);
      answered += 1;
    });
    await until(async () => answered >= 10 || undefined, 'the answers without a place');
    assert.equal(answered, 10);
    await Promise.all(asked);
  });
});

test('elsewhere nothing is provoked, and the shared sandbox says so', async () => {
  const { body, status } = await issue({ to: 'integracao', simular: 'api:recusa=429 api:aviso' });
  assert.equal(status, 201);
  assert.deepEqual(body.avisos.filter(({ campo }: { campo?: string }) => campo === 'X-NFSe-Simular').length, 1);
  assert.match(JSON.stringify(body.avisos), /só valem num ambiente próprio/);
  const query = await request(address, '/integracao/api/v1/catalogo/paises', {
    headers: { 'X-NFSe-Simular': 'api:queda api:demora=9s api:obsoleto' },
  });
  assert.deepEqual([query.status, query.headers.get('deprecation')], [200, null]);
});

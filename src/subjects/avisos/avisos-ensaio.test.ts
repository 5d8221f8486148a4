/** Each kind of message on demand: to an address of a private sandbox, signed as the real one, and marked as a rehearsal. */

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { onEnd } from '../../../test/support/cleanup.ts';
import { confirmAvisos } from '../../../test/support/desafio.ts';
import { bindCall, request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { TIPOS_MUDANCA } from '../../fiscal/mudanca.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const { address, clock, pool } = await startTestService();
const PRESTADOR = '11222333000181';

type Received = { readonly headers: IncomingHttpHeaders; readonly text: string };

async function receive(): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk) => (text += chunk));
    incoming.on('end', () => {
      if (confirmAvisos(text, response)) return;
      received.push({ headers: incoming.headers, text });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

/** An address of the provider in a municipality, and the questions of its owner. */
async function register(slug: string, url: string) {
  const call = bindCall(address, `/${slug}/api/v1`);
  const asked = { documento: PRESTADOR, escopos: ['consultar', 'webhooks'] };
  const { token } = (await call('POST', 'token', undefined, asked)).body;
  const { status, body } = await call('POST', 'webhooks', token, { url });
  assert.equal(status, 201, JSON.stringify(body));
  const { id } = body.webhook;
  const rehearse = (tipo: string) => call('POST', `webhooks/${id}/ensaio?tipo=${tipo}`, token);
  return { id, segredo: body.segredo as string, token, call, rehearse };
}

test('each kind is told once, as the real one is, about a note that nobody has', async (t) => {
  t.mock.method(Date, 'now', () => clock.now);
  const slug = (await request(address, '/integracao/api/v1/ambientes', { method: 'POST' })).body.ambiente.municipio;
  const { url, received } = await receive();
  const { id, segredo, token, call, rehearse } = await register(slug, url);
  for (const tipo of TIPOS_MUDANCA) {
    // The clock stands still: several trials have one moment.
    const asked = await rehearse(tipo);
    if (asked.status === 429) {
      clock.now += 61_000;
      assert.equal((await rehearse(tipo)).status, 200);
    } else assert.equal(asked.status, 200, JSON.stringify(asked.body));
  }
  await until(async () => received.length === TIPOS_MUDANCA.length || undefined, 'one message of each kind');
  const verifier = new Webhook(segredo);
  const ids = new Set<string>();
  const told = received.map(({ headers, text }) => {
    const aviso = verifier.verify(text, headers as Record<string, string>) as Record<string, unknown>;
    const data = aviso['data'] as Record<string, unknown>;
    assert.equal(headers['webhook-id'], `${slug}.${data['id']}`);
    assert.deepEqual([data['ensaio'], data['tipo'], data['papeis']], [true, aviso['type'], ['prestador']]);
    ids.add(headers['webhook-id'] as string);
    return aviso['type'];
  });
  assert.deepEqual(told.toSorted(), TIPOS_MUDANCA.toSorted());
  assert.equal(ids.size, TIPOS_MUDANCA.length);

  // The fields are those of a real message, and the note is nobody's.
  const issued = await request(address, `/${slug}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: exampleXml({ 'prest/CNPJ': PRESTADOR }),
  });
  const isReal = ({ text }: Received): boolean => text.includes(issued.body.chave_acesso);
  const real = JSON.parse((await until(async () => received.find(isReal), 'a real message')).text);
  const rehearsed = JSON.parse(received.find(({ text }) => JSON.parse(text).type === real.type)!.text);
  assert.deepEqual(Object.keys(rehearsed.data), [...Object.keys(real.data), 'ensaio']);
  assert.deepEqual(Object.keys(rehearsed), Object.keys(real));
  const chave = rehearsed.data.chave_acesso;
  assert.match(chave, /^\d{50}$/);
  assert.equal((await call('GET', `nfse/${chave}`, undefined)).status, 404);
  const listed = (await call('GET', 'mudancas?limite=1000', token)).body.mudancas;
  assert.ok(listed.every((one: { chave_acesso: string }) => one.chave_acesso === issued.body.chave_acesso));
  assert.equal((await call('GET', `webhooks/${id}/entregas?limite=100`, token)).status, 200);
});

test('a kind that there is not, or another municipality, is refused and nothing is sent', async () => {
  const { url } = await receive();
  const count = async (): Promise<number> =>
    (await pool.query<{ n: number }>('select count(*)::int as n from entregas where mudanca is not null')).rows[0]!.n;
  const shared = await register('integracao', url);
  const before = await count();
  for (const tipo of ['nota.autorizada', 'nota.inventada', "x'; drop"]) {
    const { status, body } = await shared.rehearse(encodeURIComponent(tipo));
    assert.deepEqual([status, body.codigo_erro, body.erros[0].campo], [400, 'E0002', 'tipo'], tipo);
    assert.match(body.mensagem, /só um ambiente próprio/);
  }
  assert.equal(await count(), before);
  assert.equal((await shared.call('POST', `webhooks/${shared.id}/ensaio`, shared.token)).status, 200);
});

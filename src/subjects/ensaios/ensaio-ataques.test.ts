/** Attacks from inside a private sandbox, and by the creation of many: a stranger's means to fill, keep, see or move things. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { ask, request } from '../../../test/support/http.ts';
import { asSandbox } from '../../../test/support/municipio.ts';
import { envelope, porRpsXml, post } from '../../../test/support/rps.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { openBuckets } from '../../base/http/buckets.ts';
import { EXCESS_KEPT, openQuotas } from '../../base/http/quotas.ts';
import { createRestDoor } from '../../doors/rest/door.ts';
import { AMBIENTES, CADASTRO_LIDO_MS } from '../../fiscal/ambiente.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { ENSAIOS_POR_MINUTO } from '../avisos/webhooks.ts';

const A = '11222333000181';
const { address, store, pool, clock, logged, world } = await startTestService();

async function call(method: string, path: string, key?: string, body?: object | string, type = 'application/json') {
  const headers = {
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'Content-Type': type }),
  };
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  return request(address, path, { method, headers, ...sent });
}

async function make(body?: object) {
  const { status, body: made } = await call('POST', '/integracao/api/v1/ambientes', undefined, body);
  assert.equal(status, 201, JSON.stringify(made));
  return { slug: made.ambiente.municipio as string, chave: made.chave as string };
}

/** The page of a kept request; the function waits until the request is written. */
async function pageOf(slug: string, chave: string, id: string): Promise<string> {
  const headers = { Cookie: `ensaio-${slug}=${chave}` };
  const { status, text } = await ask(`${address}/docs/ensaio/${slug}/requisicoes/${id}`, { headers });
  assert.equal(status, 200, text);
  return text;
}

test('the page of a refused request says what came and what was expected', async () => {
  const { slug, chave } = await make();
  const xml = exampleXml({ 'valores/vServPrest/vServ': '1,00' });
  const { body, headers } = await call('POST', `/${slug}/api/v1/nfse/v101`, undefined, xml, 'application/xml');
  const [{ encontrado, esperado }] = body.erros;
  assert.ok(encontrado && esperado, JSON.stringify(body.erros));
  const page = await pageOf(slug, chave, headers.get('x-request-id')!);
  const [, mend = ''] = /<h2>O que mudar<\/h2>(.*?)<\/ol>/s.exec(page) ?? [];
  assert.ok(mend.includes(`Veio <code>${encontrado}</code>`), mend);
  assert.ok(mend.includes(`Esperava-se: ${esperado}`), mend);
});

test('some refusals of too much are kept, and a flood of them is not', async () => {
  const { slug, chave } = await make();
  await pool.query('update municipios set limite_endereco = 1 where tenant = $1', [slug]);
  // Each door counts its own refusals: the other tests cause refusals too.
  const door = await createRestDoor(world, { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false });
  onEnd(() => door.close());
  const init = { method: 'POST', headers: { 'Content-Type': 'application/xml' }, body: exampleXml() };
  const send = () => request(door.address, `/${slug}/api/v1/nfse/v101`, init);
  const refused = await until(async () => {
    const answer = await send();
    return answer.status === 429 ? answer : undefined;
  }, 'the address has sent too much');
  const page = await pageOf(slug, chave, refused.headers.get('x-request-id')!);
  assert.match(page, /Vieram documentos demais/);
  assert.match(page, /Nenhum corpo se guardou/);
  for (let at = 0; at < EXCESS_KEPT + 20; at += 1) assert.equal((await send()).status, 429);
  const text = 'select count(*)::int as rows from ensaio_requisicoes where tenant = $1 and status = 429';
  const countRows = async () => (await pool.query<{ rows: number }>(text, [slug])).rows[0]!.rows;
  await until(async () => (await countRows()) === EXCESS_KEPT || undefined, 'as many are kept as there may be');
});

test('requests to the legacy port are among the last ones, with what was sent and answered', async () => {
  const { slug, chave } = await make();
  const last = async (count: number) =>
    until(async () => {
      const kept = (await call('GET', `/${slug}/api/v1/ambiente/requisicoes`, chave)).body.requisicoes;
      return kept.length === count ? (kept[0] as { id: string; caminho: string }) : undefined;
    }, `${count} are kept`);
  const sent = envelope(porRpsXml(7));
  const answered = await post(address, sent, { tenant: slug });
  const { id } = await last(1);
  const { requisicao } = (await call('GET', `/${slug}/api/v1/ambiente/requisicoes/${id}`, chave)).body;
  assert.equal(requisicao.corpo, sent);
  assert.equal(requisicao.resposta, answered.body);
  assert.deepEqual([requisicao.metodo, requisicao.status], ['POST', answered.status]);
  assert.match(requisicao.tipo, /^text\/xml/);
  assert.match(await pageOf(slug, chave, id), /ConsultarNfseRpsEnvio/);
  await ask(`${address}/${slug}/soap/nfes?wsdl`);
  assert.match((await last(2)).caminho, /\?wsdl$/);
  assert.equal((await post(address, '<not', { tenant: slug })).status, 500);
  await last(3);
});

const mesesNow = async (): Promise<number> => (await pool.query('select 1 from meses')).rowCount!;

describe('a sandbox of one’s own', () => {
  test('keeps no secret that it showed once, and tells none in the log', async () => {
    const { slug, chave } = await make();
    const api = `/${slug}/api/v1`;
    const given = await call('POST', `${api}/token`, undefined, { documento: A, escopos: ['consultar', 'webhooks'] });
    const { token } = given.body;
    const made = await call('POST', `${api}/webhooks`, token, { url: 'http://127.0.0.1:1/' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const other = await call('POST', `${api}/webhooks/${made.body.webhook.id}/segredo`, token);
    assert.match(other.body.segredo, /^whsec_/);
    const kept = await until(async () => {
      const { rows } = await pool.query<{ resposta: string }>(
        'select resposta from ensaio_requisicoes where tenant = $1',
        [slug],
      );
      return rows.length >= 3 ? rows.map(({ resposta }) => resposta).join() : undefined;
    }, 'the requests are kept');
    for (const secret of [token, made.body.segredo, other.body.segredo, chave]) {
      assert.ok(!kept.includes(secret));
      assert.ok(!JSON.stringify(logged).includes(secret));
    }
    // The token is not shown again.
    const shown = await call('GET', `${api}/webhooks/${made.body.webhook.id}`, token);
    assert.doesNotMatch(JSON.stringify(shown.body), /whsec_|segredo"/);
    await call('DELETE', `${api}/webhooks/${made.body.webhook.id}`, token);
  });

  test('keeps its last requests within some megabytes, whatever is sent to it', async () => {
    const { slug, chave } = await make();
    for (let at = 0; at < 120; at += 1) {
      await call(
        'POST',
        `/${slug}/api/v1/nfse/v101`,
        undefined,
        randomBytes(48 * 1024).toString('base64'),
        'application/xml',
      );
    }
    const size = `select count(*)::int as rows, sum(coalesce(octet_length(corpo), 0) + coalesce(octet_length(resposta), 0))::int as bytes
      from ensaio_requisicoes where tenant = $1`;
    const { rows, bytes } = await until(async () => {
      const [row] = (await pool.query<{ rows: number; bytes: number }>(size, [slug])).rows;
      return row!.rows === 120 ? row! : undefined;
    }, 'all are kept');
    assert.equal(rows, 120);
    assert.ok(bytes < 6 * 1024 * 1024, `${bytes} bytes`);
    const { requisicoes } = (await call('GET', `/${slug}/api/v1/ambiente/requisicoes`, chave)).body;
    const own = await call('GET', `/${slug}/api/v1/ambiente/requisicoes/${requisicoes[0].id}`, chave);
    assert.ok(own.body.requisicao.corpo.length > 60_000);
    // The oldest request has lost its body and its answer; its page does not claim that nothing was sent.
    const { id } = requisicoes.at(-1);
    const old = (await call('GET', `/${slug}/api/v1/ambiente/requisicoes/${id}`, chave)).body.requisicao;
    assert.deepEqual([old.corpo, old.corpo_bytes, old.resposta], [null, null, null]);
    const page = await pageOf(slug, chave, id);
    assert.equal(page.match(/Já não se guarda/g)?.length, 2);
    assert.doesNotMatch(page, /Nenhum corpo|longa demais/);
    const asked = await call('GET', `/${slug}/api/v1/dps/x`);
    const of = asked.headers.get('x-request-id')!;
    assert.match(await pageOf(slug, chave, of), /Nenhum corpo/);
    const unread = await call('POST', `/${slug}/api/v1/nfse/v101`, undefined, 'x', 'image/png');
    const seen = await pageOf(slug, chave, unread.headers.get('x-request-id')!);
    assert.match(seen, /antes que se lesse/);
    // Each letter has two bytes after one single byte: the limit falls inside a letter, and the kept text ends before it.
    const long = await call(
      'POST',
      `/${slug}/api/v1/nfse/v101`,
      undefined,
      `x${'é'.repeat(40_000)}`,
      'application/xml',
    );
    const path = `/${slug}/api/v1/ambiente/requisicoes/${long.headers.get('x-request-id')}`;
    const cut = await until(async () => (await call('GET', path, chave)).body.requisicao, 'it is kept');
    assert.deepEqual([cut.corpo, cut.corpo_bytes], [`x${'é'.repeat(32_767)}`, 65_535]);
  });

  test('goes through time within months that can be counted', async () => {
    const before = await mesesNow();
    const { slug, chave } = await make({ relogio: '2026-01-15T12:00:00-03:00' });
    for (const [at, relogio] of [
      undefined,
      '2026-07-10T12:00:00-03:00',
      '2027-03-10T12:00:00-03:00',
      '2027-12-31T23:00:00-03:00',
    ].entries()) {
      if (relogio !== undefined) {
        assert.equal((await call('POST', `/${slug}/api/v1/ambiente/reinicio`, chave, { relogio })).status, 200);
      }
      const day = (relogio ?? '2026-01-15').slice(0, 10);
      const xml = exampleXml({ nDPS: String(at + 1), dCompet: day });
      const { status, body } = await call('POST', `/${slug}/api/v1/nfse/v101`, undefined, xml, 'application/xml');
      assert.equal(status, 201, JSON.stringify(body));
    }
    for (const relogio of ['2028-01-01T00:00:00-03:00', '2099-01-01T00:00:00-03:00', '2025-12-31T23:59:59-03:00']) {
      assert.equal((await call('POST', `/${slug}/api/v1/ambiente/reinicio`, chave, { relogio })).status, 400, relogio);
    }
    assert.equal((await call('PATCH', `/${slug}/api/v1/ambiente`, chave, { avancar: '99999d' })).status, 400);
    assert.ok((await mesesNow()) - before <= 26, 'from the first month of 2026 to the last of the next year');
  });

  test('moves nothing of others by its clock, and its key opens nothing else', async () => {
    const { slug, chave } = await make({ relogio: '2027-06-01T12:00:00-03:00' });
    const other = await make();
    const shown = await call('GET', `/${other.slug}/api/v1/ambiente`, other.chave);
    assert.equal(shown.body.ambiente.adiantado_s, 0);
    for (const where of [`/${other.slug}/api/v1/ambiente`, '/integracao/api/v1/notas', `/${slug}/api/v1/notas`]) {
      assert.equal((await call('GET', where, chave)).status, 401, where);
    }
    const issued = await call('POST', '/integracao/api/v1/nfse/v101', undefined, exampleXml(), 'application/xml');
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    // A token of one sandbox is invalid in the other, and the answer reveals nothing about it.
    const { token } = (await call('POST', `/${slug}/api/v1/token`, undefined, { documento: A })).body;
    for (const tenant of ['integracao', other.slug]) {
      assert.equal((await call('GET', `/${tenant}/api/v1/notas`, token)).status, 401);
    }
  });

  test('holds no more than two places for its changes, and whoever issues has his', async () => {
    const { slug, chave } = await make();
    const began = performance.now();
    const change = async () => {
      const { status } = await call('PATCH', `/${slug}/api/v1/ambiente`, chave, {});
      const answeredMs = performance.now() - began;
      // An accepted change holds its place for this time before its answer.
      return { status, decidedMs: status === 200 ? answeredMs - CADASTRO_LIDO_MS : answeredMs };
    };
    const changes = Array.from({ length: 300 }, change);
    const issued = await call(
      'POST',
      '/integracao/api/v1/nfse/v101',
      undefined,
      exampleXml({ nDPS: '77' }),
      'application/xml',
    );
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    const answers = await Promise.all(changes);
    const counted = [200, 429].map((one) => answers.filter(({ status }) => status === one).length);
    assert.equal(counted[0]! + counted[1]!, 300, counted.join());
    // Two changes succeed when all arrive during the first two; a slow machine frees places meanwhile.
    const lastMs = Math.max(...answers.map(({ decidedMs }) => decidedMs));
    const turns = 1 + Math.floor(lastMs / (CADASTRO_LIDO_MS - 10));
    assert.ok(counted[0]! >= 2 && counted[0]! <= 2 * turns, `${counted} within ${lastMs} ms`);
    assert.equal((await call('PATCH', `/${slug}/api/v1/ambiente`, chave, {})).status, 200);
  });

  test('tries an address so often in a minute and no more', async () => {
    const { slug } = await make();
    const api = `/${slug}/api/v1`;
    const { token } = (await call('POST', `${api}/token`, undefined, { documento: A, escopos: ['webhooks'] })).body;
    const { id } = (await call('POST', `${api}/webhooks`, token, { url: 'http://127.0.0.1:1/' })).body.webhook;
    for (let at = 0; at < ENSAIOS_POR_MINUTO; at += 1) {
      assert.equal((await call('POST', `${api}/webhooks/${id}/ensaio`, token)).status, 200);
      clock.now += 1;
    }
    assert.equal((await call('POST', `${api}/webhooks/${id}/ensaio`, token)).status, 429);
    clock.now += 61_000;
    assert.equal((await call('POST', `${api}/webhooks/${id}/ensaio`, token)).status, 200);
  });
});

test('who makes many sandboxes may send no more to all of them than to one', async () => {
  const quotas = openQuotas(openBuckets(() => 0, 1_000));
  const { endereco } = AMBIENTES.homologacao.limites;
  const of = (tenant: string) => ({ ...asSandbox(tenant), ensaioAte: 1 });
  const sent = async (tenant: string, client: string, count: number) => quotas.of(of(tenant), client).enter(count);
  assert.equal(await sent('ensaio-aaaaaa', '192.0.2.1', endereco - 10), undefined);
  assert.equal((await sent('ensaio-bbbbbb', '192.0.2.1', 11))?.status, 429);
  assert.equal(await sent('ensaio-bbbbbb', '192.0.2.2', 11), undefined);
  // The shared sandbox and the real municipalities have quotas of their own.
  assert.equal(await quotas.of(asSandbox('integracao'), '192.0.2.1').enter(11), undefined);
});

test('tokens and addresses that nobody comes back for go by themselves, in rehearsals alone', async () => {
  const real = 'cidade-real';
  await store.municipios.create({ tenant: real, ambiente: 'producao', codigoIbge: undefined }, clock.now);
  const day = (days: number): string => new Date(clock.now + days * 86_400_000).toISOString();
  for (const tenant of ['integracao', real]) {
    for (const [id, documento, expira] of [
      ['old', '11111111000191', day(-40)],
      ['new', '22222222000191', day(-10)],
    ] as const) {
      await pool.query(
        `insert into tokens (tenant, id, documento, impressao, escopos, criado_em, expira_em, por)
          values ($1, $2::text, $3, sha256(convert_to($2::text, 'UTF8')), '{}', $4, $4, 'ensaio')`,
        [tenant, id, documento, expira],
      );
      await pool.query(
        `insert into webhooks (tenant, id, documento, url, tipos, segredo, criado_em)
          values ($1, $2, $3, 'https://erp.exemplo.com.br/', '{}', '\\x00', $4)`,
        [tenant, id, documento, day(-60)],
      );
      await pool.query(
        `insert into entregas (tenant, webhook, ordem, nota, estado, due_at, criada_em) values ($1, $2, 1, 1, 'morta', now(), now())`,
        [tenant, id],
      );
    }
  }
  while (await store.guarda.forgetRehearsals(clock.now));
  const left = async (table: string, column: string, tenant: string): Promise<readonly string[]> => {
    const text = `select ${column} as id from ${table} where tenant = $1 and ${column} in ('old', 'new') order by 1`;
    return (await pool.query<{ id: string }>(text, [tenant])).rows.map(({ id }) => id);
  };
  for (const [table, column] of [
    ['tokens', 'id'],
    ['webhooks', 'id'],
    ['entregas', 'webhook'],
  ] as const) {
    assert.deepEqual(await left(table, column, 'integracao'), ['new'], table);
    assert.deepEqual(await left(table, column, real), ['new', 'old'], table);
  }
});

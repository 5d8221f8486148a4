/** The limits for an address and a provider, their messages, and the deletion of a rehearsal's data. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Measure, type OwnBuckets, openBuckets } from '../src/base/http/buckets.ts';
import { openQuotas } from '../src/base/http/quotas.ts';
import { createRestDoor } from '../src/doors/rest/door.ts';
import { AMBIENTES, BYTES_POR_DOCUMENTO } from '../src/fiscal/ambiente.ts';
import { DAY_MS } from '../src/fiscal/moment.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import type { Municipio, NovoMunicipio } from '../src/fiscal/settings.ts';
import { onEnd } from './support/cleanup.ts';
import { nfseHere } from './support/cli.ts';
import { monotonicClock } from './support/clock.ts';
import { type Answer, request } from './support/http.ts';
import { call, cancelamentoXml, envelope, loteXml, porProtocolo } from './support/rps.ts';
import { NOON, startTestService, type TestService } from './support/service.ts';
import { untilTrue } from './support/until.ts';

const OTHER = '11444777000161';
/** The time after which changed settings take effect. */
const SETTINGS_MS = 2_000;

let service: TestService;
let address: string;
before(async () => {
  service = await startTestService();
  // The server is behind a proxy, so that a test can use any client address.
  const door = await createRestDoor(service.world, { host: '127.0.0.1', port: 0, trustProxy: true, accessLog: false });
  onEnd(() => door.close());
  address = door.address;
});
after(() => service.stopWorker());

let tenants = 0;
/** A rehearsal for one test, with its own limits. */
async function tenant(settings: Partial<NovoMunicipio>): Promise<string> {
  tenants += 1;
  const slug = `ensaio-${tenants}`;
  const made = { tenant: slug, ambiente: 'homologacao', codigoIbge: '3550308', ...settings } as const;
  assert.ok(await service.store.municipios.create(made, NOON));
  return slug;
}

let numbers = 0;
function dps(patch: Record<string, string> = {}): string {
  numbers += 1;
  return exampleXml({ serie: '1', nDPS: String(numbers), ...patch });
}

type From = { readonly from?: string; readonly headers?: Record<string, string> };

function emit(slug: string, body: string, { from = '192.0.2.1', headers = {} }: From = {}): Promise<Answer> {
  return request(address, `/${slug}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml', 'X-Forwarded-For': from, ...headers },
    body,
  });
}

describe('a limit of an address of the network', () => {
  test('is told with every answer, and refuses what is beyond it until there is room again', async (t) => {
    const clock = monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 3 });
    const first = await emit(slug, dps());
    assert.equal(first.status, 201);
    const policy = '"endereco";q=3;w=86400, "prestador";q=50000;w=86400';
    assert.equal(first.headers.get('ratelimit-policy'), policy);
    assert.equal(first.headers.get('ratelimit'), '"endereco";r=2;t=28800, "prestador";r=49999;t=2');
    // Refused requests count too.
    assert.equal((await emit(slug, dps({ 'prest/CNPJ': '1' }))).status, 422);
    assert.equal((await emit(slug, dps())).status, 201);

    const kept = dps();
    const refused = await emit(slug, kept);
    assert.equal(refused.status, 429);
    assert.equal(refused.body.codigo_erro, 'E703');
    assert.match(
      refused.body.mensagem,
      /deste endereço de rede: o limite é de 3 por dia.*Nada foi feito.*\/docs\/limites/,
    );
    assert.equal(refused.headers.get('retry-after'), '28800');
    assert.equal(refused.headers.get('ratelimit'), '"endereco";r=0;t=86400');
    assert.equal((await emit(slug, dps(), { from: '192.0.2.2' })).status, 201, 'another address');
    clock.passMs(28_799_000);
    assert.equal((await emit(slug, kept)).status, 429);
    clock.passMs(1_000);
    assert.equal((await emit(slug, kept)).status, 201, 'nothing of the refused one was kept');
  });

  test('counts bytes: a long document is as many as it is long', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 10 });
    const long = dps({ 'serv/infoCompl/xInfComp': 'x' }).replace(
      '<xInfComp>',
      `<!--${'x'.repeat(4 * BYTES_POR_DOCUMENTO)}--><xInfComp>`,
    );
    const answer = await emit(slug, long);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.match(answer.headers.get('ratelimit')!, /^"endereco";r=5;/);
    assert.equal((await emit(slug, long)).status, 422, 'the same again');
    assert.equal((await emit(slug, long)).status, 429);
  });

  test('counts a dry run as a tenth of its document, in every step of it, and nothing of it for the provider', async (t) => {
    const clock = monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 1 });
    const validate = (body: string, from = '192.0.2.1'): Promise<Answer> =>
      request(address, `/${slug}/api/v1/nfse/v101/validacao`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml', 'X-Forwarded-For': from },
        body,
      });
    const first = await validate(dps());
    assert.equal(first.status, 200);
    assert.equal(first.headers.get('ratelimit-policy'), '"endereco";q=1;w=86400');
    assert.equal(first.headers.get('ratelimit'), '"endereco";r=0;t=8640');
    assert.equal((await emit(slug, dps())).status, 429);
    for (const broken of ['<DPS', '<DPS/>', dps({ 'prest/CNPJ': '1' }), dps(), dps(), dps(), dps(), dps()])
      assert.notEqual((await validate(broken)).status, 429);
    // Nine tenths may be slightly more in floating point.
    clock.passMs(1);
    assert.equal((await validate(dps())).status, 200);
    const beyond = await validate(dps());
    assert.equal(beyond.status, 429);
    assert.match(
      beyond.body.mensagem,
      /deste endereço de rede: o limite é de 1 por dia.*validação sem emitir como um décimo/,
    );
    assert.equal(beyond.headers.get('retry-after'), '8640');
    assert.equal((await validate(dps(), '192.0.2.2')).status, 200, 'another address');
    clock.passMs(8_640_000);
    assert.equal((await validate(dps())).status, 200);
    const long = dps({ 'serv/infoCompl/xInfComp': 'x' }).replace(
      '<xInfComp>',
      `<!--${'x'.repeat(4 * BYTES_POR_DOCUMENTO)}--><xInfComp>`,
    );
    clock.passMs(86_400_000);
    assert.equal((await validate(long)).headers.get('ratelimit'), '"endereco";r=0;t=43200');
  });

  test('counts a network of IPv6 as one, and events as notes; queries it does not count', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 2 });
    const from = '2001:db8:1:2::1';
    const issued = await emit(slug, dps(), { from });
    const event = (client: string): Promise<Answer> =>
      request(address, `/${slug}/api/v1/nfse/${issued.body.chave_acesso}/eventos`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': client },
        body: '{"tipo_evento":"rejeicao_tomador","codigo_motivo_rejeicao":"3"}',
      });
    assert.equal((await event('2001:0db8:0001:0002:ffff::9')).status, 201);
    assert.equal((await event('2001:db8:1:2::77')).status, 429);
    assert.equal((await event('2001:db8:1:3::77')).status, 201, 'another network');
    for (let count = 0; count < 5; count += 1) {
      const found = await request(address, `/${slug}/api/v1/nfse/${issued.body.chave_acesso}`, {
        headers: { 'X-Forwarded-For': from },
      });
      assert.equal(found.status, 200);
      assert.equal(found.headers.get('ratelimit'), null);
    }
  });

  test('counts a site of IPv6 as sixteen networks, however many it moves through', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 2 });
    const from = (site: string, network: number): string => `2001:db8:${site}:${network.toString(16)}::1`;
    const first = await emit(slug, dps(), { from: from('5', 0) });
    assert.match(first.headers.get('ratelimit-policy')!, /^"endereco";q=2;w=86400, "rede";q=32;w=86400, /);
    for (let network = 1; network < 32; network += 1)
      assert.equal((await emit(slug, dps(), { from: from('5', network) })).status, 201);
    const beyond = await emit(slug, dps(), { from: from('5', 0xffff) });
    assert.equal(beyond.status, 429);
    assert.match(beyond.body.mensagem, /deste bloco de endereços IPv6 \(\/48\): o limite é de 32 por dia/);
    assert.equal((await emit(slug, dps(), { from: from('6', 0) })).status, 201, 'another site');
  });

  test('is not spent for its site by a network that has nothing left', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 1 });
    const from = '2001:db8:7::1';
    assert.equal((await emit(slug, dps(), { from })).status, 201);
    for (let count = 0; count < 20; count += 1) assert.equal((await emit(slug, dps(), { from })).status, 429);
    assert.equal((await emit(slug, dps(), { from: '2001:db8:7:1::1' })).status, 201);
  });

  test('is one however IPv4 is written', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 2 });
    for (const [from, status] of [
      ['1.2.3.4', 201],
      ['::ffff:102:304', 201],
      ['::FFFF:1.2.3.4', 429],
      ['0:0:0:0:0:ffff:0102:0304', 429],
      ['0000::ffff:1.2.3.4', 429],
      // Some proxies write the port, and a proxy may stand behind another one.
      ['1.2.3.4:4711', 429],
      ['[::ffff:102:304]:443', 429],
      ['[::ffff:102:304]', 429],
      ['1.2.3.5, 1.2.3.4', 429],
      ['1.2.3.5', 201],
    ] as const)
      assert.equal((await emit(slug, dps(), { from })).status, status, from);
  });

  test('is none where the municipality says so', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 0, limitePrestador: 0 });
    const answer = await emit(slug, dps());
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('ratelimit'), null);
  });
});

describe('a limit of a provider', () => {
  test('is the same from wherever it is asked, and takes nothing from another', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limitePrestador: 2 });
    for (const from of ['192.0.2.11', '192.0.2.12']) assert.equal((await emit(slug, dps(), { from })).status, 201);
    const refused = await emit(slug, dps(), { from: '192.0.2.13' });
    assert.equal(refused.status, 429);
    assert.match(refused.body.mensagem, /deste prestador: o limite é de 2 por dia/);
    assert.match(refused.headers.get('ratelimit')!, /^"prestador";r=0;t=86400, "endereco";/);
    const other = { 'prest/CNPJ': OTHER };
    assert.equal((await emit(slug, dps(other), { from: '192.0.2.13' })).status, 201);
  });

  test('does not take back a repetition under a key, which does nothing', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limitePrestador: 1 });
    const [body, headers] = [dps(), { 'Idempotency-Key': 'a' }];
    const first = await emit(slug, body, { headers });
    const again = await emit(slug, body, { headers });
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.headers.get('x-nfse-repetida'), 'true');
    assert.equal((await emit(slug, dps(), { headers: { 'Idempotency-Key': 'b' } })).status, 429);
  });

  test('is not spent by who only names the provider, where documents are signed', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ ambiente: 'producao', limitePrestador: 1 });
    for (let count = 0; count < 3; count += 1) {
      const refused = await emit(slug, dps({ tpAmb: '1' }));
      assert.equal(refused.status, 422);
      assert.equal(refused.body.erros[0].codigo, 'E901');
      assert.equal(refused.headers.get('ratelimit-policy'), '"endereco";q=240000;w=60');
    }
  });
});

describe('the legacy port', () => {
  const rps = (count: number) => Array.from({ length: count }, (_, place) => ({ numero: 100 + place }));

  test('counts each RPS of a lot, and answers 429 with the time; a query is not counted', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limitePrestador: 60 });
    const first = await call(address, 'RecepcionarLoteRps', loteXml(rps(50)), slug);
    assert.match(first.documento, /<Protocolo>/, first.body);
    const second = loteXml(
      rps(50).map(({ numero }) => ({ numero: numero + 50 })),
      { numero: '2' },
    );
    const asked = `<n:RecepcionarLoteRps xmlns:n="urn:x"><parameters><![CDATA[${second}]]></parameters></n:RecepcionarLoteRps>`;
    const answer = await fetch(`${address}/${slug}/soap/nfes`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/xml' },
      body: envelope(asked),
    });
    assert.equal(answer.status, 429);
    assert.equal(answer.headers.get('retry-after'), String((40 * 86_400) / 60));
    assert.match(await answer.text(), /documentos demais deste prestador.*envie de novo em 57600 segundos/);
    const protocolo = /<Protocolo>(\d+)</.exec(first.documento)![1]!;
    const query = await call(
      address,
      'ConsultarSituacaoLoteRps',
      porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo),
      slug,
    );
    assert.equal(query.status, 200);
  });

  /** Sends from an address, and returns its remaining allowance. */
  async function sent(slug: string, inside: string, from = '192.0.2.9') {
    const answer = await fetch(`${address}/${slug}/soap/nfes`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/xml', 'X-Forwarded-For': from },
      body: inside,
    });
    const left = /"endereco";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1];
    return { status: answer.status, left: Number(left), body: await answer.text() };
  }
  const asking = (operacao: string, documento: string): string =>
    envelope(`<n:${operacao} xmlns:n="urn:x"><parameters><![CDATA[${documento}]]></parameters></n:${operacao}>`);

  test('counts for its address what nobody signed, before the signatures are looked at, and nothing for the provider', async (t) => {
    monotonicClock(t);
    const settings = { limiteEndereco: 100, limitePrestador: 1, codigoIbge: '3509502' } as const;
    const slug = await tenant({ ambiente: 'producao', ...settings });
    const lot = asking('RecepcionarLoteRps', loteXml(rps(40)));
    for (const left of [60, 20]) {
      const refused = await sent(slug, lot);
      assert.match(refused.body, /O documento não está assinado/);
      assert.equal(refused.left, left);
    }
    const beyond = await sent(slug, lot);
    assert.equal(beyond.status, 429);
    assert.match(beyond.body, /documentos demais deste endereço de rede/);
    const cancelled = await sent(slug, asking('CancelarNfse', cancelamentoXml('1')));
    assert.match(cancelled.body, /O documento não está assinado/);
    assert.equal(cancelled.left, beyond.left - 1);
  });

  test('says when a lot that was too much is taken, counting that it is read again', async (t) => {
    const clock = monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 60 });
    const lots = ['1', '2'].map((numero) => asking('RecepcionarLoteRps', loteXml(rps(50), { numero })));
    assert.match((await sent(slug, lots[0]!)).body, /Protocolo/);
    const beyond = await sent(slug, lots[1]!);
    assert.equal(beyond.status, 429);
    clock.passMs(Number(/em (\d+) segundos/.exec(beyond.body)![1]) * 1_000);
    assert.match((await sent(slug, lots[1]!)).body, /Protocolo/);
  });

  test('counts what is no document of the model, and what is too long for a question before it is read', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 12 });
    assert.equal((await sent(slug, '<x')).left, 11);
    assert.equal((await sent(slug, asking('Outra', '<x/>'))).left, 10);
    assert.equal((await sent(slug, asking('RecepcionarLoteRps', '<x/>'))).left, 9);
    const long = `<${'x'.repeat(5 * BYTES_POR_DOCUMENTO - 1)}`;
    assert.equal((await sent(slug, long)).left, 4);
    assert.equal((await sent(slug, long)).status, 429);
    const query = asking('ConsultarSituacaoLoteRps', porProtocolo('ConsultarSituacaoLoteRpsEnvio', '1'));
    for (let count = 0; count < 6; count += 1) assert.equal((await sent(slug, query)).left, 4);
  });

  test('takes a lot that is larger than the limit of its address when all of it is there', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 10 });
    const lot = await sent(slug, asking('RecepcionarLoteRps', loteXml(rps(30))));
    assert.match(lot.body, /Protocolo/);
    assert.equal(lot.left, 0);
  });

  test('lets lots of fifty of a large ERP pass in production, as fast as they come', async () => {
    const producao = { tenant: 'p', ambiente: 'producao' } as Municipio;
    const quotas = openQuotas(openBuckets(() => 0, 50_000));
    // One address sends a thousand lots of forty providers at the same moment.
    for (let lot = 0; lot < 1_000; lot += 1) {
      const quota = quotas.of(producao, '192.0.2.1');
      quota.measure(400_000);
      assert.equal(await quota.enter(50), undefined, `lot ${lot}`);
      assert.equal(await quota.take(String(11_222_333_000_100 + (lot % 40)), 50), undefined, `lot ${lot}`);
    }
  });
});

/** The milliseconds until there would be enough; 0: it was taken. */
function take(buckets: OwnBuckets, key: string, measure: Measure, cost: number): number {
  return buckets.take([{ key, measure, cost }])?.waitMs ?? 0;
}

describe('the buckets', () => {
  test('take all or nothing, fill up again, and forget whom they have not seen for longest', () => {
    let now = 0;
    const buckets = openBuckets(() => now, 2);
    const measure = { size: 10, refillMs: 1_000 };
    assert.equal(take(buckets, 'a', measure, 8), 0);
    assert.equal(take(buckets, 'a', measure, 4), 200);
    assert.equal(buckets.left('a', measure), 2);
    now += 200;
    assert.equal(take(buckets, 'a', measure, 4), 0);
    now += 10_000;
    assert.equal(buckets.left('a', measure), 10);
    take(buckets, 'b', measure, 10);
    take(buckets, 'a', measure, 1);
    take(buckets, 'c', measure, 1);
    assert.equal(buckets.size, 2);
    assert.equal(buckets.left('b', measure), 10, 'forgotten');
    assert.equal(buckets.left('a', measure), 9);
  });

  test('keep what was used when a measure changes: raised releases at once, lowered holds back what is above it', () => {
    let now = 0;
    const buckets = openBuckets(() => now, 2);
    const of = (size: number) => ({ size, refillMs: 1_000 });
    assert.equal(take(buckets, 'a', of(5), 5), 0);
    assert.equal(take(buckets, 'a', of(5), 1), 200);
    assert.equal(buckets.left('a', of(10_000)), 9_995);
    assert.equal(take(buckets, 'a', of(10_000), 95), 0);
    now += 1;
    assert.equal(buckets.left('a', of(10_000)), 9_910, 'refilled at the new rate');
    assert.equal(buckets.left('a', of(100)), 10);
    assert.equal(buckets.left('a', of(20)), 0, 'more was used than it is now');
    now += 1_000;
    assert.equal(buckets.left('a', of(20)), 20);
    assert.equal(buckets.left('a', of(8)), 8);
  });

  test('hold no text that is no document', async () => {
    const sandbox = { tenant: 's', ambiente: 'homologacao' } as Municipio;
    const quota = openQuotas(openBuckets(() => 0, 50_000)).of(sandbox, '192.0.2.1');
    assert.equal(await quota.take('x'.repeat(100_000)), undefined);
    assert.doesNotMatch(JSON.stringify(quota.headers()), /prestador/);
  });
});

describe('what nobody signed leaves little behind', () => {
  test('refusals kept for a repetition have an end, and are made again beyond it', async (t) => {
    monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 1_000_000 });
    const { recusas } = AMBIENTES.homologacao.limites;
    const body = dps({ 'valores/vServPrest/vServ': '0.00' });
    for (let count = 0; count < recusas! + 5; count += 1) {
      const { status } = await emit(slug, body, { headers: { 'Idempotency-Key': `chave ${count}` } });
      assert.equal(status, 422);
    }
    const { rows } = await service.pool.query('select count(*)::int as n from idempotencia where tenant = $1', [slug]);
    assert.equal(rows[0].n, recusas);
  });

  test('a document with padding around its root is refused, in every shape of it', async () => {
    const slug = await tenant({});
    const pad = 'x'.repeat(5_000);
    const plain = dps();
    const [head, rest] = /^(<\?xml[^>]*\?>)?([\s\S]*)$/.exec(plain)!.slice(1) as [string | undefined, string];
    for (const padded of [
      `${head ?? ''}<!--${pad}-->${rest}`,
      `${head ?? ''}<?p ${pad}?>${rest}`,
      `${head ?? ''}${' '.repeat(5_000)}${rest}`,
      `${plain}<!--${pad}-->`,
      `${plain}\n<?p ${pad}?>\n<!--x-->`,
    ]) {
      const { status, body } = await emit(slug, padded);
      assert.equal(status, 422);
      assert.equal(body.codigo_erro, 'E201');
      assert.match(body.mensagem, /^XML não aceito: há mais de 4096 caracteres fora do elemento raiz.*retire-os\.$/);
    }
    const little = `${head ?? ''}<!-- ERP 4.2 -->${rest}\n<!-- fim -->\n`;
    assert.equal((await emit(slug, little)).status, 201);
  });
});

describe('the end of a rehearsal', () => {
  const TABLES = [
    ...['notas', 'documentos', 'trilha_notas', 'identidades', 'eventos', 'documentos_eventos', 'trilha_eventos'],
  ];
  const LOTES = ['lotes', 'documentos_lotes', 'lotes_rps'];
  const counts = async (slug: string, tables: readonly string[]): Promise<readonly number[]> => {
    const found = await Promise.all(
      tables.map((table) => service.pool.query(`select count(*)::int as n from ${table} where tenant = $1`, [slug])),
    );
    return found.map(({ rows }) => rows[0].n);
  };
  /** A note with an event, and a lot of two notes. */
  async function rehearse(slug: string): Promise<string> {
    const { body } = await emit(slug, dps());
    const event = await request(address, `/${slug}/api/v1/nfse/${body.chave_acesso}/eventos`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"tipo_evento":"rejeicao_tomador","codigo_motivo_rejeicao":"3"}',
    });
    assert.equal(event.status, 201, JSON.stringify(event.body));
    const lot = await call(address, 'RecepcionarLoteRps', loteXml([{ numero: 1 }, { numero: 2 }]), slug);
    assert.match(lot.documento, /<Protocolo>/, lot.body);
    let settled = 0;
    await untilTrue(() => {
      void service.pool
        .query(
          `select count(*)::int as n from notas n where n.tenant = $1 and not exists (select 1 from fila f
            where f.tenant = n.tenant and f.tipo = 'nota' and f.id = n.id)`,
          [slug],
        )
        .then(({ rows }) => (settled = rows[0].n));
      return settled === 3;
    }, 'all is authorised');
    return body.chave_acesso;
  }
  const forget = async (now: number): Promise<void> => {
    while (await service.store.guarda.forgetRehearsals(now));
  };

  test('comes after its days, takes all of it, and leaves the numbers', async () => {
    const slug = await tenant({});
    const chave = await rehearse(slug);
    await forget(NOON + 30 * DAY_MS);
    assert.ok(
      (await counts(slug, [...TABLES, ...LOTES])).every((count) => count > 0),
      'on its last day all is there',
    );
    await forget(NOON + 30 * DAY_MS + 60_000);
    assert.deepEqual(await counts(slug, [...TABLES, ...LOTES, 'prestadores']), Array(11).fill(0));
    const gone = await request(address, `/${slug}/api/v1/nfse/${chave}`);
    assert.equal(gone.status, 404);
    const next = await emit(slug, dps());
    assert.equal(next.status, 201);
    assert.equal(next.body.chave_acesso.slice(23, 36), '0000000000004', 'no number comes twice');
  });

  test('is the municipality’s to set, to nothing too; and in production nothing is ever deleted', async () => {
    const [week, ever, producao] = [
      await tenant({ guardaDias: 7 }),
      await tenant({ guardaDias: 0 }),
      await tenant({ ambiente: 'homologacao', guardaDias: 7 }),
    ];
    for (const slug of [week, ever, producao]) await rehearse(slug);
    // The municipality looks as if its notes had been issued in production.
    await service.pool.query(`update municipios set ambiente = 'producao' where tenant = $1`, [producao]);
    await forget(NOON + 7 * DAY_MS + 60_000);
    assert.deepEqual(await counts(week, TABLES), Array(7).fill(0));
    await forget(NOON + 36_500 * DAY_MS);
    for (const slug of [ever, producao])
      assert.ok(
        (await counts(slug, [...TABLES, ...LOTES])).every((count) => count > 0),
        slug,
      );
  });

  test('leaves the providers that the operator registered', async () => {
    const slug = await tenant({});
    await emit(slug, dps());
    await service.pool.query(`update prestadores set origem = 'cadastro' where tenant = $1`, [slug]);
    await forget(NOON + 31 * DAY_MS);
    assert.deepEqual(await counts(slug, ['prestadores', 'notas']), [1, 0]);
  });
});

describe('nfse municipio', () => {
  const nfse = (...args: readonly string[]) => nfseHere(['municipio', ...args], service.pool);

  test('sets limits and days, shows them, and takes them back', async () => {
    const slug = await tenant({});
    assert.match((await nfse('mostrar', slug)).out, /por endereço +10\.000 documentos por dia, como no ambiente/);
    const set = await nfse(
      'alterar',
      slug,
      '--limite-endereco',
      '500',
      '--limite-prestador',
      '0',
      '--guarda-dias',
      '7',
    );
    assert.equal(set.code, 0, set.err);
    assert.match(set.out, /10\.000 documentos por dia, como no ambiente → 500 documentos por dia/);
    const { out } = await nfse('mostrar', slug);
    assert.match(out, /por prestador +nenhum/);
    assert.match(out, /guarda +7 dias/);
    await nfse('alterar', slug, '--sem-limite-endereco', '--sem-limite-prestador', '--sem-guarda-dias');
    assert.match((await nfse('mostrar', slug)).out, /guarda +30 dias, como no ambiente/);
  });

  test('raising a limit releases at once whom it had refused, and what was used stays used', async (t) => {
    const clock = monotonicClock(t);
    const slug = await tenant({ limiteEndereco: 3, limitePrestador: 2 });
    const left = async (): Promise<string> => {
      const { status, headers } = await emit(slug, dps());
      return `${status} ${headers.get('ratelimit')?.replaceAll(/;t=\d+/g, '')}`;
    };
    assert.equal(await left(), '201 "endereco";r=2, "prestador";r=1');
    assert.equal(await left(), '201 "endereco";r=1, "prestador";r=0');
    assert.equal(await left(), '429 "prestador";r=0, "endereco";r=0', 'what refused comes first');
    assert.equal((await nfse('alterar', slug, '--sem-limite-endereco', '--sem-limite-prestador')).code, 0);
    clock.passMs(SETTINGS_MS);
    assert.equal(await left(), '201 "endereco";r=9996, "prestador";r=49998', 'in two seconds one came back');
    assert.equal((await nfse('alterar', slug, '--limite-endereco', '6', '--limite-prestador', '9')).code, 0);
    clock.passMs(SETTINGS_MS);
    assert.equal(await left(), '201 "endereco";r=1, "prestador";r=6');
  });

  test('says what a number must be', async () => {
    const slug = await tenant({});
    for (const [args, problem] of [
      [['--limite-endereco', 'muitos'], /--limite-endereco pede um número inteiro/],
      [['--limite-prestador', '-1'], /limite-prestador/],
      [['--guarda-dias', '3'], /--guarda-dias pede 0, que guarda sempre, ou de 4 a 36500/],
    ] as const) {
      const { code, err } = await nfse('alterar', slug, ...args);
      assert.notEqual(code, 0);
      assert.match(err, problem);
    }
  });
});

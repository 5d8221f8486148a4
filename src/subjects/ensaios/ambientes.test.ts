/** A private sandbox: anybody makes one, the holder of its key manages it, and its clock follows the owner's settings. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { addAmbientes } from '../../../test/support/ambientes.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { confirmAvisos } from '../../../test/support/desafio.ts';
import { request } from '../../../test/support/http.ts';
import { movedBy } from '../../../test/support/moments.ts';
import { startTestService } from '../../../test/support/service.ts';
import { unlessStoodStill } from '../../../test/support/standstill.ts';
import { until } from '../../../test/support/until.ts';
import { readTabelas } from '../../base/pg/tabelas.ts';
import { ENSAIO_DIAS } from '../../base/world/relogio.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { ENSAIOS_DA_REDE } from './ambientes.ts';

const { address, store, pool, clock, logged } = await startTestService();

async function call(method: string, path: string, chave?: string, body?: object | string, type = 'application/json') {
  const headers = {
    ...(chave === undefined ? {} : { Authorization: `Bearer ${chave}` }),
    ...(body === undefined ? {} : { 'Content-Type': type }),
  };
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  return request(address, path, { method, headers, ...sent });
}

async function make(body?: object) {
  const made = await call('POST', '/integracao/api/v1/ambientes', undefined, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { ambiente, chave } = made.body;
  return { slug: ambiente.municipio as string, chave: chave as string, ambiente };
}

const issue = (slug: string, xml = exampleXml()) =>
  call('POST', `/${slug}/api/v1/nfse/v101`, undefined, xml, 'application/xml');

/** Rows that a tenant has in any table. */
async function rowsOf(tenant: string): Promise<number> {
  let rows = 0;
  for (const { nome, isOfTenant } of await readTabelas(pool as never)) {
    if (!isOfTenant) continue;
    const found = await pool.query<{ n: number }>(`select count(*)::int as n from ${nome} where tenant = $1`, [tenant]);
    rows += found.rows[0]!.n;
  }
  return rows;
}

describe('a sandbox of one’s own', () => {
  test('that is there no more, or never was, is said to be one', async () => {
    const { status, body } = await issue('ensaio-zzzzzz');
    assert.deepEqual([status, body.codigo_erro], [404, 'E601']);
    assert.match(body.mensagem, /Um ambiente só seu some depois de 30 dias.*POST \/integracao\/api\/v1\/ambientes/);
    const other = await issue('outro-lugar');
    assert.doesNotMatch(other.body.mensagem, /ambiente só seu/);
  });

  test('says to who lists without a token where one is had, and nothing of how the service is set up', async () => {
    const { slug } = await make();
    const { status, body } = await call('GET', `/${slug}/api/v1/notas`);
    assert.deepEqual([status, body.codigo_erro], [401, 'E9007']);
    assert.match(body.mensagem, new RegExp(`peça um com POST /${slug}/api/v1/token`));
    assert.doesNotMatch(body.mensagem, /prefeitura/);
  });

  test('is shown with the address of this service in the command of its page', async () => {
    const page = await (await fetch(`${address}/docs/ensaio`)).text();
    assert.ok(page.includes(`curl -X POST ${address}/integracao/api/v1/ambientes`));
  });

  test('is made by one request without a body, and is as any other to who issues in it', async () => {
    const { slug, ambiente } = await make();
    assert.match(slug, /^ensaio-[a-z0-9]{6}$/);
    assert.equal(Date.parse(ambiente.expira_em) - Date.parse(ambiente.criado_em), ENSAIO_DIAS * DAY_MS);
    const issued = await issue(slug);
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    await unlessStoodStill(async () => {
      const { body } = await call('GET', `/${slug}/api/v1/nfse/${issued.body.chave_acesso}?espera=50`);
      assert.equal(body.nota.status, 'autorizada');
    });
    assert.equal((await call('GET', `/integracao/api/v1/nfse/${issued.body.chave_acesso}`)).status, 404);
  });

  test('is its owner’s alone', async () => {
    const [own, other] = [await make({ nome: 'ERP' }), await make()];
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { avancar: '1d' }],
      ['POST', '/reinicio', {}],
      ['GET', '/requisicoes'],
      ['GET', '/requisicoes/7c9e6679-7425-40de-944b-e07fc1f90ae7'],
      ['DELETE', ''],
    ] as const) {
      const where = `/${own.slug}/api/v1/ambiente${path}`;
      for (const key of [undefined, other.chave, 'ensaio_errada']) {
        const { status } = await call(method, where, key, body);
        assert.equal(status, 401, `${method} ${where} ${key}`);
      }
      assert.equal((await call(method, `/integracao/api/v1/ambiente${path}`, own.chave, body)).status, 404);
    }
    const shown = await call('GET', `/${own.slug}/api/v1/ambiente`, own.chave);
    assert.deepEqual([shown.status, shown.body.ambiente.nome], [200, 'ERP']);
    assert.equal((await call('POST', `/${own.slug}/api/v1/ambientes`, own.chave, {})).status, 404);
    assert.ok(
      !(await store.municipios.list()).some(({ tenant }) => tenant === own.slug),
      'the operator sees it in no list',
    );
    const lines = JSON.stringify(logged);
    assert.ok(lines.includes(own.slug) && !lines.includes('ensaio_'), 'no line of the log has a key');
  });

  test('tells addresses at the hour of the machine, by which its receivers judge, whatever its own clock says', async () => {
    const { slug, chave } = await make();
    const moments: number[] = [];
    const receiver = createServer((incoming, answer) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      incoming.on('end', () => {
        moments.push(Number(incoming.headers['webhook-timestamp']));
        if (!confirmAvisos(text, answer)) answer.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    onEnd(() => void receiver.close());
    await call('PATCH', `/${slug}/api/v1/ambiente`, chave, { avancar: '40d' });
    const asked = { documento: '11222333000181', escopos: ['webhooks'] };
    const { body } = await call('POST', `/${slug}/api/v1/token`, undefined, asked);
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const registered = await call('POST', `/${slug}/api/v1/webhooks`, body.token, { url });
    await call('POST', `/${slug}/api/v1/webhooks/${registered.body.webhook.id}/ensaio`, body.token);
    await until(async () => moments[1], 'the address is asked, and told');
    assert.deepEqual(
      moments,
      [clock.now, clock.now].map((now) => Math.floor(now / 1000)),
    );
  });

  test('goes from the last minutes of 2026 into 2027, with what waits in it', async () => {
    const { slug, chave } = await make({ relogio: '2026-12-31T23:50:00-03:00' });
    const old = await issue(slug, exampleXml({ dCompet: '2026-12-31' }));
    assert.equal(old.status, 201, JSON.stringify(old.body));
    assert.equal(old.body.chave_acesso.slice(36, 40), '2612');
    assert.match(old.body.xml_nfse, /<dhProc>2026-12-31T23:5\d/);
    // An answer that the local authority delays by a day arrives after a day of this sandbox's clock.
    const slow = await request(address, `/${slug}/api/v1/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml', 'X-NFSe-Simular': 'adn:atraso=12h' },
      body: exampleXml({ nDPS: '10' }),
    });
    assert.equal(slow.status, 201, JSON.stringify(slow.body));
    const moved = await call('PATCH', `/${slug}/api/v1/ambiente`, chave, { avancar: '1d' });
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    assert.match(moved.body.ambiente.relogio, /^2027-01-01T23:5/);
    const fresh = await issue(slug, exampleXml({ nDPS: '11', dCompet: '2027-01-01' }));
    assert.equal(fresh.status, 201, JSON.stringify(fresh.body));
    assert.equal(fresh.body.chave_acesso.slice(36, 40), '2701');
    for (const { chave_acesso } of [old.body, slow.body]) {
      await until(async () => {
        const { body } = await call('GET', `/${slug}/api/v1/nfse/${chave_acesso}`);
        return body.nota.status === 'autorizada' || undefined;
      }, `${chave_acesso} is authorised`);
    }
    // No rate of 2027 is published yet: the note waits for it, as in production.
    const held = await call('GET', `/${slug}/api/v1/nfse/${fresh.body.chave_acesso}`);
    assert.match(held.body.protocolo.mensagem_retorno, /alíquota/);
    const back = await call('PATCH', `/${slug}/api/v1/ambiente`, chave, { relogio: '2026-12-01T00:00:00-03:00' });
    assert.deepEqual([back.status, back.body.campo], [400, 'relogio']);
    const far = await call('PATCH', `/${slug}/api/v1/ambiente`, chave, { avancar: '9999d' });
    assert.equal(far.status, 400);
    // The shared sandbox has kept its time.
    const shared = await issue('integracao', exampleXml({ nDPS: '12' }));
    assert.equal(shared.body.chave_acesso.slice(36, 40), '2611');
  });

  test('has registers and a rigour of its own', async () => {
    const { slug, chave } = await make({ exige_numero: true });
    assert.equal((await issue(slug)).status, 422);
    assert.equal((await issue(slug, exampleXml({ nDPS: '1' }))).status, 201);
    const csv = `documento,inscricao_municipal,razao_social,autorizado,logradouro,numero,bairro,cep\n88888888000191,123,Outra Ltda,nao,Rua A,1,Centro,01001000\n`;
    const filled = await call('POST', `/${slug}/api/v1/ambiente/cadastros/prestadores`, chave, csv, 'text/csv');
    assert.equal(filled.status, 200, JSON.stringify(filled.body));
    assert.equal(filled.body.contas[0].novos, 1);
    await call('PATCH', `/${slug}/api/v1/ambiente`, chave, { exige_cadastro: true, exige_numero: false });
    assert.deepEqual((await issue(slug, exampleXml({ 'prest/CNPJ': '12121212000106' }))).body.codigo_erro, 'E101');
    const refused = await issue(slug, exampleXml({ nDPS: '2', 'prest/CNPJ': '88888888000191' }));
    assert.deepEqual([refused.status, refused.body.codigo_erro], [403, 'E102'], JSON.stringify(refused.body));
    assert.equal((await issue('integracao', exampleXml({ nDPS: '13', 'prest/CNPJ': '88888888000191' }))).status, 201);
    const unknown = await call('POST', `/${slug}/api/v1/ambiente/cadastros/clientes`, chave, csv, 'text/csv');
    assert.deepEqual([unknown.status, unknown.body.campo], [404, 'cadastro']);
    const bad = await call(
      'POST',
      `/${slug}/api/v1/ambiente/cadastros/prestadores`,
      chave,
      csv.replace('88888888000191', '1'),
      'text/csv',
    );
    assert.deepEqual([bad.status, bad.body.codigo_erro], [422, 'E003'], JSON.stringify(bad.body));
    assert.deepEqual([bad.body.erros.length, bad.body.erros[0].linha], [1, 2]);
    assert.deepEqual(bad.body.detalhes, { linhas: 1, recusadas: 1, gravadas: 0 });
    for (const [aliquota_padrao, shown] of [['3.50', '3.50'] as const, [null, null] as const]) {
      const { body } = await call('PATCH', `/${slug}/api/v1/ambiente`, chave, { aliquota_padrao });
      assert.equal(body.ambiente.aliquota_padrao, shown);
    }
  });

  test('has rates of its own, with which what waited for one goes on, and nobody else’s', async () => {
    const there = { relogio: '2027-01-04T12:00:00-03:00' };
    const [{ slug, chave }, other] = [await make(there), await make(there)];
    const send = (csv: string) =>
      call('POST', `/${slug}/api/v1/ambiente/cadastros/aliquotas_ibs_cbs`, chave, csv, 'text/csv');
    const issueHeld = async (of: string, nDPS: string): Promise<string> => {
      const { status, body } = await issue(of, exampleXml({ nDPS, dCompet: '2027-01-01' }));
      assert.equal(status, 201, JSON.stringify(body));
      assert.match(body.avisos[0].mensagem, /^Retida: nenhuma alíquota de CBS/);
      return body.chave_acesso;
    };
    const look = async (of: string, nota: string) => (await call('GET', `/${of}/api/v1/nfse/${nota}`)).body;
    const [held, elsewhere] = [await issueHeld(slug, '1'), await issueHeld(other.slug, '1')];
    const HEADER = 'tributo,inicio,fim,aliquota,fonte,ato';
    const row = (tributo: string, aliquota: string) => `${tributo},2027-01-01,2027-12-31,${aliquota},ensaio,ensaio`;

    const bad = await send(`${HEADER}\n${row('CBS', '8.80')}\n${row('ICMS', '18')}\n`);
    assert.equal(bad.status, 422);
    assert.match(bad.body.mensagem, /^Linha 3: tributo ICMS não existe: use IBS-UF, IBS-MUN, CBS, REDUTOR-COMPRA-GOV/);
    const strange = await send('tributo,valor\nCBS,1\n');
    assert.deepEqual([strange.status, strange.body.codigo_erro], [400, 'E003']);

    const days = Array.from({ length: 501 }, (_, place) => new Date(Date.UTC(2027, 0, 1 + place)).toISOString());
    const each = days.map((day) => `CBS,${day.slice(0, 10)},${day.slice(0, 10)},8.80,ensaio,ensaio\n`);
    const many = await send(`${HEADER}\n${each.join('')}`);
    assert.deepEqual([many.status, many.body.erros.length], [422, 1]);
    assert.match(many.body.mensagem, /até 500 alíquotas/);

    const filled = await send(`${HEADER}\n${row('CBS', '8.80')}\n`);
    const conta = { de: 'Alíquotas do IBS e da CBS', novos: 1, alterados: 0, iguais: 0, retirados: 0 };
    assert.deepEqual(filled.body.contas, [conta]);
    const released = await until(async () => {
      const { nota } = await look(slug, held);
      return nota.status === 'autorizada' ? (nota.xml_nota as string) : undefined;
    }, 'the note that was held is authorised');
    // 980.00 × 8.80 % = 86.24; IBS 0.05 + 0.05 % of 980.00 = 0.49 each; 1000.00 + 86.24 + 0.98
    assert.match(released, /<pIBSUF>0\.05<.*<pCBS>8\.80<.*<vTotNF>1087\.22<.*<vIBSUF>0\.49<.*<vCBS>86\.24</);

    // The file replaces all own rates; an own rate precedes the national one.
    const again = await send(`${HEADER}\n${row('CBS', '10.00')}\n${row('IBS-UF', '0.10')}\n`);
    assert.deepEqual(again.body.contas, [{ ...conta, novos: 1, alterados: 1 }]);
    const { body } = await issue(slug, exampleXml({ nDPS: '2', dCompet: '2027-01-01' }));
    // 980.00 × 10 % = 98.00, × 0.10 % = 0.98, × 0.05 % = 0.49; 1000.00 + 98.00 + 0.98 + 0.49
    assert.match(body.xml_nfse, /<pIBSUF>0\.10<.*<pCBS>10\.00<.*<vTotNF>1099\.47<.*<vIBSUF>0\.98<.*<vCBS>98\.00</);
    const less = await send(`${HEADER}\n${row('IBS-UF', '0.10')}\n`);
    assert.deepEqual(less.body.contas, [{ ...conta, novos: 0, iguais: 1, retirados: 1 }]);
    await issueHeld(slug, '3');
    const none = await send(`${HEADER}\n`);
    assert.deepEqual(none.body.contas, [{ ...conta, novos: 0, retirados: 1 }]);

    assert.match((await look(other.slug, elsewhere)).protocolo.mensagem_retorno, /^Retida: nenhuma alíquota de CBS/);
    assert.equal((await call('POST', `/${slug}/api/v1/ambiente/reinicio`, chave, there)).status, 200);
    await issueHeld(slug, '1');
    const { rows } = await pool.query('select 1 from municipios where aliquotas_ibs_cbs is not null');
    assert.equal(rows.length, 0);
  });

  test('that is thrown away while a file comes in takes nothing of it, and says so', async () => {
    const csv = 'tributo,inicio,fim,aliquota,fonte,ato\nCBS,2027-01-01,2027-12-31,8.80,ensaio,ensaio\n';
    const own = 'select 1 from municipios where tenant = $1 and aliquotas_ibs_cbs is not null';
    // The file may be whole before the sandbox goes: then another sandbox is tried.
    for (let left = 20; left > 0; left -= 1) {
      const { slug, chave } = await make();
      const path = `/${slug}/api/v1/ambiente/cadastros/aliquotas_ibs_cbs`;
      const filling = call('POST', path, chave, csv, 'text/csv');
      await until(async () => (await pool.query(own, [slug])).rowCount === 1 || undefined, 'the file is written');
      assert.equal((await call('DELETE', `/${slug}/api/v1/ambiente`, chave)).status, 200);
      const { status, body } = await filling;
      if (status === 200) continue;
      assert.deepEqual([status, body.codigo_erro], [404, 'E601']);
      return;
    }
    assert.fail('each file was whole before its sandbox went');
  });

  test('keeps the last requests with their verdicts, by the id of each answer', async () => {
    const { slug, chave } = await make();
    const refused = await issue(slug, exampleXml({ 'valores/vServPrest/vServ': '0' }));
    assert.equal(refused.status, 422);
    const id = refused.headers.get('x-request-id')!;
    const found = await until(async () => {
      const { status, body } = await call('GET', `/${slug}/api/v1/ambiente/requisicoes/${id}`, chave);
      return status === 200 ? body.requisicao : undefined;
    }, 'it is kept');
    assert.match(found.corpo, /<vServ>0</);
    assert.deepEqual(JSON.parse(found.resposta), refused.body);
    assert.deepEqual([found.status, found.metodo, found.tipo], [422, 'POST', 'application/xml']);
    const { requisicoes } = (await call('GET', `/${slug}/api/v1/ambiente/requisicoes`, chave)).body;
    assert.equal(requisicoes[0].id, id);
    for (let count = 0; count < 230; count += 1) await call('GET', `/${slug}/api/v1/dps/x`);
    await until(async () => {
      const last = (await call('GET', `/${slug}/api/v1/ambiente/requisicoes`, chave)).body.requisicoes;
      const { rows } = await pool.query('select count(*)::int as n from ensaio_requisicoes where tenant = $1', [slug]);
      return (last.length === 200 && rows[0].n < 225) || undefined;
    }, 'the oldest are gone');
    assert.equal((await call('GET', `/${slug}/api/v1/ambiente/requisicoes/${id}`, chave)).status, 404);
  });

  test('gives the documents of a scenario: the note, the one that replaces it, the event', async () => {
    const { slug, chave } = await make();
    const doc = (cenario: string, query = '') =>
      request(address, `/${slug}/api/v1/ambiente/personas/${cenario}${query}`, {
        headers: { Authorization: `Bearer ${chave}` },
      });
    const [replaced, event] = ['simples-no-das/substituida', 'mei/cancelada'];
    const issueBody = async (sent: string | object, type: string): Promise<string> => {
      const { status, body } = await call('POST', `/${slug}/api/v1/nfse/v101`, undefined, sent, type);
      assert.equal(status, 201, JSON.stringify(body));
      return body.chave_acesso;
    };
    const nota = await issueBody((await doc(replaced)).body, 'application/xml');
    const other = await doc(replaced, `?forma=json&substitui=${nota}`);
    const substituta = await issueBody(other.body, 'application/json');
    const evento = await doc(replaced, `?forma=evento&nota=${nota}&substituta=${substituta}`);
    assert.equal(evento.headers.get('content-type'), 'application/json; charset=utf-8');
    const registered = await call('POST', `/${slug}/api/v1/nfse/${nota}/eventos`, undefined, evento.body);
    assert.equal(registered.status, 201, JSON.stringify(registered.body));
    for (const [cenario, query, status, campo] of [
      [event, '?forma=pdf', 400, 'forma'],
      [event, '?forma=evento', 400, 'nota'],
      [event, '?forma=evento&nota=123', 400, 'nota'],
      [event, `?forma=evento&nota=${nota}&substituta=${substituta}`, 400, 'substituta'],
      [event, `?forma=evento&nota=${nota}&substitui=${nota}`, 400, 'substitui'],
      [event, `?nota=${nota}`, 400, 'nota'],
      [event, `?substituta=${nota}`, 400, 'substituta'],
      [event, `?substitui=${nota}`, 400, 'substitui'],
      [replaced, `?forma=evento&nota=${nota}`, 400, 'substituta'],
      ['mei/consumidor', `?forma=evento&nota=${nota}`, 400, 'forma'],
      [event, '?form=evento', 400, 'form'],
      [event, '?forma=xml&forma=json', 400, 'forma'],
      ['mei/nenhum', '', 404, 'cenario'],
    ] as const) {
      const { status: answered, body } = await doc(cenario, query);
      assert.deepEqual([answered, body.campo], [status, campo], `${cenario}${query} ${JSON.stringify(body)}`);
    }
  });

  test('begins anew, and is thrown away whole', async () => {
    const { slug, chave } = await make();
    const issued = await issue(slug, exampleXml({ nDPS: '1' }));
    const again = await call('POST', `/${slug}/api/v1/ambiente/reinicio`, chave, {
      relogio: '2027-01-10T09:00:00-03:00',
    });
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.match(again.body.ambiente.relogio, /^2027-01-10T09:00/);
    assert.equal((await call('GET', `/${slug}/api/v1/nfse/${issued.body.chave_acesso}`)).status, 404);
    assert.equal((await issue(slug, exampleXml({ nDPS: '1' }))).status, 201, 'the number is free');
    assert.equal((await call('DELETE', `/${slug}/api/v1/ambiente`, chave)).status, 200);
    assert.equal(await rowsOf(slug), 0);
    await until(async () => ((await issue(slug)).status === 404 ? true : undefined), 'it is gone for every process');
  });

  test('ends by itself', async () => {
    const { slug } = await make();
    await issue(slug);
    assert.deepEqual(await store.ensaios.listExpired(clock.now + (ENSAIO_DIAS - 1) * DAY_MS, 10), []);
    assert.ok((await store.ensaios.listExpired(clock.now + (ENSAIO_DIAS + 1) * DAY_MS, 100)).includes(slug));
    // Only private sandboxes can be deleted in this way.
    assert.equal(await store.ensaios.delete('integracao'), false);
    assert.equal(await store.ensaios.empty('integracao', clock.now, 0), false);
  });

  test('is refused with the reason where it cannot be', async () => {
    for (const [body, campo] of [
      [{ relogio: 'amanhã' }, 'relogio'],
      [{ relogio: '2025-12-31T00:00:00-03:00' }, 'relogio'],
      [{ relogio: '2099-01-01T00:00:00-03:00' }, 'relogio'],
      [{ rigor: 'muito' }, 'rigor'],
      [{ aliquota_padrao: '101' }, 'aliquota_padrao'],
    ] as const) {
      const { status, body: answer } = await call('POST', '/integracao/api/v1/ambientes', undefined, body);
      assert.deepEqual([status, answer.campo], [400, campo], JSON.stringify(answer));
    }
  });

  test('is one of so many that exist of one network, and gives its place back once it is discarded', async () => {
    const more = () => call('POST', '/integracao/api/v1/ambientes');
    // Those of the other tests are a day old.
    await pool.query(`update ensaios set criado_em = ${movedBy('criado_em', '-1 day')}`);
    const first = (await more()).body;
    const { municipio } = first.ambiente;
    await addAmbientes(pool, municipio, ENSAIOS_DA_REDE - 3);
    // Jobs of one build behind one address.
    const jobs = await Promise.all(Array.from({ length: 6 }, more));
    const refused = jobs.filter(({ status }) => status !== 201);
    assert.deepEqual(
      refused.map(({ status, body }) => [status, body.codigo_erro]),
      Array.from({ length: 4 }, () => [429, 'E703']),
    );
    assert.match(refused[0]!.body.mensagem, /Jogue fora um que não usa mais/);
    // The refused sandboxes left no rows.
    const { rows } = await pool.query<{ made: number; opened: number }>(`select
      (select count(*)::int from ensaios) as made,
      (select count(*)::int from municipios where tenant like 'ensaio-%') as opened`);
    assert.equal(rows[0]!.opened, rows[0]!.made);
    assert.equal((await call('DELETE', `/${municipio}/api/v1/ambiente`, first.chave)).status, 200);
    assert.equal((await more()).status, 201);
    assert.equal((await more()).status, 429);
    // Sandboxes are counted per day and network; this lets the other tests make theirs.
    await pool.query(`update ensaios set criado_em = ${movedBy('criado_em', '-1 day')}`);
  });
});

/** A closed month is told to the addresses of its municipality: once, with the sums of its notes, and with a file of just these notes. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { onEnd } from '../../../test/support/cleanup.ts';
import { cellsOf } from '../../../test/support/csv.ts';
import { confirmAvisos } from '../../../test/support/desafio.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { bindCall } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { enter, makeUsuario, startTestPainel } from '../../../test/support/painel.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startTestService } from '../../../test/support/service.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { cadastrarAviso, listEntregasDoAviso } from './do-municipio.ts';
import { tellAvisos } from './entregas.job.ts';
import { closeMeses } from './meses.ts';
import { placeMudancas } from './mudancas.job.ts';

const SLUG = 'vila';
const service = await startTestService({ worker: false, clock: { now: Date.parse('2026-11-10T12:00:00-03:00') } });
const { store, clock, world, address } = service;
const vila = balcao(address, SLUG);
const work = bancada(world, SLUG);
const BY = { quem: 'teste', via: 'comando' } as const;

type Received = { readonly text: string; readonly headers: Record<string, string> };
const received: Received[] = [];
let status = 204;
let secret: string;
let webhook: string;
const notas: NotaEmitida[] = [];

const told = () => received.map(({ text }) => JSON.parse(text)).filter(({ type }) => type === 'mes.fechado');
const listEntregas = async () => {
  const found = await listEntregasDoAviso(world, SLUG, webhook, { estado: undefined, cursor: undefined, max: 10 });
  return 'problem' in found ? assert.fail(found.problem) : found.entregas;
};

/** Gives the changes their places, and adds the notes to the sums of their months. */
async function countNotas(): Promise<void> {
  const municipio = (await store.municipios.findBySlug(SLUG))!;
  while ((await placeMudancas(world, municipio)).delivered > 0);
  while (await store.contagemDaReceita.countDue(clock.now, SALAS.receita, 0));
}

async function deliver(): Promise<void> {
  const municipio = (await store.municipios.findBySlug(SLUG))!;
  for (const pace of ['slow', 'quick', 'slow', 'quick'] as const) await tellAvisos(pace, world, municipio, {});
}

before(async () => {
  await store.municipios.create({ tenant: SLUG, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.on('data', (chunk) => (text += chunk));
    incoming.on('end', () => {
      if (confirmAvisos(text, response)) return;
      if (status < 300) received.push({ text, headers: incoming.headers as Record<string, string> });
      response.writeHead(status).end();
    });
  });
  const port = await ownPort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onEnd(() => server.close());
  const escrito = { url: `http://127.0.0.1:${port}/`, tipos: ['mes.fechado'] };
  const made = await cadastrarAviso(world, SLUG, escrito, BY);
  assert.ok('segredo' in made, JSON.stringify(made));
  secret = made.segredo;
  webhook = made.webhook.id;
  for (const vServ of ['1000.00', '250.50', '99.99']) {
    notas.push(await vila.issue({ 'valores/vServPrest/vServ': vServ }));
  }
  await work.notas();
  await vila.registered(notas[2]!, CANCELAMENTO);
  await work.eventos();
  await countNotas();
});

describe('a month', () => {
  test('is not told before it is over, by the time of its municipality, and three hours more', async () => {
    for (const instant of ['2026-11-30T22:00:00-03:00', '2026-12-01T02:59:00-03:00']) {
      clock.now = Date.parse(instant);
      await closeMeses(world);
      assert.deepEqual(await listEntregas(), [], instant);
    }
  });

  test('is not told while a note of it is not in its sums', async () => {
    clock.now = Date.parse('2026-11-30T23:50:00-03:00');
    notas.push(await vila.issue({ 'valores/vServPrest/vServ': '0.01' }));
    clock.now = Date.parse('2026-12-01T03:10:00-03:00');
    await closeMeses(world);
    assert.deepEqual(await listEntregas(), []);
  });

  test('is told once, signed, with the sums of its notes', async (t) => {
    await countNotas();
    await Promise.all([closeMeses(world), closeMeses(world)]);
    await closeMeses(world);
    const entregas = await listEntregas();
    assert.deepEqual(
      entregas.map(({ tipo, estado }) => [tipo, estado]),
      [['mes.fechado', 'pendente']],
    );
    status = 500;
    await deliver();
    status = 204;
    clock.now += 60_000;
    await deliver();
    const [{ type, data }, ...others] = told();
    assert.deepEqual([type, others.length], ['mes.fechado', 0]);
    // ISSQN of 2 %: 20.00 + 5.01 + 0.00. IBS of 0.1 % and CBS of 0.9 % of what is left: 980.00, 245.49 and 0.01.
    assert.deepEqual(
      { ...data, arquivo: undefined },
      {
        id: 'mes-2026-11',
        tipo: 'mes.fechado',
        mes: '2026-11',
        de: '2026-11-01',
        ate: '2026-11-30',
        em: '2026-12-01T03:10:00-03:00',
        notas: 3,
        canceladas: 1,
        valor_servico: '1250.51',
        valor_base_calculo: '1250.51',
        valor_issqn: '25.01',
        issqn_apurado: '25.01',
        issqn_retido: '0.00',
        valor_ibs: '1.23',
        valor_cbs: '11.03',
        arquivo: undefined,
      },
    );
    const [{ text, headers }] = received as [Received];
    assert.equal(headers['webhook-id'], `${SLUG}.mes-2026-11`);
    t.mock.method(Date, 'now', () => clock.now);
    assert.deepEqual(new Webhook(secret).verify(text, headers), JSON.parse(text));
    await deliver();
    assert.equal(told().length, 1);
  });

  test('names a file of the console that has its notes, each once, with the documented columns', async () => {
    const painel = await startTestPainel(service);
    const tina = await enter(painel, await makeUsuario(painel, 'tina', { [SLUG]: 'atendimento' }));
    const [{ data }] = told();
    const place = new URL(data.arquivo, painel.origin);
    const { html, headers } = await tina.open(`${place.pathname}${place.search}`);
    const file = path.join(freshFolder(), 'mes.csv');
    writeFileSync(file, html);
    assert.match(headers.get('content-disposition')!, /notas-vila-2026-11\.csv/);
    const [head, ...rows] = (await cellsOf(file)) as [readonly string[], ...(readonly string[])[]];
    const column = (name: string) => rows.map((row) => row[head.indexOf(name)]);
    assert.deepEqual(
      column('chave_acesso'),
      notas.map(({ chave_acesso }) => chave_acesso),
    );
    assert.deepEqual(column('estado'), ['autorizada', 'autorizada', 'cancelada', 'emitida']);
    const leo = await enter(painel, await makeUsuario(painel, 'leo', { [SLUG]: 'leitura' }));
    assert.equal((await leo.open(`${place.pathname}${place.search}`)).status, 403);
    assert.equal((await tina.open(`${place.pathname}?mes=2026-13`)).status, 422);
  });

  test('that passed while the service stood still is told later, in the order of the months', async () => {
    clock.now = Date.parse('2027-02-05T12:00:00-03:00');
    await closeMeses(world);
    await deliver();
    assert.deepEqual(
      told().map(({ data }) => [data.mes, data.notas]),
      [
        ['2026-11', 3],
        ['2026-12', 0],
        ['2027-01', 0],
      ],
    );
  });
});

test('an address of a party cannot ask for months', async () => {
  const call = bindCall(address, `/${SLUG}/api/v1`);
  const asked = { documento: '11222333000181', escopos: ['webhooks'] };
  const { body } = await call('POST', 'token', undefined, asked);
  const url = 'http://127.0.0.1:9/';
  const refused = await call('POST', 'webhooks', body.token, { url, tipos: ['mes.fechado'] });
  assert.deepEqual([refused.status, refused.body.codigo_erro], [400, 'E0002']);
});

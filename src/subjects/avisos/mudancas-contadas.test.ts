/** The text of a change is the same to the byte, at any time and by any channel. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cnpjCheckDigits } from '../../../test/support/cnpj.ts';
import { desafioOf, takesAll } from '../../../test/support/desafio.ts';
import { balcao, bancada, CANCELAMENTO } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { LIFE } from '../../../test/support/integrador.ts';
import { startTestService } from '../../../test/support/service.ts';
import { readNovas } from '../../base/book/mudancas-novas.ts';
import type { RespostaDeAviso } from '../../base/world/world.ts';
import { tellAvisos } from './entregas.job.ts';
import { placeMudancas } from './mudancas.job.ts';
import { createWebhook, DO_MUNICIPIO, removeWebhook } from './webhooks.ts';

const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;

type Aviso = { readonly url: string; readonly id: string; readonly corpo: string };
const avisados: Aviso[] = [];
let answer: RespostaDeAviso = { status: 204 };
const service = await startTestService({
  worker: false,
  postAviso: async (pedido) => {
    const { url, headers, corpo } = pedido;
    if (desafioOf(corpo) !== undefined) return takesAll(pedido);
    avisados.push({ url, id: headers['webhook-id']!, corpo });
    return answer;
  },
});
const { address, store, pool, world, clock } = service;
const one = balcao(address);
const work = bancada(world);

const place = (): Promise<unknown> => store.mudancas.append(TENANT, clock.now);

/** Sends all due deliveries, even those that were put off. */
async function tell(): Promise<readonly Aviso[]> {
  const from = avisados.length;
  await pool.query('update entregas set due_at = $1', [new Date(clock.now)]);
  await pool.query('update webhooks set proxima = $1, reservado_ate = null, falhas = 0', [new Date(clock.now)]);
  const municipio = (await store.municipios.findBySlug(TENANT))!;
  for (const pace of ['quick', 'slow'] as const) await tellAvisos(pace, world, municipio, {});
  return avisados.slice(from);
}

let raiz = 30_000_000;
async function newPrestador() {
  raiz += 1;
  const cnpj = cnpjCheckDigits(String(raiz));
  const headers = { 'Content-Type': 'application/json' };
  const asked = JSON.stringify({ documento: cnpj, escopos: ['consultar', 'webhooks'] });
  const { body } = await request(address, `${API}/token`, { method: 'POST', headers, body: asked });
  const authorization = { Authorization: `Bearer ${body.token}` };
  return {
    cnpj,
    follow: (query = '') => request(address, `${API}/mudancas?${query}`, { headers: authorization }),
    /** Each change as a line of NDJSON. */
    lines: async (): Promise<readonly string[]> => {
      const ndjson = { ...authorization, Accept: 'application/x-ndjson' };
      const { body } = await request(address, `${API}/mudancas?limite=10000`, { headers: ndjson });
      return (body as string).split('\n').filter((line) => line !== '');
    },
    register: async (url: string) => {
      const asked = { method: 'POST', headers: { ...headers, ...authorization }, body: JSON.stringify({ url }) };
      assert.equal((await request(address, `${API}/webhooks`, asked)).status, 201);
      // The address must first prove that it wants messages.
      await tell();
    },
  };
}

const told = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(line)).map(({ tipo, status, mensagem }) => [tipo, status, mensagem]);

describe('what a change tells', () => {
  test('of an event is the state that the note had then, in every list and message, whatever became of it', async () => {
    const { cnpj, lines, register } = await newPrestador();
    await register(`https://um.exemplo.com.br/${cnpj}`);
    const nota = await one.issue({ nDPS: '1', 'prest/CNPJ': cnpj });
    clock.now += 1_000;
    await work.notas();
    clock.now += 1_000;
    await one.registered(nota, { ...CANCELAMENTO, cnpj_autor: cnpj });
    await place();
    const before = await lines();
    answer = { status: 500 };
    const mine = (all: readonly Aviso[]) => all.filter(({ url }) => url.includes(cnpj));
    const firstTold = mine(await tell());
    assert.equal(firstTold.length, 1, 'of a note that fails nothing later is told');
    answer = { status: 204 };
    clock.now += 9_000;
    await work.eventos();
    const afterwards = await lines();
    assert.deepEqual(afterwards, before);
    await place();
    const whole = await lines();
    assert.deepEqual(whole.slice(0, before.length), before);
    assert.deepEqual(told(whole), [
      ['nota.emitida', 'rascunho', null],
      ['nota.transmitida', 'rascunho', null],
      ['nota.autorizada', 'autorizada', null],
      ['evento.pendente', 'autorizada', null],
      ['evento.enviado', 'autorizada', null],
      // The event changes in one transaction with the cancellation, which comes after it.
      ['evento.processado', 'cancelada', null],
      ['nota.cancelada', 'cancelada', null],
    ]);
    const retold = mine(await tell()).map(({ corpo }) => corpo);
    assert.deepEqual(retold[0], firstTold[0]!.corpo);
    assert.deepEqual(
      retold.map((corpo) => JSON.stringify(JSON.parse(corpo).data)),
      whole,
    );

    // Lines of a version that did not store the state read the same.
    const shorten = "regexp_replace(mudancas, '^(e( \\S+){5}) \\S+$', '\\1', 'gn')";
    const { rowCount } = await pool.query(
      `update mudancas set mudancas = ${shorten} where tenant = $1 and documento = $2 and mudancas <> ${shorten}`,
      [TENANT, cnpj],
    );
    assert.equal(rowCount, 2);
    assert.deepEqual(await lines(), whole);
  });

  test('of a note is what was said with it, though the note goes on and forgets it', async () => {
    const { cnpj, lines } = await newPrestador();
    const nota = await one.issue({ nDPS: '2', 'prest/CNPJ': cnpj });
    const { rows } = await pool.query<{ id: string }>('select id from notas where tenant = $1 and chave_acesso = $2', [
      TENANT,
      nota.chave_acesso,
    ]);
    const [{ id }] = rows as [{ id: string }];
    // The state of a note that was first held for a rate.
    const held = 'Falta publicar a alíquota do IBS.';
    await pool.query("update notas set estado = 'retida', mensagem_retorno = $2 where tenant = $1 and id = $3", [
      ...[TENANT, held, id],
    ]);
    await pool.query(
      "update trilha_notas set para = 'retida', gatilho = 'retencao', mensagem = $2 where tenant = $1 and nota = $3",
      [TENANT, held, id],
    );
    await pool.query(
      "update mudancas_novas set mudancas = replace(mudancas, 'emitida', 'retida') where tenant = $1 and mudancas like $2",
      [TENANT, `n ${id} %`],
    );
    await place();
    const before = await lines();
    assert.deepEqual(told(before), [['nota.retida', 'rascunho', held]]);
    await pool.query("update notas set estado = 'emitida', mensagem_retorno = null where tenant = $1 and id = $2", [
      ...[TENANT, id],
    ]);
    assert.deepEqual(await lines(), before);
  });
});

/** Lines that a later version may write, for a note and its event. */
const FUTURE: readonly (readonly [name: string, line: (id: string, movimento: number) => string])[] = [
  ['a kind of its own', (id, movimento) => `p ${id} 202611 ${movimento} 1764000000000 pago`],
  ['a field more', (id, movimento) => `n ${id} 202611 ${movimento} 1764000000000 cancelada autorizada motivo=1`],
  ['a form of its own', (id, movimento) => `{"v":2,"item":"nota","id":"${id}","movimento":${movimento}}`],
];

async function idOf({ chave_acesso }: { readonly chave_acesso: string }): Promise<string> {
  const { rows } = await pool.query('select id from notas where tenant = $1 and chave_acesso = $2', [
    TENANT,
    chave_acesso,
  ]);
  return rows[0].id;
}

/** Writes a change as another process does. */
async function write(line: string): Promise<void> {
  await pool.query('insert into mudancas_novas (tenant, id, mudancas) values ($1, gen_random_uuid(), $2)', [
    TENANT,
    line,
  ]);
}

/** Gives a change its place as a newer process does. */
async function placeLine(line: string, id: string, cnpj: string): Promise<void> {
  const known = `n ${id} 202611 9 ${clock.now} autorizada`;
  await write(known);
  await place();
  const values = [TENANT, known, line];
  const changed = await pool.query(
    `update mudancas set mudancas = replace(mudancas, $2, $3) where tenant = $1 and documento = $4`,
    [...values, cnpj],
  );
  assert.equal(changed.rowCount, 1);
  await pool.query('update entregas set mudanca = $3 where tenant = $1 and mudanca = $2', values);
}

const typesOf = (lines: readonly string[]) => told(lines).map(([tipo]) => tipo);

test('a message to the municipality has the place of the provider, who goes on from there', async () => {
  const { cnpj, lines, follow } = await newPrestador();
  const municipio = (await store.municipios.findBySlug(TENANT))!;
  const url = `https://tres.exemplo.com.br/${cnpj}`;
  const registered = await createWebhook(world, municipio, DO_MUNICIPIO, Buffer.from(JSON.stringify({ url })));
  assert.ok('webhook' in registered, JSON.stringify(registered));
  await tell();
  // The taker has other changes in the same block, and one of the two comes first.
  const taker = await newPrestador();
  for (const nDPS of ['30', '31'])
    await one.issue({ nDPS, 'prest/CNPJ': cnpj, 'toma/CNPJ': taker.cnpj, 'toma/CPF': null });
  await one.issue({ nDPS: '32', 'prest/CNPJ': taker.cnpj });
  await place();
  const sent = (await tell()).filter((aviso) => aviso.url === url).map(({ corpo }) => JSON.parse(corpo).data);
  const own = sent.filter(({ chave_acesso }) => chave_acesso.includes(cnpj));
  const whole = (await lines()).map((line) => JSON.parse(line));
  assert.deepEqual(
    own.map(({ id, cursor }) => [id, cursor]),
    whole.map(({ id, cursor }) => [id, cursor]),
  );
  assert.equal(own.length, 2);
  const { body } = await follow(`desde=${own[0].cursor}`);
  assert.deepEqual(body.mudancas, [whole[1]]);
  await removeWebhook(world, municipio, { id: registered.webhook.id, dono: DO_MUNICIPIO });
});

describe('a process that is older than the one beside it', () => {
  for (const [place, [name, line]] of FUTURE.entries()) {
    test(`leaves a change without a place to the newer one: ${name}`, async () => {
      const { cnpj, lines } = await newPrestador();
      const nota = await one.issue({ nDPS: String(10 + place), 'prest/CNPJ': cnpj });
      const id = await idOf(nota);
      await write(line(id, 9));
      const kept = 'select id, mudancas from mudancas_novas where tenant = $1 and mudancas = $2';
      const { rows: before } = await pool.query(kept, [TENANT, line(id, 9)]);
      await work.notas();
      const municipio = (await store.municipios.findBySlug(TENANT))!;
      for (let turn = 0; turn < 3; turn += 1) await placeMudancas(world, municipio);
      assert.deepEqual(typesOf(await lines()), LIFE);
      assert.deepEqual((await pool.query(kept, [TENANT, line(id, 9)])).rows, before);
      // One warning for all of them within the interval.
      assert.match(service.logged.map(({ message }) => message).join(), /versão mais nova/);
      await pool.query('delete from mudancas_novas where tenant = $1', [TENANT]);
    });
  }

  test('places nothing of a note before a change of it that it cannot read', () => {
    const rows = [
      ['n 1 202611 1 5 emitida', 'n 2 202611 1 5 emitida'],
      ['n 1 202611 2 6 suspensa por=2'],
      ['n 1 202611 3 7 autorizada', 'e 8 202611 2 7 processado'],
      ['e 8 202611 3 8 erro'],
      ['n 3 202611 1 9 emitida'],
    ].map((lines, place) => ({ id: String(place), mudancas: lines.join('\n'), traceparents: null }));
    const { mudadas, left } = readNovas(rows.toReversed());
    assert.deepEqual(left.map(({ id }) => id).toSorted(), ['1', '2', '3']);
    assert.deepEqual(mudadas.map(({ id }) => id).toSorted(), ['1', '2', '3']);
    assert.deepEqual(readNovas(rows.filter((_, place) => place !== 1)).left, []);
  });

  const PLACED: typeof FUTURE = [
    ...FUTURE,
    ['a state of its own', (id, movimento) => `n ${id} 202611 ${movimento} 1764000000000 suspensa`],
  ];
  for (const [place, [name, line]] of PLACED.entries()) {
    test(`tells up to a change that the newer one has placed, and loses none: ${name}`, async () => {
      const { cnpj, lines, follow, register } = await newPrestador();
      await register(`https://dois.exemplo.com.br/${cnpj}`);
      const nota = await one.issue({ nDPS: String(20 + place), 'prest/CNPJ': cnpj });
      const id = await idOf(nota);
      await placeLine(line(id, 2), id, cnpj);
      const first = (await follow('limite=50')).body;
      assert.deepEqual(
        [first.mudancas.map(({ tipo }: { tipo: string }) => tipo), first.mais],
        [['nota.emitida'], true],
      );
      for (const query of [`desde=${first.cursor}`, `desde=${first.cursor}&espera=5`]) {
        const { status, headers, body } = await follow(query);
        assert.deepEqual(
          [status, body.codigo_erro, headers.get('retry-after')],
          [503, 'E703', '5'],
          JSON.stringify(body),
        );
        assert.match(body.mensagem, /versão mais nova/);
      }
      // No later change of the note is sent, and the unsent delivery stays pending.
      const mine = (all: readonly Aviso[]) =>
        all.filter(({ url }) => url.includes(cnpj)).map(({ corpo }) => JSON.parse(corpo).type);
      assert.deepEqual(mine(await tell()), ['nota.emitida']);
      assert.deepEqual(mine(await tell()), []);
      // A process that knows the line goes on from there.
      const known = `n ${id} 202611 2 ${clock.now} transmitida`;
      const values = [TENANT, line(id, 2), known];
      await pool.query('update mudancas set mudancas = replace(mudancas, $2, $3) where tenant = $1', values);
      await pool.query('update entregas set mudanca = $3 where tenant = $1 and mudanca = $2', values);
      assert.deepEqual(typesOf(await lines()), ['nota.emitida', 'nota.transmitida']);
      assert.deepEqual(mine(await tell()), ['nota.transmitida']);
    });
  }
});

/** What a change tells: the same, to the byte, whenever it is told and by whichever way. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tellAvisos } from '../src/delivery/avisos.ts';
import type { RespostaDeAviso } from '../src/flows/world.ts';
import { cnpjCheckDigits } from './support/cnpj.ts';
import { balcao, bancada, CANCELAMENTO } from './support/eventos.ts';
import { request } from './support/http.ts';
import { startTestService } from './support/service.ts';

const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;

type Aviso = { readonly url: string; readonly id: string; readonly corpo: string };
const avisados: Aviso[] = [];
let answer: RespostaDeAviso = { status: 204 };
const service = await startTestService({
  worker: false,
  postAviso: async (url, headers, corpo) => {
    avisados.push({ url, id: headers['webhook-id']!, corpo });
    return answer;
  },
});
const { address, store, pool, world, clock } = service;
const one = balcao(address);
const work = bancada(world);

const place = (): Promise<number> => store.mudancas.append(TENANT, clock.now);

/** Tells all that is due, however long its attempts were put off. */
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
    /** Each change as its line is written. */
    lines: async (): Promise<readonly string[]> => {
      const ndjson = { ...authorization, Accept: 'application/x-ndjson' };
      const { body } = await request(address, `${API}/mudancas?limite=10000`, { headers: ndjson });
      return (body as string).split('\n').filter((line) => line !== '');
    },
    register: async (url: string) => {
      const asked = { method: 'POST', headers: { ...headers, ...authorization }, body: JSON.stringify({ url }) };
      assert.equal((await request(address, `${API}/webhooks`, asked)).status, 201);
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
    const firstTold = await tell();
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
      // In one transaction with the cancellation, which is told after it.
      ['evento.processado', 'cancelada', null],
      ['nota.cancelada', 'cancelada', null],
    ]);
    const retold = (await tell()).map(({ corpo }) => corpo);
    assert.deepEqual(retold[0], firstTold[0]!.corpo);
    assert.deepEqual(
      retold.map((corpo) => JSON.stringify(JSON.parse(corpo).data)),
      whole,
    );

    // Lines of a version that did not write it down tell the same.
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
    // As if it had been held for a rate first.
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

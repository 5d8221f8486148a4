/** A kind of change that is no state is one more row of the table: it is placed, listed, told and left to its own process. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cnpjCheckDigits } from '../../../test/support/cnpj.ts';
import { balcao } from '../../../test/support/eventos.ts';
import { startTestService } from '../../../test/support/service.ts';
import { CODING, createCoding, type Mudou, readNovas } from '../../base/book/mudancas-novas.ts';
import { orderMudancas } from '../../base/book/order-mudancas.ts';
import { MUDANCAS, type TipoDescrito } from '../../fiscal/mudanca.ts';
import { mudancaStore } from './mudancas.rows.ts';
import { mudancaPublica } from './mudancas.ts';
import { createWebhook, DO_MUNICIPIO } from './webhooks.ts';

const TENANT = 'integracao';
const TESTADO: TipoDescrito = {
  tipo: 'nota.tipo_de_teste',
  item: 'nota',
  codigo: 'nzz',
  significado: 'O DANFSe está pronto.',
  estado: null,
};
const MAIS: readonly TipoDescrito[] = [...MUDANCAS, TESTADO];
const coding = createCoding(MAIS);

const mudou = (tipo: string, more: Partial<Mudou> = {}): Mudou => ({
  tipo,
  item: 'nota',
  id: '1',
  mes: 202611,
  movimento: 3,
  em: 7,
  para: 'autorizada',
  ...more,
});

describe('a stored line', () => {
  const LINES: readonly (readonly [line: string, mudou: Mudou])[] = [
    ['n 1 202611 3 7 autorizada', mudou('nota.autorizada')],
    ['n 1 202611 3 7 suspensa', mudou('nota.suspensa', { para: 'suspensa' })],
    ['e 1 202611 3 7 erro retida', mudou('evento.erro', { item: 'evento', para: 'erro', estadoDaNota: 'retida' })],
    ['nzz 1 202611 3 7 autorizada', mudou('nota.tipo_de_teste')],
  ];
  for (const [line, read] of LINES) {
    test(`is read and written back: ${line}`, () => {
      assert.deepEqual(coding.read(line), read);
      assert.equal(coding.write(read), line);
    });
  }

  test('of a kind that this process lacks is left alone, with the later moves of its note', () => {
    assert.equal(CODING.read('nzz 1 202611 3 7 autorizada'), undefined);
    const rows = ['n 1 202611 3 7 autorizada', 'nzz 1 202611 3 7 autorizada', 'n 1 202611 4 9 cancelada'].map(
      (mudancas, place) => ({ id: String(place), mudancas, traceparents: null }),
    );
    assert.deepEqual(
      readNovas(rows).left.map(({ id }) => id),
      ['1', '2'],
    );
    assert.deepEqual(readNovas(rows, coding).left, []);
  });
});

test('a change that is no move comes after the move of its number, and others by their moments', () => {
  const right = [
    mudou('nota.autorizada', { em: 9 }),
    mudou('nota.tipo_de_teste', { em: 9 }),
    mudou('nota.tipo_de_teste', { em: 12 }),
    mudou('nota.cancelada', { movimento: 4, em: 15, para: 'cancelada' }),
  ];
  for (const mixed of [right, right.toReversed(), [right[1]!, right[0]!, right[3]!, right[2]!]]) {
    assert.deepEqual(orderMudancas(mixed), right);
  }
});

test('it is placed, listed with the state of its note, and delivered to the address that asks for it alone', async () => {
  const { address, pool, store, world, clock } = await startTestService({ worker: false });
  const cnpj = cnpjCheckDigits('40000001');
  await balcao(address).issue({ nDPS: '1', 'prest/CNPJ': cnpj });
  const municipio = (await store.municipios.findBySlug(TENANT))!;
  const body = Buffer.from(JSON.stringify({ url: 'https://um.exemplo.com.br/', tipos: ['nota.recusada'] }));
  const made = await createWebhook(world, municipio, DO_MUNICIPIO, body);
  assert.ok('webhook' in made, JSON.stringify(made));
  await pool.query('update webhooks set tipos = $2 where tenant = $1', [TENANT, [TESTADO.tipo]]);
  const { rows } = await pool.query('select id, mes from notas where tenant = $1', [TENANT]);
  const line = coding.write(
    mudou(TESTADO.tipo, { id: rows[0].id, mes: rows[0].mes, movimento: 1, em: clock.now, para: 'emitida' }),
  );
  await pool.query('insert into mudancas_novas (tenant, id, mudancas) values ($1, gen_random_uuid(), $2)', [
    ...[TENANT, line],
  ]);

  const own = mudancaStore(pool, coding);
  assert.deepEqual(await store.mudancas.append(TENANT, clock.now), { postas: 1, deixadas: 1 });
  assert.deepEqual(await own.append(TENANT, clock.now), { postas: 1, deixadas: 0 });
  const from = { bloco: 0, lidas: 0 };
  const older = await store.mudancas.list(TENANT, cnpj, from, 10);
  assert.deepEqual([older.mudancas.map(({ tipo }) => tipo), older.isNewer], [['nota.emitida'], true]);
  const { mudancas, isNewer } = await own.list(TENANT, cnpj, from, 10);
  assert.deepEqual(
    [mudancas.map(({ tipo, estado }) => [tipo, estado]), isNewer],
    [
      [
        ['nota.emitida', 'emitida'],
        [TESTADO.tipo, 'emitida'],
      ],
      false,
    ],
  );

  const { rows: entregas } = await pool.query('select mudanca from entregas where tenant = $1', [TENANT]);
  assert.deepEqual(entregas, [{ mudanca: line }]);
  const told = mudancas[1]!;
  const known = { cursor: null, bloco: 1, tipos: new Set(MAIS.map(({ tipo }) => tipo)) };
  const publica = mudancaPublica(told, cnpj, known);
  assert.deepEqual(
    [publica?.id, publica?.tipo, publica?.status],
    [`${TESTADO.tipo}-${told.id}-1-${told.em}`, TESTADO.tipo, 'rascunho'],
  );
  assert.equal(mudancaPublica(told, cnpj, { cursor: null, bloco: 1 }), undefined);
});

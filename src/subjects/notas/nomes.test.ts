/** Names on notes are learned for the search in short turns. No note is passed over, however late it is stored. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { balcao } from '../../../test/support/eventos.ts';
import { startTestService } from '../../../test/support/service.ts';
import { Client } from '../../base/pg/pg.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { TURN_NOTES } from './nomes.rows.ts';

/** Each connection takes the function as it begins. */
const query = mock.method(Client.prototype, 'query');
const { store, pool, address } = await startTestService({ worker: false });
/** Ids of the copies, far above those of issued notes. */
const FIRST = 1_000_000;

before(() => balcao(address).issue());
after(() => query.mock.restore());

/** Copies of the issued note under ids from `first` on, each with a taker of its own. */
async function copyNota(first: number, count: number): Promise<void> {
  await pool.query(
    `insert into notas select copy.* from (select * from notas order by id limit 1) n, generate_series($1::bigint, $1::bigint + $2 - 1) g,
      lateral jsonb_populate_record(null::notas, to_jsonb(n) || jsonb_build_object(
        'id', g, 'chave_acesso', left(n.chave_acesso, 23) || lpad(g::text, 13, '0') || right(n.chave_acesso, 14),
        'numero_protocolo', left(n.numero_protocolo, 14) || lpad(g::text, 20, '0'), 'id_dps', left(n.id_dps, 27) || lpad(g::text, 15, '0'),
        'tomador_cpf_cnpj', lpad(g::text, 14, '0'), 'tomador_razao_social', 'Tomador n' || g)) copy`,
    [first, count],
  );
}

/** The learned takers of the copies. */
async function listLearned(): Promise<readonly number[]> {
  const text = `select distinct documento::bigint::integer as id from nomes where documento like '0000000%' order by id`;
  return (await pool.query<{ id: number }>(text)).rows.map(({ id }) => id);
}

const numbersFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, place) => first + place);

test('a turn reads a bounded number of notes, in their order, and says that there are more', async () => {
  await copyNota(FIRST, 2 * TURN_NOTES + 100);
  assert.equal(await store.nomes.learn(0, SALAS.nomes), true);
  // The issued note is the first of the turn.
  assert.deepEqual(await listLearned(), numbersFrom(FIRST, TURN_NOTES - 1));
  while (await store.nomes.learn(0, SALAS.nomes));
  assert.deepEqual(await listLearned(), numbersFrom(FIRST, 2 * TURN_NOTES + 100));
});

test('a note that is stored below the mark is found with the next one', async () => {
  const above = FIRST + 10_000;
  await copyNota(above, 1);
  while (await store.nomes.learn(0, SALAS.nomes));
  await copyNota(above - 50, 3);
  assert.equal(await store.nomes.learn(0, SALAS.nomes), false);
  assert.ok(!(await listLearned()).includes(above - 50), 'no new note, no look');
  await copyNota(above + 1, 1);
  while (await store.nomes.learn(0, SALAS.nomes));
  const late = (await listLearned()).filter((id) => id >= above - 50);
  assert.deepEqual(late, [above - 50, above - 49, above - 48, above, above + 1]);
});

test('notes below the mark are read again only when there are others', async () => {
  const from = query.mock.callCount();
  const countAsked = (part: string): number =>
    query.mock.calls.slice(from).filter(({ arguments: asked }) => JSON.stringify(asked).includes(part)).length;
  await copyNota(FIRST + 20_000, 5);
  while (await store.nomes.learn(0, SALAS.nomes));
  assert.deepEqual([countAsked('below_next'), countAsked('id > $3 and id <= $4')], [1, 0]);
  await copyNota(FIRST + 19_000, 1);
  await copyNota(FIRST + 21_000, 1);
  while (await store.nomes.learn(0, SALAS.nomes));
  assert.deepEqual([countAsked('below_next'), countAsked('id > $3 and id <= $4')], [2, 1]);
});

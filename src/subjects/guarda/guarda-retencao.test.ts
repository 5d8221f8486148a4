/** A hold and the elimination of the same month at once: one of them comes first, and the other is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { until } from '../../../test/support/until.ts';
import { ensureMeses } from '../../base/book/meses.ts';
import { createStore } from '../../wiring/store.ts';
import { eliminateMes, holdMes, listHolds } from './eliminar.ts';

const SLUG = 'sao-paulo';
const MES = '2026-01';
const BY = { quem: 'maria', via: 'comando', motivo: 'Termo 1/2037' } as const;

test('a month is not told to be held while it goes, nor after', async () => {
  const pool = await freshPool();
  const world = { store: createStore(pool), now: () => Date.parse('2037-02-01T12:00:00-03:00') };
  await world.store.municipios.create({ tenant: SLUG, ambiente: 'producao', codigoIbge: '3550308' }, world.now());
  await ensureMeses(pool, [202_601]);
  // Another connection delays the elimination after its check for holds.
  const other = await pool.connect();
  await other.query('begin; lock table nomes in share mode');
  const eliminating = eliminateMes(world, MES, BY);
  await until(async () => {
    const { rows } =
      await pool.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'delete from nomes%'
      and datname = current_database()`);
    return rows.length > 0 || undefined;
  }, 'the elimination waits');
  const held = await holdMes(world, SLUG, MES, { ...BY, motivo: 'processo 7' });
  await other.query('rollback');
  other.release();
  const done = await eliminating;
  assert.ok(!('problem' in done), JSON.stringify(done));
  assert.match(held?.problem ?? 'held', /está sendo eliminado ou arquivado neste instante, e não foi retido/);
  const later = await holdMes(world, SLUG, MES, BY);
  assert.match(later?.problem ?? 'held', /2026-01 já foi eliminado: não há o que reter/);
  assert.deepEqual(await listHolds(world), []);
  // A month without rows can be held.
  assert.equal(await holdMes(world, SLUG, '2036-12', BY), undefined);
});

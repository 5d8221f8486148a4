/** Municipalities are read together: those that one turn asks for, in one statement. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { isDistributed } from '../pg/distributed.ts';
import { municipioStore } from './municipios.ts';

const SLUGS = ['alfa', 'beta', 'gama'] as const;

test('municipalities that are asked for in one turn are read by one statement', async (t) => {
  const pool = await freshPool();
  const municipios = municipioStore(pool);
  for (const tenant of SLUGS) await municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, 0);
  const asked = t.mock.method(pool, 'query');
  const found = await Promise.all([...SLUGS, 'delta', 'alfa'].map((slug) => municipios.findBySlug(slug)));
  assert.deepEqual(
    found.map((one) => one?.tenant),
    [...SLUGS, undefined, 'alfa'],
  );
  assert.equal(asked.mock.callCount(), isDistributed(pool) ? 4 : 1);
  assert.deepEqual(found[1], await municipios.readFresh('beta'));
});

/** The look at the due work of all municipalities finds what a question about each one finds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import fc from '../../../test/support/seed.ts';
import { dueLister } from './due.rows.ts';

const NOW = Date.parse('2026-11-30T12:00:00-03:00');
/** The table of rates in force; an older one holds notes. */
const VERSAO = 2;
const TENANTS = Array.from({ length: 12 }, (_, place) => `m${place}`);

/** A row of each queue, for the tenant $1, due at $2; and the kind of its work. */
const QUEUES = [
  ['notas', `insert into fila (tenant, tipo, id, mes, due_at) values ($1, 'nota', 1, 202611, $2)`],
  ['lotes', `insert into fila (tenant, tipo, id, mes, due_at) values ($1, 'lote', 2, 202611, $2)`],
  [
    'exportacoes',
    `insert into exportacoes (tenant, id, documento, formato, pedida, estado, criada_em, expira_em, due_at)
      values ($1, 'e', '11222333000181', 'xml', '{}', 'pronta', $2, $2, $2)`,
  ],
  [
    'avisos',
    `insert into webhooks (tenant, id, documento, url, tipos, segredo, criado_em, proxima, rapido)
      values ($1, 'r', '11222333000181', 'x', '{}', 'x', $2, $2, true)`,
  ],
  [
    'avisos_lentos',
    `insert into webhooks (tenant, id, documento, url, tipos, segredo, criado_em, proxima, rapido)
      values ($1, 'l', '11222333000181', 'x', '{}', 'x', $2, $2, false)`,
  ],
] as const;

/** The same for queues whose rows are due at once; a held note is due once there is a newer table of rates. */
const AT_ONCE = [
  ['mudancas', `insert into mudancas_novas (tenant, id, mudancas) values ($1, gen_random_uuid(), 'x')`],
  ['auditoria', `insert into auditoria (tenant, id, itens, resumos) values ($1, gen_random_uuid(), 'x', 'x')`],
  ['retidas', `insert into retidas (tenant, nota, mes, tabela_aliquotas) values ($1, 3, 202611, ${VERSAO - 1})`],
  [undefined, `insert into retidas (tenant, nota, mes, tabela_aliquotas) values ($1, 4, 202611, ${VERSAO})`],
] as const;

test('the look at all municipalities finds the due work of each, and of no other', async () => {
  const pool = await freshPool();
  const listDue = dueLister(pool);
  for (const tenant of TENANTS) {
    const text = `insert into municipios (tenant, ambiente, criado_em) values ($1, 'homologacao', now())`;
    await pool.query(text, [tenant]);
  }
  const row = fc.record({
    tenant: fc.constantFrom(...TENANTS),
    queue: fc.nat(QUEUES.length + AT_ONCE.length - 1),
    isDue: fc.boolean(),
  });
  const rows = fc.uniqueArray(row, { selector: ({ tenant, queue }) => `${tenant} ${queue}`, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(rows, async (all) => {
      const client = await pool.connect();
      try {
        // The notes behind the rows are not looked at.
        await client.query('set session_replication_role = replica');
        await client.query('delete from auditoria');
        for (const table of ['fila', 'retidas', 'mudancas_novas', 'webhooks', 'exportacoes'])
          await client.query(`delete from ${table}`);
        const expected: string[] = [];
        for (const { tenant, queue, isDue } of all) {
          const timed = QUEUES[queue];
          if (timed !== undefined) {
            await client.query(timed[1], [tenant, new Date(NOW + (isDue ? -1 : 60_000))]);
            if (isDue) expected.push(`${tenant} ${timed[0]}`);
          } else {
            const [kind, text] = AT_ONCE[queue - QUEUES.length]!;
            await client.query(text, [tenant]);
            if (kind !== undefined) expected.push(`${tenant} ${kind}`);
          }
        }
        const found = await listDue(NOW, VERSAO);
        assert.deepEqual(found.map(({ tenant, kind }) => `${tenant} ${kind}`).sort(), expected.sort());
        const some = TENANTS.slice(0, 6);
        const ofSome = await listDue(NOW, VERSAO, some);
        assert.deepEqual(
          ofSome.map(({ tenant, kind }) => `${tenant} ${kind}`).sort(),
          expected.filter((line) => some.includes(line.split(' ')[0]!)),
        );
      } finally {
        client.release(true);
      }
    }),
    { numRuns: 30 },
  );
});

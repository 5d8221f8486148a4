/** The first numbers of a restored database, for all numbers given before it and all times of the clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { SECOND_MS } from '../../fiscal/moment.ts';
import { createStore } from '../../wiring/store.ts';
import { voltaOfBloco } from '../avisos/voltas.rows.ts';
import { copiaNumeros, type Volta } from './numeros.rows.ts';

const NOW = Date.UTC(2026, 10, 29);
const YEAR_MS = 365 * 86_400_000;
/** The layout has 13 digits for the number of a document (TSNumDFSe). */
const DIGITS_13 = 9_999_999_999_999n;

const pool = await freshPool();
const store = createStore(pool);
const passer = copiaNumeros(pool);

type Standing = { readonly nDFSe: bigint; readonly lotes: bigint; readonly bloco: bigint };

/** Sets the state of a copy; undefined: it was made before the first note. */
async function put(tenant: string, copy: Standing | undefined): Promise<void> {
  await pool.query('delete from sequencias where tenant = $1', [tenant]);
  await pool.query('delete from mudancas_ate where tenant = $1', [tenant]);
  if (copy === undefined) return;
  const { nDFSe, lotes, bloco } = copy;
  await pool.query("insert into sequencias (tenant, nome, proximo) values ($1, 'nDFSe', $2), ($1, 'lotes', $3)", [
    ...[tenant, nDFSe, lotes],
  ]);
  await pool.query('insert into mudancas_ate (tenant, bloco) values ($1, $2)', [tenant, bloco]);
}

async function restore(tenant: string, copy: Standing | undefined, volta: Volta): Promise<Standing> {
  await put(tenant, copy);
  const asked = { tenant, isProducao: false, alem: new Map(), adiante: 1000n, volta, nsu: '0' };
  await passer.passOver({ ...asked, quem: 'teste', em: volta.em, motivo: 'volta' });
  const { rows } = await pool.query<{ nome: 'nDFSe' | 'lotes'; proximo: string }>(
    'select nome, proximo from sequencias where tenant = $1',
    [tenant],
  );
  const [blocos] = (await pool.query<{ bloco: string }>('select bloco from mudancas_ate where tenant = $1', [tenant]))
    .rows;
  const sequencias = Object.fromEntries(rows.map(({ nome, proximo }) => [nome, BigInt(proximo)]));
  return { ...(sequencias as { nDFSe: bigint; lotes: bigint }), bloco: BigInt(blocos!.bloco) };
}

const AT: Standing = { nDFSe: 9_000_000n, lotes: 40n, bloco: 700n };
const EARLIER: Standing = { nDFSe: 2049n, lotes: 3n, bloco: 9n };

/** Restorations in sequence: the copy, its moment, its timeline, and the quantity of numbers given after it. */
const ROWS: readonly (readonly [
  name: string,
  ...voltas: (readonly [copy: Standing | undefined, em: number, linha: number, given: bigint])[],
])[] = [
  [
    'to earlier and earlier moments',
    [AT, NOW, 2, 5_000_000n],
    [EARLIER, NOW + 3_600 * SECOND_MS, 3, 1n],
    [EARLIER, NOW + 3_700 * SECOND_MS, 4, 200_000n],
  ],
  ['seconds apart', [AT, NOW, 2, 20_000n], [AT, NOW + SECOND_MS, 3, 20_000n], [AT, NOW + 2 * SECOND_MS, 4, 0n]],
  ['of a copy from before the first note', [undefined, NOW, 2, 5000n], [undefined, NOW + 60 * SECOND_MS, 3, 5000n]],
  ['whose timeline was lost with the disk', [AT, NOW, 2, 9000n], [EARLIER, NOW + 60 * SECOND_MS, 2, 1n]],
  ['under a clock that is stopped', [AT, NOW, 2, 9000n], [EARLIER, NOW, 3, 9000n], [EARLIER, NOW, 4, 1n]],
  ['of a program that passed over a million', [{ ...AT, nDFSe: 3_002_049n, bloco: 2_000_009n }, NOW, 4, 1n]],
];

for (const [row, [name, ...voltas]] of ROWS.entries()) {
  test(`no number is given twice by restorations ${name}`, async () => {
    const tenant = `volta-${row}`;
    await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, NOW);
    let before = AT;
    const epochs = new Set<number | undefined>([undefined]);
    for (const [copy, em, linha, given] of voltas) {
      const start = await restore(tenant, copy, { em, linha });
      for (const nome of ['nDFSe', 'lotes', 'bloco'] as const)
        assert.ok(start[nome] > before[nome], `${nome} begins at ${start[nome]}, and ${before[nome]} was given`);
      assert.ok(start.nDFSe > (copy?.nDFSe ?? 0n) && start.bloco > (copy?.bloco ?? 0n));
      // The name of a change shows its restoration.
      const epoch = voltaOfBloco(Number(start.bloco) + 1);
      assert.ok(!epochs.has(epoch), String(epoch));
      epochs.add(epoch);
      // Blocks come at most two and a half times a second, with hundreds of changes in each.
      before = { nDFSe: start.nDFSe + given, lotes: start.lotes + given, bloco: start.bloco + given / 100n };
    }
  });
}

test('numbers fit the layout and are exact, whatever year the clock says', async () => {
  await store.municipios.create({ tenant: 'ano', ambiente: 'homologacao', codigoIbge: undefined }, NOW);
  for (const em of [0, NOW, NOW + 20 * YEAR_MS, NOW + 5_000 * YEAR_MS]) {
    const { nDFSe, bloco } = await restore('ano', AT, { em, linha: 900 });
    assert.ok(nDFSe > AT.nDFSe && nDFSe < DIGITS_13 / 2n + 10n ** 9n, `${nDFSe}`);
    // A place among all deliveries is ten thousand times its block.
    assert.ok(Number.isSafeInteger(Number(bloco) * 10_000) && bloco > AT.bloco, `${bloco}`);
  }
  assert.equal(await passer.readLinha(), 1);
});

/**
 * Numbers of DPS without a number: the next free one of their series, at or above the number of the note. This holds for any set of numbers
 * used by the sender, and with concurrent issuances (D-18, D-17).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pidOf, untilAwaited } from '../../../test/support/database.ts';
import { MES } from '../../../test/support/nota-keys.ts';
import { recorded, type Statements } from '../../../test/support/plans.ts';
import fc from '../../../test/support/seed.ts';
import { CNPJ, NOW, openTenants, rowOf, sharedProcesses } from '../../../test/support/stores.ts';
import { dpsIdInSerie, dpsSerieOf } from '../../fiscal/chave.ts';
import { notaMove } from '../../fiscal/nota.ts';
import type { Issuance } from '../../subjects/notas/issue.rows.ts';
import { createStore, type Store } from '../../wiring/store.ts';
import { type Db, runTransaction } from '../pg/open.ts';
import { unavailabilityOf } from '../pg/unavailable.ts';
import { advanceNumbers, automaticNumbers, heldSequences } from './numeracao.ts';

const CPF = '52998224725';
const PROVIDERS = [CNPJ, CPF];
const SERIES = ['70000', '3'];

const [{ pool, store }, { pool: other, store: otherStore }] = await sharedProcesses();
const stores = [store, otherStore] as const;
let tenants = 0;

async function newTenant(): Promise<string> {
  tenants += 1;
  const tenant = `numeros${tenants}`;
  await openTenants(store, [tenant]);
  return tenant;
}

const serieOf = (documento: string, serie: string): string => dpsSerieOf({ cLocEmi: '3550308', documento, serie });

/** `nDPS` undefined: the store numbers it. */
function issuance(prestador: string, serie: string, nDPS: number | undefined, fails = false): Issuance {
  const begin = serieOf(prestador, serie);
  return {
    prestador,
    mes: MES,
    dps: nDPS === undefined ? { serie: begin } : { id: dpsIdInSerie(begin, nDPS) },
    novoPrestador: undefined,
    complete: ({ nDPS: given }) => {
      if (fails) throw new Error('this note could not be made');
      const number = nDPS ?? given!;
      return rowOf(dpsIdInSerie(begin, number), { serie_dps: serie, numero_dps_nacional: String(number) });
    },
  };
}

test('a statement that finds no municipality is one to send again, as where Citus has just divided its shard', async () => {
  const written = runTransaction(pool, (client) => advanceNumbers(client, 'nenhum', new Map([[CNPJ, 1n]])));
  await assert.rejects(written, (error) => unavailabilityOf(error) !== undefined);
});

type Numbered = { readonly nNFSe: number; readonly nDPS: number };

/** Issues one note; undefined if the number was in use, or the document could not be made. */
async function issued(by: Store, tenant: string, job: Issuance): Promise<Numbered | undefined> {
  const result = await by.notas.issue(tenant, job);
  if (!('nota' in result)) return undefined;
  const row = (await by.notas.findByProtocolo(tenant, result.nota.numero_protocolo))!;
  return { nNFSe: Number(row.numero_dps), nDPS: Number(row.numero_dps_nacional) };
}

/** The national environment refuses all due notas, and their numbers are free again. */
async function refuseAll(tenant: string): Promise<void> {
  const { token, notas } = await store.notas.claim(tenant, NOW, NOW + 60_000, 1000);
  const move = notaMove('transmitida', 'recusa')!;
  await store.notas.settle(
    tenant,
    token,
    NOW,
    notas.map(({ id, mes }) => ({ id, mes, move, mensagem_retorno: 'E1234: recusada', dueAt: undefined })),
  );
}

const STEP = fc.oneof(
  { weight: 6, arbitrary: fc.constant('sem número' as const) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 30 }) },
  { weight: 1, arbitrary: fc.constant('recusa' as const) },
  { weight: 1, arbitrary: fc.constant('falha' as const) },
);
const STEPS = fc.array(
  fc.record({ what: STEP, prestador: fc.constantFrom(...PROVIDERS), serie: fc.constantFrom(...SERIES) }),
  { minLength: 1, maxLength: 40 },
);

describe('one after the other', () => {
  test('each takes what a table kept by hand gives', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const tenant = await newTenant();
        const ultimo = new Map<string, number>();
        const inUse = new Set<string>();
        /** The highest automatic number of each series. */
        const automatic = new Map<string, number>();
        for (const { what, prestador, serie } of steps) {
          const place = `${prestador}/${serie}`;
          if (what === 'recusa') {
            await refuseAll(tenant);
            inUse.clear();
            continue;
          }
          const nNFSe = (ultimo.get(prestador) ?? 0) + 1;
          let nDPS: number | undefined;
          if (typeof what === 'number') nDPS = inUse.has(`${place}/${what}`) ? undefined : what;
          else {
            nDPS = Math.max(nNFSe, (automatic.get(place) ?? 0) + 1);
            while (inUse.has(`${place}/${nDPS}`)) nDPS += 1;
            const { nNFSe: note, nDPS: next } = await store.notas.previewNumbers(
              tenant,
              prestador,
              serieOf(prestador, serie),
            );
            assert.deepEqual([note, next], [BigInt(nNFSe), BigInt(nDPS)], 'as the dry run tells it');
          }
          const byHand = typeof what === 'number' ? what : undefined;
          const got = await issued(store, tenant, issuance(prestador, serie, byHand, what === 'falha')).catch(
            () => undefined,
          );
          if (what === 'falha' || nDPS === undefined) {
            assert.equal(got, undefined);
            continue;
          }
          assert.deepEqual(got, { nNFSe, nDPS });
          ultimo.set(prestador, nNFSe);
          inUse.add(`${place}/${nDPS}`);
          if (byHand === undefined) automatic.set(place, Math.max(nDPS, automatic.get(place) ?? 0));
        }
      }),
      { numRuns: 40 },
    );
  });
});

test('an automatic number is given once, though its note was refused', async () => {
  const tenant = await newTenant();
  const automatic = () => issued(store, tenant, issuance(CNPJ, '3', undefined));
  await issued(store, tenant, issuance(CNPJ, '3', 2));
  assert.deepEqual(await automatic(), { nNFSe: 2, nDPS: 3 });
  await refuseAll(tenant);
  assert.deepEqual(await automatic(), { nNFSe: 3, nDPS: 4 }, '2 and 3 are free, and 3 was given');
});

test('who only asks is told how far the automatic numbers of a series have got', async () => {
  const tenant = await newTenant();
  const preview = () => store.notas.previewNumbers(tenant, CNPJ, serieOf(CNPJ, '3'));
  assert.deepEqual(await preview(), { nNFSe: 1n, nDPS: 1n, alcancado: 1n }, 'with the next note');
  for (const byHand of [5, 6, 7]) await issued(store, tenant, issuance(CNPJ, '3', byHand));
  for (const nDPS of [4, 8]) {
    assert.equal((await issued(store, tenant, issuance(CNPJ, '3', undefined)))!.nDPS, nDPS);
  }
  assert.deepEqual(await preview(), { nNFSe: 6n, nDPS: 9n, alcancado: 8n });
});

test('a number that is taken in the group is passed, and one that was not looked at is not given', async () => {
  const tenant = await newTenant();
  const serie = serieOf(CNPJ, '3');
  const client = await pool.connect();
  try {
    const wanted = [{ serie, prestador: CNPJ, avancado: 0n }];
    const { next } = await automaticNumbers(client, tenant, wanted, 1);
    const isFirst = (idDps: string): boolean => idDps === dpsIdInSerie(serie, 1);
    assert.deepEqual([next(serie, 1n, isFirst), next(serie, 4n, isFirst)], [2n, 4n]);
    assert.throws(() => next(serie, 5n, () => false), /more numbers of a series than were looked at/);
  } finally {
    client.release();
  }
});

test('sequences are locked in one order, whatever the order of the notes', async () => {
  const tenant = await newTenant();
  for (const prestador of PROVIDERS) await issued(store, tenant, issuance(prestador, '3', undefined));
  const [first, second] = [await other.connect(), await other.connect()];
  try {
    await first.query('begin');
    await first.query('select 1 from numeracao where tenant = $1 and prestador = $2 for update', [tenant, CNPJ]);
    await second.query('begin');
    const pid = await pidOf(first);
    const advanced = advanceNumbers(second, tenant, new Map([CPF, CNPJ].map((prestador) => [prestador, 1n])));
    await untilAwaited(pool, pid);
    assert.deepEqual(await heldSequences(pool, tenant, PROVIDERS), new Set([CNPJ]), 'the second is not held yet');
    await first.query('rollback');
    assert.deepEqual(await advanced, new Map(PROVIDERS.map((prestador) => [prestador, 2n])));
  } finally {
    for (const client of [first, second]) {
      await client.query('rollback');
      client.release();
    }
  }
});

test('a sequence that somebody holds is told from those that are free, of this municipality alone', async () => {
  const [tenant, elsewhere] = [await newTenant(), await newTenant()];
  for (const one of [tenant, elsewhere]) {
    for (const prestador of PROVIDERS) await issued(store, one, issuance(prestador, '3', undefined));
  }
  const unknown = '99999999000191';
  await issued(store, elsewhere, issuance(unknown, '3', undefined));
  const client = await other.connect();
  try {
    await client.query('begin');
    await client.query('select 1 from numeracao where tenant = $1 and prestador = $2 for update', [tenant, CNPJ]);
    assert.deepEqual(await heldSequences(pool, tenant, [...PROVIDERS, unknown]), new Set([CNPJ]));
    assert.deepEqual(await heldSequences(pool, tenant, [CPF]), new Set());
    assert.deepEqual(await heldSequences(pool, elsewhere, PROVIDERS), new Set());
  } finally {
    await client.query('rollback');
    client.release();
  }
  assert.deepEqual(await heldSequences(pool, tenant, PROVIDERS), new Set());
});

describe('all at once, in two processes', () => {
  test('numbers of notes have no gap, and each DPS without number has the next free one of its series', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const tenant = await newTenant();
        const sent = steps.filter(({ what }) => what !== 'recusa');
        const results = await Promise.all(
          sent.map(async ({ what, prestador, serie }, place) => {
            const nDPS = typeof what === 'number' ? what : undefined;
            const job = issuance(prestador, serie, nDPS, what === 'falha');
            const got = await issued(stores[place % 2]!, tenant, job).catch(() => undefined);
            return { what, prestador, serie, got };
          }),
        );
        for (const { what, got } of results) {
          if (what === 'sem número') assert.ok(got !== undefined, 'none is refused for its number');
        }
        for (const prestador of PROVIDERS) {
          const own = results.flatMap((one) =>
            one.prestador === prestador && one.got ? [{ ...one, ...one.got }] : [],
          );
          const inOrder = own.toSorted((a, b) => a.nNFSe - b.nNFSe);
          assert.deepEqual(
            inOrder.map(({ nNFSe }) => nNFSe),
            inOrder.map((_, place) => place + 1),
          );
          for (const serie of SERIES) assertNextFree(inOrder.filter((one) => one.serie === serie));
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** `notas`: notes of one series in their order, with no number freed. */
function assertNextFree(notas: readonly (Numbered & { readonly what: unknown })[]): void {
  const inUse = new Set(notas.map(({ nDPS }) => nDPS));
  assert.equal(inUse.size, notas.length, 'no number twice');
  let last = 0;
  for (const [place, { what, nNFSe, nDPS }] of notas.entries()) {
    if (what !== 'sem número') continue;
    assert.ok(nDPS >= nNFSe && nDPS > last, `${nDPS} of note ${nNFSe}, after ${last}`);
    const before = new Set(notas.slice(0, place).map((one) => one.nDPS));
    for (let skipped = Math.max(nNFSe, last + 1); skipped < nDPS; skipped += 1) {
      assert.ok(before.has(skipped), `${skipped} was free, and ${nDPS} was taken`);
    }
    last = nDPS;
  }
}

describe('a hundred thousand numbers taken by hand', () => {
  const TAKEN = 100_000;

  /** Occupies the numbers of 100,000 notes of the provider, beginning after `behind`. */
  async function takenByHand(count = TAKEN, behind = count): Promise<string> {
    const tenant = await newTenant();
    await pool.query(
      `insert into identidades (tenant, id_dps, nota, mes)
        select $1, $2 || lpad((n + $4)::text, 15, '0'), 1000000 + n, $5 from generate_series(1, $3::int) n`,
      [tenant, serieOf(CNPJ, '70000'), count, behind, MES],
    );
    await pool.query('insert into numeracao (tenant, prestador, ultimo) values ($1, $2, $3)', [tenant, CNPJ, count]);
    return tenant;
  }

  test('are passed once, in a few statements, and then are behind', async () => {
    const tenant = await takenByHand();
    let looks = 0;
    const counted = createStore(counting(pool, /from numeracao_dps s/, () => (looks += 1)));
    assert.deepEqual(await issued(counted, tenant, issuance(CNPJ, '70000', undefined)), {
      nNFSe: TAKEN + 1,
      nDPS: 2 * TAKEN + 1,
    });
    assert.ok(looks <= 7, `${looks} statements`);
    for (let more = 2; more <= 4; more += 1) {
      looks = 0;
      const got = await issued(counted, tenant, issuance(CNPJ, '70000', undefined));
      assert.deepEqual([got, looks], [{ nNFSe: TAKEN + more, nDPS: 2 * TAKEN + more }, 1]);
    }
    assert.deepEqual(
      await issued(counted, tenant, issuance(CNPJ, '3', undefined)),
      { nNFSe: TAKEN + 5, nDPS: TAKEN + 5 },
      'another series goes with the notes',
    );
  });

  test('are not read beyond the four numbers of which one note may need two', async () => {
    const tenant = await takenByHand(TAKEN, TAKEN + 2);
    let looks = 0;
    const counted = createStore(counting(pool, /from numeracao_dps s/, () => (looks += 1)));
    const got = await issued(counted, tenant, issuance(CNPJ, '70000', undefined));
    assert.deepEqual([got, looks], [{ nNFSe: TAKEN + 1, nDPS: TAKEN + 1 }, 1]);
  });

  test('a thousand and twenty-four are looked at for who only asks', async () => {
    for (const [count, nDPS] of [
      [1023, 2047n],
      [1024, undefined],
    ] as const) {
      const tenant = await takenByHand(count);
      const next = await store.notas.previewNumbers(tenant, CNPJ, serieOf(CNPJ, '70000'));
      assert.equal(next.nDPS, nDPS);
    }
  });

  test('are not looked through for who only asks', async () => {
    const tenant = await takenByHand();
    const next = await store.notas.previewNumbers(tenant, CNPJ, serieOf(CNPJ, '70000'));
    assert.deepEqual(next, { nNFSe: BigInt(TAKEN + 1), nDPS: undefined, alcancado: BigInt(TAKEN + 1) });
  });
});

/** A pool around the same database; `onSent` is called for every matching statement. */
function counting(of: Db, text: RegExp, onSent: () => void): Db {
  const statements: Statements = new Map();
  statements.set = function set(statement, values) {
    if (text.test(statement)) onSent();
    return Map.prototype.set.call(this, statement, values);
  };
  return recorded(of, statements);
}

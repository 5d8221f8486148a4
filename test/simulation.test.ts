/**
 * Notes and events together, on the real flows and the real database, against an environment that fails: what a seed draws is
 * played to its end, and then everything that must hold is looked for in the rows.
 *
 * NFSE_TEST_LONGO=1 plays two thousand seeds, `npm run test:citus` two hundred. NFSE_TEST_SEMENTE=N plays the one that failed again, and tells its story.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCertificate } from '../src/documents/certificate.ts';
import { companyCertificate, rootAuthority } from '../src/documents/pki.ts';
import { EVENTO_MOVES } from '../src/fiscal/evento.ts';
import type { Db } from '../src/store/open.ts';
import { freshPool } from './support/database.ts';
import { readyKeys } from './support/keys.ts';
import { ASKED_SEED, LONG } from './support/seed.ts';
import { companyOf, yearAround } from './support/signatures.ts';
import { type Signers, Simulacao } from './support/simulation.ts';
import { brokenInvariants } from './support/simulation-invariants.ts';

const FIRST_SEED = 20261121;
const SEEDS = LONG ? 2_000 : process.env.NFSE_TEST_CITUS === undefined ? 50 : 200;
/** Moves of the machine that fifty seeds may leave out: some are a matter of once in a hundred. */
const MISSING_MAX = 5;
/** Of the seeds that failed, how many are told whole. */
const STORIES_MAX = 3;
/** Seeds at once: while one waits for the database another reckons. */
const AT_ONCE = 6;

type Stage = { readonly pool: Db; readonly signers: Signers };

let stage: Promise<Stage> | undefined;

async function openStage(): Promise<Stage> {
  const now = Date.parse('2026-11-21T12:00:00-03:00');
  const [rootKeys, ...own] = await Promise.all([readyKeys(), readyKeys(), readyKeys()]);
  const root = rootAuthority('AC Raiz de Teste', rootKeys, yearAround(now));
  const signers = own.map((keys) => {
    const certificate = readCertificate(
      companyCertificate(root, companyOf('46395000000139'), keys.publicKey, yearAround(now)),
    );
    assert.ok(!('problem' in certificate));
    return { key: keys.privateKey, certificate };
  });
  return { pool: await poolOfOnePlan(), signers: signers as unknown as Signers };
}

/**
 * Each connection plans a statement once: two thirds of the time of the server went into plans, and which are taken is tried elsewhere. Citus
 * makes no plan for no value of what it cannot give to one node.
 */
async function poolOfOnePlan(): Promise<Db> {
  const pool = await freshPool();
  if (process.env.NFSE_TEST_CITUS !== undefined) return pool;
  pool.on('connect', (client) => void client.query('set plan_cache_mode = force_generic_plan'));
  return pool;
}

let runs = 0;

async function played(seed: number): Promise<{ simulacao: Simulacao; broken: readonly string[] }> {
  stage ??= openStage();
  const { pool, signers } = await stage;
  runs += 1;
  const simulacao = await Simulacao.run(pool, seed, signers, String(runs));
  return { simulacao, broken: await brokenInvariants(simulacao) };
}

function told(seed: number, broken: readonly string[], { trace }: Simulacao): string {
  return `NFSE_TEST_SEMENTE=${seed}\n${broken.join('\n')}\n\nA história:\n${trace.join('\n')}`;
}

test(`${ASKED_SEED ?? SEEDS} seeds of notes and events`, async (t) => {
  const seeds =
    ASKED_SEED === undefined ? Array.from({ length: SEEDS }, (_, place) => FIRST_SEED + place) : [ASKED_SEED];
  t.diagnostic(`seeds ${seeds[0]} to ${seeds.at(-1)}; one of them alone: NFSE_TEST_SEMENTE=${seeds[0]}`);
  const [moves, answers, refused] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const failed: { seed: number; first: string; told: string }[] = [];
  const left = seeds.values();
  const player = async (): Promise<void> => {
    for (const seed of left) {
      const { simulacao, broken } = await played(seed);
      if (broken.length > 0) failed.push({ seed, first: broken[0]!, told: told(seed, broken, simulacao) });
      if (ASKED_SEED !== undefined) t.diagnostic(simulacao.trace.join('\n'));
      add(refused, simulacao.refused);
      add(answers, simulacao.ambiente.answered);
      add(moves, await movesOf(simulacao));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, player));
  for (const counts of [moves, answers, refused]) {
    const lines = [...counts].map(([name, times]) => `${name}: ${times}`);
    t.diagnostic(lines.toSorted().join(', '));
  }
  const list = failed.map(({ seed, first }) => `${seed}: ${first.split('\n')[0]}`).join('\n');
  const stories = failed.slice(0, STORIES_MAX).map((one) => one.told);
  assert.equal(failed.length, 0, `${failed.length} of ${seeds.length} failed\n${list}\n\n${stories.join('\n\n')}`);
  if (ASKED_SEED !== undefined) return;
  assert.ok(moves.has('retida publicacao emitida'), 'no seed let a held note go');
  const missing = EVENTO_MOVES.map(({ from, on, to }) => moveName(from, on, to)).filter((name) => !moves.has(name));
  assert.ok(missing.length <= (LONG ? 0 : MISSING_MAX), `moves that no seed made: ${missing.join(', ')}`);
});

/** Seeds that failed, and what was found by them; what was mended has a test of its own beside. */
const FAILED = [
  { seed: 20261138, found: 'an answer that is lost while nobody can be reached counts for no event' },
  { seed: 20261132, found: 'after a renewal an event is kept under the signature that the environment has' },
  { seed: 20261134, found: 'a refusal that no column takes as it is holds up neither its note nor the others' },
  { seed: 20261294, found: 'what replaces a note that was withdrawn waits no longer, and is refused' },
  {
    seed: 20262534,
    found: 'a note that was announced as it was stored, and is claimed again since, is one of its batch',
  },
] as const;

/** Those that the run of all has not played already. */
const BESIDE = FAILED.filter(({ seed }) => ASKED_SEED === undefined && seed >= FIRST_SEED + SEEDS);

for (const { seed, found } of BESIDE) {
  test(`seed ${seed}: ${found}`, async () => {
    const { simulacao, broken } = await played(seed);
    assert.ok(broken.length === 0, told(seed, broken, simulacao));
  });
}

test('a seed is the same story each time', async () => {
  const [one, other] = [await played(FIRST_SEED), await played(FIRST_SEED)];
  assert.deepEqual(other.simulacao.trace, one.simulacao.trace);
  assert.ok(one.simulacao.trace.length > 100);
});

function add(to: Map<string, number>, from: Iterable<readonly [string, number]>): void {
  for (const [name, times] of from) to.set(name, (to.get(name) ?? 0) + times);
}

function moveName(de: string | undefined | null, gatilho: string, para: string): string {
  return `${de ?? '(nada)'} ${gatilho} ${para}`;
}

/** The moves that the events of a simulation made, and its notes, and how often. */
async function movesOf({ pool, municipios }: Simulacao): Promise<Iterable<readonly [string, number]>> {
  const text = ['trilha_eventos', 'trilha_notas']
    .map(
      (trail) =>
        `select de, gatilho, para, count(*)::int as times from ${trail} where tenant = any ($1::text[]) group by 1, 2, 3`,
    )
    .join(' union all ');
  type Counted = { de: string | null; gatilho: string; para: string; times: number };
  const { rows } = await pool.query<Counted>(text, [municipios.map(({ tenant }) => tenant)]);
  return rows.map(({ de, gatilho, para, times }) => [moveName(de, gatilho, para), times] as const);
}

/**
 * Notes and events together, on the real flows and the real database, against an environment that fails. Each seed is run to its end, and
 * then the invariants are checked in the rows.
 *
 * NFSE_TEST_LONGO=1 runs two thousand seeds, `npm run test:citus` two hundred. NFSE_TEST_SEMENTE=N repeats a failed one, and prints its
 * trace.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENTO_MOVES } from '../src/fiscal/evento.ts';
import { ASKED_SEED, LONG } from './support/seed.ts';
import type { Simulacao } from './support/simulation.ts';
import { describeFailure, FIRST_SEED, playSeeds } from './support/simulation-stage.ts';

const SEEDS = LONG ? 2_000 : process.env['NFSE_TEST_CITUS'] === undefined ? 50 : 200;
/** Moves of the state machine that fifty seeds may miss: some happen once in a hundred. */
const MISSING_MAX = 5;
/** A run that is interrupted has told how far it came, and which seeds had failed. */
const TELL_EVERY = 100;
/** The number of failed seeds whose trace is printed. */
const STORIES_MAX = 3;

test(`${ASKED_SEED ?? SEEDS} seeds of notes and events`, async (t) => {
  const seeds =
    ASKED_SEED === undefined ? Array.from({ length: SEEDS }, (_, place) => FIRST_SEED + place) : [ASKED_SEED];
  t.diagnostic(`seeds ${seeds[0]} to ${seeds.at(-1)}; one of them alone: NFSE_TEST_SEMENTE=${seeds[0]}`);
  const [moves, answers, refused] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const failed: { seed: number; first: string; told: string }[] = [];
  let played = 0;
  await playSeeds(seeds, async (seed, { simulacao, broken }) => {
    if (broken.length > 0) {
      failed.push({ seed, first: broken[0]!, told: describeFailure(seed, broken, simulacao) });
      process.stderr.write(`seed ${seed}: ${broken[0]}\n`);
    }
    played += 1;
    if (played % TELL_EVERY === 0)
      process.stderr.write(`${played} of ${seeds.length} seeds, ${failed.length} failed\n`);
    if (ASKED_SEED !== undefined) t.diagnostic(simulacao.trace.join('\n'));
    add(refused, simulacao.refused);
    add(answers, simulacao.ambiente.answered);
    add(moves, await movesOf(simulacao));
  });
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

function add(to: Map<string, number>, from: Iterable<readonly [string, number]>): void {
  for (const [name, times] of from) to.set(name, (to.get(name) ?? 0) + times);
}

function moveName(de: string | undefined | null, gatilho: string, para: string): string {
  return `${de ?? '(nada)'} ${gatilho} ${para}`;
}

/** The moves of a simulation's events and notes, with their counts. */
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

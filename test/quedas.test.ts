/**
 * Everything dies, again and again, while clients go on: two services, a transmitter, the simulator of the ADN with its faults, and
 * PostgreSQL, as real processes on one data folder. After every round all that was answered is there, once, and as it was answered; at
 * the end everything rests, and the ADN holds what is authorised and nothing else.
 *
 * Everyday two rounds, with NFSE_TEST_LONGO=1 twenty, and `npm run test:quedas` two hundred (NFSE_TEST_QUEDAS=N). The seed is printed;
 * NFSE_TEST_SEMENTE=N draws the same victims and faults again. The figures are those of docs/confiabilidade.md.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Carga, startCarga, type Tentativa } from './support/quedas-carga.ts';
import { leisOf } from './support/quedas-leis.ts';
import { openPalco, type Queda } from './support/quedas-processos.ts';
import { ASKED_SEED, LONG, SEED } from './support/seed.ts';

const ASKED_ROUNDS = Number(process.env.NFSE_TEST_QUEDAS ?? 0);
const ROUNDS = ASKED_ROUNDS > 0 ? ASKED_ROUNDS : LONG ? 20 : 2;
const DRAWN = ASKED_SEED ?? (ASKED_ROUNDS > 0 ? Date.now() % 1_000_000 : SEED);
/** Of both services, to be ready and to issue after what struck has answered again. */
const BACK_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;
const BROKEN_SHOWN = 20;

/** A small generator with a seed: whom to strike and when is part of what is repeated. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** From so many on the end is waited for: what a dead worker had claimed waits a minute, and doubts of the ADN wait longer and longer. */
const ROUNDS_TO_REST = 3;

/** Each way in its turn, the turns in an order of their own. */
function* turnsOf(quedas: readonly Queda[], chance: () => number): Generator<Queda> {
  for (;;)
    yield* quedas
      .map((queda) => [chance(), queda] as const)
      .sort(([a], [b]) => a - b)
      .map(([, queda]) => queda);
}

type Rodada = {
  readonly nome: string;
  readonly notas: number;
  readonly eventos: number;
  /** Requests that ended in 503, and whose connection broke; the longest of either. */
  readonly recusados: number;
  readonly rompidos: number;
  readonly atéDizer: number;
  /** Until the next 201 of a request made after the blow, from any service. */
  readonly atéEmitir: number;
  /** From its death, or from the end of its stop, until it answers and both services are ready. */
  readonly atéPronto: number;
};

async function bothReady(services: readonly string[]): Promise<boolean> {
  const statuses = await Promise.all(
    services.map((address) =>
      fetch(`${address}/health/ready`, { signal: AbortSignal.timeout(BACK_WITHIN_MS) }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      ),
    ),
  );
  return statuses.every((status) => status === 200);
}

async function within(began: number, isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  while (!(await isSo())) {
    assert.ok(performance.now() - began < BACK_WITHIN_MS, `${what}: not within ${BACK_WITHIN_MS} ms`);
    await pause(LOOK_EVERY_MS);
  }
}

async function strikeOnce(queda: Queda, services: readonly string[], carga: Carga): Promise<Rodada> {
  carga.takeTentativas();
  const [notas, eventos] = [carga.notas.length, carga.eventos.length];
  const struck = performance.now();
  const from = await queda.strike();
  const next = (): Tentativa | undefined => carga.tentativas().find((one) => one.status === 201 && one.began >= struck);
  await within(performance.now(), () => bothReady(services), `after ${queda.nome} both services are ready`);
  const ready = performance.now();
  await within(ready, () => next() !== undefined, `after ${queda.nome} a note is issued`);
  const issued = next()!.ended;
  const of = (...statuses: readonly number[]) => carga.tentativas().filter(({ status }) => statuses.includes(status));
  return {
    nome: queda.nome,
    notas: carga.notas.length - notas,
    eventos: carga.eventos.length - eventos,
    recusados: of(503, 429).length,
    rompidos: of(0).length,
    atéDizer: Math.max(0, ...of(0, 503, 429).map(({ began, ended }) => ended - began)),
    atéEmitir: issued - struck,
    atéPronto: ready - from,
  };
}

test(`${ROUNDS} rounds of crashes, seed ${DRAWN}: nothing is lost, nothing is there twice`, {
  timeout: 120_000 + ROUNDS * 120_000 + 900_000,
  skip: process.platform !== 'linux' && 'the processes of the server are found as Linux tells them',
}, async (t) => {
  t.diagnostic(`NFSE_TEST_SEMENTE=${DRAWN}`);
  if (ASKED_ROUNDS > 0) process.stderr.write(`NFSE_TEST_SEMENTE=${DRAWN}\n`);
  const chance = random(DRAWN);
  const palco = await openPalco(DRAWN);
  const carga = await startCarga(palco, chance);
  const leis = leisOf(palco, carga, chance);
  const turns = turnsOf(palco.quedas, random(DRAWN + 1));
  const rodadas: Rodada[] = [];
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      await pause(500 + 1_500 * chance());
      const queda = turns.next().value;
      const rodada = await strikeOnce(queda, palco.services, carga);
      rodadas.push(rodada);
      none(await leis.broken(), `round ${round}, ${queda.nome}`);
      if (ASKED_ROUNDS > 0) process.stderr.write(`${round}/${ROUNDS} ${JSON.stringify(rodada)}\n`);
    }
  } catch (error) {
    carga.abandon();
    throw error;
  } finally {
    tellFigures(t, rodadas);
    for (const failed of palco.failedStarts) t.diagnostic(failed);
  }
  await carga.stop();
  none(await (ROUNDS < ROUNDS_TO_REST ? leis.broken() : leis.brokenAtRest()), 'at the end');
  assert.ok(carga.eventos.length > 0 || ROUNDS < 10, 'notes are cancelled');
  t.diagnostic(`${carga.notas.length} notas, ${carga.eventos.length} eventos, ${carga.lotes.length} lotes respondidos`);
});

function none(broken: readonly string[], when: string): void {
  const more = broken.length > BROKEN_SHOWN ? `\n… ${broken.length} in all` : '';
  assert.equal(broken.slice(0, BROKEN_SHOWN).join('\n') + more, '', when);
}

/** A table in Markdown: of each victim the middle and the worst. */
function tellFigures(t: TestContext, rodadas: readonly Rodada[]): void {
  const both = (all: readonly Rodada[], name: 'atéDizer' | 'atéEmitir' | 'atéPronto'): string => {
    const sorted = all.map((one) => one[name] / 1_000).toSorted((a, b) => a - b);
    const [middle, worst] = [sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!];
    return [middle, worst].map((seconds) => seconds.toFixed(2).replace('.', ',')).join(' / ');
  };
  const sum = (all: readonly Rodada[], name: 'notas' | 'eventos' | 'recusados' | 'rompidos'): number =>
    all.reduce((total, one) => total + one[name], 0);
  t.diagnostic(
    '| vítima | rodadas | notas | eventos | 503 | rompidos | até dizer (s) | até o próximo 201 (s) | até pronto (s) |',
  );
  t.diagnostic('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const [nome, all] of Map.groupBy(rodadas, ({ nome }) => nome)) {
    const counts = (['notas', 'eventos', 'recusados', 'rompidos'] as const).map((name) => sum(all, name));
    const times = (['atéDizer', 'atéEmitir', 'atéPronto'] as const).map((name) => both(all, name));
    t.diagnostic(`| ${[nome, all.length, ...counts, ...times].join(' | ')} |`);
  }
}

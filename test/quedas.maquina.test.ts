/**
 * Everything dies, again and again, while clients go on: two services, a transmitter, the ADN simulator with its faults, and PostgreSQL.
 * They are real processes on one data folder. An integrator with its own sandbox follows changes, receives messages and downloads files.
 *
 * Each answered note exists once after every round, as it was answered. Everything rests at the end, and the ADN holds exactly the
 * authorised notes.
 *
 * The everyday run has two rounds, NFSE_TEST_LONGO=1 twenty, and `npm run test:quedas` two hundred (NFSE_TEST_QUEDAS=N). The seed is
 * printed; NFSE_TEST_SEMENTE=N draws the same victims and faults again. The figures are those of docs/confiabilidade.md.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pace } from './support/pace.ts';
import { type Carga, startCarga, type Tentativa } from './support/quedas-carga.ts';
import { startIntegrador } from './support/quedas-integrador.ts';
import { leisOf } from './support/quedas-leis.ts';
import { openPalco, type Queda } from './support/quedas-processos.ts';
import { areReady, beginRodada, none, type Rodada, random, tellFigures, turnsOf } from './support/quedas-rodadas.ts';
import { ASKED_SEED, LONG, SEED } from './support/seed.ts';
import { onPatienceEnd } from './support/until.ts';

const ASKED_ROUNDS = Number(process.env['NFSE_TEST_QUEDAS'] ?? 0);
const ROUNDS = ASKED_ROUNDS > 0 ? ASKED_ROUNDS : LONG ? 20 : 2;
const DRAWN = ASKED_SEED ?? (ASKED_ROUNDS > 0 ? Date.now() % 1_000_000 : SEED);
/** The limit for both services to be ready and to issue, after the victim answers again. */
const BACK_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;

/**
 * The number of rounds from which the test waits for complete rest. A dead worker's claims last a minute, and doubts of the ADN last longer
 * and longer.
 */
const ROUNDS_TO_REST = 3;

/** Rounds whose notes are compared while the clients go on. */
const ROUNDS_BEFORE_REST = 20;

type RodadaDeQuedas = Rodada & {
  /** The time until the next 201 of a request made after the strike, from any service. */
  readonly atéEmitir: number;
  /** The time from its death, or from the end of its suspension, until it answers and both services are ready. */
  readonly atéPronto: number;
};

const TIMED = {
  atéDizer: 'até dizer (s)',
  atéEmitir: 'até o próximo 201 (s)',
  atéPronto: 'até pronto (s)',
} as const satisfies Partial<Record<keyof RodadaDeQuedas, string>>;

async function within(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  let isOver = false;
  const callOff = onPatienceEnd(BACK_WITHIN_MS, () => {
    isOver = true;
  });
  try {
    while (!(await isSo())) {
      assert.ok(!isOver, `${what}: not within ${BACK_WITHIN_MS} ms`);
      await pace(LOOK_EVERY_MS);
    }
  } finally {
    callOff();
  }
}

async function strikeOnce(queda: Queda, services: readonly string[], carga: Carga): Promise<RodadaDeQuedas> {
  const tell = beginRodada(carga, queda.nome, true);
  const struck = performance.now();
  const from = await queda.strike();
  const next = (): Tentativa | undefined => carga.tentativas().find((one) => one.status === 201 && one.began >= struck);
  await within(() => areReady(services), `after ${queda.nome} both services are ready`);
  const ready = performance.now();
  await within(() => next() !== undefined, `after ${queda.nome} a note is issued`);
  const issued = next()!.ended;
  return { ...tell(), atéEmitir: issued - struck, atéPronto: ready - from };
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
  const integrador = await startIntegrador(carga, random(DRAWN + 2));
  const leis = leisOf(palco, carga, chance);
  const turns = turnsOf(palco.quedas, random(DRAWN + 1));
  const rodadas: RodadaDeQuedas[] = [];
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      await pace(500 + 1_500 * chance());
      const queda = turns.next().value;
      const rodada = await strikeOnce(queda, palco.services, carga);
      rodadas.push(rodada);
      // All notes are compared each time: after some rounds the clients rest meanwhile, or two hundred rounds would have too many.
      const broken = round > ROUNDS_BEFORE_REST ? await carga.restDuring(leis.broken) : await leis.broken();
      none([...broken, ...integrador.broken()], `round ${round}, ${queda.nome}`);
      if (ASKED_ROUNDS > 0) process.stderr.write(`${round}/${ROUNDS} ${JSON.stringify(rodada)}\n`);
    }
  } catch (error) {
    carga.abandon();
    throw error;
  } finally {
    tellFigures(t, rodadas, TIMED);
    for (const failed of palco.failedStarts) t.diagnostic(failed);
  }
  none(await integrador.brokenAtRest(), 'of the integrator, at the end');
  await carga.stop();
  none(await (ROUNDS < ROUNDS_TO_REST ? leis.broken() : leis.brokenAtRest()), 'at the end');
  assert.ok(carga.eventos.length > 0 || ROUNDS < 10, 'notes are cancelled');
  t.diagnostic(`${carga.notas.length} notas, ${carga.eventos.length} eventos, ${carga.lotes.length} lotes respondidos`);
  t.diagnostic(integrador.figures());
});

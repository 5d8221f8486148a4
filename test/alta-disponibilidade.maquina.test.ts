/**
 * A primary that dies again and again, under Patroni, etcd and HAProxy as docs/site/disponibilidade.md describes them. Clients sign notes
 * and events meanwhile. Nothing answered is lost, and nothing is doubled. Clients that cannot be served are told to retry, and issuing goes
 * on.
 *
 * `npm run test:alta-disponibilidade` has twenty rounds (NFSE_TEST_ALTA=N sets another number), and their figures are those of the page.
 * The everyday run checks only the configuration of the page. NFSE_TEST_ALTA_MODO=assincrono measures the losses without synchronous
 * replication. NFSE_TEST_ALTA_VIA=lista puts all hosts into DATABASE_URL instead of HAProxy.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { etcdConfig, findPrograms, haproxyConfig, patroniConfig } from './support/alta-configuracao.ts';
import { type Golpe, openAlta } from './support/alta-palco.ts';
import { pace } from './support/pace.ts';
import { freshDataDir } from './support/process.ts';
import { type Carga, startCarga } from './support/quedas-carga.ts';
import { leisOf } from './support/quedas-leis.ts';
import { areReady, beginRodada, none, type Rodada, random, tellFigures, turnsOf } from './support/quedas-rodadas.ts';
import { ASKED_SEED } from './support/seed.ts';
import { until } from './support/until.ts';

const ROUNDS = Number(process.env['NFSE_TEST_ALTA'] ?? 0);
const MODO = process.env['NFSE_TEST_ALTA_MODO'] === 'assincrono' ? 'assincrono' : 'sincrono';
const VIA = process.env['NFSE_TEST_ALTA_VIA'] === 'lista' ? 'lista' : 'haproxy';
const DRAWN = ASKED_SEED ?? Date.now() % 1_000_000;
/** A manual switchover happens after so many rounds. */
const SWITCHOVER_EVERY = 4;
/** The longest time without service in a switchover; an overloaded machine is exempt from this limit. */
const SWITCHOVER_MS = 4_000;
const BUSY = 3;
const programs = findPrograms();

type RodadaDeAlta = Rodada & {
  /** The longest time between two answers 201. */
  readonly semEmitir: number;
  /** The time until the cluster is whole again, so that the next death costs no more than this one. */
  readonly atéInteiro: number;
};

const TIMED = {
  atéDizer: 'até dizer (s)',
  semEmitir: 'sem emitir (s)',
  atéInteiro: 'até ter três outra vez (s)',
} as const satisfies Partial<Record<keyof RodadaDeAlta, string>>;

/** One failure, from the strike until everything is as before. */
async function strikeOnce(
  golpe: Golpe,
  { banco, services }: Awaited<ReturnType<typeof openAlta>>,
  carga: Carga,
): Promise<RodadaDeAlta> {
  const tell = beginRodada(carga, golpe.nome, false);
  const struck = performance.now();
  const revive = await golpe.strike();
  const hit = performance.now();
  const issued = () => carga.tentativas().filter(({ status, ended }) => status === 201 && ended > struck);
  await until(
    async () => issued().some(({ began }) => began > hit) || undefined,
    `after ${golpe.nome} a note is issued`,
  );
  await revive();
  await banco.untilWhole();
  await until(async () => (await areReady(services)) || undefined, `after ${golpe.nome} both services are ready`);
  const whole = performance.now();
  await until(
    async () => issued().some(({ ended }) => ended > whole) || undefined,
    `after ${golpe.nome} issuing goes on`,
  );
  const ends = [struck, ...issued().map(({ ended }) => ended)].toSorted((a, b) => a - b);
  return {
    ...tell(),
    semEmitir: Math.max(...ends.slice(1).map((end, place) => end - ends[place]!)),
    atéInteiro: whole - struck,
  };
}

/** The smallest values that Patroni accepts from 3.2 on. */
const LEAST = { ttl: 20, loop_wait: 2, retry_timeout: 3 } as const;

test('the configuration of the page is whole, and as Patroni and HAProxy want it', async () => {
  const folder = await freshDataDir();
  const own = { name: 'banco2', folder, host: '127.9.9.2' };
  const all = { etcd: 'etcd', patroni: 'patroni', patronictl: 'patronictl', haproxy: 'haproxy', postgres: '/opt/bin' };
  const run = { network: '127.9.9.', modo: 'sincrono', programs: { ...all, wantsEtcd2: true } } as const;
  const patroni = patroniConfig(run, own);
  const etcd = etcdConfig(run, own);
  const haproxy = haproxyConfig(run.network);
  for (const text of [patroni, JSON.stringify(etcd), haproxy]) assert.doesNotMatch(text, /10\.0\.0\.|\/var\//);
  assert.deepEqual(
    [etcd['ETCD_NAME'], etcd['ETCD_ADVERTISE_CLIENT_URLS'], etcd['ETCD_INITIAL_CLUSTER']?.split(',').length],
    ['banco2', 'http://127.9.9.2:2379', 3],
  );
  const number = (name: string): number => Number(new RegExp(`^ +${name}: (\\d+)$`, 'm').exec(patroni)?.[1]);
  for (const [name, least] of Object.entries(LEAST)) assert.ok(number(name) >= least, name);
  assert.ok(number('loop_wait') + 2 * number('retry_timeout') <= number('ttl'), 'the rule of Patroni');
  assert.match(patroni, /^ {4}synchronous_mode: true$/m);
  const other = { ...run, modo: 'assincrono', programs: { ...all, wantsEtcd2: false } } as const;
  assert.match(patroniConfig(other, own), /^etcd3:[\s\S]*^ {4}synchronous_mode: false$/m);
  assert.deepEqual([etcd['ETCD_ENABLE_V2'], etcdConfig(other, own)['ETCD_ENABLE_V2']], ['true', undefined]);
  if (typeof programs === 'string') return;
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(file, haproxy);
  const { status, stderr } = spawnSync(programs.haproxy, ['-c', '-f', file], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test(`${ROUNDS} deaths of a primary, ${MODO}, ${VIA}, seed ${DRAWN}`, {
  timeout: 300_000 + ROUNDS * 300_000,
  skip: ROUNDS === 0 ? 'npm run test:alta-disponibilidade' : typeof programs === 'string' && `it needs: ${programs}`,
}, async (t) => {
  assert.ok(typeof programs !== 'string');
  process.stderr.write(`NFSE_TEST_SEMENTE=${DRAWN}\n`);
  const chance = random(DRAWN);
  const alta = await openAlta(programs, DRAWN, MODO, VIA);
  const carga = await startCarga(alta, chance);
  const leis = leisOf(alta, carga, chance);
  const turns = turnsOf(alta.golpes, random(DRAWN + 1));
  const rodadas: RodadaDeAlta[] = [];
  const lost = new Set<string>();
  const check = (found: readonly string[], when: string): void => {
    for (const one of found) if (one.endsWith('was answered and is lost')) lost.add(one);
    if (MODO === 'sincrono') none(found, when);
    else process.stderr.write(`${when}: ${lost.size} answered and lost so far\n`);
  };
  const rounds = Array.from({ length: ROUNDS }, (_, place) => place + 1).flatMap((round) =>
    round % SWITCHOVER_EVERY === 0 || round === ROUNDS
      ? [() => turns.next().value, () => alta.troca]
      : [() => turns.next().value],
  );
  try {
    for (const [place, next] of rounds.entries()) {
      await pace(1_000 + 3_000 * chance());
      const golpe = next();
      const rodada = await strikeOnce(golpe, alta, carga);
      rodadas.push(rodada);
      process.stderr.write(`${place + 1}/${rounds.length} ${JSON.stringify(rodada)}\n`);
      check(await leis.broken(), `round ${place + 1}, ${golpe.nome}`);
    }
  } catch (error) {
    carga.abandon();
    process.stderr.write(alta.banco.lastWords());
    throw error;
  } finally {
    tellFigures(t, rodadas, TIMED);
  }
  await carga.stop();
  check(await (ROUNDS < SWITCHOVER_EVERY || MODO === 'assincrono' ? leis.broken() : leis.brokenAtRest()), 'at the end');
  t.diagnostic(`${carga.notas.length} notas, ${carga.eventos.length} eventos, ${carga.lotes.length} lotes respondidos`);
  if (MODO === 'assincrono') t.diagnostic(`${lost.size} respondidos e perdidos`);
  const trocas = rodadas.filter(({ nome }) => nome === alta.troca.nome).map(({ semEmitir }) => semEmitir);
  const quickest = Math.min(...trocas);
  const load = loadavg()[1]! / availableParallelism();
  t.diagnostic(`load of ${load.toFixed(1)} in each core`);
  assert.ok(quickest <= SWITCHOVER_MS || load > BUSY, `a switchover takes ${Math.round(quickest)} ms`);
});

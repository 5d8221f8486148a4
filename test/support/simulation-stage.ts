/** Seeds of notes and events, run on one database and checked. */
import assert from 'node:assert/strict';
import type { Db } from '../../src/base/pg/open.ts';
import { readCertificate } from '../../src/documents/certificate.ts';
import { companyCertificate, rootAuthority } from '../../src/documents/pki.ts';
import { onEnd } from './cleanup.ts';
import { freshPool } from './database.ts';
import { readyKeys } from './keys.ts';
import { companyOf, yearAround } from './signatures.ts';
import { type Signers, Simulacao } from './simulation.ts';
import { brokenInvariants } from './simulation-invariants.ts';

export const FIRST_SEED = 20261121;
/** Concurrent seeds: one computes while another waits for the database. */
const AT_ONCE = 6;

type Stage = { readonly pool: Db; readonly signers: Signers };

let stage: Promise<Stage> | undefined;

async function openStage(): Promise<Stage> {
  onEnd(() => (stage = undefined));
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
 * Each connection plans a statement once: plans took two thirds of the server's time, and the choice of plans is tested elsewhere. Citus
 * makes no generic plan for a statement that it cannot send to one node.
 */
async function poolOfOnePlan(): Promise<Db> {
  const pool = await freshPool();
  // A machine that stands still fails no seed.
  pool.options.connectionTimeoutMillis = 0;
  if (process.env['NFSE_TEST_CITUS'] !== undefined) return pool;
  pool.on('connect', (client) => void client.query('set plan_cache_mode = force_generic_plan'));
  return pool;
}

let runs = 0;

/** Runs a seed to its end, and returns the violations. */
export async function playSeed(seed: number): Promise<{ simulacao: Simulacao; broken: readonly string[] }> {
  stage ??= openStage();
  const { pool, signers } = await stage;
  runs += 1;
  const simulacao = await Simulacao.run(pool, seed, signers, String(runs));
  return { simulacao, broken: await brokenInvariants(simulacao) };
}

/** The instructions to run a failed seed again, and its trace. */
export function describeFailure(seed: number, broken: readonly string[], { trace }: Simulacao): string {
  return `NFSE_TEST_SEMENTE=${seed}\n${broken.join('\n')}\n\nA história:\n${trace.join('\n')}`;
}

/** The same for several seeds, some of them concurrently. */
export async function playSeeds(
  seeds: readonly number[],
  see: (seed: number, played: Awaited<ReturnType<typeof playSeed>>) => Promise<void> | void,
): Promise<void> {
  const left = seeds.values();
  const player = async (): Promise<void> => {
    for (const seed of left) await see(seed, await playSeed(seed));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, player));
}

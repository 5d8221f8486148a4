/**
 * The worker under a heavy load, with figures: `npm run test:longo`. The fairness between tenants is tested in `worker.test.ts`, without a
 * clock.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Municipio } from '../src/base/book/municipios.ts';
import type { World } from '../src/base/world/world.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { issueNota } from '../src/subjects/notas/issue.ts';
import { createLog } from '../src/wiring/log.ts';
import { createStore, type Store } from '../src/wiring/store.ts';
import { startTransmitterThread } from '../src/wiring/worker-keeper.ts';
import { adnLento } from './support/adn-lento.ts';
import { onEnd } from './support/cleanup.ts';
import { freshDatabase, poolOn } from './support/database.ts';
import { pace } from './support/pace.ts';
import { LONG } from './support/seed.ts';
import { montarPalco } from './support/simulador.ts';
import { nobodyTrusted } from './support/trust.ts';

const AT_ONCE = 32;
/** A note that takes longer counts with this time. */
const PATIENCE_MS = 60_000;
const CROWD = ['3550308', '3304557', '3106200'];
const BACKLOG = 4_000;
const ADN_MS = 1_500;
const ROUNDS = 25;
const EVERY_MS = 500;

type Cena = Awaited<ReturnType<typeof cena>>;

/** `codigos`: of the municipalities in production, which share one ADN. */
async function cena(codigos: readonly string[], ajustes: { atraso_ms: number; porPagina?: number }) {
  const palco = await montarPalco();
  const [cert, key, clientes] = await Promise.all(
    [palco.certificado, palco.chave, palco.clientes].map((file) => readFile(file, 'utf8')),
  );
  const adn = await adnLento({ cert: cert!, key: key!, clientes: clientes!, porPagina: 100, ...ajustes });
  const connection = await freshDatabase();
  const pool = await poolOn(connection);
  const transmitter: { onStored?: Parameters<typeof createStore>[1] } = {};
  const store = createStore(pool, (tenant, documents) => transmitter.onStored?.(tenant, documents));
  const settings = {
    url: adn.address,
    ca: palco.caFile,
    chaves: { certificado: palco.municipio.certFile, chave: palco.municipio.keyFile },
  };
  await store.municipios.create({ tenant: 'integracao', ambiente: 'homologacao', codigoIbge: undefined }, Date.now());
  for (const codigoIbge of codigos)
    await store.municipios.create(
      { tenant: `m${codigoIbge}`, ambiente: 'producao', codigoIbge, adn: settings },
      Date.now(),
    );
  const { log } = createLog(process.env['NFSE_LOG_LEVEL'] ?? 'fatal');
  const world = {
    store,
    trust: () => nobodyTrusted,
    now: Date.now,
    randomDigits: (count: number) => String(Math.floor(Math.random() * 10 ** count)).padStart(count, '0'),
    log,
    wake: () => undefined,
  } as unknown as World;
  return {
    adn,
    pool,
    store,
    world,
    connection,
    start: () => {
      const thread = startTransmitterThread({ connection, logLevel: process.env['NFSE_LOG_LEVEL'] ?? 'fatal' }, log);
      transmitter.onStored = thread.onStored;
      onEnd(() => thread.stop());
      return thread;
    },
  };
}

let numero = 0;
/** Issues as the sandbox does, for any tenant: signatures are not the subject here. */
async function emite(
  { world, store }: { world: World; store: Store },
  tenant: string,
  count: number,
): Promise<string[]> {
  const municipio = {
    ...(await store.municipios.findBySlug(tenant))!,
    ambiente: 'homologacao',
    codigoIbge: undefined,
  } as Municipio;
  const chaves: string[] = [];
  const one = async (): Promise<void> => {
    numero += 1;
    const body = Buffer.from(exampleXml({ serie: '1', nDPS: String(numero) }));
    const answer = await issueNota(world, municipio, { kind: 'xml', body });
    assert.ok('chave_acesso' in answer, JSON.stringify(answer));
    chaves.push(answer.chave_acesso);
  };
  for (let left = count; left > 0; left -= AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, one));
  return chaves;
}

async function untilDecided({ pool }: Cena, tenant: string, chave: string): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < PATIENCE_MS) {
    const { rows } = await pool.query<{ estado: string }>(
      'select estado from notas where tenant = $1 and chave_acesso = $2',
      [tenant, chave],
    );
    if (rows[0]!.estado === 'autorizada') return performance.now() - began;
    await pace(20);
  }
  return PATIENCE_MS;
}

async function counts({ pool }: Cena, tenant: string): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ estado: string; n: number }>(
    'select estado, count(*)::int as n from notas where tenant = $1 group by 1',
    [tenant],
  );
  return Object.fromEntries(rows.map(({ estado, n }) => [estado, n]));
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}

test('three municipalities with thousands of notes waiting keep nobody else waiting', { skip: !LONG }, async (t) => {
  const scene = await cena([...CROWD, '4106902'], { atraso_ms: ADN_MS });
  const others = ['m4106902', 'integracao'];
  const measure = async (): Promise<ReadonlyMap<string, readonly number[]>> => {
    const waits = new Map(others.map((tenant) => [tenant, [] as number[]]));
    const pending: Promise<unknown>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [tenant, list] of waits) {
        const [chave] = await emite(scene, tenant, 1);
        pending.push(untilDecided(scene, tenant, chave!).then((ms) => list.push(ms)));
      }
      await pace(EVERY_MS);
    }
    await Promise.all(pending);
    return waits;
  };
  const before = scene.start();
  await measure();
  const alone = await measure();
  await before.stop();
  for (const codigo of CROWD) await emite(scene, `m${codigo}`, BACKLOG);
  scene.start();
  const crowded = await measure();
  for (const tenant of others) {
    const [quiet, p50, p99] = [
      percentile(alone.get(tenant)!, 0.99),
      percentile(crowded.get(tenant)!, 0.5),
      percentile(crowded.get(tenant)!, 0.99),
    ];
    t.diagnostic(
      `${tenant}: alone p99 ${quiet.toFixed(0)} ms; beside them p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    );
    assert.ok(p99 < quiet + ADN_MS, `${tenant} waits for more than one batch of another`);
  }
  const { emitida = 0 } = await counts(scene, `m${CROWD[0]}`);
  t.diagnostic(
    `${emitida} of ${BACKLOG} notes of the first still wait; ${JSON.stringify(await scene.adn.contagens())}`,
  );
  assert.ok(emitida > 0, 'the backlog lasted');
});

/** Announced notes without an answer, and a list of received documents that has grown since. `modo`: whether the notes arrived. */
const DOUBTS = [
  { modo: 'perde_resposta', desde: 0, passos: 40 },
  { modo: 'perde_pedido', desde: 100_000, passos: 5 },
  { modo: 'perde_resposta', desde: 1_000_000, passos: 5 },
  { modo: 'perde_pedido', desde: 1_000_000, passos: 5 },
] as const;

for (const { modo, desde, passos } of DOUBTS) {
  test(`1,111 notes without answer (${modo}), ${desde} documents ago`, { skip: !LONG }, async (t) => {
    const scene = await cena(['3550308'], { atraso_ms: passos });
    const tenant = 'm3550308';
    await emite(scene, tenant, 1_111);
    await scene.adn.modo(modo);
    const thread = scene.start();
    while (((await counts(scene, tenant))['emitida'] ?? 0) > 0) await pace(250);
    await scene.adn.avanca(desde);
    const before = await scene.adn.modo('responde');
    const began = performance.now();
    let estados = await counts(scene, tenant);
    while (estados['transmitida'] !== undefined && performance.now() - began < 600_000) {
      await pace(250);
      estados = await counts(scene, tenant);
    }
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const after = await scene.adn.contagens();
    await thread.stop();
    const asked = after.consultas + after.porChave - before.consultas - before.porChave;
    t.diagnostic(`${seconds} s, ${asked} questions, ${after.envios - before.envios} lots; ${JSON.stringify(estados)}`);
    assert.deepEqual(estados, { autorizada: 1_111 });
    assert.equal(after.repetidas, 0, 'none is sent twice');
  });
}

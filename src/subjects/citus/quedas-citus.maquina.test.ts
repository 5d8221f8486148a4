/**
 * The nodes of a Citus cluster, and its coordinator, die one after the other while clients go on. Clients of a lost node are told to try
 * again, and the others notice nothing. Every answered note exists exactly once. Part of `npm run test:citus`; NFSE_TEST_QUEDAS=N has more
 * rounds.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { databaseUrlOf } from '../../../test/support/database.ts';
import { type OwnCitus, startCitus } from '../../../test/support/own-citus.ts';
import { pace } from '../../../test/support/pace.ts';
import { freshDataDir } from '../../../test/support/process.ts';
import { type Carga, SANDBOX, startCarga, type Tentativa } from '../../../test/support/quedas-carga.ts';
import { leisOf } from '../../../test/support/quedas-leis.ts';
import { openCasa, SLUG } from '../../../test/support/quedas-processos.ts';
import {
  areReady,
  beginRodada,
  none,
  type Rodada,
  random,
  tellFigures,
  turnsOf,
} from '../../../test/support/quedas-rodadas.ts';
import { ASKED_SEED, SEED } from '../../../test/support/seed.ts';
import { until, untilTrue } from '../../../test/support/until.ts';
import { findPlaces } from '../../base/pg/distributed.ts';
import { type Db, openPool } from '../../base/pg/open.ts';
import { Client, type ClientConfig } from '../../base/pg/pg.ts';
import { migrate } from '../../wiring/migrate.ts';
import { distribute } from './distribuicao.rows.ts';
import { moveMunicipio } from './mover.rows.ts';

const ROUNDS = Number(process.env['NFSE_TEST_QUEDAS'] ?? 4);
const DRAWN = ASKED_SEED ?? SEED;
const TENANTS = [SLUG, SANDBOX];
/** Answers awaited while a node is lost: 201 for tenants on other nodes, 503 for those on it. */
const MEANWHILE = 3;

const skip = process.env['NFSE_TEST_CITUS'] === undefined && 'é de npm run test:citus, e sobe um Citus seu';

/** The servers that die, and the tenants whose rows they have. */
type Golpe = { readonly nome: string; readonly nos: readonly number[]; readonly lost: readonly string[] };

type RodadaDeNos = Rodada & {
  /** Time from the restart of the lost server until its tenant's next 201. */
  readonly atéEmitir: number;
};

const TIMED = { atéDizer: 'até dizer (s)', atéEmitir: 'até emitir outra vez (s)' } as const;

/** Puts the two tenants on a node each; returns the number of that node by tenant. */
async function openApart(pool: Db, nodes: readonly ClientConfig[]): Promise<ReadonlyMap<string, number>> {
  const nos = nodes.map(({ host, port }) => ({ host: host!, porta: port! }));
  await distribute(pool, { nos, fragmentos: 8, tell: () => undefined });
  const nodeOf = async (tenant: string): Promise<number> => {
    const [place] = await findPlaces(pool, [tenant]);
    return 1 + nos.findIndex(({ porta }) => porta === place!.porta);
  };
  const own = await nodeOf(SLUG);
  if ((await nodeOf(SANDBOX)) === own) {
    await moveMunicipio(pool, { tenant: SANDBOX, para: nos[own === 1 ? 1 : 0]!, tell: () => undefined });
  }
  return new Map([
    [SLUG, own],
    [SANDBOX, await nodeOf(SANDBOX)],
  ]);
}

function golpesOf(nodes: ReadonlyMap<string, number>): readonly Golpe[] {
  return [
    { nome: 'o nó do município em produção, kill -9', nos: [nodes.get(SLUG)!], lost: [SLUG] },
    { nome: 'o nó do ambiente de ensaio, kill -9', nos: [nodes.get(SANDBOX)!], lost: [SANDBOX] },
    { nome: 'o coordenador, kill -9', nos: [0], lost: TENANTS },
    { nome: 'os três de uma vez, kill -9', nos: [0, 1, 2], lost: TENANTS },
  ];
}

/** One round: from the crash until the tenants of the lost server issue again. */
async function strikeOnce(
  golpe: Golpe,
  citus: OwnCitus,
  services: readonly string[],
  carga: Carga,
): Promise<RodadaDeNos> {
  const { nome, nos, lost } = golpe;
  const tellRodada = beginRodada(carga, nome, false);
  await Promise.all(nos.map((no) => citus.kill(no)));
  const dead = performance.now();
  const since = (moment: number, tenants: readonly string[], ...statuses: readonly number[]): readonly Tentativa[] =>
    carga
      .tentativas()
      .filter(({ what, began }) => began > moment && tenants.some((tenant) => what.startsWith(`/${tenant}/`)))
      .filter(({ status }) => statuses.includes(status));
  const others = TENANTS.filter((tenant) => !lost.includes(tenant));
  for (const tenant of others)
    await untilTrue(() => since(dead, [tenant], 201).length >= MEANWHILE, `after ${nome} ${tenant} goes on`);
  for (const tenant of lost)
    await untilTrue(() => since(dead, [tenant], 503).length >= MEANWHILE, `after ${nome} ${tenant} is told`);
  if (others.length > 0) assert.ok(await areReady(services), `after ${nome} both services are ready`);
  assert.deepEqual(since(dead, others, 0, 503), [], `after ${nome} the others notice nothing`);
  assert.deepEqual(since(dead, lost, 201), [], `after ${nome} nothing is stored for who was on it`);
  const revived = performance.now();
  citus.revive();
  for (const tenant of lost)
    await untilTrue(() => since(revived, [tenant], 201).length > 0, `after ${nome} ${tenant} issues again`);
  await until(async () => (await areReady(services)) || undefined, `after ${nome} both services are ready`);
  return {
    ...tellRodada(),
    atéEmitir: Math.max(...lost.map((tenant) => since(revived, [tenant], 201)[0]!.ended - revived)),
  };
}

/** One snapshot on each node: a transaction over several connections to a node would see several. */
async function connectTo(coordinator: ClientConfig): Promise<Client> {
  return until(async () => {
    const client = new Client({ ...coordinator, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('set citus.max_adaptive_executor_pool_size = 1');
      return client;
    } catch {
      return undefined;
    }
  }, 'the coordinator takes a connection');
}

test(`${ROUNDS} deaths of nodes, seed ${DRAWN}: nothing is lost, nothing is there twice`, {
  timeout: 600_000 + ROUNDS * 180_000,
  skip,
}, async (t) => {
  const citus = await startCitus();
  if (citus === undefined) return t.skip('pede um Citus instalado nesta máquina (scripts/citus-local.sh)');
  t.diagnostic(`NFSE_TEST_SEMENTE=${DRAWN}`);
  const [coordinator, ...nodes] = citus.servers as [ClientConfig, ...ClientConfig[]];
  const pool = openPool(coordinator, () => undefined, true);
  await migrate(pool);
  const golpes = golpesOf(await openApart(pool, nodes));
  await pool.end();
  const folder = await freshDataDir();
  const env = { DATABASE_URL: databaseUrlOf(coordinator), NFSE_DATA_DIR: path.join(folder, 'nunca') };
  const casa = await openCasa(path.join(folder, 'palco'), DRAWN, env);
  const chance = random(DRAWN);
  const carga = await startCarga(casa, chance);
  const leis = leisOf({ simulator: casa.adn.running, connect: () => connectTo(coordinator) }, carga, chance);
  const turns = turnsOf(golpes, random(DRAWN + 1));
  const rodadas: RodadaDeNos[] = [];
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      await pace(1_000 + 2_000 * chance());
      const golpe = turns.next().value;
      rodadas.push(await strikeOnce(golpe, citus, casa.services, carga));
      none(await leis.broken(), `round ${round}, ${golpe.nome}`);
    }
  } catch (error) {
    carga.abandon();
    throw error;
  } finally {
    tellFigures(t, rodadas, TIMED);
  }
  await carga.stop();
  none(await leis.brokenAtRest(), 'at the end');
  t.diagnostic(`${carga.notas.length} notas, ${carga.eventos.length} eventos, ${carga.lotes.length} lotes respondidos`);
});

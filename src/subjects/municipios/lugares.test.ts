/**
 * Free sandboxes do not delay production in any queue, with any number of sandboxes and jobs. No time is measured: a unit of their work
 * ends when the test says so. The test counts the units that end before production's.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { freshPool } from '../../../test/support/database.ts';
import { asSandbox } from '../../../test/support/municipio.ts';
import { noAvisos } from '../../../test/support/no-avisos.ts';
import { NOON } from '../../../test/support/service.ts';
import { nobodyTrusted } from '../../../test/support/trust.ts';
import { until, untilTrue } from '../../../test/support/until.ts';
import { localAdn } from '../../adn/local.ts';
import { AnnouncedClaims } from '../../base/delivery/announced.ts';
import { type Delivered, NOTHING } from '../../base/delivery/deliver.ts';
import { Lanes, type Turn } from '../../base/delivery/lanes.ts';
import { FILAS, SALAS, Sala } from '../../base/world/lugares.ts';
import type { World } from '../../base/world/world.ts';
import type { Ambiente } from '../../fiscal/ambiente.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { createStore } from '../../wiring/store.ts';
import { KINDS, startWorker } from '../../wiring/worker.ts';
import { issueNota } from '../notas/issue.ts';
import { makeExportacoes } from '../partes/exportacoes.job.ts';

const HOGS = [1, 16, 64];
/** The first check gives a tenant two lanes, if it may have more, and each further check adds one. */
const LOOKS = [1, 2];
const MORE: Delivered = { delivered: 1, isFull: true, pauseMs: 0 };
const noted = () => undefined;
const LOG = { info: noted, warn: noted, error: noted };
/** The other municipalities in production. */
const OTHERS = 16;

/**
 * One of the queues of the worker. A held tenant's unit ends when the test releases it, and there is always more of it. `documents`: of each
 * batch, which it claims at once; undefined: none is claimed.
 */
function openQueue(kind: (typeof KINDS)[number], documents?: number) {
  const held: { readonly tenant: string; readonly end: () => void }[] = [];
  const begun: string[] = [];
  const ended: string[] = [];
  let isHeld = true;
  const deliver: Turn['of']['deliver'] = async (_world, { tenant }, { onTaken }) => {
    begun.push(tenant);
    if (documents !== undefined) onTaken?.(documents);
    const isHog = tenant.startsWith('ensaio-') || tenant.startsWith('outro-');
    if (isHog && isHeld) await new Promise<void>((end) => held.push({ tenant, end }));
    ended.push(tenant);
    return isHog && isHeld ? MORE : NOTHING;
  };
  const findBySlug = async (tenant: string) => asSandbox(tenant);
  const world = { store: { municipios: { findBySlug } }, log: LOG, now: () => NOON } as unknown as World;
  const announced = new AnnouncedClaims(noted);
  const lanes = new Lanes(world, announced, noted);
  const turn = (tenant: string, ambiente: Ambiente, isDue = true): Turn => {
    return { of: { ...kind, deliver }, tenant, key: `${kind.kind}/${tenant}`, ambiente, isDue };
  };
  const close = async (): Promise<void> => {
    isHeld = false;
    lanes.close();
    for (const { end } of held.splice(0)) end();
    await lanes.end();
  };
  return { lanes, announced, turn, held, begun, ended, close };
}

const named = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => `${prefix}-${String(place).padStart(3, '0')}`);

describe('the queues of the worker', () => {
  test('each has its places, of production and of rehearsals', () => {
    assert.deepEqual(KINDS.map(({ kind }) => kind).sort(), Object.keys(FILAS).sort());
  });

  for (const kind of KINDS) {
    const places = FILAS[kind.kind];
    const most = kind.places?.most ?? 1;
    const [producao, homologacao] = [places.producao / most, places.homologacao / most];

    test(`${kind.kind}: production waits for no unit of a sandbox, be they 1, 16 or 64`, async () => {
      for (const sandboxes of HOGS) {
        const queue = openQueue(kind);
        const hogs = named('ensaio', sandboxes).map((tenant) => queue.turn(tenant, 'homologacao'));
        for (const _look of LOOKS) queue.lanes.offer(hogs, true);
        await untilTrue(
          () => queue.held.length === Math.min(homologacao, sandboxes * Math.min(kind.lanes, LOOKS.length + 1)),
          'they hold their places',
        );
        queue.lanes.offer([...hogs, queue.turn('real', 'producao')], true);
        await untilTrue(() => queue.ended.includes('real'), 'production has had its turn');
        assert.deepEqual([...new Set(queue.ended)], ['real'], `${sandboxes} sandboxes`);
        assert.ok(queue.begun.filter((tenant) => tenant !== 'real').length <= homologacao);
        await queue.close();
      }
    });

    test(`${kind.kind}: a rehearsal waits for none of production, and production for one of each other municipality`, async () => {
      const queue = openQueue(kind);
      const others = named('outro', OTHERS).map((tenant) => queue.turn(tenant, 'producao'));
      for (const _look of LOOKS) queue.lanes.offer(others, true);
      const places = Math.min(producao, OTHERS);
      await untilTrue(() => queue.held.length === places, 'they hold their places');
      queue.lanes.offer([...others, queue.turn('real', 'producao'), queue.turn('livre', 'homologacao')], true);
      await untilTrue(() => queue.ended.includes('livre'), 'the rehearsal has had its turn');
      let ended = 0;
      while (!queue.begun.includes('real')) {
        const before = queue.begun.length;
        queue.held.shift()!.end();
        ended += 1;
        await untilTrue(() => queue.begun.length > before, 'the place is taken');
      }
      assert.ok(ended <= OTHERS, `it waited for ${ended} units`);
      await queue.close();
    });
  }
});

describe('the places of notas', () => {
  const notas = KINDS.find(({ kind }) => kind === 'notas')!;
  const { least, most } = notas.places!;
  const all = FILAS.notas.producao;
  const crowd = named('outro', all / least + OTHERS);

  for (const [documents, batches] of [
    [1, all / least],
    [2 * least, all / (2 * least)],
    [most, all / most],
  ] as const) {
    test(`are held by documents: ${batches} batches of ${documents} are under way at once`, async () => {
      const queue = openQueue(notas, documents);
      const turns = crowd.map((tenant) => queue.turn(tenant, 'producao'));
      for (const _look of LOOKS) queue.lanes.offer(turns, true);
      await untilTrue(() => queue.held.length === batches, 'they hold their places');
      queue.lanes.offer(turns, true);
      assert.equal(queue.begun.length, batches);
      await queue.close();
    });
  }

  test('are those of its notas for a batch that was announced as it was stored, before they are taken', async () => {
    const queue = openQueue(notas);
    const nota = {
      id: '1',
      mes: 202611,
      chave_acesso: 'x',
      id_dps: 'y',
      data_emissao: new Date(NOON),
      traceparent: null,
    };
    for (const tenant of crowd) queue.announced.put(tenant, { token: tenant, at: NOON, nsu: '0', notas: [nota] });
    queue.lanes.offer(
      crowd.map((tenant) => queue.turn(tenant, 'producao', false)),
      true,
    );
    await untilTrue(() => queue.held.length === all / least, 'they hold their places');
    await queue.close();
  });
});

/** A database with municipalities of both kinds, and the world of their worker. */
async function stage() {
  const pool = await freshPool();
  const store = createStore(pool);
  await store.municipios.create({ tenant: 'real', ambiente: 'producao', codigoIbge: '1100015' }, NOON);
  const adn = localAdn(() => NOON);
  const world: World = {
    store,
    transmission: async () => ({ adn, signer: undefined }),
    trust: () => nobodyTrusted,
    now: () => NOON,
    randomDigits: (count) => String(Math.floor(Math.random() * 10 ** count)).padStart(count, '0'),
    log: LOG,
    postAviso: noAvisos,
    wake: noted,
  };
  const addSandboxes = async (count: number): Promise<readonly string[]> => {
    const tenants = named('ensaio', count);
    for (const tenant of tenants) {
      await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, NOON);
    }
    return tenants;
  };
  return { pool, store, world, addSandboxes };
}

const PRESTADOR = '11222333000181';

async function askExport({ store }: Pick<World, 'store'>, tenant: string): Promise<string> {
  const id = `${tenant}-1`;
  const nova = {
    id,
    documento: PRESTADOR,
    formato: 'xml',
    pedida: {},
    criadaEm: NOON,
    expiraEm: NOON + 86_400_000,
  } as const;
  assert.equal(await store.exportacoes.insert(tenant, nova, 5), true);
  return id;
}

test('an export of production is made while those of sixteen sandboxes are held', async () => {
  const { store, world, addSandboxes } = await stage();
  const sandboxes = await addSandboxes(16);
  for (const tenant of sandboxes) await askExport({ store }, tenant);
  let open: () => void = noted;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const begun: string[] = [];
  const take: World['store']['exportacoes']['take'] = async (tenant, asked) => {
    begun.push(tenant);
    if (tenant !== 'real') await gate;
    return store.exportacoes.take(tenant, asked);
  };
  const held = { ...store, exportacoes: { ...store.exportacoes, take } };
  const worker = startWorker({ ...world, store: held });
  onEnd(() => worker.stop());
  await untilTrue(() => begun.length > 0, 'a sandbox has the place');
  const id = await askExport({ store }, 'real');
  worker.wake('real');
  const isReady = async (): Promise<true | undefined> =>
    (await store.exportacoes.find('real', id, PRESTADOR, NOON))?.estado === 'pronta' || undefined;
  await until(isReady, 'the export of production');
  assert.equal(begun.filter((tenant) => tenant !== 'real').length, SALAS.exportacoes.homologacao, 'and none had ended');
  open();
  await worker.stop();
});

test('of one municipality each document that asked for an export has a part in turn', async () => {
  const { store, world } = await stage();
  let now = NOON;
  const documentos = ['11222333000181', '11222333000262', '11444777000161', '88888888000191'];
  for (const documento of documentos) {
    const nova = {
      id: documento,
      documento,
      formato: 'xml',
      pedida: {},
      criadaEm: now,
      expiraEm: NOON + 86_400_000,
    } as const;
    assert.equal(await store.exportacoes.insert('real', nova, 5), true);
  }
  const taken: string[] = [];
  const take: World['store']['exportacoes']['take'] = async (tenant, asked) => {
    const row = await store.exportacoes.take(tenant, asked);
    if (row !== undefined) taken.push(row.id);
    return row;
  };
  const watched = { ...world, now: () => now, store: { ...store, exportacoes: { ...store.exportacoes, take } } };
  const municipio = (await store.municipios.findBySlug('real'))!;
  // An export without notes has two parts.
  for (let part = 0; part < 2 * documentos.length; part += 1) {
    now += 1_000;
    await makeExportacoes(watched, municipio, {});
  }
  assert.deepEqual([...taken.slice(0, 4)].sort(), documentos);
  assert.deepEqual([...taken.slice(4)].sort(), documentos);
});

test('a part of what rehearsals forget is of so many, however many there are', async (t) => {
  const { pool, store, addSandboxes } = await stage();
  await addSandboxes(45);
  const connected = t.mock.method(pool, 'connect');
  const parts: number[] = [];
  for (let isMore = true; isMore; ) {
    const before = connected.mock.callCount();
    isMore = await store.guarda.forgetRehearsals(NOON);
    parts.push(connected.mock.callCount() - before);
  }
  // Each tenant has five kinds: notes, lots, providers, tokens and addresses; the pool has some queries of its own.
  assert.equal(parts.length, 3);
  assert.ok(Math.max(...parts) < 21 * 5 + 5, `${parts}`);
});

test('names of production are learned in the first turn, however many sandboxes have some', async () => {
  const { pool, store, world, addSandboxes } = await stage();
  for (const tenant of [...(await addSandboxes(12)), 'real']) {
    const sent = { kind: 'xml', body: Buffer.from(exampleXml({ nDPS: '1' })) } as const;
    const answer = await issueNota(world, asSandbox(tenant), sent);
    assert.ok('chave_acesso' in answer, JSON.stringify(answer));
  }
  assert.equal(await store.nomes.learn(0, SALAS.nomes), true);
  const { rows } = await pool.query<{ tenant: string }>('select tenant from nomes_lidos');
  assert.equal(rows.filter(({ tenant }) => tenant === 'real').length, 1);
  assert.equal(rows.length, 1 + SALAS.nomes.homologacao);
  while (await store.nomes.learn(0, SALAS.nomes));
  assert.equal((await pool.query('select 1 from nomes_lidos')).rowCount, 13);
});

test('who takes all places of rehearsals takes none of production, and the other way round', () => {
  for (const lugares of Object.values(SALAS)) {
    for (const [hog, other] of [
      ['homologacao', 'producao'],
      ['producao', 'homologacao'],
    ] as const) {
      const sala = new Sala(lugares);
      for (let place = 0; place < lugares[hog]; place += 1) assert.equal(sala.enter(hog), true);
      assert.deepEqual([sala.enter(hog), sala.left(hog), sala.left(other)], [false, 0, lugares[other]]);
      assert.equal(sala.enter(other), lugares[other] > 0);
      if (lugares[hog] > 0) sala.leave(hog);
      if (lugares[hog] > 0) assert.deepEqual([sala.enter(hog), sala.count(hog)], [true, lugares[hog]]);
    }
  }
});

test('the page lists each room with its places', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/confiabilidade.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \|[^|]*\| ([\d.]+)(?: %)? \| ([\d.]+)(?: %)? \|/gm)];
  const read = (text: string | undefined): number => Number(text!.replaceAll('.', ''));
  const told = rows.map(([, sala, producao, homologacao]) => [
    sala!,
    { producao: read(producao), homologacao: read(homologacao) },
  ]);
  assert.deepEqual(Object.fromEntries(told), SALAS);
});

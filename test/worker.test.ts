/**
 * The order of service: the worker with the real store, many tenants, and an ADN that answers when the test says so. Nothing is measured;
 * the test checks the order alone.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Adn, AdnAnswer, NotaAnswer } from '../src/adn/adn.ts';
import { localAdn } from '../src/adn/local.ts';
import { Leaves } from '../src/base/delivery/announced.ts';
import { StoreUnavailable } from '../src/base/pg/unavailable.ts';
import type { World } from '../src/base/world/world.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { exemploDe, tipoBySlug } from '../src/fiscal/tipos-evento.ts';
import { registerEvento } from '../src/subjects/eventos/register.ts';
import { answerSoap } from '../src/subjects/lotes/porto-soap.ts';
import { issueNota } from '../src/subjects/notas/issue.ts';
import { createLog } from '../src/wiring/log.ts';
import { openWorld } from '../src/wiring/open-world.ts';
import { createStore } from '../src/wiring/store.ts';
import { startWorker } from '../src/wiring/worker.ts';
import { startTransmitterThread } from '../src/wiring/worker-keeper.ts';
import { NO_TRIGGERS } from './support/citus.ts';
import { onEnd } from './support/cleanup.ts';
import { freshDatabase, freshPool, poolOn } from './support/database.ts';
import { asSandbox } from './support/municipio.ts';
import { noAvisos } from './support/no-avisos.ts';
import { ABRASF, envelope, loteXml } from './support/rps.ts';
import { NOON } from './support/service.ts';
import { nobodyTrusted } from './support/trust.ts';
import { until, untilTrue } from './support/until.ts';

const PATIENT = { timeout: 300_000 };
const ACCEPTED: AdnAnswer = { kind: 'accepted', nsu: undefined };
/** More than the number of concurrent batches of notes, of which each is small. */
const MANY = 260;
const SOME = 24;

/** It accepts everything, and answers a lot of notes when the test lets it. */
class SlowAdn {
  readonly batchMax = 1;
  /** Tenants whose lots wait for their answers, in the order of arrival. */
  readonly waiting: { readonly tenant: string; readonly answer: () => void }[] = [];
  /** Tenants of all lots, in that order. */
  readonly came: string[] = [];
  isSlow = true;

  readonly adn: Adn = {
    wantsDocuments: true,
    batchMax: this.batchMax,
    searchMax: 0,
    share: async (tenant, documents) => {
      this.came.push(tenant);
      if (this.isSlow) await new Promise<void>((answer) => this.waiting.push({ tenant, answer }));
      return new Map(documents.map(({ chave_acesso }): [string, NotaAnswer] => [chave_acesso, ACCEPTED]));
    },
    find: async (_tenant, notas) => new Map(notas.map(({ chave_acesso }) => [chave_acesso, { kind: 'absent' }])),
    shareEventos: async (_tenant, eventos) => new Map(eventos.map(({ id }) => [id, ACCEPTED])),
    findEventos: async (_tenant, eventos) => new Map(eventos.map(({ id }) => [id, { kind: 'absent' }])),
    pauseMs: () => 0,
  };

  /** Answers everything, from now on too. */
  letGo(): void {
    this.isSlow = false;
    for (const { answer } of this.waiting.splice(0)) answer();
  }
}

/** The due work that the worker was told of. */
class Looks {
  private begun = 0;
  private readonly listed = new Set<string>();
  readonly listDue: World['store']['listDue'];

  constructor(store: World['store']) {
    this.listDue = async (...asked) => {
      this.begun += 1;
      const due = await store.listDue(...asked);
      for (const { tenant } of due) this.listed.add(tenant);
      return due;
    };
  }

  /** Resolves once the worker knows that a tenant has due work: a look starts when the one before it ends. */
  async untilKnown(tenant: string): Promise<void> {
    await untilTrue(() => this.listed.has(tenant), `${tenant} is due`);
    await this.untilMore(1);
  }

  async untilMore(looks: number): Promise<void> {
    const wanted = this.begun + looks;
    await untilTrue(() => this.begun >= wanted, 'it looks again');
  }
}

type Stage = Awaited<ReturnType<typeof stage>>;

async function stage(inProducao: readonly string[]) {
  const pool = await freshPool();
  const store = createStore(pool);
  const slow = new SlowAdn();
  const local = localAdn(() => NOON);
  for (const [place, tenant] of inProducao.entries()) {
    await store.municipios.create({ tenant, ambiente: 'producao', codigoIbge: String(1_100_000 + place) }, NOON);
  }
  await store.municipios.create({ tenant: 'integracao', ambiente: 'homologacao', codigoIbge: undefined }, NOON);
  const noted = () => undefined;
  const looks = new Looks(store);
  const world: World = {
    store: { ...store, listDue: looks.listDue },
    transmission: async ({ ambiente }) => ({ adn: ambiente === 'producao' ? slow.adn : local, signer: undefined }),
    trust: () => nobodyTrusted,
    now: () => NOON,
    randomDigits: (count) => String(randomInt(10 ** count)).padStart(count, '0'),
    log: { info: noted, warn: noted, error: noted },
    postAviso: noAvisos,
    wake: noted,
  };
  return { pool, store, slow, world, looks };
}

let dps = 0;

async function issue({ world }: Pick<Stage, 'world'>, tenant: string): Promise<string> {
  dps += 1;
  const body = Buffer.from(exampleXml({ serie: '1', nDPS: String(dps) }));
  const answer = await issueNota(world, asSandbox(tenant), { kind: 'xml', body });
  assert.ok('chave_acesso' in answer, JSON.stringify(answer));
  return answer.chave_acesso;
}

/** A full batch for each of these tenants. */
async function issueFullBatches(on: Stage, tenants: readonly string[]): Promise<void> {
  for (let note = 0; note < on.slow.batchMax; note += 1) await Promise.all(tenants.map((tenant) => issue(on, tenant)));
}

/** The provider requests it without a signature, as in the sandbox. */
async function cancel(world: World, tenant: string, chave: string): Promise<void> {
  const body = Buffer.from(JSON.stringify(exemploDe(tipoBySlug('cancelamento')!)));
  const answer = await registerEvento(
    world,
    asSandbox(tenant),
    { chave },
    { kind: 'json', body, assinatura: undefined, simular: undefined },
  );
  assert.ok(typeof answer === 'object' && 'evento' in answer, JSON.stringify(answer));
}

async function estadoOf({ store }: Pick<Stage, 'store'>, tenant: string, chave: string): Promise<string | undefined> {
  return (await store.notas.findByChave(tenant, chave))?.estado;
}

/** Sends a lot of one RPS to the legacy port; the returned function tells whether its note is authorised. */
async function sendLote(world: World): Promise<() => Promise<true | undefined>> {
  const municipio = asSandbox('integracao');
  const inside = `<n:RecepcionarLoteRps xmlns:n="${ABRASF}"><parameters>${loteXml([{ numero: 1 }])}</parameters></n:RecepcionarLoteRps>`;
  const shown = () => assert.fail('nobody asks who it is');
  const { xml } = await answerSoap(world, municipio, Buffer.from(envelope(inside)), '1.1', {
    shown,
    simular: undefined,
    requisicao: undefined,
  });
  const protocolo = /<Protocolo>(\d+)</.exec(xml as string)?.[1];
  assert.ok(protocolo !== undefined, String(xml));
  return async () => {
    const [nota] = await world.store.lotes.listNotas(municipio.tenant, protocolo);
    return nota?.estado === 'autorizada' || undefined;
  };
}

function untilAuthorised(on: Pick<Stage, 'store'>, tenant: string, chave: string): Promise<true> {
  const isIt = async (): Promise<true | undefined> => (await estadoOf(on, tenant, chave)) === 'autorizada' || undefined;
  return until(isIt, `the note of ${tenant} is authorised`);
}

function begin({ world }: Pick<Stage, 'world'>): ReturnType<typeof startWorker> {
  const worker = startWorker(world);
  onEnd(() => worker.stop());
  return worker;
}

describe('the turns of the worker', () => {
  test('who comes last waits for one batch of another, not for its backlog', PATIENT, async () => {
    const crowd = Array.from({ length: MANY }, (_, place) => `m${String(place).padStart(3, '0')}`);
    // The last tenant is the last by its name as well.
    const on = await stage([...crowd, 'zulu']);
    // Each tenant has three batches.
    for (let batch = 0; batch < 3; batch += 1) await issueFullBatches(on, crowd);
    const worker = begin(on);
    let full = 0;
    await until(async () => {
      const before = full;
      full = on.slow.waiting.length;
      // The finds of a look have their places by the next look but one.
      await on.looks.untilMore(3);
      return (full > 0 && full === before && full === on.slow.waiting.length) || undefined;
    }, 'every place is taken');
    assert.equal(
      new Set(on.slow.waiting.map(({ tenant }) => tenant)).size,
      full,
      'no second lane while others have none',
    );
    assert.ok(full < MANY, 'some wait for a place');
    await issue(on, 'zulu');
    worker.wake();
    await on.looks.untilKnown('zulu');
    // One answer follows another, each after the freed place is taken again.
    let answered = 0;
    while (!on.slow.came.includes('zulu')) {
      const before = on.slow.came.length;
      on.slow.waiting.shift()!.answer();
      answered += 1;
      await untilTrue(() => on.slow.came.length > before, 'the place is taken');
    }
    // Only these came before it: the batches in the places, and tenants that had waited longer without a turn.
    assert.ok(answered <= MANY + 1, `zulu waited for ${answered} batches`);
    const turns = Map.groupBy(on.slow.came, (tenant) => tenant);
    for (const tenant of crowd) assert.ok(turns.has(tenant), `${tenant} has had a turn`);
    on.slow.letGo();
    await worker.stop();
  });

  test('the sandbox, events and lots do not stand behind notes', PATIENT, async () => {
    const crowd = Array.from({ length: SOME }, (_, place) => `m${String(place).padStart(3, '0')}`);
    const on = await stage([...crowd, 'zulu']);
    on.slow.isSlow = false;
    const worker = begin(on);
    const authorised = await issue(on, 'zulu');
    worker.wake();
    await untilAuthorised(on, 'zulu', authorised);
    on.slow.isSlow = true;
    for (let batch = 0; batch < 3; batch += 1) await issueFullBatches(on, crowd);
    worker.wake();
    await untilTrue(() => on.slow.waiting.length >= 6, 'notes wait for their answers');

    const rehearsed = await issue(on, 'integracao');
    await cancel(on.world, 'zulu', authorised);
    worker.wake();
    await untilAuthorised(on, 'integracao', rehearsed);
    await until(
      async () => (await estadoOf(on, 'zulu', authorised)) === 'cancelada' || undefined,
      'the event is processed',
    );
    assert.ok(on.slow.waiting.length >= 6, 'and no note was answered meanwhile');
    on.slow.letGo();
    await worker.stop();
  });
});

/** The finished work, in order: its attempts, which only its queue row has, and its announcements. */
async function keepAttempts({ pool }: Pick<Stage, 'pool'>) {
  await pool.query(`create table tentadas (ordem serial, tipo text, id bigint, mes integer, tentativas integer);
    create function anota() returns trigger language plpgsql as $$ begin
      insert into tentadas (tipo, id, mes, tentativas) values (old.tipo, old.id, old.mes, old.tentativas);
      return old;
    end $$;
    create trigger anota before delete on fila for each row execute function anota()`);
  type Attempted = { readonly tentativas: number; readonly anuncios: number; readonly chave: string | null };
  return async (): Promise<readonly Attempted[]> =>
    (
      await pool.query<Attempted>(`select x.tentativas, (select count(*)::int from
          (select nota as id, gatilho from trilha_notas where x.tipo = 'nota' union all
            select evento, gatilho from trilha_eventos where x.tipo = 'evento') t
          where t.id = x.id and t.gatilho = 'anuncio') as anuncios,
          (select n.chave_acesso from notas n where x.tipo = 'nota' and n.id = x.id) as chave
        from tentadas x order by x.ordem`)
    ).rows;
}

describe('a connection that dies under a batch', () => {
  /** The server ends the connection that does the next `count` of these. */
  async function kill({ pool }: Stage, table: string, condition: string, count = 1): Promise<void> {
    await pool.query(`create sequence mortes_${table};
      create function mata_${table}() returns trigger language plpgsql as $$ begin
        if nextval('mortes_${table}') <= ${count} then perform pg_terminate_backend(pg_backend_pid()); end if;
        return new;
      end $$;
      create trigger mata before update on ${table} for each row when (${condition}) execute function mata_${table}()`);
  }

  test('an outcome that was not written is found again at once, whatever the clock says', {
    ...PATIENT,
    skip: NO_TRIGGERS,
  }, async () => {
    const on = await stage(['zulu']);
    on.slow.isSlow = false;
    await kill(on, 'notas', "new.estado = 'autorizada' and new.tenant = 'zulu'", 2);
    await kill(on, 'eventos', "new.estado = 'processado'");
    const attempts = await keepAttempts(on);
    const worker = begin(on);
    const chave = await issue(on, 'zulu');
    worker.wake();
    await untilAuthorised(on, 'zulu', chave);
    await cancel(on.world, 'zulu', chave);
    worker.wake();
    await until(async () => (await estadoOf(on, 'zulu', chave)) === 'cancelada' || undefined, 'the event is processed');
    const rows = await attempts();
    assert.equal(rows.length, 2);
    for (const { tentativas, anuncios } of rows) assert.equal(tentativas, anuncios, 'what is announced is an attempt');
    await worker.stop();
  });

  test('a claim that nobody heard of is taken back', PATIENT, async () => {
    const on = await stage(['zulu']);
    on.slow.isSlow = false;
    let unheard = 0;
    const store: Stage['store'] = {
      ...on.store,
      notas: {
        ...on.store.notas,
        claim: async (...asked) => {
          const claim = await on.store.notas.claim(...asked);
          if (claim.notas.length === 0 || unheard > 0) return claim;
          unheard += 1;
          throw new StoreUnavailable('gone', 'the answer was lost');
        },
      },
    };
    const worker = begin({ ...on, world: { ...on.world, store } });
    const chave = await issue(on, 'zulu');
    worker.wake();
    await untilAuthorised(on, 'zulu', chave);
    assert.equal(unheard, 1);
    await worker.stop();
  });
});

describe('notes that are announced as they are stored', () => {
  /** A service whose worker sends at once: issued notes are announced with its leave, and handed to it. */
  async function announcing() {
    const on = await stage(['zulu']);
    on.slow.isSlow = false;
    const asked: string[] = [];
    const adn: Adn = {
      ...on.slow.adn,
      find: (tenant, notas) => {
        asked.push(...notas.map(({ chave_acesso }) => chave_acesso));
        return on.slow.adn.find(tenant, notas);
      },
    };
    const access = { isThere: true };
    const leaves = new Leaves();
    const store = createStore(
      on.pool,
      (tenant, documents, claim) => {
        store.notas.keepForTransmission(tenant, documents);
        if (claim !== undefined) worker.take(tenant, claim);
      },
      // The announcement uses the clock of the world, which stands still.
      (...all) => {
        const announcement = leaves.announce(...all);
        return announcement && { ...announcement, at: NOON, until: NOON + 60_000 };
      },
    );
    const transmission = async () => (access.isThere ? { adn, signer: undefined } : { problem: 'falta a chave' });
    const world: World = { ...on.world, store, transmission };
    const worker = startWorker(world, { onLeave: (tenant, notas) => leaves.give(tenant, notas) });
    onEnd(() => worker.stop());
    return { ...on, world, store, worker, leaves, access, asked };
  }

  const isAnnounced = async ({ pool }: Pick<Stage, 'pool'>, chave: string): Promise<boolean> => {
    // The two moves have one transaction.
    const text = `select 1 from notas n join trilha_notas a on a.tenant = n.tenant and a.nota = n.id and a.gatilho = 'emissao'
      join trilha_notas b on b.tenant = n.tenant and b.nota = n.id and b.gatilho = 'anuncio' and b.xmin = a.xmin
      where n.chave_acesso = $1`;
    return (await pool.query(text, [chave])).rowCount === 1;
  };

  test('once the worker has looked and has room; they are sent without a question', {
    ...PATIENT,
    skip: NO_TRIGGERS,
  }, async () => {
    const on = await announcing();
    const attempts = await keepAttempts(on);
    const first = await issue(on, 'zulu');
    on.worker.wake();
    await untilAuthorised(on, 'zulu', first);
    // The leave expires by itself while a slow machine stands still.
    const chave = await until(async () => {
      const [one] = [await issue(on, 'zulu')];
      on.worker.wake();
      await untilAuthorised(on, 'zulu', one!);
      return (await isAnnounced(on, one!)) ? one : undefined;
    }, 'a note is announced as it is stored');
    const last = (await attempts()).at(-1);
    assert.deepEqual([last?.chave, last?.tentativas, last?.anuncios], [chave, 1, 1]);
    assert.deepEqual(on.asked, []);
  });

  test('are given back where they cannot be sent after all, and asked about first', PATIENT, async () => {
    const on = await announcing();
    on.access.isThere = false;
    on.leaves.give('zulu', 1);
    const chave = await issue(on, 'zulu');
    assert.equal(await isAnnounced(on, chave), true);
    on.worker.wake();
    const givenBack = async (): Promise<true | undefined> => {
      const { due_at, claims } = (await on.store.notas.findByChave('zulu', chave))!;
      return (claims === null && due_at?.getTime() === NOON) || undefined;
    };
    await until(givenBack, 'it is due');
    assert.deepEqual([on.slow.came, on.asked], [[], []]);
    on.leaves.give('zulu', 1);
    await on.worker.stop();
    on.access.isThere = true;
    const other = begin(on);
    await untilAuthorised(on, 'zulu', chave);
    assert.deepEqual(on.asked, [chave]);
    await other.stop();
  });

  test('are given back by a worker that ends', PATIENT, async () => {
    const on = await announcing();
    on.leaves.give('zulu', 1);
    const chave = await issue(on, 'zulu');
    await on.worker.stop();
    assert.equal(await isAnnounced(on, chave), true);
    const { estado, due_at, claims } = (await on.store.notas.findByChave('zulu', chave))!;
    // A look of the worker may have come first.
    const isGivenBack = estado === 'transmitida' && due_at?.getTime() === NOON;
    assert.ok(claims === null && (isGivenBack || estado === 'autorizada'), `${estado}, due ${due_at?.toISOString()}`);
  });
});

test('what met trouble is tried again when the pause ends, however seldom the worker looks', PATIENT, async () => {
  const on = await stage([]);
  let hasFailed = false;
  const claim: World['store']['lotes']['claim'] = (...asked) => {
    if (hasFailed) return on.store.lotes.claim(...asked);
    hasFailed = true;
    return Promise.reject(new StoreUnavailable('gone', 'the database is away'));
  };
  const store = { ...on.world.store, lotes: { ...on.world.store.lotes, claim } };
  const worker = startWorker({ ...on.world, store }, { pollMs: 3_600_000 });
  onEnd(() => worker.stop());
  const isDone = await sendLote({ ...on.world, wake: worker.wake });
  await until(isDone, 'the lot and its note');
  assert.ok(hasFailed);
});

describe('the worker in its thread', () => {
  test('gives leave, and sends what was announced as it was stored', PATIENT, async () => {
    const connection = await freshDatabase();
    const pool = await poolOn(connection);
    const { log } = createLog('fatal');
    const thread = startTransmitterThread({ connection, logLevel: 'fatal', pollMs: 3_600_000 }, log);
    onEnd(() => thread.stop());
    const announced: string[] = [];
    const store = createStore(
      pool,
      (tenant, documents, claim) => {
        announced.push(...(claim?.notas ?? []).map(({ chave_acesso }) => chave_acesso));
        thread.onStored(tenant, documents, claim);
      },
      thread.announce,
    );
    await store.municipios.create({ tenant: 'integracao', ambiente: 'homologacao', codigoIbge: undefined }, Date.now());
    const { world, close } = openWorld(store, log, thread.wake);
    onEnd(close);
    const on = { world, store };
    const isSent = async (): Promise<true | undefined> => {
      const chave = await issue(on, 'integracao');
      await untilAuthorised(on, 'integracao', chave);
      return announced.includes(chave) || undefined;
    };
    await until(isSent, 'a note is announced as it is stored');
  });

  test('is woken by a note, an event and a lot alike', PATIENT, async () => {
    const connection = await freshDatabase();
    const pool = await poolOn(connection);
    const { log } = createLog('fatal');
    const store = createStore(pool);
    await store.municipios.create({ tenant: 'integracao', ambiente: 'homologacao', codigoIbge: undefined }, Date.now());
    // The thread itself looks once an hour.
    const thread = startTransmitterThread({ connection, logLevel: 'fatal', pollMs: 3_600_000 }, log);
    onEnd(() => thread.stop());
    const { world, close } = openWorld(store, log, thread.wake);
    onEnd(close);
    const on = { world, store };
    // The only report of this one is that there is work.
    const chave = await issue(on, 'integracao');
    await until(async () => (await estadoOf(on, 'integracao', chave)) === 'autorizada' || undefined, 'the note');
    await cancel(world, 'integracao', chave);
    await until(async () => (await estadoOf(on, 'integracao', chave)) === 'cancelada' || undefined, 'the event');
    const isDone = await sendLote(world);
    await until(isDone, 'the lot and its note');
  });
});

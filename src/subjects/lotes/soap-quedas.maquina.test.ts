/**
 * A process dies at any of its statements between the reception of a lot and its end. Answered results remain, unanswered requests are
 * repeated, each RPS becomes one note, and the lot ends as the model says. Every statement is a place of death, before it is sent or after
 * it ran but before its result arrives.
 *
 * NFSE_TEST_LONGO=1 uses all places in both ways, and also kills a real process under load. The default is a few places, which a seed
 * chooses (NFSE_TEST_SEMENTE=N).
 */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { freshDataDir, startServiceProcess } from '../../../test/support/process.ts';
import {
  ABRASF,
  call,
  envelope,
  first,
  loteXml,
  porProtocolo,
  porRpsXml,
  type RpsDeTeste,
  sendLote,
} from '../../../test/support/rps.ts';
import { LONG, SEED } from '../../../test/support/seed.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { until, untilTrue } from '../../../test/support/until.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Db } from '../../base/pg/open.ts';
import type { World } from '../../base/world/world.ts';
import { createStore } from '../../wiring/store.ts';
import { deliverNotas } from '../notas/deliver.job.ts';
import { LOTE_LEASE_MS, processLotes } from './lotes.job.ts';
import { answerSoap } from './porto-soap.ts';

/** One of this many places is used: an odd number, so that both ways occur. */
const STRIDE = 15;

class Died extends Error {}

/** The expected error, also when it is the cause of an unknown commit. */
function assertDied(error: unknown): void {
  const { cause = error } = error as Error;
  assert.ok(cause instanceof Died, String(error));
}

type When = 'before' | 'after';

/** A pool of a process that dies at the statement with this number; it sends nothing afterwards. */
function mortal(pool: Db, at: number, when: When): { readonly pool: Db; readonly said: () => number } {
  let said = 0;
  const gated =
    (query: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]): Promise<unknown> => {
      said += 1;
      if (said > at || (said === at && when === 'before')) throw new Died(`statement ${said}`);
      const isLast = said === at;
      const answer = await query(...args);
      if (isLast) throw new Died('after it');
      return answer;
    };
  const withGate = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (of, name) => {
        const value = Reflect.get(of, name, of);
        if (typeof value !== 'function') return value;
        if (name === 'query') return gated(value.bind(of));
        if (name === 'connect') return async () => withGate(await value.call(of));
        return value.bind(of);
      },
    });
  return { pool: withGate(pool), said: () => said };
}

/** Waits until the database has rolled back the transactions of the dead process. */
async function buried(pool: Db): Promise<void> {
  const text = `select count(*)::int as open from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`;
  const isBuried = async (): Promise<boolean> => (await pool.query<{ open: number }>(text)).rows[0]!.open === 0;
  await until(async () => (await isBuried()) || undefined, 'who is dead holds nothing');
}

describe('a process that dies', () => {
  let service: TestService;
  let municipio: Municipio;
  before(async () => {
    service = await startTestService({ worker: false });
    municipio = (await service.store.municipios.findBySlug('integracao'))!;
  });

  async function asked(world: World, operacao: string, xml: string): Promise<string> {
    const inside = `<n:${operacao} xmlns:n="${ABRASF}"><parameters>${xml}</parameters></n:${operacao}>`;
    const shown = () => {
      throw new Error('nobody asks who it is');
    };
    const answer = await answerSoap(world, municipio, Buffer.from(envelope(inside)), '1.1', {
      shown,
      simular: undefined,
      requisicao: undefined,
    });
    assert.equal(typeof answer.xml, 'string');
    return answer.xml as string;
  }

  /** Two notes, and then one that replaces the first: received and issued, with the cancellation of the replaced one. */
  function lotesOf(serie: string): readonly string[] {
    const substituido = { numero: '1', serie, tipo: '1' };
    const lists: RpsDeTeste[][] = [
      [
        { numero: 1, serie },
        { numero: 2, serie },
      ],
      [{ numero: 3, serie, substituido }],
    ];
    return lists.map((list, place) => loteXml(list, { numero: `${serie}${place}` }));
  }

  /** Sends a lot and works until its end; returns its protocol. */
  async function live(world: World, xml: string): Promise<string> {
    const protocolo = first(await asked(world, 'RecepcionarLoteRps', xml), 'Protocolo')!;
    while ((await processLotes(world, municipio)).delivered > 0);
    return protocolo;
  }

  async function assertWhole(serie: string, protocolos: readonly string[]): Promise<void> {
    const { world, pool } = service;
    for (const protocolo of protocolos) {
      const answer = await asked(world, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', protocolo));
      assert.match(answer, /<ListaNfse><CompNfse>/, `series ${serie}: ${answer}`);
    }
    const keys: string[] = [];
    for (const numero of [1, 2, 3]) {
      const answer = await asked(world, 'ConsultarNfsePorRps', porRpsXml(numero, serie));
      keys.push(/Id="NFS(\d{50})"/.exec(answer)?.[1] ?? assert.fail(answer));
    }
    const { rows: notas } = await pool.query(
      'select chave_acesso, numero_dps_nacional as numero from notas where serie_dps = $1 order by 2',
      [serie],
    );
    assert.deepEqual(
      notas.map(({ chave_acesso, numero }) => [numero, chave_acesso]),
      keys.map((chave, place) => [String(place + 1), chave]),
    );
    const { rows: lotes } = await pool.query(
      `select situacao, aberto, (select count(*)::int from fila f where f.tipo = 'lote' and f.id = l.id) as fila from lotes l
        where exists (select 1 from lotes_rps r where r.lote = l.id and r.serie = $1)`,
      [serie],
    );
    assert.deepEqual(lotes, Array(2).fill({ situacao: 4, aberto: false, fila: 0 }));
    const { rows: eventos } = await pool.query(
      `select e.codigo_tipo_evento as tipo, e.campos->>'chave_acesso_substituta' as por from eventos e
        join notas n on n.tenant = e.tenant and n.id = e.nota where n.chave_acesso = any ($1)`,
      [keys],
    );
    assert.deepEqual(eventos, [{ tipo: '105102', por: keys[2] }]);
    // One gapless sequence of numbers for all notes.
    const { rows: numbers } = await pool.query(
      'select ultimo::int as last, (select count(*)::int from notas) as notas from numeracao',
    );
    assert.equal(numbers[0].last, numbers[0].notas);
  }

  test('at any statement loses nothing and does nothing twice', async (context) => {
    const { world, pool, clock } = service;
    // A process caches reads for two seconds. The clock stands still, so that every run has the same number of statements.
    context.mock.method(performance, 'now', () => 0);
    let statements = 0;
    // The first provider is stored with its note, so the statements of the second run are counted.
    for (const serie of ['1', '2']) {
      const whole = mortal(pool, Number.POSITIVE_INFINITY, 'before');
      const one = { ...world, store: createStore(whole.pool) };
      const protocolos: string[] = [];
      for (const xml of lotesOf(serie)) protocolos.push(await live(one, xml));
      await assertWhole(serie, protocolos);
      statements = whole.said();
    }
    context.diagnostic(`seed ${SEED}: ${statements} statements`);
    assert.ok(statements > 20);

    let series = 2;
    const deaths = Array.from({ length: 2 * statements }, (_, place) => {
      return [1 + Math.floor(place / 2), place % 2 === 0 ? 'before' : 'after'] as const;
    }).filter((_, place) => LONG || (place + SEED) % STRIDE === 0);
    for (const [at, when] of deaths) {
      series += 1;
      const serie = String(series);
      const lotes = lotesOf(serie);
      const dying = mortal(pool, at, when);
      const one: World = { ...world, store: createStore(dying.pool) };
      const answered: string[] = [];
      try {
        for (const xml of lotes) answered.push(await live(one, xml));
        assert.fail(`it outlived statement ${at}`);
      } catch (error) {
        assertDied(error);
      }
      await buried(pool);
      // Another worker takes over after the claims of the dead one expired, and the client repeats its unanswered requests.
      clock.now += LOTE_LEASE_MS;
      const next: World = { ...world, store: createStore(pool) };
      while ((await processLotes(next, municipio)).delivered > 0);
      const after: string[] = [];
      for (const xml of lotes) after.push(await live(next, xml));
      assert.deepEqual(after.slice(0, answered.length), answered, `died ${when} statement ${at}`);
      await assertWhole(serie, after);
    }
  });

  test('at any statement of taking a lot anew, of which nothing stands, leaves one in its place', async () => {
    const { world, pool } = service;
    const tomador = '<Tomador><RazaoSocial>adn:rejeita=E1235</RazaoSocial></Tomador>';
    let outlived = false;
    for (let at = 1; !outlived; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const serie = String(1000 + 2 * at + (when === 'after' ? 1 : 0));
        const xml = loteXml([{ numero: 1, serie, tomador }], { numero: serie });
        const refused = await live(world, xml);
        while ((await deliverNotas(world, municipio)).delivered > 0);
        const dying = mortal(pool, at, when);
        const answered = await asked({ ...world, store: createStore(dying.pool) }, 'RecepcionarLoteRps', xml).catch(
          assertDied,
        );
        await buried(pool);
        outlived = answered !== undefined;
        const again = [];
        for (let turn = 0; turn < 2; turn += 1) {
          again.push(first(await asked(world, 'RecepcionarLoteRps', xml), 'Protocolo')!);
        }
        assert.equal(again[0], again[1], `died ${when} statement ${at}`);
        assert.notEqual(again[0], refused);
        if (outlived) assert.equal(first(String(answered), 'Protocolo'), again[0]);
        const { rows } = await pool.query('select refeito from lotes where numero_lote = $1 order by 1', [serie]);
        assert.deepEqual(rows, [{ refeito: false }, { refeito: true }]);
      }
      assert.ok(at < 40);
    }
  });
});

if (LONG) {
  test('killed in the midst of a load: every lot that was answered ends, and none of its notes is there twice', async () => {
    const dataDir = await freshDataDir();
    const one = await startServiceProcess({ NFSE_DATA_DIR: dataDir });
    const lotes = new Map<string, { readonly xml: string; protocolo: string | undefined }>();
    let killed = false;
    let place = 0;
    const client = async (): Promise<void> => {
      while (!killed) {
        place += 1;
        const numero = String(place);
        const list = Array.from({ length: 20 }, (_, at) => ({ numero: place * 100 + at, serie: '1' }));
        const lote = { xml: loteXml(list, { numero }), protocolo: undefined as string | undefined };
        lotes.set(numero, lote);
        try {
          const { documento } = await call(one.address, 'RecepcionarLoteRps', lote.xml);
          lote.protocolo = first(documento, 'Protocolo');
        } catch (error) {
          if (!killed) throw error;
        }
      }
    };
    const clients = Array.from({ length: 6 }, client);
    await untilTrue(() => place >= 60, 'sixty lots are sent');
    killed = true;
    await one.end('SIGKILL');
    await Promise.allSettled(clients);

    const two = await startServiceProcess({ NFSE_DATA_DIR: dataDir });
    const numbers = new Set<string>();
    for (const { xml, protocolo } of lotes.values()) {
      const done = await sendLote(two.address, xml);
      assert.equal(done.situacao, '4', done.documento);
      if (protocolo !== undefined) assert.equal(done.protocolo, protocolo);
      const chaves = [...done.documento.matchAll(/Id="NFS(\d{50})"/g)].map(([, chave]) => chave!);
      assert.equal(chaves.length, 20);
      for (const chave of chaves) numbers.add(chave.slice(23, 36));
    }
    assert.equal(numbers.size, lotes.size * 20);
    assert.equal(Number([...numbers].sort().at(-1)), numbers.size, 'numbers have no gap');
    await two.end('SIGTERM');
  });
}

/**
 * The store on a real PostgreSQL: the database's decisions when two processes want the same. A process is a pool and a store of its own;
 * the meaning of a row is out of scope here.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { before, describe, test } from 'node:test';
import { type AnnouncedClaim, claimedNotas, type NotaSettlement } from '../src/base/book/claim-notas.ts';
import { ensureMeses } from '../src/base/book/meses.ts';
import type { NotaNova } from '../src/base/book/nota-columns.ts';
import type { OnStored } from '../src/base/book/recent.ts';
import { TABELAS, type Tabela } from '../src/base/book/tabelas.ts';
import { type Db, openPool } from '../src/base/pg/open.ts';
import { UncertainCommit } from '../src/base/pg/unavailable.ts';
import { dpsIdInSerie } from '../src/fiscal/chave.ts';
import type { Prestador } from '../src/fiscal/facts.ts';
import { MINUTE_MS } from '../src/fiscal/moment.ts';
import { NOTA_ESTADOS, type NotaEstado, notaMove } from '../src/fiscal/nota.ts';
import type { Issuance, IssueResult } from '../src/subjects/notas/issue.rows.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { createStore, type Store } from '../src/wiring/store.ts';
import { NO_TRIGGERS } from './support/citus.ts';
import { onEnd } from './support/cleanup.ts';
import { emptyDatabase, freshPool } from './support/database.ts';
import { tenantsDue } from './support/due.ts';
import { addPrestador } from './support/municipio.ts';
import { keysOf, MES } from './support/nota-keys.ts';
import { allLookUp, noneScans, recorded, type Statements } from './support/plans.ts';
import {
  CNPJ,
  NOW,
  oneProcess,
  openTenants,
  type Process,
  rowOf,
  rows,
  sharedProcesses,
  twoProcesses,
  upTo,
} from './support/stores.ts';

const OTHER_CNPJ = '12ABC34501DE35';
const CPF = '52998224725';

const heldBy = ({ id, mes }: { readonly id: string; readonly mes: number }) => ({ id: BigInt(id), mes });

const failure = new Error('this note could not be made');

/** `idDps` undefined: the assigned number becomes part of its identifier. */
function issuance(prestador: string, idDps: string | undefined, more: Partial<NotaNova> | 'fails' = {}): Issuance {
  const serie = `DPS ${prestador} own `;
  return {
    prestador,
    mes: MES,
    dps: idDps === undefined ? { serie } : { id: idDps },
    novoPrestador: undefined,
    complete: ({ nDPS }) => {
      if (more === 'fails') throw failure;
      return rowOf(idDps ?? dpsIdInSerie(serie, nDPS!), more);
    },
  };
}

async function issued(store: Store, tenant: string, idDps: string, prestador = CNPJ): Promise<NotaNova> {
  const result = await store.notas.issue(tenant, issuance(prestador, idDps));
  assert.ok('nota' in result, `answered ${Object.keys(result)}`);
  return result.nota;
}

const settlement = (id: string, on: 'autorizacao' | 'recusa' | 'adiamento', dueAt?: number): NotaSettlement => ({
  id,
  mes: MES,
  move: notaMove('transmitida', on)!,
  mensagem_retorno: on === 'recusa' ? 'E1234: recusada' : undefined,
  dueAt,
});

/** Claims the due notes and settles all of them in one way. */
async function deliver(store: Store, tenant: string, on: 'autorizacao' | 'recusa', now = NOW): Promise<number> {
  const { token, notas } = await store.notas.claim(tenant, now, now + MINUTE_MS, 1000);
  return store.notas.settle(
    tenant,
    token,
    now,
    notas.map(({ id }) => settlement(id, on)),
  );
}

/** Numbers of a provider's notes, in order. */
async function numbersOf(pool: Db, tenant: string, prestador: string): Promise<number[]> {
  const text = 'select numero_dps from notas where tenant = $1 and prestador_cpf_cnpj = $2 order by numero_dps';
  return (await rows<{ numero_dps: string }>(pool, text, [tenant, prestador])).map(({ numero_dps }) =>
    Number(numero_dps),
  );
}

describe('connections', () => {
  test('what is asked in one turn is sent in one piece, and so is what is asked in a later one', async () => {
    const { pool } = await oneProcess();
    const client = await pool.connect();
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection;
    const pieces = { _write: 0, _writev: 0 };
    for (const name of ['_write', '_writev'] as const) {
      const write = stream[name]!.bind(stream) as (...given: unknown[]) => void;
      Object.assign(stream, {
        [name]: (...given: unknown[]) => {
          pieces[name] += 1;
          write(...given);
        },
      });
    }
    try {
      for (const turn of [1, 2]) {
        const answers = ['begin', 'select 1', 'select 2', 'commit'].map((text) => client.query(text));
        assert.deepEqual(
          (await Promise.all(answers)).map(({ command }) => command),
          ['BEGIN', 'SELECT', 'SELECT', 'COMMIT'],
        );
        assert.deepEqual(pieces, { _write: 0, _writev: turn });
      }
    } finally {
      // The connection is not reused: its stream has changed.
      client.release(true);
    }
  });
});

describe('migrations', () => {
  test('two processes that start at once apply each one once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const connection = await emptyDatabase();
      const pools = [1, 2].map(() => openPool(connection, () => undefined));
      for (const pool of pools) onEnd(() => pool.end());
      const applied = (await Promise.all(pools.map((pool) => migrate(pool)))).flat();
      const listed = (await rows<{ nome: string }>(pools[0]!, 'select nome from migracoes order by nome')).map(
        ({ nome }) => nome,
      );
      assert.ok(listed.length > 0);
      assert.deepEqual(applied.toSorted(), listed);
      assert.deepEqual(await migrate(pools[1]!), [], 'and never again');
    }
  });

  test('every table and every unique index begins with the tenant', async () => {
    const { pool } = await oneProcess();
    const common = Object.entries<Tabela>(TABELAS).filter(([, one]) => 'isDaInstalacao' in one);
    const exceptions = new Set(common.map(([name]) => name));
    const tables = await rows<{ name: string; first: string | null; nullable: string }>(
      pool,
      `select t.table_name as name, c.column_name as first, c.is_nullable as nullable
       from information_schema.tables t left join information_schema.columns c
         on c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name = 'tenant'
       where t.table_schema = 'public' and t.table_type = 'BASE TABLE'`,
    );
    assert.ok(tables.some(({ name }) => name === 'notas'));
    for (const { name, first, nullable } of tables.filter((table) => !exceptions.has(table.name))) {
      assert.deepEqual([first, nullable], ['tenant', 'NO'], name);
    }
    const indexes = await rows<{ table: string; name: string; first: string; primary: boolean }>(
      pool,
      `select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as name, a.attname as first, i.indisprimary as primary
       from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
         left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
       where i.indisunique and n.nspname = 'public'`,
    );
    for (const { name, first } of indexes.filter((index) => !exceptions.has(index.table))) {
      assert.equal(first, 'tenant', name);
    }
    const keyed = new Set(indexes.filter(({ primary }) => primary).map(({ table }) => table));
    assert.deepEqual(
      tables.filter(({ name }) => !keyed.has(name)),
      [],
      'every table has a primary key',
    );
  });
});

describe('numbers', () => {
  test('run without gaps for each tenant and provider, whoever issues, fails or repeats beside', async () => {
    const providers = [CNPJ, OTHER_CNPJ, CPF];
    const { a, b, alfa, beta } = await twoProcesses();
    const tenants = [alfa, beta];
    const outcomes: { tenant: string; prestador: string; idDps: string | undefined; result: IssueResult }[] = [];
    const waiting: Promise<void>[] = [];
    const send = (
      { store }: Process,
      tenant: string,
      prestador: string,
      idDps: string | undefined,
      fails: boolean,
    ): void => {
      const job = issuance(prestador, idDps, fails ? 'fails' : {});
      waiting.push(
        store.notas.issue(tenant, job).then((result) => void outcomes.push({ tenant, prestador, idDps, result })),
      );
    };
    for (let turn = 0; turn < 40; turn += 1) {
      for (const tenant of tenants) {
        for (const [place, prestador] of providers.entries()) {
          const idDps = `DPS ${prestador} ${turn}`;
          send(turn % 2 === 0 ? a : b, tenant, prestador, idDps, false);
          // Both processes send the same note, one that fails, and one without number.
          if (turn % 3 === place) send(turn % 2 === 0 ? b : a, tenant, prestador, idDps, false);
          if (turn % 4 === 1) send(a, tenant, prestador, `DPS ${prestador} never ${turn}`, true);
          if (turn % 5 === 2) send(b, tenant, prestador, undefined, turn % 10 === 2);
        }
      }
      if (turn % 8 === 7) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(waiting);

    for (const tenant of tenants) {
      for (const prestador of providers) {
        const own = outcomes.filter((one) => one.tenant === tenant && one.prestador === prestador);
        const notes = own.filter(({ result }) => 'nota' in result);
        // 40 identifiers, and one note without number in turns 7, 17, 27 and 37.
        assert.equal(notes.length, 44);
        assert.deepEqual(await numbersOf(a.pool, tenant, prestador), upTo(44));
        const winners = new Map(
          notes.map(({ idDps, result }) => [idDps, 'nota' in result && result.nota.chave_acesso]),
        );
        const repeated = own.flatMap(({ idDps, result }) =>
          'duplicateOf' in result ? [[idDps, result.duplicateOf] as const] : [],
        );
        assert.ok(repeated.length >= 13);
        for (const [idDps, holder] of repeated) assert.equal(holder.chave_acesso, winners.get(idDps));
        const failed = own.flatMap(({ result }) => ('error' in result ? [result.error] : []));
        assert.equal(failed.length, 14);
        assert.ok(failed.every((error) => error === failure));
        const [last] = await rows<{ ultimo: string }>(
          a.pool,
          'select ultimo from numeracao where tenant = $1 and prestador = $2',
          [tenant, prestador],
        );
        assert.equal(last?.ultimo, '44');
      }
    }
  });

  test('an identifier whose note cannot be made is free, for the next of the same group too', async () => {
    const { store, alfa } = await oneProcess();
    const jobs = [
      issuance(CNPJ, 'DPS 1', 'fails'),
      issuance(CNPJ, 'DPS 1', { tomador_razao_social: 'Metade \ud83d de um par' }),
      issuance(CNPJ, 'DPS 1'),
      issuance(CNPJ, 'DPS 2', 'fails'),
    ];
    const [first, second, third, fourth] = await Promise.all(jobs.map((job) => store.notas.issue(alfa, job)));
    assert.deepEqual([first, fourth], [{ error: failure }, { error: failure }]);
    assert.ok('nota' in second!, 'the second has the identifier');
    assert.ok('duplicateOf' in third!);
    assert.equal(third.duplicateOf.chave_acesso, second.nota.chave_acesso);
    const row = await store.notas.findByChave(alfa, second.nota.chave_acesso);
    assert.equal(row?.tomador_razao_social, 'Metade \ufffd de um par');
    await issued(store, alfa, 'DPS 2');
    const again = await store.notas.issue(alfa, issuance(CNPJ, 'DPS 1'));
    assert.ok('duplicateOf' in again);
    assert.equal(again.duplicateOf.chave_acesso, second.nota.chave_acesso);
  });

  test('one DPS sent to two processes at once is one note', async () => {
    const { a, b, alfa } = await twoProcesses();
    for (let round = 1; round <= 40; round += 1) {
      const idDps = `DPS ${round}`;
      const results = await Promise.all([a, b].map(({ store }) => store.notas.issue(alfa, issuance(CNPJ, idDps))));
      const notes = results.flatMap((result) => ('nota' in result ? [result.nota] : []));
      const holders = results.flatMap((result) => ('duplicateOf' in result ? [result.duplicateOf] : []));
      assert.deepEqual(
        [notes.length, holders.length],
        [1, 1],
        JSON.stringify(results, (_, v) => String(v)),
      );
      assert.equal(holders[0]!.chave_acesso, notes[0]!.chave_acesso);
      assert.equal(holders[0]!.numero_protocolo, notes[0]!.numero_protocolo);
      assert.deepEqual(await a.store.notas.readReceived(alfa, holders[0]!), notes[0]!.recebido);
    }
    assert.deepEqual(await numbersOf(a.pool, alfa, CNPJ), upTo(40));
  });

  test('what the database refuses leaves no gap, and nothing by halves', async () => {
    const { pool, store, alfa } = await oneProcess();
    await issued(store, alfa, 'DPS 1');
    const jobs = [
      issuance(CNPJ, 'DPS 2'),
      issuance(CNPJ, 'DPS 3', { data_competencia: 'no date' }),
      issuance(CPF, 'DPS 4'),
    ];
    const results = await Promise.allSettled(jobs.map((job) => store.notas.issue(alfa, job)));
    const told = results.flatMap((result, place) =>
      result.status === 'fulfilled' && 'nota' in result.value ? [`DPS ${place + 2}`] : [],
    );
    assert.deepEqual(told, ['DPS 2', 'DPS 4']);
    const text = 'select id_dps from notas where tenant = $1 order by id_dps';
    const stored = await rows<{ id_dps: string }>(pool, text, [alfa]);
    assert.deepEqual(
      stored.map(({ id_dps }) => id_dps),
      ['DPS 1', ...told],
    );
    await issued(store, alfa, 'DPS 5');
    const numbers = await numbersOf(pool, alfa, CNPJ);
    assert.deepEqual(numbers, upTo(numbers.length));
    const counted = `select (select count(*) from notas where tenant = $1) as n,
      (select count(*) from documentos where tenant = $1) as d`;
    const [counts] = await rows(pool, counted, [alfa]);
    assert.deepEqual(counts, { n: String(stored.length + 1), d: String(stored.length + 1) });
  });

  test('what the database refuses of one note does not take the others of its group with it', async () => {
    const { store, pool, alfa } = await oneProcess();
    const results = await Promise.allSettled(
      upTo(20).map((place) =>
        store.notas.issue(
          alfa,
          issuance(CNPJ, `DPS group ${place}`, place === 7 ? { data_competencia: '2026-13-45' } : {}),
        ),
      ),
    );
    const kinds = results.map((result) => (result.status === 'fulfilled' ? Object.keys(result.value)[0] : 'thrown'));
    assert.deepEqual(
      kinds.toSpliced(6, 1),
      Array.from({ length: 19 }, () => 'nota'),
    );
    assert.ok(kinds[6] === 'error' || kinds[6] === 'thrown');
    assert.deepEqual(await numbersOf(pool, alfa, CNPJ), upTo(19));
  });

  test('a connection that is lost in the middle is an error for its callers, and no gap', {
    skip: NO_TRIGGERS,
    timeout: 600_000,
  }, async () => {
    const { pool, store, alfa } = await oneProcess();
    // The server ends the connection that inserts one of these rows, as it does at its shutdown.
    await pool.query(`create function give_up() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5); return new; end $$`);
    await pool.query(`create trigger give_up before insert on notas for each row
      when (new.id_dps like 'lost%') execute function give_up()`);
    for (let round = 1; round <= 15; round += 1) {
      const lost = await Promise.allSettled([
        store.notas.issue(alfa, issuance(CNPJ, `with it ${round}`)),
        store.notas.issue(alfa, issuance(CNPJ, `lost ${round}`)),
      ]);
      assert.deepEqual(
        lost.map(({ status }) => status),
        ['rejected', 'rejected'],
      );
      await issued(store, alfa, `after ${round}`);
    }
    assert.deepEqual(await numbersOf(pool, alfa, CNPJ), upTo(15));
    const others = await rows(pool, "select 1 from notas where tenant = $1 and id_dps not like 'after%'", [alfa]);
    assert.deepEqual(others, []);
  });
});

describe('the identifier of a DPS', () => {
  test('is taken while the note lives, and free again after the ADN refused it (D-20)', async () => {
    const { pool, store, alfa } = await oneProcess();
    const first = await issued(store, alfa, 'DPS 1');
    const taken = await store.notas.issue(alfa, issuance(CNPJ, 'DPS 1'));
    assert.ok('duplicateOf' in taken);
    assert.equal(await store.notas.hasDps(alfa, 'DPS 1'), true);

    assert.equal(await deliver(store, alfa, 'recusa'), 1);
    assert.equal(await store.notas.hasDps(alfa, 'DPS 1'), false);
    assert.equal(await store.notas.findByDps(alfa, 'DPS 1'), undefined);
    const refused = await store.notas.findByChave(alfa, first.chave_acesso);
    assert.deepEqual([refused?.estado, refused?.mensagem_retorno], ['recusada', 'E1234: recusada']);

    const second = await issued(store, alfa, 'DPS 1');
    assert.notEqual(second.chave_acesso, first.chave_acesso);
    assert.equal((await store.notas.findByDps(alfa, 'DPS 1'))?.chave_acesso, second.chave_acesso);
    assert.equal(
      (await store.notas.findByChave(alfa, first.chave_acesso))?.estado,
      'recusada',
      'the refused note stays',
    );
    assert.deepEqual(await numbersOf(pool, alfa, CNPJ), [1, 2], 'its number is not used again');
    const third = await store.notas.issue(alfa, issuance(CNPJ, 'DPS 1'));
    assert.ok('duplicateOf' in third);
    assert.equal(third.duplicateOf.chave_acesso, second.chave_acesso);
  });

  test('is taken for ever once the note is authorised', async () => {
    const { store, alfa } = await oneProcess();
    const note = await issued(store, alfa, 'DPS 1');
    await deliver(store, alfa, 'autorizacao');
    const taken = await store.notas.issue(alfa, issuance(CNPJ, 'DPS 1'));
    assert.ok('duplicateOf' in taken);
    assert.equal(taken.duplicateOf.chave_acesso, note.chave_acesso);
  });
});

describe('a group', () => {
  test('is committed together: far fewer transactions than notes, and each note whole in one of them', async () => {
    const { pool, store, alfa } = await oneProcess();
    const count = 600;
    await Promise.all(upTo(count).map((number) => issued(store, alfa, `DPS ${number}`)));
    const [sums] = await rows<{ notes: string; commits: string }>(
      pool,
      'select count(*) as notes, count(distinct xmin::text) as commits from notas where tenant = $1',
      [alfa],
    );
    assert.equal(sums?.notes, String(count));
    assert.ok(Number(sums?.commits) <= 20, `${sums?.commits} transactions`);
    const torn = await rows(
      pool,
      `select n.id from notas n left join documentos d on d.tenant = n.tenant and d.nota = n.id
         left join trilha_notas t on t.tenant = n.tenant and t.nota = n.id
       where n.tenant = $1 and (d.xmin is distinct from n.xmin or t.xmin is distinct from n.xmin)`,
      [alfa],
    );
    assert.deepEqual(torn, []);
  });

  test('keeps every document with its note, byte for byte', async () => {
    const { store, alfa } = await oneProcess();
    const documents = [
      Buffer.from('<DPS>ação 😀</DPS>'),
      Buffer.from([0xff, 0xfe, 0x00, 0x3c, 0x00]),
      Buffer.alloc(0),
      Buffer.alloc(100_000, 7),
      Buffer.from('x'),
    ];
    const notes = await Promise.all(
      documents.map(async (recebido, place) => {
        const nfse = `<NFSe>${'é'.repeat(place * 1000)}</NFSe>`;
        const result = await store.notas.issue(alfa, issuance(CNPJ, `DPS ${place}`, { recebido, nfse }));
        assert.ok('nota' in result);
        return result.nota;
      }),
    );
    for (const [place, { chave_acesso, nfse }] of notes.entries()) {
      const row = await store.notas.findByChave(alfa, chave_acesso);
      assert.deepEqual(row?.recebido, documents[place]);
      assert.equal(row?.nfse.toString(), nfse);
      assert.deepEqual(await store.notas.readReceived(alfa, heldBy(row!)), documents[place]);
      assert.equal((await store.notas.readNfse(alfa, [row!])).get(row!.id)?.toString(), nfse);
    }
  });

  test('brings each new provider once, and never over one that is there (sandbox)', async () => {
    const { a, b, alfa } = await twoProcesses();
    const novo = (razaoSocial: string): Prestador => ({
      documento: CNPJ,
      razaoSocial,
      autorizado: true,
      endereco: { xLgr: 'Rua', nro: '1', xBairro: 'Centro', CEP: '01001000' },
      simples: [],
    });
    const job = (place: number): Issuance => ({
      ...issuance(CNPJ, `DPS ${place}`),
      novoPrestador: novo(`Nome ${place}`),
    });
    await Promise.all(upTo(40).map((place) => (place % 2 ? a : b).store.notas.issue(alfa, job(place))));
    const [only, ...others] = await a.store.prestadores.listOf(alfa, CNPJ);
    assert.deepEqual(others, []);
    const name = only!.razaoSocial;
    assert.match(name, /^Nome \d+$/);
    await b.store.notas.issue(alfa, { ...issuance(CNPJ, 'DPS 41'), novoPrestador: novo('Outro nome') });
    assert.equal((await b.store.prestadores.listOf(alfa, CNPJ))[0]?.razaoSocial, name);
    assert.deepEqual(await a.store.prestadores.listOf(alfa, OTHER_CNPJ), []);
  });
});

describe('a claim', () => {
  test('takes each due note once, though two workers race', async () => {
    const { a, b, alfa } = await twoProcesses();
    const count = 300;
    await Promise.all(upTo(count).map((number) => issued(a.store, alfa, `DPS ${number}`)));
    const taken: string[] = [];
    const work = async ({ store }: Process): Promise<void> => {
      for (;;) {
        const { notas } = await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 7);
        if (notas.length === 0) return;
        assert.ok(notas.length <= 7);
        taken.push(...notas.map(({ id }) => id));
      }
    };
    await Promise.all([work(a), work(b), work(a), work(b)]);
    // A claim can find nothing while another holds the last rows: the rest is taken now.
    await work(a);
    assert.equal(taken.length, count);
    assert.equal(new Set(taken).size, count);
    const moves = await rows<{ gatilho: string; count: string }>(
      a.pool,
      'select gatilho, count(*) from trilha_notas where tenant = $1 group by gatilho order by gatilho',
      [alfa],
    );
    assert.deepEqual(moves, [
      { gatilho: 'anuncio', count: String(count) },
      { gatilho: 'emissao', count: String(count) },
    ]);
  });

  test('does not wait for what somebody else is taking at the moment', { timeout: 600_000 }, async () => {
    const { a, b, alfa } = await twoProcesses();
    await issued(a.store, alfa, 'DPS 1');
    await issued(a.store, alfa, 'DPS 2');
    const holder = await a.pool.connect();
    try {
      await holder.query('begin');
      await holder.query(
        `select 1 from fila f join notas n on n.tenant = $1 and n.id = f.id where f.tenant = $1 and n.id_dps = 'DPS 1' for update of f`,
        [alfa],
      );
      const { notas } = await b.store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
      assert.deepEqual(
        notas.map(({ id_dps }) => id_dps),
        ['DPS 2'],
      );
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  test('takes what is due and nothing else, the longest due first', async () => {
    const { store, alfa } = await oneProcess();
    for (const [idDps, data_emissao] of [
      ['later', NOW + 1000],
      ['second', NOW - 1000],
      ['first', NOW - 2000],
    ] as const) {
      await store.notas.issue(alfa, issuance(CNPJ, idDps, { data_emissao }));
    }
    const one = await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 1);
    assert.deepEqual(
      one.notas.map(({ id_dps }) => id_dps),
      ['first'],
    );
    const rest = await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    assert.deepEqual(
      rest.notas.map(({ id_dps }) => id_dps),
      ['second'],
    );
    assert.deepEqual((await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10)).notas, []);
    assert.notEqual(one.token, rest.token);
  });

  test('announces: the state is transmitida before anybody sends, and the state it was found in is told', async () => {
    const { store, alfa } = await oneProcess();
    const note = await issued(store, alfa, 'DPS 1');
    assert.equal((await store.notas.findByChave(alfa, note.chave_acesso))?.estado, 'emitida');
    const { notas } = await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    assert.deepEqual(
      notas.map(({ chave_acesso, id_dps, found, tentativas }) => ({ chave_acesso, id_dps, found, tentativas })),
      [{ chave_acesso: note.chave_acesso, id_dps: 'DPS 1', found: 'emitida', tentativas: 1 }],
    );
    assert.equal((await store.notas.findByChave(alfa, note.chave_acesso))?.estado, 'transmitida');
  });

  test('whose lease has passed is taken by another, and its ghost writes nothing', async () => {
    const { a: dead, b: living, alfa } = await twoProcesses();
    const note = await issued(dead.store, alfa, 'DPS 1');
    const lost = await dead.store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    const id = lost.notas[0]!.id;

    const early = await living.store.notas.claim(alfa, NOW + MINUTE_MS - 1, NOW + 2 * MINUTE_MS, 10);
    assert.deepEqual(early.notas, [], 'the lease still holds');
    const again = await living.store.notas.claim(alfa, NOW + MINUTE_MS, NOW + 2 * MINUTE_MS, 10);
    assert.deepEqual(
      again.notas.map(({ found, tentativas }) => [found, tentativas]),
      [['transmitida', 2]],
    );

    const written = await dead.store.notas.settle(alfa, lost.token, NOW + MINUTE_MS, [settlement(id, 'recusa')]);
    assert.equal(written, 0);
    const between = await living.store.notas.findByChave(alfa, note.chave_acesso);
    assert.deepEqual([between?.estado, between?.mensagem_retorno], ['transmitida', null]);

    assert.equal(
      await living.store.notas.settle(alfa, again.token, NOW + MINUTE_MS, [settlement(id, 'autorizacao')]),
      1,
    );
    assert.equal((await living.store.notas.findByChave(alfa, note.chave_acesso))?.estado, 'autorizada');
    for (const token of [lost.token, again.token]) {
      assert.equal(await dead.store.notas.settle(alfa, token, NOW, [settlement(id, 'recusa')]), 0, 'nor anybody twice');
    }
    const moves = 'select gatilho from trilha_notas where tenant = $1 order by movimento';
    const trail = await rows<{ gatilho: string }>(dead.pool, moves, [alfa]);
    assert.deepEqual(
      trail.map(({ gatilho }) => gatilho),
      ['emissao', 'anuncio', 'anuncio', 'autorizacao'],
    );
  });

  test('is settled in part, when only a part is still ours', async () => {
    const { store, alfa } = await oneProcess();
    await issued(store, alfa, 'DPS 1');
    await issued(store, alfa, 'DPS 2');
    const { token, notas } = await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    const [mine, foreign] = notas;
    const wrong = { ...settlement(foreign!.id, 'autorizacao'), move: notaMove('autorizada', 'cancelamento')! };
    assert.equal(await store.notas.settle(alfa, token, NOW, [settlement(mine!.id, 'autorizacao'), wrong]), 1);
    assert.equal(
      (await store.notas.findByDps(alfa, foreign!.id_dps))?.estado,
      'transmitida',
      'a move from another state',
    );
    assert.equal((await store.notas.findByDps(alfa, mine!.id_dps))?.estado, 'autorizada');
  });
});

describe('a note that is announced as it is stored', () => {
  type Told = readonly [tenant: string, documents: readonly string[], claim: AnnouncedClaim | undefined];

  /** A process whose worker sends its issued notes at once, and the reports of its commits. */
  async function announcing() {
    const { b, ...one } = await twoProcesses();
    const told: Told[] = [];
    const pool = openPool((await sharedProcesses())[0].pool.options, () => undefined);
    onEnd(() => pool.end());
    const onStored: OnStored = (tenant, documents, claim) =>
      void told.push([tenant, documents.map(([id]) => id), claim]);
    const store = createStore(pool, onStored, () => ({ token: randomUUID(), at: NOW, until: NOW + MINUTE_MS }));
    return { ...one, store, other: b.store, pool, told };
  }

  const STORED = `select estado, movimentos, f.due_at, f.claims is not null as claimed, f.tentativas, nsu_antes, mensagem_retorno,
      (select json_agg(json_build_array(t.movimento, t.em, t.de, t.gatilho, t.para, t.mensagem) order by t.movimento)
        from trilha_notas t where t.tenant = $1 and t.nota = n.id) as trilha
    from notas n left join fila f on f.tenant = $1 and f.tipo = 'nota' and f.id = n.id
    where n.tenant = $1 and id_dps = any ($2) order by id_dps`;

  test('is as a claim would have left it, which is told after the commit, and settled with others', async () => {
    const { store, other, pool, alfa, told } = await announcing();
    await issued(other, alfa, 'DPS 0');
    const first = await other.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    const recebida = { nsu: '41', assinatura: undefined };
    await other.notas.settle(alfa, first.token, NOW, [{ ...settlement(first.notas[0]!.id, 'autorizacao'), recebida }]);
    await issued(other, alfa, 'DPS 1');
    const claimed = await other.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    await issued(store, alfa, 'DPS 2');
    const [byClaim, asStored] = await rows<object>(pool, STORED, [alfa, ['DPS 1', 'DPS 2']]);
    assert.deepEqual(asStored, byClaim);
    const [[tenant, documents, claim]] = told as [Told];
    assert.ok(claim !== undefined);
    assert.deepEqual([tenant, documents], [alfa, claim.notas.map(({ id }) => id)]);
    const own = { id: '', chave_acesso: '', id_dps: '' };
    assert.deepEqual(
      claimedNotas(claim).map((nota) => ({ ...nota, ...own })),
      claimed.notas.map((nota) => ({ ...nota, ...own })),
    );
    assert.deepEqual((await other.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10)).notas, [], 'it is not due');
    const both = [...claim.notas, ...claimed.notas].map(({ id }) => settlement(id, 'autorizacao'));
    assert.equal(await store.notas.settle(alfa, [claim.token, claimed.token], NOW, both), 2);
  });

  test('is neither held back, nor in the place of another, nor rehearsed', async () => {
    const { store, pool, alfa, told } = await announcing();
    const made = [
      issuance(CNPJ, 'DPS 1', { retencao: 'falta a CBS', tabela_aliquotas: 1 }),
      issuance(CNPJ, 'DPS 2', { substitui: keysOf(0).chave_acesso }),
      issuance(CNPJ, 'DPS 3', { simular: 'rejeicao' }),
    ];
    for (const one of made) assert.ok('nota' in (await store.notas.issue(alfa, one)));
    const stored = await rows<{ estado: string; movimentos: number; claimed: boolean }>(pool, STORED, [
      alfa,
      ['DPS 1', 'DPS 2', 'DPS 3'],
    ]);
    assert.deepEqual(
      stored.map(({ estado, movimentos, claimed }) => [estado, movimentos, claimed]),
      [
        ['retida', 1, false],
        ['emitida', 1, false],
        ['emitida', 1, false],
      ],
    );
    assert.deepEqual(
      told.map(([, documents, claim]) => [documents.length, claim]),
      [
        [1, undefined],
        [1, undefined],
      ],
    );
  });

  test('that the database refuses is told of nobody; the others of its group are', async () => {
    const { store, alfa, told } = await announcing();
    const results = await Promise.allSettled(
      upTo(4).map((place) =>
        store.notas.issue(alfa, issuance(CNPJ, `DPS ${place}`, place === 2 ? { data_competencia: '2026-13-45' } : {})),
      ),
    );
    const good = results.filter((result) => result.status === 'fulfilled' && 'nota' in result.value).length;
    assert.equal(good, 3);
    const notas = told.flatMap(([, , claim]) => claim!.notas);
    assert.deepEqual(notas.map(({ id_dps }) => id_dps).toSorted(), ['DPS 1', 'DPS 3', 'DPS 4']);
  });

  test('by a commit of which nobody heard is given back by its token, and asked about', async () => {
    const { store, other, pool, alfa, told } = await announcing();
    // The connection is lost after the commit of the notes, and before the answer arrives.
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...asked: unknown[]) => Promise<unknown>;
      let isIssuing = false;
      const deaf = async (asked: unknown, ...more: unknown[]): Promise<unknown> => {
        // A pool makes its query with a callback.
        if (more.length > 0) return query(asked, ...more);
        isIssuing ||= (asked as { name?: string }).name === 'insert_notas';
        const answer = await query(asked);
        if ((asked as { text?: string }).text !== 'commit' || !isIssuing) return answer;
        await client.end();
        throw new Error('Connection terminated unexpectedly');
      };
      Object.assign(client, { query: deaf });
    });
    await assert.rejects(issued(store, alfa, 'DPS 1'), UncertainCommit);
    const [[, , claim]] = told as [Told];
    assert.deepEqual(claim?.notas, []);
    assert.deepEqual((await other.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10)).notas, [], 'it is announced');
    await other.esperas.endClaims(alfa, [claim!.token], NOW);
    const { notas } = await other.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    assert.deepEqual(
      notas.map(({ id_dps, found, tentativas }) => [id_dps, found, tentativas]),
      [['DPS 1', 'transmitida', 2]],
    );
  });
});

describe('a settlement', () => {
  test('leaves each move in the trail, with its moment', async () => {
    const { pool, store, alfa } = await oneProcess();
    await issued(store, alfa, 'DPS 1');
    const first = await store.notas.claim(alfa, NOW + 1000, NOW + MINUTE_MS, 10);
    const id = first.notas[0]!.id;
    await store.notas.settle(alfa, first.token, NOW + 2000, [settlement(id, 'adiamento', NOW + 5000)]);
    const second = await store.notas.claim(alfa, NOW + 5000, NOW + MINUTE_MS, 10);
    await store.notas.settle(alfa, second.token, NOW + 6000, [settlement(id, 'autorizacao')]);
    const trail = await rows<{ movimento: number; em: Date; de: string | null; gatilho: string; para: string }>(
      pool,
      'select movimento, em, de, gatilho, para from trilha_notas where tenant = $1 and nota = $2 order by movimento',
      [alfa, id],
    );
    assert.deepEqual(
      trail.map(({ movimento, em, de, gatilho, para }) => [movimento, em.getTime() - NOW, de, gatilho, para]),
      [
        [1, 0, null, 'emissao', 'emitida'],
        [2, 1000, 'emitida', 'anuncio', 'transmitida'],
        [3, 2000, 'transmitida', 'adiamento', 'transmitida'],
        [4, 5000, 'transmitida', 'anuncio', 'transmitida'],
        [5, 6000, 'transmitida', 'autorizacao', 'autorizada'],
      ],
    );
  });

  test('puts a note off until its moment, and says nothing more of one that rests', async () => {
    const { store, alfa } = await oneProcess();
    const isDue = async (now: number): Promise<boolean> => (await tenantsDue(store, 'notas', now)).includes(alfa);
    const note = await issued(store, alfa, 'DPS 1');
    assert.equal(await isDue(NOW - 1), false);
    assert.equal(await isDue(NOW), true);
    const { token, notas } = await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    assert.equal(await isDue(NOW), false, 'what is claimed is not due');
    await store.notas.settle(alfa, token, NOW, [settlement(notas[0]!.id, 'adiamento', NOW + 8000)]);
    assert.equal(await isDue(NOW + 7999), false);
    assert.equal(await isDue(NOW + 8000), true);
    await deliver(store, alfa, 'autorizacao', NOW + 8000);
    assert.equal(await isDue(NOW + 1_000_000 * MINUTE_MS), false);
    const row = await store.notas.findByChave(alfa, note.chave_acesso);
    assert.equal(row?.data_autorizacao?.getTime(), NOW + 8000);
    assert.equal(row?.data_cancelamento, null);
  });

  test('the database takes the states of the machine and no other', async () => {
    const { pool, store, alfa } = await oneProcess();
    await issued(store, alfa, 'DPS 1');
    for (const estado of Object.keys(NOTA_ESTADOS) as NotaEstado[]) {
      await pool.query('update notas set estado = $2 where tenant = $1', [alfa, estado]);
    }
    await assert.rejects(pool.query("update notas set estado = 'outra' where tenant = $1", [alfa]), /check/);
  });
});

describe('a tenant', () => {
  test('never sees, claims or settles what is of another', async () => {
    const { store, pool, alfa, beta, gama } = await oneProcess();
    const twin = keysOf(0);
    for (const tenant of [alfa, beta]) {
      const result = await store.notas.issue(
        tenant,
        issuance(CNPJ, 'DPS 1', { ...twin, prestador_razao_social: tenant, nfse: `<NFSe>${tenant}</NFSe>` }),
      );
      assert.ok('nota' in result, 'keys of one tenant are no other tenant’s');
    }
    for (const tenant of [alfa, beta]) {
      for (const row of [
        await store.notas.findByChave(tenant, twin.chave_acesso),
        await store.notas.findByProtocolo(tenant, twin.numero_protocolo),
        await store.notas.findByDps(tenant, 'DPS 1'),
      ]) {
        assert.equal(row?.prestador_razao_social, tenant);
        assert.equal(row?.nfse.toString(), `<NFSe>${tenant}</NFSe>`);
      }
    }
    assert.equal(await store.notas.findByChave(gama, twin.chave_acesso), undefined);
    assert.equal(await store.notas.findByProtocolo(gama, twin.numero_protocolo), undefined);
    assert.equal(await store.notas.findByDps(gama, 'DPS 1'), undefined);
    assert.equal(await store.notas.hasDps(gama, 'DPS 1'), false);

    const claim = await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10);
    assert.equal(claim.notas.length, 1);
    const { id } = claim.notas[0]!;
    assert.equal(await store.notas.settle(beta, claim.token, NOW, [settlement(id, 'autorizacao')]), 0);
    assert.equal((await store.notas.findByChave(alfa, twin.chave_acesso))?.estado, 'transmitida');
    assert.equal((await store.notas.findByChave(beta, twin.chave_acesso))?.estado, 'emitida');
    assert.equal(await store.notas.readReceived(gama, heldBy({ id, mes: MES })), undefined);
    assert.equal((await store.notas.readNfse(gama, [{ id, mes: MES }])).size, 0);
    const due = await tenantsDue(store, 'notas', NOW);
    assert.deepEqual(
      [alfa, beta, gama].map((tenant) => due.includes(tenant)),
      [false, true, false],
    );

    await addPrestador(pool, alfa, CNPJ, { nome: 'Nome' });
    const servico = `insert into servicos_municipais (tenant, codigo, inicio, descricao, codigo_tributacao_nacional)
      values ($1, '001', '2026-01-01', 'Serviço', '010101')`;
    await pool.query(servico, [alfa]);
    const [own, foreign] = await Promise.all([
      store.prestadores.listOf(alfa, CNPJ),
      store.prestadores.listOf(beta, CNPJ),
    ]);
    assert.deepEqual([own.length, foreign.length], [1, 0]);
    assert.equal((await store.servicos.findByCodes(alfa, '010101', undefined)).lines.length, 1);
    assert.deepEqual(await store.servicos.findByCodes(beta, '010101', '001'), { hasList: false, lines: [] });
  });

  test('that is closed numbers nothing and gives nothing out, whoever asks', async () => {
    const { pool, store, alfa } = await oneProcess();
    await issued(store, alfa, 'DPS 1');
    const close = (isClosed: boolean) =>
      pool.query('update municipios set fechado = $2 where tenant = $1', [alfa, isClosed]);
    await close(true);
    await assert.rejects(issued(store, alfa, 'DPS 2'), { kind: 'closed' });
    assert.deepEqual((await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10)).notas, []);
    await close(false);
    await issued(store, alfa, 'DPS 2');
    assert.deepEqual(await numbersOf(pool, alfa, CNPJ), upTo(2));
    assert.equal((await store.notas.claim(alfa, NOW, NOW + MINUTE_MS, 10)).notas.length, 2);
  });

  test('that is not open issues nothing', async () => {
    const { pool, store } = await oneProcess();
    await assert.rejects(store.notas.issue('nenhum', issuance(CNPJ, 'DPS 1')));
    assert.deepEqual(await rows(pool, "select 1 from notas where tenant = 'nenhum'"), []);
    assert.equal(await store.municipios.findBySlug('nenhum'), undefined);
  });
});

describe('the plans of the statements', () => {
  const statements: Statements = new Map();
  let recordedTenant = '';

  before(async () => {
    const { a, alfa } = await twoProcesses();
    recordedTenant = alfa;
    const store = createStore(recorded(a.pool, statements));
    const novoPrestador: Prestador = {
      documento: CNPJ,
      razaoSocial: 'Nome',
      autorizado: true,
      endereco: { xLgr: 'Rua', nro: '1', xBairro: 'Centro', CEP: '01001000' },
      simples: [],
    };
    await Promise.all([
      store.notas.issue(alfa, { ...issuance(CNPJ, 'DPS 1'), novoPrestador }),
      store.notas.issue(alfa, issuance(CNPJ, 'DPS 1')),
      store.notas.issue(alfa, issuance(CPF, undefined)),
    ]);
    // The automatic numbers meet this one, so the series stores its next number.
    await store.notas.issue(alfa, issuance(CPF, dpsIdInSerie(`DPS ${CPF} own `, 3)));
    await store.notas.issue(alfa, issuance(CPF, undefined));
    await store.notas.previewNumbers(alfa, CPF, `DPS ${CPF} own `);
    const row = await store.notas.findByDps(alfa, 'DPS 1');
    await store.notas.findByChave(alfa, row!.chave_acesso);
    await store.notas.findByProtocolo(alfa, row!.numero_protocolo);
    await store.notas.readReceived(alfa, heldBy(row!));
    await store.notas.hasDps(alfa, 'DPS 1');
    await store.notas.findSubstituidas(alfa, [row!.chave_acesso]);
    await store.notas.listTrail(alfa, row!);
    // Another process has no copy of the rows in memory.
    await createStore(recorded(a.pool, statements)).notas.readNfse(alfa, [row!]);
    await store.listDue(NOW, 1);
    await store.prestadores.listOf(alfa, CNPJ);
    await store.municipios.findBySlug(alfa);
    await store.servicos.findByCodes(alfa, '010101', '001');
    for (const text of REGISTERED) await a.pool.query(text, [alfa, 1]);
    const operacao = { cTribNac: '010101', documento: CNPJ, regime: '6', deduz: true };
    await createStore(recorded(a.pool, statements)).cadastros.find(alfa, { nBM: '35503080400001', operacao });
    await deliver(store, alfa, 'autorizacao');
  });

  /** A line in each registry of a tenant, or all of its lines. */
  const REGISTERED = [
    `insert into beneficios_municipais (tenant, numero, inicio, descricao, tipo, servicos, documentos)
      select $1, lpad(n::text, 14, '0'), '2026-01-01', 'Isenção', 'isencao', '{}', '{}' from generate_series(1, $2::integer) n`,
    `insert into deducoes_admitidas (tenant, codigo_tributacao_nacional, inicio, formas)
      select $1, lpad(n::text, 6, '0'), '2026-01-01', '{valor}' from generate_series(1, $2::integer) n`,
    `insert into regimes_especiais (tenant, regime, documento, inicio, servicos)
      select $1, '6', lpad(n::text, 14, '0'), '2026-01-01', '{}' from generate_series(1, $2::integer) n`,
    `insert into nao_incidencias (tenant, codigo_tributacao_nacional, documento, inicio)
      select $1, lpad((n % 300)::text, 6, '0'), lpad(n::text, 14, '0'), '2026-01-01' from generate_series(1, $2::integer) n`,
  ];

  /** The query for the existence of any line of a list uses the tenant alone. */
  const isPresence = (text: string): boolean => /\bas servicos\b/.test(text);

  /** The query across tenants reads all of them; the tenant is the whole key of some tables; due rows are read in order. */
  const WHOLE =
    /^(municipios|servicos_municipais|recepcoes_adn|meses|fila_due|fila_pkey|retidas_tabela|mudancas_novas|mudancas_ate|auditoria_sem_lugar|webhooks|exportacoes)/;

  test('were all seen', () => assert.ok(statements.size >= 15));

  test('scan nothing on empty tables, before and after the statistics were made', async () => {
    const pool = await freshPool();
    await noneScans(pool, statements, [recordedTenant, 'alfa']);
    await pool.query('analyze');
    await noneScans(pool, statements, [recordedTenant, 'alfa']);
  });

  test('scan nothing on full ones, and look up by whole keys', async () => {
    const pool = await freshPool();
    await openTenants(createStore(pool), ['alfa', 'beta']);
    await ensureMeses(pool, [MES]);
    await pool.query(`insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, numero_dps, serie_dps,
        numero_dps_nacional, data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, valor_servico)
      select case when n % 10 = 0 then 'beta' else 'alfa' end, ${MES}, n, lpad(n::text, 36, '0') || '26110000000000', '${MES}' || n, 'D' || n,
        case when n % 50 = 0 then 'emitida' else 'autorizada' end, n, '1', n::text, now(),
        '2026-11-01', '${CNPJ}', 'Nome', 10 from generate_series(1, 20000) n`);
    await pool.query(`insert into identidades select tenant, id_dps, id, mes from notas`);
    await pool.query(`insert into fila select tenant, 'nota', id, mes, now() from notas where estado = 'emitida'`);
    await pool.query(`insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado,
        aberto, desde, criado_em, autor, campos)
      select tenant, 100000 + id, mes, id, mes, 1, '101101', 1, true, 'pendente', true, now(), now(), '${CNPJ}', '{}' from notas`);
    await pool.query(`insert into documentos select tenant, mes, id, 'x', 'y' from notas`);
    await pool.query(`insert into trilha_notas (tenant, mes, nota, movimento, em, de, gatilho, para)
      select tenant, mes, id, 1, now(), null, 'emissao', 'emitida' from notas`);
    await pool.query(`insert into prestadores (tenant, documento, razao_social, autorizado, logradouro, numero, bairro, cep, origem,
        criado_em) select 'alfa', lpad(n::text, 14, '0'), 'Nome', true, 'Rua', '1', 'Centro', '01001000', 'dps', now()
      from generate_series(1, 5000) n`);
    await pool.query(`insert into numeracao select tenant, documento, 1 from prestadores`);
    for (const text of REGISTERED) for (const tenant of ['alfa', 'beta']) await pool.query(text, [tenant, 5000]);
    const byKey = new Map([...statements].filter(([text]) => !isPresence(text)));
    assert.equal(byKey.size, statements.size - 1);
    await noneScans(pool, statements, [recordedTenant, 'alfa']);
    await pool.query('analyze');
    // Most of the rows, some, and a tenant that came after the statistics were made.
    for (const tenant of ['alfa', 'beta', 'gama']) {
      await noneScans(pool, statements, [recordedTenant, tenant]);
      await allLookUp(pool, byKey, [recordedTenant, tenant], WHOLE);
    }
  });
});

/** The benchmark measures what it claims: CPU time by thread and process, and ratios over windows. */
import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { isWithin } from '../bench/cerca.ts';
import { type CpuTimes, cpuTimesOf, HAS_THREADS, parsePs, parseSchedstat, parseStat, partOf } from '../bench/cpu.ts';
import { DOCUMENTOS, type Documento, patchOf } from '../bench/documents.ts';
import { multiplyNotas } from '../bench/fill.ts';
import { chooseIssuer, GIANT, type Issuers, listIssuers } from '../bench/issuers.ts';
import { commandOf, LOAD_NAMES } from '../bench/loads.ts';
import { compareWindows, costOf, spreadOf } from '../bench/ratios.ts';
import { keptRate, runLoads, type Scene, type Side } from '../bench/scene.ts';
import type { Sent } from '../bench/sender.ts';
import { drawBars } from '../bench/svg.ts';
import { cutFunction, WING_NAMES, WINGS, WITHOUT } from '../bench/wings.ts';
import { ensureMeses } from '../src/base/book/meses.ts';
import type { Db } from '../src/base/pg/open.ts';
import { parseChave, parseDpsId } from '../src/fiscal/chave.ts';
import { avisosOn, faultsOf } from '../src/fiscal/rules/trial.ts';
import { createStore } from '../src/wiring/store.ts';
import { fillNotas } from './support/cheio.ts';
import { freshDatabase, poolOn } from './support/database.ts';
import { MES } from './support/nota-keys.ts';

/**
 * Burns CPU time in its main thread, in a JavaScript thread and in a child that plays the database. Each reports its time by its own count
 * (getrusage, clock_gettime) and then sleeps.
 */
const BURNER = `
import { fork, spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
const burn = (ms, spent) => { while (spent() < ms * 1000); return spent(); };
const ofThread = () => { const { user, system } = process.threadCpuUsage(); return user + system; };
const told = (one) => new Promise((resolve) => one.once('message', resolve));
if (process.argv[2] === 'banco') {
  const spent = () => { const { user, system } = process.cpuUsage(); return user + system; };
  process.send(burn(500, spent));
  process.on('message', () => process.disconnect());
} else {
  const child = fork(process.argv[1], ['banco']);
  const database = await told(child);
  const thread = new Worker('const { parentPort } = require("node:worker_threads"); (' + String(() => {
    const ofThread = () => { const { user, system } = process.threadCpuUsage(); return user + system; };
    while (ofThread() < 400_000);
    parentPort.postMessage(ofThread());
    setInterval(() => {}, 1e6);
  }) + ')()', { eval: true });
  const other = await told(thread);
  const main = burn(700, ofThread);
  process.send({ postmaster: child.pid, database, main, other });
  process.on('message', () => { child.send('end'); process.exit(); });
}
`;

describe('CPU time', () => {
  test('is that which threads and processes count of themselves', { skip: !HAS_THREADS }, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'nfse-cpu-'));
    const file = path.join(folder, 'burner.mjs');
    await writeFile(file, BURNER);
    await mkdir(path.join(folder, 'pg'));
    const burner = fork(file);
    try {
      const told = await new Promise<Record<'postmaster' | 'database' | 'main' | 'other', number>>(
        (resolve, reject) => {
          burner.once('message', (message) => resolve(message as never));
          burner.once('exit', reject);
        },
      );
      await writeFile(path.join(folder, 'pg/postmaster.pid'), `${told.postmaster}\n`);
      const times = cpuTimesOf(burner.pid!, folder);
      // A thread uses a few milliseconds after its report; in the other direction, only the clocks' resolution is allowed.
      const near = (seconds: number, micros: number): void => {
        assert.ok(seconds > micros / 1e6 - 0.02 && seconds < micros / 1e6 + 0.1, `${seconds} s, told ${micros} µs`);
      };
      near(times.emissor, told.main);
      near(times.transmissor, told.other);
      assert.ok(times.banco > told.database / 1e6 - 0.02, `${times.banco} s, told ${told.database} µs`);
      assert.ok(times.banco < 3, 'of the child alone');
    } finally {
      burner.send('end');
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('is read as the kernel writes it', () => {
    assert.equal(parseSchedstat('824727573 72337223 944\n'), 0.824727573);
    // Fields by proc(5): 4 is the parent, 14 and 15 the process' own time, 16 and 17 that of its reaped children.
    const stat = '42 (a) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 11 0 100 0 0';
    assert.deepEqual(parseStat(stat), { parent: 7, seconds: 2, reaped: 0.5 });
  });

  test('is read as ps writes it', () => {
    assert.deepEqual(parsePs('  501     1   1:02.50'), [501, { parent: 1, seconds: 62.5, reaped: 0 }]);
    assert.deepEqual(parsePs('7 501 2-03:04:05'), [7, { parent: 501, seconds: 183_845, reaped: 0 }]);
  });

  test('goes to the part that the name of a thread says', () => {
    const parts = ['WorkerThread', 'node-V8Worker', 'DelayedTaskSche', 'libuv-worker', 'SignalInspector'].map(partOf);
    assert.deepEqual(parts, ['transmissor', 'auxiliares', 'auxiliares', 'resto', 'resto']);
  });
});

test('no document of the benchmark draws a remark', () => {
  for (const documento of Object.keys(DOCUMENTOS) as Documento[]) {
    const patch = patchOf(documento, false);
    assert.deepEqual([faultsOf(patch), avisosOn(patch)], [[], []], documento);
  }
});

test('a drawing has a bar for each figure, as long as it is', () => {
  const bars = [
    { name: 'a & b', parts: [30, 10], label: '40 µs' },
    { name: 'c', parts: [80], spread: [60, 80] as const, label: '80 µs' },
  ];
  assert.throws(
    () => drawBars({ title: 'T', bars: [{ name: '', parts: [Number.NaN], label: '' }], notes: [] }),
    /no length/,
  );
  const svg = drawBars({ title: 'T', bars, notes: ['n'] });
  const widths = [...svg.matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
  assert.equal(widths.length, 3);
  const [longest] = widths.slice(-1);
  assert.deepEqual(
    widths.map((width) => (width / longest!).toFixed(3)),
    ['0.375', '0.125', '1.000'],
  );
  assert.match(svg, />a &#38; b</);
});

describe('the cost of a note', () => {
  const times = (emissor: number, banco: number): CpuTimes => {
    return { emissor, transmissor: 2, auxiliares: 0.5, resto: 0.25, banco };
  };

  test('is the growth of the count over the notes, in microseconds', () => {
    const before = times(1, 4);
    const after = { emissor: 2, transmissor: 2.5, auxiliares: 0.75, resto: 0.5, banco: 4.5 };
    assert.deepEqual(costOf(before, after, 1000), {
      emissor: 1000,
      transmissor: 500,
      auxiliares: 250,
      servico: 2000,
      banco: 500,
      tudo: 2500,
    });
  });

  test('is compared within each window', () => {
    const cost = (emissor: number) => costOf(times(0, 0), times(emissor, 1), 1000);
    // The machine was three times slower in the second window, for both.
    const windows = [
      { own: cost(0.9), other: cost(1) },
      { own: cost(2.4), other: cost(3) },
      { own: cost(0.5), other: cost(1) },
    ];
    const { own, other, ratio, whole } = compareWindows(windows, 'emissor');
    // 0.9 + 2.4 + 0.5 over 1 + 3 + 1.
    assert.equal(whole.toFixed(6), '0.760000');
    assert.deepEqual([own.median, other.median], [900, 1000]);
    assert.deepEqual(
      [ratio.median, ratio.least, ratio.most].map((one) => one.toFixed(6)),
      ['0.800000', '0.500000', '0.900000'],
    );
  });

  test('has the middle of an even number of windows between two of them', () => {
    const { error, ...spread } = spreadOf([4, 1, 3, 2]);
    assert.deepEqual(spread, { median: 2.5, least: 1, most: 4 });
    // Squares 2.25 + 0.25 + 0.25 + 2.25, over 3, over 4.
    assert.equal(error.toFixed(6), Math.sqrt(5 / 12).toFixed(6));
  });
});

describe('the loads', () => {
  const options = { notes: 1000, rate: 150, burst: 16, connections: 64 };

  test('are notes one by one, bursts and as much as clients can send', () => {
    assert.deepEqual(
      LOAD_NAMES.map((load) => commandOf(load, options)),
      [
        { kind: 'open', count: 1000, rate: 150, burst: 1 },
        { kind: 'open', count: 1000, rate: 150, burst: 16 },
        { kind: 'closed', count: 4000, connections: 64 },
      ],
    );
  });

  test('are timed from the first sending until the last authorisation', async (t) => {
    let clock = 0;
    t.mock.method(performance, 'now', () => clock);
    const take = async <Result>(seconds: number, result: Result): Promise<Result> => {
      clock += 1000 * seconds;
      return result;
    };
    const sent = { notes: 60, seconds: 4, failures: 0, remarks: [] as readonly string[] } as Sent;
    const sender = { make: () => take(30, undefined), send: () => take(4, sent) };
    const side = { sender, waitAuthorised: () => take(2, undefined) } as unknown as Side;
    let asked = 0;
    const simulator = { ask: async () => ({ documentos: asked++ === 0 ? 7 : 67 }) } as unknown as Scene['simulator'];
    const command = { kind: 'closed', count: 60, connections: 4 } as const;
    const load = { side, documento: 'comum', command, isTransmitted: true } as const;
    const [ran] = await runLoads({ simulator } as Scene, [load]);
    assert.equal(ran!.settled, 6, 'the thirty seconds of making are not in it');
    assert.equal(keptRate(ran!), 10);
  });
});

describe('the municipalities that issue', () => {
  const COUNT = 5_570;
  const NOTES = 200_000;
  const spread = (issuers: Issuers) => {
    const choose = chooseIssuer(issuers);
    const counts = new Array<number>(issuers.count).fill(0);
    for (let number = 1; number <= NOTES; number += 1) counts[choose(number)]! += 1;
    return counts;
  };

  test('have notes as the country collects its ISSQN', () => {
    const counts = spread({ count: COUNT, distribution: 'real' });
    const first = (places: number) => counts.slice(0, places).reduce((sum, one) => sum + one, 0) / NOTES;
    // Observatório de Informações Municipais, September 2015: 304 municipalities collected 83.51 %.
    assert.ok(Math.abs(first(304) - 0.8351) < 0.001, `${first(304)}`);
    assert.ok(counts[0]! > counts[1]! && counts[1]! > counts[9]!);
  });

  test('have the same number each, where that is asked for', () => {
    assert.deepEqual(new Set(spread({ count: 8, distribution: 'igual' })), new Set([NOTES / 8]));
  });

  test('are distinct municipalities of the national table, the largest first', () => {
    const issuers = listIssuers(COUNT);
    assert.deepEqual(issuers[0], GIANT);
    assert.equal(new Set(issuers.map(({ ibge }) => ibge)).size, COUNT);
    assert.equal(new Set(issuers.map(({ slug }) => slug)).size, COUNT);
  });
});

describe('a wing', () => {
  const root = path.join(import.meta.dirname, '..');

  test('is taken out of functions that are there', async () => {
    for (const name of WING_NAMES) {
      for (const cut of WINGS[name].cuts) {
        const without = cutFunction(await readFile(path.join(root, cut.file), 'utf8'), cut);
        assert.ok(without.includes(`function ${cut.name}(..._: unknown[]) {`), `${name}: ${cut.name}`);
      }
    }
    assert.throws(() => cutFunction('', { file: 'a.ts', name: 'gone', body: '{}' }), /a.ts has no function gone/);
  });

  test('is taken out of the service by the bench alone', () => {
    // No metric has this name: counting it fails, unless nothing is counted.
    const program = `const { count } = await import('./src/base/measures/counters.ts'); count('nenhuma', {});`;
    const args = ['--import', './bench/wings.ts', '--input-type=module', '--eval', program];
    const statusWith = (env: NodeJS.ProcessEnv) =>
      spawnSync(process.execPath, args, { cwd: root, env: { ...process.env, ...env } }).status;
    assert.deepEqual([statusWith({}), statusWith({ [WITHOUT]: 'medidas' })], [1, 0]);
  });
});

test('notes are stored in a database whose tables are not kept by month', async () => {
  const pool = await poolOn(await freshDatabase());
  await ensureMeses(pool, [MES]);
  await pool.query(WINGS.meses.sql);
  const { municipios } = createStore(pool);
  await municipios.create({ tenant: 'exemplo', ambiente: 'homologacao', codigoIbge: '3550308' }, 0);
  await fillNotas(pool, 'exemplo', 7);
  const counts = `select (select count(*)::int from notas) as notas,
    (select count(*)::int from pg_class where relkind = 'p' and relnamespace = 'public'::regnamespace) as mensais`;
  assert.deepEqual((await pool.query(counts)).rows, [{ notas: 7, mensais: 0 }]);
});

test('the fence lets through a bound and the noise, and no more', () => {
  assert.deepEqual(
    [
      isWithin({ median: 1.03, error: 0 }),
      isWithin({ median: 1.05, error: 0.01 }),
      isWithin({ median: 1.06, error: 0.01 }),
    ],
    [true, true, false],
  );
});

describe('a database that is filled', () => {
  const TENANT = 'exemplo';
  /** Requested notes; each of the three tenants has the same number. */
  const [ASKED, TOTAL] = [1_000, 1_002];
  const ISSUING = ['11222333000181', '11444777000161'];
  let pool: Db;
  let schema: readonly unknown[];

  const readAll = async <Row extends object>(text: string) => (await pool.query<Row>(text)).rows;
  const readSchema = () =>
    readAll(`select indexdef as line from pg_indexes where schemaname = 'public' and tablename !~ '_[0-9]{6}$'
      union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'public'::regnamespace and conrelid::regclass::text !~ '_[0-9]{6}$' order by 1`);

  before(async () => {
    const connection = await freshDatabase();
    pool = await poolOn(connection);
    const store = createStore(pool);
    await store.municipios.create({ tenant: TENANT, ambiente: 'homologacao', codigoIbge: '3550308' }, 0);
    await fillNotas(pool, TENANT, 7);
    schema = await readSchema();
    await multiplyNotas(
      connection,
      TENANT,
      { total: ASKED, tenants: 3 },
      { now: Date.UTC(2026, 10, 1), issuing: ISSUING },
    );
  });

  test('has its notes with all that hangs on them, and the schema that it had', async () => {
    const tables = ['notas', 'documentos', 'identidades', 'trilha_notas'].map(
      (table) => `select count(*)::int as count from ${table}`,
    );
    const counts = await readAll<{ count: number }>(tables.join(' union all '));
    assert.deepEqual(
      counts.map(({ count }) => count),
      [TOTAL, TOTAL, TOTAL, 3 * TOTAL],
    );
    const alone = `select n.id from notas n where not exists (select 1 from documentos d where d.tenant = n.tenant and d.nota = n.id)
      or (select array_agg(movimento order by movimento) from trilha_notas t where t.tenant = n.tenant and t.nota = n.id) <> '{1,2,3}'`;
    assert.deepEqual(await readAll(alone), []);
    assert.deepEqual(await readSchema(), schema);
  });

  test('has keys and numbers as the service would give them, and goes on with the next', async () => {
    type Row = {
      tenant: string;
      codigo: string;
      chave: string;
      dps: string;
      numero: string;
      prestador: string;
      dia: string;
    };
    const rows = await readAll<Row>(`select n.tenant, m.codigo_ibge as codigo, n.chave_acesso as chave, n.id_dps as dps,
        n.numero_dps as numero, n.prestador_cpf_cnpj as prestador, n.data_competencia::text as dia
      from notas n join municipios m on m.tenant = n.tenant`);
    for (const { codigo, chave, dps, numero, prestador, dia } of rows) {
      const { codigo: random, dv, ...parts } = parseChave(chave)!;
      const anoMes = dia.slice(2, 4) + dia.slice(5, 7);
      assert.deepEqual(parts, { cMun: codigo, ambGer: '1', documento: prestador, nNFSe: numero, anoMes }, random + dv);
      assert.deepEqual(parseDpsId(dps), { cLocEmi: codigo, documento: prestador, serie: '900', nDPS: numero });
    }
    const tenants = Map.groupBy(rows, ({ tenant }) => tenant);
    assert.deepEqual(
      [...tenants.values()].map(({ length }) => length),
      [334, 334, 334],
    );
    const counted = `select n.tenant, count(*)::int as notas, max(n.numero_dps)::int as ultima, c.ultimo::int as ultimo
      from notas n join numeracao c on c.tenant = n.tenant and c.prestador = n.prestador_cpf_cnpj group by n.tenant, n.prestador_cpf_cnpj, c.ultimo`;
    const numbers = await readAll<{ notas: number; ultima: number; ultimo: number }>(counted);
    assert.equal(numbers.length, 3 * ISSUING.length);
    for (const { notas, ultima, ultimo } of numbers) assert.deepEqual([ultima, ultimo], [notas, notas]);
    const next = `select s.proximo::int - max(n.id)::int as next from sequencias s join notas n on n.tenant = s.tenant group by s.tenant, s.proximo`;
    for (const { next: ahead } of await readAll<{ next: number }>(next)) assert.ok(ahead > 0);
  });
});

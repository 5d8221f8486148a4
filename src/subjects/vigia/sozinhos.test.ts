/** Every background job is measured, and has an alert on that measure and a page. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Repetition } from '../../base/delivery/repetition.ts';
import { ALERTS } from '../../base/measures/alerts.ts';
import { METRICS } from '../../base/measures/metrics.ts';
import { SOZINHOS } from '../../base/measures/sozinhos.ts';
import { REPEATED } from '../../wiring/upkeep.ts';
import { KINDS } from '../../wiring/worker.ts';

const DOCS = path.resolve(import.meta.dirname, '../../../docs/site');
/** The anchor that a heading gets. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

test('each has a measure, an alert of that measure, and a section of a page', () => {
  for (const { trabalho, medida, alerta, pagina } of SOZINHOS) {
    assert.ok(medida in METRICS, `${trabalho}: ${medida}`);
    const rules = ALERTS.filter(({ nome }) => nome === alerta);
    assert.ok(rules.length > 0 && rules.every(({ expr }) => expr.includes(medida)), `${trabalho}: ${alerta}`);
    const [file, section] = pagina.split('#');
    assert.ok(existsSync(path.join(DOCS, file!)), `${trabalho}: ${file}`);
    const headings = [...readFileSync(path.join(DOCS, file!), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, one]) =>
      slugOf(one!),
    );
    assert.ok(section === undefined || headings.includes(section), `${trabalho}: ${section} of ${headings}`);
  }
});

test('what the worker delivers and repeats is all there', () => {
  const named = new Set(SOZINHOS.map(({ trabalho }) => trabalho));
  const done = [...KINDS.map(({ kind }) => kind), ...REPEATED.map(({ trabalho }) => trabalho)];
  assert.ok(done.length > 12);
  assert.deepEqual(
    done.filter((one) => !named.has(one)),
    [],
  );
  const late = SOZINHOS.filter(({ medida }) => medida === 'nfse_trabalho_atraso_seconds');
  assert.deepEqual(
    late.map(({ trabalho }) => trabalho).filter((one) => !done.includes(one)),
    [],
  );
});

test('what is repeated and fails is late from then on, and what is done is not', async (t) => {
  let passed = 0;
  t.mock.method(performance, 'now', () => 1_000_000_000 + passed);
  let isWell = true;
  const answer = async <One>(value: One): Promise<One> => {
    if (!isWell) throw new Error('the disk of the database is full');
    return value;
  };
  const store = {
    ensureMesesAhead: () => answer(undefined),
    documentos: { compress: () => answer(false) },
    nomes: { learn: () => answer(false) },
    contagemDaReceita: { countDue: () => answer(false) },
    mesesFechados: { listDue: () => answer([]) },
    idempotencia: { forget: () => answer(false) },
    guarda: { forgetRehearsals: () => answer(false) },
    ensaios: { listExpired: () => answer([]) },
    auditoria: { listSemAbertura: () => answer([]) },
    municipios: { list: () => answer([]) },
    contagens: { forget: () => answer(undefined) },
    esperas: { listTenants: () => answer([]) },
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const world = { store, log, now: () => Date.parse('2026-11-29T12:00:00-03:00') + passed } as never;
  const upkeep = new Repetition(world, REPEATED);
  const round = async (): Promise<void> => {
    await upkeep.followClock();
    await upkeep.work();
  };
  const late = (): Record<string, number> =>
    Object.fromEntries(upkeep.look().flatMap(({ labels, value }) => (value > 0 ? [[labels['trabalho']!, value]] : [])));
  await round();
  assert.deepEqual(late(), {});
  isWell = false;
  for (let minutes = 1; minutes <= 150; minutes += 1) {
    passed += 60_000;
    await round();
  }
  // Each is late by the time since its last success, 9,000 seconds, less its own pace.
  const [everyMinute, hourly] = [8_940, 5_400];
  const [esperas, nomes, auditoria] = [everyMinute, everyMinute, everyMinute];
  const [guarda, compressao, nomes_antigos] = [hourly, hourly, hourly];
  const often = { esperas, nomes, auditoria, receita: 8_985 };
  assert.deepEqual(late(), { ...often, guarda, compressao, nomes_antigos, selos: 8_400, meses_fechados: 8_400 });
  isWell = true;
  passed += 3_600_000;
  await round();
  assert.deepEqual(late(), {});
});

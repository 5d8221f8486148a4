/** Every background job is measured, and has an alert on that measure and a page. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ALERTS } from '../../base/measures/alerts.ts';
import { METRICS } from '../../base/measures/metrics.ts';
import { SOZINHOS } from '../../base/measures/sozinhos.ts';
import { REPETIDOS, Upkeep } from '../../wiring/upkeep.ts';
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
  const repeated = new Set(
    SOZINHOS.flatMap(({ trabalho, medida }) => (medida === 'nfse_trabalho_atraso_seconds' ? [trabalho] : [])),
  );
  assert.deepEqual(
    KINDS.map(({ kind }) => kind).filter((kind) => !named.has(kind)),
    [],
  );
  assert.deepEqual([...repeated].sort(), Object.keys(REPETIDOS).sort());
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
    idempotencia: { forget: () => answer(false) },
    guarda: { forgetRehearsals: () => answer(false) },
    ensaios: { listExpired: () => answer([]) },
    auditoria: { listSemAbertura: () => answer([]) },
    municipios: { list: () => answer([]) },
    contagens: { forget: () => answer(undefined) },
    esperas: { listTenants: () => answer([]) },
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const upkeep = new Upkeep({ store, log, now: () => Date.parse('2026-11-29T12:00:00-03:00') + passed } as never);
  const round = async (): Promise<void> => {
    for (const one of ['shorten', 'forget', 'compress', 'learn', 'makeMeses', 'audit'] as const) await upkeep[one]();
  };
  const late = (): Record<string, number> =>
    Object.fromEntries(upkeep.look().flatMap(({ labels, value }) => (value > 0 ? [[labels.trabalho!, value]] : [])));
  await round();
  assert.deepEqual(late(), {});
  isWell = false;
  for (let minutes = 1; minutes <= 150; minutes += 1) {
    passed += 60_000;
    await round();
  }
  assert.deepEqual(late(), { esperas: 8_940, guarda: 5_400, compressao: 5_400, nomes: 8_940, auditoria: 8_940 });
  isWell = true;
  passed += 3_600_000;
  await round();
  assert.deepEqual(late(), {});
});

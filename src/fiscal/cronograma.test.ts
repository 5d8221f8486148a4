import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../test/support/seed.ts';
import { CRONOGRAMA, linhaDe, motivoDe, obrigacoes } from './cronograma.ts';
import { isOptante } from './facts.ts';
import type { Vigencia } from './moment.ts';

test('the dates of the specification', () => {
  assert.deepEqual(
    CRONOGRAMA.map(({ segmento, desde }) => [segmento, desde]),
    [
      ['geral', '2026-10-01'],
      ['prazo_proprio', '2026-12-01'],
      ['simples_nacional', '2027-01-01'],
    ],
  );
});

test('the segment is that of the first four digits of the service', () => {
  const cases: readonly (readonly [cTribNac: string, desde: string])[] = [
    ['010101', '2026-10-01'],
    ['010201', '2026-10-01'],
    ['010301', '2026-12-01'],
    ['010302', '2026-12-01'],
    ['010401', '2026-10-01'],
    ['010501', '2026-12-01'],
    ['010901', '2026-12-01'],
    ['150901', '2026-10-01'],
    ['160101', '2026-12-01'],
    ['160104', '2026-12-01'],
    ['160201', '2026-10-01'],
    // Leases inside the list of LC 116 are ordinary services of the list.
    ['030401', '2026-10-01'],
    ['990101', '2026-12-01'],
    ['990301', '2026-12-01'],
    // The subitem exists, its division does not.
    ['010199', '2026-10-01'],
    // No such subitem: 3.01 was vetoed, and an item alone names none.
    ['030101', '2026-12-01'],
    ['010000', '2026-12-01'],
    ['000000', '2026-12-01'],
    ['419999', '2026-12-01'],
  ];
  for (const [cTribNac, desde] of cases) assert.equal(linhaDe(cTribNac, false).desde, desde, cTribNac);
  for (const [cTribNac] of cases) assert.equal(linhaDe(cTribNac, true).desde, '2027-01-01', cTribNac);
});

test('each reason says what decided', () => {
  assert.match(motivoDe('010101', false), /010101 é do subitem 1\.01 .* data geral/);
  assert.match(motivoDe('160101', false), /subitem 16\.01 .* data própria/);
  assert.match(motivoDe('990101', false), /990101 está fora da lista/);
  assert.match(motivoDe('030101', false), /não identifica um subitem/);
  assert.match(motivoDe('010101', true), /Simples Nacional/);
});

const trechosOf = (simples: readonly Vigencia[], hoje = '2026-11-01') =>
  obrigacoes(simples, hoje).map(({ trechos }) => trechos);

test('a provider that never was in the Simples owes the group from the date of the segment on', () => {
  assert.deepEqual(
    obrigacoes([], '2026-11-01').map(({ segmento, desde, devidoHoje }) => [segmento, desde, devidoHoje]),
    [
      ['geral', '2026-10-01', true],
      ['prazo_proprio', '2026-12-01', false],
    ],
  );
});

test('one that stays in the Simples owes it from 2027 on', () => {
  const always = [{ inicio: '2018-01-01', fim: undefined }];
  assert.deepEqual(trechosOf(always), [
    [{ inicio: '2027-01-01', fim: undefined }],
    [{ inicio: '2027-01-01', fim: undefined }],
  ]);
  assert.deepEqual(
    obrigacoes(always, '2027-01-01').map(({ devidoHoje }) => devidoHoje),
    [true, true],
  );
});

test('one that leaves the Simples owes it from the day after, or from the date of the segment if that is later', () => {
  assert.deepEqual(trechosOf([{ inicio: '2018-01-01', fim: '2026-11-15' }]), [
    [{ inicio: '2026-11-16', fim: undefined }],
    [{ inicio: '2026-12-01', fim: undefined }],
  ]);
  assert.deepEqual(trechosOf([{ inicio: '2018-01-01', fim: '2026-12-31' }])[0], [
    { inicio: '2027-01-01', fim: undefined },
  ]);
});

test('one that enters the Simples owes it no more until 2027, and past stretches are told', () => {
  const entered = [{ inicio: '2026-12-10', fim: undefined }];
  assert.deepEqual(trechosOf(entered), [
    [
      { inicio: '2026-10-01', fim: '2026-12-09' },
      { inicio: '2027-01-01', fim: undefined },
    ],
    [
      { inicio: '2026-12-01', fim: '2026-12-09' },
      { inicio: '2027-01-01', fim: undefined },
    ],
  ]);
  const [before] = obrigacoes(entered, '2026-12-09');
  const [after] = obrigacoes(entered, '2026-12-10');
  assert.deepEqual([before?.desde, before?.devidoHoje], ['2026-10-01', true]);
  assert.deepEqual([after?.desde, after?.devidoHoje], ['2027-01-01', false]);
});

test('property: a day is in a stretch exactly when the group is due on it', () => {
  const day = fc.integer({ min: 0, max: 240 }).map((after) => dayOf(after));
  const periods = fc.uniqueArray(fc.integer({ min: 0, max: 240 }), { minLength: 0, maxLength: 6 }).map((days) => {
    const sorted = days.toSorted((a, b) => a - b);
    const made: Vigencia[] = [];
    for (let at = 0; at < sorted.length; at += 2) {
      const fim = sorted[at + 1];
      made.push({ inicio: dayOf(sorted[at]!), fim: fim === undefined ? undefined : dayOf(fim) });
    }
    return made;
  });
  fc.assert(
    fc.property(periods, day, (simples, hoje) => {
      for (const [place, cTribNac] of ['010101', '010501'].entries()) {
        const { trechos, devidoHoje } = obrigacoes(simples, hoje)[place]!;
        const due = hoje >= linhaDe(cTribNac, isOptante({ simples }, hoje)).desde;
        const within = trechos.some(({ inicio, fim }) => inicio <= hoje && (fim === undefined || hoje <= fim));
        assert.equal(within, due);
        assert.equal(devidoHoje, due);
      }
    }),
  );
});

/** Days from August 2026 to March 2027. */
function dayOf(after: number): string {
  return new Date(Date.UTC(2026, 7, 1 + after)).toISOString().slice(0, 10);
}

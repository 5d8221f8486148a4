/** Instants in the zones of Brazil, in the formats of D-04. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../test/support/seed.ts';
import { municipioOf } from './catalogs/catalogs.ts';
import { brazilianDate, isoMoment, momentIn, readDay, spacedMoment } from './moment.ts';

/** Decreto 2.784/1913, Lei 11.662/2008 and Lei 12.876/2013; there is no daylight saving since Decreto 9.772/2019. */
const ZONES = {
  'America/Noronha': -2,
  'America/Sao_Paulo': -3,
  'America/Manaus': -4,
  'America/Cuiaba': -4,
  'America/Rio_Branco': -5,
  'America/Eirunepe': -5,
} as const;

const hours = (count: number): string => `-0${-count}:00`;

describe('the zones', () => {
  const instant = Date.parse('2026-10-05T13:15:30Z');

  for (const [zone, offset] of Object.entries(ZONES)) {
    test(`${zone} is ${hours(offset)} all the year`, () => {
      const hour = String(13 + offset).padStart(2, '0');
      assert.deepEqual(momentIn(zone, instant), { date: '2026-10-05', time: `${hour}:15:30`, offset: hours(offset) });
      // January, when summer time used to apply.
      assert.equal(momentIn(zone, Date.parse('2027-01-15T12:00:00Z')).offset, hours(offset));
      assert.equal(momentIn(zone, Date.parse('2026-07-15T12:00:00Z')).offset, hours(offset));
    });
  }

  for (const [name, codigoIbge, offset] of [
    ['Fernando de Noronha', '2605459', -2],
    ['Recife', '2611606', -3],
    ['São Paulo', '3550308', -3],
    ['Brasília', '5300108', -3],
    ['Belém', '1501402', -3],
    ['Santarém', '1506807', -3],
    ['Manaus', '1302603', -4],
    ['Porto Velho', '1100205', -4],
    ['Boa Vista', '1400100', -4],
    ['Cuiabá', '5103403', -4],
    ['Campo Grande', '5002704', -4],
    ['Rio Branco', '1200401', -5],
    ['Cruzeiro do Sul', '1200203', -5],
    ['Eirunepé', '1301407', -5],
    ['Tabatinga', '1304062', -5],
  ] as const) {
    test(`${name} lives at ${hours(offset)}`, () => {
      const municipio = municipioOf(codigoIbge);
      assert.equal(municipio?.nome, name);
      assert.equal(momentIn(municipio.fusoHorario, instant).offset, hours(offset));
    });
  }

  test('a zone without offset says +00:00, one that is ahead says so', () => {
    assert.equal(momentIn('UTC', instant).offset, '+00:00');
    assert.deepEqual(momentIn('Asia/Kolkata', instant), { date: '2026-10-05', time: '18:45:30', offset: '+05:30' });
  });
});

describe('the turn of the year', () => {
  test('comes first in Noronha and last in Acre', () => {
    const seen = (instant: string): string[] =>
      ['America/Noronha', 'America/Sao_Paulo', 'America/Manaus', 'America/Rio_Branco'].map((zone) => {
        const { date, time } = momentIn(zone, Date.parse(instant));
        return `${date} ${time}`;
      });
    assert.deepEqual(seen('2027-01-01T01:59:59Z'), [
      '2026-12-31 23:59:59',
      '2026-12-31 22:59:59',
      '2026-12-31 21:59:59',
      '2026-12-31 20:59:59',
    ]);
    assert.deepEqual(seen('2027-01-01T02:00:00Z')[0], '2027-01-01 00:00:00');
    assert.deepEqual(seen('2027-01-01T03:00:00Z').slice(0, 2), ['2027-01-01 01:00:00', '2027-01-01 00:00:00']);
    assert.deepEqual(seen('2027-01-01T04:59:59Z').slice(2), ['2027-01-01 00:59:59', '2026-12-31 23:59:59']);
    assert.deepEqual(seen('2027-01-01T05:00:00Z')[3], '2027-01-01 00:00:00');
  });

  test('and a leap day is a day', () => {
    assert.equal(momentIn('America/Rio_Branco', Date.parse('2028-03-01T04:59:59Z')).date, '2028-02-29');
    assert.equal(momentIn('America/Rio_Branco', Date.parse('2028-03-01T05:00:00Z')).date, '2028-03-01');
  });
});

describe('the formats', () => {
  const moment = momentIn('America/Sao_Paulo', Date.parse('2026-10-05T10:15:30-03:00'));

  test('date-times of the layout and of events: ISO 8601 with offset', () => {
    assert.equal(isoMoment(moment), '2026-10-05T10:15:30-03:00');
  });

  test('data_emissao and data_protocolo: YYYY-MM-DD HH:MM:SS ±HHMM', () => {
    assert.equal(spacedMoment(moment), '2026-10-05 10:15:30 -0300');
    assert.equal(spacedMoment({ ...moment, offset: '+05:30' }), '2026-10-05 10:15:30 +0530');
  });

  test('data_competencia: DD/MM/YYYY', () => {
    assert.equal(brazilianDate('2026-10-05'), '05/10/2026');
  });

  test('whole seconds: the fraction is left out, never rounded up', () => {
    assert.equal(momentIn('America/Sao_Paulo', Date.parse('2026-12-31T23:59:59.999-03:00')).time, '23:59:59');
  });
});

test('what is told is the instant, to the second, in every zone and whatever was asked before', () => {
  const [first, last] = [Date.parse('2020-01-01T00:00:00Z'), Date.parse('2099-12-31T23:59:59Z')];
  fc.assert(
    fc.property(fc.integer({ min: first, max: last }), fc.constantFrom(...Object.keys(ZONES)), (instant, zone) => {
      const told = isoMoment(momentIn(zone, instant));
      assert.match(told, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-0[2-5]:00$/);
      assert.equal(Date.parse(told), Math.floor(instant / 1000) * 1000);
    }),
    // More runs than there are cached offsets.
    { numRuns: 5000 },
  );
});

test('the day that a text names is the one of the zone where it is an instant, and its own where it is none', () => {
  const zone = 'America/Sao_Paulo';
  for (const [text, wanted] of [
    ['2026-11-01', '2026-11-01'],
    ['2026-11-01Z', '2026-11-01'],
    ['2026-11-01-03:00', '2026-11-01'],
    ['2026-11-01T01:30:00', '2026-11-01'],
    ['2026-11-01T01:30', '2026-11-01'],
    ['2026-11-01T01:30:00Z', '2026-10-31'],
    ['2026-11-01T02:59:59.9999999Z', '2026-10-31'],
    ['2026-11-01T03:00:00Z', '2026-11-01'],
    ['2026-11-01T00:00:00+00:00', '2026-10-31'],
    ['2027-01-01T00:30:00Z', '2026-12-31'],
    ['2026-11-01T00:00:00-03:00', '2026-11-01'],
    ['2026-02-30', undefined],
    ['2026-02-30T10:00:00Z', undefined],
    ['2026-11-01T25:00:00Z', undefined],
    ['2026-11-01T', undefined],
    ['2026-11-01 hoje', undefined],
    ['01/11/2026', undefined],
    // XML Schema has offsets up to 14 hours.
    ['2026-11-01+99:99', undefined],
    ['2026-11-01+14:00', '2026-11-01'],
    ['', undefined],
  ] as const) {
    assert.equal(readDay(zone, text), wanted, text);
  }
  assert.equal(readDay('America/Noronha', '2026-11-01T02:30:00Z'), '2026-11-01');
  assert.equal(readDay(undefined, '2026-11-01T01:30:00Z'), undefined);
  assert.equal(readDay(undefined, '2026-11-01T01:30:00'), '2026-11-01');
});

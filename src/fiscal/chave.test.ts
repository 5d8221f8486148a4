import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../test/support/seed.ts';
import {
  buildChave,
  type ChaveParts,
  chaveDigit,
  chaveNFeIsValid,
  cnpjIsValid,
  cpfIsValid,
  documentoKind,
  dpsIdOf,
  ibgeDigit,
  maskDocumento,
  parseChave,
  parseDpsId,
} from './chave.ts';

/** First 49 characters, weighted sum, remainder and digit; three keys of public samples, four invented ones. */
const KEYS = [
  ['1400159120176113500013200000000000002209778106360', 519, 2, '9'],
  ['2111300220057475300010000000000014672603703271102', 501, 6, '5'],
  ['1505486224482769200011100000000000162512536847006', 730, 4, '7'],
  ['2314003110005299822472500000000000462512002570858', 614, 9, '2'],
  ['3550308121122233300018100000000000422609123456789', 595, 1, '0'],
  ['3550308121122233300018100000000000422610123456789', 572, 0, '0'],
  ['35503081212ABC34501DE3500000000000422609123456789', 1155, 0, '0'],
] as const;

const CHAVE = '35503081211222333000181000000000004226091234567890';

const PARTS: ChaveParts = {
  cMun: '3550308',
  ambGer: '1',
  documento: '11222333000181',
  nNFSe: 42,
  anoMes: '2609',
  codigo: '123456789',
};

test('the check digit of the key', () => {
  for (const [first49, sum, rest, digit] of KEYS) {
    assert.equal(sum % 11, rest);
    assert.equal(digit, rest < 2 ? '0' : String(11 - rest));
    assert.equal(chaveDigit(first49), digit, first49);
  }
});

test('keys taken apart, and put together again', () => {
  for (const [chave, parts] of [
    [
      '21113002200574753000100000000000146726037032711025',
      ['2111300', '2', '00574753000100', '1467', '2603', '703271102', '5'],
    ],
    [
      '15054862244827692000111000000000001625125368470067',
      ['1505486', '2', '44827692000111', '16', '2512', '536847006', '7'],
    ],
    [
      '23140031100052998224725000000000004625120025708582',
      ['2314003', '1', '52998224725', '46', '2512', '002570858', '2'],
    ],
    // an old sample that carries the number 0
    [
      '14001591201761135000132000000000000022097781063609',
      ['1400159', '1', '01761135000132', '0', '2209', '778106360', '9'],
    ],
    [CHAVE, ['3550308', '1', '11222333000181', '42', '2609', '123456789', '0']],
    [
      '35503081212ABC34501DE35000000000004226091234567890',
      ['3550308', '1', '12ABC34501DE35', '42', '2609', '123456789', '0'],
    ],
  ] as const) {
    const [cMun, ambGer, documento, nNFSe, anoMes, codigo, dv] = parts;
    const expected = { cMun, ambGer, documento, nNFSe, anoMes, codigo, dv };
    assert.deepEqual(parseChave(chave), expected);
    assert.equal(buildChave(expected), chave);
    assert.equal(chave.length, 50);
  }
});

test('the number of the key may come as bigint, number or text', () => {
  assert.equal(buildChave(PARTS), CHAVE);
  assert.equal(buildChave({ ...PARTS, nNFSe: 42n }), CHAVE);
  assert.equal(buildChave({ ...PARTS, nNFSe: '42' }), CHAVE);
  assert.equal(buildChave({ ...PARTS, nNFSe: '0000000000042' }), CHAVE);
  assert.equal(parseChave(buildChave({ ...PARTS, nNFSe: 9_999_999_999_999n }))?.nNFSe, '9999999999999');
});

test('a key is not built from parts that do not fit', () => {
  const wrong: Partial<ChaveParts>[] = [
    { cMun: '355030' },
    { cMun: '35503080' },
    { documento: '1122233300018' },
    { documento: '112223330001811' },
    { documento: '12abc34501de35' },
    { documento: '11.222.333/0001-81' },
    { nNFSe: 10_000_000_000_000n },
    { nNFSe: -1 },
    { nNFSe: 1.5 },
    { nNFSe: 1e21 },
    { nNFSe: '' },
    { anoMes: '2600' },
    { anoMes: '2613' },
    { anoMes: '202609' },
    { codigo: '12345678' },
    { codigo: '1234567890' },
    { codigo: '12345678A' },
  ];
  for (const part of wrong)
    assert.throws(() => buildChave({ ...PARTS, ...part }), RangeError, JSON.stringify(Object.keys(part)));
});

test('a key with a wrong structure is refused', () => {
  // Each key has the check digit of its first 49 characters, so that only the structure is wrong.
  for (const first49 of [
    '3550308321122233300018100000000000422609123456789', // environment 3
    '3550308131122233300018100000000000422609123456789', // kind 3
    '3550308110011222333000100000000000422609123456789', // a CPF with two zeros on the left
    '35503081212ABC34501DEA500000000000422609123456789', // a letter among the check digits of the CNPJ
    '3550308121122233300018100000000000422600123456789', // month 00
    '3550308121122233300018100000000000422613123456789', // month 13
    'A550308121122233300018100000000000422609123456789', // a letter outside the registration
    '35503081211222333000181000000000004226091234567B9',
  ]) {
    assert.equal(parseChave(first49 + chaveDigit(first49)), undefined, first49);
  }
  for (const text of ['', CHAVE.slice(0, 49), `${CHAVE}0`, ` ${CHAVE}`, `${CHAVE}\n`, `NFS${CHAVE}`]) {
    assert.equal(parseChave(text), undefined, text);
  }
  assert.equal(parseChave('35503081212abc34501de35000000000004226091234567890'), undefined);
});

test('a key with one digit mistyped is refused, but for the two remainders that share the digit 0', () => {
  for (const [first49, , rest, dv] of KEYS) {
    for (let digit = 0; digit <= 9; digit += 1) {
      assert.equal(parseChave(first49 + digit) !== undefined, String(digit) === dv);
    }
    if (rest < 2) continue;
    for (let position = 0; position < 49; position += 1) {
      const mistyped = (Number(first49[position]) + 1) % 10;
      const typed = first49.slice(0, position) + mistyped + first49.slice(position + 1) + dv;
      assert.equal(parseChave(typed), undefined, typed);
    }
  }
});

test('what was built is parsed back', () => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));
  fc.assert(
    fc.property(
      digits(7),
      fc.constantFrom('1' as const, '2' as const),
      fc.oneof(digits(11), digits(14), fc.stringMatching(/^[0-9A-Z]{12}[0-9]{2}$/)),
      fc.bigInt({ min: 0n, max: 9_999_999_999_999n }),
      fc.tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 12 })),
      digits(9),
      (cMun, ambGer, documento, nNFSe, [year, month], codigo) => {
        const anoMes = `${String(year).padStart(2, '0')}${String(month).padStart(2, '0')}`;
        const chave = buildChave({ cMun, ambGer, documento, nNFSe, anoMes, codigo });
        const { dv, ...parts } = parseChave(chave)!;
        assert.deepEqual(parts, { cMun, ambGer, documento, nNFSe: String(nNFSe), anoMes, codigo });
        assert.equal(dv, chave[49]);
      },
    ),
  );
});

test('the identifier of the DPS', () => {
  for (const [id, parts] of [
    [
      'DPS355030821122233300018170000000000000000042',
      { cLocEmi: '3550308', documento: '11222333000181', serie: '70000', nDPS: '42' },
    ],
    [
      'DPS355030810005299822472500001000000000000007',
      { cLocEmi: '3550308', documento: '52998224725', serie: '1', nDPS: '7' },
    ],
    [
      'DPS3550308212ABC34501DE3500900999999999999999',
      { cLocEmi: '3550308', documento: '12ABC34501DE35', serie: '900', nDPS: '999999999999999' },
    ],
  ] as const) {
    assert.equal(id.length, 45);
    assert.equal(dpsIdOf(parts), id);
    assert.deepEqual(parseDpsId(id), parts);
  }
  const parts = { cLocEmi: '3550308', documento: '52998224725' };
  const id = 'DPS355030810005299822472500001000000000000007';
  assert.equal(dpsIdOf({ ...parts, serie: '00001', nDPS: 7n }), id);
  assert.equal(dpsIdOf({ ...parts, serie: 1, nDPS: '000000000000007' }), id);
});

test('an identifier of the DPS that is not one', () => {
  for (const id of [
    '',
    'DPS',
    'DPS35503082112223330001817000000000000000004', // 44
    'DPS3550308211222333000181700000000000000000420', // 46
    'dps355030821122233300018170000000000000000042',
    'DPS355030831122233300018170000000000000000042', // kind 3
    'DPS355030811122233300018170000000000000000042', // a CPF with no zeros on the left
    'DPS3550308212abc34501de3500900000000000000042',
    'NFS355030821122233300018170000000000000000042',
  ]) {
    assert.equal(parseDpsId(id), undefined, id);
  }
  const parts = { cLocEmi: '3550308', documento: '11222333000181', serie: '1', nDPS: '1' };
  for (const wrong of [
    { cLocEmi: '0' },
    { documento: '1' },
    { serie: '100000' },
    { serie: 'A' },
    { nDPS: '1000000000000000' },
    { nDPS: '' },
  ]) {
    assert.throws(() => dpsIdOf({ ...parts, ...wrong }), RangeError);
  }
});

test('CPF', () => {
  for (const cpf of ['52998224725', '11144477735']) assert.ok(cpfIsValid(cpf), cpf);
  for (const cpf of [
    '52998224715', // first check digit
    '52998224724', // second check digit
    '52998224752',
    '11144477753',
    '5299822472',
    '529982247250',
    '529.982.247-25',
    '5299822472A',
    ' 52998224725',
    '',
  ]) {
    assert.ok(!cpfIsValid(cpf), cpf);
  }
  for (let digit = 0; digit <= 9; digit += 1) assert.ok(!cpfIsValid(String(digit).repeat(11)));
});

test('CNPJ, numeric and alphanumeric', () => {
  for (const cnpj of ['11222333000181', '12ABC34501DE35', '00574753000100', '44827692000111', '01761135000132']) {
    assert.ok(cnpjIsValid(cnpj), cnpj);
  }
  for (const cnpj of [
    '11222333000171', // first check digit
    '11222333000182', // second check digit
    '00000000000000',
    '12ABC34501DE34',
    '12ABC34501DE45',
    '12abc34501de35', // capital letters only
    '12ABC34501DEC5', // the check digits stay digits
    '1122233300018',
    '112223330001810',
    '11.222.333/0001-81',
    '',
  ]) {
    assert.ok(!cnpjIsValid(cnpj), cnpj);
  }
});

test('every CPF and CNPJ has exactly one pair of check digits', () => {
  const pairs = Array.from({ length: 100 }, (_, pair) => String(pair).padStart(2, '0'));
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{9}$/), (nine) => {
      fc.pre(nine !== nine.charAt(0).repeat(9));
      assert.equal(pairs.filter((pair) => cpfIsValid(nine + pair)).length, 1);
    }),
    { numRuns: 50 },
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9A-Z]{12}$/), (twelve) => {
      fc.pre(twelve !== '0'.repeat(12));
      assert.equal(pairs.filter((pair) => cnpjIsValid(twelve + pair)).length, 1);
    }),
    { numRuns: 50 },
  );
});

test('the kind is read off the shape', () => {
  assert.equal(documentoKind('52998224725'), 'CPF');
  assert.equal(documentoKind('00000000000'), 'CPF');
  assert.equal(documentoKind('11222333000181'), 'CNPJ');
  assert.equal(documentoKind('12ABC34501DE35'), 'CNPJ');
  for (const text of ['', '1', '529982247250', '12abc34501de35', '529.982.247-25']) {
    assert.equal(documentoKind(text), undefined, text);
  }
});

test('no message shows a whole CPF', () => {
  assert.equal(maskDocumento('52998224725'), '***.982.247-**');
  assert.equal(maskDocumento('11222333000181'), '11222333000181');
  assert.equal(maskDocumento('12ABC34501DE35'), '12ABC34501DE35');
  for (const text of ['', '5299822472', '529.982.247-25', 'X1234567']) assert.equal(maskDocumento(text), '***');
});

test('the seventh digit of a municipality', () => {
  // 355030 → 3×1, 5×2=10→1, 5×1, 0×2, 3×1, 0×2: 3+1+5+0+3+0 = 12, so 8
  assert.equal(ibgeDigit('355030'), '8');
  // 211130 → 2, 2, 1, 2, 3, 0 = 10, so 0
  assert.equal(ibgeDigit('211130'), '0');
  // 150548 → 1, 10→1, 0, 10→1, 4, 16→7 = 14, so 6
  assert.equal(ibgeDigit('150548'), '6');
  // 231400 → 2, 6, 1, 8, 0, 0 = 17, so 3
  assert.equal(ibgeDigit('231400'), '3');
  // 140015 → 1, 8, 0, 0, 1, 10→1 = 11, so 9
  assert.equal(ibgeDigit('140015'), '9');

  const exceptions = [
    '2201919',
    '2201988',
    '2202251',
    '2611533',
    '3117836',
    '3152131',
    '4305871',
    '5203939',
    '5203962',
  ];
  for (const codigo of exceptions) assert.notEqual(ibgeDigit(codigo.slice(0, 6)), codigo.slice(6), codigo);
});

test('the check digit of the key of an NF-e', () => {
  // The worked example of the Manual de Orientação do Contribuinte 7.0, 2.2.6.2: weighted sum 644, remainder 6.
  const chave = '52060433009911002506550120000007800267301615';
  assert.equal(chaveNFeIsValid(chave), true);
  for (const wrong of [`${chave.slice(0, -1)}4`, `6${chave.slice(1)}`, chave.slice(0, -1), `${chave}5`]) {
    assert.equal(chaveNFeIsValid(wrong), false, wrong);
  }
});

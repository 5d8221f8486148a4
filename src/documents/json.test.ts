/** JSON from outside: text that RFC 8259 permits is read as written, anything else is refused with its place and a remedy. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCostsLess, leastCpuMsOf } from '../../test/support/cost.ts';
import fc, { anyText } from '../../test/support/seed.ts';
import type { Fault } from '../fiscal/fault.ts';
import type { JsonValue } from '../fiscal/layout/json-value.ts';
import { readJson } from './json.ts';

const read = (text: string | Uint8Array) => readJson(typeof text === 'string' ? Buffer.from(text) : text);

function valueIn(text: string | Uint8Array): JsonValue {
  const reading = read(text);
  assert.ok('value' in reading, 'fault' in reading ? reading.fault.mensagem : '');
  return reading.value;
}

function faultOf(text: string | Uint8Array): Fault {
  const reading = read(text);
  assert.ok('fault' in reading, 'it was read');
  return reading.fault;
}

/** The value in the form of `JSON.parse`, for comparing the two. */
function parsed(value: JsonValue): unknown {
  switch (value.kind) {
    case 'object':
      return Object.fromEntries(value.members.map(({ name, value: inner }) => [name, parsed(inner)]));
    case 'array':
      return value.items.map(parsed);
    case 'string':
      return value.text;
    case 'number':
      return Number(value.text);
    case 'boolean':
      return value.text === 'true';
    case 'null':
      return null;
  }
}

describe('what is read', () => {
  test('numbers keep their text, whatever they are', () => {
    const value = valueIn('[1000.00, 1e3, -0, 0.10, 12345678901234567890.123456789, 1E+2]');
    assert.ok(value.kind === 'array');
    assert.deepEqual(
      value.items.map((item) => item.kind === 'number' && item.text),
      ['1000.00', '1e3', '-0', '0.10', '12345678901234567890.123456789', '1E+2'],
    );
  });

  test('escapes are what RFC 8259 makes of them', () => {
    assert.deepEqual(parsed(valueIn('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e7\\uD83D\\uDE00"')), '"\\/\b\f\n\r\tç😀');
  });

  test('every value knows its place; a column counts characters', () => {
    const text = '{\n  "ação": "😀", "b": [\r\n 1,\r  {"c": null}]}';
    const reading = read(text);
    assert.ok('value' in reading && reading.value.kind === 'object');
    const [first, second] = reading.value.members;
    assert.deepEqual(reading.positionOf(first!.offset), { linha: 2, coluna: 3 });
    assert.deepEqual(reading.positionOf(first!.value.offset), { linha: 2, coluna: 11 });
    assert.deepEqual(reading.positionOf(second!.offset), { linha: 2, coluna: 16 });
    assert.ok(second!.value.kind === 'array');
    const [one, object] = second!.value.items;
    assert.deepEqual(reading.positionOf(one!.offset), { linha: 3, coluna: 2 });
    assert.deepEqual(reading.positionOf(object!.offset), { linha: 4, coluna: 3 });
  });

  test('a byte order mark is passed over and has no column', () => {
    const reading = read('\ufeff{"a": 1}');
    assert.ok('value' in reading && reading.value.kind === 'object');
    assert.deepEqual(reading.positionOf(reading.value.members[0]!.offset), { linha: 1, coluna: 2 });
  });

  test('names of the machinery are names like any other', () => {
    const value = valueIn('{"__proto__": 1, "constructor": 2, "toString": 3}');
    assert.ok(value.kind === 'object');
    assert.deepEqual(
      value.members.map(({ name }) => name),
      ['__proto__', 'constructor', 'toString'],
    );
  });

  test('32 levels and 60,000 values are read, one more is not', () => {
    assert.ok('value' in read('['.repeat(32) + ']'.repeat(32)));
    assert.match(
      faultOf('['.repeat(33) + ']'.repeat(33)).mensagem,
      /^O JSON do corpo não é aceito.*limite de 32 níveis/,
    );
    const list = (count: number): string => `[${'0,'.repeat(count - 1)}0]`;
    assert.ok('value' in read(list(59_999)));
    assert.match(faultOf(list(60_000)).mensagem, /^O JSON do corpo não é aceito.*limite de 60000 valores/);
    assert.match(faultOf(' '.repeat(1_048_577)).mensagem, /^O JSON do corpo não é aceito.*limite de 1048576 bytes/);
  });
});

describe('what is not JSON', () => {
  const CASES: readonly (readonly [text: string, linha: number, coluna: number, says: RegExp])[] = [
    ['', 1, 1, /está vazio/],
    [' \n ', 2, 2, /está vazio/],
    ['{"a": 1,}', 1, 9, /sobra uma vírgula antes de "}"/],
    ['[1, 2,]', 1, 7, /sobra uma vírgula antes de "]"/],
    ['{"c": 010101}', 1, 7, /começa com zero.*entre aspas: "010101"/],
    ['{"c": -01}', 1, 7, /começa com zero/],
    ["{'a': 1}", 1, 2, /aspas duplas/],
    ['{"a": \'x\'}', 1, 7, /aspas duplas/],
    ['{a: 1}', 1, 2, /a está sem aspas duplas/],
    ['{"a" 1}', 1, 6, /falta ":" depois de "a"/],
    ['{"a": 1\n "b": 2}', 2, 2, /falta "," ou "}"/],
    ['{"a": "x\ny"}', 1, 9, /quebra de linha dentro de um texto/],
    ['{"a": "x\ty"}', 1, 9, /tabulação dentro de um texto/],
    ['{"a": "x\u0001y"}', 1, 9, /U\+0001/],
    ['{"a": "C:\\dados"}', 1, 10, /\\d não é um escape/],
    ['{"a": "\\u12"}', 1, 8, /quatro hexadecimais/],
    ['{"a": "\\ud83d"}', 1, 8, /metade de um caractere/],
    ['{"a": "\\ude00"}', 1, 8, /metade de um caractere/],
    ['{"a": "x', 1, 7, /não é fechado por aspas/],
    ['{"a": [1, 2', 1, 12, /antes de fechar a lista aberta na linha 1, coluna 7/],
    ['{"a": {"b": 1}', 1, 15, /antes de fechar o objeto aberto na linha 1, coluna 1/],
    ['{"a": 1,5}', 1, 9, /se separam com ponto/],
    ['{"a": .5}', 1, 7, /dos dois lados do ponto/],
    ['{"a": 1.}', 1, 7, /dos dois lados do ponto/],
    ['{"a": +1}', 1, 7, /não começa com \+/],
    ['{"a": NaN}', 1, 7, /NaN não existe em JSON/],
    ['{"a": -Infinity}', 1, 7, /-Infinity não existe em JSON/],
    ['{"a": None}', 1, 7, /escreva null/],
    ['{"a": True}', 1, 7, /escreva true/],
    ['{"a": constructor}', 1, 7, /constructor está sem aspas/],
    ['{} {}', 1, 4, /depois do fim/],
    ['{} // fim', 1, 4, /comentários/],
    ['/* x */ {}', 1, 1, /comentários/],
    ['{"a": 1, "b": 2, "a": 3}', 1, 18, /a propriedade a aparece duas vezes.*linha 1, coluna 2/],
    ['{"\\u0061": 1, "a": 3}', 1, 15, /aparece duas vezes/],
    ['<DPS/>', 1, 1, /falta um valor/],
  ];
  for (const [text, linha, coluna, says] of CASES) {
    test(`${JSON.stringify(text)}: line ${linha}, column ${coluna}`, () => {
      const fault = faultOf(text);
      assert.equal(fault.codigo, 'E003');
      assert.match(fault.mensagem, says);
      assert.match(fault.mensagem, /\.$/);
      assert.deepEqual([fault.linha, fault.coluna], [linha, coluna], fault.mensagem);
    });
  }

  test('another encoding is named, with the first byte that cannot be', () => {
    assert.match(faultOf(Buffer.from('{"a": "São"}', 'latin1')).mensagem, /linha 1, coluna 9.*byte 9 \(0xE3\)/);
    assert.match(faultOf(Buffer.from('{"a": 1}', 'utf16le')).mensagem, /UTF-16/);
    assert.match(faultOf(Buffer.from('\ufeff{}', 'utf16le')).mensagem, /UTF-16/);
    assert.match(faultOf(Buffer.from([0x7b, 0x22, 0x80, 0x22])).mensagem, /byte 3 \(0x80\)/);
    assert.match(faultOf(Buffer.from([0x22, 0xe2, 0x82])).mensagem, /byte 2 \(0xE2\)/);
  });
});

/** Texts that are nearly JSON, so that the reader gets some way before it fails. */
const nearlyJson = fc
  .array(
    fc.constantFrom(
      ...'{ } [ ] , : " \\ 0 1 -1 1e5 0.5 01 true false null "a" "b": "\\u00e7" \\ud800 é 😀 \n \t // . - + e'.split(
        ' ',
      ),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

describe('whatever comes', () => {
  test('bytes are read or refused, never thrown over', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const reading = readJson(bytes);
        if ('fault' in reading) assert.equal(reading.fault.codigo, 'E003');
      }),
      { numRuns: 2_000 },
    );
  });

  test('what is read is what JSON.parse reads, and what that refuses is refused', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyJson, fc.json(), anyText(60)), (text) => {
        const whole = text.toWellFormed();
        const reading = read(whole);
        let other: unknown;
        try {
          other = JSON.parse(whole);
        } catch {
          assert.ok('fault' in reading || whole.startsWith('\ufeff'), `JSON.parse refuses ${JSON.stringify(whole)}`);
          return;
        }
        if ('fault' in reading) {
          // This reader is stricter on purpose.
          assert.match(reading.fault.mensagem, /duas vezes|metade de um caractere|limite de|UTF-16/);
        } else {
          assert.deepEqual(parsed(reading.value), other);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('what is long takes no longer than it is', () => {
    const long: readonly string[] = [
      `"${'a'.repeat(1_000_000)}"`,
      `"${'\\n'.repeat(500_000)}"`,
      '1'.repeat(1_000_000),
      `${'9'.repeat(500_000)}e${'9'.repeat(500_000)}`,
      ' '.repeat(1_000_000),
      '😀'.repeat(250_000),
      `{${Array.from({ length: 50_000 }, (_, place) => `"${place}":0`).join(',')}}`,
      `{"a":"${'\n'.repeat(900_000)}`,
      `${'-'.repeat(1_000_000)}`,
    ];
    const ordinary = Buffer.from(
      JSON.stringify(
        Array.from({ length: 9_000 }, (_, numero) => ({ numero, descricao: 'Análise "sob medida"', avisos: [] })),
      ),
    );
    const onSlowMachineMs = (): number => 50 * leastCpuMsOf(() => valueIn(ordinary));
    for (const text of long) {
      const bytes = Buffer.from(text);
      assertCostsLess(() => read(bytes), 1_000, text.slice(0, 20), onSlowMachineMs);
    }
  });
});

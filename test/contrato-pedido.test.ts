/**
 * The request schemas of the description agree with the service on the form of a body, both ways. A body drawn from a schema never fails in
 * its structure. The schema refuses a randomly changed body exactly if the service refuses its structure. The limits of the schemas stand
 * below, each with its reason.
 *
 * NFSE_TEST_LONGO=1 draws many more.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from '../src/documents/json.ts';
import { DESCRIBED_DOOR } from '../src/doors/rest/described-door.ts';
import { cnpjIsValid, cpfIsValid, parseChave } from '../src/fiscal/chave.ts';
import type { Fault } from '../src/fiscal/fault.ts';
import type { JsonDocument } from '../src/fiscal/layout/json-value.ts';
import { readCorpo } from '../src/fiscal/layout/read-corpo.ts';
import { readPedido } from '../src/fiscal/pedido-evento.ts';
import { exemploDe, TIPOS_EVENTO } from '../src/fiscal/tipos-evento.ts';
import { describeApi } from '../src/published/openapi/openapi.ts';
import { describedBy } from './support/openapi.ts';
import { drawnFrom } from './support/schema-arbitrary.ts';
import fc, { LONG, SEED } from './support/seed.ts';

const DRAWN = LONG ? 3_000 : 200;
/** Changed bodies for each drawn one. */
const BENT = 12;

const description = describeApi(DESCRIBED_DOOR);
const described = describedBy(description);

type Body = Readonly<Record<string, unknown>>;

/** The service's verdict on the structure of a body. The sandbox judges, in which the body names its municipality. */
function structureOf(body: unknown, read: (document: JsonDocument) => object): readonly Fault[] {
  const reading = readJson(Buffer.from(JSON.stringify(body)));
  if ('fault' in reading) return [reading.fault];
  const result = read(reading) as { readonly faults?: readonly Fault[] };
  return result.faults ?? [];
}

type Door = {
  readonly schema: string;
  readonly operation: string;
  readonly faults: (body: unknown) => readonly Fault[];
};

const DPS: Door = {
  schema: 'CorpoDaDps',
  operation: 'emitirNota',
  faults: (body) => structureOf(body, (document) => readCorpo(document, { tpAmb: '2' })),
};
const EVENTO: Door = {
  schema: 'PedidoDeEvento',
  operation: 'registrarEvento',
  faults: (body) => structureOf(body, (document) => readPedido(document)),
};

type Exception = { readonly because: string; readonly holds: (value: unknown, fault?: Fault) => boolean };

/** Values that the service refuses and a schema allows, by the value of the fault. */
const SCHEMA_CANNOT: readonly Exception[] = [
  {
    because: 'check digits of a CPF or of a CNPJ are computed',
    holds: (value) =>
      typeof value === 'string' &&
      ((/^[0-9]{11}$/.test(value) && !cpfIsValid(value)) || (/^[0-9A-Z]{14}$/.test(value) && !cnpjIsValid(value))),
  },
  {
    because:
      'a number has two places at most, and "multipleOf": 0.01 refuses 1.1, which is no multiple of it in binary',
    holds: (value) => typeof value === 'number' && !Number.isInteger(Number((value * 100).toPrecision(12))),
  },
  {
    because: 'the parts of an access key, and its digit, are computed',
    holds: (value) => typeof value === 'string' && /^[0-9A-Z]{50}$/.test(value) && parseChave(value) === undefined,
  },
];

/** Bodies that a schema refuses and the service accepts. */
const SERVICE_TAKES: readonly Exception[] = [
  {
    because: 'a blank name of the provider is no matter of structure: the rule that refuses it says more (D-34)',
    holds: (body) => /^[ \t\n\r]*$/.test(String((body as Body)['prestador_razao_social'] ?? 'x')),
  },
  {
    because: 'an amount may be written as other numbers are in JSON ("1.0E3"), which the schema does not propose',
    holds: (body) => /"-?[0-9.]+[eE][+-]?[0-9]+"|"-0(?:\.0+)?"|:-0/.test(JSON.stringify(body)),
  },
  {
    because: 'the note that a request names is compared with that of the address one step later (E0002)',
    holds: (body) => typeof (body as Body)['chave_acesso'] === 'string' && 'tipo_evento' in (body as Body),
  },
];

/** The reasons that some body has shown. */
const used = new Set<Exception>();

// Changes to a body.

type Step = string | number;

/** Every place of a body, the body itself first. */
function placesIn(value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inside: readonly (readonly [Step, unknown])[] = Array.isArray(value)
    ? value.map((item, place) => [place, item] as const)
    : Object.entries(value);
  return [path, ...inside.flatMap(([step, one]) => placesIn(one, [...path, step]))];
}

function valueAt(body: unknown, path: readonly Step[]): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<Step, unknown> | undefined)?.[step], body);
}

function withAt(body: unknown, path: readonly Step[], change: (value: unknown) => unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return change(body);
  if (Array.isArray(body)) return body.map((item, place) => (place === step ? withAt(item, rest, change) : item));
  return Object.fromEntries(
    Object.entries(body as Body).flatMap(([name, value]) => {
      const next = name === step ? withAt(value, rest, change) : value;
      return next === undefined ? [] : [[name, next]];
    }),
  );
}

const VALUES: readonly unknown[] = [
  ...[undefined, null, '', ' ', '\n', 'x', 'á', 'Łódź –', ' A', 'A ', 'a\nb', '\u0001', '\u00a0', '\ufffe', 'S'],
  ...[
    '0',
    '1',
    '2',
    '9',
    '00',
    '01',
    '1.00',
    '1.5',
    '1.500',
    '1.005',
    '-1.00',
    '1,00',
    '1e2',
    '-0',
    '100.00',
    '100.01',
    '101',
  ],
  ...[
    '2026-10-05',
    '2026-02-30',
    '1999-01-01',
    '05/10/2026',
    '123456',
    '1234567',
    '52998224725',
    '52998224724',
    '11222333000180',
  ],
  ...[
    '3'.repeat(50),
    'x'.repeat(61),
    '😀'.repeat(300),
    'x'.repeat(301),
    'x'.repeat(2_001),
    '1'.repeat(20),
    '1'.repeat(30),
  ],
  ...[0, 1, 7, -1, 0.5, 0.005, 1.1, 1e15, 1e16, 101, true, false, {}, [], [null], [{}], ['1'], { cpf: '1' }],
];

/** One change in a body; `other` supplies properties that this one lacks. */
function bend(body: unknown, other: unknown, at: number, how: number, which: number): unknown {
  const places = placesIn(body);
  const path = places[at % places.length]!;
  const value = valueAt(body, path);
  switch (how % 5) {
    case 0:
      return withAt(body, path, (one) =>
        typeof one === 'object' && one !== null && !Array.isArray(one)
          ? { ...one, [['inventado', 'Nome', '__proto__x', ''][which % 4]!]: [null, '1', {}][which % 3] }
          : undefined,
      );
    case 1:
      // A list longer than allowed, and a value that is not a list.
      return withAt(body, path, (one) =>
        Array.isArray(one) ? Array.from({ length: 1_001 }, () => one[0] ?? '1') : [one],
      );
    case 2: {
      const lent = valueAt(other, path);
      const isBoth = [value, lent].every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
      return isBoth
        ? withAt(body, path, (one) => ({ ...(lent as Body), ...(one as Body) }))
        : withAt(body, path, () => lent);
    }
    default:
      return withAt(body, path, () => VALUES[which % VALUES.length]);
  }
}

/** The reasons that explain a difference; empty if nothing explains it. */
function explained(exceptions: readonly Exception[], value: unknown, fault?: Fault): readonly Exception[] {
  return exceptions.filter(({ holds }) => holds(value, fault));
}

/** The value of a fault, found by its place in the body. */
function toldValue(body: unknown, { campo = '' }: Fault): unknown {
  return valueAt(
    body,
    campo.split(/[.[\]]+/).filter((step) => step !== ''),
  );
}

function told(body: unknown, faults: readonly Fault[]): string {
  const text = faults.slice(0, 3).map(({ codigo, mensagem }) => `${codigo} ${mensagem}`);
  return `${text.join(' | ')} of ${JSON.stringify(body).slice(0, 3_000)}`;
}

test('the schemas and the service say the same', async (t) => {
  for (const [what, door] of Object.entries({ 'a DPS': DPS, 'an event': EVENTO })) {
    await t.test(`the body of ${what}`, async (t) => {
      const bodies = drawnFrom(description, { $ref: `#/components/schemas/${door.schema}` });

      await t.test(`${DRAWN} drawn from the schema: no fault of structure but what a schema cannot say`, () => {
        let whole = 0;
        fc.assert(
          fc.property(bodies, (body) => {
            described.assertBody(door.operation, body);
            const faults = door.faults(body);
            const strange = faults.filter(
              (fault) => explained(SCHEMA_CANNOT, toldValue(body, fault), fault).length === 0,
            );
            assert.deepEqual(strange, [], told(body, strange));
            if (faults.length === 0) whole += 1;
          }),
          { numRuns: DRAWN, seed: SEED },
        );
        assert.ok(whole > DRAWN / 4, `only ${whole} were without a fault`);
      });

      await t.test(
        `${DRAWN * BENT} bent at random: the schema refuses what the service refuses, and nothing else`,
        () => {
          const seen = { taken: 0, refused: 0 };
          const bends = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { minLength: BENT, maxLength: BENT });
          fc.assert(
            fc.property(bodies, bodies, bends, (body, other, drawn) => {
              for (const [at, how, which] of drawn) {
                const bent = bend(body, other, at, how, which) ?? null;
                const admits = described.admits(door.operation, bent);
                const faults = door.faults(bent);
                if (admits === (faults.length === 0)) {
                  seen[admits ? 'taken' : 'refused'] += 1;
                  continue;
                }
                for (const fault of admits ? faults : []) {
                  const why = explained(SCHEMA_CANNOT, toldValue(bent, fault), fault);
                  assert.ok(why.length > 0, `the schema admits ${told(bent, [fault])}`);
                  for (const one of why) used.add(one);
                }
                if (admits) continue;
                const why = explained(SERVICE_TAKES, bent);
                assert.ok(
                  why.length > 0,
                  `the service takes what ${described.refusal(door.operation, bent)}: ${JSON.stringify(bent)}`,
                );
                for (const one of why) used.add(one);
              }
            }),
            { numRuns: DRAWN, seed: SEED },
          );
          assert.ok(seen.taken > DRAWN && seen.refused > DRAWN, JSON.stringify(seen));
        },
      );
    });
  }

  await t.test('every reason is still one', () => {
    for (const exception of [...SCHEMA_CANNOT, ...SERVICE_TAKES]) assert.ok(used.has(exception), exception.because);
  });
});

test('an example of each type of event is what its schema admits', () => {
  for (const tipo of TIPOS_EVENTO.filter(({ porOficio }) => !porOficio)) {
    described.assertBody('registrarEvento', exemploDe(tipo));
    assert.deepEqual(EVENTO.faults(exemploDe(tipo)), []);
  }
});

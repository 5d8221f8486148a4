/**
 * Notes of production conform to the national schema. Operations are drawn and mutated element by element; the notes of the accepted ones
 * are validated with our own XSD. Other tests check which operations are accepted.
 *
 * NFSE_TEST_LONGO=1 mutates twenty times as many; NFSE_TEST_SEMENTE=N repeats those of a seed.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { xmlWithMembers } from '../../../test/support/membros.ts';
import { acceptedPatches, EXAMPLE_CHAVE } from '../../../test/support/notas.ts';
import { type Operacao, operacoes } from '../../../test/support/operacoes.ts';
import fc, { LONG, SEED } from '../../../test/support/seed.ts';
import { type Chance, chanceOf } from '../../../test/support/signatures.ts';
import { readXml, xsdErrors } from '../../documents/xml.ts';
import { dpsIdOf } from '../../fiscal/chave.ts';
import { composeNfse } from '../../fiscal/compose-nfse.ts';
import { decimal } from '../../fiscal/decimal.ts';
import type { Facts } from '../../fiscal/facts.ts';
import { judge } from '../../fiscal/judge.ts';
import { type Dps, type DpsPath, INF_DPS } from '../../fiscal/layout/dps.ts';
import { readDps } from '../../fiscal/layout/read.ts';
import type { SimpleType } from '../../fiscal/layout/simple-types.ts';
import { type Choice, type Group, type Item, isRequiredOfSender, type Leaf } from '../../fiscal/layout/vocabulary.ts';
import { applyPatch, exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import { RULES } from '../../fiscal/rules/rules.ts';
import { avisosOn, EXAMPLE_FACTS, faultsOf } from '../../fiscal/rules/trial.ts';

const NFSE_XSD = readFileSync(new URL('../../../docs/nfse-1.01.xsd', import.meta.url), 'utf8');

const BENT = LONG ? 80_000 : 1_000;
/** A good part of the mutated operations is accepted; with fewer the test would prove little. */
const ACCEPTED_MIN = BENT / 4;
/** Operations that are mutated. */
const DRAWN = LONG ? 400 : 100;

/** Facts of production, where the municipality refuses by the national rules or only remarks; its list has every service. */
function factsOf({ serv, prest }: Dps, regrasNacionais: Facts['regrasNacionais']): Facts {
  return {
    ...EXAMPLE_FACTS,
    prestador: { ...EXAMPLE_FACTS.prestador, documento: prest.CNPJ ?? prest.CPF! },
    ambiente: 'producao',
    cMun: '3550308',
    hoje: '2026-11-21',
    regrasNacionais,
    servicoMunicipal: (codigo) => ({
      codigo,
      descricao: ' Assessoria – “de\tfato”,\r\nsegunda linha 😀 ',
      cTribNac: serv.cServ.cTribNac,
    }),
    aliquotaRegistrada: () => (regrasNacionais === 'recusa' ? undefined : decimal('5.00')),
  };
}

/** The unsigned note of a document; undefined: the law refuses it. */
function noteOf(xml: string, regrasNacionais: Facts['regrasNacionais']): string | undefined {
  const reading = readXml(Buffer.from(xml));
  const read = 'root' in reading ? readDps(reading.root) : reading;
  if (!('dps' in read)) return undefined;
  const { dps } = read;
  const facts = factsOf(dps, regrasNacionais);
  const judged = judge(dps, facts);
  if ('faults' in judged) return undefined;
  const { cLocEmi, prest, serie = '70000', nDPS = '42' } = dps;
  return composeNfse(dps, facts, judged, {
    chave: EXAMPLE_CHAVE,
    nNFSe: '42',
    nDFSe: '1042',
    idDps: dpsIdOf({ cLocEmi, documento: prest.CNPJ ?? prest.CPF!, serie, nDPS }),
    serie,
    nDPS,
    dhEmi: '2026-11-21T10:15:30-03:00',
    tpAmb: '1',
  });
}

// The layout, element by element.

type Place = { readonly path: DpsPath; readonly item: Leaf | Group; readonly isChosen: boolean };

function placesOf(items: readonly Item[], base = ''): readonly Place[] {
  return items.flatMap((item) => {
    const members = item.kind === 'choice' ? item.items : [item];
    return members.flatMap((member) => {
      const path = `${base}${member.name}` as DpsPath;
      const own = { path, item: member, isChosen: item.kind === 'choice' };
      return member.kind === 'leaf' ? [own] : [own, ...placesOf(member.items, `${path}/`)];
    });
  });
}

const PLACES = placesOf(INF_DPS).filter(({ item }) => item.sent !== 'refused');
const PLACE_BY_PATH: ReadonlyMap<string, Place> = new Map(PLACES.map((place) => [place.path, place]));

// Test values.

const TEXTS = ['A', 'Ação & <b> "c"', 'Łódź – “1”', ' A', 'A ', 'duas\nlinhas', 'ÿ', '12345', 'a@b.com', '😀'] as const;
const AMOUNTS = '0 0.00 0.01 1 1.99 2.00 5 9.99 10.00 50 99.99 100 100.00 999.99 1000 999999999999999.99'.split(' ');
const KNOWN: Readonly<Partial<Record<string, readonly string[]>>> = {
  CNPJ: ['11222333000181', '12ABC34501DE35', '00000000000191'],
  CPF: ['52998224725', '11144477735'],
  cMun: ['3550308', '3304557'],
  cLocPrestacao: ['3550308', '3304557', '0000000'],
  cPais: ['US', 'PT'],
  cPaisPrestacao: ['US', 'BR'],
  serie: ['1', '00001', '70000', '89999', '90000', '99999', '00000'],
};

function textOf({ name, type }: Leaf, chance: Chance): string {
  return chance.pick(KNOWN[name] ?? valuesOf(type, chance));
}

function valuesOf(type: SimpleType, { below }: Chance): readonly string[] {
  switch (type.kind) {
    case 'enum':
      return [...type.values!, '0'];
    case 'decimal':
      return [...AMOUNTS, String(below(2_000))];
    case 'digits': {
      const length = type.min + below(type.max - type.min + 1);
      return Array.from({ length: 3 }, () => Array.from({ length }, () => String(below(10))).join(''));
    }
    case 'date':
      return ['2026-10-05', '2026-09-30', '2026-11-20', '2020-02-29', '2025-12-31', '2027-01-01'];
    default:
      return [...TEXTS, 'x'.repeat(type.max), 'x'.repeat(type.min), `é${'y'.repeat(Math.max(0, type.max - 2))}z`];
  }
}

// Mutations of an operation.

/** The leaves of a group: the mandatory ones, and others by chance. */
function grown(items: readonly Item[], base: string, chance: Chance): Patch {
  const patches = items.map((item): Patch => {
    if (item.kind === 'choice') return memberOf(item, base, chance);
    if (item.sent === 'refused' || (!isRequiredOfSender(item) && chance.below(2) === 0)) return {};
    return one(item, base, chance);
  });
  return Object.assign({}, ...patches);
}

function memberOf({ items, min }: Choice, base: string, chance: Chance): Patch {
  return min === 0 && chance.below(2) === 0 ? {} : one(chance.pick(items), base, chance);
}

function one(item: Leaf | Group, base: string, chance: Chance): Patch {
  const path = `${base}${item.name}`;
  return item.kind === 'leaf' ? { [path]: textOf(item, chance) } : grown(item.items, `${path}/`, chance);
}

type Bend = (patch: Patch, chance: Chance) => Patch;

/** Replaces the value of a present element. */
const setLeaf: Bend = (patch, chance) => {
  const { path, item } = chance.pick(placesIn(patch).filter(({ item: { kind } }) => kind === 'leaf'));
  return { ...patch, [path]: textOf(item as Leaf, chance) };
};

/** Removes an element, or a group with all its content. */
const remove: Bend = (patch, chance) => {
  const { path } = chance.pick(placesIn(patch));
  const kept = Object.entries(patch).filter(([other]) => !other.startsWith(`${path}/`));
  return { ...Object.fromEntries(kept), [path]: null };
};

/** Adds an element or a group, beside the others or in place of another member of its choice. */
const add: Bend = (patch, chance) => {
  const there = new Set<string>(placesIn(patch).map(({ path }) => path));
  const absent = PLACES.filter(({ path }) => !there.has(path) && (parentOf(path) === '' || there.has(parentOf(path))));
  const { path, item, isChosen } = chance.pick(absent);
  const parent = parentOf(path);
  const base = parent === '' ? '' : `${parent}/`;
  const rivals = isChosen ? rivalsOf(path, there) : {};
  const kept = Object.entries(patch).filter(([other]) => Object.keys(rivals).every((gone) => !other.startsWith(gone)));
  return { ...Object.fromEntries(kept), ...rivals, ...one(item, base, chance) };
};

function rivalsOf(path: string, there: ReadonlySet<string>): Patch {
  const parent = PLACE_BY_PATH.get(parentOf(path))?.item;
  const items = parent?.kind === 'group' ? parent.items : INF_DPS;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const choice = items.find(
    (item): item is Choice => item.kind === 'choice' && item.items.some((member) => member.name === name),
  );
  const rivals = (choice?.items ?? []).map((member) => path.slice(0, path.length - name.length) + member.name);
  return Object.fromEntries(rivals.filter((rival) => rival !== path && there.has(rival)).map((rival) => [rival, null]));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Elements and groups that remain after a patch. */
function placesIn(patch: Patch): readonly Place[] {
  const paths = new Set<string>();
  for (const leaf of applyPatch(patch).keys()) {
    for (let path = leaf; path !== ''; path = parentOf(path)) paths.add(path);
  }
  return [...paths].flatMap((path) => PLACE_BY_PATH.get(path) ?? []);
}

const BENDS: readonly Bend[] = [setLeaf, setLeaf, setLeaf, remove, add, add];

/** A drawn document with one or more mutations; it depends on the seed and its number alone. */
function bentXml(drawn: readonly Operacao[], place: number): string {
  const chance = chanceOf(SEED + Math.imul(place + 1, 2_654_435_761));
  const { patch, membros } = drawn[place % drawn.length]!;
  let bent: Patch = { ...patch, tpAmb: '1' };
  for (let left = 1 + chance.below(3); left > 0; left -= 1) bent = chance.pick(BENDS)(bent, chance);
  try {
    return xmlWithMembers(bent, membros);
  } catch {
    // The removal took a repeated group with it.
    return exampleXml(bent);
  }
}

/** Returns the documents whose note the schema refuses, with the reason, and the number of accepted ones. */
function tried(documents: Iterable<string>): { readonly accepted: number; readonly invalid: readonly string[] } {
  const invalid: string[] = [];
  let accepted = 0;
  let place = 0;
  for (const xml of documents) {
    place += 1;
    const nfse = noteOf(xml, place % 2 === 0 ? 'recusa' : 'avisa');
    if (nfse === undefined) continue;
    accepted += 1;
    const findings = xsdErrors(NFSE_XSD, Buffer.from(nfse));
    if (findings.length > 0) invalid.push(`${findings.join('; ')}\n${xml}`);
  }
  return { accepted, invalid };
}

describe('what production accepts is a note that the national schema takes', () => {
  test(`of ${BENT} bent operations of seed ${SEED}`, (t) => {
    const drawn = fc.sample(operacoes, { numRuns: DRAWN, seed: SEED });
    const documents = Iterator.from({
      *[Symbol.iterator]() {
        for (let place = 0; place < BENT; place += 1) yield bentXml(drawn, place);
      },
    });
    const { accepted, invalid } = tried(documents);
    t.diagnostic(`${accepted} of ${BENT} accepted`);
    assert.deepEqual(invalid.slice(0, 5), [], `${invalid.length} of ${accepted}`);
    assert.ok(accepted >= ACCEPTED_MIN, `${accepted} of ${BENT} accepted`);
  });

  test('of every accepted example of the rules', () => {
    const { accepted, invalid } = tried(acceptedPatches().map((patch) => exampleXml({ ...patch, tpAmb: '1' })));
    assert.deepEqual(invalid, []);
    assert.ok(accepted > 100, `${accepted} accepted`);
  });

  test('what its schema cannot write is refused also where the municipality only remarks, and remarked in the sandbox', () => {
    const rules = RULES.filter(({ esquema }) => esquema);
    assert.deepEqual(
      rules.map(({ at }) => at.replace(/.*\//, '')),
      ['serie', 'pAliq', 'nBM', 'pAliqPis', 'pAliqCofins'],
    );
    for (const { code, at, rejects } of rules) {
      for (const patch of rejects) {
        const sent: Patch = { ...patch, tpAmb: '1' };
        const faults = faultsOf(sent, { ...EXAMPLE_FACTS, ambiente: 'producao', regrasNacionais: 'avisa' });
        assert.deepEqual(
          faults.map(({ codigo, xpath }) => [codigo, xpath]),
          [[code, `/DPS/infDPS/${at}`]],
        );
        const sandbox: Facts = { ...EXAMPLE_FACTS, regrasNacionais: 'avisa' };
        assert.deepEqual(faultsOf(patch, sandbox), []);
        const remark = avisosOn(patch, sandbox).find(({ codigo }) => codigo === code);
        assert.match(remark!.mensagem, /Aqui é só um aviso; em produção esta DPS é recusada\.$/);
      }
    }
  });
});

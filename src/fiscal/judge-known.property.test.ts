/**
 * Documents with several mistakes of structure and of rules. The mistakes come from a table with the code of each by the specification. One
 * answer has all of them, in XML and in JSON alike, and nothing else. `silences`: the rules that read the wrong field, which stay unjudged
 * until it is corrected (D-720).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc, { LONG, SEED } from '../../test/support/seed.ts';
import { readJson } from '../documents/json.ts';
import { readXml } from '../documents/xml.ts';
import type { Fault } from './fault.ts';
import { judgeKnown, judgeWhole } from './judge.ts';
import { readDps } from './layout/read.ts';
import { readCorpo } from './layout/read-corpo.ts';
import type { Elemento } from './layout/tree.ts';
import { exampleJson, exampleXml } from './rules/example.ts';
import type { Patch } from './rules/rule.ts';
import { ALL_RULES } from './rules/rules.ts';
import { EXAMPLE_FACTS, isJsonOnly, treeOf } from './rules/trial.ts';

/** Documents of one run, each as XML and as JSON. */
const DOCUMENTS = LONG ? 12_000 : 1_000;
const FAULTS_MAX = 9;
/** One of so many elements of an example is broken. */
const EVERY = LONG ? 1 : 11;

type Mistake = {
  readonly name: string;
  readonly codigo: string;
  readonly patch: Patch;
  /** Names of the mistakes that this one hides. */
  readonly silences?: readonly string[];
};

const IVG = 'IBSCBS/valores/trib/gIBSCBS';
const PISCOFINS = 'valores/trib/tribFed/piscofins';
const NET = ['descontos maiores que o preço'];
const AMOUNTS = ['vDR maior que o preço', ...NET];

const STRUCTURE: readonly Mistake[] = [
  { name: 'dhEmi', codigo: 'E0010', patch: { '+dhEmi': '2026-10-05T10:00:00-03:00' } },
  { name: 'verAplic longo', codigo: 'E0003', patch: { verAplic: 'x'.repeat(21) } },
  { name: 'IM longa', codigo: 'E0003', patch: { 'prest/IM': '1'.repeat(16) } },
  { name: 'fone com letras', codigo: 'E0003', patch: { 'toma/fone': 'abc' } },
  { name: 'CEP curto', codigo: 'E0003', patch: { 'toma/end/endNac/CEP': '123' } },
  { name: 'sem nro', codigo: 'E002', patch: { 'toma/end/nro': null } },
  { name: 'xCpl vazio', codigo: 'E0003', patch: { 'toma/end/xCpl': '' } },
  { name: 'NBS curta', codigo: 'E0003', patch: { 'serv/cServ/cNBS': '1.1502' } },
  { name: 'sem xDescServ', codigo: 'E002', patch: { 'serv/cServ/xDescServ': null } },
  { name: 'xInfComp vazio', codigo: 'E0003', patch: { 'serv/infoCompl/xInfComp': '' } },
  { name: 'vServ com vírgula', codigo: 'E0001', patch: { 'valores/vServPrest/vServ': '1.000,00' } },
  { name: 'pAliq por extenso', codigo: 'E0001', patch: { 'valores/trib/tribMun/pAliq': 'cinco' }, silences: NET },
  { name: 'tpRetISSQN 9', codigo: 'E0002', patch: { 'valores/trib/tribMun/tpRetISSQN': '9' }, silences: NET },
  { name: 'indTotTrib 5', codigo: 'E0002', patch: { 'valores/trib/totTrib/indTotTrib': '5' } },
  { name: 'finNFSe 9', codigo: 'E0002', patch: { 'IBSCBS/finNFSe': '9' } },
  { name: 'indDest 7', codigo: 'E0002', patch: { 'IBSCBS/indDest': '7' }, silences: ['dest'] },
];

const RULES: readonly Mistake[] = [
  { name: 'cMotivoEmisTI', codigo: 'E0029', patch: { cMotivoEmisTI: '1' } },
  { name: 'email do prestador', codigo: 'E0148', patch: { 'prest/email': 'contato.exemplo.com.br' } },
  { name: 'regApTribSN', codigo: 'E0162', patch: { 'prest/regTrib/regApTribSN': '1' }, silences: NET },
  { name: 'email do tomador', codigo: 'E0247', patch: { 'toma/email': 'maria' } },
  { name: 'cTribMun 000', codigo: 'E0315', patch: { 'serv/cServ/cTribMun': '000' }, silences: NET },
  { name: 'NBS inexistente', codigo: 'E0316', patch: { 'serv/cServ/cNBS': '123456789' } },
  { name: 'obra sem lugar', codigo: 'E0372', patch: { 'serv/obra/cCIB': '12345678' } },
  { name: 'vReceb', codigo: 'E0424', patch: { 'valores/vServPrest/vReceb': '1000.00' } },
  {
    name: 'vDescIncond zero',
    codigo: 'E0431',
    patch: { 'valores/vDescCondIncond/vDescIncond': '0.00' },
    silences: AMOUNTS,
  },
  { name: 'vDescCond zero', codigo: 'E0432', patch: { 'valores/vDescCondIncond/vDescCond': '0.00' } },
  { name: 'cPaisResult', codigo: 'E0591', patch: { 'valores/trib/tribMun/cPaisResult': 'PT' } },
  { name: 'pAliq 10', codigo: 'E0595', patch: { 'valores/trib/tribMun/pAliq': '10.00' }, silences: NET },
  {
    name: 'base do PIS',
    codigo: 'E0677',
    patch: { [`${PISCOFINS}/CST`]: '01', [`${PISCOFINS}/vBCPisCofins`]: '1000.01' },
  },
  { name: 'vRetCP zero', codigo: 'E0699', patch: { 'valores/trib/tribFed/vRetCP': '0.00' }, silences: NET },
  { name: 'vRetIRRF zero', codigo: 'E0700', patch: { 'valores/trib/tribFed/vRetIRRF': '0.00' }, silences: NET },
  {
    name: 'refNFSe',
    codigo: 'E0906',
    patch: { 'IBSCBS/gRefNFSe/refNFSe': '35503081211222333000181000000000000126091234567895' },
  },
  {
    name: 'dest',
    codigo: 'E0910',
    patch: { 'IBSCBS/dest/CPF': '52998224725', 'IBSCBS/dest/xNome': 'João Exemplo' },
  },
  { name: 'cClassTrib inexistente', codigo: 'E0958', patch: { [`${IVG}/cClassTrib`]: '000999' } },
  { name: 'sem IBSCBS', codigo: 'E802', patch: { IBSCBS: null } },
  { name: 'vDR maior que o preço', codigo: 'E0427', patch: { 'valores/vDedRed/vDR': '1000.01' }, silences: NET },
  {
    name: 'descontos maiores que o preço',
    codigo: 'E0428',
    patch: { 'valores/vDescCondIncond/vDescCond': '990.00', 'valores/trib/tribFed/vRetCSLL': '15.00' },
  },
];

const ALL = [...STRUCTURE, ...RULES];

/** Whether two mistakes may stand in one document: their paths neither coincide nor contain each other. */
function fit(a: Mistake, b: Mistake): boolean {
  const [some, others] = [Object.keys(a.patch), Object.keys(b.patch)];
  return !some.some((one) =>
    others.some((other) => one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)),
  );
}

function fits(drawn: readonly Mistake[]): readonly Mistake[] {
  const kept: Mistake[] = [];
  for (const one of drawn) if (kept.every((other) => fit(other, one))) kept.push(one);
  return kept;
}

const expectedOf = (mistakes: readonly Mistake[]): readonly string[] =>
  mistakes
    .filter(({ name }) => !mistakes.some(({ silences }) => silences?.includes(name) === true))
    .map(({ codigo }) => codigo)
    .toSorted();

const patchOf = (mistakes: readonly Mistake[]): Patch => Object.assign({}, ...mistakes.map(({ patch }) => patch));

function codesOfXml(patch: Patch): readonly string[] {
  const reading = readXml(Buffer.from(exampleXml(patch)));
  assert.ok('root' in reading);
  const read = readDps(reading.root);
  return codesOf('faults' in read ? { ...read, known: read.marked } : { faults: [], known: read.dps });
}

function codesOfJson(patch: Patch): readonly string[] {
  const json = exampleJson(patch);
  assert.ok(json !== undefined, JSON.stringify(patch));
  const document = readJson(Buffer.from(json));
  assert.ok(!('fault' in document));
  const read = readCorpo(document, { tpAmb: '2' });
  return codesOf('faults' in read ? { ...read, known: read.rest?.marked } : { faults: [], known: read.dps });
}

type Read = { readonly faults: readonly Fault[]; readonly known: Parameters<typeof judgeKnown>[0] | undefined };

function codesOf({ faults, known }: Read): readonly string[] {
  assert.ok(known !== undefined, JSON.stringify(faults));
  const ofRules = judgeKnown(known, EXAMPLE_FACTS);
  return [...faults, ...ofRules].map(({ codigo }) => codigo).toSorted();
}

describe('every mistake of the table', () => {
  for (const one of ALL) {
    test(`${one.name} is ${one.codigo} alone`, () => {
      assert.deepEqual(codesOfXml(one.patch), [one.codigo]);
      assert.deepEqual(codesOfJson(one.patch), [one.codigo]);
    });
  }
});

test('any two of them are told together, but for what one leaves open', () => {
  const wrong: string[] = [];
  for (const [place, a] of ALL.entries()) {
    for (const b of ALL.slice(place + 1).filter((one) => fit(a, one))) {
      const [told, expected] = [codesOfXml(patchOf([a, b])), expectedOf([a, b])].map((codes) => codes.join());
      if (told !== expected) wrong.push(`${a.name} + ${b.name}: ${told}, not ${expected}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test(`documents of up to ${FAULTS_MAX} of them have all their codes, of seed ${SEED}`, () => {
  const documents = fc
    .shuffledSubarray([...ALL], { minLength: 1, maxLength: 14 })
    .map((drawn) => fits(drawn).slice(0, FAULTS_MAX));
  fc.assert(
    fc.property(documents, (mistakes) => {
      const patch = patchOf(mistakes);
      const name = mistakes.map((one) => one.name).join(' + ');
      assert.deepEqual(codesOfXml(patch), expectedOf(mistakes), name);
      assert.deepEqual(codesOfJson(patch), expectedOf(mistakes), name);
    }),
    { numRuns: DOCUMENTS },
  );
});

test('of a document that is read whole both judges tell the same', () => {
  for (const { patch, codigo } of RULES) {
    const reading = readXml(Buffer.from(exampleXml(patch)));
    assert.ok('root' in reading);
    const read = readDps(reading.root);
    assert.ok(!('faults' in read));
    const whole = judgeWhole(read.dps, EXAMPLE_FACTS);
    assert.deepEqual(judgeKnown(read.dps, EXAMPLE_FACTS), 'faults' in whole ? whole.faults : [], codigo);
  }
});

/** Changes to one element of a correct document; each is a fault of structure, or none. */
const BREAKS: Readonly<Record<string, (parent: Elemento, child: Elemento) => readonly Elemento[]>> = {
  'a wrong text': (_parent, child) => (child.children.length > 0 ? [child] : [{ ...child, text: '¿' }]),
  'no text': (_parent, child) => [{ ...child, text: '', children: [] }],
  'an element inside': (_parent, child) => [{ ...child, children: [...child.children, { ...child, name: 'outro' }] }],
  'a misspelt name': (_parent, child) => [{ ...child, name: `${child.name}s` }],
  'its place twice': (_parent, child) => [child, child],
  'no place': () => [],
};

/** The document with one element broken. `place`: its index in document order. */
function broken(
  root: Elemento,
  place: number,
  how: (parent: Elemento, child: Elemento) => readonly Elemento[],
): Elemento {
  let left = place;
  const walk = (parent: Elemento): Elemento => ({
    ...parent,
    children: parent.children.flatMap((child) => (left-- === 0 ? how(parent, child) : [walk(child)])),
  });
  return walk(root);
}

const countOf = ({ children }: Elemento): number => children.reduce((sum, child) => sum + 1 + countOf(child), 0);

test('no rule speaks because of what could not be read', () => {
  const right = ALL_RULES.flatMap(({ accepts, given }) => (given === undefined ? accepts : []));
  const roots = [...new Set(right.filter((patch) => !isJsonOnly(patch)).map((patch) => exampleXml(patch)))].map(treeOf);
  const [wrong, seen] = [new Set<string>(), { read: 0, judged: 0 }];
  for (const [nth, root] of roots.entries()) {
    const count = countOf(root);
    for (const [turn, [name, how]] of Object.entries(BREAKS).entries()) {
      for (let place = 1 + ((nth * 7 + turn) % EVERY); place < count; place += EVERY) {
        const read = readDps(broken(root, place, how));
        if (!('faults' in read)) continue;
        seen.read += 1;
        if (read.marked === undefined) continue;
        seen.judged += 1;
        for (const { codigo, xpath } of judgeKnown(read.marked, EXAMPLE_FACTS)) {
          wrong.add(
            `${name}, ${read.faults.map((fault) => `${fault.codigo} ${fault.xpath}`).join()}: ${codigo} ${xpath}`,
          );
        }
      }
    }
  }
  assert.deepEqual([...wrong], []);
  assert.ok(seen.judged > (LONG ? 40_000 : 3_000), JSON.stringify(seen));
});

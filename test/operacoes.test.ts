/**
 * Two hundred operations sent as XML and as JSON: the same DPS, the same verdict, the same amounts. A third of them has a mistake. Both
 * forms must be refused with the same codes at the same places.
 *
 * NFSE_TEST_SEMENTE=N draws the operations of a seed again.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { readJson } from '../src/documents/json.ts';
import { readDps } from '../src/fiscal/layout/read.ts';
import { readCorpo } from '../src/fiscal/layout/read-corpo.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { type Answer, emit, request } from './support/http.ts';
import { jsonOf, type Operacao, operacoes, rootOf, xmlOf } from './support/operacoes.ts';
import fc, { SEED } from './support/seed.ts';
import { startTestService } from './support/service.ts';

const OPERATIONS = 200;
const AT_A_TIME = 8;

/** Mistakes of an operation: structure, codes, amounts, parties, groups; each belongs to one step of the judgement. */
const MISTAKES: readonly { readonly name: string; readonly patch: Patch; readonly code: string }[] = [
  { name: 'a competence that is no day', patch: { dCompet: '2026-02-30' }, code: 'E0001' },
  { name: 'an amount that is no number', patch: { 'valores/vServPrest/vServ': 'mil' }, code: 'E0001' },
  { name: 'a rate above all', patch: { 'valores/trib/tribMun/pAliq': '101.00' }, code: 'E0002' },
  { name: 'no NBS', patch: { 'serv/cServ/cNBS': null }, code: 'E002' },
  { name: 'no service code', patch: { 'serv/cServ/cTribNac': null }, code: 'E002' },
  { name: 'a service code with a point', patch: { 'serv/cServ/cTribNac': '01.0101' }, code: 'E0003' },
  {
    name: 'two mistakes of structure',
    patch: { cLocEmi: '355', 'valores/trib/tribMun/tribISSQN': '7' },
    code: 'E0003',
  },
  { name: 'a tax that is not to be sent', patch: { '+valores/vISSQN': '1.00' }, code: 'E0010' },
  { name: 'nobody for a taker', patch: { 'toma/CPF': null, 'toma/NIF': null }, code: 'E0188' },
  { name: 'a taker that does not exist', patch: { 'toma/NIF': null, 'toma/CPF': '52998224726' }, code: 'E0003' },
  { name: 'a provider that does not exist', patch: { 'prest/CNPJ': '11222333000182' }, code: 'E101' },
  { name: 'a service that is in no list', patch: { 'serv/cServ/cTribNac': '999999' }, code: 'E002' },
  { name: 'a price of nothing', patch: { 'valores/vServPrest/vServ': '0.00' }, code: 'E401' },
  { name: 'a place of provision that is none', patch: { 'serv/locPrest/cLocPrestacao': '9999999' }, code: 'E403' },
  {
    name: 'withheld contributions without their value',
    patch: {
      'valores/trib/tribFed': null,
      'valores/trib/tribFed/piscofins/CST': '01',
      'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
    },
    code: 'E0724',
  },
  {
    name: 'a group of work for no work',
    patch: { 'serv/cServ/cTribNac': '010101', 'serv/atvEvento': null, 'serv/obra': null, 'serv/obra/cCIB': '12345678' },
    code: 'E0372',
  },
];

type Sample = { readonly name: string; readonly operacao: Operacao; readonly code?: string };

const drawn = fc.sample(operacoes, { numRuns: OPERATIONS, seed: SEED });
const samples: readonly Sample[] = drawn.map((operacao, place) => {
  const turn = Math.floor(place / 3) % MISTAKES.length;
  if (place % 3 !== 2) return { name: `operation ${place}`, operacao };
  const { name, patch, code } = MISTAKES[turn]!;
  // A mistake may remove the field by which another member would differ.
  return {
    name: `operation ${place} with ${name}`,
    operacao: { ...operacao, patch: mistaken(operacao.patch, patch) },
    code,
  };
});

/** The mistake is applied last: it may set again the elements that it removes. */
function mistaken(patch: Patch, mistake: Patch): Patch {
  const gone = Object.entries(mistake).flatMap(([path, text]) => (text === null ? [path] : []));
  const kept = Object.entries(patch).filter(
    ([path]) => !gone.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  return { ...Object.fromEntries(kept), ...mistake };
}

type Pair = Sample & { readonly xml: string; readonly json: string };

const pairs: readonly Pair[] = samples.map((sample, place) => {
  const xml = xmlOf(sample.operacao);
  return { ...sample, xml, json: jsonOf(xml, place % 2 === 1) };
});

describe(`the operations of seed ${SEED}`, () => {
  test('are of every kind', () => {
    const wanted = new Set(MISTAKES.map(({ name }) => name));
    for (const { name } of samples) wanted.delete(name.replace(/^operation \d+ with /, ''));
    assert.deepEqual([...wanted], []);
    assert.ok(pairs.filter(({ json }) => /: \d/.test(json)).length > OPERATIONS / 3);
    assert.ok(pairs.some(({ operacao }) => Object.values(operacao.membros).some((more) => more!.length > 1)));
  });

  test('are one DPS, or the same faults of structure', () => {
    for (const { name, xml, json } of pairs) {
      const ofXml = readDps(rootOf(xml));
      const document = readJson(Buffer.from(json));
      assert.ok(!('fault' in document), `${name}: ${json}`);
      const ofJson = readCorpo(document, { tpAmb: '2' });
      if ('faults' in ofXml || 'faults' in ofJson) {
        assert.deepEqual(placesOf(ofJson), placesOf(ofXml), `${name}\n${xml}\n${json}`);
      } else {
        assert.deepEqual(ofJson.dps, ofXml.dps, name);
      }
    }
  });
});

/**
 * The content of a list of faults, for both forms: codes and places, in any order. Only an element unknown to the layout has different
 * places: the body and the document have different groups.
 */
function placesOf(outcome: object): readonly string[] {
  if (!('faults' in outcome)) return [];
  const faults = outcome.faults as readonly { readonly codigo: string; readonly xpath: string }[];
  return faults.map(({ codigo, xpath }) => (codigo === 'E0010' ? codigo : `${codigo} ${xpath}`)).toSorted();
}

describe('through the front door', () => {
  let address: string;
  before(async () => {
    ({ address } = await startTestService({ worker: false }));
    // The sandbox registers the provider from its first DPS, which must not depend on the order of arrival.
    assert.equal((await emit(address, exampleXml())).status, 201);
  });

  function send(path: string, type: string, body: string): Promise<Answer> {
    const headers = { 'Content-Type': type };
    return request(address, `/integracao/api/v1/${path}`, { method: 'POST', headers, body });
  }

  async function both(path: string, { xml, json }: Pair): Promise<readonly [Answer, Answer]> {
    return Promise.all([send(path, 'application/xml', xml), send(path, 'application/json', json)]);
  }

  /** Runs the work on all pairs, several at a time. */
  async function eachPair(look: (pair: Pair) => Promise<void>): Promise<void> {
    const left = pairs.values();
    const worker = async (): Promise<void> => {
      for (const pair of left) await look(pair);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  }

  /** Codes and places, and their number. */
  const refusalOf = ({ body }: Answer): object => ({
    codigo_erro: body.codigo_erro,
    erros: placesOf({ faults: body.erros }),
  });

  test('they have one verdict, and one note but for its number', () =>
    eachPair(async (pair) => {
      const [ofXml, ofJson] = await both('nfse/v101', pair);
      const about = `${pair.name}\n${pair.json}\n${JSON.stringify(ofXml.body)}\n${JSON.stringify(ofJson.body)}`;
      assert.equal(ofXml.status, pair.code === undefined ? 201 : 422, about);
      assert.equal(ofJson.status, ofXml.status, about);
      if (pair.code === undefined) {
        assert.deepEqual(noteOf(ofJson), noteOf(ofXml), about);
        assertTwoPlaces(ofXml.body.xml_nfse, about);
      } else {
        assert.deepEqual(refusalOf(ofJson), refusalOf(ofXml), about);
        assert.ok(
          ofXml.body.erros.some(({ codigo }: { codigo: string }) => codigo === pair.code),
          about,
        );
        for (const { campo } of ofJson.body.erros) assert.match(campo ?? '', /^[A-Za-z_.[\]0-9]+$/, about);
      }
    }));

  test('they have one dry run', () =>
    eachPair(async (pair) => {
      const [ofXml, ofJson] = await both('nfse/v101/validacao', pair);
      const about = `${pair.name}\n${JSON.stringify(ofXml.body)}\n${JSON.stringify(ofJson.body)}`;
      assert.equal(ofXml.status, pair.code === undefined ? 200 : 422, about);
      assert.equal(ofJson.status, ofXml.status, about);
      if (pair.code === undefined) assert.deepEqual(withoutIdentifier(ofJson), withoutIdentifier(ofXml), about);
      else assert.deepEqual(refusalOf(ofJson), refusalOf(ofXml), about);
    }));
});

/** Every amount and rate that the note adds to the declaration has two decimals and no sign. */
function assertTwoPlaces(xml: string, about: string): void {
  const [own] = xml.split('<DPS ');
  const amounts = [...own!.matchAll(/<([vp][A-Z]\w*)>([^<]*)</g)];
  assert.ok(amounts.length > 0, about);
  for (const [, name, text] of amounts) assert.match(text!, /^(?:0|[1-9]\d*)\.\d\d$/, `${name} of ${about}`);
}

/** Values that are unique to a note: numbers, keys, times. */
const NUMBERED = /<(nNFSe|nDFSe|nDPS|dhProc|dhEmi)>[^<]*<\/\1>| Id="[^"]*"/g;

function noteOf({ body }: Answer): object {
  const avisos: readonly { readonly codigo: string; readonly xpath: string }[] = body.avisos;
  return {
    xml: body.xml_nfse.replace(NUMBERED, ''),
    // The sender sets the identifier of an XML document, and we set that of a JSON body.
    avisos: avisos.flatMap(({ codigo, xpath }) => (xpath.endsWith('/@Id') ? [] : [`${codigo} ${xpath}`])).toSorted(),
  };
}

/** The same fields and values by the same arithmetic; each sender reads them under the names that it used. */
function withoutIdentifier({ body }: Answer): object {
  const { avisos, identificador_dps: _, calculo, ...rest } = body;
  const told: readonly { readonly codigo: string; readonly xpath: string }[] = avisos;
  const steps: readonly { readonly campo: string; readonly formula: string; readonly valor: string | null }[] = calculo;
  return {
    ...rest,
    calculo: steps.map(({ campo, formula, valor }) => [campo, formula.replace(/[\p{L}_][\p{L}\w./]*/gu, ''), valor]),
    avisos: told.flatMap(({ codigo, xpath }) => (xpath.endsWith('/@Id') ? [] : [`${codigo} ${xpath}`])).toSorted(),
  };
}

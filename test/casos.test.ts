/**
 * The worked cases of `casos/`: each line of arithmetic is recalculated. The law must give the same amounts, and so must the note that the
 * service issues. A field that is only in the note, or only in the case, fails.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { pemOf } from '../src/documents/pki.ts';
import { readXml } from '../src/documents/xml.ts';
import { type Decimal, decimal, formatDecimal } from '../src/fiscal/decimal.ts';
import type { Facts } from '../src/fiscal/facts.ts';
import { type Judged, judge } from '../src/fiscal/judge.ts';
import { readDps } from '../src/fiscal/layout/read.ts';
import type { Elemento } from '../src/fiscal/layout/tree.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { EXAMPLE_FACTS } from '../src/fiscal/rules/trial.ts';
import { CASOS as ALIQUOTA } from './casos/aliquota-e-arredondamento.ts';
import { CASOS as BASE } from './casos/base-do-issqn.ts';
import { type Caso, type Fatos, SEM_IBSCBS } from './casos/caso.ts';
import { CASOS as IBSCBS } from './casos/ibs-cbs-2026.ts';
import { CASOS as SEM_APURACAO } from './casos/ibs-cbs-sem-apuracao.ts';
import { CASOS as REGIMES } from './casos/regimes-e-imunidades.ts';
import { CASOS as RETENCOES } from './casos/retencoes.ts';
import { onEnd } from './support/cleanup.ts';
import { linhasDa } from './support/conta.ts';
import { request } from './support/http.ts';
import { xmlWithMembers } from './support/membros.ts';
import { addPrestador } from './support/municipio.ts';
import { jsonOf } from './support/operacoes.ts';
import { NOON, startTestService, type TestService } from './support/service.ts';
import { type Party, PROVIDER_CNPJ, signedBy, testParties } from './support/signatures.ts';

const CASOS: readonly Caso[] = [...BASE, ...ALIQUOTA, ...RETENCOES, ...REGIMES, ...IBSCBS, ...SEM_APURACAO];
/** The issue asks for sixty; a number below this means that some were removed. */
const CASOS_MIN = 120;

/** The line names of the fields whose name occurs several times in the note. All other fields keep their own name. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'valores/vBC': 'vBC',
  'IBSCBS/valores/vBC': 'IBSCBS/vBC',
  'IBSCBS/totCIBS/gTribCompraGov/pIBSUF': 'gTribCompraGov/pIBSUF',
  'IBSCBS/totCIBS/gTribCompraGov/vIBSUF': 'gTribCompraGov/vIBSUF',
  'IBSCBS/totCIBS/gTribCompraGov/pIBSMun': 'gTribCompraGov/pIBSMun',
  'IBSCBS/totCIBS/gTribCompraGov/vIBSMun': 'gTribCompraGov/vIBSMun',
  'IBSCBS/totCIBS/gTribCompraGov/pCBS': 'gTribCompraGov/pCBS',
  'IBSCBS/totCIBS/gTribCompraGov/vCBS': 'gTribCompraGov/vCBS',
};
const PLACES = ['IBSCBS/cLocalidadeIncid', 'IBSCBS/xLocalidadeIncid'];
/** Lines that explain another one; their result is in the DPS, or in no document. */
const EXPLANATIONS = ['vRetCSLL', 'withheld, not shown'];

type Campos = Readonly<Record<string, string>>;

/** The fields that the note must have, by the case. */
function expectedOf({ conta }: Caso): Campos {
  const lines = linhasDa(conta).filter(({ campo }) => !EXPLANATIONS.includes(campo));
  return Object.fromEntries(lines.map(({ campo, valor }) => [campo, valor]));
}

function named(leaves: readonly (readonly [path: string, text: string])[]): Campos {
  const amounts = leaves.filter(([place]) => !PLACES.includes(place));
  return Object.fromEntries(amounts.map(([place, text]) => [AMBIGUOUS[place] ?? place.split('/').at(-1)!, text]));
}

const OF_VALORES = ['vCalcDR', 'vCalcBM', 'vBC', 'pAliqAplic', 'vISSQN', 'vTotalRet', 'vLiq'] as const;

/** The same fields of a judgement. */
function judgedFields({ amounts, ibscbs }: Judged): Campos {
  const valores = OF_VALORES.flatMap((name) => {
    const value = amounts[name];
    return value === undefined ? [] : [[`valores/${name}`, formatDecimal(value)] as const];
  });
  return named([...valores, ...(ibscbs === undefined ? [] : leavesOf(ibscbs, 'IBSCBS'))]);
}

function leavesOf(group: object, base: string): (readonly [string, string])[] {
  return Object.entries(group).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const place = `${base}/${name}`;
    if (typeof value === 'bigint') return [[place, formatDecimal(value as Decimal)] as const];
    return typeof value === 'string' ? [[place, value] as const] : leavesOf(value, place);
  });
}

/** The same fields of a note. */
function noteFields(xml: string): Campos {
  const reading = readXml(Buffer.from(xml));
  assert.ok('root' in reading);
  const infNFSe = reading.root.children.find(({ name }) => name === 'infNFSe')!;
  const groups = infNFSe.children.filter(({ name }) => name === 'valores' || name === 'IBSCBS');
  return named(groups.flatMap((group) => leavesOfElement(group, group.name)));
}

function leavesOfElement({ children, text }: Elemento, place: string): (readonly [string, string])[] {
  if (children.length === 0) return [[place, text]];
  return children.flatMap((child) => leavesOfElement(child, `${place}/${child.name}`));
}

/** Fields sorted by name, so that two sets can be compared. */
const sorted = (campos: Campos): Campos =>
  Object.fromEntries(Object.entries(campos).toSorted(([a], [b]) => (a < b ? -1 : 1)));

function assertFields(actual: Campos, caso: Caso): void {
  assert.deepEqual(sorted(actual), sorted(expectedOf(caso)));
}

function factsOf({ ambiente, hoje, aliquotaRegistrada, simples, regrasNacionais }: Fatos = {}): Facts {
  return {
    ...EXAMPLE_FACTS,
    ambiente: ambiente ?? 'homologacao',
    hoje: hoje ?? '2026-11-21',
    prestador: { ...EXAMPLE_FACTS.prestador, simples: simples ?? [] },
    regrasNacionais: regrasNacionais ?? 'recusa',
    aliquotaRegistrada: () => (aliquotaRegistrada === undefined ? undefined : decimal(aliquotaRegistrada)),
  };
}

const told = (outcome: object): string => ('faults' in outcome ? JSON.stringify(outcome.faults) : '');

const xmlOf = ({ dps, mais }: Caso): string => xmlWithMembers(dps, mais);

describe('the worked cases', () => {
  test('are many, and each has a name of its own', () => {
    assert.ok(CASOS.length >= CASOS_MIN, `${CASOS.length} cases`);
    assert.equal(new Set(CASOS.map(({ nome }) => nome)).size, CASOS.length);
  });
});

describe('the law gives the amounts', () => {
  for (const caso of CASOS) {
    test(`${caso.nome} (${caso.fonte})`, () => {
      const reading = readXml(Buffer.from(xmlOf(caso)));
      assert.ok('root' in reading);
      const read = readDps(reading.root);
      assert.ok(!('faults' in read), told(read));
      const judged = judge(read.dps, factsOf(caso.fatos));
      assert.ok(!('faults' in judged), told(judged));
      assertFields(judgedFields(judged), caso);
    });
  }
});

describe('so does the note that comes out of the front door', () => {
  let service: TestService;
  let provider: Party;
  let ancoras: string;
  const tenants = new Map<string, Promise<string>>();
  let number = 0;

  before(async () => {
    service = await startTestService({ worker: false });
    const parties = await testParties(NOON);
    provider = parties.provider;
    ancoras = mkdtempSync(path.join(tmpdir(), 'nfse-casos-'));
    onEnd(() => rmSync(ancoras, { recursive: true, force: true }));
    writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', parties.root.certificate));
  });

  /** A municipality with these facts: it refuses by the national rules, in the sandbox too. */
  async function open({
    ambiente = 'homologacao',
    aliquotaRegistrada,
    simples,
    regrasNacionais,
  }: Fatos): Promise<string> {
    const { store, pool, clock } = service;
    const tenant = `caso-${tenants.size}`;
    const isThere = await store.municipios.create(
      {
        tenant,
        ambiente,
        codigoIbge: '3550308',
        aliquotaPadrao: aliquotaRegistrada === undefined ? undefined : decimal(aliquotaRegistrada),
        confianca: { ancoras, revogados: undefined },
        regrasNacionais: regrasNacionais ?? 'recusa',
      },
      clock.now,
    );
    assert.ok(isThere, tenant);
    await addPrestador(pool, tenant, PROVIDER_CNPJ);
    const text = 'insert into simples_nacional (tenant, documento, inicio, fim) values ($1, $2, $3, $4)';
    for (const { inicio, fim } of simples ?? []) await pool.query(text, [tenant, PROVIDER_CNPJ, inicio, fim ?? null]);
    return tenant;
  }

  /** The service's clock stands still, so a later date needs a municipality that only remarks (D-62). */
  function tenantOf({ hoje, ...rest }: Fatos = {}): Promise<string> {
    const isLater = hoje !== undefined && hoje > '2026-11-21';
    const fatos: Fatos = isLater ? { ...rest, regrasNacionais: 'avisa' } : rest;
    const key = JSON.stringify(fatos);
    const tenant = tenants.get(key) ?? open(fatos);
    tenants.set(key, tenant);
    return tenant;
  }

  for (const caso of CASOS) {
    test(caso.nome, async () => {
      const tenant = await tenantOf(caso.fatos);
      const isSigned = caso.fatos?.ambiente === 'producao';
      // The signature of a JSON body has its own tests.
      for (const kind of isSigned ? ['xml'] : ['xml', 'json']) {
        number += 1;
        const xml = xmlOf({ ...caso, dps: { serie: '1', nDPS: String(number), ...caso.dps } });
        const body = kind === 'json' ? jsonOf(xml) : isSigned ? signedBy(xml, provider) : xml;
        const headers = { 'Content-Type': `application/${kind}` };
        const answer = await request(service.address, `/${tenant}/api/v1/nfse/v101`, { method: 'POST', headers, body });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
        assertFields(noteFields(answer.body.xml_nfse), caso);
      }
    });
  }

  test('production takes neither number nor key of what the ADN surely refuses (D-192, D-86)', async () => {
    // One municipality of a code is in production: that of the cases.
    const { fatos } = CASOS.find((caso) => caso.fatos?.ambiente === 'producao')!;
    const tenant = await tenantOf(fatos);
    const send = (patch: Patch) =>
      request(service.address, `/${tenant}/api/v1/nfse/v101`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml' },
        body: signedBy(exampleXml({ ...SEM_IBSCBS, tpAmb: '1', serie: '2', nDPS: '1', ...patch }), provider),
      });
    const half: Patch = {
      'prest/regTrib/opSimpNac': '3',
      'prest/regTrib/regApTribSN': '2',
      'valores/trib/tribMun/BM/pRedBCBM': '50.00',
      'valores/trib/tribMun/pAliq': '5.00',
    };
    const refused = await send(half);
    assert.deepEqual([refused.status, refused.body.codigo_erro], [422, 'E0541'], JSON.stringify(refused.body));
    const dear = await send({ 'valores/trib/tribMun/pAliq': '5.01' });
    assert.deepEqual([dear.status, dear.body.codigo_erro], [422, 'E0595'], JSON.stringify(dear.body));
    const [{ encontrado, esperado, mensagem }] = dear.body.erros;
    assert.deepEqual([encontrado, esperado], ['5.01', 'percentual até 5.00']);
    assert.match(mensagem, /a máxima da lei é 5%: o ADN recusa a nota/);
    const issued = await send({ ...half, 'valores/trib/tribMun/BM/nBM': '35503080400001' });
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
  });
});

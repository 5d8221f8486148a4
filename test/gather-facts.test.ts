/**
 * The facts that are gathered before a DPS is judged: the provider and the municipality, with the real store. Production and sandbox differ
 * most here. The law is also called where only a rule turns a fact into a refusal.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { localAdn } from '../src/adn/local.ts';
import type { Municipio } from '../src/base/book/municipios.ts';
import type { Db } from '../src/base/pg/open.ts';
import { type Gathered, gatherFacts } from '../src/base/world/gather-facts.ts';
import type { World } from '../src/base/world/world.ts';
import type { Ambiente } from '../src/fiscal/ambiente.ts';
import { municipioOf, municipios, zoneOf } from '../src/fiscal/catalogs/catalogs.ts';
import { decimal } from '../src/fiscal/decimal.ts';
import type { AliquotaRegistrada, Facts } from '../src/fiscal/facts.ts';
import type { Fault } from '../src/fiscal/fault.ts';
import { type Judgement, judge } from '../src/fiscal/judge.ts';
import type { Dps } from '../src/fiscal/layout/dps.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { createStore } from '../src/wiring/store.ts';
import { freshPool } from './support/database.ts';
import { dpsOf } from './support/law.ts';
import { asSandbox } from './support/municipio.ts';
import { noAvisos } from './support/no-avisos.ts';
import { NOON } from './support/service.ts';
import { nobodyTrusted } from './support/trust.ts';

const CNPJ = '11222333000181';
const CPF = '52998224725';
/** São Paulo, as in the example, and Rio de Janeiro. */
const SAO_PAULO = '3550308';
const RIO = '3304557';

type Place = { readonly world: World; readonly municipio: Municipio; readonly pool: Db };

let shared: Promise<Db> | undefined;
let opened = 0;
/** Tenants in production have different codes; these municipalities share the time of Brasília. */
const TOWNS = municipios().filter(({ uf, codigoIbge }) => uf === 'SP' && codigoIbge !== SAO_PAULO);

/** A new municipality; the database is that of the file. */
async function open(ambiente: Ambiente): Promise<Place> {
  shared ??= freshPool();
  const pool = await shared;
  opened += 1;
  const codigoIbge = ambiente === 'producao' ? TOWNS[opened]!.codigoIbge : undefined;
  const municipio: Municipio = { ...asSandbox(`alfa${opened}`), ambiente, codigoIbge };
  const silent = (): void => undefined;
  const world: World = {
    store: createStore(pool),
    transmission: async () => ({ adn: localAdn(), signer: undefined }),
    trust: () => nobodyTrusted,
    now: () => NOON,
    randomDigits: (count) => '7'.repeat(count),
    log: { info: silent, warn: silent, error: silent },
    postAviso: noAvisos,
    wake: silent,
  };
  assert.ok(await world.store.municipios.create(municipio, NOON));
  return { world, municipio, pool };
}

const sandbox = (): Promise<Place> => open('homologacao');
const production = (): Promise<Place> => open('producao');

type Establishment = { documento?: string; im?: string; nome?: string; autorizado?: boolean };

async function register({ pool, municipio }: Place, ...establishments: readonly Establishment[]): Promise<void> {
  for (const { documento = CNPJ, im = '', nome = 'Nome do Cadastro', autorizado = true } of establishments) {
    await pool.query(
      `insert into prestadores (tenant, documento, inscricao_municipal, razao_social, nome_fantasia, autorizado, logradouro,
        numero, complemento, bairro, cep, fone, email, origem, criado_em)
       values ($1, $2, $3, $4, 'Fantasia', $5, 'Rua', '1', 'Sala 2', 'Centro', '01001000', '1133334444', 'a@b.br', 'cadastro', now())`,
      [municipio.tenant, documento, im, nome, autorizado],
    );
  }
}

async function inSimples({ pool, municipio }: Place, documento: string, inicio: string, fim?: string): Promise<void> {
  const text = 'insert into simples_nacional (tenant, documento, inicio, fim) values ($1, $2, $3, $4)';
  await pool.query(text, [municipio.tenant, documento, inicio, fim ?? null]);
}

type Servico = { codigo: string; cTribNac: string; inicio?: string; fim?: string; aliquota?: string };

async function administer({ pool, municipio }: Place, ...servicos: readonly Servico[]): Promise<void> {
  for (const { codigo, cTribNac, inicio = '2020-01-01', fim, aliquota } of servicos) {
    await pool.query(
      `insert into servicos_municipais (tenant, codigo, inicio, fim, descricao, codigo_tributacao_nacional, aliquota)
       values ($1, $2, $3, $4, 'Serviço municipal', $5, $6)`,
      [municipio.tenant, codigo, inicio, fim ?? null, cTribNac, aliquota ?? null],
    );
  }
}

/** The DPS of the example, by default issued in the municipality. */
function dpsIn({ municipio: { codigoIbge } }: Place, patch: Patch): Dps {
  if (codigoIbge === undefined) return dpsOf(patch);
  return dpsOf({ tpAmb: '1', cLocEmi: codigoIbge, 'serv/locPrest/cLocPrestacao': codigoIbge, ...patch });
}

async function gathered(place: Place, patch: Patch = {}, instant = NOON): Promise<Gathered> {
  const answer = await gatherFacts(place.world, place.municipio, dpsIn(place, patch), instant);
  assert.deepEqual(answer.faults, []);
  return answer;
}

/** The only fault of the refusal. */
async function refused(place: Place, patch: Patch = {}): Promise<Fault> {
  const answer = await gatherFacts(place.world, place.municipio, dpsIn(place, patch), NOON);
  const [fault, ...more] = answer.faults;
  assert.ok(fault !== undefined, 'nothing is refused');
  assert.deepEqual(more, []);
  assert.match(fault.mensagem, /\S.*\.$/);
  return fault;
}

async function judged(place: Place, patch: Patch = {}): Promise<Judgement> {
  const { facts } = await gathered(place, patch);
  return judge(dpsIn(place, patch), facts);
}

async function codesOf(place: Place, patch: Patch = {}): Promise<string[]> {
  const judgement = await judged(place, patch);
  return 'faults' in judgement ? judgement.faults.map(({ codigo, xpath }) => `${codigo} ${xpath}`) : [];
}

describe('the sandbox creates a provider of its first DPS', () => {
  test('with its document and name, authorised, at a generic address, and does not store it yet', async () => {
    const place = await sandbox();
    const { novoPrestador, facts } = await gathered(place, { 'prest/IM': '123' });
    assert.deepEqual(novoPrestador, facts.prestador);
    const { documento, razaoSocial, inscricaoMunicipal, autorizado, endereco } = facts.prestador;
    assert.deepEqual(
      [documento, razaoSocial, inscricaoMunicipal, autorizado],
      [CNPJ, 'Empresa Exemplo Ltda', '123', true],
    );
    for (const text of [endereco.xLgr, endereco.nro, endereco.xBairro]) assert.match(text, /\S/);
    assert.match(endereco.CEP, /^\d{8}$/);
    assert.deepEqual(
      await place.world.store.prestadores.listOf(place.municipio.tenant, CNPJ),
      [],
      'it comes with its first note',
    );
  });

  test('called PRESTADOR and the document when xNome is absent', async () => {
    const place = await sandbox();
    const company = await gathered(place, { 'prest/xNome': null });
    assert.equal(company.novoPrestador?.razaoSocial, `PRESTADOR ${CNPJ}`);
    const person = await gathered(place, { 'prest/xNome': null, 'prest/CNPJ': null, 'prest/CPF': CPF });
    assert.equal(person.novoPrestador?.razaoSocial, `PRESTADOR ${CPF}`);
    assert.equal(person.novoPrestador?.documento, CPF);
  });

  test('E101 documento_invalido: the check digits do not agree', async () => {
    const place = await sandbox();
    for (const [patch, name] of [
      [{ 'prest/CNPJ': '11222333000180' }, 'CNPJ'],
      [{ 'prest/CNPJ': '00000000000000' }, 'CNPJ'],
      [{ 'prest/CNPJ': '12ABC34501DE36' }, 'CNPJ'],
      [{ 'prest/CNPJ': null, 'prest/CPF': '52998224720' }, 'CPF'],
      [{ 'prest/CNPJ': null, 'prest/CPF': '11111111111' }, 'CPF'],
    ] as const) {
      const { codigo, xpath, detalhes } = await refused(place, patch);
      assert.deepEqual([codigo, xpath, detalhes], ['E101', `/DPS/infDPS/prest/${name}`, 'documento_invalido']);
    }
    assert.ok((await gathered(place, { 'prest/CNPJ': '12ABC34501DE35' })).novoPrestador, 'letters are fine (D-16)');
  });

  test('E101 razao_social_obrigatoria: xNome is there and empty', async () => {
    const place = await sandbox();
    for (const xNome of ['', '   ']) {
      const { codigo, xpath, detalhes } = await refused(place, { 'prest/xNome': xNome });
      assert.deepEqual([codigo, xpath, detalhes], ['E101', '/DPS/infDPS/prest/xNome', 'razao_social_obrigatoria']);
    }
    const first = await refused(place, { 'prest/xNome': '', 'prest/CNPJ': '11222333000180' });
    assert.equal(first.detalhes, 'documento_invalido', 'the document is validated first');
  });

  test('E101 cidade_padrao_indisponivel: cLocEmi is no municipality', async () => {
    const { codigo, xpath, detalhes, encontrado } = await refused(await sandbox(), { cLocEmi: '3550309' });
    assert.deepEqual([codigo, xpath, detalhes], ['E101', '/DPS/infDPS/cLocEmi', 'cidade_padrao_indisponivel']);
    assert.equal(encontrado, '3550309');
  });

  test('and leaves one that is there as it is, whatever the DPS calls it', async () => {
    const place = await sandbox();
    await register(place, { im: '55', nome: 'Nome do Cadastro' });
    for (const xNome of ['Outro Nome', '', null]) {
      const { facts, novoPrestador } = await gathered(place, { 'prest/xNome': xNome });
      assert.equal(novoPrestador, undefined);
      assert.deepEqual(facts.prestador, {
        documento: CNPJ,
        razaoSocial: 'Nome do Cadastro',
        nomeFantasia: 'Fantasia',
        inscricaoMunicipal: '55',
        autorizado: true,
        endereco: { xLgr: 'Rua', nro: '1', xCpl: 'Sala 2', xBairro: 'Centro', CEP: '01001000' },
        fone: '1133334444',
        email: 'a@b.br',
        simples: [],
      });
    }
    assert.equal((await gathered(place, { cLocEmi: RIO })).novoPrestador, undefined);
  });

  test('of its own tenant: the registry of another is not asked', async () => {
    const place = await sandbox();
    const other = await sandbox();
    await register(other, { nome: 'De outro' });
    assert.equal((await gathered(place)).facts.prestador.razaoSocial, 'Empresa Exemplo Ltda');
  });
});

describe('the sandbox bypasses the authorisation', () => {
  test('E102 and E103 are not applied', async () => {
    const place = await sandbox();
    await register(place, { im: '55', autorizado: false });
    assert.equal((await gathered(place)).facts.prestador.inscricaoMunicipal, '55');
    assert.equal((await gathered(place, { 'prest/IM': '999' })).facts.prestador.inscricaoMunicipal, '55');
  });

  test('of several establishments an authorised one is preferred all the same (issuance 2), or the one that was named', async () => {
    const place = await sandbox();
    await register(place, { im: '1', autorizado: false }, { im: '2' }, { im: '3', autorizado: false });
    assert.equal((await gathered(place)).facts.prestador.inscricaoMunicipal, '2');
    assert.equal((await gathered(place, { 'prest/IM': '00.3' })).facts.prestador.inscricaoMunicipal, '3');
    assert.equal((await gathered(place, { 'prest/IM': '999' })).facts.prestador.inscricaoMunicipal, '2');
  });
});

describe('production asks its registry', () => {
  test('E101: the provider is not in it, and is not created', async () => {
    const place = await production();
    const { codigo, xpath } = await refused(place);
    assert.deepEqual([codigo, xpath], ['E101', '/DPS/infDPS/prest/CNPJ']);
    const person = await refused(place, { 'prest/CNPJ': null, 'prest/CPF': CPF });
    assert.deepEqual([person.codigo, person.xpath], ['E101', '/DPS/infDPS/prest/CPF']);
    await register(place, { documento: CPF });
    assert.equal((await refused(place)).codigo, 'E101', 'somebody else is');
    assert.equal((await gathered(place, { 'prest/CNPJ': null, 'prest/CPF': CPF })).facts.prestador.documento, CPF);
  });

  test('E102: it is there, and not authorised', async () => {
    const place = await production();
    await register(place, { im: '1', autorizado: false }, { im: '2', autorizado: false });
    const { codigo, xpath } = await refused(place);
    assert.deepEqual([codigo, xpath], ['E102', '/DPS/infDPS/prest']);
    assert.equal((await refused(place, { 'prest/IM': '1' })).codigo, 'E102');
  });

  test('E103: the municipal registration is not of this provider', async () => {
    const place = await production();
    await register(place, { im: '123' });
    const { codigo, xpath, encontrado } = await refused(place, { 'prest/IM': '124' });
    assert.deepEqual([codigo, xpath, encontrado], ['E103', '/DPS/infDPS/prest/IM', '124']);
    const none = await production();
    await register(none, {});
    assert.equal((await refused(none, { 'prest/IM': '123' })).codigo, 'E103');
  });

  test('a municipal registration is the same without punctuation and leading zeros', async () => {
    for (const [registered, sent] of [
      ['1234', '00.123-4'],
      ['0001234', '1234'],
      ['12.3/4', '1234'],
      ['A-123', 'A123'],
    ] as const) {
      const place = await production();
      await register(place, { im: registered });
      assert.equal((await gathered(place, { 'prest/IM': sent })).facts.prestador.inscricaoMunicipal, registered);
    }
    const place = await production();
    await register(place, { im: '1234' });
    for (const other of ['12340', '234', '1 235']) {
      assert.equal((await refused(place, { 'prest/IM': other })).codigo, 'E103', other);
    }
  });

  test('of several establishments the authorised one, or the one that was named', async () => {
    const place = await production();
    await register(place, { im: '1', autorizado: false }, { im: '2' }, { im: '3' });
    assert.equal((await gathered(place)).facts.prestador.inscricaoMunicipal, '2');
    assert.equal((await gathered(place, { 'prest/IM': '3' })).facts.prestador.inscricaoMunicipal, '3');
    assert.equal((await refused(place, { 'prest/IM': '1' })).codigo, 'E102');
  });

  test('one registration written twice is one establishment', async () => {
    const place = await production();
    await register(place, { im: '00.123-4' });
    await assert.rejects(register(place, { im: '1234' }), /duplicate key/);
    await register(place, { im: '1235' });
  });

  test('the periods of the Simples Nacional come with the provider, in order (D-23)', async () => {
    for (const place of [await production(), await sandbox()]) {
      await register(place, {}, { documento: CPF });
      assert.deepEqual((await gathered(place)).facts.prestador.simples, [], 'nobody said so');
      const other = await production();
      await inSimples(other, CNPJ, '2010-01-01');
      await inSimples(place, CPF, '2011-01-01');
      const fresh: Place = { ...place, world: { ...place.world, store: createStore(place.pool) } };
      await inSimples(place, CNPJ, '2027-01-01');
      await inSimples(place, CNPJ, '2018-07-01', '2020-12-31');
      assert.deepEqual((await gathered(fresh)).facts.prestador.simples, [
        { inicio: '2018-07-01', fim: '2020-12-31' },
        { inicio: '2027-01-01', fim: undefined },
      ]);
    }
  });

  test('the name is that of the registry', async () => {
    const place = await production();
    await register(place, {});
    const { facts, novoPrestador } = await gathered(place, { 'prest/xNome': 'Nome da DPS' });
    assert.deepEqual([facts.prestador.razaoSocial, novoPrestador], ['Nome do Cadastro', undefined]);
  });
});

describe('a provider without CNPJ and CPF', () => {
  test('is left to the rule that refuses it', async () => {
    for (const place of [await sandbox(), await production()]) {
      const patch: Patch = { 'prest/CNPJ': null, 'prest/NIF': 'PT1' };
      assert.ok((await codesOf(place, patch)).includes('E002 /DPS/infDPS/prest'));
      assert.equal((await gathered(place, patch)).novoPrestador, undefined);
    }
  });
});

describe('the municipality that issues (D-62)', () => {
  test('in production is the tenant itself: E403 names both otherwise', async () => {
    const place = await production();
    await register(place, {});
    assert.deepEqual(await codesOf(place), []);
    const judgement = await judged(place, { cLocEmi: RIO });
    assert.ok('faults' in judgement);
    assert.deepEqual(
      judgement.faults.map(({ codigo, xpath }) => [codigo, xpath]),
      [['E403', '/DPS/infDPS/cLocEmi']],
    );
    const own = municipioOf(place.municipio.codigoIbge!)!;
    for (const named of [RIO, own.codigoIbge, 'Rio de Janeiro', own.nome]) {
      assert.ok(judgement.faults[0]!.mensagem.includes(named), judgement.faults[0]!.mensagem);
    }
  });

  test('in the sandbox is any of the catalogue', async () => {
    const place = await sandbox();
    for (const cLocEmi of [SAO_PAULO, RIO, '2611606']) assert.deepEqual(await codesOf(place, { cLocEmi }), []);
  });
});

describe('national rules (D-86)', () => {
  /** E0315: the standard reserves 000. */
  const RESERVED = { 'serv/cServ/cTribMun': '000' };
  const nationalOf = (place: Place): Promise<string[]> => codesOf(place, RESERVED);

  test('refuse in production and remark in the sandbox, unless the municipality says otherwise', async () => {
    const of = (place: Place, regrasNacionais: Municipio['regrasNacionais']): Place => ({
      ...place,
      municipio: { ...place.municipio, regrasNacionais },
    });
    const [integration, own] = [await sandbox(), await production()];
    await register(own, {});
    const refusal = ['E0315 /DPS/infDPS/serv/cServ/cTribMun'];
    assert.deepEqual(await nationalOf(own), refusal);
    assert.deepEqual(await nationalOf(of(own, 'recusa')), refusal);
    assert.deepEqual(await nationalOf(of(own, 'avisa')), []);
    assert.deepEqual(await nationalOf(integration), []);
    assert.deepEqual(await nationalOf(of(integration, 'avisa')), []);
    assert.deepEqual(await nationalOf(of(integration, 'recusa')), refusal);
  });

  test('that only remark say who may refuse the note all the same', async () => {
    const remarkIn = async (place: Place): Promise<string | undefined> => {
      const judgement = await judged(
        { ...place, municipio: { ...place.municipio, regrasNacionais: 'avisa' } },
        RESERVED,
      );
      assert.ok('avisos' in judgement);
      return judgement.avisos.find(({ codigo }) => codigo === 'E0315')?.mensagem;
    };
    const own = await production();
    await register(own, {});
    assert.match((await remarkIn(await sandbox()))!, /em produção esta DPS é recusada\.$/);
    assert.match((await remarkIn(own))!, /o ambiente nacional pode recusar a nota\.$/);
  });
});

describe('today', () => {
  /** 23:30 of the last day of the year in Brasília, 00:30 in Noronha. */
  const turn = Date.parse('2026-12-31T23:30:00-03:00');

  test('is the day of the municipality', async () => {
    const place = await sandbox();
    const hojeIn = async (cLocEmi: string): Promise<string> => (await gathered(place, { cLocEmi }, turn)).facts.hoje;
    assert.equal(await hojeIn(SAO_PAULO), '2026-12-31');
    assert.equal(await hojeIn('2605459'), '2027-01-01');
    assert.equal(await hojeIn('1200401'), '2026-12-31');
    const own = await production();
    await register(own, {});
    assert.equal((await gathered(own, { cLocEmi: '2605459' }, turn)).facts.hoje, '2026-12-31', "the tenant's own");
  });

  test('a code that is in no catalogue has the hour of Brasília', () => {
    for (const unknown of [undefined, '', '9999999']) assert.equal(zoneOf(unknown), 'America/Sao_Paulo');
    assert.equal(zoneOf('2605459'), 'America/Noronha');
  });
});

describe('the service list of the municipality', () => {
  const LIST: readonly Servico[] = [
    { codigo: '001', cTribNac: '010101', aliquota: '3.00' },
    { codigo: '002', cTribNac: '170101', inicio: '2026-01-01', fim: '2026-09-30', aliquota: '4.00' },
    { codigo: '002', cTribNac: '170101', inicio: '2026-10-01', aliquota: '2.50' },
    { codigo: '003', cTribNac: '010201', inicio: '2026-11-01' },
  ];
  const places = async (...servicos: readonly Servico[]): Promise<Place[]> => {
    const both = [await sandbox(), await production()];
    for (const place of both) {
      await register(place, {});
      await administer(place, ...servicos);
    }
    return both;
  };

  test('E0310: a national code that it does not administer at the competence', async () => {
    for (const place of await places(...LIST)) {
      assert.deepEqual(await codesOf(place), []);
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribNac': '170101' }), []);
      const at = 'E0310 /DPS/infDPS/serv/cServ/cTribNac';
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribNac': '140101' }), [at]);
      // The code does not exist yet in October.
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribNac': '010201' }), [at]);
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribNac': '010201', dCompet: '2026-11-01' }), []);
    }
  });

  test('E402: a municipal code that is not in it', async () => {
    for (const place of await places(...LIST)) {
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribMun': '001' }), []);
      const at = 'E402 /DPS/infDPS/serv/cServ/cTribMun';
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribMun': '999' }), [at]);
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribMun': '003' }), [at], 'not yet in force');
      const ofAnother = { 'serv/cServ/cTribNac': '170101', 'serv/cServ/cTribMun': '001' };
      assert.deepEqual(await codesOf(place, ofAnother), [at], 'in the list it is of 010101');
    }
  });

  test('without one every national code is administered (D-61) and no municipal code is known to be wrong', async () => {
    for (const place of await places()) {
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribNac': '140101' }), []);
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribMun': '999' }), []);
    }
  });

  const aliquotaOf = async (place: Place, patch: Patch): Promise<bigint | undefined> => {
    const judgement = await judged(place, patch);
    assert.ok(
      'amounts' in judgement,
      JSON.stringify(judgement, (_, value) => String(value)),
    );
    return judgement.amounts.pAliqAplic;
  };
  const pAliq = 'valores/trib/tribMun/pAliq';

  test('the registered rate applies, at the competence, before the one of the DPS', async () => {
    for (const place of await places(...LIST)) {
      assert.equal(await aliquotaOf(place, {}), decimal('3.00'), 'the DPS says 2.00');
      assert.equal(await aliquotaOf(place, { [pAliq]: null }), decimal('3.00'));
      const service: Patch = { 'serv/cServ/cTribNac': '170101' };
      assert.equal(await aliquotaOf(place, service), decimal('2.50'));
      const { facts } = await gathered(place, service);
      const at = (data: string): AliquotaRegistrada => facts.aliquotaRegistrada('170101', undefined, data);
      assert.deepEqual(['2025-12-31', '2026-01-01', '2026-09-30', '2026-10-01', '2099-01-01'].map(at), [
        undefined,
        decimal('4.00'),
        decimal('4.00'),
        decimal('2.50'),
        decimal('2.50'),
      ]);
    }
  });

  test('the rate of the municipal code that was sent', async () => {
    const same: readonly Servico[] = [
      { codigo: '001', cTribNac: '010101', aliquota: '3.00' },
      { codigo: '009', cTribNac: '010101', aliquota: '4.50' },
    ];
    for (const place of await places(...same)) {
      assert.equal(await aliquotaOf(place, { 'serv/cServ/cTribMun': '009' }), decimal('4.50'));
      assert.equal(await aliquotaOf(place, { 'serv/cServ/cTribMun': '001' }), decimal('3.00'));
    }
  });

  test('without a municipal code no rate is taken for all of those that differ (D-188)', async () => {
    const differing: readonly Servico[] = [
      { codigo: '001', cTribNac: '010101', aliquota: '3.00' },
      { codigo: '009', cTribNac: '010101', aliquota: '4.50' },
      // These codes belong to another national code, or to another period: they must not apply here.
      { codigo: '010', cTribNac: '170101', aliquota: '2.50' },
      { codigo: '011', cTribNac: '010101', aliquota: '2.75', fim: '2026-09-30' },
    ];
    const [integration, own] = (await places(...differing)) as [Place, Place];
    for (const place of [integration, own]) {
      for (const rate of ['3.00', '4.50', '2.75'])
        assert.equal(await aliquotaOf(place, { [pAliq]: rate }), decimal(rate));
      const { facts } = await gathered(place);
      const among = facts.aliquotaRegistrada('010101', undefined, '2026-10-05');
      assert.ok(typeof among === 'object');
      assert.deepEqual(
        among.map(({ codigo, aliquota }) => [codigo, aliquota]),
        [
          ['001', decimal('3.00')],
          ['009', decimal('4.50')],
        ],
      );
      assert.equal(await aliquotaOf(place, { 'serv/cServ/cTribNac': '170101' }), decimal('2.50'));
    }
    assert.deepEqual(await codesOf(own, { [pAliq]: null }), [`E0619 /DPS/infDPS/${pAliq}`]);
    assert.equal(await aliquotaOf(integration, { [pAliq]: null }), decimal('5.00'), 'the one of the sandbox');
    for (const place of await places(
      { codigo: '001', cTribNac: '010101', aliquota: '3.00' },
      { codigo: '009', cTribNac: '010101', aliquota: '3.00' },
    )) {
      assert.equal(await aliquotaOf(place, { [pAliq]: null }), decimal('3.00'), 'all agree');
    }
  });

  test('is that of its own municipality in a rehearsal, as in production', async () => {
    const [integration] = (await places({ codigo: '001', cTribNac: '171001', aliquota: '4.00' })) as [Place, Place];
    // A fair in Rio: the tax is due there, at the rate of the DPS.
    const fair: Patch = { 'serv/cServ/cTribNac': '171001', 'serv/locPrest/cLocPrestacao': RIO };
    const rehearsal: Place = { ...integration, municipio: { ...integration.municipio, codigoIbge: SAO_PAULO } };
    assert.equal(await aliquotaOf(rehearsal, fair), decimal('2.00'));
    const here: Patch = { ...fair, 'serv/locPrest/cLocPrestacao': SAO_PAULO };
    assert.equal(await aliquotaOf(rehearsal, here), decimal('4.00'));
    assert.equal(await aliquotaOf(integration, fair), decimal('4.00'), 'the shared sandbox is every municipality’s');
  });

  test('without a registered rate the one of the DPS, and in the sandbox 5.00 without any (D-61)', async () => {
    const [integration, own] = (await places()) as [Place, Place];
    for (const place of [integration, own]) assert.equal(await aliquotaOf(place, {}), decimal('2.00'));
    assert.equal(await aliquotaOf(integration, { [pAliq]: null }), decimal('5.00'));
    assert.deepEqual(await codesOf(own, { [pAliq]: null }), [`E0619 /DPS/infDPS/${pAliq}`]);
    const withoutRate = await sandbox();
    await administer(withoutRate, { codigo: '001', cTribNac: '010101' });
    assert.equal(await aliquotaOf(withoutRate, {}), decimal('2.00'));
  });

  test('without one the standard rate of the municipality applies; with one it is the list that speaks', async () => {
    for (const place of await places()) {
      const own: Place = { ...place, municipio: { ...place.municipio, aliquotaPadrao: decimal('3.50') } };
      assert.equal(await aliquotaOf(own, {}), decimal('3.50'), 'the DPS says 2.00');
      assert.equal(await aliquotaOf(own, { [pAliq]: null, 'serv/cServ/cTribMun': '777' }), decimal('3.50'));
      assert.equal(
        await aliquotaOf({ ...own, municipio: { ...own.municipio, aliquotaPadrao: decimal('0.00') } }, {}),
        decimal('0.00'),
      );
    }
    for (const place of await places({ codigo: '001', cTribNac: '010101' })) {
      const own: Place = { ...place, municipio: { ...place.municipio, aliquotaPadrao: decimal('3.50') } };
      assert.equal(await aliquotaOf(own, {}), decimal('2.00'), 'the line has no rate');
    }
  });

  test('that has ended administers nothing', async () => {
    for (const place of await places({ codigo: '001', cTribNac: '010101', fim: '2026-09-30' })) {
      assert.deepEqual(await codesOf(place), ['E0310 /DPS/infDPS/serv/cServ/cTribNac']);
      assert.deepEqual(await codesOf(place, { dCompet: '2026-09-30' }), []);
      assert.deepEqual(await codesOf(place, { 'serv/cServ/cTribMun': '001' }), [
        'E0310 /DPS/infDPS/serv/cServ/cTribNac',
        'E402 /DPS/infDPS/serv/cServ/cTribMun',
      ]);
    }
  });

  test('is shown to the rules as it stands', async () => {
    const [place] = (await places(...LIST)) as [Place, Place];
    const { facts }: { facts: Facts } = await gathered(place);
    const municipal = facts.servicoMunicipal('001', '2026-10-05');
    assert.ok(typeof municipal === 'object');
    assert.deepEqual(
      [municipal.codigo, municipal.descricao, municipal.cTribNac, municipal.aliquota],
      ['001', 'Serviço municipal', '010101', decimal('3.00')],
    );
    assert.equal(facts.servicoMunicipal('999', '2026-10-05'), undefined);
  });
});

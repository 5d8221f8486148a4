/** `nfse validar`: the dry run at a terminal, offline and through the service, as text and as JSON. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { nfse, type Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { decimal } from '../../fiscal/decimal.ts';
import { exampleJson, exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';

const folder = freshFolder();
const PATH = '/api/v1/nfse/v101/validacao';

function file(name: string, text: string): string {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
}

const xml = (patch: Patch = {}): string => file('dps.xml', exampleXml(patch));
const json = (patch: Patch = {}): string => file('dps.json', exampleJson(patch)!);

const validar = (...args: readonly string[]): Promise<Said> => nfseHere(['validar', ...args]);

async function accepted(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await validar(...args);
  assert.deepEqual([code, err], [0, ''], out + err);
  return out;
}

/** The values beside a name, for each of its occurrences in the text. */
function valuesOf(out: string, name: string): string[] {
  return [...out.matchAll(/^ {2}(\S+(?: \(\S+\))?) +(.*)$/gm)].flatMap(([, left, right]) =>
    left === name ? [right!] : [],
  );
}

describe('faults of structure and of rules', () => {
  const codesIn = (out: string): string[] => [...out.matchAll(/^ +\d+:\d+ +(E\d+) /gm)].map(([, code]) => code!);

  const said = async (name: string): Promise<string> => {
    const { out, err } = await validar(name);
    return out + err;
  };

  for (const [form, write] of [
    ['XML', xml],
    ['JSON', json],
  ] as const) {
    test(`are told together, by the corrected text where there is one: ${form}`, async () => {
      const surplus = { '+dhEmi': '2026-10-05T10:00:00-03:00', IBSCBS: null };
      assert.deepEqual(codesIn(await said(write(surplus))), ['E0010', 'E802']);
      // 07.02 requires the building site; no rule about it mentions the NBS.
      const masked = { 'serv/cServ/cTribNac': '070201', 'serv/cServ/cNBS': '1.0101.12.00' };
      assert.deepEqual(codesIn(await said(write(masked))), ['E0003', 'E0370']);
      // 1.2345.67.89 becomes nine digits, which are no existing code.
      const out = await said(write({ 'serv/cServ/cNBS': '1.2345.67.89' }));
      assert.deepEqual(codesIn(out), ['E0003', 'E0316']);
      assert.match(out, /E0316 {2}Com a correção acima, /);
    });
  }
});

describe('a DPS that would be issued', () => {
  // 1000.00 × 2 % = 20.00 of ISSQN; (1000.00 − 20.00) × 0.10 % = 0.98 of IBS, × 0.90 % = 8.82 of CBS
  test('is shown with its amounts and every step, whether XML or JSON', async () => {
    for (const name of [xml(), json()]) {
      const out = await accepted(name);
      assert.match(out, /^A DPS seria aceita no ambiente de integração\. Nada foi emitido\.$/m);
      for (const [campo, value] of [
        ['municipio_incidencia', '3550308 São Paulo/SP'],
        ['valor_base_calculo', '1000.00'],
        ['valor_issqn', '20.00'],
        ['valor_liquido', '1000.00'],
        ['valores_base_calculo', '980.00'],
        ['total_ibs', '0.98'],
        ['total_cbs', '8.82'],
      ] as const) {
        assert.deepEqual(
          valuesOf(out, campo).map((one) => one.trim()),
          [value],
          campo,
        );
      }
    }
    const ofXml = await accepted(xml());
    assert.deepEqual(valuesOf(ofXml, 'valores/vISSQN'), ['20.00  vBC 1000.00 × pAliqAplic 2.00 %']);
    assert.deepEqual(valuesOf(ofXml, 'IBSCBS/totCIBS/gCBS/vCBS'), ['8.82  vBC 980.00 × pAliqEfetCBS 0.90 %']);
    const inWords = '20.00  valor_base_calculo 1000.00 × aliquota_issqn 2.00 %';
    assert.deepEqual(valuesOf(await accepted(json()), 'valores/vISSQN (valor_issqn)'), [inWords]);
  });

  test('shows every amount in one column, and what the note does not carry', async () => {
    const immune = { 'valores/trib/tribMun/tribISSQN': '4', 'valores/trib/tribMun/pAliq': null };
    const out = await accepted(xml(immune));
    assert.deepEqual(valuesOf(out, 'municipio_incidencia'), ['nenhum']);
    assert.deepEqual(valuesOf(out, 'valor_issqn'), ['não consta da nota']);
    assert.match(valuesOf(out, 'valores/vISSQN')[0]!, /^– {2}não consta da nota: operação sem incidência/);
    const steps = out.slice(out.indexOf('Cálculo')).split('\n');
    const ends = steps.flatMap((line) => /^ {2}\S+ +[\d.–]+(?= {2})/.exec(line)?.[0].length ?? []);
    assert.ok(ends.length > 10 && new Set(ends).size === 1, out);
  });

  test('says what only production would refuse', async () => {
    const out = await accepted(xml({ dCompet: '2099-01-01' }));
    assert.match(out, /^Avisos?:\n[\s\S]*E0015 {2}.*em produção esta DPS é recusada\.$/m);
  });
});

describe('a DPS that would be refused', () => {
  const wrong: Patch = { 'serv/cServ/cTribNac': '010199', 'valores/vServPrest/vServ': '0.00' };

  test('is shown with all its faults, each with line and column; of JSON with the field', async () => {
    const ofXml = await validar(xml(wrong));
    assert.deepEqual([ofXml.code, ofXml.out], [1, '']);
    assert.match(ofXml.err, /^Há 2 erros:$/m);
    const lines = exampleXml(wrong).split('\n');
    for (const [codigo, tag] of [
      ['E002', '<cTribNac>'],
      ['E401', '<vServ>'],
    ] as const) {
      const line = lines.findIndex((text) => text.includes(tag)) + 1;
      const column = lines[line - 1]!.indexOf(tag) + 1;
      assert.match(ofXml.err, new RegExp(`^ {2}${line}:${column} {2}${codigo} {2}`, 'm'), ofXml.err);
    }
    assert.match(ofXml.err, /nfse explicar E002 diz mais\.$/m);
    const ofJson = await validar(json(wrong));
    assert.equal(ofJson.code, 1);
    assert.match(ofJson.err, /E401 .*\n.*\n {6}campo: valor_servico$/m);
    assert.match(ofJson.err, /^ {2}\d+:\d+ {2}E401/m);
  });

  test('whatever the file is, with an answer', async () => {
    assert.match((await validar(file('quebrado.xml', '<DPS>'))).err, /^Há 1 erro:\n.*E201/m);
    assert.match((await validar(file('quebrado.json', '{"a":'))).err, /^Há 1 erro:\n.*E003/m);
    const large = await validar(file('grande.xml', `${exampleXml()}${' '.repeat(1024 * 1024)}`));
    assert.match(large.err, /^Há 1 erro:\n.*E003.*passa do limite de 1 MiB/m);
    assert.match((await validar(path.join(folder, 'nada.xml'))).err, /o arquivo \S+nada\.xml não existe/);
  });
});

describe('--json', () => {
  test('is one object, of what is accepted and of what is refused', async () => {
    const { status, valores, ibscbs, calculo, avisos } = JSON.parse(await accepted(xml(), '--json'));
    assert.equal(status, 'OK');
    assert.equal(valores.valor_issqn, '20.00');
    assert.equal(ibscbs.total_cbs, '8.82');
    assert.deepEqual(
      calculo.find(({ campo }: { campo: string }) => campo === 'valores/vISSQN'),
      { campo: 'valores/vISSQN', formula: 'vBC 1000.00 × pAliqAplic 2.00 %', valor: '20.00' },
    );
    assert.deepEqual(avisos, []);
    const { code, out, err } = await validar(xml({ 'toma/CPF': null }), '--json');
    assert.deepEqual([code, err], [1, '']);
    assert.deepEqual(
      JSON.parse(out).erros.map(({ codigo }: { codigo: string }) => codigo),
      ['E0188'],
    );
  });
});

describe('--municipio, --url', async () => {
  const service = await startTestService({ worker: false });
  await service.store.municipios.create(
    { tenant: 'ensaio', ambiente: 'homologacao', codigoIbge: '3550308', aliquotaPadrao: decimal('3.50') },
    service.clock.now,
  );
  await service.store.municipios.create(
    { tenant: 'cidade', ambiente: 'producao', codigoIbge: '3304557' },
    service.clock.now,
  );
  const asking = (tenant: string): string[] => ['--url', service.address, '--municipio', tenant];

  test('asks the service, which knows the rates of the municipality; nothing is issued', async () => {
    // 1000.00 × 3.50 % = 35.00
    const out = await accepted(xml(), ...asking('ensaio'));
    assert.match(out, /^A DPS seria aceita em ensaio\. Nada foi emitido\.$/m);
    assert.deepEqual(
      valuesOf(out, 'valor_issqn').map((one) => one.trim()),
      ['35.00'],
    );
    assert.match(valuesOf(out, 'valores/pAliqAplic')[0]!, /alíquota padrão do município.*sobre pAliq 2\.00 da DPS/);
    const { rows } = await service.pool.query('select count(*)::int as notas from notas');
    assert.equal(rows[0].notas, 0);
    const sandbox = await accepted(json(), '--url', service.address);
    assert.match(sandbox, /seria aceita em integracao/);
  });

  test('prints as JSON what the service answers', async () => {
    const own = JSON.parse(await accepted(xml(), '--json', ...asking('ensaio')));
    const answer = await request(service.address, `/ensaio${PATH}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: exampleXml({}),
    });
    assert.deepEqual(own, answer.body);
  });

  test('says what that municipality refuses, the signature among the rest, and what it did not look at', async () => {
    const ofXml = await validar(xml({ tpAmb: '1' }), ...asking('cidade'));
    assert.equal(ofXml.code, 1);
    for (const codigo of ['E901', 'E403']) assert.match(ofXml.err, new RegExp(`${codigo} {2}`), ofXml.err);
    // The registration of the provider is not told to a sender without its signature.
    assert.doesNotMatch(ofXml.err, /E101 {2}/);
    assert.match(
      ofXml.err,
      /\n\nSem a assinatura válida do prestador não se olhou o cadastro.*\n[\s\S]*\n\nnfse explicar E901/,
    );
    const ofJson = await validar(json({ tpAmb: '1' }), ...asking('cidade'));
    assert.match(ofJson.err, /E9002 {2}/);
    const signature = file('assinatura.txt', 'AAAA');
    assert.match((await validar(json(), '--cms', signature, ...asking('cidade'))).err, /E9003 {2}/);
  });

  test('shows in production, where only the signature is missing, the amounts of what the document says', async () => {
    const rio = { tpAmb: '1', cLocEmi: '3304557', 'serv/locPrest/cLocPrestacao': '3304557' };
    for (const [sent, codigo] of [
      [xml(rio), 'E901'],
      [json(rio), 'E9002'],
    ] as const) {
      const { code, out, err } = await validar(sent, ...asking('cidade'));
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, new RegExp(`^Há 1 erro:\\n.*${codigo} {2}`), err);
      assert.match(
        err,
        /^O que a DPS diz daria estes valores:\n\n {2}municipio_incidencia +3304557 Rio de Janeiro\/RJ$/m,
      );
      // 1000.00 × 2.00 %
      assert.deepEqual(
        valuesOf(err, 'valor_issqn').map((one) => one.trim()),
        ['20.00'],
      );
      assert.match(err, /^Cálculo, passo a passo:$/m);
      assert.match(
        err,
        /\nOs valores são os do que a DPS diz.*\nCom a assinatura válida do prestador.*\n\nnfse explicar E90/,
      );
    }
    assert.equal(JSON.parse((await validar(xml(rio), '--json', ...asking('cidade'))).out).valores.valor_issqn, '20.00');
  });

  test('tells a municipality that is not there, and a service that is not', async () => {
    const unknown = await validar(xml(), ...asking('nenhum'));
    assert.deepEqual([unknown.code, unknown.out], [1, '']);
    assert.match(unknown.err, /E601 .*nenhum/);
    const nobody = await validar(xml(), '--url', 'http://127.0.0.1:1');
    assert.equal(nobody.code, 1);
    assert.match(nobody.err, /não houve resposta de http:\/\/127\.0\.0\.1:1\/integracao/);
  });

  test('is asked rightly', async () => {
    for (const [args, message] of [
      [[xml(), '--url', 'servico'], /--url servico não é um endereço/],
      [[xml(), '--cms', xml()], /--cms é para um corpo JSON/],
      [[], /validar pede ARQUIVO/],
    ] as const) {
      const { code, err } = await validar(...args);
      assert.equal(code, 2);
      assert.match(err, message);
    }
  });
});

test('in a process of its own it needs neither service nor data', async () => {
  const { code, out, err } = await nfse(['validar', xml()], { NFSE_DATA_DIR: path.join(folder, 'never') });
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /seria aceita/);
});

/** The JSON body through the public interface (D-24): the same path as XML, with the signature in a header. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { emit, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const PATH = '/integracao/api/v1/nfse/v101';

/** Written by hand with the specification's names, not by our own writer. */
const BODY = {
  serie_dps: '9',
  numero_dps: '1',
  data_competencia: '2026-10-05',
  municipio_emissor: '3550308',
  prestador_cpf_cnpj: '11222333000181',
  prestador_razao_social: 'Empresa Exemplo Ltda',
  prestador_opcao_simples_nacional: '1',
  tomador_cpf_cnpj: '52998224725',
  tomador_razao_social: 'Maria Exemplo',
  tomador_endereco: {
    codigo_municipio: '3550308',
    cep: '01001000',
    logradouro: 'Praça da Sé',
    numero: '1',
    bairro: 'Sé',
  },
  municipio_prestacao: '3550308',
  codigo_tributacao_nacional: '010101',
  codigo_nbs: '115021000',
  descricao_servico: 'Desenvolvimento de sistema de gestão',
  valor_servico: 1000.1,
  tributacao_issqn: '1',
  aliquota_issqn: '2.00',
  ibscbs: { CST: '000', cClassTrib: '000001' },
};

const sendJson = (address: string, body: unknown, path = PATH): ReturnType<typeof request> =>
  request(address, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

test('a JSON body becomes a note, exact to the cent, and its DPS can be read back', async () => {
  const { address } = await startTestService();
  const { status, body } = await sendJson(address, BODY);
  assert.equal(status, 201, JSON.stringify(body));
  assert.match(body.xml_nfse, /<vServ>1000\.10<\/vServ>/);
  assert.match(body.xml_nfse, /<prest><CNPJ>11222333000181<\/CNPJ>/);
  // 1000.10 × 2 % = 20.002 → 20.00
  assert.match(body.xml_nfse, /<vISSQN>20\.00<\/vISSQN>/);
  const { nota } = (await request(address, `/integracao/api/v1/nfse/${body.chave_acesso}`)).body;
  assert.equal(nota.serie_dps, '9');
  assert.equal(nota.valor_servico, '1000.10');
});

test('before authorisation xml_nota is the DPS that the body became', async () => {
  const { address } = await startTestService({ worker: false });
  const { body } = await sendJson(address, BODY);
  const { nota } = (await request(address, `/integracao/api/v1/nfse/${body.chave_acesso}`)).body;
  assert.match(
    nota.xml_nota,
    /^<\?xml version="1.0" encoding="UTF-8"\?><DPS xmlns="http:\/\/www\.sped\.fazenda\.gov\.br\/nfse" versao="1\.01"><infDPS/,
  );
  assert.match(nota.xml_nota, /<\/infDPS><\/DPS>$/);
});

test('the same body again is told apart from another one with its number', async () => {
  const { address } = await startTestService({ worker: false });
  const first = await sendJson(address, BODY);
  const same = await sendJson(address, BODY);
  assert.equal(same.status, 422);
  assert.equal(same.body.codigo_erro, 'E0014');
  assert.equal(same.body.erros[0].chave_acesso, first.body.chave_acesso);
  assert.equal(same.body.erros[0].mesmo_conteudo, true);
  assert.equal(same.body.erros[0].campo, 'numero_dps');
  const other = await sendJson(address, { ...BODY, valor_servico: '1.00' });
  assert.equal(other.body.erros[0].mesmo_conteudo, false);
  const asXml = await emit(address, exampleXml({ serie: '9', nDPS: '1' }));
  assert.equal(asXml.body.erros[0].mesmo_conteudo, false);
});

test('faults carry property, xpath, line and column; a strange property is told its neighbour', async () => {
  const { address } = await startTestService({ worker: false });
  const text = JSON.stringify(
    { ...BODY, aliquota_issqn: 'abc', valor_do_servico: 1, tomador_cpf_cnpj: '123' },
    null,
    2,
  );
  const { status, body } = await sendJson(address, text);
  assert.equal(status, 422);
  const said = new Map(body.erros.map((erro: { codigo: string; campo: string }) => [erro.campo, erro]));
  const strange = said.get('valor_do_servico') as { codigo: string; esperado: string; linha: number };
  assert.equal(strange.codigo, 'E0010');
  assert.match(JSON.stringify(strange), /valor_servico/);
  const taker = said.get('tomador_cpf_cnpj') as { xpath: string; linha: number; coluna: number };
  const lines = text.split('\n');
  assert.match(lines[taker.linha - 1]!, /"tomador_cpf_cnpj"/);
  assert.match(taker.xpath, /^\/DPS\/infDPS\/toma/);
  const value = said.get('aliquota_issqn') as { xpath: string };
  assert.equal(value.xpath, '/DPS/infDPS/valores/trib/tribMun/pAliq');
});

test('what is no JSON is E003 with status 400 and the place', async () => {
  const { address } = await startTestService({ worker: false });
  const { status, body } = await sendJson(address, '{"serie_dps": "1",}');
  assert.equal(status, 400);
  assert.equal(body.codigo_erro, 'E003');
  assert.equal(body.erros[0].linha, 1);
});

test('declared values are compared: both values, the code of the field, and details for a program', async () => {
  const { address } = await startTestService({ worker: false });
  // IBS-UF 0.10 % of (1000.10 − 20.00) = 0.9801 → 0.98; CBS 0.90 % = 8.8209 → 8.82.
  const right = { valores_base_calculo: '980.10', total_ibs_uf: '0.98', total_cbs: '8.82', valores_aliquota_cbs: 0.9 };
  const accepted = await sendJson(address, { ...BODY, ibscbs: { ...BODY.ibscbs, ...right } });
  assert.equal(accepted.status, 201, JSON.stringify(accepted.body));
  const wrong = { total_ibs_uf: '1.01', valores_aliquota_ibs_uf: '0.12' };
  const { status, body } = await sendJson(address, { ...BODY, numero_dps: '2', ibscbs: { ...BODY.ibscbs, ...wrong } });
  assert.equal(status, 422);
  assert.deepEqual(body.erros.map((erro: { codigo: string }) => erro.codigo).toSorted(), ['E1539', 'E1568']);
  const total = body.erros.find((erro: { codigo: string }) => erro.codigo === 'E1568');
  assert.equal(total.campo, 'ibscbs.total_ibs_uf');
  assert.equal(total.encontrado, '1.01');
  assert.equal(total.esperado, '0.98');
  assert.match(total.mensagem, /1[.,]01/);
  assert.match(total.mensagem, /0[.,]98/);
});

test('the dry run answers amounts with every step, stores nothing and uses no number', async () => {
  const { address } = await startTestService({ worker: false });
  const dry = await sendJson(address, BODY, `${PATH}/validacao`);
  assert.equal(dry.status, 200, JSON.stringify(dry.body));
  assert.equal(dry.body.valores.valor_base_calculo, '1000.10');
  assert.equal(dry.body.valores.valor_issqn, '20.00');
  assert.equal(dry.body.valores.valor_liquido, '1000.10');
  assert.equal(dry.body.ibscbs.total_cbs, '8.82');
  assert.equal(dry.body.municipio_incidencia.codigo, '3550308');
  const step = dry.body.calculo.find(({ campo }: { campo: string }) => campo === 'valores/vISSQN');
  assert.equal(step.valor, '20.00');
  assert.equal(step.campo_json, 'valor_issqn');
  assert.equal(step.formula, 'valor_base_calculo 1000.10 × aliquota_issqn 2.00 %');
  const { valores, ibscbs, calculo } = dry.body;
  const answered = Object.entries<string>(ibscbs).map(([name, value]) => [`ibscbs.${name}`, value]);
  const shown = new Map<string, string>([...Object.entries<string>(valores), ...(answered as [string, string][])]);
  for (const { campo, campo_json, valor } of calculo) assert.equal(shown.get(campo_json), valor, campo);
  const asked = await request(address, `/integracao/api/v1/dps/${dry.body.identificador_dps}`);
  assert.equal(asked.status, 404);
  const issued = await sendJson(address, BODY);
  assert.equal(issued.status, 201);
  const again = await sendJson(address, BODY, `${PATH}/validacao`);
  assert.equal(again.status, 422);
  assert.equal(again.body.codigo_erro, 'E0014');
});

test('the dry run of a DPS without number tells the number that it would take (D-17)', async () => {
  const { address } = await startTestService({ worker: false });
  const { serie_dps: _serie, numero_dps: _numero, ...unnumbered } = BODY;
  const dry = async (): Promise<string> => {
    const { status, body } = await sendJson(address, unnumbered, `${PATH}/validacao`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.identificador_dps;
  };
  const SERIE = 'DPS355030821122233300018170000';
  assert.equal(await dry(), `${SERIE}000000000000001`);
  // Note 1 takes number 2 explicitly, so that note 2 finds its own number taken.
  const byHand = await sendJson(address, { ...unnumbered, serie_dps: '70000', numero_dps: '2' });
  assert.equal(byHand.status, 201, JSON.stringify(byHand.body));
  const told = await dry();
  assert.equal(told, `${SERIE}000000000000003`);
  assert.equal((await sendJson(address, unnumbered)).status, 201);
  assert.equal((await request(address, `/integracao/api/v1/dps/${told}`)).status, 200);
  assert.equal(await dry(), `${SERIE}000000000000004`);
});

test('dry run and issuance tell what is wrong of the declared amounts beside a fault that they are not made of', async () => {
  const { address } = await startTestService({ worker: false });
  const wrong = {
    ...BODY,
    obra: { numero_obra: '1', inscricao_imobiliaria: '2' },
    ibscbs: { ...BODY.ibscbs, total_cbs: '99.00' },
  };
  const codes = async (path: string): Promise<readonly string[]> =>
    (await sendJson(address, wrong, path)).body.erros.map((erro: { codigo: string }) => erro.codigo);
  assert.deepEqual(await codes(`${PATH}/validacao`), ['E0372', 'E1582']);
  assert.deepEqual(await codes(PATH), ['E0372', 'E1582']);
});

test('a value of another kind is not also an empty one', async () => {
  const { address } = await startTestService({ worker: false });
  for (const prestador_razao_social of [123, ['X'], { a: 1 }]) {
    const { body } = await sendJson(address, { ...BODY, prestador_razao_social });
    assert.deepEqual(
      body.erros.map(({ codigo, campo }: { codigo: string; campo: string }) => [codigo, campo]),
      [['E0001', 'prestador_razao_social']],
    );
  }
});

test('the dry run tells registry, rules and duplicate in one answer, as XML too', async () => {
  const { address } = await startTestService({ worker: false });
  const wrong = { 'prest/CNPJ': '11222333000180', 'serv/cServ/cTribNac': '999999' };
  const answer = await request(address, `${PATH}/validacao`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: exampleXml(wrong),
  });
  assert.equal(answer.status, 422);
  const codes = answer.body.erros.map((erro: { codigo: string }) => erro.codigo);
  assert.ok(codes.includes('E002'), codes.join(' '));
});

test('the example that ships with the project is issued as it stands', async () => {
  const { address } = await startTestService({ worker: false });
  const { status, body } = await sendJson(address, readFileSync('examples/dps.json', 'utf8'));
  assert.equal(status, 201, JSON.stringify(body));
});

test('a body whose rate nobody knows is refused in the names of the body, whatever it declares', async () => {
  const { address, store, pool, clock } = await startTestService({ worker: false });
  const strict = { ambiente: 'homologacao', codigoIbge: '3550308', regrasNacionais: 'recusa' } as const;
  await store.municipios.create({ tenant: 'estrito', ...strict }, clock.now);
  await pool.query(
    `insert into servicos_municipais (tenant, codigo, inicio, descricao, codigo_tributacao_nacional, aliquota)
      values ('estrito', '001', '2026-01-01', 'Sistemas', '010101', 3), ('estrito', '003', '2026-01-01', 'Sistemas', '010101', 4)`,
  );
  const { aliquota_issqn: _none, ...without } = { ...BODY, valor_servico: 1000.0 };
  const declared = [
    {},
    { retencao_issqn: '2' },
    { valor_issqn: '50.00' },
    { valor_base_calculo: '1000.00', valor_issqn: '50.00' },
    // The price of 1000.00 minus 50.00
    { ibscbs: { ...BODY.ibscbs, valores_base_calculo: '950.00' } },
  ];
  for (const more of declared) {
    for (const path of ['', '/validacao']) {
      const { status, body } = await sendJson(address, { ...without, ...more }, `/estrito/api/v1/nfse/v101${path}`);
      assert.equal(status, 422, JSON.stringify(body));
      assert.deepEqual(
        body.erros.map(({ codigo, campo }: { codigo: string; campo: string }) => [codigo, campo]),
        [['E0619', 'aliquota_issqn']],
        JSON.stringify(body),
      );
      assert.match(
        body.mensagem,
        /não traz aliquota_issqn, e .*: 3\.00% \(001\) e 4\.00% \(003\)\. Informe em codigo_tributacao_municipal o código municipal/,
      );
    }
    // The shared sandbox fills in 5.00, and says so each time.
    const { status, body } = await sendJson(address, {
      ...without,
      numero_dps: String(declared.indexOf(more) + 1),
      ...more,
    });
    assert.equal(status, 201, JSON.stringify(body));
    const about = body.avisos.filter(({ codigo }: { codigo: string }) => codigo === 'E0619');
    assert.equal(about.length, 1, JSON.stringify(body.avisos));
    assert.match(about[0].mensagem, /^A alíquota aplicada, 5\.00%, foi posta pelo ambiente de integração: /);
  }
  const named = { ...without, codigo_tributacao_municipal: '003', valor_issqn: '40.00' };
  const { status, body } = await sendJson(address, named, '/estrito/api/v1/nfse/v101');
  assert.equal(status, 201, JSON.stringify(body));
  // 1000.00 × 4 %
  assert.match(body.xml_nfse, /<pAliqAplic>4\.00<\/pAliqAplic><vISSQN>40\.00<\/vISSQN>/);
});

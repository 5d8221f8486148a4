/** A DPS as a JSON body. `read-corpo.test.ts` tests that it is read back unchanged, example by example. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleJson } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';

const body = (patch: Patch) => JSON.parse(exampleJson(patch) ?? 'null');

test('values are strings, as they stand in the DPS, in the groups of the body', () => {
  const { valor_servico, tomador_cpf_cnpj, tomador_endereco, ibscbs } = body({
    'valores/vServPrest/vServ': '1.000,00',
  });
  assert.equal(valor_servico, '1.000,00');
  assert.equal(tomador_cpf_cnpj, '52998224725');
  assert.deepEqual(tomador_endereco, {
    codigo_municipio: '3550308',
    cep: '01001000',
    logradouro: 'Praça da Sé',
    numero: '1',
    bairro: 'Sé',
  });
  assert.equal(ibscbs.cClassTrib, '000001');
});

test('lists are lists', () => {
  const { deducao_reducao, ibscbs } = body({
    'valores/vDedRed/documentos/docDedRed/nDoc': 'A1',
    'valores/vDedRed/documentos/docDedRed/fornec/CNPJ': '11444777000161',
    'IBSCBS/gRefNFSe/refNFSe': 'X',
  });
  assert.deepEqual(deducao_reducao, {
    documentos: [{ numero_documento_nao_fiscal: 'A1', fornecedor: { cpf_cnpj: '11444777000161' } }],
  });
  assert.deepEqual(ibscbs.notas_referenciadas, ['X']);
});

test('what only a body declares stands where it is declared, also when there is nothing else', () => {
  assert.equal(body({ '=valor_issqn': '20.00' }).valor_issqn, '20.00');
  assert.equal(body({ '=ibscbs.total_cbs': '9.00' }).ibscbs.total_cbs, '9.00');
  assert.deepEqual(body({ IBSCBS: null, '=ibscbs.total_cbs': '9.00' }).ibscbs, { total_cbs: '9.00' });
});

test('an element of no layout stands under its own name', () => {
  assert.equal(body({ '+serv/cMunPrest': '3550308' }).cMunPrest, '3550308');
  assert.equal(
    body({ 'serv/infoCompl/docRef': 'A', '+serv/infoCompl/xPed': '1' }).informacoes_complementares.xPed,
    '1',
  );
});

test('what no body can say has none', () => {
  assert.equal(exampleJson({ 'toma/CNPJ': '11444777000161' }), undefined, 'two documents of one party');
  assert.equal(exampleJson({ '@versao': '1.00' }), undefined);
  assert.equal(exampleJson({ '@Id': 'DPS1' }), undefined);
});

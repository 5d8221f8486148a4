/** Messages in the names of the JSON body: some results by hand, and for every example that no element name is left. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readJson } from '../../documents/json.ts';
import type { Fault } from '../fault.ts';
import { judge } from '../judge.ts';
import { exampleJson } from '../rules/example.ts';
import { ALL_RULES } from '../rules/rules.ts';
import { EXAMPLE_FACTS } from '../rules/trial.ts';
import { NAMES } from './plan-corpo.ts';
import { readCorpo } from './read-corpo.ts';
import { inNamesOfBody, isNameOfElement, stepInNamesOfBody } from './words-corpo.ts';

const BASE = '/DPS/infDPS';

describe('a message in the names of the body', () => {
  for (const [what, xpath, said, told] of [
    ['a name', 'serv/cServ/cTribNac', 'cTribNac 999999 não existe.', 'codigo_tributacao_nacional 999999 não existe.'],
    [
      'a path, whole though the fault is near it',
      'toma/end/endExt/cPais',
      'use toma/end/endExt.',
      'use tomador_endereco.exterior.',
    ],
    [
      'a name that many have: of the nearest',
      'interm/end/endExt/cPais',
      'cPais BR não é exterior.',
      'codigo_pais BR não é exterior.',
    ],
    [
      'a name of another object',
      'valores/trib/tribFed/vRetCSLL',
      'tpRetPisCofins 3',
      'tributos_federais.pis_cofins.tipo_retencao 3',
    ],
    [
      'one plain word with its object',
      'serv/atvEvento',
      'Inclua xNome, dtIni e end.',
      'Inclua atividade_evento.nome, data_inicio e atividade_evento.endereco.',
    ],
    ['a group that the body does not have', 'toma/end', 'Inclua endNac.', 'Inclua codigo_municipio e cep.'],
    ['a party', 'toma', 'o grupo toma não veio.', 'o grupo tomador_* não veio.'],
    ['the other spelling of elements', 'serv/cServ/cTribMun', 'retire o elemento.', 'retire o campo.'],
    ['an element of the note', '', 'tribISSQN 4', 'tributacao_issqn 4'],
    // The sent text is never changed.
    [
      'between quotation marks',
      'serv/cServ/cTribMun',
      'é "cTribNac e serv/obra" na lista',
      'é "cTribNac e serv/obra" na lista',
    ],
    [
      'an address',
      'toma/email',
      'O e-mail, vServ@cNBS.com.br, não tem a forma',
      'O e-mail, vServ@cNBS.com.br, não tem a forma',
    ],
    [
      'words',
      'serv/obra',
      'Os valores e os documentos da obra, CPF e CEP',
      'Os valores e os documentos da obra, CPF e CEP',
    ],
    ['names of the body', '', 'ibscbs.total_cbs declara 9.00', 'ibscbs.total_cbs declara 9.00'],
  ] as const) {
    test(what, () => {
      const at = xpath === '' ? '/NFSe/infNFSe/cLocIncid' : `${BASE}/${xpath}`;
      assert.equal(inNamesOfBody(said, at), told);
    });
  }

  test('a name that is as near in two objects, and not called alike, stays', () => {
    const texts = ['CNPJ', 'xNome'].map((name) => inNamesOfBody(`Informe ${name}.`, BASE));
    assert.deepEqual(texts, ['Informe CNPJ.', 'Informe xNome.']);
  });
});

describe('a step of a calculation', () => {
  for (const [what, campo, formula, campo_json, told] of [
    [
      'of the ISSQN',
      'valores/vISSQN',
      'vBC 10.00 × pAliqAplic 2.00 %',
      'valor_issqn',
      'valor_base_calculo 10.00 × aliquota_issqn 2.00 %',
    ],
    [
      'of IBS and CBS: its base is another',
      'IBSCBS/totCIBS/gCBS/vCBS',
      'vBC 10.00',
      'ibscbs.total_cbs',
      'ibscbs.valores_base_calculo 10.00',
    ],
    [
      'that the DPS itself declares',
      'DPS/infDPS/valores/vDedRed/vDR',
      'vServ 10.00',
      'deducao_reducao.valor',
      'valor_servico 10.00',
    ],
    ['that has no name in the body', 'IBSCBS/valores/uf/pRedAliqUF', 'redução', undefined, 'redução'],
  ] as const) {
    test(what, () => {
      const step = stepInNamesOfBody({ campo, formula, valor: '1.00' });
      assert.deepEqual([step.campo, step.campo_json, step.formula, step.valor], [campo, campo_json, told, '1.00']);
    });
  }
});

/** The answers to a body with each rejected example: its faults, or the remarks on it. */
function answers(): readonly (Pick<Fault, 'codigo' | 'mensagem' | 'esperado'> & { readonly campo?: string })[] {
  return ALL_RULES.flatMap(({ rejects }) =>
    rejects.flatMap((patch) => {
      const body = exampleJson(patch);
      if (body === undefined) return [];
      const document = readJson(Buffer.from(body));
      assert.ok('value' in document);
      const read = readCorpo(document, { tpAmb: '2' });
      if ('faults' in read) return read.faults;
      const judged = judge(read.dps, EXAMPLE_FACTS, read.declarado);
      return read.place<Pick<Fault, 'codigo' | 'xpath' | 'mensagem'> & Partial<Fault>>(
        'faults' in judged ? judged.faults : judged.avisos,
      );
    }),
  );
}

test('no message of an answer to a body names an element that has a name there', () => {
  const named = new Set([...NAMES.values()].map(({ name }) => name));
  const all = answers();
  assert.ok(all.length > 200);
  for (const { codigo, mensagem, esperado } of all) {
    for (const text of [mensagem, esperado ?? '']) {
      const words = text.replace(/"[^"]*"/g, '').matchAll(/(?<![\w@.])[A-Za-z]\w*(?:\/\w+)*/g);
      const left = [...words].map(([word]) => word).filter((word) => isNameOfElement(word) && !named.has(word));
      assert.deepEqual(left, [], `${codigo}: ${text}`);
    }
  }
});

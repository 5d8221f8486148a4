/** CEPs of the centre of each capital, and of towns near a border of ranges, each with its state. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ufOfCep } from '../catalogs/faixas-cep.ts';
import { avisosOn } from './trial.ts';

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  AC: ['69900062', '69980000'],
  AL: ['57020000'],
  AM: ['69005010', '69280000', '69640000'],
  AP: ['68900073', '68980000'],
  BA: ['40010000', '48900000'],
  CE: ['60010000', '63900000'],
  DF: ['70040010', '72405000', '73310000'],
  ES: ['29010002'],
  GO: ['74003010', '72800000', '73801000', '76700000'],
  MA: ['65010000'],
  MG: ['30110000', '39400000'],
  MS: ['79002000'],
  MT: ['78005000', '78890000'],
  PA: ['66010000', '68005000', '68890000'],
  PB: ['58010000'],
  PE: ['50010000', '56300000'],
  PI: ['64000020'],
  PR: ['80010000', '87010000'],
  RJ: ['20040002', '28970000'],
  RN: ['59010000'],
  RO: ['76801000', '76900000'],
  RR: ['69301000', '69340000'],
  RS: ['90010000', '99700000'],
  SC: ['88010000', '89800000'],
  SE: ['49010000'],
  SP: ['01001000', '19900000'],
  TO: ['77001000'],
};

describe('the state of a CEP', () => {
  test('all 27 are known', () => assert.equal(Object.keys(KNOWN).length, 27));

  for (const [uf, ceps] of Object.entries(KNOWN)) {
    test(`${ceps.join(', ')}: ${uf}`, () => assert.deepEqual([...new Set(ceps.map(ufOfCep))], [uf]));
  }

  test('a CEP in no range has none', () => {
    assert.deepEqual(['00000000', '00999999', '78900000'].map(ufOfCep), [undefined, undefined, undefined]);
  });
});

test('the remark says both states, or that the CEP is in no range, and names the municipality', () => {
  const said = (CEP: string): readonly string[] =>
    avisosOn({ 'toma/end/endNac/CEP': CEP })
      .filter(({ codigo }) => codigo === 'E0240')
      .map(({ mensagem }) => mensagem);
  assert.match(said('20040002')[0]!, /CEP 20040002 é de RJ, .* 3550308 \(São Paulo\/SP\)/);
  assert.match(said('00000000')[0]!, /não está em nenhuma faixa/);
  assert.deepEqual(said('04538132'), []);
});

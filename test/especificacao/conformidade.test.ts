/** The report of conformity: complete, without a failure, and with links that work. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { codesOf, conformidadeMarkdown, FAILURE } from '../../scripts/conformidade.ts';
import { ERRORS, errorOf } from '../../src/fiscal/errors.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { ALL_RULES } from '../../src/fiscal/rules/rules.ts';
import { faultsOf } from '../../src/fiscal/rules/trial.ts';
import { ADN_EXECUTA, ADN_NOMEADAS } from './adn.ts';
import { SPECIFIED_CODES, WITHOUT_DOCUMENT } from './codigos.ts';
import { PARAMETROS } from './parametros.ts';

const text = conformidadeMarkdown();
const [specified, , , rules] = text
  .split(/\n## (?:Parâmetros do município|Regras que o ADN executa|Regras e exemplos)\n/)
  .map((part) => part.split('\n').filter((line) => line.startsWith('| [E')));

/**
 * Two more rules depend on the registry, and nationally on every municipality: the retention by an exempt party, and the minimum of 2 %.
 */
const OUTRAS = new Set(['E0594', 'E0429']);

describe('docs/conformidade.md', () => {
  test('has a row a code of the specification, with the reason where nothing brings it', () => {
    assert.deepEqual(
      specified!.map((row) => /^\| \[(E\d+)\]/.exec(row)![1]).toSorted(),
      [...SPECIFIED_CODES.keys()].toSorted(),
    );
    for (const [code, reason] of Object.entries(WITHOUT_DOCUMENT)) {
      assert.ok(
        specified!.some((row) => row.startsWith(`| [${code}]`) && row.includes(reason)),
        code,
      );
    }
  });

  test('has a row a rule and one a structural code, each with where and from where it is', () => {
    const structural = ERRORS.filter(({ exemplos }) => exemplos !== undefined).length;
    assert.equal(rules!.length, ALL_RULES.length + structural);
    for (const { code, at, origin } of ALL_RULES) {
      const xpath = at.startsWith('NFSe/') ? `/${at}` : `/DPS/infDPS/${at}`;
      const rows = rules!.filter((one) => one.startsWith(`| [${code}]`) && one.includes(`\`${xpath}\``));
      assert.ok(
        rows.some((row) => row.includes(origin)),
        `${code} at ${at}`,
      );
    }
  });

  test('says of each national rule of the parameters which rule it is, what answers in its place, or why none does', () => {
    assert.equal(new Set(PARAMETROS.map(({ code }) => code)).size, 47);
    const has = (code: string): boolean => ALL_RULES.some((rule) => rule.code === code);
    for (const { code, responde, fora } of PARAMETROS) {
      const isOurs = responde === undefined && fora === undefined;
      assert.equal(has(code), isOurs, code);
      if (responde !== undefined) assert.ok(has(responde), code);
      assert.match(text, new RegExp(`^\\| (?:\\[${code}\\]\\(erros/[a-z-]+\\.md#${code}\\)|${code}) \\|`, 'm'));
    }
    // Every rule that needs the registry is one of them.
    const listed = new Set(PARAMETROS.map(({ code }) => code));
    for (const { code, given } of ALL_RULES)
      if (given !== undefined) assert.ok(listed.has(code) || OUTRAS.has(code), code);
  });

  test('has each rule that the ADN runs: one of ours refuses what breaks it, or its row says what answers, or why nothing does', () => {
    assert.equal(new Set(ADN_EXECUTA).size, 309);
    const refusing = new Set(ALL_RULES.filter(({ scope }) => scope !== 'aviso').map(({ code }) => code));
    const named = ADN_NOMEADAS.flatMap(codesOf);
    const wanted = ADN_EXECUTA.filter((code) => !refusing.has(code));
    assert.deepEqual(named.toSorted(), wanted.toSorted());
    for (const row of ADN_NOMEADAS) {
      assert.notEqual(row.responde === undefined, row.fora === undefined, row.codes);
      for (const code of row.responde ?? []) assert.ok(errorOf(code), code);
      assert.ok(text.includes(`| ${codesOf(row).join(', ')} | ${row.sobre} |`), row.codes);
    }
  });

  test('what answers in the place of a rule that the ADN runs does', () => {
    const cases: readonly (readonly [code: string, answers: string, Patch])[] = [
      ['E0188', 'E0003', { 'toma/CPF': null, 'toma/CNPJ': '11222333000182' }],
      ['E0206', 'E0003', { 'toma/CPF': '52998224726' }],
      ['E0238', 'E403', { 'toma/end/endNac/cMun': '9999999' }],
      ['E0302', 'E403', { 'serv/locPrest/cLocPrestacao': '9999999' }],
      ['E0322', 'E002', { 'serv/cServ/cNBS': null }],
      ['E0112', 'E002', { 'prest/CNPJ': null, 'prest/NIF': '123' }],
      ['E0122', 'E9996', { tpEmit: '2' }],
      ['E0602', 'E1303', { 'valores/trib/tribMun/tribISSQN': '4' }],
    ];
    for (const [code, answers, patch] of cases) {
      assert.ok(
        ADN_NOMEADAS.some((row) => codesOf(row).includes(code) && row.responde?.includes(answers)),
        code,
      );
      assert.ok(
        faultsOf(patch).some(({ codigo }) => codigo === answers),
        code,
      );
    }
  });

  test('tells of no failure', () => {
    assert.deepEqual(
      text.split('\n').filter((line) => line.includes(FAILURE)),
      [],
    );
  });

  test('has seven cells a rule, and links to codes that are there', () => {
    for (const row of rules!) assert.equal(row.split(/(?<!\\) \| /).length, 7, row);
    for (const [, code = ''] of text.matchAll(/erros\/[a-z-]+\.md#(E\d+)/g)) assert.ok(errorOf(code), code);
    assert.doesNotMatch(text, /undefined|\[object|NaN/);
  });
});

/** The report of conformity: whole, without a failure, and with links that lead somewhere. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conformidadeMarkdown, FAILURE } from '../../scripts/conformidade.ts';
import { ERRORS, errorOf } from '../../src/fiscal/errors.ts';
import { ALL_RULES } from '../../src/fiscal/rules/rules.ts';
import { SPECIFIED_CODES, WITHOUT_DOCUMENT } from './codigos.ts';
import { PARAMETROS } from './parametros.ts';

const text = conformidadeMarkdown();
const [specified, , rules] = text
  .split(/\n## (?:Parâmetros do município|Regras e exemplos)\n/)
  .map((part) => part.split('\n').filter((line) => line.startsWith('| [E')));

/** Of a register as well, and nationally of every municipality: the retention of who is exempt, and the minimum of 2 %. */
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
    // Every rule that needs a register is one of them.
    const listed = new Set(PARAMETROS.map(({ code }) => code));
    for (const { code, given } of ALL_RULES)
      if (given !== undefined) assert.ok(listed.has(code) || OUTRAS.has(code), code);
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

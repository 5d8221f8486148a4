import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { lawOver } from '../../test/support/law.ts';
import { groupsOf } from '../published/errors/groups.ts';
import { EXAMPLES_MAX, errorsMarkdown } from '../published/errors/markdown.ts';
import { fieldsOf, pageOf } from '../published/errors/page.ts';
import { ERRORS, errorOf, ofRules, ROWS, statusOf } from './errors.ts';
import { exampleXml } from './rules/example.ts';
import { ALL_RULES } from './rules/rules.ts';
import { isJsonOnly } from './rules/trial.ts';

/** The specification: "General codes", "Issuance 422 code table", "Other codes named in rules", Authentication. */
const SPECIFIED: Readonly<Record<number, string>> = {
  400: 'E003',
  401: 'E9002 E9003 E9006 E9007 E9016',
  403: 'E102',
  404: 'E301 E601',
  410: 'E111',
  422: `
    E002 E101 E103 E110 E201 E202 E203 E302 E303 E401 E402 E403 E404 E502 E802 E901 E902 E903 E904 E905 E906
    E0001 E0002 E0003 E0010 E0011 E0014 E0188 E0191 E0193 E0235 E0242 E0246 E0310 E0370 E0372 E0373 E0382 E0384 E0386
    E0390 E0392 E0532 E0585 E0592 E0677 E0686 E0692 E0694 E0696 E0699 E0700 E0701 E0720 E0724 E0928 E0931 E0932
    E1235 E1301 E1303 E1305 E1311 E1313 E1317 E1321 E1402 E1539 E1568`,
  500: 'E999',
};

/** Codes that the specification names without a status of their own. */
const SPECIFIED_WITHOUT_STATUS = ['E703'];

/** Decided in D-13: the number means something else nationally, and the page says both. */
const OTHERWISE_NATIONAL = ['E0001', 'E0010', 'E0188', 'E0235', 'E0310', 'E1235', 'E1313', 'E1402'];

const SRC = path.resolve(import.meta.dirname, '..');

/** These files name foreign codes: those of the national environment, which the simulator sends in its place, and those of ABRASF. */
const NATIONAL = /^(adn|simulador|fiscal\/abrasf)\/|^subjects\/lotes\//;
/** These files build or show the table itself. */
const TABLE = /^(fiscal\/errors|published\/)/;
/** Files that send codes. */
const SENDERS = globSync('**/*.ts', { cwd: SRC })
  .filter((file) => !file.endsWith('.test.ts') && !TABLE.test(file) && !NATIONAL.test(file))
  .map((file) => ({ file, text: readFileSync(path.join(SRC, file), 'utf8') }));

const SENT = new Map(
  SENDERS.flatMap(({ file, text }) => [...text.matchAll(/'(E\d+)'/g)].map(([, code]) => [code!, file])),
);

describe('the public error table', () => {
  test('has each code once, three digits before four, by number', () => {
    const codes = ERRORS.map(({ codigo }) => codigo);
    assert.equal(new Set(codes).size, codes.length);
    assert.deepEqual(
      codes,
      codes.toSorted((a, b) => a.length - b.length || Number(a.slice(1)) - Number(b.slice(1))),
    );
    for (const codigo of codes) assert.match(codigo, /^E\d{3,4}$/);
  });

  test('says of each code all that its page needs', () => {
    for (const { codigo, mensagem, significado, comoResolver, origem, nacional } of ERRORS) {
      assert.match(mensagem, /^\S.*\S$/, codigo);
      for (const text of [significado, comoResolver]) assert.match(text, /^\S.*\S$/, codigo);
      assert.match(significado, /\.$/, codigo);
      assert.match(origem, /Especificação|Anexo|decis|Decis/, codigo);
      if (nacional !== undefined) assert.match(nacional, /\.$/, codigo);
    }
  });

  test('has every code that the specification names, with its status', () => {
    for (const [status, codes] of Object.entries(SPECIFIED)) {
      for (const codigo of codes.trim().split(/\s+/)) assert.equal(statusOf(codigo), Number(status), codigo);
    }
    for (const codigo of SPECIFIED_WITHOUT_STATUS) assert.ok(errorOf(codigo), codigo);
  });

  test('has every code that the service sends', () => {
    for (const [codigo, file] of SENT) assert.ok(errorOf(codigo), `${file} sends ${codigo}, which is not in the table`);
  });

  test('calls reserved or replaced what nothing sends, and nothing else', () => {
    for (const { codigo, situacao } of ERRORS) {
      const file = SENT.get(codigo);
      const said = file === undefined ? `nothing sends ${codigo}` : `${file} sends ${codigo}`;
      assert.equal(situacao === 'enviado', file !== undefined, `${said}, and its page says ${situacao}`);
    }
  });

  test('names a code that is sent where one is replaced', () => {
    for (const { codigo, substituidoPor } of ERRORS) {
      if (substituidoPor !== undefined) assert.equal(errorOf(substituidoPor)?.situacao, 'enviado', codigo);
    }
  });

  test('tells the national meaning where it is another', () => {
    for (const codigo of OTHERWISE_NATIONAL) assert.match(errorOf(codigo)?.nacional ?? '', /nacional/, codigo);
  });

  test('gives a status only to refusals', () => {
    for (const { codigo, status, statuses } of ERRORS) {
      if (status === 'aviso') {
        assert.deepEqual(statuses, [], codigo);
        assert.throws(() => statusOf(codigo), codigo);
      } else {
        assert.equal(statuses[0], status, `${codigo}: the usual status comes first`);
        for (const one of statuses) assert.ok(one >= 400 && one <= 599, codigo);
      }
    }
    assert.throws(() => statusOf('E0000'));
    assert.equal(errorOf('E0000'), undefined);
  });

  test('lists the statuses that the door sends a code with', () => {
    // 499 is for the log: the client is gone and reads no answer.
    const sent = SENDERS.filter(({ file }) => /^(doors|base\/http)\/|\.(rest|soap)\.ts$/.test(file)).flatMap(
      ({ file, text }) =>
        [...text.matchAll(/codigo: '(E\d+)',\s*status: (\d{3})\b|codigo: '(E\d+)'[^\n]*\bstatus: (\d{3})\b/g)].map(
          ([, a, b, c, d]) => ({ file, codigo: a ?? c!, status: Number(b ?? d) }),
        ),
    );
    for (const { file, codigo, status } of sent.filter(({ status }) => status !== 499)) {
      assert.ok(errorOf(codigo)?.statuses.includes(status), `${file} sends ${codigo} with ${status}`);
    }
  });
});

describe('rules and rows', () => {
  test('a rule is a code of the table, and passes no earlier the second time', () => {
    for (const { code } of ALL_RULES) {
      const error = errorOf(code)!;
      const rules = ALL_RULES.filter((rule) => rule.code === code);
      assert.equal(error.transitorio, false, code);
      assert.deepEqual(
        error.regras.map(({ at }) => at),
        rules.map(({ at }) => at),
      );
    }
  });

  test('a code of rules refuses as widely as the widest of them', () => {
    for (const { codigo, status, alcance, regras } of ERRORS.filter(({ regras }) => regras.length > 0)) {
      const scopes = new Set(regras.map(({ scope }) => scope));
      const ofRow = ROWS.find((row) => row.codigo === codigo);
      if (scopes.has(undefined) || (ofRow?.significado !== undefined && ofRow.status !== 'aviso')) {
        assert.deepEqual([typeof status, alcance], ['number', 'geral'], codigo);
      } else if (scopes.has('nacional') && ofRow?.status !== 'aviso') {
        assert.deepEqual([status, alcance], [422, 'nacional'], codigo);
      } else {
        assert.deepEqual([status, alcance], ['aviso', 'aviso'], codigo);
      }
    }
  });

  test('a row leaves to its rules what they say, and says it itself where there is none', () => {
    for (const row of ROWS) {
      const rules = ALL_RULES.filter(({ code }) => code === row.codigo);
      if (rules.length === 0) {
        assert.ok(row.significado && row.origem, `${row.codigo} has no rule that would say it`);
        continue;
      }
      for (const { why, message, national } of rules) {
        const repeated = [row.mensagem, row.significado, row.comoResolver, row.nacional].filter(
          (text) => text !== undefined && [why, message, national].includes(text),
        );
        assert.deepEqual(repeated, [], row.codigo);
      }
    }
  });
});

describe('a rule without a row', () => {
  test('is a code of the table in its own words, those of its first rejected example where they depend on one', () => {
    for (const { title: _title, mend: _mend, ...rule } of ALL_RULES) {
      const { codigo, mensagem, significado, origem, status } = ofRules([rule]);
      assert.deepEqual(
        { codigo, significado, origem, status },
        {
          codigo: rule.code,
          significado: rule.why,
          origem: rule.origin,
          status: rule.scope === 'aviso' ? 'aviso' : 422,
        },
      );
      assert.match(mensagem, /^\S.*\.$/);
      assert.doesNotMatch(mensagem, /undefined/);
    }
    assert.throws(() => ofRules([]));
  });

  test('takes its title and what to do from the first of its rules that tells them', () => {
    const [rule] = ALL_RULES;
    const second = { ...rule!, title: 'Título', mend: 'Faça isto.' };
    const { title: _title, mend: _mend, ...first } = rule!;
    const { mensagem, comoResolver } = ofRules([first, second]);
    assert.deepEqual({ mensagem, comoResolver }, { mensagem: 'Título', comoResolver: 'Faça isto.' });
  });
});

describe('the groups', () => {
  test('have each code once, in the order of the table', () => {
    const groups = groupsOf(ERRORS, fieldsOf);
    const place = new Map(ERRORS.map((error, index) => [error, index]));
    assert.equal(
      groups.reduce((sum, { errors }) => sum + errors.length, 0),
      ERRORS.length,
    );
    assert.equal(new Set(groups.flatMap(({ errors }) => errors)).size, ERRORS.length);
    for (const { errors } of groups) {
      assert.deepEqual(
        errors,
        errors.toSorted((a, b) => place.get(a)! - place.get(b)!),
      );
    }
    assert.equal(new Set(groups.map(({ id }) => id)).size, groups.length);
  });

  test('put a code where a person looks for it', () => {
    const idOf = (codigo: string): string | undefined =>
      groupsOf(ERRORS, fieldsOf).find(({ errors }) => errors.some((error) => error.codigo === codigo))?.id;
    const wanted = {
      E003: 'requisicao',
      E901: 'assinatura',
      E9002: 'assinatura',
      E002: 'estrutura',
      E0014: 'identificacao',
      E0188: 'tomador',
      E0310: 'servico',
      E1235: 'comercio-exterior',
      E0373: 'obra',
      E401: 'valores',
      E1305: 'issqn',
      E0686: 'federais',
      E802: 'ibscbs',
      E302: 'eventos',
      E0840: 'eventos',
      E1310: 'eventos',
      E9016: 'eventos',
    };
    for (const [codigo, id] of Object.entries(wanted)) assert.equal(idOf(codigo), id, codigo);
  });
});

describe('the structural examples', () => {
  for (const { codigo, exemplos } of ERRORS) {
    for (const [place, patch] of (exemplos?.rejects ?? []).entries()) {
      test(`${codigo} rejects example ${place + 1}`, () => {
        const faults = lawOver(exampleXml(patch));
        assert.deepEqual(
          faults.map((fault) => fault.codigo),
          [codigo],
        );
      });
    }
    for (const [place, patch] of (exemplos?.accepts ?? []).entries()) {
      test(`${codigo} accepts example ${place + 1}`, () => assert.deepEqual(lawOver(exampleXml(patch)), []));
    }
  }
});

describe('the examples of the pages', () => {
  const samples = ERRORS.flatMap((error) =>
    pageOf(error).cases.flatMap(({ rejected, accepted }) =>
      [...rejected.map(({ sample }) => sample), ...accepted].map((sample) => ({ codigo: error.codigo, ...sample })),
    ),
  );

  test('are shown in each form that can say them', () => {
    const declaredOnly = ALL_RULES.flatMap(({ rejects, accepts }) => [...rejects, ...accepts]).filter(
      isJsonOnly,
    ).length;
    assert.equal(samples.filter(({ xml }) => xml === undefined).length, declaredOnly);
    // A body has one property for the two documents of a taker.
    assert.deepEqual(
      samples.filter(({ json }) => json === undefined).map(({ codigo }) => codigo),
      ['E0188'],
    );
    for (const { codigo, xml, json } of samples) {
      for (const fragment of [xml, json]) assert.notEqual(fragment?.length, 0, codigo);
    }
  });

  test('mark the line that the answer is about', () => {
    const marked = (codigo: string, form: 'xml' | 'json'): readonly string[] =>
      pageOf(errorOf(codigo)!)
        .cases[0]!.rejected[0]!.sample[form]!.filter(({ marked }) => marked)
        .map(({ text }) => text.trim());
    assert.deepEqual(marked('E0246', 'xml'), ['<cPais>BR</cPais>']);
    assert.deepEqual(marked('E0246', 'json'), ['"codigo_pais": "BR",']);
    assert.deepEqual(marked('E0235', 'json'), ['// sem codigo_pais']);
    assert.deepEqual(marked('E0010', 'json'), ['"dhEmi": "2026-10-05T10:15:30-03:00"']);
    assert.deepEqual(marked('E1539', 'json').length, 1);
  });
});

describe('docs/erros', () => {
  const files = errorsMarkdown();
  const text = [...files.values()].join('\n');
  const anchorsOf = (file: string): readonly string[] =>
    [...files.get(file)!.matchAll(/<a id="(E\d+)"><\/a>\n\n## \1\n/g)].map(([, codigo]) => codigo!);

  test('has an index and one file a group, with a section and an anchor a code', () => {
    const groups = groupsOf(ERRORS, fieldsOf);
    assert.deepEqual([...files.keys()], ['README.md', ...groups.map(({ id }) => `${id}.md`)]);
    for (const { id, errors } of groups) {
      assert.deepEqual(
        anchorsOf(`${id}.md`),
        errors.map(({ codigo }) => codigo),
      );
    }
  });

  test('has links that resolve, and the index one to each code', () => {
    const linked = [...text.matchAll(/\]\(([a-z-]+\.md)#([^)]+)\)/g)];
    for (const [whole, file = '', codigo = ''] of linked) assert.ok(anchorsOf(file).includes(codigo), whole);
    const index = files.get('README.md')!;
    for (const { codigo } of ERRORS) assert.match(index, new RegExp(`^\\| \\[${codigo}\\]\\(`, 'm'));
    for (const [, file = ''] of text.matchAll(/\]\(([\w-]+\.md)\)/g)) assert.ok(files.has(file), file);
  });

  test('leaves no tag of a document loose outside its examples', () => {
    const prose = text
      .replace(/```(?:xml|json|text)\n[\s\S]*?```/g, '')
      .replace(/<a id="E\d+"><\/a>|^<!-- Gerado.*$/gm, '');
    assert.doesNotMatch(prose, /[<>](?!\s)/);
    assert.doesNotMatch(text, /undefined|\[object|NaN/);
  });

  test('quotes an answer with the code under every rejected example', () => {
    for (const { codigo, regras, exemplos, pedidos } of ERRORS) {
      const section = text.slice(text.indexOf(`## ${codigo}\n`)).split(/\n<a id=|\n<!-- Gerado/)[0]!;
      const cases = [...(exemplos === undefined ? [] : [exemplos]), ...regras];
      const rejected = cases.reduce((sum, { rejects }) => sum + Math.min(rejects.length, EXAMPLES_MAX), 0);
      const shown = rejected + pedidos.length;
      assert.equal(section.split(/\n(?:Recusado|Aceito, com aviso):\n/).length - 1, shown, codigo);
      assert.equal(section.split(`\n- \`${codigo}\` em `).length - 1 >= rejected, true, codigo);
    }
  });
});

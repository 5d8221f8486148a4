/** Corrections applied to texts: of XML and of JSON, elements and attributes, properties and members, and overlapping corrections. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../fiscal/fault.ts';
import { applyFixes } from './apply-fixes.ts';

const fault = (linha: number, coluna: number, correcao: string | undefined, xpath = '/a'): Fault => ({
  codigo: 'E1',
  mensagem: '',
  ...{ xpath, linha, coluna },
  ...(correcao === undefined ? {} : { correcao }),
});

const fix = (text: string, ...faults: readonly Fault[]): string => applyFixes(text, faults).text;

describe('XML', () => {
  test('an element takes the place of another, with all that is in it', () => {
    assert.equal(fix('<a>\n <b><c>1</c></b>\n</a>', fault(2, 2, '<b>2</b>', '/a/b')), '<a>\n <b>2</b>\n</a>');
    assert.equal(fix('<a><b/><b>x</b></a>', fault(1, 4, '<b>1</b>', '/a/b[1]')), '<a><b>1</b><b>x</b></a>');
  });

  test('an element is taken out', () => {
    assert.equal(fix('<a><b>1</b><c/></a>', fault(1, 4, '', '/a/b')), '<a><c/></a>');
  });

  test('an attribute is changed, taken out, or put where there is none', () => {
    assert.equal(fix('<a x="1" p:Id=\'2\'>t</a>', fault(1, 1, 'Id="3"', '/a/@Id')), '<a x="1" Id="3">t</a>');
    assert.equal(fix('<a x="1">t</a>', fault(1, 1, '', '/a/@x')), '<a>t</a>');
    assert.equal(fix('<a>t</a>', fault(1, 1, 'v="1"', '/a/@v')), '<a v="1">t</a>');
  });

  test('what looks like markup and is none is passed over', () => {
    const text = '<a><!-- <b>no</b> --><![CDATA[<b>]]><?p <b> ?><b t=">">1</b></a>';
    const coluna = text.indexOf('<b t') + 1;
    assert.equal(fix(text, fault(1, coluna, '<b>2</b>', '/a/b')), text.replace('<b t=">">1</b>', '<b>2</b>'));
  });

  test('columns are characters, and lines end as they end', () => {
    assert.equal(fix('<a>\r\n😀<b>1</b></a>', fault(2, 2, '<b>2</b>', '/a/b')), '<a>\r\n😀<b>2</b></a>');
  });

  test('of two that touch each other the inner one is put in, and the other is for the next time', () => {
    const both = [fault(1, 1, '<a>outer</a>', '/a'), fault(1, 4, '<b>2</b>', '/a/b')];
    assert.deepEqual(applyFixes('<a><b>1</b></a>', both), { text: '<a><b>2</b></a>', applied: 1 });
  });

  test('what is not where it is said to be is left', () => {
    assert.deepEqual(applyFixes('<a><b>1</b></a>', [fault(1, 5, '<b/>', '/a/b')]), {
      text: '<a><b>1</b></a>',
      applied: 0,
    });
    assert.deepEqual(applyFixes('<a', [fault(1, 1, '<b/>', '/a')]), { text: '<a', applied: 0 });
    assert.deepEqual(applyFixes('</b></a>', [fault(1, 1, '<b/>', '/a')]), { text: '</b></a>', applied: 0 });
  });
});

describe('JSON', () => {
  test('a property takes the place of another, named by itself or by its value', () => {
    assert.equal(fix('{"a": 1, "b": {"c": 2}}', fault(1, 10, '"b": "x"')), '{"a": 1, "b": "x"}');
    assert.equal(fix('{"a": 1}', fault(1, 7, '"a": 2')), '{"a": 2}');
  });

  test('a property is taken out with its comma, the first, the last and the only one', () => {
    assert.equal(fix('{"a": 1, "b": 2}', fault(1, 2, '')), '{ "b": 2}');
    assert.equal(fix('{"a": 1, "b": 2}', fault(1, 10, '')), '{"a": 1}');
    assert.equal(fix('{"a": 1}', fault(1, 2, '')), '{}');
  });

  test('a member of a list is changed and taken out', () => {
    assert.equal(fix('[1, "b", [3]]', fault(1, 5, '2')), '[1, 2, [3]]');
    assert.equal(fix('{"l": [1, 2]}', fault(1, 11, '')), '{"l": [1]}');
  });

  test('a text with quotes, braces and escapes in it is one value', () => {
    assert.equal(fix('{"a": "}\\",{", "b": 1}', fault(1, 16, '"b": 2')), '{"a": "}\\",{", "b": 2}');
  });

  test('what is broken is left as it is', () => {
    for (const text of ['{"a": ', '{"a" 1}', '}}', '[[[', '{"a": "x']) {
      assert.ok(applyFixes(text, [fault(9, 9, '"a": 1')]).text === text);
    }
  });
});

test('a hostile text is gone through once, whatever is in it', () => {
  const many = 200_000;
  for (const text of [
    `<${'a'.repeat(many)}`,
    '<a '.repeat(many),
    `<a${' '.repeat(many)}>`,
    `<a ${'b '.repeat(many)}/>`,
    '<a "'.repeat(many),
    `<a x="${'<'.repeat(many)}`,
    '<!--'.repeat(many),
    '<![CDATA['.repeat(many),
    '<?'.repeat(many),
    '<!'.repeat(many),
    '{"a":'.repeat(many),
    `[${'"\\\\"'.repeat(many)}`,
    `["${'a'.repeat(many)}`,
  ]) {
    assert.ok(applyFixes(text, [fault(1, 1, 'x', '/a/@x')]).applied <= 1);
  }
});

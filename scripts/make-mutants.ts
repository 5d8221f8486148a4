/**
 * The mutants of a source file: small changes, each of which some test should notice. Sentences stay unchanged, because
 * a test of their wording would not test their meaning.
 *
 * A change that the types refuse is no mutant. SQL statements are mutated in their text.
 */
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isExpressionStatement,
  isIfStatement,
  isImportDeclaration,
  isLiteralTypeNode,
  isNoSubstitutionTemplateLiteral,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isRegularExpressionLiteral,
  isReturnStatement,
  isTypeNode,
  isWhileStatement,
} from 'typescript/unstable/ast/is';

export type Mutant = { readonly start: number; readonly end: number; readonly text: string };

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '??=': ['='],
  '||=': ['='],
};

const METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  toUpperCase: 'toLowerCase',
  toLowerCase: 'toUpperCase',
};

const SQL = /\b(select|insert into|update|delete from)\b/;
const SQL_CHANGES: readonly (readonly [RegExp, string])[] = [
  [/ = /g, ' <> '],
  [/ <> /g, ' = '],
  [/ > /g, ' >= '],
  [/ < /g, ' <= '],
  [/ >= /g, ' > '],
  [/ <= /g, ' < '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/\bgreatest\(/g, 'least('],
  [/\bleast\(/g, 'greatest('],
  [/\bmin\(/g, 'max('],
  [/\bmax\(/g, 'min('],
  [/ order by [\w.]+/g, ''],
  [/ is not null\b/g, ' is null'],
  [/ is null\b/g, ' is not null'],
  [/ for (no key )?update( skip locked)?/g, ''],
  [/ skip locked/g, ''],
  [/ do update set .*/g, ' do nothing'],
  [/\b0\b/g, '1'],
  [/(?<![$\w])1\b/g, '2'],
];

export function mutantsOf(file: SourceFile): readonly Mutant[] {
  const found: Mutant[] = [];
  const walk = (node: Node): void => {
    if (isTypeNode(node) || isImportDeclaration(node) || isLiteralTypeNode(node)) return;
    found.push(...mutantsAt(node, file));
    node.forEachChild(walk);
  };
  walk(file);
  return found.toSorted((one, other) => one.start - other.start);
}

function mutantsAt(node: Node, file: SourceFile): readonly Mutant[] {
  const whole = (text: string): Mutant => at(node, file, text);
  const source = node.getText(file);
  if (isBinaryExpression(node)) {
    const { operatorToken } = node;
    return (OPERATORS[operatorToken.getText(file)] ?? []).map((text) => at(operatorToken, file, text));
  }
  if (isIfStatement(node)) return ['true', 'false'].map((text) => at(node.expression, file, text));
  if (isWhileStatement(node)) return [at(node.expression, file, 'false')];
  if (isConditionalExpression(node)) return ['true', 'false'].map((text) => at(node.condition, file, text));
  if (isExpressionStatement(node)) return [whole(';')];
  if (isReturnStatement(node) && node.expression !== undefined && !isPlain(node.expression)) {
    return [whole('return undefined as never;')];
  }
  if (isArrayLiteralExpression(node)) return node.elements.length > 0 ? [whole('[]')] : [];
  if (isPrefixUnaryExpression(node)) {
    return node.operator === SyntaxKind.ExclamationToken || node.operator === SyntaxKind.MinusToken
      ? [whole(node.operand.getText(file))]
      : [];
  }
  if (isPropertyAccessExpression(node) || isElementAccessExpression(node) || isCallExpression(node)) {
    const question = node.questionDotToken;
    const mutants = question ? [at(question, file, isPropertyAccessExpression(node) ? '!.' : '!')] : [];
    if (isPropertyAccessExpression(node)) {
      const other = Object.hasOwn(METHODS, node.name.text) ? METHODS[node.name.text] : undefined;
      if (other !== undefined) mutants.push(at(node.name, file, other));
    }
    return mutants;
  }
  return literalMutants(node, source, whole);
}

function literalMutants(node: Node, source: string, whole: (text: string) => Mutant): readonly Mutant[] {
  switch (node.kind) {
    case SyntaxKind.TrueKeyword:
      return [whole('false')];
    case SyntaxKind.FalseKeyword:
      return [whole('true')];
    case SyntaxKind.NumericLiteral:
      return [whole(`(${source} + 1)`)];
    case SyntaxKind.BigIntLiteral:
      return [whole(`(${source} + 1n)`)];
    case SyntaxKind.RegularExpressionLiteral:
      return [source.replace(/^\/\^/, '/'), source.replace(/\$\/(\w*)$/, '/$1')]
        .filter((text) => isRegularExpressionLiteral(node) && text !== source)
        .map(whole);
    case SyntaxKind.StringLiteral: {
      if (SQL.test(source)) return sqlMutants(source, whole);
      const isName = isPropertyAssignment(node.parent) && node.parent.name === node;
      if (isName || /\s/.test(source)) return [];
      return [whole(source === "''" ? "'mutante'" : "''")];
    }
    case SyntaxKind.NoSubstitutionTemplateLiteral:
    case SyntaxKind.TemplateExpression:
      return SQL.test(source) || isNoSubstitutionTemplateLiteral(node) ? sqlMutants(source, whole) : [];
    default:
      return [];
  }
}

function sqlMutants(source: string, whole: (text: string) => Mutant): readonly Mutant[] {
  if (!SQL.test(source)) return [];
  return SQL_CHANGES.flatMap(([wanted, instead]) =>
    [...source.matchAll(wanted)].map(({ index, 0: found }) =>
      whole(source.slice(0, index) + instead + source.slice(index + found.length)),
    ),
  );
}

/** Plain values, which another mutant changes already. */
function isPlain(node: Node): boolean {
  const plain = [SyntaxKind.TrueKeyword, SyntaxKind.FalseKeyword, SyntaxKind.NumericLiteral, SyntaxKind.StringLiteral];
  return plain.includes(node.kind) || node.getText() === 'undefined';
}

function at(node: Node, file: SourceFile, text: string): Mutant {
  return { start: node.getStart(file), end: node.end, text };
}

/** The words of comments: the subject first, at most twenty words a sentence, and no riddles of "who" and "what". */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.resolve(import.meta.dirname, '..');
const FILES = globSync(['{src,test,bench,scripts}/**/*.ts', 'packages/*/{src,test}/**/*.ts'], {
  cwd: ROOT,
  exclude: (name) => /node_modules|\/pacote\//.test(name),
});
/** Files with lines of other programs and languages that look like comments of ours. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'packages/cliente/src/tipos.ts',
  'src/published/site/reference.ts',
  'test/site-navegador.test.ts',
  'test/support/conta.ts',
]);
const WORDS_MAX = 20;
const PREPOSITION =
  /^(?:Of|From|To|For|With|Without|By|In|On|At|After|Before|Between|Beside|Behind|Where|Until|Once|Beyond|Under|Over|Against|Within|Instead)\b/;
const PRONOUN = /^(?:who|whoever|whom|whose|what|whatever)\b|\b(?:whoever|whomever|whatever)\b|[,;:] (?:what|who)\b/i;
/** Orders to tools. */
const DIRECTIVE = /^\s*(?:biome|@ts|knip|c8|#__|!)/;

type Comment = { readonly line: number; readonly text: string };

/** Comments that fill whole lines; neighbouring lines of `//` are one comment. */
function readComments(source: string): readonly Comment[] {
  const blocks = [...source.matchAll(/^[ \t]*\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n)+/gm)];
  return blocks.map(({ 0: whole, 1: inside, index }) => ({
    line: source.slice(0, index).split('\n').length,
    text: (inside ?? whole).replaceAll(/^[ \t]*(?:\/\/|\* ?)/gm, ' '),
  }));
}

function splitSentences(text: string): readonly string[] {
  return text
    .replaceAll(/ ?\(D-\d+(?:, D-\d+)*\)/g, '')
    .replaceAll(/\{@link ([^}]*)\}/g, '$1')
    .replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[ .;:!?]/g, '_'))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.!?]["')]?)\s+|(?<=[;:]) /);
}

function faultOf(sentence: string): string | undefined {
  const count = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
  if (count > WORDS_MAX) return `${count} words`;
  if (PREPOSITION.test(sentence)) return 'begins with a preposition, not with its subject';
  return PRONOUN.test(sentence) ? 'a pronoun in place of the thing' : undefined;
}

test('the words of comments', () => {
  let sentences = 0;
  const faults: string[] = [];
  for (const file of FILES.filter((one) => !NOT_OURS.has(one.replaceAll(path.sep, '/')))) {
    for (const { line, text } of readComments(readFileSync(path.join(ROOT, file), 'utf8'))) {
      if (DIRECTIVE.test(text)) continue;
      for (const sentence of splitSentences(text)) {
        sentences += 1;
        const fault = faultOf(sentence);
        if (fault !== undefined) faults.push(`${file}:${line} ${fault}: ${sentence}`);
      }
    }
  }
  assert.ok(sentences > 10_000);
  assert.deepEqual(faults, []);
});

test('a fault of each kind is seen', () => {
  const faulty = {
    'Of a name that nobody has.': 'begins with a preposition, not with its subject',
    'Who asks waits.': 'a pronoun in place of the thing',
    'The row stays, what is told goes.': 'a pronoun in place of the thing',
    [`The ${'very '.repeat(WORDS_MAX)}long one.`]: `${WORDS_MAX + 3} words`,
    'The lock is held until the transaction ends.': undefined,
  };
  for (const [sentence, fault] of Object.entries(faulty)) assert.equal(faultOf(sentence), fault, sentence);
});

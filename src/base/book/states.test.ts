/** The words of the state machines, as statements and code outside `fiscal` use them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { EVENTO_ANTES_DO_ENVIO, EVENTO_EM_VAO, EVENTO_ESTADOS, EVENTO_MOVES } from '../../fiscal/evento.ts';
import { LOTE_MOVES, LOTE_SITUACAO } from '../../fiscal/lote.ts';
import { NOTA_ESTADOS, NOTA_FINAIS, NOTA_MOVES, NOTA_NAO_TRANSMITIDA } from '../../fiscal/nota.ts';
import { ESTADOS_ENTREGA } from '../../subjects/avisos/webhooks.rows.ts';
import { ESTADOS_DO_ENDERECO } from '../../subjects/avisos/webhooks.ts';
import { ESTADOS_EXPORTACAO } from '../../subjects/partes/exportacoes.rows.ts';

const SRC = path.resolve(import.meta.dirname, '../..');
const files = globSync('{base,subjects,doors,wiring}/**/*.ts', { cwd: SRC }).filter(
  (file) => !file.endsWith('.test.ts'),
);

const ESTADOS = new Set<string>([
  ...Object.keys(NOTA_ESTADOS),
  ...Object.keys(EVENTO_ESTADOS),
  ...ESTADOS_ENTREGA,
  ...ESTADOS_DO_ENDERECO,
  ...ESTADOS_EXPORTACAO,
]);
/** Files that contain SQL statements. */
const IS_SQL = /^base\/(pg|book)\/|\.(rows|files)\.ts$/;
const TRIGGERS = new Set<string>([...NOTA_MOVES, ...EVENTO_MOVES].map(({ on }) => on));

/** Quoted words, one or several, after a name and a comparison; `case` compares by `when`. */
function comparedWith(names: string, text: string): readonly (readonly string[])[] {
  const list = "\\(?((?:'\\w+'(?:, *)?)+)";
  const compared = text.matchAll(new RegExp(`\\b(?:${names})\\b *(?:=|<>|in|not in|===|!==) *${list}`, 'g'));
  const cases = text.matchAll(new RegExp(`\\bcase (?:\\w+\\.)?(?:${names})((?: +when '\\w+' then [^\\n]*?)+)`, 'g'));
  return [...compared, ...cases].map(([, found]) =>
    [...found!.matchAll(/(?:when )?'(\w+)'/g)].map(([, word]) => word!),
  );
}

const found = files.flatMap((file) => {
  const text = readFileSync(path.join(SRC, file), 'utf8');
  // A statement about a move uses further names for its states.
  const names = IS_SQL.test(file) ? 'estado|nota_estado|found|para|de' : 'estado|nota_estado';
  const states = comparedWith(names, text).map((words) => ({ file, words, of: ESTADOS }));
  const triggers = comparedWith('gatilho', text).map((words) => ({ file, words, of: TRIGGERS }));
  return [...states, ...triggers];
});

test('a state or a trigger that is compared is one of a machine', () => {
  assert.ok(found.length > 40, `only ${found.length} were found`);
  for (const { file, words, of } of found) {
    for (const word of words) assert.ok(of.has(word), `${file}: no machine has ${word}`);
  }
});

test('a list of states in a statement is made of the machine', () => {
  for (const { file, words, of } of found) {
    if (of === ESTADOS) assert.equal(words.length, 1, `${file}: ${words.join(', ')}`);
  }
});

test('what the lists are made of the machines is what the specification of each state says', () => {
  assert.deepEqual(NOTA_FINAIS.toSorted(), ['cancelada', 'recusada']);
  assert.deepEqual(NOTA_NAO_TRANSMITIDA.toSorted(), ['emitida', 'retida']);
  assert.deepEqual(EVENTO_ANTES_DO_ENVIO.toSorted(), ['aguardando_autorizacao_nota', 'pendente']);
  assert.deepEqual(EVENTO_EM_VAO.toSorted(), ['cancelado', 'dispensado', 'rejeitado']);
});

test('a number of a lot’s state stands in its table alone, and its machine ends', () => {
  // ABRASF, `tsSituacaoLoteRps`: 2 não processado, 3 processado com erro, 4 processado com sucesso.
  assert.deepEqual(LOTE_SITUACAO, { recebido: 2, com_erros: 3, processado: 4 });
  for (const file of files.filter((one) => IS_SQL.test(one))) {
    assert.doesNotMatch(readFileSync(path.join(SRC, file), 'utf8'), /situacao *(?:=|<>|!==|===) *\d/, file);
  }
  const reached = new Set(LOTE_MOVES.map(({ to }) => to));
  assert.deepEqual([...reached].toSorted(), Object.keys(LOTE_SITUACAO).toSorted());
  for (const { to, due } of LOTE_MOVES.filter((move) => move.due !== 'never')) {
    assert.ok(
      LOTE_MOVES.some((move) => move.from === to && move.due === 'never'),
      `from ${to}, due ${due}, nothing ends`,
    );
  }
});

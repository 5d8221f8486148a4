/** The log contains no personal data, even if the database quotes the row that it refuses. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { freshPool } from '../../test/support/database.ts';
import { safeError } from './log.ts';

test('an error of the database is told by its names, never by the values that it quotes', async () => {
  const pool = await freshPool();
  await pool.query('create table pessoas (cpf text primary key check (length(cpf) = 11), nascimento date)');
  const refused = [
    ["insert into pessoas values ('52998224725 Maria', null)", '23514'],
    ["insert into pessoas values ('52998224725', 'Maria Exemplo')", '22007'],
  ] as const;
  for (const [sql, code] of refused) {
    const error = await pool.query(sql).then(
      () => assert.fail('it should be refused'),
      (failure) => failure,
    );
    assert.match(JSON.stringify({ ...error, message: error.message }), /Maria/, 'the error itself does quote');
    const told = JSON.stringify(safeError(error));
    assert.doesNotMatch(told, /Maria|52998224725/);
    assert.match(told, new RegExp(code));
  }
});

test('an error of ours is told whole', () => {
  const told = safeError(new RangeError('no such move')) as { type: string; message: string; stack: string };
  assert.equal(told.type, 'RangeError');
  assert.equal(told.message, 'no such move');
  assert.match(told.stack, /log\.test\.ts/);
});

test('a difference of the two readers of XML is told at the highest level', () => {
  const script = `
    import { createLog } from '${new URL('./log.ts', import.meta.url)}';
    import { readXml } from '${new URL('../documents/xml.ts', import.meta.url)}';
    import { readPlain } from '${new URL('../documents/plain-xml.ts', import.meta.url)}';
    createLog('info');
    const readOther = (_, limits) => readPlain(Buffer.from('<a>outra</a>'), limits);
    for (let run = 0; run < 20_000; run += 1) readXml(Buffer.from('<a>Maria Exemplo</a>'), readOther);
  `;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const [line] = stderr.split('\n').filter((one) => one.startsWith('{'));
  const { level, resumo, bytes, aspecto, msg } = JSON.parse(line!);
  assert.deepEqual(
    { level, resumo, bytes, aspecto, msg },
    {
      level: 60,
      // printf '<a>Maria Exemplo</a>' | sha256sum
      resumo: 'c82b43f46d55a0c8f1e05029bb9b9e37c0f18596e071870652e4084e905ed411',
      bytes: 20,
      aspecto: 'árvore',
      msg: 'as duas leituras de um XML diferem; vale a da libxml2',
    },
  );
  assert.doesNotMatch(stderr, /Maria|outra/);
});

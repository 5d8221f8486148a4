/** The migrations: what their files may say, and that every way to the version of the program ends in the same schema. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { migrationNames, readMigration } from '../src/store/migrations.ts';
import { faultsOf } from './support/migracoes.ts';

/**
 * Files from before the rules, with what they do all the same. 002 and 003 are of the first hours: no database of their time has more
 * than a register. 050 puts a column in the place of another of the same name.
 */
const BEFORE_THE_RULES: ReadonlyMap<string, readonly string[]> = new Map([
  ['002-estatisticas.sql', ['step 1: one full table a step: notas, documentos, trilha_notas, numeracao, prestadores']],
  [
    '003-cadastro.sql',
    [
      'step 1: a column is added without check, reference, key or generation: its constraint comes after it, not valid',
      'step 1: a column is added nullable or with a constant default',
      'step 1: rows are changed in batches',
      'step 1: a constraint is added "not valid", a key "using index"',
      'step 1: an index on a full table is made with concurrently, alone in its step, without "if not exists"',
      'step 1: one full table a step: prestadores, servicos_municipais',
    ],
  ],
  [
    '050-substitutas.sql',
    [
      'step 12: what the version before uses stays: nothing is dropped or renamed',
      'step 13: what the version before uses stays: nothing is dropped or renamed',
    ],
  ],
]);

describe('the files of the migrations', async () => {
  for (const nome of await migrationNames()) {
    test(`${nome} holds up nobody on a full table`, async () => {
      const { sql } = await readMigration(nome);
      assert.deepEqual(faultsOf(sql), BEFORE_THE_RULES.get(nome) ?? []);
    });
  }

  test('are numbered once each', async () => {
    const numbers = (await migrationNames()).map((nome) => /^(\d{3})-[a-z0-9-]+\.sql$/.exec(nome)?.[1]);
    assert.deepEqual(numbers, [...new Set(numbers)]);
    assert.ok(!numbers.includes(undefined));
  });

  test('are refused for what holds up a service', () => {
    for (const sql of [
      'create index a on notas (tenant)',
      'create index concurrently a on notas (tenant); create index concurrently b on notas (tenant)',
      'create index concurrently if not exists a on notas (tenant)',
      'drop index notas_due',
      'alter table notas validate constraint a; alter table notas add column b text',
      'alter table notas add constraint a check (b > 0)',
      'alter table notas add constraint a foreign key (tenant) references municipios',
      'alter table notas add unique (tenant, a)',
      "alter table notas add column a text check (a <> '')",
      'alter table notas add a text references municipios',
      'alter table notas add column a text not null',
      'alter table notas add column a timestamptz not null default now()',
      'alter table notas add column b text, add column a uuid default gen_random_uuid()',
      'alter table notas add column a int generated always as (1) stored',
      'alter table notas add column a bigserial',
      'alter table notas alter column a type bigint',
      'alter table notas alter a set data type bigint',
      'alter table notas alter column a set not null',
      'update notas set a = 1',
      'delete from notas where a = 1',
      'insert into notas select * from outra',
      '-- lotes: notas id\nupdate notas set a = 1',
      'alter table notas drop column a',
      'alter table notas rename column a to b',
      'alter table notas rename to b',
      'drop table notas',
      'lock table notas',
      'create table a (b int);\n--passo\ncreate table c (d int)',
      'create table a (b int);\n-- Passo\ncreate table c (d int)',
      '-- lotes: notas\nupdate municipios set a = 1',
      "do $$ begin execute 'update notas set a = 1'; end $$",
      'alter table notas add column a text; alter table eventos add column a text',
    ]) {
      assert.notDeepEqual(faultsOf(sql), [], sql);
    }
  });

  test('may do what holds up nobody', () => {
    for (const sql of [
      'create table a (tenant text, b int check (b > 0)); create index c on a (tenant); insert into a values (1)',
      'create index concurrently a on notas (tenant)\n  -- only; these\n where b',
      'drop index concurrently if exists a',
      "alter table notas add column a text, add b boolean not null default false, add column c text default 'a, b'",
      'alter table notas add constraint a check (b > 0) not valid\n;\n-- passo\nalter table notas validate constraint a',
      'alter table notas validate constraint a;\n-- passo\nalter table notas alter column a set not null',
      'alter table notas drop constraint a, alter column b drop not null, alter c set default 1',
      'alter table notas add constraint a primary key using index b',
      "alter table municipios add column a text check (a in ('x'))",
      '-- lotes: notas id\nupdate notas set a = 1 where tenant = $1 and id > $2 and id <= $3',
    ]) {
      assert.deepEqual(faultsOf(sql), [], sql);
    }
  });
});

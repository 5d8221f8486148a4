/** The migrations: the statements that their files may have. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shippedMigrations, statementsOf } from '../src/base/pg/migrations.ts';
import { migrationFaultsOf, parseSql, tenantTables } from './support/comandos.ts';
import { faultsOf } from './support/migracoes.ts';
import { PROXIMAS } from './support/proximas.ts';

describe('the files of the migrations', async () => {
  const shipped = await shippedMigrations();
  const tables = await tenantTables();
  for (const { nome, sql } of [...shipped, ...PROXIMAS]) {
    test(`${nome} holds up nobody on a full table`, () => assert.deepEqual(faultsOf(sql), []));
    test(`${nome} says what a distributed table takes`, () => assert.deepEqual(migrationFaultsOf(sql, tables), []));
  }

  test('are parted into statements as PostgreSQL does', async () => {
    for (const { nome, sql } of shipped) {
      assert.deepEqual(statementsOf(sql).flatMap(parseSql).map(kindOf), parseSql(sql).map(kindOf), nome);
    }
    const sql = "select ';' /*a*/; -- b;\ncreate function f() returns int as $$ select 1; $$ language sql;\n-- c\n;";
    assert.equal(statementsOf(sql).length, 2);
  });

  test('are refused for what a distributed table does not take', () => {
    for (const sql of [
      'alter table notas add column a text, add column b text',
      'alter table notas add check (a > 0) not valid',
      'alter table notas add foreign key (tenant) references municipios not valid',
      'update notas n set a = upper(d.b) from documentos d where d.tenant = n.tenant and n.tenant = $1 and n.id > $2 and n.id <= $3',
      'update notas set a = 1 where id > $2 and id <= $3',
      'create trigger a before insert on notas for each row execute function b()',
    ]) {
      assert.notDeepEqual(migrationFaultsOf(sql, tables), [], sql);
    }
    for (const sql of [
      'create table nova (tenant text primary key check (tenant > $$$$)); alter table nova add check (a > 0), add column b text',
      'alter table notas add constraint notas_a check (a > 0) not valid',
      'alter table notas add column a text',
      'update notas n set a = d.b from documentos d where d.tenant = n.tenant and n.tenant = $1 and n.id > $2 and n.id <= $3',
    ]) {
      assert.deepEqual(migrationFaultsOf(sql, tables), [], sql);
    }
  });

  test('are numbered once each', () => {
    const numbers = shipped.map(({ nome }) => /^(\d{3})-[a-z0-9-]+\.sql$/.exec(nome)?.[1]);
    assert.ok(numbers.length > 0);
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
      'alter table notas add column a text, add b boolean not null default false',
      'alter table eventos add check (b > 0) not valid',
      'alter table eventos add constraint a check (b > 0) not valid, alter column b drop not null',
      'alter table notas add constraint a primary key using index b',
      'alter table notas add constraint a foreign key (tenant) references municipios not valid',
      '-- lotes: notas id\nupdate notas set a = 1 where tenant = $1 and id > $2 and id <= $3',
      '-- lotes: notas mes id\nupdate notas set a = 1 where tenant = $1 and id > $2 and id <= $3',
      '-- lotes: eventos mes id\nupdate eventos set a = 1 where tenant = $1 and mes = $4 and id > $2 and id <= $3',
    ]) {
      assert.notDeepEqual(faultsOf(sql), [], sql);
    }
  });

  test('may do what holds up nobody', () => {
    for (const sql of [
      'create table a (tenant text, b int check (b > 0)); create index c on a (tenant); insert into a values (1)',
      'create index concurrently a on notas (tenant)\n  -- only; these\n where b',
      'drop index concurrently if exists a',
      "alter table notas add column a text; alter table notas add b boolean not null default false; alter table notas add column c text default 'a, b'",
      'alter table notas add constraint a check (b > 0) not valid\n;\n-- passo\nalter table notas validate constraint a',
      'alter table notas validate constraint a;\n-- passo\nalter table notas alter column a set not null',
      'alter table notas drop constraint a; alter table notas alter column b drop not null; alter table notas alter c set default 1',
      'alter table eventos add constraint a primary key using index b',
      "alter table municipios add column a text check (a in ('x'))",
      '-- lotes: eventos id\nupdate eventos set a = 1 where tenant = $1 and id > $2 and id <= $3',
      '-- lotes: notas mes id\nupdate notas set a = 1 where tenant = $1 and mes = $4 and id > $2 and id <= $3',
    ]) {
      assert.deepEqual(faultsOf(sql), [], sql);
    }
  });
});

function kindOf(stmt: object): string {
  return Object.keys(stmt).join();
}

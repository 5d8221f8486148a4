/**
 * The form of statements that Citus accepts (src/base/pg/README.md). The rules are tested by examples that Citus 13.2 refuses and accepts,
 * and then applied to every declared statement. Each test file checks the statements that are sent (`support/sent.ts`).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nameOfSeveral } from '../src/base/pg/mergeable.ts';
import { PLANNED } from '../src/base/pg/planned.ts';
import '../src/wiring/store.ts';
import type { Subject } from '../src/subjects/subject.ts';
import { SUBJECTS } from '../src/subjects/subjects.ts';
import { faultsOf, tenantTables } from './support/comandos.ts';
import { MES } from './support/nota-keys.ts';
import { isKnown, OFFENDERS } from './support/sent.ts';

const TABLES = new Set(['notas', 'trilha_notas', 'eventos', 'municipios']);

describe('a statement is refused', () => {
  for (const sql of [
    'with moved as (update notas set a = 1 where tenant = $1 returning id) insert into trilha_notas (tenant, nota) select $2, id from moved',
    'with x as (insert into trilha_notas (tenant, nota) select $1, n.id from notas n where n.tenant = $1 returning nota) select nota from x',
    'update notas set a = 1',
    'update notas set a = 1 where id = $1',
    'update notas n set a = 1 from eventos e where n.tenant = $1 and e.nota = n.id',
    'update notas n set a = 1 from eventos e where n.tenant = $1 and e.tenant = $2 and e.nota = n.id',
    'delete from notas where id = $1',
    'delete from notas n using eventos e where n.tenant = $1 and e.nota = n.id',
    'select 1 from notas where id = $1 for update',
    'select 1 from notas n join eventos e on e.nota = n.id where n.tenant = $1 for update of n',
    'insert into notas (id) values ($1)',
    'insert into notas (tenant, id) select tenant, id from eventos',
    'insert into notas (tenant, id) values ($1, 1), ($2, 2)',
    "update notas set due_at = case when a then $2 + interval '1 hour' end where tenant = $1",
    'update notas set due_at = coalesce(due_at, now()) where tenant = $1',
    "insert into notas as n (tenant, em) values ($1, $2) on conflict (tenant) do update set a = 1 where n.em < excluded.em - interval '72 hours'",
    'insert into notas (tenant, id) values ($1, (select max(id) + 1 from notas where tenant = $1))',
    'delete from notas t where t.tenant = $1 returning to_json(t.id) as item',
    'update notas set a = 1 where tenant = $1 returning coalesce(em, now())',
    'select pg_advisory_xact_lock(1)',
    'select true where pg_try_advisory_xact_lock_shared(hashtextextended($1, 0))',
    'create trigger a before insert on notas for each row execute function b()',
    'do $$ begin perform 1; end $$',
    'update notas set a = 1 where tenant = $1; update eventos set a = 1 where tenant = $1',
  ]) {
    test(sql, () => assert.notDeepEqual(faultsOf(sql, TABLES), []));
  }

  test('that joins a temporary table with ours', () => {
    const temporaries = new Set(['entrada']);
    const join = 'delete from notas n using entrada e where n.tenant = $1 and e.id = n.id';
    assert.notDeepEqual(faultsOf(join, TABLES, temporaries), []);
    assert.deepEqual(faultsOf('insert into entrada (id) values ($1)', TABLES, temporaries), []);
  });
});

describe('a statement is taken', () => {
  for (const sql of [
    'with moved as (update notas set a = 1 where tenant = $1 returning id) select id from moved',
    'with x as (insert into trilha_notas (tenant, nota) values ($1, $2) returning nota) select nota from x',
    'with t as (delete from notas n where n.tenant = $1 returning n.id) select to_json(t.id) as item from t',
    'insert into notas (tenant, id) select m.tenant, coalesce((select max(n.id) from notas n where n.tenant = $1), 0) + 1 from municipios m where m.tenant = $1',
    'update notas set a = 1 where tenant = $1 and id = $2',
    "update notas set a = 1 where tenant = ''",
    'update notas n set a = 1 from eventos e where e.tenant = n.tenant and n.tenant = $1 and e.nota = n.id',
    'update notas n set a = x.b from unnest($2::int[]) as x (b) where n.tenant = $1::text and n.id = x.b',
    'select 1 from notas n join eventos e on e.tenant = $1 and e.nota = n.id where n.tenant = $1 for update of n',
    'with due as (select id from notas where tenant = $1 for update skip locked) update notas n set a = 1 from due where n.tenant = $1 and n.id = due.id',
    'insert into notas (tenant, id) values ($1, 1), ($1, 2)',
    'insert into notas (tenant, id) select m.tenant, x.id from municipios m cross join unnest($2::int[]) as x (id) where m.tenant = $1',
    'insert into notas (tenant, id) select tenant, 1 from municipios where tenant = $1',
    'insert into notas as n (tenant, em) values ($1, $2) on conflict (tenant) do update set a = 1 where n.em < $3',
    'update notas set due_at = case when a then $2 else $3::timestamptz end where tenant = $1',
    'select count(*) from notas',
    'select a, case when b then now() end from pg_locks',
    'begin isolation level read committed; set local lock_timeout = 1',
    'begin; set local lock_timeout = 0; lock table notas in share mode',
  ]) {
    test(sql, () => assert.deepEqual(faultsOf(sql, TABLES), []));
  }
});

test('every statement that is declared is one that Citus takes', async () => {
  const tables = await tenantTables();
  assert.ok(PLANNED.size > 40 && tables.size > 20);
  // The form for several tenants is sent to no Citus.
  const ofOne = [...PLANNED].filter(([name]) => !name.endsWith(nameOfSeveral('')));
  const declared = ofOne.map(([name, textOf]) => [name, textOf(MES)] as const);
  const faults = declared.flatMap(([name, text]) => faultsOf(text, tables).map((fault) => ({ name, text, fault })));
  assert.deepEqual(
    faults.filter(({ text, fault }) => !isKnown(text, fault)).map(({ name, fault }) => `${name}: ${fault}`),
    [],
  );
  for (const [fault, statement] of OFFENDERS) {
    const still = faults.some((one) => one.fault === fault && statement.test(one.text.trim()));
    assert.ok(still, `nothing like ${statement} does this any more, take it out of OFFENDERS: ${fault}`);
  }
});

test('one subject has all commands of a word: a command is looked for in no other', async () => {
  const words = await Promise.all(
    SUBJECTS.map(async (loadSubject) => {
      const { default: subject }: { readonly default: Subject } = await loadSubject();
      return [...new Set((subject.commands ?? []).flatMap((file) => file.words))];
    }),
  );
  const all = words.flat();
  assert.ok(all.length > 20);
  assert.deepEqual(all.toSorted(), [...new Set(all)].toSorted());
});

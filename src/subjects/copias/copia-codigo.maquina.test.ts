/** Code in a copy that would run during the verification or the restoration: it is reported by name, and none of it runs. */
import assert from 'node:assert/strict';
import { chmod, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { casaOf, folderFor, freshCopias } from '../../../test/support/copia.ts';
import { databaseUrlOf } from '../../../test/support/database.ts';
import { readyDataDir, startServiceProcess } from '../../../test/support/process.ts';
import { openEmbedded } from '../../base/pg/embedded.ts';
import { Client } from '../../base/pg/pg.ts';

const quiet = { info() {}, warn: console.error, error: console.error };
const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

/** A finding that only the comparison with a new cluster yields. */
const FROM_WITHIN = /visão pg_group do PostgreSQL, que usa funcid \d+/;

/** Each way to run code: statements that prepare it, and the report of it. A mark shows whether the code ran. */
const ROADS = (mark: (name: string) => string): readonly (readonly [laid: readonly string[], told: RegExp])[] => [
  [
    [
      `create event trigger ao_entrar on login execute function ${mark('evento')}`,
      'alter event trigger ao_entrar enable always',
    ],
    /gatilho de evento \(login\) ao_entrar/,
  ],
  [
    [`create trigger ao_gravar before insert or update on municipios execute function ${mark('gatilho')}`],
    /gatilho ao_gravar em municipios/,
  ],
  [['create rule ao_ler as on update to notas do also select 1'], /regra ao_ler em notas/],
  [['create policy so_eu on notas using (true)'], /política so_eu em notas/],
  [
    [`alter table lotes add column a text default ${mark('padrao')}`],
    /valor padrão, ou coluna gerada, de lotes, que chama padrao/,
  ],
  [[`alter table lotes add column b text default pg_read_file('PG_VERSION')`], /de lotes, que chama pg_read_file/],
  [[`create index i on eventos ((${mark('indice')}))`], /índice de eventos, que chama indice/],
  [
    [`alter table fila add constraint c check (${mark('restricao')} is not null) not valid`],
    /restrição de fila, que chama restricao/,
  ],
  [
    [
      'create function igual(text, text) returns boolean language sql as $$ select true $$',
      'create operator === (leftarg = text, rightarg = text, function = igual)',
    ],
    /operador ===/,
  ],
  [
    [
      `create type moeda as (v text)`,
      `create function ler(moeda) returns text language sql as $$ select 'x' $$`,
      'create cast (moeda as text) with function ler(moeda)',
    ],
    /conversão de tipo public\.moeda para text/,
  ],
  [
    [`create function lower(character varying) returns text language sql as $$ select 'x' $$`],
    /função lower, com o nome de uma do PostgreSQL/,
  ],
  [
    [
      'set allow_system_table_mods = on',
      `create or replace view pg_catalog.pg_group as select rolname as groname, oid as grosysid, null::oid[] as grolist
        from pg_authid where pg_read_file('PG_VERSION') is not null`,
    ],
    FROM_WITHIN,
  ],
  [
    [
      'create extension amcheck',
      `create or replace function bt_index_check(index regclass, heapallindexed boolean) returns void language plpgsql as $$ begin perform ${mark('amcheck')}; end $$`,
      'alter extension plpgsql add function gatilho()',
      'create trigger de_extensao before insert on atos execute function gatilho()',
    ],
    /gatilho de_extensao em atos/,
  ],
  [['create extension file_fdw', 'create server fora foreign data wrapper file_fdw'], /servidor de dados de fora fora/],
  [
    [
      `create foreign table de_fila () inherits (fila) server fora options (program 'touch ${mark('programa').slice(0, -2)}', format 'csv')`,
    ],
    /tabela de fora de_fila/,
  ],
  [['create domain limitado as text check (length(value) < 9)'], /domínio limitado, com uma restrição/],
  [
    [`create statistics e on (${mark('estatistica')}), tenant from sequencias`],
    /estatística de sequencias, que chama estatistica/,
  ],
  [
    [
      'alter table auditoria_ate rename to guardada',
      'alter index auditoria_ate_pkey rename to guardada_pkey',
      'create view auditoria_ate as select * from guardada',
    ],
    /visão auditoria_ate, /,
  ],
  [
    ['alter database nfse set session_preload_libraries = basic_archive'],
    /ajuste session_preload_libraries=basic_archive/,
  ],
  [['create schema outro', 'create table outro.notas (id bigint)'], /notas em dois esquemas/],
  [['alter table tokens rename to guardados', 'create view tokens as select * from guardados'], /visão tokens, /],
  [
    [`create subscription de_fora connection 'host=192.0.2.1' publication p with (connect = false)`],
    /assinatura de_fora/,
  ],
];

test('what would run by itself is told, and nothing of it runs, nor keeps a clean copy from coming back', {
  skip: noServer,
  timeout: 600_000,
}, async () => {
  const server = await openEmbedded({ dataDir: await readyDataDir(), log: quiet });
  onEnd(() => server.stop());
  const folder = await folderFor('marcas');
  const volta = await folderFor('volta');
  await Promise.all([chmod(folder, 0o777), chmod(volta, 0o755)]);
  const client = new Client(server.connection);
  await client.connect();
  const casa = casaOf(path.join(await folderFor('nada'), 'dados'), await freshCopias(), {
    DATABASE_URL: databaseUrlOf(server.connection),
  });
  const service = await startServiceProcess(casa.env);
  await service.end('SIGINT');
  // Harmless objects of an administrator; nothing calls them.
  await client.query('create view visto as select tenant, count(*) from notas group by tenant');
  await client.query('create function de_fora(a text) returns text language sql as $$ select a $$');
  await client.query('create extension pg_stat_statements');
  // Changes of an administrator to PostgreSQL's own objects, and another database of the server.
  for (const text of [
    'grant execute on function pg_catalog.lower(text) to public',
    'vacuum full',
    'create database outro',
    // The state in which PostgreSQL leaves a database whose removal was interrupted.
    'create database a_meio',
    `update pg_database set datconnlimit = -2 where datname = 'a_meio'`,
  ]) {
    await client.query(text);
  }
  const outro = new Client({ ...server.connection, database: 'outro' });
  await outro.connect();
  await outro.query('create table t (a text)');
  await outro.query(`create function dispara() returns trigger language plpgsql as 'begin return new; end'`);
  await outro.query('create trigger de_outro before insert on t execute function dispara()');
  await outro.end();
  assert.doesNotMatch(await casa.done('fazer'), /recusarão/);
  const judged = await casa.done('conferir');
  assert.match(judged, /AVISO {2}outros bancos do servidor .* no banco outro: gatilho de_outro em t\./);
  assert.match(judged, /volta inteira/);
  const alone = await casaOf(casa.dataDir, casa.copias).copia('conferir');
  assert.deepEqual([alone.code, alone.out.includes('volta inteira')], [1, false], alone.out);
  assert.match(alone.err, /a cópia traz .*: no banco outro: gatilho de_outro em t\. Nada disso rodou/);

  const laid: string[] = [];
  const mark = (name: string): string => {
    const returns = { evento: 'event_trigger', gatilho: 'trigger' }[name] ?? 'text';
    // The code runs only where the copy is judged, not in the copied database.
    laid.push(
      `create function ${name}() returns ${returns} language plpgsql immutable as $$ begin
      if current_setting('max_connections') = '40' then execute 'copy (select 1) to program ''touch ${folder}/${name}'''; end if;
      return ${returns === 'text' ? "''" : returns === 'trigger' ? 'new' : 'null'}; end $$`.replace(
        'return null;',
        returns === 'event_trigger' ? '' : 'return null;',
      ),
    );
    return `${name}()`;
  };
  const roads = ROADS(mark);
  for (const text of [...laid, ...roads.flatMap(([texts]) => texts)]) await client.query(text);
  await client.query(`alter role ${server.connection.user} set event_triggers = on`);
  await client.end();
  const made = await casa.done('fazer');
  assert.match(made, /AVISO {2}conferir e restaurar recusarão esta cópia/);
  for (const [, told] of roads) if (told !== FROM_WITHIN) assert.match(made, told);
  for (const asked of [['conferir'], ['restaurar', '--para', path.join(volta, 'pg')]] as const) {
    const { code, err } = await casa.copia(...asked);
    assert.equal(code, 1, err);
    for (const [, told] of roads) assert.match(err, told);
    assert.match(err, /nada foi restaurado/);
    assert.deepEqual(await readdir(folder), [], 'something of the copy has run');
  }
  await rm(folder, { recursive: true, force: true });
});

test('what was changed within PostgreSQL’s own catalogs is told before any session is had', {
  skip: noServer,
  timeout: 600_000,
}, async () => {
  const server = await openEmbedded({ dataDir: await readyDataDir(), log: quiet });
  onEnd(() => server.stop());
  const client = new Client(server.connection);
  await client.connect();
  const casa = casaOf(path.join(await folderFor('nada'), 'dados'), await freshCopias(), {
    DATABASE_URL: databaseUrlOf(server.connection),
  });
  await client.query('set allow_system_table_mods = on');
  for (const text of [
    `update pg_proc set prolang = 14, prosrc = 'select 1.0::float8' where proname = 'cosd' and oid < 16384`,
    `update pg_proc set prolang = (select oid from pg_language where lanname = 'plpgsql'), prosrc = 'begin return 1; end'
      where proname = 'sind' and oid < 16384`,
    `update pg_type set typoutput = 'lseg_out'::regproc where typname = 'point'`,
    `update pg_operator set oprcode = 'point_ne'::regproc where oprcode = 'point_eq'::regproc`,
    `update pg_cast set castfunc = 'lseg_length'::regproc where castsource = 'path'::regtype and casttarget = 'polygon'::regtype`,
    `update pg_am set amhandler = 'bthandler'::regproc where amname = 'brin'`,
    `create function pg_catalog.encode(text) returns text language sql as 'select $1'`,
    'create view pg_catalog.pg_dependencia as select 1 as um',
  ]) {
    await client.query(text);
  }
  await client.end();
  await casa.done('fazer');
  const { code, err } = await casa.copia('conferir');
  assert.equal(code, 1, err);
  for (const told of [
    /função cosd do PostgreSQL, com mudança/,
    /função sind do PostgreSQL, com mudança/,
    /tipo point do PostgreSQL, com mudança/,
    /operador ~= do PostgreSQL, com mudança/,
    /conversão de tipo \d+ do PostgreSQL, com mudança/,
    /método de acesso brin do PostgreSQL, com mudança/,
    /função encode, entre os nomes do PostgreSQL/,
    /tabela, visão ou índice pg_dependencia, entre os nomes do PostgreSQL/,
  ]) {
    assert.match(err, told);
  }
  assert.match(err, /nada foi restaurado/);
});

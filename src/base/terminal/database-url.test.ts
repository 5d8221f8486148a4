/** `DATABASE_URL`: the accepted forms of libpq, one server or several, and the messages about a wrong one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDatabaseUrl } from './database-url.ts';

const serversOf = (text: string) =>
  readDatabaseUrl(text).servers.map(({ name, connectionString }) => [name, connectionString]);

test('one server is taken as it is written', () => {
  for (const [text, name] of [
    ['postgres://u:p@h/b', 'h:5432'],
    ['postgresql://u:p%40s@h:6000/b?sslmode=require&target_session_attrs=read-write', 'h:6000'],
    ['postgres://u@%2Fvar%2Frun:5433/b', '/var/run:5433'],
    ['postgres://u@[::1]:5433/b', '[::1]:5433'],
    ['postgres:///b?host=/var/run', ':5432'],
  ] as const) {
    assert.deepEqual(serversOf(text), [[name, text]]);
  }
});

test('of several each is an address of its own, with all else that was said', () => {
  const text = 'postgres://u:p,q@h1:5433,[fd00::2],%2Fvar%2Frun:5434/b?target_session_attrs=primary&sslmode=require';
  assert.deepEqual(serversOf(text), [
    ['h1:5433', 'postgres://u:p,q@h1:5433/b?target_session_attrs=primary&sslmode=require'],
    ['[fd00::2]:5432', 'postgres://u:p,q@[fd00::2]/b?target_session_attrs=primary&sslmode=require'],
    ['/var/run:5434', 'postgres://u:p,q@%2Fvar%2Frun:5434/b?target_session_attrs=primary&sslmode=require'],
  ]);
  assert.equal(readDatabaseUrl(text).location, 'h1:5433,[fd00::2],%2Fvar%2Frun:5434/b');
});

test('options stand apart, and are no part of the address', () => {
  const { servers, options } = readDatabaseUrl(
    'postgres://u@h1,h2/b?sslmode=require&options=-c%20work_mem%3D8MB&target_session_attrs=primary',
  );
  assert.equal(options, '-c work_mem=8MB');
  assert.equal(servers[1]!.connectionString, 'postgres://u@h2/b?sslmode=require&target_session_attrs=primary');
  assert.deepEqual(serversOf('postgres://u@h/b?options=-c%20a%3Db'), [['h:5432', 'postgres://u@h/b']]);
  assert.equal(readDatabaseUrl('postgres://u@h/b').options, undefined);
});

test('what is wrong is told, and nothing of it is repeated', () => {
  for (const [text, message] of [
    ['mysql://u:segredo@h/b', /não é um endereço válido/],
    ['postgres://u:segredo@h:70000/b', /não é um endereço válido/],
    ['postgres://u:seg#redo@h1,h2/b', /não é um endereço válido/],
    ['postgres://u:segredo@h1,,h2/b', /o 2\.º não é nome:porta/],
    ['postgres://u:segredo@h1,h2,/b', /o 3\.º não é nome:porta/],
    ['postgres://u:segredo@h1:0,h2/b', /o 1\.º não é nome:porta/],
    ['postgres://u:segredo@h1,h2:65536/b', /o 2\.º não é nome:porta/],
    ['postgres://u:segredo@h1,::1/b', /o 2\.º não é nome:porta/],
    ['postgres://u:1,segredo/x@h1/b', /não é um endereço válido\. Na senha, .*%2F/],
    [
      'postgres://u:segredo@h1,h2/b?target_session_attrs=standby',
      /o serviço grava. Use target_session_attrs=read-write/,
    ],
    ['postgres://u:segredo@h1,h2/b?target_session_attrs=any', /o serviço grava/],
    ['postgres://u:segredo@h1/b?host=h2,h3', /diz servidores em host=/],
    ['postgres://u:segredo@h1,h2/b?port=1', /diz servidores em port=/],
  ] as const) {
    assert.throws(
      () => readDatabaseUrl(text),
      ({ message: told }: Error) => message.test(told) && !/segredo|redo@/.test(told),
      text,
    );
  }
});

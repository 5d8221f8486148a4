/** The program's messages about unusable folders and files; each command is a process with its own database. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { freshFolder } from './support/openssl.ts';
import { nfse, readyDataDir } from './support/process.ts';

test('a folder without data is told so, and no database is made in it', async () => {
  const folder = freshFolder();
  const mistyped = path.join(folder, 'dadso');
  for (const typed of [
    'municipio listar',
    'municipio mostrar integracao',
    'municipio alterar alfa --aliquota 3',
    'prestador mostrar 11222333000181 --municipio alfa',
    'transmitir',
  ]) {
    const { code, out, err } = await nfse(typed.split(' '), { NFSE_DATA_DIR: mistyped, DATABASE_URL: '' }, folder);
    assert.deepEqual([code, out], [1, ''], typed);
    assert.ok(err.startsWith(`Não foi possível continuar: não há dados deste serviço em ${mistyped}. `), err);
    assert.match(
      err,
      /NFSE_DATA_DIR .*comece por nfse serve \(na pasta do projeto, npm start\) ou nfse municipio criar\.$/m,
    );
    assert.ok(!existsSync(mistyped));
  }
});

test('a file that cannot be read or written is told by its name, with what mends it', async () => {
  const folder = freshFolder();
  const env = { NFSE_DATA_DIR: await readyDataDir() };
  for (const [typed, file, said] of [
    ['prestador exportar NOME --municipio integracao', path.join(folder, 'nenhuma', 'p.csv'), /a pasta em que ficaria/],
    ['nota exportar NOME --municipio integracao', path.join(folder, 'nenhuma', 'n.zip'), /a pasta em que ficaria/],
    ['prestador exportar NOME --municipio integracao', folder, /é uma pasta/],
  ] as const) {
    const { code, err } = await nfse(typed.replace('NOME', file).split(' '), env);
    assert.equal(code, 1, typed);
    assert.ok(err.startsWith(`Não foi possível continuar: ${file} `), err);
    assert.match(err, said, typed);
  }
});

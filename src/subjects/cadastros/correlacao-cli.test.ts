/** The correlation of the legacy port as an operator imports it, and the settings of that port. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { freshPool } from '../../../test/support/database.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'nfse-correlacao-'));
onEnd(() => rmSync(folder, { recursive: true, force: true }));
const HEAD = 'item;codigo_municipal;codigo_tributacao_nacional;nbs;cst;cclasstrib;cindop';

test('a correlation is taken whole or not at all, and the settings of the port are shown', async () => {
  const pool = await freshPool();
  const run = (...args: string[]) => nfseHere(args, pool);
  const file = (name: string, ...lines: string[]): string => {
    const place = path.join(folder, name);
    writeFileSync(place, [HEAD, ...lines, ''].join('\n'));
    return place;
  };
  const made = await run(
    'municipio',
    'criar',
    'cidade',
    '--ibge',
    '3550308',
    '--ambiente',
    'homologacao',
    '--soap-sha1',
    'talvez',
  );
  assert.match(made.err, /--soap-sha1 talvez não existe: use sim ou nao/);
  const right = await run(
    'municipio',
    'criar',
    'cidade',
    '--ibge',
    '3550308',
    '--ambiente',
    'homologacao',
    '--soap-sha1',
    'sim',
  );
  assert.equal(right.code, 0, right.err);
  assert.match((await run('municipio', 'mostrar', 'cidade')).out, /SHA-1 no SOAP +aceito\n/);
  const changed = await run(
    'municipio',
    'alterar',
    'cidade',
    '--soap-sha1',
    'nao',
    '--soap-namespace',
    'urn:cidade:nfse',
  );
  assert.match(changed.out, /SHA-1 no SOAP +aceito → não aceito/);
  assert.match(changed.out, /namespace SOAP .*urn:cidade:nfse/);
  assert.match((await run('municipio', 'alterar', 'cidade', '--soap-namespace', 'nfse')).err, /endereço completo/);

  const good = file('boa.csv', '1.01;;;1.1502.10.00;000;000001;100301', '07.02;702A;070201;115021000;;;');
  const imported = await run('correlacao', 'importar', good, '--municipio', 'cidade');
  assert.equal(imported.code, 0, imported.err);
  assert.match(imported.out, /2 linhas/);
  const bad = file('ma.csv', '99.99;;;;;;', '1.01;;010100;;000;;', '1.01;;;123456789;200;000001;');
  const refused = await run('correlacao', 'importar', bad, '--municipio', 'cidade');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /linha 2: item 99\.99 não é da lista de serviços/);
  assert.match(refused.err, /linha 3: codigo_tributacao_nacional 010100 não existe; cst e cclasstrib vêm juntos/);
  assert.match(refused.err, /linha 4: nbs 123456789 não existe; cclasstrib 000001 não é do cst 200/);
});

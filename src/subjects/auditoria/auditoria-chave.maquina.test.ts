/**
 * The key of the audit chain in several processes: the server makes it, all of its threads have the same one, and a command can lack it.
 */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { databaseUrlOf, freshDatabase, poolOn } from '../../../test/support/database.ts';
import { authorised, emit } from '../../../test/support/http.ts';
import { freshDataDir, nfse, startServiceProcess } from '../../../test/support/process.ts';
import { until } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const SLUG = 'integracao';

test('the key of the audit chain', { timeout: 600_000 }, async (t) => {
  const connection = await freshDatabase();
  const pool = await poolOn(connection);
  const [dataDir, nowhere] = [await freshDataDir(), await freshDataDir()];
  const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_DATA_DIR: dataDir };
  const without = { ...env, NFSE_DATA_DIR: nowhere };
  const file = path.join(dataDir, 'auditoria.chave');
  const verificar = (settings: NodeJS.ProcessEnv) => nfse(['auditoria', 'verificar', SLUG], settings);
  const settled = () =>
    until(async () => {
      const { rows } = await pool.query(
        `select 1 from auditoria_ate a where tenant = $1 and aberta_em is not null
          and not exists (select 1 from auditoria w where w.tenant = $1 and w.lugar is null)`,
        [SLUG],
      );
      return rows.length > 0 || undefined;
    }, 'every entry has a place');
  const alter = (settings: NodeJS.ProcessEnv, limite: string) =>
    nfse(['municipio', 'alterar', SLUG, '--limite-endereco', limite], settings);

  const service = await startServiceProcess({ ...env, NFSE_PROCESSOS: '2' });
  for (const nDPS of ['1', '2', '3']) {
    const { status, body } = await emit(service.address, exampleXml({ serie: '1', nDPS }));
    assert.equal(status, 201, JSON.stringify(body));
    await authorised(service.address, body.chave_acesso);
  }

  await t.test('is a file of the service alone, by which all of its processes and commands write', async () => {
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const since = /^# desde (\S+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
    // The database has no entry older than the key.
    assert.ok(Date.parse(since) <= Date.now(), since);
    const done = await alter(env, '70');
    assert.equal(done.code, 0, done.err);
    await settled();
    const { rows } = await pool.query('select count(*)::int as n from auditoria where autenticador is null');
    assert.equal(rows[0].n, 0);
    const { code, out } = await verificar(env);
    assert.equal(code, 0, out);
    assert.match(out, /^[1-9]\d* entradas autenticadas pela chave$/m);
  });

  await t.test('is asked of a command: without it nothing is written, and nothing is judged', async () => {
    const refused = await alter(without, '71');
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, new RegExp(`não há ${nowhere}/auditoria\\.chave\\. Dê o comando na máquina que serve`));
    const { rows } = await pool.query('select limite_endereco from municipios where tenant = $1', [SLUG]);
    assert.equal(rows[0].limite_endereco, 70);
    const { code, out } = await verificar(without);
    assert.equal(code, 75, out);
    assert.match(
      out,
      /^ainda não: as entradas são autenticadas por uma chave \([0-9a-f]{16}\) que este comando não tem/m,
    );
    writeFileSync(path.join(nowhere, 'auditoria.chave'), 'não é\n', { mode: 0o600 });
    const undated = path.join(nowhere, 'auditoria.chave');
    const damaged = await alter(without, '71');
    assert.match(damaged.err, /auditoria\.chave, linha 1: não é uma chave da auditoria/);
    writeFileSync(undated, `# desde ontem\n${'ab'.repeat(32)}\n`, { mode: 0o600 });
    const when = await alter(without, '71');
    assert.match(when.err, /auditoria\.chave, linha 1: «ontem» não é um momento/);
  });

  await t.test('of another machine is one line more of the file', async () => {
    writeFileSync(path.join(nowhere, 'auditoria.chave'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
    const done = await alter(without, '71');
    assert.equal(done.code, 0, done.err);
    await settled();
    const apart = await verificar(env);
    assert.equal(apart.code, 1, apart.out);
    assert.match(apart.out, /^a entrada traz o autenticador de uma chave que este comando não tem/m);
    writeFileSync(file, `${readFileSync(file, 'utf8')}${'ab'.repeat(32)}\n`);
    const together = await verificar(env);
    assert.equal(together.code, 0, together.out);
  });

  await t.test('tells a chain that has lost its authenticators', async () => {
    const client = await pool.connect();
    try {
      await client.query('create table antes as table auditoria');
      await client.query('update auditoria set autenticador = null, autenticador_lugar = null');
      await client.query('update auditoria_ate set autenticador = null');
      const { code, out } = await verificar(env);
      assert.equal(code, 1, out);
      assert.match(out, /^a entrada não é do serviço, que desde antes dela autentica o que grava/m);
      await client.query('delete from auditoria');
      await client.query('insert into auditoria select * from antes');
      await client.query('drop table antes');
    } finally {
      client.release();
    }
  });

  await t.test('is not that of whoever writes in the database', async () => {
    await pool.query(
      `insert into auditoria (tenant, id, itens, resumos) select tenant, gen_random_uuid(), itens, resumos from auditoria
        where tenant = $1 and itens = '["municipios"]' and sobre is null limit 1`,
      [SLUG],
    );
    await settled();
    const { code, out } = await verificar(env);
    assert.equal(code, 1, out);
    assert.match(out, /^a entrada não é do serviço, que desde antes dela autentica o que grava.* \(entrada \d+, de /m);
  });
});

/** A month is eliminated after its legal time, with an authority, and not while it is held. No row or file mentions it afterwards. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { NO_DETACH } from '../../../test/support/citus.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { freshPool, pidOf, untilAwaited } from '../../../test/support/database.ts';
import { CANCELAMENTO } from '../../../test/support/eventos.ts';
import { emit, request } from '../../../test/support/http.ts';
import { mentionsOf } from '../../../test/support/mencoes.ts';
import { loteXml, sendLote } from '../../../test/support/rps.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { useArquivo } from '../../base/book/arquivo.ts';
import { createMes } from '../../base/book/meses.ts';
import { runTransaction } from '../../base/pg/open.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { conferirArquivo, fecharMes, trazerMes } from './arquivar.ts';
import { eliminateMes, holdMes, rehearseElimination, releaseMes } from './eliminar.ts';
import { countTabelas, dropTabelas } from './eliminar-tabelas.rows.ts';

const SLUG = 'integracao';
const BY = { quem: 'maria', via: 'comando', motivo: 'Termo de eliminação 1/2037' } as const;

test('a month of 2026 is kept until the end of 2036, and then goes as a whole', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-guarda-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const { address, pool, store, clock } = await startTestService();
  useArquivo(pool, folder);
  await store.municipios.update({ ...(await store.municipios.readFresh(SLUG))!, guardaDias: 0 });
  const becomes = (chave: string, status: string) =>
    until(async () => {
      clock.now += 1_000;
      const { body } = await request(address, `/${SLUG}/api/v1/nfse/${chave}`);
      return body.nota.status === status ? true : undefined;
    }, `${chave} is ${status}`);
  const issue = async (nDPS: string): Promise<string> => {
    const { status, body } = await emit(address, exampleXml({ serie: '1', nDPS }));
    assert.equal(status, 201, JSON.stringify(body));
    await becomes(body.chave_acesso, 'autorizada');
    return body.chave_acesso;
  };
  const cancel = async (chave: string): Promise<void> => {
    const body = JSON.stringify({ ...CANCELAMENTO, cnpj_autor: '11222333000181' });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await request(address, `/${SLUG}/api/v1/nfse/${chave}/eventos`, { method: 'POST', headers, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    await becomes(chave, 'cancelada');
  };
  const chave = await issue('1');
  await cancel(chave);
  const { documento } = await sendLote(address, loteXml([{ numero: '1', serie: '2' }]));
  const doLote = /Id="NFS(\d{50})"/.exec(documento)![1]!;
  await becomes(doLote, 'autorizada');

  const at = (day: string) => ({ store, now: () => Date.parse(`${day}T12:00:00-03:00`) });
  const refused = async (day: string): Promise<string> => {
    const [rehearsed, done] = [
      await rehearseElimination(at(day), '2026-11'),
      await eliminateMes(at(day), '2026-11', BY),
    ];
    assert.ok('problem' in rehearsed && 'problem' in done);
    assert.equal(rehearsed.problem, done.problem, 'the rehearsal refuses what is refused');
    return done.problem;
  };
  // CTN, art. 173, I: five years from the first day of 2027; art. 174: five more.
  assert.match(await refused('2036-12-31'), /se guarda até 01\/01\/2037/);
  const closed = await fecharMes(at('2027-03-01'), '2026-11', () => undefined);
  assert.ok(!('problem' in closed), JSON.stringify(closed));
  assert.ok(readdirSync(folder, { recursive: true }).length > 1);

  assert.equal(await holdMes(at('2037-01-01'), SLUG, '2026-11', { ...BY, motivo: 'processo 7' }), undefined);
  assert.match(await refused('2037-01-01'), /integracao: processo 7 \(maria\)/);
  assert.ok('problem' in (await holdMes(at('2037-01-01'), SLUG, '2026-11', BY))!, 'held once');
  assert.equal(await releaseMes(at('2037-01-01'), SLUG, '2026-11', BY), undefined);

  await pool.query(
    `insert into fila (tenant, tipo, id, mes, due_at) values ('${SLUG}', 'nota', 999, 202611, now() + interval '99 years')`,
  );
  assert.match(await refused('2037-01-01'), /em andamento/);
  await pool.query('delete from fila where id = 999');

  // An event of the next year makes the note one of that year.
  await pool.query(`update eventos set criado_em = '2027-02-01'`);
  assert.match(await refused('2037-01-01'), /se guarda até 01\/01\/2038/);
  await pool.query(`update eventos set criado_em = '2026-11-21'`);

  const before = await mentionsOf(pool, chave);
  assert.ok(before.includes('notas') && before.includes('eventos') === false, before.join());
  const rehearsed = await rehearseElimination(at('2037-01-01'), '2026-11');
  assert.ok(!('problem' in rehearsed), JSON.stringify(rehearsed));
  const [counted] = rehearsed.municipios;
  assert.deepEqual([counted!.linhas['notas'], counted!.linhas['eventos'], counted!.linhas['lotes']], [2, 1, 1]);
  assert.deepEqual(await mentionsOf(pool, chave), before, 'the rehearsal changes nothing');

  const eliminate = () => eliminateMes(at('2037-01-02'), '2026-11', BY);
  // Somebody reads for hours, as a copy of all rows does: nobody else waits, and the tables go at last.
  const eliminateBesideReader = async () => {
    const reader = await pool.connect();
    await reader.query('begin isolation level repeatable read, read only');
    await reader.query('select count(*) from notas where mes > 202611');
    let isDone = false;
    const eliminating = eliminate().finally(() => {
      isDone = true;
    });
    await untilAwaited(pool, await pidOf(reader));
    clock.now += 30 * 86_400_000;
    assert.equal((await emit(address, exampleXml({ serie: '1', nDPS: '9' }))).status, 201);
    assert.equal(isDone, false);
    await reader.query('rollback');
    reader.release();
    return eliminating;
  };
  const done = NO_DETACH ? await eliminate() : await eliminateBesideReader();
  assert.ok(!('problem' in done), JSON.stringify(done));
  const { rows: left } = await pool.query(`select relname from pg_class where relname like '%\\_202611%'`);
  assert.deepEqual([done.tabelas, left.length > 0], NO_DETACH ? [0, true] : [6, false]);
  assert.deepEqual(done, rehearsed, 'what was rehearsed is what was done');
  for (const one of [chave, doLote]) assert.deepEqual(await mentionsOf(pool, one), [], 'nobody speaks of it');
  assert.deepEqual(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('2026-11')),
    [],
  );
  const { achados } = await store.auditoria.verify(SLUG, []);
  const found = new Set(achados.map(({ tabela }) => tabela));
  assert.deepEqual([...found], [], 'the audit chain knows that it was lawful');
  const { status } = await request(address, `/${SLUG}/api/v1/nfse/${chave}`);
  assert.equal(status, 404);
  const [ato] = await store.atos.list(SLUG, { objeto: 'guarda' }, 1);
  assert.deepEqual([ato?.acao, ato?.motivo, ato?.chave], ['mês eliminado', BY.motivo, '2026-11']);
  assert.match(await refused('2037-01-02').catch(() => 'eliminado'), /eliminado/);
  assert.ok('problem' in (await trazerMes(at('2037-01-03'), '2026-11', () => undefined)));
  const checked = await conferirArquivo(at('2037-01-02'), [], () => undefined);
  assert.deepEqual('problemas' in checked && checked.problemas, [], 'the chain of files is whole');
});

test('by what signatures were judged goes with the last month that names it', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-guarda-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const { address, pool, store, clock } = await startTestService();
  useArquivo(pool, folder);
  await store.municipios.update({ ...(await store.municipios.readFresh(SLUG))!, guardaDias: 0 });
  // The chain begins with the present rows: earlier changes are no findings.
  await until(async () => (await store.auditoria.readState(SLUG))?.abertaEm ?? undefined, 'the chain was begun');
  const kept = (word: string) => ({ impressao: hash('sha256', word, 'buffer'), der: Buffer.from(word) });
  const keep = (word: string, cadeia: readonly string[], listas: readonly string[], at = clock.now) =>
    store.fundamentos.keep(
      SLUG,
      { impressao: hash('sha256', word, 'buffer'), cadeia: cadeia.map(kept), listas: listas.map(kept) },
      at,
    );
  const alone = await keep('alone', ['raiz', 'velha'], ['lista velha', 'lista comum']);
  const archived = await keep('archived', ['raiz', 'outra'], ['lista comum', 'lista dele']);
  const unnamed = await keep('unnamed', ['raiz'], []);
  const newest = await keep('newest', ['raiz'], ['lista nova']);
  const issue = async (nDPS: string, confianca: number): Promise<void> => {
    const { status, body } = await emit(address, exampleXml({ serie: '1', nDPS }));
    assert.equal(status, 201, JSON.stringify(body));
    await until(async () => {
      const { rows } = await pool.query(`select estado from notas where chave_acesso = $1`, [body.chave_acesso]);
      return rows[0].estado === 'autorizada' || undefined;
    }, 'it is authorised');
    const text = 'update documentos set confianca = $2 where nota = (select id from notas where chave_acesso = $1)';
    await pool.query(text, [body.chave_acesso, confianca]);
  };
  await issue('1', alone);
  await issue('2', archived);
  clock.now += 30 * 86_400_000;
  await issue('3', archived);
  const at = (day: string) => ({ store, now: () => Date.parse(`${day}T12:00:00-03:00`) });
  const closed = await fecharMes(at('2027-04-01'), '2026-12', () => undefined);
  assert.ok(!('problem' in closed), JSON.stringify(closed));
  assert.deepEqual((await pool.query('select fundamentos from arquivos')).rows, [{ fundamentos: [archived] }]);

  const countsOf = async (): Promise<unknown> => {
    const found = await rehearseElimination(at('2037-01-02'), '2026-11');
    assert.ok(!('problem' in found), JSON.stringify(found));
    const { fundamentos, listas_revogados, certificados } = found.municipios[0]!.linhas;
    return [fundamentos, listas_revogados, certificados];
  };
  await pool.query('update arquivos set fundamentos = null');
  assert.deepEqual(await countsOf(), [0, 0, 0], 'of what nobody knows nothing goes');
  await pool.query('update arquivos set fundamentos = $1', [[archived]]);
  assert.deepEqual(await countsOf(), [2, 1, 1]);
  const done = await eliminateMes(at('2037-01-02'), '2026-11', BY);
  assert.ok(!('problem' in done), JSON.stringify(done));
  const ids = (await pool.query<{ id: number }>('select id from fundamentos order by id')).rows.map(({ id }) => id);
  assert.deepEqual(ids, [archived, newest]);
  assert.ok(!ids.includes(unnamed));
  const wordsOf = async (table: string): Promise<readonly string[]> =>
    (await pool.query<{ der: Buffer }>(`select der from ${table}`)).rows.map(({ der }) => der.toString()).toSorted();
  assert.deepEqual(await wordsOf('listas_revogados'), ['lista comum', 'lista dele', 'lista nova']);
  assert.deepEqual(await wordsOf('certificados'), ['outra', 'raiz']);
  const { achados } = await store.auditoria.verify(SLUG, []);
  // The test changed only the document that is in the file.
  assert.deepEqual(
    achados.map(({ tipo, tabela }) => [tipo, tabela]),
    [['linha_alterada', 'documentos']],
  );

  const last = await eliminateMes(at('2037-01-02'), '2026-12', BY);
  assert.ok(!('problem' in last), JSON.stringify(last));
  assert.deepEqual(await wordsOf('listas_revogados'), ['lista nova']);
});

test('tables of a month that somebody was killed over go when the command is given again; those with rows stay', {
  skip: NO_DETACH,
}, async () => {
  const pool = await freshPool();
  for (const mes of [200001, 200002]) await runTransaction(pool, (client) => createMes(client, mes));
  const [reader, killed] = [await pool.connect(), await pool.connect()];
  await reader.query('begin isolation level repeatable read, read only');
  await reader.query('select count(*) from notas');
  await killed.query('set lock_timeout = 200');
  await assert.rejects(killed.query('alter table notas detach partition notas_200001 concurrently'), /lock timeout/);
  killed.release(true);
  await reader.query('rollback');
  reader.release();
  assert.equal(await countTabelas(pool, 200001), 6);
  assert.equal(await dropTabelas(pool, 200001), 6);
  assert.equal(await countTabelas(pool, 200001), 0);
  assert.equal(await dropTabelas(pool, 200001), 0);
  await pool.query(
    `insert into trilha_notas (tenant, mes, nota, movimento, em, gatilho, para) values ('x', 200002, 1, 1, now(), '', '')`,
  );
  assert.equal(await dropTabelas(pool, 200002), 5);
  assert.equal((await pool.query('select 1 from trilha_notas where mes = 200002')).rowCount, 1);
});

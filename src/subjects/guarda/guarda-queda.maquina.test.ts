/** `nfse guarda eliminar` is killed (SIGKILL) half-way. A repeated command finishes, and the eliminated rows are the counted ones. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fillNotas } from '../../../test/support/cheio.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { databaseUrlOf, freshDatabase, poolOn } from '../../../test/support/database.ts';
import { nfseKilled } from '../../../test/support/killed.ts';
import { nfse } from '../../../test/support/process.ts';
import { useArquivo } from '../../base/book/arquivo.ts';
import { createStore } from '../../wiring/store.ts';

/** The first month is past its time by the clock of any machine; the second stays. */
const [MES, OUTRO] = [201501, 201502];
const NOTAS = 20_000;
const FILES = 3_000;
const ASKED = ['guarda', 'eliminar', '2015-01', '--autorizacao', 'Termo 1/2026'];

test('a month is eliminated once, however often the command is killed', { timeout: 600_000 }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-guarda-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const connection = await freshDatabase();
  const pool = await poolOn(connection);
  useArquivo(pool, folder);
  const store = createStore(pool);
  for (const tenant of ['alfa', 'beta']) {
    await store.municipios.create({ tenant, ambiente: 'producao', codigoIbge: undefined }, 0);
    await fillNotas(pool, tenant, NOTAS, [MES, OUTRO]);
  }
  await pool.query(`update eventos set criado_em = '2015-02-01', desde = '2015-02-01'`);
  await pool.query(`insert into arquivos (tenant, mes, geracao, nome, bytes, sha256, anterior, linhas, criado_em, pronto_em)
    select 'alfa', ${MES}, i, 'alfa/2015-01-' || i || '.nfse', 1, sha256('a'), case when i > 1 then sha256(i::text::bytea) end, '{}', '2015-03-01', '2015-03-01'
    from generate_series(1, ${FILES}) i`);
  mkdirSync(path.join(folder, 'alfa'));
  for (let i = 1; i <= FILES; i += 1) writeFileSync(path.join(folder, `alfa/2015-01-${i}.nfse`), 'a');
  const files = (): number => readdirSync(path.join(folder, 'alfa')).length;

  const counts = async () => {
    const tables = ['notas', 'documentos', 'trilha_notas', 'eventos', 'identidades'];
    const text = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`).join(', ');
    return (await pool.query<Record<string, number>>(`select ${text}`)).rows[0]!;
  };
  const env = { DATABASE_URL: databaseUrlOf(connection), NFSE_ARQUIVO: folder };
  const rehearsed = await nfse(['guarda', 'eliminar', '2015-01', '--ensaio'], env);
  assert.equal(rehearsed.code, 0, rehearsed.err);
  const [before, half] = [await counts(), NOTAS / 2];
  assert.equal(before['notas'], 2 * NOTAS);

  const isAsked = (query: string) => async (): Promise<boolean> =>
    ((
      await pool.query(
        `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and state <> 'idle' and query like $1`,
        [`${query}%`],
      )
    ).rowCount ?? 0) > 0;
  /** Waits until the server has ended the transactions of the killed process. */
  const settled = async (): Promise<void> => {
    const open = `select 1 from pg_locks where relation = to_regclass('notas_${MES}') and pid <> pg_backend_pid()`;
    while (((await pool.query(open)).rowCount ?? 0) > 0);
  };
  let killed = 0;
  for (const query of [
    'lock table',
    'insert into auditoria',
    'select count(*)',
    'delete from eventos',
    'delete from identidades',
  ]) {
    if ((await nfseKilled(ASKED, env, isAsked(query))) === null) killed += 1;
    await settled();
    if ((await counts())['notas'] !== before['notas']) break;
    assert.deepEqual(await counts(), before, `killed at ${query}: all is there`);
    assert.equal(files(), FILES, 'and no file went before its rows');
  }
  assert.ok(killed > 0, 'it was killed at least once before it was done');

  // The rows go together; then the files go one after the other.
  const isHalf = () => files() < FILES - 20;
  const ended = await nfseKilled(ASKED, env, isHalf);
  await settled();
  const after = await counts();
  assert.deepEqual([after['notas'], after['documentos'], after['trilha_notas']], [2 * half, 2 * half, 6 * half]);
  assert.ok(files() < FILES);
  // A stalled test machine may look only after all files are gone.
  t.diagnostic(`${files()} of ${FILES} files were left by who was killed among them`);
  assert.ok(ended === null || ended === 0);
  assert.match(JSON.stringify(await store.eliminacao.inspect(MES)), /"eliminado_em":"20/);

  const again = await nfse(ASKED, env);
  assert.equal(again.code, 0, again.err);
  if (ended === null) assert.match(again.out, /^3\.000 arquivos\n\d+ tabelas\n2015-01 foi eliminado/);
  assert.equal(files(), 0);
  assert.deepEqual(await counts(), after, 'what stands of the other month stays');
  for (const tenant of ['alfa', 'beta']) {
    const atos = await store.atos.list(tenant, { objeto: 'guarda' }, 10);
    assert.deepEqual(
      atos.map(({ acao, motivo }) => [acao, motivo]),
      [['mês eliminado', 'Termo 1/2026']],
      'written down once',
    );
    const said = atos[0]!.depois as Record<string, number>;
    assert.deepEqual(
      [said['notas'], said['documentos'], said['trilha_notas'], said['eventos'], said['identidades']],
      [
        half,
        half,
        3 * half,
        (before['eventos']! - after['eventos']!) / 2,
        (before['identidades']! - after['identidades']!) / 2,
      ],
    );
  }
  const rows = (text: string): readonly string[] => text.split('\n').filter((line) => /^(alfa|beta) /.test(line));
  assert.equal(rows(rehearsed.out).length, 10, 'as the rehearsal had counted');
});

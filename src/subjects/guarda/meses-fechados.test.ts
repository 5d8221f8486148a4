/**
 * Reads with one snapshot while a month is closed: emptied tables are empty for earlier snapshots too. Another case is the file of a
 * municipality with a month that the target database has eliminated.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fillNotas } from '../../../test/support/cheio.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { freshPool, untilAwaited } from '../../../test/support/database.ts';
import { useArquivo } from '../../base/book/arquivo.ts';
import type { Db } from '../../base/pg/open.ts';
import { createStore, type Store } from '../../wiring/store.ts';
import { exportMunicipio } from '../municipios/exportar.ts';
import { importMunicipio } from '../municipios/importar.ts';
import { fecharMes, trazerMes } from './arquivar.ts';
import { eliminateMes } from './eliminar.ts';

const [MES, NAME] = [201501, '2015-01'];
const NOTAS = 50;
const NOW = Date.parse('2026-11-26T12:00:00-03:00');

describe('a month that is closed while somebody reads', () => {
  let pool: Db;
  let store: Store;
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-meses-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const world = () => ({ store, now: () => NOW });
  const andamento = { rows: () => undefined, tell: () => undefined };

  before(async () => {
    pool = await freshPool();
    useArquivo(pool, folder);
    store = createStore(pool);
    await store.municipios.create({ tenant: 'alfa', ambiente: 'producao', codigoIbge: undefined }, 0);
    await fillNotas(pool, 'alfa', NOTAS, [MES]);
    // The chain has no entry for these filled rows: it begins with them.
    for (const tabela of ['auditoria', 'auditoria_ate'])
      await pool.query(`delete from ${tabela} where tenant = $1`, ['alfa']);
    while (await store.auditoria.openEtapa('alfa', NOW));
    while ((await store.auditoria.place('alfa')) > 0);
  });

  /** Starts a read and blocks it at a table, after its snapshot; closes the month, and lets the read continue. */
  async function closedMeanwhile<Result>(table: string, read: () => Promise<Result>): Promise<Result> {
    const holder = await pool.connect();
    await holder.query(`begin; lock table ${table} in access exclusive mode`);
    const { pid } = (await holder.query('select pg_backend_pid() as pid')).rows[0];
    const reading = read();
    await Promise.race([untilAwaited(pool, pid), reading]);
    const closed = await fecharMes(world(), NAME, () => undefined);
    assert.ok(!('problem' in closed), JSON.stringify(closed));
    await holder.query('commit');
    holder.release();
    return reading;
  }

  test('leaves no finding in the audit chain', async () => {
    // The rows were filled without numbers, which both verifications report.
    const before = (await store.auditoria.verify('alfa', [])).achados;
    assert.ok(before.every(({ tipo }) => tipo === 'linha_nao_segue'));
    const { achados, arquivos } = await closedMeanwhile('auditoria_selos', () => store.auditoria.verify('alfa', []));
    assert.deepEqual(achados, before);
    assert.equal(arquivos.length, 1, 'the month is verified in its file');
    const brought = await trazerMes(world(), NAME, () => undefined);
    assert.deepEqual(brought, { trazido: true });
  });

  test('ends the export of a municipality, which would lack its rows', async () => {
    const file = path.join(folder, 'alfa.nfse');
    const exporting = () => exportMunicipio(world(), 'alfa', file, andamento);
    await assert.rejects(closedMeanwhile('beneficios_municipais', exporting), /um mês foi fechado.*rode de novo/);
    assert.ok(!existsSync(file) && !existsSync(`${file}.parte`));
    await trazerMes(world(), NAME, () => undefined);
    const { tabelas } = await exporting();
    assert.equal(tabelas.find(({ nome }) => nome === 'documentos')!.linhas, NOTAS);
  });

  test('keeps out a file with rows of it, where it was eliminated', async () => {
    const there = await freshPool();
    const other = { store: createStore(there), now: () => NOW };
    await other.store.municipios.create({ tenant: 'beta', ambiente: 'producao', codigoIbge: undefined }, 0);
    await fillNotas(there, 'beta', NOTAS, [MES]);
    await there.query(`update eventos set criado_em = '2015-02-01', desde = '2015-02-01'`);
    const by = { quem: 'maria', via: 'comando', motivo: 'Termo 1/2026' } as const;
    const gone = await eliminateMes(other, NAME, by);
    assert.ok(!('problem' in gone), JSON.stringify(gone));
    const file = path.join(folder, 'outro.nfse');
    await exportMunicipio(world(), 'alfa', file, andamento);
    const importing = importMunicipio(other, file, undefined, andamento);
    await assert.rejects(importing, /a tabela \w+ tem, no arquivo, linhas de 2015-01, mês que este banco já eliminou/);
    assert.equal((await there.query(`select 1 from municipios where tenant = 'alfa'`)).rowCount, 0);
  });
});

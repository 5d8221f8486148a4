/** A copy of a server that has special settings: none of them acts outside the copy, and none prevents its recovery. */
import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { casaOf, folderFor, freshCopias } from '../../../test/support/copia.ts';
import { databaseUrlOf } from '../../../test/support/database.ts';
import { readyDataDir, startServiceProcess } from '../../../test/support/process.ts';
import { openEmbedded } from '../../base/pg/embedded.ts';
import { Client } from '../../base/pg/pg.ts';

const quiet = { info() {}, warn: console.error, error: console.error };
const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

describe('settings that an administrator has left in the server', { skip: noServer, timeout: 300_000 }, () => {
  test('run no command where the copy is judged or restored, and are in the restored one as they were', async () => {
    const server = await openEmbedded({ dataDir: await readyDataDir(), log: quiet });
    onEnd(() => server.stop());
    const [folder, volta] = await Promise.all([folderFor('comandos'), folderFor('volta')]);
    // The folder is open to the server's account, so that a command of the settings could leave its mark there.
    await Promise.all([chmod(folder, 0o777), chmod(volta, 0o755)]);
    const touched = path.join(folder, 'tocado');
    const client = new Client(server.connection);
    await client.connect();
    const settings = {
      // Settings of a promoted replica: the first one deletes the content of the archive.
      archive_cleanup_command: `touch ${touched}`,
      recovery_end_command: `touch ${touched}`,
      recovery_min_apply_delay: '1h',
      recovery_target_name: 'antes-da-mudanca',
      primary_slot_name: 'replica_1',
      default_transaction_read_only: 'on',
      statement_timeout: '1ms',
      session_preload_libraries: 'nenhuma_biblioteca',
    };
    const url = databaseUrlOf(server.connection);
    const casa = casaOf(path.join(await folderFor('nada'), 'dados'), await freshCopias(), { DATABASE_URL: url });
    const service = await startServiceProcess(casa.env);
    await service.end('SIGINT');
    for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = '${value}'`);
    await client.query('set statement_timeout = 0');
    await client.end();
    await casa.done('fazer');
    const said = await casa.done('conferir');
    assert.match(said, /volta inteira/);
    const running = ['archive_cleanup_command', 'recovery_end_command', 'session_preload_libraries'];
    for (const name of running) assert.match(said, new RegExp(`AVISO .*postgresql\\.auto\\.conf: ${name}\\b`));
    assert.equal(await isThere(touched), false);
    const pg = path.join(volta, 'pg');
    await casa.done('restaurar', '--para', pg);
    assert.equal(await isThere(touched), false);
    const kept = await readFile(path.join(pg, 'postgresql.auto.conf'), 'utf8');
    for (const name of Object.keys(settings)) assert.match(kept, new RegExp(`^${name} = `, 'm'));
    await writeFile(path.join(pg, 'postgresql.auto.conf'), '');
    const again = await openEmbedded({ dataDir: path.dirname(pg), log: quiet });
    await again.stop();
  });
});

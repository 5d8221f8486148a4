/** The state of the copies of a server that is not the embedded one, as the service measures it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { casaOf, folderFor, freshCopias } from '../../../test/support/copia.ts';
import { databaseUrlOf } from '../../../test/support/database.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { readyDataDir, startServiceProcess } from '../../../test/support/process.ts';
import { until } from '../../../test/support/until.ts';
import { openEmbedded } from '../../base/pg/embedded.ts';

const quiet = { info() {}, warn: console.error, error: console.error };
const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

test('the age of the last copy and of the last one that was tried are measured, whoever the server is', {
  skip: noServer,
  timeout: 600_000,
}, async () => {
  const server = await openEmbedded({ dataDir: await readyDataDir(), log: quiet });
  onEnd(() => server.stop());
  const vigia = await ownPort();
  const casa = casaOf(path.join(await folderFor('nada'), 'dados'), await freshCopias(), {
    DATABASE_URL: databaseUrlOf(server.connection),
    NFSE_PAINEL_PORTA: String(await ownPort()),
    NFSE_VIGIA_PORTA: String(vigia),
  });
  /** Seconds since 1970, by the name of the metric; a service measures at its start. */
  const measured = async (): Promise<ReadonlyMap<string, number>> => {
    const service = await startServiceProcess(casa.env);
    const found = await until(async () => {
      const text = await (await fetch(`http://127.0.0.1:${vigia}/metrics`)).text();
      const lines = [...text.matchAll(/^nfse_copia_(\w+) (\S+)$/gm)].map(
        ([, name, value]) => [name!, Number(value)] as const,
      );
      return lines.length > 0 ? new Map(lines) : undefined;
    }, 'the copies are measured');
    await service.end('SIGINT');
    return found;
  };
  const first = await startServiceProcess(casa.env);
  await first.end('SIGINT');
  await casa.done('fazer');
  const untried = await measured();
  assert.ok(Math.abs(untried.get('base_timestamp_seconds')! - Date.now() / 1_000) < 600);
  assert.equal(untried.get('conferida_timestamp_seconds'), 0);
  assert.equal(untried.get('faltas'), 0);
  assert.equal(untried.has('espera_bytes'), false);
  const before = Date.now() / 1_000;
  await casa.done('conferir');
  const tried = await measured();
  assert.ok(tried.get('conferida_timestamp_seconds')! >= before - 1, String(tried.get('conferida_timestamp_seconds')));
});

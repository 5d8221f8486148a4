/** The first start at a terminal, when something is amiss: its message, and the files that stay behind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { onEnd } from './support/cleanup.ts';
import { freshDataDir } from './support/process.ts';
import { SERVING, said, start } from './support/started.ts';
import { until } from './support/until.ts';

const SERVE = ['bin/nfse', 'serve'];

for (const NFSE_PROCESSOS of ['1', '2']) {
  test(`a port in use is told before a database is made, with ${NFSE_PROCESSOS} to answer`, async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    onEnd(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as net.AddressInfo;
    const folder = await freshDataDir();
    const service = start(SERVE, { NFSE_DATA_DIR: folder, PORT: String(port), NFSE_PROCESSOS });
    assert.equal(await service.ended, 1);
    assert.match(service.output(), new RegExp(`127\\.0\\.0\\.1:${port} já está em uso.*outra porta com PORT`));
    assert.deepEqual(readdirSync(folder), []);
  });
}

test('a name that is no setting is warned of, with the one that was meant', async () => {
  const env = { NFSE_DATA_DIR: await freshDataDir(), NFSE_PORT: '9090', NFSE_PAINEL_PORTA: '0', NFSE_VIGIA_PORTA: '0' };
  const service = start(SERVE, { ...env, PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '0' });
  await said(service, SERVING);
  assert.match(service.output(), /o ambiente tem NFSE_PORT, que não é um ajuste e não vale nada\. Seria PORT\?/);
  service.child.kill('SIGTERM');
  assert.equal(await service.ended, 0, service.output());
});

test('Ctrl-C while the database is being made is an end as asked for', async () => {
  const folder = await freshDataDir();
  const service = start(SERVE, { NFSE_DATA_DIR: folder, PORT: '0', NFSE_PAINEL_PORTA: '0', NFSE_VIGIA_PORTA: '0' });
  const made = path.join(folder, 'pg.new-*/cluster/base');
  await until(async () => globSync(made)[0], 'initdb is at work');
  // A terminal tells every process of the command.
  process.kill(-service.child.pid!, 'SIGINT');
  assert.equal(await service.ended, 0, service.output());
  assert.match(service.output(), /\nEncerrado (?:antes de ficar pronto|durante a atualização)/);
  assert.doesNotMatch(service.output(), /disco/);
  assert.deepEqual(globSync(path.dirname(made)), []);
});

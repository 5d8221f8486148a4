/** The settings file of a service: every process of it and its commands read it; the environment takes precedence. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { VARIABLES } from '../src/base/terminal/variables.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { request } from './support/http.ts';
import { freshFolder } from './support/openssl.ts';
import { nfse, startServiceProcess } from './support/process.ts';
import { until } from './support/until.ts';

describe('a service with a settings file', () => {
  test('has it in all its processes, and its commands; the environment comes first', { timeout: 600_000 }, async () => {
    const database = databaseUrlOf(await freshDatabase());
    const file = path.join(freshFolder(), 'nfse.env');
    writeFileSync(
      file,
      [
        `DATABASE_URL='${database}'`,
        'NFSE_BASE_URL=https://nfse.exemplo.gov.br',
        'NFSE_PAINEL_PORTA=0',
        'NFSE_PROCESSOS=1',
        'NFSE_TRUST_PROXY=1',
      ].join('\n'),
      { mode: 0o600 },
    );
    const bare = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, '']));
    const env = { DATABASE_URL: '', NFSE_PROCESSOS: '2', NFSE_LOG_LEVEL: 'info' };
    const service = await startServiceProcess(env, undefined, ['--config', file]);
    // The environment sets two processes, and both have the rest from the file.
    await until(async () => /"processos":2/.test(service.output()) || undefined, 'two processes answer');
    for (let count = 0; count < 4; count += 1) {
      const { body } = await request(service.address, '/integracao/soap/nfes?wsdl', {
        headers: { Connection: 'close', 'X-Forwarded-For': '203.0.113.7' },
      });
      assert.match(body, /https:\/\/nfse\.exemplo\.gov\.br\//);
    }
    await until(async () => service.output().split('203.0.113.7').length > 4 || undefined, 'requests are logged');
    const said = await nfse(['municipio', 'listar', '--config', file], bare);
    assert.deepEqual([said.code, /integracao/.test(said.out)], [0, true], said.err);
    assert.equal(await service.end('SIGTERM'), 0);
  });
});

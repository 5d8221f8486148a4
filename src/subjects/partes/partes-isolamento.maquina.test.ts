/** A token that an operator revokes by the command is refused by all processes of the service from then on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrlOf, freshDatabase } from '../../../test/support/database.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { nfse, startServiceProcess } from '../../../test/support/process.ts';
import { ESCOPOS } from '../../base/world/token.ts';

const A = '11222333000181';
const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;

test('a token that the command revokes is refused by each process from its end on', { timeout: 600_000 }, async () => {
  const env = { DATABASE_URL: databaseUrlOf(await freshDatabase()) };
  const first = await startServiceProcess(env);
  const services = [first, await startServiceProcess(env)];
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ documento: A, escopos: Object.keys(ESCOPOS) });
  const given = await request(first.address, `${API}/token`, { method: 'POST', headers, body });
  assert.equal(given.status, 201, JSON.stringify(given.body));
  const { id, token } = given.body;
  const ask = (what: string) =>
    Promise.all(
      services.map((one) => request(one.address, `${API}/${what}`, { headers: { Authorization: `Bearer ${token}` } })),
    );
  const lists = ['notas', 'eventos', 'mudancas', 'exportacoes', 'webhooks'];
  for (const what of lists) assert.deepEqual(statusesOf(await ask(what)), [200, 200], what);
  const revoked = await nfse(['token', 'revogar', TENANT, id, '--motivo', 'perdido'], env);
  assert.deepEqual([revoked.code, revoked.err], [0, ''], revoked.out);
  // The refusal is due within two seconds; the test asks for it from the first question on, so that a slow machine
  // cannot fail it.
  for (const what of lists) {
    const answers = await ask(what);
    assert.deepEqual(statusesOf(answers), [401, 401], what);
    for (const answer of answers) assert.match(answer.body.mensagem, /foi revogado/);
  }
  for (const { end } of services) assert.equal(await end('SIGTERM'), 0);
});

const statusesOf = (answers: readonly Answer[]): readonly number[] => answers.map(({ status }) => status);

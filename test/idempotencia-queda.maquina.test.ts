/** `Idempotency-Key` (D-19) on a service whose process is killed in the middle of a load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleJson, exampleXml } from '../src/fiscal/rules/example.ts';
import { atOnce } from './support/at-once.ts';
import { PATHS } from './support/eventos.ts';
import { ask } from './support/http.ts';
import { send, type Told } from './support/keyed.ts';
import { readyDataDir, startServiceProcess } from './support/process.ts';
import { untilTrue } from './support/until.ts';

/** Clients, each with one request at a time. */
const CLIENTS = 16;
const CONFIRMACAO = { tipo_evento: 'confirmacao_prestador' };

test('killed in the midst of a load: sent again with its key, every note and event is there once', async () => {
  const dataDir = await readyDataDir();
  const first = await startServiceProcess({ NFSE_DATA_DIR: dataDir });
  const told = new Map<string, Told>();
  const sent = new Map<string, readonly [body: string, to: string | undefined]>();
  const bodies = [exampleXml(), exampleJson()!];
  let number = 0;
  let killed = false;
  const client = async (): Promise<void> => {
    const once = async (key: string, body: string, to?: string): Promise<Told | undefined> => {
      sent.set(key, [body, to]);
      try {
        const answer = await send(first.address, body, to === undefined ? { key } : { key, to });
        assert.equal(answer.status, 201, answer.text);
        told.set(key, answer);
        return answer;
      } catch (error) {
        if (!killed) throw error;
        return undefined;
      }
    };
    while (!killed) {
      number += 1;
      const mine = number;
      const nota = await once(`nota-${mine}`, bodies[mine % 2]!);
      if (nota !== undefined) await once(`evento-${mine}`, JSON.stringify(CONFIRMACAO), PATHS.chave(nota.body));
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await untilTrue(() => told.size >= 200, 'two hundred are answered');
  // The process stops in the middle of its work, and answers no more. Its last answers are read, and every client is left waiting.
  void first.end('SIGSTOP');
  for (let quiet = 0, last = -1; quiet < 20; last = told.size) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    quiet = told.size === last && sent.size - told.size === CLIENTS ? quiet + 1 : 0;
  }
  killed = true;
  await first.end('SIGKILL');
  await Promise.allSettled(clients);
  assert.equal(sent.size - told.size, CLIENTS, 'as many were not answered');

  const second = await startServiceProcess({ NFSE_DATA_DIR: dataDir });
  const numbers = new Set<string>();
  await atOnce(sent, async ([key, [body, to]]) => {
    const again = await send(second.address, body, to === undefined ? { key } : { key, to });
    assert.equal(again.status, 201, again.text);
    const before = told.get(key);
    if (before !== undefined) assert.deepEqual([again.isRepeated, again.text], [true, before.text], key);
    if (to === undefined) {
      numbers.add(again.body.chave_acesso.slice(23, 36));
      return;
    }
    const listed = JSON.parse((await ask(`${second.address}/integracao/api/v1/${to}`)).text);
    assert.deepEqual([listed.total, again.body.numero_sequencial], [1, 1], to);
  });
  assert.equal(numbers.size, number, 'each key has a note of its own');
  assert.equal(Number([...numbers].sort().at(-1)), number, 'and there are no others');
  assert.equal(await second.end('SIGTERM'), 0);
});

/** Few large providers, whose notes come to two processes: their numbers have no gaps, even if one process dies. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { cnpjCheckDigits } from './support/cnpj.ts';
import { answeringOf, end, ISSUE, open, send, type Town, XML } from './support/processos.ts';
import { said } from './support/started.ts';
import { until, untilTrue } from './support/until.ts';

const PROVIDERS = Array.from({ length: 4 }, (_, place) => cnpjCheckDigits(`1122233${place}`));
/** Clients of each provider; each sends one note after another on a connection of its own. */
const CLIENTS = 8;
const NOTES = 800;

/** Sends the notes of all providers; a request without an answer is repeated. */
function issueAll(address: string) {
  const agent = new http.Agent({ keepAlive: true });
  const statuses: number[] = [];
  let [sent, broken] = [0, 0];
  let isOver = false;
  const line = async (prestador: string): Promise<void> => {
    while (!isOver) {
      sent += 1;
      const body = exampleXml({ 'prest/CNPJ': prestador, serie: '1', nDPS: String(sent) });
      for (let status: number | undefined; status === undefined; ) {
        try {
          ({ status } = await send(`${address}${ISSUE}`, { ...XML, agent }, body));
          statuses.push(status);
        } catch {
          broken += 1;
        }
      }
    }
  };
  const lines = Promise.all(PROVIDERS.flatMap((prestador) => Array.from({ length: CLIENTS }, () => line(prestador))));
  const stop = async () => {
    isOver = true;
    await lines;
    agent.destroy();
    return { sent, broken };
  };
  return { statuses, stop };
}

/** Each provider has as many different numbers as notes, and the last number is their count. */
async function assertNoGaps({ pool }: Town, notes: number): Promise<void> {
  const { rows } = await pool.query<{ notas: number; numeros: number; documentos: number; de: number; ate: number }>(
    `select count(*)::int as notas, count(distinct numero_dps)::int as numeros, count(distinct id_dps)::int as documentos,
      min(numero_dps)::int as de, max(numero_dps)::int as ate
    from notas where tenant = 'integracao' group by prestador_cpf_cnpj`,
  );
  assert.equal(rows.length, PROVIDERS.length);
  for (const { notas, numeros, documentos, de, ate } of rows)
    assert.deepEqual({ numeros, documentos, de, ate }, { numeros: notas, documentos: notas, de: 1, ate: notas });
  assert.equal(
    rows.reduce((sum, { notas }) => sum + notas, 0),
    notes,
  );
}

async function openUnlimited(): Promise<Town> {
  const town = await open({});
  await town.pool.query(`update municipios set limite_endereco = 0, limite_prestador = 0 where tenant = 'integracao'`);
  return town;
}

describe('few large providers in two processes', () => {
  test('are numbered without gaps', async () => {
    const town = await openUnlimited();
    const load = issueAll(town.address);
    await untilTrue(() => load.statuses.length > NOTES, 'the notes are answered');
    const { sent, broken } = await load.stop();
    assert.equal(broken, 0);
    assert.deepEqual([...new Set(load.statuses)], [201]);
    await assertNoGaps(town, sent);
    await end(town);
  });

  test('are numbered without gaps though one process dies in the midst', async () => {
    const town = await openUnlimited();
    const load = issueAll(town.address);
    await untilTrue(() => load.statuses.length > NOTES / 4, 'the load runs');
    const [victim] = answeringOf(town.service);
    process.kill(victim!, 'SIGKILL');
    await said(town.service, /um processo que atende morreu; outro é iniciado/);
    await until(async () => answeringOf(town.service).length === 2 || undefined, 'there are two again');
    const during = load.statuses.length;
    await untilTrue(() => load.statuses.length > during + NOTES / 4, 'the load goes on');
    const { sent, broken } = await load.stop();
    // A repeated request is told that its note exists, if the note was issued without an answer.
    assert.deepEqual(
      [...new Set(load.statuses)].filter((status) => status !== 201 && status !== 422),
      [],
    );
    assert.ok(load.statuses.filter((status) => status === 422).length <= broken);
    await assertNoGaps(town, sent);
    await end(town);
  });
});

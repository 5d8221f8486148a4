/**
 * Many clients use one private sandbox at once: they issue, move its clock, reset it and delete it. No answer is an internal error, and no
 * row stays behind.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, request } from '../../../test/support/http.ts';
import { pace } from '../../../test/support/pace.ts';
import { startTestService } from '../../../test/support/service.ts';
import { assertStays, until, untilTrue } from '../../../test/support/until.ts';
import { Repetition } from '../../base/delivery/repetition.ts';
import { readTabelas } from '../../base/pg/tabelas.ts';
import { ENSAIO_DIAS } from '../../base/world/relogio.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { REPEATED as GUARDA } from '../guarda/guarda.job.ts';

const { address, store, pool, clock, world, logged } = await startTestService();

/** Clients that issue at once. */
const LANES = 8;

type Own = { readonly slug: string; readonly chave: string };

function call(method: string, path: string, chave?: string, body?: object): Promise<Answer> {
  const headers = {
    ...(chave === undefined ? {} : { Authorization: `Bearer ${chave}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  return request(address, path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

async function make(body: object = {}): Promise<Own> {
  const made = await call('POST', '/integracao/api/v1/ambientes', undefined, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { slug: made.body.ambiente.municipio, chave: made.body.chave };
}

const own = (method: string, { slug, chave }: Own, below = '', body?: object): Promise<Answer> =>
  call(method, `/${slug}/api/v1/ambiente${below}`, chave, body);

const issue = ({ slug }: Own, xml: string): Promise<Answer> =>
  request(address, `/${slug}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: xml,
  });

/** Repeats what a busy database put off (503), as its answer says. */
async function insist(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await pace(50);
  }
}

/** Issues and asks before, during and after `work`, by several clients at once; returns the answers. */
async function busy(ambiente: Own, work: () => Promise<unknown>): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let isDone = false;
  let last = 0;
  const one = async (): Promise<void> => {
    while (!isDone) {
      last += 1;
      const answer = await issue(ambiente, exampleXml({ nDPS: String(last) }));
      answers.push(answer);
      const { chave_acesso } = answer.body;
      if (chave_acesso !== undefined) {
        const body = { tipo_evento: 'confirmacao_prestador' };
        answers.push(await call('POST', `/${ambiente.slug}/api/v1/nfse/${chave_acesso}/eventos`, undefined, body));
      }
    }
  };
  const all = Promise.all(Array.from({ length: LANES }, one));
  // Waits for a number of further answers, since the speed of the machine is unknown.
  const more = async (count: number): Promise<void> => {
    const before = answers.length;
    await untilTrue(() => answers.length >= before + count, 'requests are answered');
  };
  try {
    await more(3 * LANES);
    await work();
    await more(3 * LANES);
  } finally {
    isDone = true;
  }
  await all;
  return answers;
}

function assertNoBug(answers: readonly Answer[]): void {
  assert.ok(answers.length > 20, String(answers.length));
  const bugs = answers.filter(({ status }) => status === 500);
  assert.deepEqual(
    bugs.map(({ body }) => body),
    [],
    JSON.stringify(logged.filter(({ message }) => !/^request$/.test(message)).slice(-5), (_key, value) =>
      value instanceof Error ? value.stack : value,
    ),
  );
}

/** Rows that a tenant has in any table. */
async function rowsOf(tenant: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { nome, isOfTenant } of await readTabelas(pool as never)) {
    if (!isOfTenant) continue;
    const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${nome} where tenant = $1`, [
      tenant,
    ]);
    if (rows[0]!.n > 0) found.push(`${nome}: ${rows[0]!.n}`);
  }
  return found;
}

describe('a sandbox that many use at once', () => {
  test('is thrown away', async () => {
    const ambiente = await make();
    const answers = await busy(ambiente, async () => {
      const [one, other] = await Promise.all([own('DELETE', ambiente), own('DELETE', ambiente)]);
      assert.ok([one, other].some(({ status }) => status === 200));
      for (const { status } of [one, other]) assert.ok(status === 200 || status === 404, String(status));
    });
    assertNoBug(answers);
    assert.equal((await issue(ambiente, exampleXml({ nDPS: '777777' }))).status, 404);
    await until(async () => ((await rowsOf(ambiente.slug)).length === 0 ? true : undefined), 'nothing stays');
    const told = logged.filter(({ message }) => message === 'uma requisição de ensaio não foi guardada');
    assert.deepEqual(told, [], 'of what was thrown away nothing is missed');
    // Requests that are still on their way find no sandbox any more.
    await assertStays(async () => (await rowsOf(ambiente.slug)).length === 0, 500, 'nothing of it');
  });

  test('is reset, and the numbers of its notes stay single', async () => {
    const ambiente = await make();
    const answers = await busy(ambiente, async () => {
      for (const { status, body } of await Promise.all([
        own('POST', ambiente, '/reinicio'),
        own('POST', ambiente, '/reinicio', { relogio: '2026-12-31T23:55:00-03:00' }),
      ])) {
        assert.equal(status, 200, JSON.stringify(body));
      }
    });
    assertNoBug(answers);
    const { rows } = await pool.query<{ notas: number; numeros: number }>(
      'select count(*)::int as notas, count(distinct id)::int as numeros from notas where tenant = $1',
      [ambiente.slug],
    );
    assert.ok(rows[0]!.notas > 0);
    assert.equal(rows[0]!.numeros, rows[0]!.notas);
    assert.equal((await issue(ambiente, exampleXml({ nDPS: '777777' }))).status, 201);
  });

  test('that was just thrown away is told to its owner as gone, while the process still knows its address', async () => {
    const ambiente = await make();
    assert.equal((await own('GET', ambiente)).status, 200);
    await pool.query('delete from ensaios where tenant = $1', [ambiente.slug]);
    const { status, body } = await own('GET', ambiente);
    assert.deepEqual([status, body.codigo_erro], [404, 'E601']);
  });

  test('is reset while it is thrown away', async () => {
    for (let round = 0; round < 3; round += 1) {
      const ambiente = await make();
      const answers = await Promise.all([
        insist(() => own('POST', ambiente, '/reinicio')),
        pace(round * 20).then(() => insist(() => own('DELETE', ambiente))),
        insist(() => own('PATCH', ambiente, '', { avancar: '1d' })),
      ]);
      for (const { status, body } of answers) assert.ok(status === 200 || status === 404, JSON.stringify(body));
      assert.deepEqual(await rowsOf(ambiente.slug), []);
    }
  });

  test('has its clock moved by several while notes are issued: it goes as far as they say together, and never back', async () => {
    const ambiente = await make();
    const answers = await busy(ambiente, async () => {
      // Two changes at once: the most that a sandbox accepts.
      const change = async (settings: object): Promise<void> => {
        for (const body of [{ avancar: '1d' }, { avancar: '1d' }, { avancar: '1d' }, settings]) {
          const { status, body: told } = await own('PATCH', ambiente, '', body);
          assert.equal(status, 200, JSON.stringify(told));
        }
      };
      await Promise.all([
        change({ exige_nota_no_evento: true }),
        change({ aliquota_padrao: '3.00', exige_cadastro: false }),
      ]);
    });
    assertNoBug(answers);
    const { body } = await own('GET', ambiente);
    assert.equal(body.ambiente.adiantado_s, (6 * DAY_MS) / 1000);
    assert.deepEqual([body.ambiente.exige_nota_no_evento, body.ambiente.aliquota_padrao], [true, '3.00']);
    const back = await own('PATCH', ambiente, '', { relogio: '2026-11-22T00:00:00-03:00' });
    assert.deepEqual([back.status, back.body.campo], [400, 'relogio']);
  });

  test('goes forward from the hour of the machine too', async () => {
    const ambiente = await make();
    const back = await own('PATCH', ambiente, '', { relogio: '2026-01-02T00:00:00-03:00' });
    assert.deepEqual([back.status, back.body.campo], [400, 'relogio']);
    // A reset may set any clock.
    const past = await own('POST', ambiente, '/reinicio', { relogio: '2026-01-02T00:00:00-03:00' });
    assert.match(past.body.ambiente.relogio, /^2026-01-02T00:00/);
    const forward = await own('PATCH', ambiente, '', { relogio: '2026-01-03T00:00:00-03:00' });
    assert.equal(forward.status, 200, JSON.stringify(forward.body));
  });

  test('ends by the upkeep, more of them than one turn takes, and no other goes with them', async () => {
    const ambiente = await make();
    await issue(ambiente, exampleXml({ nDPS: '1' }));
    const others = Array.from({ length: 25 }, (_, place) => `ensaio-t${10_000 + place}`);
    const max = { daRede: 100, desde: 0, todos: 1_000 };
    for (const tenant of others) {
      const ate = clock.now + (ENSAIO_DIAS - 1) * DAY_MS;
      const novo = {
        tenant,
        chave: Buffer.alloc(32),
        nome: undefined,
        rede: Buffer.alloc(32),
        ate,
        criadoEm: clock.now,
      };
      assert.equal(await store.ensaios.create('integracao', novo, max), 'made');
    }
    const later = { ...world, now: () => clock.now + (ENSAIO_DIAS - 0.5) * DAY_MS };
    const upkeep = new Repetition(later, GUARDA);
    await until(async () => {
      await upkeep.work();
      const { rows } = await pool.query(`select 1 from municipios where tenant like 'ensaio-t1%'`);
      return rows.length === 0 || undefined;
    }, 'they are gone');
    assert.equal((await own('GET', ambiente)).status, 200, 'it has some hours yet');
    const end = new Repetition({ ...world, now: () => clock.now + (ENSAIO_DIAS + 1) * DAY_MS }, GUARDA);
    await until(async () => {
      await end.work();
      return (await rowsOf(ambiente.slug)).length === 0 || undefined;
    }, 'it is gone');
    assert.ok((await store.municipios.readFresh('integracao')) !== undefined);
  });
});

/** The limits of one holder of a token who registers addresses for invented branches, in production, where tokens are proved. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { freshPool } from '../../../test/support/database.ts';
import { request } from '../../../test/support/http.ts';
import { loopsOf, recorded, type Statements } from '../../../test/support/plans.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { makeToken } from '../../base/world/token.ts';
import { cnpjIsValid } from '../../fiscal/chave.ts';
import { createStore } from '../../wiring/store.ts';
import { avisoPoster } from './post.job.ts';
import { AVISO_SIMULTANEOS } from './tempos.ts';
import { WEBHOOKS_MAX, WEBHOOKS_POR_RAIZ } from './webhooks.ts';

const TENANT = 'cidade';
const service = await startTestService();
const { store, pool, clock, address } = service;
await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308' }, clock.now);

async function tokenOf(documento: string): Promise<string> {
  const { id, impressao, token } = makeToken();
  const until = { criadoEm: clock.now, expiraEm: clock.now + 9e9 };
  const novo = { id, documento, impressao, escopos: ['webhooks'], por: 'assinatura', pedido: id, ...until } as const;
  assert.equal(await store.tokens.insert(TENANT, novo, 50), 'made');
  return token;
}

function call(token: string, method: string, where: string, body?: object) {
  return request(address, `/${TENANT}/api/v1/webhooks${where}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** The branches of a root that have the right check digits. */
function branchesOf(raiz: string, count: number): readonly string[] {
  const all: string[] = [];
  for (let at = 1; all.length < count; at += 1) {
    const stem = `${raiz}${String(at).padStart(4, '0')}`;
    const found = Array.from({ length: 100 }, (_, dv) => `${stem}${String(dv).padStart(2, '0')}`).find(cnpjIsValid);
    all.push(found!);
  }
  return all;
}

const RAIZ = '99888777';
const [MATRIZ, ...FILIAIS] = branchesOf(RAIZ, 12) as [string, ...string[]];
const url = 'https://erp.exemplo.com.br/nfse';

describe('the token of one branch', () => {
  test('registers nothing for a branch that cannot be: its check digits are wrong', async () => {
    const token = await tokenOf(MATRIZ);
    for (const documento of [`${RAIZ}000199`, `${RAIZ}0A1B00`]) {
      const { status, body } = await call(token, 'POST', `?documento=${documento}`, { url });
      assert.deepEqual([status, body.codigo_erro], [422, 'E0003'], JSON.stringify(body));
      assert.match(JSON.stringify(body), /não é um CNPJ: os dígitos verificadores não conferem/);
    }
  });

  test(`registers ${WEBHOOKS_MAX} addresses of each, and ${WEBHOOKS_POR_RAIZ} of all that have its root`, async () => {
    const token = await tokenOf(MATRIZ);
    const made: number[] = [];
    for (const documento of [MATRIZ, ...FILIAIS]) {
      const answers = [];
      for (let at = 0; at <= WEBHOOKS_MAX; at += 1) {
        answers.push(await call(token, 'POST', `?documento=${documento}`, { url }));
      }
      made.push(answers.filter(({ status }) => status === 201).length);
      const last = answers.at(-1)!;
      assert.deepEqual([last.status, last.body.codigo_erro], [422, 'E703'], JSON.stringify(last.body));
      assert.match(JSON.stringify(last.body), made.at(-1) === WEBHOOKS_MAX ? /Já são 10 / : /Já são 100 .*raiz/);
    }
    assert.equal(
      made.reduce((sum, one) => sum + one, 0),
      WEBHOOKS_POR_RAIZ,
    );
    // Another party, and the municipality, have their own limits.
    const other = await tokenOf('11222333000181');
    assert.equal((await call(other, 'POST', '', { url })).status, 201);
  });
});

test('a receiver that is slow for one owner has places for another one as soon as some end, half of them', async () => {
  const held: Record<string, ServerResponse[]> = { a: [], b: [] };
  const server = createServer((incoming, response) => held[incoming.url!.slice(1)]!.push(response));
  const port = await ownPort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const post = avisoPoster({ isPrivateAllowed: true });
  const T0 = Date.now();
  const send = (dono: 'a' | 'b', afterMs = 0) =>
    post({
      ...{ id: dono, dono, url: `http://127.0.0.1:${port}/${dono}`, headers: {}, corpo: '{}' },
      ...{ agora: T0 + afterMs, isEnsaio: false, isDesafio: false },
    });
  const half = AVISO_SIMULTANEOS / 2;
  const all = Array.from({ length: AVISO_SIMULTANEOS }, () => send('a'));
  await until(async () => held['a']!.length === AVISO_SIMULTANEOS || undefined, 'every place is taken');
  for (let at = 0; at < half; at += 1) {
    assert.ok('adiadoMs' in (await send('b')));
    held['a']![at]!.writeHead(204).end();
    assert.deepEqual(await all[at], { status: 204 });
    assert.ok('adiadoMs' in (await send('a')), 'what ended is kept for the other');
    all.push(send('b', 1_000));
    await until(async () => held['b']!.length === at + 1 || undefined, 'the other has it');
  }
  for (const one of [...held['a']!.slice(half), ...held['b']!]) one.writeHead(204).end();
  for (const answer of await Promise.all(all)) assert.deepEqual(answer, { status: 204 });
});

const INSERT = `insert into webhooks (tenant, id, documento, url, tipos, segredo, criado_em, pendente, proxima)
  select $1, $2 || i, $3 || lpad(i::text, 6, '0'), 'https://erp.exemplo.com.br/a', '{}', '\\x00', now(), true, $4::timestamptz
  from generate_series(1, $5::int) i`;

test('an address that is new is told before the thousands that another owner made up', async () => {
  const tenant = 'vila';
  await store.municipios.create({ tenant, ambiente: 'producao', codigoIbge: '3509502' }, clock.now);
  // One hour later: the service sends no messages at that moment.
  const later = clock.now + 3_600_000;
  await pool.query(INSERT, [tenant, 'e', '99888777', new Date(later), 5_000]);
  await pool.query(INSERT, [tenant, 'novo', '11222333', new Date(later + 1_000), 1]);
  const now = later + 2_000;
  const take = async () => {
    const asked = { now, until: now + 40_000, max: 8, pace: 'slow' } as const;
    const taken = await store.entregas.take(tenant, { ...asked, token: crypto.randomUUID() });
    return taken.map(({ id }) => id.replace(/\d+$/, ''));
  };
  assert.deepEqual((await take()).toSorted(), [...Array(7).fill('e'), 'novo']);
  // Addresses under way count as turns: a new owner comes after one of theirs, not after all.
  await pool.query(INSERT, [tenant, 'outro', '22333444', new Date(now), 3]);
  assert.equal((await take()).filter((id) => id === 'outro').length, 3);
});

test('addresses are taken in one walk over those that are due, though the database has no statistics of them', async () => {
  const fresh = await freshPool();
  const statements: Statements = new Map();
  const recording = createStore(recorded(fresh, statements));
  const now = clock.now;
  await recording.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308' }, now);
  await fresh.query(INSERT, [TENANT, 'e', '99888777', new Date(now - 1_000), 1_000]);
  statements.clear();
  const asked = { now, until: now + 40_000, max: 8, pace: 'slow', token: crypto.randomUUID() } as const;
  assert.equal((await recording.entregas.take(TENANT, asked)).length, 8);
  const [[text, values]] = [...statements] as [[string, readonly unknown[]]];
  const loops = await loopsOf(fresh, text, values);
  assert.ok(loops <= 8, `${loops} times`);
});

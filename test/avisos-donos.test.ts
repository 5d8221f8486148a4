/** What one holder of a token may take from others by addresses of the branches that it makes up: in production, where a token is proved. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cnpjIsValid } from '../src/fiscal/chave.ts';
import { WEBHOOKS_MAX, WEBHOOKS_POR_RAIZ } from '../src/flows/avisos.ts';
import { makeToken } from '../src/identity/token.ts';
import { request } from './support/http.ts';
import { startTestService } from './support/service.ts';

const TENANT = 'cidade';
const service = await startTestService();
const { store, clock, address } = service;
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
      assert.deepEqual([last.status, last.body.codigo_erro], [429, 'E703'], JSON.stringify(last.body));
      assert.match(JSON.stringify(last.body), made.at(-1) === WEBHOOKS_MAX ? /Já são 10 / : /Já são 100 .*raiz/);
    }
    assert.equal(
      made.reduce((sum, one) => sum + one, 0),
      WEBHOOKS_POR_RAIZ,
    );
    // Somebody else, and the municipality, have theirs.
    const other = await tokenOf('11222333000181');
    assert.equal((await call(other, 'POST', '', { url })).status, 201);
  });
});

/**
 * A node of a Citus cluster dies or hangs. Its municipalities are told to try again; those of the other nodes are issued and authorised.
 * All answered notes exist.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { asSandbox } from '../../../test/support/municipio.ts';
import { startCitus } from '../../../test/support/own-citus.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { findPlaces } from '../../base/pg/distributed.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { distribute } from './distribuicao.rows.ts';

const TENANTS = ['alfa', 'beta', 'gama', 'delta', 'epsilon', 'zeta', 'eta', 'teta'];

/** `who`: the expected message; the answer for a hanging node may not name the node as the cause. */
function assertLost(
  { status, headers, body }: Answer,
  who = /O nó do banco de dados em que está este município não responde\./,
): void {
  assert.equal(status, 503, JSON.stringify(body));
  assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.match(JSON.stringify(body), who);
}

const skip = process.env['NFSE_TEST_CITUS'] === undefined && 'é de npm run test:citus, e sobe um Citus seu';

test('a lost node', { timeout: 600_000, skip }, async (t) => {
  const citus = await startCitus();
  if (citus === undefined) return t.skip('pede um Citus instalado nesta máquina (scripts/citus-local.sh)');
  const [coordinator, ...nodes] = citus.servers;
  const before = await startTestService({ connection: coordinator!, worker: false });
  const nos = nodes.map(({ host, port }) => ({ host: host!, porta: port! }));
  await distribute(before.pool, { nos, fragmentos: 8, tell: () => undefined });
  // Connections that began before the distribution lack its settings.
  const { address, pool, store, clock } = await startTestService({ connection: coordinator! });
  for (const tenant of TENANTS) await store.municipios.create(asSandbox(tenant), clock.now);
  const places = await findPlaces(pool, TENANTS);
  const [there, lost] = nos.map(({ porta }) => places.find((place) => place.porta === porta)!.tenant);
  assert.ok(there !== undefined && lost !== undefined, JSON.stringify(places));

  let sent = 0;
  const emit = (tenant: string) => {
    sent += 1;
    const body = exampleXml({ serie: '1', nDPS: String(sent) });
    const headers = { 'Content-Type': 'application/xml' };
    return request(address, `/${tenant}/api/v1/nfse/v101`, { method: 'POST', headers, body });
  };
  const answered: (readonly [tenant: string, chave: string])[] = [];
  const issue = async (tenant: string): Promise<void> => {
    const { status, body } = await emit(tenant);
    assert.equal(status, 201, JSON.stringify(body));
    answered.push([tenant, String(body.chave_acesso)]);
  };
  const untilAuthorised = async (tenant: string): Promise<void> => {
    for (const [of, chave] of answered.filter(([of]) => of === tenant)) {
      const isAuthorised = async () => {
        const { body } = await request(address, `/${of}/api/v1/nfse/${chave}`);
        return body.nota?.status === 'autorizada' || undefined;
      };
      await until(isAuthorised, `${of} ${chave}`);
    }
  };
  /** Issues on both nodes, and waits for the authorisations of the other node. */
  const go = async (who?: RegExp): Promise<void> => {
    for (let round = 0; round < 3; round += 1) {
      const [refused] = await Promise.all([emit(lost), issue(there)]);
      assertLost(refused, who);
      await untilAuthorised(there);
    }
    const ready = await fetch(`${address}/health/ready`);
    assert.equal(ready.status, 200, await ready.text());
  };
  /** Each database session that used the lost node reports the loss once more before it works again. */
  const comeBack = async (): Promise<void> => {
    const issueAgain = async () => {
      const { status, body } = await emit(lost);
      if (status !== 201) return undefined;
      answered.push([lost, String(body.chave_acesso)]);
      return true;
    };
    await until(issueAgain, 'the node is there again');
    await issue(there);
    for (const tenant of [there, lost]) await untilAuthorised(tenant);
  };
  await comeBack();

  await t.test('that was killed', async () => {
    await citus.kill(2);
    await go();
    citus.revive();
    await comeBack();
  });

  await t.test('that stands still', async () => {
    citus.freeze(2);
    // The server itself may end the statement first on a busy machine.
    await go(/não responde\.|demorou demais\./);
    const moved = await nfseHere(['banco', 'mover', there, '--para', `${nos[1]!.host}:${nos[1]!.porta}`], pool);
    assert.equal(moved.code, 1, moved.out);
    assert.match(moved.err, new RegExp(`^Não respondem?: \\S+:${nos[1]!.porta}\\. Nada se perdeu; quando voltar`, 'm'));
    citus.thaw();
    await comeBack();
  });
});

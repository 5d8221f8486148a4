/**
 * A municipality is closed while a process stands still. That process stores nothing afterwards, even with older knowledge: the
 * municipality may continue elsewhere by then.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { runBeside } from './support/cli.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { balcao, CANCELAMENTO } from './support/eventos.ts';
import { request } from './support/http.ts';
import { type ServiceProcess, startServiceProcess } from './support/process.ts';
import { startProxy } from './support/proxy.ts';
import { call, loteXml } from './support/rps.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

type Refused = { readonly status: number; readonly text: string; readonly retryAfter: string | null };

/** Requests of clients to a municipality of one test; the text is the whole answer. */
const SENT: Readonly<Record<string, (tenant: string) => Promise<(address: string) => Promise<Refused>>>> = {
  note: async (tenant) => async (address) => {
    const post = {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: exampleXml({ serie: '1', nDPS: '2' }),
    };
    return told(await request(address, `/${tenant}/api/v1/nfse/v101`, post));
  },
  event: async (tenant) => {
    const nota = await balcao(other.address, tenant).issue({ serie: '1', nDPS: '1' });
    return async (address) =>
      told(await balcao(address, tenant).register(nota, { ...CANCELAMENTO, chave_acesso: nota.chave_acesso }));
  },
  lot: async (tenant) => async (address) => {
    const { status, body, retryAfter } = await call(address, 'RecepcionarLoteRps', loteXml([{ numero: 1 }]), tenant);
    return { status, text: body, retryAfter };
  },
};

function told({ status, headers, body }: Awaited<ReturnType<typeof request>>): Refused {
  return { status, text: JSON.stringify(body), retryAfter: headers.get('retry-after') };
}

/** The service that issued before. */
let other: TestService;

describe('a municipality that is closed while a process stands still', () => {
  let env: NodeJS.ProcessEnv;
  let stalling: ServiceProcess;
  /** Runs when the process has passed every check of its municipality and takes a number that may be lost. */
  let onNumber: (() => void) | undefined;

  before(async () => {
    const connection = await freshDatabase();
    env = { DATABASE_URL: databaseUrlOf(connection), NFSE_BASE_URL: 'https://nfse.exemplo.gov.br' };
    other = await startTestService({ connection });
    const proxy = await startProxy(connection, (bytes) => {
      if (bytes.includes('insert into sequencias')) onNumber?.();
    });
    stalling = await startServiceProcess({ ...env, DATABASE_URL: databaseUrlOf(proxy.connection) });
  });

  for (const [what, prepare] of Object.entries(SENT)) {
    test(`stores no ${what} afterwards`, { timeout: 600_000 }, async () => {
      const tenant = `cidade-${what}`;
      const criar = ['municipio', 'criar', tenant, '--ibge', '3550308', '--ambiente', 'homologacao'];
      await runBeside(criar, env);
      const send = await prepare(tenant);
      const stopped = new Promise<void>((resolve) => {
        onNumber = () => {
          process.kill(stalling.pid, 'SIGSTOP');
          onNumber = undefined;
          resolve();
        };
      });
      const rows = () => countOf(tenant);
      const stored = await rows();
      const answer = send(stalling.address);
      await Promise.race([stopped, answer.then(({ text }) => assert.fail(text))]);
      try {
        await runBeside(['municipio', 'alterar', tenant, '--fechar'], env);
      } finally {
        process.kill(stalling.pid, 'SIGCONT');
      }
      const { status, text, retryAfter } = await answer;
      assert.equal(status, 503, text);
      assert.match(text, /fechado por quem o opera/);
      assert.ok(Number(retryAfter) > 0);
      assert.deepEqual(await rows(), stored);
      await runBeside(['municipio', 'alterar', tenant, '--sem-fechar'], env);
      // A process may remember for a moment that the municipality was closed.
      const again = await until(async () => {
        const { status, text } = await send(other.address);
        return text.includes('fechado por quem o opera') ? undefined : { status, text };
      }, 'the opening');
      assert.ok([200, 201].includes(again.status), again.text);
      assert.notDeepEqual(await rows(), stored);
    });
  }

  async function countOf(tenant: string): Promise<unknown> {
    const { rows } = await other.pool.query(
      `select (select coalesce(sum(ultimo), 0) from numeracao where tenant = $1) as numeros,
        (select count(*) from notas where tenant = $1) as notas, (select count(*) from eventos where tenant = $1) as eventos,
        (select count(*) from lotes where tenant = $1) as lotes, (select count(*) from fila where tenant = $1 and tipo = 'lote') as fila`,
      [tenant],
    );
    return rows[0];
  }
});

/** The console as the service starts it: its address, the recipient of its first link, and a service that goes on without it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, test } from 'node:test';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { ownPort } from './support/ports.ts';
import { SERVING, type Started, said, start } from './support/started.ts';

const SERVE = ['bin/nfse', 'serve'];

async function serve(env: NodeJS.ProcessEnv): Promise<{ readonly service: Started; readonly address: string }> {
  const usual = { PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '0' };
  const service = start(SERVE, { ...usual, ...env });
  return { service, address: (await said(service, SERVING))[1]! };
}

async function end(service: Started): Promise<void> {
  service.child.kill('SIGTERM');
  assert.equal(await service.ended, 0, service.output());
}

for (const NFSE_PROCESSOS of ['1', '2']) {
  describe(`${NFSE_PROCESSOS} process${NFSE_PROCESSOS === '1' ? '' : 'es'}`, () => {
    test('the console has an address of its own and a link for its first administrator, anew at each start', async () => {
      const port = await ownPort();
      const DATABASE_URL = databaseUrlOf(await freshDatabase());
      const env = { DATABASE_URL, NFSE_PROCESSOS, NFSE_PAINEL_PORTA: String(port) };
      const links: string[] = [];
      for (let time = 0; time < 2; time += 1) {
        const { service, address } = await serve(env);
        const [, link] = /(http:\/\/localhost:\d+\/convite\/[\w-]{43})\n/.exec(service.output())!;
        links.push(link!);
        assert.match(service.output(), new RegExp(`console do município +http://localhost:${port}\n`));
        const page = await fetch(link!);
        assert.equal(page.status, 200);
        assert.match(await page.text(), /Primeiro administrador/);
        // The public port has no page of the console, and the console none of the service.
        for (const path of ['/entrar', '/m/integracao/usuarios', new URL(link!).pathname]) {
          assert.equal((await fetch(`${address}${path}`)).status, 404, path);
        }
        for (const path of ['/docs', '/integracao/api/v1/nfse/1', '/health/ready']) {
          assert.equal((await fetch(`http://localhost:${port}${path}`)).status, 404, path);
        }
        if (time === 1) assert.equal((await fetch(links[0]!)).status, 410, 'the link of the start before has gone');
        await end(service);
      }
    });

    test('a port in use is said, with the way out, and the service issues; 0 asks for no console', async () => {
      const other = net.createServer().listen(0, '127.0.0.1');
      onEnd(() => other.close());
      await once(other, 'listening');
      const { port } = other.address() as net.AddressInfo;
      const DATABASE_URL = databaseUrlOf(await freshDatabase());
      for (const [NFSE_PAINEL_PORTA, tells] of [
        [String(port), `a porta ${port} já está em uso. Escolha outra com NFSE_PAINEL_PORTA`],
        ['0', undefined],
      ] as const) {
        const { service, address } = await serve({ DATABASE_URL, NFSE_PROCESSOS, NFSE_PAINEL_PORTA });
        assert.equal((await fetch(`${address}/health/ready`)).status, 200);
        if (tells === undefined) assert.doesNotMatch(service.output(), /console/);
        else assert.ok(service.output().includes(tells), service.output());
        await end(service);
      }
    });
  });
}

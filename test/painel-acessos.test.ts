/** Sessions, factors and links of the console in hostile hands: what still acts, what is counted, and what the trail takes of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, test } from 'node:test';
import { bloquearUsuario } from '../src/flows/usuarios.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from './support/painel.ts';
import { startTestService } from './support/service.ts';
import { until } from './support/until.ts';

const [A, B] = ['integracao', 'vila-alheia'];
const BY = { quem: 'teste', via: 'comando' } as const;
const MINUTE_MS = 60_000;
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world, origin } = painel;
await world.store.municipios.create({ tenant: B, ambiente: 'homologacao', codigoIbge: '3550308' }, world.now());
const { port } = new URL(origin);

// Codes and attempts are anew in each test.
beforeEach(async () => {
  service.clock.now += 2 * MINUTE_MS;
  await service.pool.query('delete from contagens');
});

const tokenIn = (html: string): string => /name="formulario" value="([^"]*)"/.exec(html)![1]!;

describe('a form that was begun before what its sender may do has changed', () => {
  /** Sends a part of a form, waits until the console has looked at the session, does something, and sends the rest. */
  async function sendAround(pessoa: Pessoa, path: string, fields: object, act: () => Promise<unknown>): Promise<string> {
    const token = tokenIn((await pessoa.open(path)).html);
    service.clock.now += 2 * MINUTE_MS;
    const body = new URLSearchParams({ formulario: token, ...fields }).toString();
    const socket = connect(Number(port), '127.0.0.1');
    const answer = text(socket);
    await once(socket, 'connect');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: ${origin}\r\nCookie: ${pessoa.cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 10)}`,
    );
    await until(async () => {
      const { rows } = await service.pool.query('select 1 from sessoes where vista_em = $1', [new Date(world.now())]);
      return rows[0];
    }, 'the console has read the session');
    await act();
    socket.write(body.slice(10));
    return answer;
  }

  const form = { url: 'https://mal.exemplo.com.br/tudo', descricao: 'x', motivo: 'y' };
  const count = async (): Promise<number> =>
    (await service.pool.query(`select 1 from webhooks where url like '%mal.exemplo%'`)).rowCount!;

  test('does nothing once the account is blocked', async () => {
    const pessoa = await enter(painel, await makeUsuario(painel, 'mal', { [A]: 'administracao' }));
    const answer = await sendAround(pessoa, `/m/${A}/avisos/novo`, form, () =>
      bloquearUsuario(world, 'mal', true, { ...BY, motivo: 'demitido' }),
    );
    assert.match(answer, /^HTTP\/1\.1 303 [\s\S]*location: \/entrar/i);
    assert.equal(await count(), 0);
  });

  test('does nothing once the role is less', async () => {
    const pessoa = await enter(painel, await makeUsuario(painel, 'menor', { [A]: 'administracao' }));
    const { id } = (await world.store.contas.findByLogin('menor'))!;
    const answer = await sendAround(pessoa, `/m/${A}/avisos/novo`, form, () =>
      world.store.contas.setPapel(id, A, 'leitura'),
    );
    assert.match(answer, /^HTTP\/1\.1 403 /);
    assert.equal(await count(), 0);
  });
});

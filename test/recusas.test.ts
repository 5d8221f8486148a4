/**
 * The headers of refusals for machines, at each address of each door, over real HTTP: the proofs of identity that are taken (401), and the
 * time of the next attempt (429, 503). The rows are those of the doors, so that a new address is asked as well.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Route } from '../src/base/http/route.ts';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { errorOf } from '../src/fiscal/errors.ts';
import { ENSAIO_PATH } from '../src/published/paths.ts';
import { challengesIn } from './support/desafios.ts';
import { type Answer, request } from './support/http.ts';
import { Pessoa, startTestPainel } from './support/painel.ts';
import { startTestService } from './support/service.ts';

const TENANT = 'sao-paulo';

const service = await startTestService({ worker: false });
const { address, store, clock } = service;
await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308' }, clock.now);
const painel = await startTestPainel(service);

/** A new private sandbox, whose name is part of its addresses. */
async function ensaio(): Promise<string> {
  const { body } = await request(address, '/integracao/api/v1/ambientes', { method: 'POST' });
  return body.ambiente.municipio;
}

const ENSAIO = await ensaio();

/** A request that a route takes as far as it can without any proof of its sender. */
function ask(route: Route, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const { method, path, takes = [] } = route;
  const tenant = route.asksOwner ? ENSAIO : TENANT;
  const type = takes.includes('application/json') ? 'application/json' : takes[0];
  const isSent = method === 'POST' || method === 'PATCH';
  return request(address, `/${tenant}${path.replace(/:(\w+)/g, (_whole, name) => VALUES[name] ?? '1')}`, {
    method,
    headers: { ...(type === undefined ? {} : { 'Content-Type': type }), ...headers },
    ...(isSent ? { body: bodyOf(route) } : {}),
  });
}

/** Values of a path that are read before their sender is judged. */
const VALUES: Readonly<Record<string, string>> = {
  id: 'DPS355030821122233300018199999000000000000001',
  documento: '11222333000181',
};

const SIGNED_TOKEN = {
  documento: '11222333000181',
  municipio: TENANT,
  ambiente: 'producao',
  pedido: 'pedido-de-um-estranho',
};
const ACOES: Readonly<Record<string, string>> = {
  pedirToken: 'criar',
  listarTokens: 'listar',
  revogarToken: 'revogar',
};

function bodyOf({ id }: Route): string {
  const acao = ACOES[id];
  if (acao === undefined) return '{}';
  return JSON.stringify({
    ...SIGNED_TOKEN,
    acao,
    emitido_em: new Date(clock.now).toISOString(),
    ...(acao === 'revogar' && { id: 'tok_x' }),
  });
}

describe('a refusal with 401', () => {
  const guarded = ROUTES.filter(({ codes }) => codes.some((codigo) => errorOf(codigo)?.status === 401));

  for (const route of guarded) {
    const { id, method, path, reads = [] } = route;
    test(`${method} ${path} challenges a stranger with what it takes`, async () => {
      const { status, headers, body } = await ask(route);
      assert.equal(status, 401, `${id}: ${JSON.stringify(body)}`);
      const challenges = challengesIn(headers);
      const realm = route.asksOwner ? ENSAIO : TENANT;
      for (const one of challenges) assert.equal(one.params['realm'], realm, id);
      const signature = reads.find((name) => name.endsWith('-Assinatura'));
      const own = challenges.find(({ scheme }) => scheme === 'Assinatura');
      assert.equal(own?.params['cabecalho'], signature, id);
      const schemes = challenges.map(({ scheme }) => scheme);
      assert.equal(
        schemes.includes('Bearer'),
        method !== 'POST' || route.asksToken === true || route.asksOwner === true,
        id,
      );
    });
  }

  test('tells whether a token was not sent, is not valid, or is of somebody else', async () => {
    const notas = ROUTES.find(({ id }) => id === 'listarNotas')!;
    const bearer = async (headers = {}) =>
      challengesIn((await ask(notas, headers)).headers).find(({ scheme }) => scheme === 'Bearer')!.params['error'];
    assert.equal(await bearer(), undefined);
    assert.equal(await bearer({ Authorization: 'Bearer nada' }), 'invalid_token');
    const path = '/integracao/api/v1';
    const json = { 'Content-Type': 'application/json' };
    const made = await request(address, `${path}/token`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ documento: '11222333000181', escopos: ['webhooks'] }),
    });
    const { status, headers } = await request(address, `${path}/notas`, {
      headers: { Authorization: `Bearer ${made.body.token}` },
    });
    assert.equal(status, 401);
    assert.deepEqual(
      challengesIn(headers).map(({ scheme, params }) => [scheme, params['error']]),
      [
        ['Bearer', 'insufficient_scope'],
        ['Certificado', undefined],
      ],
    );
  });

  test('of a page names the form that lets its visitor in', async () => {
    for (const [below, action] of [
      ['', '../../docs/ensaio'],
      ['/requisicoes/x', '../../../../docs/ensaio'],
      ['/cadastros/servicos/csv', '../../../../../docs/ensaio'],
    ] as const) {
      const { status, headers } = await request(address, `${ENSAIO_PATH}/${ENSAIO}${below}`);
      assert.equal(status, 401, below);
      assert.deepEqual(challengesIn(headers), [byForm('ensaio', action)]);
    }
    const pessoa = new Pessoa(painel);
    await pessoa.open('/entrar');
    const { status, headers } = await pessoa.send('/entrar', { login: 'ninguem', senha: 'quatro cavalos' });
    assert.equal(status, 401);
    assert.deepEqual(challengesIn(headers), [byForm('console', '/entrar')]);
  });
});

const byForm = (realm: string, action: string) => ({ scheme: 'Cookie', params: { realm, 'form-action': action } });

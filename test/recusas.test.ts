/**
 * The headers of refusals for machines, at each address of each door, over real HTTP: the proofs of identity that are taken (401), and the
 * time of the next attempt (429, 503). The rows are those of the doors, so that a new address is asked as well.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MISSES_MAX } from '../src/base/http/misses.ts';
import type { Route } from '../src/base/http/route.ts';
import { PAINEL_ROUTES } from '../src/doors/painel/painel.ts';
import { createRestDoor } from '../src/doors/rest/door.ts';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { CADASTRO_LIDO_MS } from '../src/fiscal/ambiente.ts';
import { errorOf } from '../src/fiscal/errors.ts';
import { ENSAIO_PATH } from '../src/published/paths.ts';
import { ENSAIOS_POR_MINUTO } from '../src/subjects/avisos/webhooks.ts';
import { ENSAIOS_DA_REDE } from '../src/subjects/ensaios/ambientes.ts';
import { TOKENS_POR_DOCUMENTO } from '../src/subjects/partes/tokens.ts';
import { addAmbientes } from './support/ambientes.ts';
import { onEach } from './support/citus.ts';
import { onEnd } from './support/cleanup.ts';
import { monotonicClock } from './support/clock.ts';
import { freshDatabase, testServers } from './support/database.ts';
import { challengesIn } from './support/desafios.ts';
import { type Answer, request } from './support/http.ts';
import { ownCounts } from './support/own-counts.ts';
import { enter, makeUsuario, Pessoa, type Shown, startTestPainel } from './support/painel.ts';
import { ABRASF, envelope, porProtocolo } from './support/rps.ts';
import { startTestService } from './support/service.ts';
import { until } from './support/until.ts';

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
function ask(
  route: Route,
  headers: Readonly<Record<string, string>> = {},
  where = address,
  tenant = route.asksOwner ? ENSAIO : TENANT,
): Promise<Answer> {
  const { method, path, takes = [] } = route;
  const type = takes.includes('application/json') ? 'application/json' : takes[0];
  const isSent = method === 'POST' || method === 'PATCH';
  return request(where, `/${tenant}${path.replace(/:(\w+)/g, (_whole, name) => VALUES[name] ?? '1')}`, {
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

/** A door on the same database with counts of its own. */
async function ownDoor(): Promise<string> {
  const door = await createRestDoor(service.world, {
    ...{ host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false },
    buckets: ownCounts(),
  });
  onEnd(() => door.close());
  return door.address;
}

type Limit = { readonly nome: string; readonly resta: number; readonly voltaS: number };

/** The limits that an answer tells, in their order; each has its policy. */
function limitsIn(headers: Headers): readonly Limit[] {
  const list = (name: string) => (headers.get(name) ?? '').split(', ').filter((one) => one !== '');
  const policies = list('ratelimit-policy').map((one) => /^"(\w+)";q=\d+(?:;w=\d+)?$/.exec(one)?.[1]);
  const limits = list('ratelimit').map((one) => {
    const [, nome, resta, voltaS] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(one) ?? assert.fail(one);
    return { nome: nome!, resta: Number(resta), voltaS: Number(voltaS) };
  });
  assert.deepEqual(
    policies,
    limits.map(({ nome }) => nome),
  );
  return limits;
}

const waitIn = (headers: Headers): number => Number(headers.get('retry-after'));

/** The refusal for want of room in a limit: its name comes first, and the wait is the one until there is room. */
function assertExcess(
  { status, headers, body }: Pick<Answer, 'status' | 'headers' | 'body'>,
  nome: string,
  waitS: number,
): void {
  assert.equal(status, 429, JSON.stringify(body));
  assert.equal(waitIn(headers), waitS, nome);
  assert.equal(limitsIn(headers)[0]?.nome, nome);
}

const API = '/integracao/api/v1';
function soapOf(operacao: string, documento: string): RequestInit {
  const inside = `<n:${operacao} xmlns:n="${ABRASF}"><parameters><![CDATA[${documento}]]></parameters></n:${operacao}>`;
  return { method: 'POST', headers: { 'Content-Type': 'text/xml' }, body: envelope(inside) };
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

async function tokenOf(documento: string, escopos: readonly string[] = ['consultar']): Promise<Answer> {
  const body = JSON.stringify({ documento, escopos, validade_dias: 2 });
  return request(address, `${API}/token`, { method: 'POST', headers: JSON_TYPE, body });
}

describe('a refusal with 429', () => {
  test('of each address that counts documents names the limit of the network, and its wait', async () => {
    const where = await ownDoor();
    const slug = 'ensaio-curto';
    const made = { tenant: slug, ambiente: 'homologacao', codigoIbge: '3550308', limiteEndereco: 1 } as const;
    assert.ok(await store.municipios.create(made, clock.now));
    const counted = ROUTES.filter(({ quotaCost }) => quotaCost !== undefined);
    const emitir = counted.find(({ id }) => id === 'emitirNota')!;
    assert.equal((await ask(emitir, {}, where, slug)).status, 422);
    for (const route of counted) {
      const answer = await ask(route, {}, where, slug);
      const [own] = limitsIn(answer.headers);
      assert.equal(own?.resta, 0, route.id);
      // The bucket of one document is full again after a day, and has a tenth of it after a tenth.
      const dayS = Math.min(1, route.quotaCost!) * 86_400;
      const waitS = waitIn(answer.headers);
      assertExcess(answer, 'endereco', waitS);
      assert.ok(waitS <= dayS && waitS > dayS - 3_600, `${route.id} ${waitS}`);
    }
  });

  test('of each address that is asked in vain names that limit', async (t) => {
    monotonicClock(t);
    const where = await ownDoor();
    const guessed = ROUTES.filter(({ missCost }) => missCost !== undefined);
    const nota = guessed.find(({ id }) => id === 'consultarNota')!;
    await Promise.all(Array.from({ length: MISSES_MAX }, () => ask(nota, {}, where)));
    const told: string[] = [];
    for (const route of guessed) {
      const answer = await ask(route, {}, where);
      if (answer.status !== 429) continue;
      assertExcess(answer, 'consultas', 1);
      told.push(route.id);
    }
    // A signed request is no guess in production.
    const open = guessed.filter(({ method, id }) => method !== 'POST' || id === 'validarDps').map(({ id }) => id);
    assert.deepEqual(
      open.filter((id) => !told.includes(id)),
      [],
    );
    const page = await request(where, `/${TENANT}/nota/1`);
    assertExcess(page, 'consultas', 1);
  });

  test('of a new sandbox waits until the oldest one of the day is a day old', async () => {
    const own = await startTestService({ worker: false });
    const more = () => request(own.address, `${API}/ambientes`, { method: 'POST' });
    assert.equal((await more()).status, 201);
    own.clock.now += 3_600_000;
    const { status, body } = await more();
    assert.equal(status, 201);
    await addAmbientes(own.pool, body.ambiente.municipio, ENSAIOS_DA_REDE - 2);
    own.clock.now += 60_000;
    assertExcess(await more(), 'ambientes', 82_740);
    const page = await request(own.address, ENSAIO_PATH, { method: 'POST' });
    assertExcess(page, 'ambientes', 82_740);
    own.clock.now += 82_740_000;
    assert.equal((await more()).status, 201);
  });

  test('of a token waits until the first one of the document expires', async () => {
    const documento = '11444777000161';
    for (let count = 0; count < TOKENS_POR_DOCUMENTO; count += 1) {
      assert.equal((await tokenOf(documento)).status, 201);
    }
    clock.now += 3_600_000;
    assertExcess(await tokenOf(documento), 'tokens', 2 * 86_400 - 3_600);
  });

  test('of an export, of a trial of an address and of a change of a sandbox names what is under way', async () => {
    const { body } = await tokenOf('11222333000181', ['consultar', 'webhooks']);
    const headers = { ...JSON_TYPE, Authorization: `Bearer ${body.token}` };
    const post = (path: string, sent: object = {}) =>
      request(address, `${API}/${path}`, { method: 'POST', headers, body: JSON.stringify(sent) });
    assert.equal((await post('exportacoes', { formato: 'csv' })).status, 201);
    assertExcess(await post('exportacoes', { formato: 'csv' }), 'exportacoes', 5);

    const { webhook } = (await post('webhooks', { url: 'http://127.0.0.1:9/' })).body;
    for (let count = 0; count < ENSAIOS_POR_MINUTO; count += 1) {
      assert.equal((await post(`webhooks/${webhook.id}/ensaio`)).status, 200);
      clock.now += 1_000;
    }
    assertExcess(await post(`webhooks/${webhook.id}/ensaio`), 'ensaios', 60 - ENSAIOS_POR_MINUTO);

    const made = (await request(address, `${API}/ambientes`, { method: 'POST' })).body;
    const change = () =>
      request(address, `/${made.ambiente.municipio}/api/v1/ambiente`, {
        method: 'PATCH',
        headers: { ...JSON_TYPE, Authorization: `Bearer ${made.chave}` },
        body: JSON.stringify({ avancar: '1m' }),
      });
    const [refused] = (await Promise.all([change(), change(), change(), change()])).filter(
      ({ status }) => status === 429,
    );
    assertExcess(refused!, 'mudancas', CADASTRO_LIDO_MS / 1_000);
    const button = () =>
      request(address, `${ENSAIO_PATH}/${made.ambiente.municipio}`, {
        method: 'POST',
        headers: { ...FORM, Cookie: `ensaio-${made.ambiente.municipio}=${made.chave}` },
        body: 'acao=reiniciar',
      });
    const [again] = (await Promise.all([button(), button(), button()])).filter(({ status }) => status === 429);
    assertExcess(again!, 'mudancas', CADASTRO_LIDO_MS / 1_000);
  });

  test('of the console and of the legacy port has the same headers', async () => {
    const pessoa = await enter(painel, await makeUsuario(painel, 'ana', { [TENANT]: 'administracao' }));
    const path = `/m/${TENANT}`;
    await pessoa.open(`${path}/notas`);
    // Two exports wait for the notes, and are in progress meanwhile.
    const holder = await service.pool.connect();
    await holder.query('begin; lock table notas in access exclusive mode');
    const asked = Array.from({ length: 3 }, () => pessoa.send(`${path}/exportacoes`, { formato: 'csv', numero: '1' }));
    const busy = async (one: Promise<Shown>): Promise<Shown> => {
      const shown = await one;
      assert.equal(shown.status, 429);
      return shown;
    };
    const refused = await Promise.any(asked.map(busy));
    await holder.query('rollback');
    holder.release();
    await Promise.all(asked);
    assert.equal(waitIn(refused.headers), 5);

    const where = await ownDoor();
    const documento = porProtocolo('ConsultarLoteRpsEnvio', '1');
    const vain = () => request(where, `/${TENANT}/soap/nfes`, soapOf('ConsultarLoteRps', documento));
    const answers = await Promise.all(Array.from({ length: 2 * MISSES_MAX }, vain));
    const [late] = answers.filter(({ status }) => status === 429);
    assertExcess(late!, 'consultas', 1);
  });
});

describe('a refusal with 503', () => {
  test('of each address says when to come back while the database is away', async () => {
    const connection = await freshDatabase();
    const own = await startTestService({ worker: false, connection, isPatient: false });
    await own.store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308' }, own.clock.now);
    const { body } = await request(own.address, `${API}/ambientes`, { method: 'POST' });
    const slug: string = body.ambiente.municipio;
    const ownPainel = await startTestPainel(own);
    const [server] = await testServers();
    await onEach([server], `drop database ${connection.database} with (force)`);
    await until(
      async () => ((await request(own.address, '/health/ready')).status === 503 ? true : undefined),
      'it is away',
    );

    const answered: string[] = [];
    const note = ({ status, headers }: Pick<Answer, 'status' | 'headers'>, name: string): void => {
      if (status === 503) assert.match(headers.get('retry-after') ?? 'none', /^[1-9]\d*$/, name);
      else answered.push(`${status} ${name}`);
    };
    for (const route of ROUTES) {
      note(await ask(route, {}, own.address, route.asksOwner ? slug : TENANT), route.id);
    }
    note(await request(own.address, `/${TENANT}/soap/nfes`, soapOf('ConsultarNfse', '')), 'soap');
    note(await request(own.address, `${ENSAIO_PATH}/${slug}`, { headers: { Cookie: `ensaio-${slug}=x` } }), 'ensaio');
    note(await request(own.address, `/${TENANT}/nota/1`), 'nota');
    for (const { method, path } of PAINEL_ROUTES) {
      const url = new URL(path.replace(/:\w+/g, '1'), ownPainel.origin);
      const headers = { Cookie: '__Host-nfse-painel=x', Origin: ownPainel.origin };
      note(await fetch(url, { method, headers, redirect: 'manual' }), `${method} ${path}`);
    }
    assert.deepEqual(answered, []);
  });
});

/**
 * Attacks of one party on the others: foreign tokens, tokens of another municipality, replays, a revocation during an answer, and hostile
 * parameters. Two processes share one database, in production and in the sandbox.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { assinarCms, lerCertificado } from '../../../packages/cliente/src/index.ts';
import { countCalls } from '../../../test/support/counted-calls.ts';
import { freshDatabase } from '../../../test/support/database.ts';
import { heldBytes } from '../../../test/support/heap.ts';
import { emit, request } from '../../../test/support/http.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { addPrestador } from '../../../test/support/municipio.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { startTestService } from '../../../test/support/service.ts';
import { companyOf, DECADES, type Party, partyOf, signedBy } from '../../../test/support/signatures.ts';
import { unlessStoodStill } from '../../../test/support/standstill.ts';
import { until } from '../../../test/support/until.ts';
import { Waits } from '../../base/world/esperar.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { companyCertificate, pemOf, rootAuthority } from '../../documents/pki.ts';
import { dpsIdOf } from '../../fiscal/chave.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { NOMES_DE_FILTROS } from '../notas/filtros.ts';
import { eachOfPages, listNotasOf, type PaginaDaParte } from './notas.ts';
import { TOKENS_POR_DOCUMENTO } from './tokens.ts';

const [A, B] = ['11222333000181', '88888888000191'];
const INTEGRACAO = 'integracao';
const [PRODUCAO, OUTRA] = ['ataque', 'outra'];

const connection = await freshDatabase();
const clock = { now: Date.parse('2026-11-21T12:00:00-03:00') };
const here = await startTestService({ connection, clock });
const there = await startTestService({ connection, clock, worker: false });
const { store } = here;

const [rootKeys, keys] = await Promise.all([readyKeys(), readyKeys()]);
const root = rootAuthority('AC Raiz de Teste', rootKeys, DECADES);
const partyFor = (cnpj: string): Party =>
  partyOf(keys, companyCertificate(root, companyOf(cnpj), keys.publicKey, DECADES));
const [a, b] = [partyFor(A), partyFor(B)];
const folder = freshFolder();
writeFileSync(path.join(folder, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
const confianca = { ancoras: folder, revogados: undefined };
for (const [tenant, codigoIbge] of [
  [PRODUCAO, '3550308'],
  [OUTRA, '3509502'],
] as const) {
  await store.municipios.create({ tenant, ambiente: 'producao', codigoIbge, confianca }, clock.now);
}

type Sent = { readonly service?: typeof here; readonly body?: object | string; readonly headers?: object };

async function call(method: string, where: string, token?: string, { service = here, body, headers }: Sent = {}) {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  return request(service.address, where, {
    method,
    ...sent,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
  });
}

const api = (tenant: string, where: string): string => `/${tenant}/api/v1/${where}`;

async function sandboxGiven(documento: string, escopos = ['consultar', 'webhooks']) {
  const { status, body } = await call('POST', api(INTEGRACAO, 'token'), undefined, { body: { documento, escopos } });
  assert.equal(status, 201, JSON.stringify(body));
  return body as { readonly id: string; readonly token: string };
}
const sandboxToken = async (documento: string): Promise<string> => (await sandboxGiven(documento)).token;

/** A whole signed request. */
function pedido(documento: string, more: object = {}): string {
  return JSON.stringify({
    ...{ documento, acao: 'criar', municipio: PRODUCAO, ambiente: 'producao', pedido: randomUUID() },
    ...{ emitido_em: new Date(clock.now).toISOString() },
    ...more,
  });
}

const cms = (text: string, who: Party): string =>
  assinarCms(Buffer.from(text), lerCertificado({ certificado: who.pem, chave: who.keyPem }), clock.now);

function sendSigned(text: string, who: Party, { tenant = PRODUCAO, where = 'token', sent = text } = {}) {
  return call('POST', api(tenant, where), undefined, {
    body: sent,
    headers: { 'X-Token-Assinatura': cms(text, who) },
  });
}

async function productionToken(documento: string, who: Party, more: object = {}): Promise<string> {
  const { status, body } = await sendSigned(pedido(documento, more), who);
  assert.equal(status, 201, JSON.stringify(body));
  return body.token;
}

/** A DPS of A for production, without a signature. */
function productionXml(nDPS: string): string {
  const id = dpsIdOf({ cLocEmi: '3550308', documento: A, serie: '1', nDPS });
  return exampleXml({ tpAmb: '1', '@Id': id, serie: '1', nDPS, 'prest/CNPJ': A });
}

let numero = 0;
async function issue(): Promise<string> {
  numero += 1;
  const { status, body } = await emit(here.address, exampleXml({ nDPS: String(numero) }));
  assert.equal(status, 201, JSON.stringify(body));
  return body.chave_acesso;
}

/** The issued notes are decided, and their messages are delivered. */
async function untilTold(token: string): Promise<void> {
  await until(async () => {
    const { mudancas } = (await call('GET', api(INTEGRACAO, 'mudancas?limite=10000'), token)).body;
    const told = mudancas.filter(({ tipo }: { tipo: string }) => tipo === 'nota.autorizada');
    return told.length === numero || undefined;
  }, 'all is told');
}

describe('a signed request', () => {
  test('is for one municipality, environment, purpose and moment, of the holder alone, and whole', async () => {
    for (const [what, text, who, more] of [
      ['another municipality', pedido(A), a, { tenant: OUTRA }],
      ['another environment', pedido(A, { ambiente: 'homologacao' }), a],
      ['another purpose', pedido(A, { acao: 'listar' }), a],
      ['old', pedido(A, { emitido_em: new Date(clock.now - 301_000).toISOString() }), a],
      ['of a time to come', pedido(A, { emitido_em: new Date(clock.now + 301_000).toISOString() }), a],
      ['without a moment', pedido(A, { emitido_em: undefined }), a],
      ['without an identifier', pedido(A, { pedido: undefined }), a],
      ['signed by another', pedido(A), b],
      ['changed', pedido(A), a, { sent: pedido(A, { validade_dias: 90 }) }],
      ['for the sandbox', pedido(A, { municipio: INTEGRACAO, ambiente: 'homologacao' }), a],
      ['twice the same field', pedido(A).replace('{', `{"documento":"${B}",`), a],
    ] as const) {
      const { status, body } = await sendSigned(text, who, more as object);
      assert.ok(status === 400 || status === 401, `${what}: ${status} ${JSON.stringify(body)}`);
    }
  });

  test('sent twenty times at once gives one token', async () => {
    const text = pedido(A);
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendSigned(text, a)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, ...Array.from({ length: 19 }, () => 409)]);
  });

  test('asks for no more tokens than there may be, however many ask at once', async () => {
    const documento = '12345678000195';
    const ask = () => call('POST', api(INTEGRACAO, 'token'), undefined, { body: { documento } });
    const answers = await Promise.all(Array.from({ length: TOKENS_POR_DOCUMENTO + 20 }, ask));
    const given = answers.filter(({ status }) => status === 201).length;
    assert.equal((await store.tokens.list(INTEGRACAO, documento, clock.now)).length, given);
    for (let left = TOKENS_POR_DOCUMENTO - given; left > 0; left -= 1) assert.equal((await ask()).status, 201);
    assert.equal((await ask()).status, 429);
    assert.equal((await store.tokens.list(INTEGRACAO, documento, clock.now)).length, TOKENS_POR_DOCUMENTO);
  });
});

describe('a token', () => {
  test('of one municipality is none at another, and none of the sandbox in production', async () => {
    const tokens = [await productionToken(A, a), await sandboxToken(A)] as const;
    for (const [token, tenants] of [
      [tokens[0], [OUTRA, INTEGRACAO]],
      [tokens[1], [PRODUCAO, OUTRA]],
    ] as const) {
      for (const tenant of tenants) {
        for (const where of ['notas', 'eventos', 'mudancas', 'notas?texto=x']) {
          const { status, body } = await call('GET', api(tenant, where), token);
          assert.equal(status, 401, `${tenant} ${where}`);
          assert.doesNotMatch(JSON.stringify(body), /11\.?222|88\.?888|nfse_/);
        }
      }
    }
  });

  test('issues nothing and registers nothing in production', async () => {
    await addPrestador(here.pool, PRODUCAO, A);
    const token = await productionToken(A, a, { escopos: ['consultar', 'webhooks'] });
    const xml = { 'Content-Type': 'application/xml' };
    const post = (where: string, body: string, headers: object, by?: string) =>
      call('POST', api(PRODUCAO, where), by, { body, headers });
    const listed = async (what: 'notas' | 'eventos') => (await call('GET', api(PRODUCAO, what), token)).body[what];
    const own = await post('nfse/v101', signedBy(productionXml('1'), a), xml);
    assert.equal(own.status, 201, JSON.stringify(own.body));
    const { chave_acesso: chave, numero_protocolo: protocolo } = own.body;
    const evento = JSON.stringify({ tipo_evento: 'confirmacao_prestador' });
    for (const [where, body, headers, codigo] of [
      ['nfse/v101', productionXml('2'), xml, 'E901'],
      [`nfse/${chave}/eventos`, evento, {}, 'E9002'],
      [`nfse/protocolo/${protocolo}/eventos`, evento, {}, 'E9002'],
    ] as const) {
      const refused = await post(where, body, headers, token);
      const bare = await post(where, body, headers);
      assert.equal(refused.body.codigo_erro, codigo, `${where}: ${JSON.stringify(refused.body)}`);
      assert.deepEqual([refused.status, refused.body.codigo_erro], [bare.status, bare.body.codigo_erro], where);
    }
    assert.deepEqual(
      (await listed('notas')).map(({ chave_acesso }: { chave_acesso: string }) => chave_acesso),
      [chave],
    );
    assert.deepEqual(await listed('eventos'), []);
    // The same event, signed by its author, is registered and then listed.
    const signed = await post(`nfse/${chave}/eventos`, evento, { 'X-Evento-Assinatura': cms(evento, a) });
    assert.equal(signed.status, 201, JSON.stringify(signed.body));
    assert.equal((await listed('eventos')).length, 1);
  });

  test('that is revoked in one process is none in the other at once, nor for who waited', async () => {
    for (const waiting of [here, there]) await unlessStoodStill(() => revokedWhileWaiting(waiting));
  });

  async function revokedWhileWaiting(waiting: typeof here): Promise<void> {
    const { token, id } = await sandboxGiven(A);
    await untilTold(token);
    const { cursor } = (await call('GET', api(INTEGRACAO, 'mudancas?desde=agora'), token)).body;
    const looked = countCalls(waiting.store.mudancas, 'listChanged')(1);
    const told = call('GET', api(INTEGRACAO, `mudancas?desde=${cursor}&espera=20`), token, { service: waiting });
    await looked;
    const revoked = await call('POST', api(INTEGRACAO, 'token/revogacao'), undefined, { body: { documento: A, id } });
    assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
    for (const service of [here, there]) {
      assert.equal((await call('GET', api(INTEGRACAO, 'notas'), token, { service })).status, 401);
    }
    await issue();
    const answer = await told;
    assert.equal(answer.status, 401, JSON.stringify(answer.body).slice(0, 300));
  }

  test('that is revoked breaks a list off that is being read', async () => {
    for (let count = 0; count < 3; count += 1) await issue();
    const municipio = (await store.municipios.findBySlug(INTEGRACAO))!;
    const page = await listNotasOf(here.world, municipio, A, {}, { max: 1, isCounted: false });
    assert.ok('notas' in page && page.cursor !== null);
    const read = async (mayGoOn: boolean): Promise<number> => {
      let count = 0;
      const onward = {
        next: (cursor: string) => listNotasOf(here.world, municipio, A, {}, { cursor, max: 500, isCounted: false }),
        mayGoOn: async () => mayGoOn,
      };
      for await (const _nota of eachOfPages<PaginaDaParte, object>(page, ({ notas }) => notas, onward)) count += 1;
      return count;
    };
    assert.ok((await read(true)) >= 3);
    await assert.rejects(read(false), /já não pode/);
  });

  test('that ran out opens nothing, and none is in a line of the log', async () => {
    const token = await productionToken(A, a, { validade_dias: 1 });
    assert.equal((await call('GET', api(PRODUCAO, 'notas'), token)).status, 200);
    clock.now += 86_400_000;
    try {
      assert.equal((await call('GET', api(PRODUCAO, 'notas'), token, { service: there })).status, 401);
    } finally {
      clock.now -= 86_400_000;
    }
    for (const { logged } of [here, there]) assert.doesNotMatch(JSON.stringify(logged), /nfse_|whsec_|ensaio_/);
  });
});

describe('a question', () => {
  test('with anything at all in its parameters is answered or refused, and is never a failure of ours', async () => {
    const token = await sandboxToken(A);
    await issue();
    const odd = [
      ...["'", "' or 1=1 --", '%', '_', '\\', '%00', '%ED%A0%80', '%F0%9F%98%80', '%FF', '%25%27%3B', '..%2f', '*'],
      ...['-1', '0', '1e9', '99999999999999999999', '9223372036854775808', '1'.repeat(400), 'NaN', 'Infinity', '0x10'],
      ...['9999-12-31', '0001-01-01', '0000-00-00', '2026-02-30', '999999-999999999999999-9999999999999999999'],
      ...[
        '000000-0-0',
        '202611-1-1',
        '202611-999999999999999-9999999999999999999',
        'm1-999999999',
        'm999999999999999-0',
        'm0-9',
        '-999999999999999999',
        'null',
      ],
      ...['$1', '$1::int', '%24%7Bx%7D', 'a'.repeat(5_000), '%E2%80%AE', '(((((((', '[', '1.5.5', '0'.repeat(300)],
      ...['9'.repeat(300), `0.${'9'.repeat(300)}`, '99999999999999999.99', '__proto__', 'constructor', 'toString'],
    ];
    const names = {
      notas: [
        ...NOMES_DE_FILTROS,
        ...['documento', 'papel', 'texto', 'ordem', 'contar', 'cursor', 'limite', '__proto__'],
      ],
      eventos: ['documento', 'tipo_evento', 'estado', 'de', 'ate', 'cursor', 'limite'],
      mudancas: ['documento', 'desde', 'limite'],
    };
    for (const [where, all] of Object.entries(names)) {
      for (const name of all) {
        for (const value of odd) {
          const { status } = await call('GET', api(INTEGRACAO, `${where}?${name}=${value}`), token);
          assert.ok([200, 400, 401, 414, 422].includes(status), `${where}?${name}=${value.slice(0, 60)}: ${status}`);
        }
      }
    }
  });

  test('with the cursor of somebody else shows what is the asker’s own, from there on', async () => {
    const [mine, theirs] = [await sandboxToken(A), await sandboxToken(B)];
    for (let count = 0; count < 3; count += 1) await issue();
    const { cursor } = (await call('GET', api(INTEGRACAO, 'notas?limite=1'), mine)).body;
    assert.ok(cursor);
    const shown = await call('GET', api(INTEGRACAO, `notas?limite=100&cursor=${cursor}`), theirs);
    assert.deepEqual([shown.status, shown.body.notas], [200, []]);
    const told = await call('GET', api(INTEGRACAO, 'mudancas?desde=m1-0&limite=10000'), theirs);
    assert.deepEqual([told.status, told.body.mudancas], [200, []]);
  });
});

describe('who waits', () => {
  const sandbox = (tenant: string) => ({ tenant, ambiente: 'homologacao' }) as const;

  test('leaves places to others, from however many documents he waits, and never stands in the way of what is real', async () => {
    const waits = new Waits(async () => []);
    let waiting = 0;
    const wait = async (
      tenant: ReturnType<typeof sandbox> | { tenant: string; ambiente: 'producao' },
      who: string,
      rede: string,
    ) => {
      waiting += 1;
      await waits.wait(tenant, 'key', { ms: 30_000, who, rede });
      waiting -= 1;
    };
    const all: Promise<void>[] = [];
    const many = async (count: number, rede: string): Promise<number> => {
      const before = waiting;
      for (let at = 0; at < count; at += 1) all.push(wait(sandbox(`ensaio-${at % 20}`), String(at), rede));
      await new Promise((resolve) => setImmediate(resolve));
      return waiting - before;
    };
    assert.equal(await many(2_000, '192.0.2.1'), SALAS.esperas.homologacao / 2);
    assert.ok((await many(10, '192.0.2.2')) === 10, 'somebody else waits');
    for (let network = 3; network < 40; network += 1) await many(200, `192.0.2.${network}`);
    assert.ok(waiting <= SALAS.esperas.homologacao);
    const before = waiting;
    all.push(wait({ tenant: 'cidade', ambiente: 'producao' }, A, '198.51.100.1'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(waiting, before + 1);
    waits.end();
    await Promise.all(all);
    assert.equal(waiting, 0);
  });
});

describe('two hundred lists at once', () => {
  test('that nobody reads, or that are hung up half-way, keep nobody from issuing', { timeout: 600_000 }, async () => {
    for (let at = 0; at < 60; at += 1) await Promise.all(Array.from({ length: 20 }, issue));
    const token = await sandboxToken(A);
    const { hostname, port } = new URL(here.address);
    const wanted = `GET ${api(INTEGRACAO, 'notas')} HTTP/1.1\r\nHost: a\r\nAccept: text/csv\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const open = (onData: (socket: Socket) => void): Promise<Socket> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(wanted));
        socket
          .on('error', () => undefined)
          .once('readable', () => {
            onData(socket);
            resolve(socket);
          });
      });
    const before = await heldBytes();
    const unread = await Promise.all(Array.from({ length: 150 }, () => open(() => undefined)));
    await Promise.all(Array.from({ length: 50 }, () => open((socket) => socket.destroy())));
    // The notes do not wait for the reader of a list: that would be endless.
    for (let at = 0; at < 20; at += 1) await issue();
    const grown = ((await heldBytes()) - before) / 1024 / 1024;
    assert.ok(grown < 200, `${Math.round(grown)} MiB`);
    // The reader gets the whole list.
    const { body: text } = await call('GET', api(INTEGRACAO, 'notas'), token, {
      headers: { Accept: 'application/x-ndjson' },
    });
    assert.equal(text.trim().split('\n').length, numero);
    for (const socket of unread) socket.destroy();
  });
});

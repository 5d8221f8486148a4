/**
 * The operations of `packages/cliente` for one party, against the running service. They are tokens, lists, changes over an interrupted
 * connection, notification addresses, and the wait for a decision. A third-party implementation makes and verifies the signatures of
 * messages.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  AindaEmAndamento,
  type AvisoDeRepeticao,
  type Cliente,
  conferirAviso,
  createCliente,
  type Mudanca,
  type OpcoesDoCliente,
  Recusado,
  SemResposta,
} from '../packages/cliente/src/index.ts';
import { pemOf } from '../src/documents/pki.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { onEnd } from './support/cleanup.ts';
import { confirmAvisos } from './support/desafio.ts';
import { addPrestador } from './support/municipio.ts';
import { freshFolder } from './support/openssl.ts';
import { ownPort } from './support/ports.ts';
import { secureDoor } from './support/secure-door.ts';
import { SEED } from './support/seed.ts';
import { NOON, startTestService } from './support/service.ts';
import { chanceOf, DECADES, PROVIDER_CNPJ, testParties } from './support/signatures.ts';
import { until, untilTrue } from './support/until.ts';

const CNPJ = '11222333000181';
const OUTRO = '88888888000191';
/** A provider that only one test uses. */
const TERCEIRO = '12121212000106';
const SLUG = 'integracao';

const service = await startTestService();
const { address, clock, pool, store, world } = service;
const QUICK = { primeiraEsperaMs: 5, esperaMaximaMs: 20, tempoLimiteMs: 60_000 };
const clienteAt = (url: string, more: Partial<OpcoesDoCliente> = {}): Cliente =>
  createCliente({ url, municipio: SLUG, insistencia: QUICK, ...more });

async function tokenOf(documento: string, escopos = ['consultar', 'webhooks']): Promise<string> {
  return (await clienteAt(address).pedirToken({ documento, escopos })).token;
}

let numero = 500;
async function issue(cliente = clienteAt(address), prestador = CNPJ): Promise<string> {
  numero += 1;
  return (await cliente.emitirNota(exampleXml({ nDPS: String(numero), 'prest/CNPJ': prestador }))).chave_acesso;
}

/** The error of a refused operation. */
async function refusalOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    (value) => assert.fail(`it was not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Recusado, `${error}`);
  return `${error.status} ${error.codigo} ${error.erros[0]?.campo ?? ''}`.trim();
}

/** The signer and the verifier use the clock of the service. */
function byTheClock(t: TestContext): void {
  t.mock.method(Date, 'now', () => clock.now);
}

/** A proxy before the service: a test can cut it and restore it at the same address. */
async function cuttableLine() {
  const sockets = new Set<Socket>();
  const { port: onward } = new URL(address);
  const server = createTcpServer((socket) => {
    const other = connect(Number(onward), '127.0.0.1');
    for (const one of [socket, other]) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => sockets.delete(one));
    }
    socket.pipe(other).pipe(socket);
    socket.on('close', () => other.destroy());
    other.on('close', () => socket.destroy());
  });
  const open = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  // The proxy returns on its own port.
  const port = await ownPort();
  await open(port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const close = (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    cut();
    return closed;
  };
  onEnd(() => void (server.listening && close()));
  return { url: `http://127.0.0.1:${port}`, cut, close, open: () => open(port) };
}

describe('a token', () => {
  test('in the sandbox is had for the asking, and lists and follows until it is revoked', async () => {
    const cliente = clienteAt(address);
    const { token, id, escopos } = await cliente.pedirToken({ documento: '12.121.212/0001-06', validade_dias: 2 });
    assert.deepEqual(escopos, ['consultar']);
    const own = clienteAt(address, { token });
    assert.equal((await own.listarNotas()).notas.length, 0);
    const chave = await issue(undefined, TERCEIRO);
    assert.deepEqual(
      (await own.listarNotas({ texto: chave })).notas.map(({ chave_acesso, papeis }) => [chave_acesso, papeis]),
      [[chave, ['prestador']]],
    );
    assert.equal(await refusalOf(own.listarWebhooks()), '401 E9007');
    assert.equal(await refusalOf(own.listarNotas({ documento: OUTRO })), '401 E9007');
    assert.equal(await refusalOf(cliente.listarNotas()), '401 E9007');
    assert.deepEqual(
      (await cliente.listarTokens({ documento: TERCEIRO })).map((one) => one.id),
      [id],
    );
    assert.equal((await cliente.revogarToken({ documento: TERCEIRO, id })).id, id);
    assert.equal(await refusalOf(own.listarNotas()), '401 E9006');
    assert.equal(await refusalOf(cliente.revogarToken({ documento: TERCEIRO, id: 'tok_nada' })), '404 E601');
  });

  test('as a function is asked for before every call', async () => {
    const token = await tokenOf(CNPJ);
    let asked = 0;
    const own = clienteAt(address, {
      token: () => {
        asked += 1;
        return token;
      },
    });
    await own.listarNotas();
    await own.listarEventosDaParte();
    assert.equal(asked, 2);
  });

  test('that is asked for over a bad line is signed anew for every try', async (t) => {
    byTheClock(t);
    const { certificado } = await production();
    const bodies: string[] = [];
    const losing = createCliente({
      url: address,
      municipio: PRODUCAO,
      certificado,
      insistencia: QUICK,
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        bodies.push(Buffer.from(init?.body as Uint8Array).toString());
        // The first answer is lost, though the service issued a token.
        if (bodies.length > 1) return answer;
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
      },
    });
    const { token } = await losing.pedirToken({ documento: PROVIDER_CNPJ });
    assert.match(token, /^nfse_/);
    const pedidos = bodies.map((body) => JSON.parse(body).pedido);
    assert.equal(new Set(pedidos).size, 2);
  });
});

const PRODUCAO = 'sao-paulo';

/** A municipality in production behind TLS, with a provider whose certificate is from an authority that it trusts. */
const production = once(async () => {
  const { root, provider, namesake } = await testParties(NOON, DECADES);
  const ancoras = freshFolder();
  const ca = pemOf('CERTIFICATE', root.certificate);
  writeFileSync(path.join(ancoras, 'raiz.pem'), ca);
  const confianca = { ancoras, revogados: undefined };
  await store.municipios.create(
    { tenant: PRODUCAO, ambiente: 'producao', codigoIbge: '3550308', confianca },
    clock.now,
  );
  await addPrestador(pool, PRODUCAO, PROVIDER_CNPJ);
  const door = await secureDoor(world, root, namesake);
  const certificado = { certificado: provider.pem, chave: provider.keyPem };
  return { url: door.address, ca, certificado, other: { certificado: namesake.pem, chave: namesake.keyPem } };
});

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}

test('in production a token is signed for, serves without a certificate, and is revoked by signature', async (t) => {
  byTheClock(t);
  const { url, ca, certificado } = await production();
  const signing = createCliente({ url, municipio: PRODUCAO, certificado, ca });
  const { token, id } = await signing.pedirToken({
    documento: PROVIDER_CNPJ,
    escopos: ['consultar'],
    validade_dias: 90,
  });
  const bare = createCliente({ url, municipio: PRODUCAO, ca });
  const asking = createCliente({ url, municipio: PRODUCAO, ca, token });
  assert.equal(await refusalOf(bare.pedirToken({ documento: PROVIDER_CNPJ })), '401 E9002');
  assert.equal(await refusalOf(signing.pedirToken({ documento: OUTRO })), '401 E9007');
  const { chave_acesso } = await signing.emitirNota(exampleXml({ tpAmb: '1' }));
  // Two lists of a note can differ until the note is at rest.
  await asking.esperarDecisao(chave_acesso);
  assert.deepEqual(
    (await asking.listarNotas()).notas.map((one) => one.chave_acesso),
    [chave_acesso],
  );
  // The certificate of the connection gives the same list.
  assert.deepEqual(await signing.listarNotas(), await asking.listarNotas());
  assert.equal((await asking.consultarSituacaoDoPrestador(PROVIDER_CNPJ)).pode_emitir, true);
  // A binding request must be signed, with any token.
  assert.equal(await refusalOf(asking.emitirNota(exampleXml({ tpAmb: '1', nDPS: '9' }))), '422 E901');
  assert.ok((await signing.listarTokens({ documento: PROVIDER_CNPJ })).some((one) => one.id === id));
  await signing.revogarToken({ documento: PROVIDER_CNPJ, id });
  assert.equal(await refusalOf(asking.listarNotas()), '401 E9006');
});

test('lists are read page by page to their end', async () => {
  const documento = CNPJ;
  const cliente = clienteAt(address, { token: await tokenOf(documento) });
  const chaves: string[] = [];
  for (let count = 0; count < 3; count += 1) chaves.push(await issue());
  // Two lists of a note can differ until the note is at rest.
  for (const chave of chaves) await cliente.esperarDecisao(chave);
  const page = await cliente.listarNotas({ limite: 2, contar: 'sim' });
  assert.equal(page.notas.length, 2);
  const first = page.notas[1]!.chave_acesso;
  const all = await Array.fromAsync(cliente.todasAsNotas());
  assert.equal(all.length, page.contagem!.total);
  assert.deepEqual(
    all.slice(0, 3).map((one) => one.chave_acesso),
    chaves.toReversed(),
  );
  const rest = await Array.fromAsync(cliente.todasAsNotas({ cursor: page.cursor! }));
  assert.deepEqual(rest, all.slice(2));
  assert.equal(first, all[1]!.chave_acesso);
  await cliente.registrarEvento(chaves[0]!, { tipo_evento: 'confirmacao_prestador' });
  const eventos = await until(async () => {
    const found = await Array.fromAsync(cliente.todosOsEventos());
    return found.every(({ proxima_consulta }) => proxima_consulta === null) ? found : undefined;
  }, 'the event is done');
  assert.deepEqual(
    eventos.map(({ chave_acesso, tipo_evento }) => [chave_acesso, tipo_evento]),
    [[chaves[0], 'confirmacao_prestador']],
  );
  assert.deepEqual((await cliente.listarEventosDaParte()).eventos, eventos);
});

describe('a file of notes', () => {
  test('is asked for, looked at until it is ready, and fetched', async () => {
    const chave = await issue();
    const cliente = clienteAt(address, { token: await tokenOf(CNPJ) });
    await cliente.esperarDecisao(chave);
    const asked = await cliente.pedirExportacao({ formato: 'xml', texto: chave });
    assert.deepEqual([asked.formato, asked.filtros], ['xml', { texto: chave }]);
    const ready = await until(async () => {
      const seen = await cliente.consultarExportacao(asked.id);
      return seen.estado === 'em_andamento' ? undefined : seen;
    }, 'the file is made');
    assert.deepEqual([ready.estado, ready.notas], ['pronta', 1]);
    const zip = await cliente.baixarExportacao(asked.id, { documento: CNPJ });
    assert.deepEqual([zip.length, Buffer.from(zip).toString('latin1', 0, 4)], [ready.bytes, 'PK\x03\x04']);
    assert.ok(Buffer.from(zip).includes(`${chave}.xml`));
  });

  test('is waited for while it is made, and one that is not there is refused', async () => {
    const cliente = clienteAt(address, { token: await tokenOf(OUTRO) });
    const { id } = await cliente.pedirExportacao({ formato: 'csv' });
    const csv = await cliente.baixarExportacao(id);
    assert.match(Buffer.from(csv).toString(), /chave_acesso/);
    const other = clienteAt(address, { token: await tokenOf(CNPJ) });
    assert.equal(await refusalOf(other.baixarExportacao(id)), '404 E601');
    assert.equal(await refusalOf(other.consultarExportacao('exp_nada')), '404 E601');
    assert.equal(await refusalOf(other.pedirExportacao({ formato: 'xml', de: 'ontem' })), '400 E0002 de');
  });

  test('may be longer than any other answer', async () => {
    const bytes = new Uint8Array(33 * 1024 * 1024);
    const long = clienteAt(address, { token: 'nfse_x', fetch: async () => new Response(bytes) });
    assert.equal((await long.baixarExportacao('exp_longa')).length, bytes.length);
    await assert.rejects(long.baixarDanfse('1'.repeat(50)), /passa de 32 MiB/);
  });
});

describe('what changes', () => {
  test('is followed without a gap or a repetition, though the line is cut and the reader begins again', async (t) => {
    const chance = chanceOf(SEED);
    t.diagnostic(`seed ${SEED}`);
    const line = await cuttableLine();
    const token = await tokenOf(CNPJ);
    const direct = clienteAt(address, { token });
    const { cursor: begin } = await direct.seguirMudancas({ desde: 'agora' });
    const told: AvisoDeRepeticao[] = [];
    const reader = clienteAt(line.url, { token, aoRepetir: (one) => told.push(one) });
    const handled: Mudanca[] = [];
    let kept = begin;
    const stop = new AbortController();
    const reading = (async () => {
      while (!stop.signal.aborted) {
        // The process ends after a few changes, and starts again from its stored cursor.
        let left = 1 + chance.below(7);
        const following = reader.mudancas({
          ...{ desde: kept, esperaS: 1, limite: 1 + chance.below(4), signal: stop.signal },
          aoAvancar: (cursor) => {
            kept = cursor;
          },
        });
        for await (const mudanca of following) {
          handled.push(mudanca);
          kept = mudanca.cursor;
          left -= 1;
          if (left === 0) break;
        }
      }
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    const chaves: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      chaves.push(await issue(), await issue());
      if (round % 2 === 0) line.cut();
      else {
        const before = told.length;
        await line.close();
        await untilTrue(() => told.length > before, 'the reader finds nobody');
        await line.open();
      }
    }
    const decided = (all: readonly Mudanca[]): boolean =>
      chaves.every((chave) =>
        all.some(({ tipo, chave_acesso }) => tipo === 'nota.autorizada' && chave_acesso === chave),
      );
    await until(async () => {
      const { mudancas } = await direct.seguirMudancas({ desde: begin, limite: 1000 });
      return (decided(mudancas) && handled.length >= mudancas.length) || undefined;
    }, 'all was told');
    stop.abort();
    await reading;
    const { mudancas, cursor } = await direct.seguirMudancas({ desde: begin, limite: 1000 });
    assert.deepEqual(handled, mudancas, `seed ${SEED}`);
    assert.ok(told.length > 0 && told.every(({ operacao }) => operacao === 'seguirMudancas'));
    assert.deepEqual((await direct.seguirMudancas({ desde: kept })).mudancas, []);
    assert.deepEqual((await direct.seguirMudancas({ desde: cursor })).mudancas, []);
  });

  test('of a service that does not wait is asked ever less often', async () => {
    const stop = new AbortController();
    const asked: number[] = [];
    const page = { status: 'OK', mudancas: [], cursor: 'm1-0', mais: false };
    const cliente = clienteAt(address, {
      insistencia: { ...QUICK, primeiraEsperaMs: 20, esperaMaximaMs: 400 },
      fetch: async () => {
        asked.push(performance.now());
        if (asked.length === 6) stop.abort();
        return Response.json(page);
      },
    });
    await assert.rejects(Array.fromAsync(cliente.mudancas({ signal: stop.signal })), { name: 'AbortError' });
    // The first query is no long poll, so no pause follows it. The next pauses are from half to the whole of 20, 40, 80 and 160 ms. A timer
    // may be a millisecond early.
    for (const [place, ms] of [0, 10, 20, 40, 80].entries()) {
      const gap = asked[place + 1]! - asked[place]!;
      assert.ok(gap >= ms - 2, `${gap} ms before question ${place + 2}`);
    }
  });

  test('ends with a refusal where the place is none, or the token is', async () => {
    const token = await tokenOf(CNPJ);
    const cliente = clienteAt(address, { token });
    const next = (desde: string): Promise<unknown> => cliente.mudancas({ desde }).next();
    assert.equal(await refusalOf(next('m99999-0')), '400 E0002 desde');
    assert.equal(await refusalOf(clienteAt(address).mudancas().next()), '401 E9007');
    await assert.rejects(cliente.mudancas({ esperaS: 0 }).next(), TypeError);
    // An address of another service is not polled for ever either.
    const alien = clienteAt(address, { token, fetch: async () => new Response('<html>', { status: 404 }) });
    await assert.rejects(alien.mudancas().next(), { name: 'NaoEntregue' });
  });
});

test('a decision is waited for at the service, and the deadline ends the waiting', async () => {
  const asked: string[] = [];
  const cliente = clienteAt(address, {
    fetch: (url, init) => {
      asked.push(String(url));
      return fetch(url, init);
    },
  });
  const { situacao } = await cliente.esperarDecisao(await issue());
  assert.equal(situacao, 'autorizada');
  assert.ok(asked.length <= 3, asked.join(' '));
  const late = await cliente.emitirNota(exampleXml({ nDPS: '4000' }), { simular: 'adn:atraso=1h' });
  const error = await cliente.esperarDecisao(late.chave_acesso, { prazoMs: 50 }).then(
    () => assert.fail('it was decided'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AindaEmAndamento && error.ultima !== undefined, `${error}`);
});

type Received = { readonly headers: IncomingHttpHeaders; readonly body: Buffer };

async function receiver(statusOf: () => number = () => 204) {
  const received: Received[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      if (confirmAvisos(Buffer.concat(chunks).toString(), response)) return;
      received.push({ headers: incoming.headers, body: Buffer.concat(chunks) });
      response.writeHead(statusOf()).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/avisos`, received };
}

describe('an address', () => {
  test('is registered, tried, told, changed, and removed', async (t) => {
    byTheClock(t);
    const cliente = clienteAt(address, { token: await tokenOf(CNPJ) });
    let status = 204;
    const here = await receiver(() => status);
    const { webhook, segredo } = await cliente.cadastrarWebhook({ url: here.url, tipos: ['nota.autorizada'] });
    const { id } = webhook;
    assert.deepEqual(
      (await cliente.listarWebhooks()).map((one) => one.id),
      [id],
    );
    await cliente.ensaiarWebhook(id);
    await until(async () => here.received[0], 'the trial');
    const chave = await issue();
    const told = await until(async () => {
      const all = here.received.map(({ headers, body }) => conferirAviso(segredo, headers, body));
      assert.ok(all.every(({ valido }) => valido));
      return all.find(
        (one) => one.valido && one.aviso.type === 'nota.autorizada' && one.aviso.data.chave_acesso === chave,
      );
    }, 'the note');
    assert.ok(told.valido && told.aviso.type === 'nota.autorizada');
    assert.deepEqual([told.aviso.data.chave_acesso, told.id], [chave, `${SLUG}.${told.aviso.data.id}`]);
    const changed = await cliente.trocarSegredo(id);
    const before = here.received.length;
    // A second trial needs a later moment: each moment has only one.
    clock.now += 1;
    await cliente.ensaiarWebhook(id);
    const { headers, body } = await until(async () => here.received[before], 'the trial under both');
    for (const one of [segredo, changed.segredo, [changed.segredo, segredo]]) {
      assert.equal(conferirAviso(one, headers, body).valido, true);
    }
    status = 500;
    clock.now += 1;
    await cliente.ensaiarWebhook(id);
    const [failed] = await until(async () => {
      const { entregas } = await cliente.entregas(id, { estado: 'pendente' });
      return entregas[0]?.registro.length === 1 ? entregas : undefined;
    }, 'it is in the log');
    assert.equal(failed!.registro[0]!.status, 500);
    status = 204;
    assert.equal(await cliente.reenviar(id), 0);
    assert.equal(await cliente.reenviar(id, { entrega: failed!.id }), 0);
    assert.equal((await cliente.alterarWebhook(id, { ativo: false, descricao: 'ERP' })).descricao, 'ERP');
    assert.equal((await cliente.consultarWebhook(id)).webhook.ativo, false);
    await cliente.retirarWebhook(id);
    assert.equal(await refusalOf(cliente.retirarWebhook(id)), '404 E601');
  });

  test('that was perhaps registered is not registered again, and one that is gone is', async () => {
    const token = await tokenOf(OUTRO);
    const lose = (times: number): Partial<OpcoesDoCliente> => {
      let left = times;
      return {
        token,
        fetch: async (url, init) => {
          const answer = await fetch(url, init);
          left -= 1;
          if (left < 0) return answer;
          throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
        },
      };
    };
    const losing = clienteAt(address, lose(1));
    const error = await losing.cadastrarWebhook({ url: 'https://erp.exemplo.com.br/' }).then(
      () => assert.fail('its answer was lost'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof SemResposta && error.tentativas === 1, `${error}`);
    const [webhook, ...more] = await losing.listarWebhooks();
    assert.deepEqual([webhook?.url, more], ['https://erp.exemplo.com.br/', []]);
    await clienteAt(address, lose(1)).retirarWebhook(webhook!.id);
    assert.deepEqual(await losing.listarWebhooks(), []);
  });
});

describe('a message that another program signed', () => {
  const segredo = `whsec_${Buffer.from('um segredo de trinta e dois octetos').toString('base64')}`;
  const outro = `whsec_${Buffer.from('outro segredo, também de tamanho bom').toString('base64')}`;
  const body = JSON.stringify({ type: 'ensaio', timestamp: '2026-11-21T12:00:00Z', data: { mensagem: 'ação' } });
  const at = new Date(NOON);
  const headersOf = (signature: string, id = 'integracao.nota-1-1') => ({
    'webhook-id': id,
    'webhook-timestamp': String(NOON / 1_000),
    'webhook-signature': signature,
  });
  const signature = new Webhook(segredo).sign('integracao.nota-1-1', at, body);

  test('is taken as text and as bytes, with headers of every kind, among other signatures', () => {
    const signatures = `v1a,abc v1,${'A'.repeat(43)}= ${signature}`;
    for (const headers of [
      headersOf(signature),
      headersOf(signatures),
      new Headers(headersOf(signatures)),
      { ...headersOf(''), 'webhook-signature': ['v1,x', signature] },
      Object.fromEntries(Object.entries(headersOf(signature)).map(([name, value]) => [name.toUpperCase(), value])),
    ]) {
      for (const sent of [body, Buffer.from(body)]) {
        const told = conferirAviso([outro, segredo], headers, sent, NOON + 299_000);
        assert.ok(told.valido);
        assert.deepEqual([told.id, told.assinadoEm, told.aviso], ['integracao.nota-1-1', at, JSON.parse(body)]);
      }
    }
  });

  test('is refused with the reason, as the other program refuses it', (t) => {
    t.mock.method(Date, 'now', () => NOON);
    const ours = (headers: Record<string, string>, sent = body, one = segredo, now = NOON): string => {
      const told = conferirAviso(one, headers, sent, now);
      return told.valido ? 'valido' : told.motivo;
    };
    const { 'webhook-id': _, ...noId } = headersOf(signature);
    for (const [headers, sent, one, motivo] of [
      [noId, body, segredo, 'cabecalhos'],
      [{ ...headersOf(signature), 'webhook-timestamp': 'agora' }, body, segredo, 'cabecalhos'],
      [{ ...headersOf(signature), 'webhook-timestamp': String(NOON / 1_000 - 301) }, body, segredo, 'momento'],
      [{ ...headersOf(signature), 'webhook-timestamp': String(NOON / 1_000 + 301) }, body, segredo, 'momento'],
      [{ ...headersOf(signature), 'webhook-timestamp': String(NOON / 1_000 - 1) }, body, segredo, 'assinatura'],
      [headersOf(signature, 'integracao.nota-1-2'), body, segredo, 'assinatura'],
      [headersOf(signature), `${body} `, segredo, 'assinatura'],
      [headersOf(signature), body, outro, 'assinatura'],
      [headersOf(signature.replace('v1,', 'v2,')), body, segredo, 'assinatura'],
      [headersOf('v1,'), body, segredo, 'assinatura'],
    ] as const) {
      assert.equal(ours(headers as Record<string, string>, sent, one), motivo);
      assert.throws(() => new Webhook(one).verify(sent, headers as Record<string, string>), motivo);
    }
    const bad = 'não é JSON';
    assert.equal(ours(headersOf(new Webhook(segredo).sign('integracao.nota-1-1', at, bad)), bad), 'corpo');
    for (const wrong of ['', 'whsec_', 'whsec_ç', segredo.slice(6)]) {
      assert.throws(() => conferirAviso(wrong, headersOf(signature), body), TypeError);
    }
  });
});

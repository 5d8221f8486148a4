/**
 * Traces, with real processes on every side. A client begins one; the service, its worker and the ADN simulator continue it. A collector
 * reads it by the names of the protocol.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { cnpjsOf, signingDps } from '../bench/documents.ts';
import { openStage, registerTenant, type Simulator, startService, startSimulator } from '../scripts/stage.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { onEnd } from './support/cleanup.ts';
import { runBeside } from './support/cli.ts';
import { type Coletor, type Rastro, startColetor } from './support/coletor.ts';
import { confirmAvisos } from './support/desafio.ts';
import { CANCELAMENTO } from './support/eventos.ts';
import { ask, request } from './support/http.ts';
import { ownPort } from './support/ports.ts';
import { freshDataDir, ROOT, readyDataDir } from './support/process.ts';
import { call, first, loteXml, porProtocolo } from './support/rps.ts';
import { countTimeAwake, unlessStoodStill } from './support/standstill.ts';
import { until } from './support/until.ts';

const SLUG = 'exemplo';
const [CNPJ] = cnpjsOf(1) as [string];
const RAZAO = 'Prestador de Rastros Ltda';

/** A trace as a client begins it: its `traceparent`, by the recommendation of the W3C, sampled or not. */
function beginTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

const toSend = (coletor: Coletor): NodeJS.ProcessEnv => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: coletor.address,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-chave=segredo-do-coletor',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=teste',
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0',
  OTEL_BSP_SCHEDULE_DELAY: '100',
  NFSE_ESPERA_AO_ENCERRAR: '0',
});

async function openTown() {
  const dataDir = await readyDataDir();
  const env = { NFSE_DATA_DIR: dataDir };
  const stage = await openStage(path.join(dataDir, 'palco'), [CNPJ], Date.now());
  const simulator = await startSimulator(stage);
  onEnd(() => simulator.end('SIGINT'));
  const providers = [{ documento: CNPJ, razaoSocial: RAZAO }];
  await registerTenant(stage, { slug: SLUG, ibge: '3550308', adn: simulator.address, providers }, env, runBeside);
  const sign = signingDps(exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' }), stage.pki.prestadores.slice(0, 1));
  const start = async (more: NodeJS.ProcessEnv) => {
    const service = await startService({ ...env, ...more });
    onEnd(() => service.end('SIGINT'));
    return service;
  };
  return { simulator, sign, start };
}

async function issue(address: string, document: Buffer, traceparent?: string): Promise<Record<string, string>> {
  const headers = { 'Content-Type': 'application/xml', ...(traceparent === undefined ? {} : { traceparent }) };
  const body = document as Buffer<ArrayBuffer>;
  const { status, body: answer } = await request(address, `/${SLUG}/api/v1/nfse/v101`, {
    method: 'POST',
    headers,
    body,
  });
  assert.equal(status, 201, JSON.stringify(answer));
  return answer;
}

/**
 * The spans of a trace, once all names are there. `root`: each span has a parent, which is another span or this one. A child is sent before
 * its parent.
 */
function spansOf(
  coletor: Coletor,
  traceId: string,
  names: readonly string[],
  root?: string,
): Promise<readonly Rastro[]> {
  return until(
    async () => {
      const spans = coletor.of(traceId);
      const known = new Set([root, ...spans.map(({ spanId }) => spanId)]);
      const isWhole = root === undefined || spans.every(({ parentSpanId }) => known.has(parentSpanId));
      return isWhole && names.every((name) => spans.some((one) => one.name === name)) ? spans : undefined;
    },
    `the spans ${names.join(', ')} of ${traceId}`,
  );
}

const DOOR = 'POST /:municipio/api/v1/nfse/v101';
const STEPS = ['abrir', 'verificar', 'ler', 'fatos', 'julgar', 'gravar'];
const WORKER = ['transmitir', 'assinar', 'enviar ao ADN', 'POST lote'];

/** The names of a span's ancestors and its own, from the client's on. */
function pathTo(spans: readonly Rastro[], one: Rastro, root: string): readonly string[] {
  if (one.parentSpanId === root) return [one.name];
  const parent = spans.find(({ spanId }) => spanId === one.parentSpanId);
  assert.ok(parent, `the parent of ${one.name} is not in its trace`);
  return [...pathTo(spans, parent, root), one.name];
}

const rastrosIn = async (simulator: Simulator): Promise<readonly string[]> =>
  (await simulator.ask('/estado')).ultimos_rastros;

describe('a service with a collector', () => {
  test('one trace shows a note from the door through its steps and its commit to the worker and the ADN', async () => {
    const { simulator, sign, start } = await openTown();
    const coletor = await startColetor();
    const service = await start(toSend(coletor));
    const trace = beginTrace();
    const { chave_acesso, numero_protocolo } = await issue(service.address, sign(1), trace.traceparent);
    const spans = await spansOf(coletor, trace.traceId, [DOOR, ...STEPS, 'commit', ...WORKER], trace.spanId);
    const named = (name: string): Rastro => spans.find((one) => one.name === name)!;

    const paths = spans.map((one) => pathTo(spans, one, trace.spanId).join(' > '));
    for (const step of STEPS) assert.ok(paths.includes(`${DOOR} > ${step}`), paths.join('\n'));
    assert.ok(paths.includes(`${DOOR} > gravar > commit`), paths.join('\n'));
    assert.ok(paths.includes(`${DOOR} > gravar > transmitir > enviar ao ADN > POST lote`), paths.join('\n'));
    assert.equal(spans.filter(({ name }) => name === 'transmitir').length, 1);
    const door = named(DOOR);
    // SERVER and CLIENT, as trace.proto numbers them.
    assert.equal(door.kind, 2);
    assert.equal(named('POST lote').kind, 3);
    assert.equal(door.about['http.response.status_code'], 201);
    assert.equal(door.about['http.route'], '/:municipio/api/v1/nfse/v101');
    assert.equal(door.about['nfse.municipio'], SLUG);
    assert.equal(door.about['service.name'], 'emissor-nfse');
    assert.equal(door.about['deployment.environment.name'], 'teste');
    assert.equal(named('transmitir').about['nfse.gatilho'], 'autorizacao');
    assert.equal(named('transmitir').about['thread.name'], 'transmissao');
    assert.equal(named('POST lote').about['http.response.status_code'], 201);
    assert.ok(spans.every(({ startMs, endMs }) => endMs >= startMs && Math.abs(startMs - Date.now()) < 600_000));
    assert.ok(coletor.headers.every((one) => one['x-chave'] === 'segredo-do-coletor'));

    const sent = `00-${trace.traceId}-${named('POST lote').spanId}-01`;
    assert.deepEqual(await rastrosIn(simulator), [sent]);

    // No span identifies a person or a note: by document, name, key, or protocol number.
    const told = coletor.bodies.join('\n');
    for (const one of [CNPJ, RAZAO, chave_acesso, numero_protocolo, '52998224725', 'Maria']) {
      assert.ok(!told.includes(one!), `${one} was sent to the collector`);
    }
  });

  test('what is not sampled, or is no traceparent, leaves no trace and is not passed on', async () => {
    const { simulator, sign, start } = await openTown();
    const coletor = await startColetor();
    const service = await start(toSend(coletor));
    const unsampled = beginTrace('00');
    const { traceId, spanId, traceparent } = beginTrace();
    const wrong = [
      '',
      'lixo',
      traceparent.slice(0, -1),
      traceparent.toUpperCase().replace('00-', '0G-'),
      `ff-${traceId}-${spanId}-01`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `${traceparent}-a-mais`,
      `${traceparent}, ${traceparent}`,
      `00-${traceId}-${spanId}-01'; drop table fila; --`,
      'x'.repeat(4_000),
    ];
    const all = [unsampled.traceparent, undefined, ...wrong];
    for (const [place, one] of all.entries()) await issue(service.address, sign(place + 1), one);
    const last = beginTrace();
    await issue(service.address, sign(all.length + 1), last.traceparent);
    await spansOf(coletor, last.traceId, [DOOR, ...WORKER]);
    assert.deepEqual([...new Set(coletor.all.map((one) => one.traceId))], [last.traceId]);
    assert.ok((await rastrosIn(simulator)).every((one) => one.includes(last.traceId)));
  });

  test('notes that travel together each have their own trace, and name the one that was passed on', async () => {
    const { simulator, sign, start } = await openTown();
    const coletor = await startColetor();
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: true }) });
    const service = await start(toSend(coletor));
    const traces = Array.from({ length: 8 }, () => beginTrace());
    await Promise.all(traces.map(({ traceparent }, place) => issue(service.address, sign(place + 1), traceparent)));
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: false }) });
    const accepted = await Promise.all(
      traces.map(({ traceId }) =>
        until(async () => {
          const spans = coletor.of(traceId);
          const isDone = spans.some(
            ({ name, about }) => name === 'transmitir' && about['nfse.gatilho'] === 'autorizacao',
          );
          return isDone ? spans.findLast(({ name }) => name === 'POST lote') : undefined;
        }, `the sending of ${traceId}`),
      ),
    );
    const passedOn = new Set((await rastrosIn(simulator)).map((one) => one.slice(0, -3)));
    for (const one of accepted) {
      const { traceId, spanId } = one.links[0] ?? one;
      assert.ok(passedOn.has(`00-${traceId}-${spanId}`), 'each names the request that the ADN was sent');
    }
  });

  test('a note whose service is killed before it could be sent goes on in its trace with the next one', async () => {
    const { simulator, sign, start } = await openTown();
    const coletor = await startColetor();
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: true }) });
    const killed = await start(toSend(coletor));
    const trace = beginTrace();
    await issue(killed.address, sign(1), trace.traceparent);
    const before = await spansOf(coletor, trace.traceId, [DOOR, 'commit']);
    await killed.end('SIGKILL');
    assert.deepEqual(await rastrosIn(simulator), []);
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: false }) });
    await start(toSend(coletor));
    await until(
      async () => (await rastrosIn(simulator)).some((one) => one.includes(trace.traceId)) || undefined,
      'the ADN',
    );
    const spans = await spansOf(coletor, trace.traceId, WORKER);
    const sending = spans.findLast(({ name }) => name === 'transmitir')!;
    const gravar = before.find(({ name }) => name === 'gravar')!;
    assert.equal(sending.parentSpanId, gravar.spanId);
    assert.notEqual(sending.about['process.pid'], gravar.about['process.pid']);
  });
});

describe('the sandbox with a collector', async () => {
  const dataDir = await readyDataDir();
  const coletor = await startColetor();
  const service = await startService({
    NFSE_DATA_DIR: dataDir,
    NFSE_PROCESSOS: '2',
    NFSE_AVISOS_PRIVADOS: '1',
    ...toSend(coletor),
  });
  onEnd(() => service.end('SIGINT'));
  const post = (traceparent: string, body: string) => {
    const headers = { 'Content-Type': 'application/xml', traceparent };
    return request(service.address, '/integracao/api/v1/nfse/v101', { method: 'POST', headers, body });
  };

  test('a lot of the SOAP port is one trace, from its envelope to the notes that it became', async () => {
    const trace = beginTrace();
    const { traceparent } = trace;
    const lote = loteXml([{ numero: 1 }, { numero: 2 }]);
    const sent = await call(service.address, 'RecepcionarLoteRps', lote, 'integracao', '', traceparent);
    const { status, documento } = sent;
    assert.equal(status, 200);
    const protocolo = first(documento, 'Protocolo')!;
    await until(async () => {
      const asked = await call(service.address, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', protocolo));
      return asked.documento.includes('CompNfse') || undefined;
    }, 'the lot');
    const names = ['POST /:municipio/soap/nfes', 'lote', 'julgar', 'transmitir', 'enviar ao ADN'];
    const spans = await spansOf(coletor, trace.traceId, names, trace.spanId);
    const paths = spans.map((one) => pathTo(spans, one, trace.spanId).join(' > '));
    assert.ok(paths.includes('POST /:municipio/soap/nfes > lote > transmitir > enviar ao ADN'), paths.join('\n'));
  });

  test('an event is one trace as well, from its registration to the authority', async () => {
    const { body: nota } = await post(beginTrace('00').traceparent, exampleXml({ serie: '4', nDPS: '1' }));
    const { chave_acesso } = nota;
    await until(async () => {
      const asked = await request(service.address, `/integracao/api/v1/nfse/${chave_acesso}`);
      return asked.body.nota?.status === 'autorizada' || undefined;
    }, 'the authorisation');
    const trace = beginTrace();
    const { status, body } = await request(service.address, `/integracao/api/v1/nfse/${chave_acesso}/eventos`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', traceparent: trace.traceparent },
      body: JSON.stringify({ chave_acesso, ...CANCELAMENTO }),
    });
    assert.equal(status, 201, JSON.stringify(body));
    const door = 'POST /:municipio/api/v1/nfse/:chave_acesso/eventos';
    const names = [door, 'verificar', 'gravar', 'transmitir', 'enviar ao ADN'];
    const spans = await spansOf(coletor, trace.traceId, names, trace.spanId);
    const paths = spans.map((one) => pathTo(spans, one, trace.spanId).join(' > '));
    assert.ok(paths.includes(`${door} > gravar > transmitir > enviar ao ADN`), paths.join('\n'));
    assert.equal(spans.find(({ name }) => name === 'transmitir')!.about['nfse.gatilho'], 'conclusao');
    assert.ok(!coletor.bodies.join('\n').includes(chave_acesso));
  });

  /** A new sandbox, in the year without rates. */
  const makeAmbiente = async (): Promise<(path: string, init: RequestInit) => ReturnType<typeof request>> => {
    const made = await request(service.address, '/integracao/api/v1/ambientes', { method: 'POST' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const authorization = `Bearer ${made.body.chave}`;
    const asOwner = (path: string, init: RequestInit) => {
      const headers = { ...(init.headers as Record<string, string>), Authorization: authorization };
      return request(service.address, `/${made.body.ambiente.municipio}/api/v1${path}`, { ...init, headers });
    };
    const later = JSON.stringify({ relogio: `${new Date().getUTCFullYear() + 1}-01-05T12:00:00-03:00` });
    const headers = { 'Content-Type': 'application/json' };
    assert.equal((await asOwner('/ambiente', { method: 'PATCH', headers, body: later })).status, 200);
    return asOwner;
  };

  test('a note that is held for a rate goes on in its trace when it is let go', async () => {
    const ask = await makeAmbiente();
    const year = new Date().getUTCFullYear() + 1;
    const trace = beginTrace();
    const headers = { 'Content-Type': 'application/xml', traceparent: trace.traceparent };
    const document = exampleXml({ dCompet: `${year}-01-01` });
    const { status, body } = await ask('/nfse/v101', { method: 'POST', headers, body: document });
    assert.equal(status, 201, JSON.stringify(body));
    const estado = async () => (await ask(`/nfse/${body.chave_acesso}`, {})).body.nota?.status;
    assert.match(body.avisos[0].mensagem, /^Retida/);
    assert.equal(await estado(), 'rascunho');
    const before = await spansOf(coletor, trace.traceId, [DOOR, 'commit'], trace.spanId);
    assert.ok(before.every(({ name }) => name !== 'transmitir'));
    const rates = `tributo,inicio,fim,aliquota,fonte,ato\nCBS,${year}-01-01,${year}-12-31,8.70,ensaio,ensaio\n`;
    const sent = { method: 'POST', headers: { 'Content-Type': 'text/csv' }, body: rates };
    const taken = await ask('/ambiente/cadastros/aliquotas_ibs_cbs', sent);
    assert.equal(taken.status, 200, JSON.stringify(taken.body));
    await until(async () => ((await estado()) === 'autorizada' ? true : undefined), 'the authorisation');
    const spans = await spansOf(coletor, trace.traceId, ['soltar', 'transmitir', 'enviar ao ADN'], trace.spanId);
    const paths = spans.map((one) => pathTo(spans, one, trace.spanId).join(' > '));
    for (const path of ['soltar', 'transmitir > enviar ao ADN']) {
      assert.ok(paths.includes(`${DOOR} > gravar > ${path}`), paths.join('\n'));
    }
  });

  test('what is told to an address is in the trace of its change, of which the receiver is told nothing', async () => {
    const told: http.IncomingHttpHeaders[] = [];
    const server = http.createServer(async (incoming, response) => {
      let text = '';
      for await (const chunk of incoming) text += chunk;
      if (confirmAvisos(text, response)) return;
      told.push(incoming.headers);
      response.writeHead(204).end();
    });
    const port = await ownPort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    onEnd(() => server.close());
    const ask = (path: string, body: object, headers: Record<string, string> = {}) => {
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      };
      return request(service.address, `/integracao/api/v1/${path}`, init);
    };
    const { token } = (await ask('token', { documento: '11222333000181', escopos: ['webhooks'] })).body;
    const own = { Authorization: `Bearer ${token}` };
    const webhook = await ask('webhooks', { url: `http://127.0.0.1:${port}/` }, own);
    assert.equal(webhook.status, 201, JSON.stringify(webhook.body));
    const trace = beginTrace();
    const { status, body } = await post(trace.traceparent, exampleXml({ serie: '5', nDPS: '1' }));
    assert.equal(status, 201, JSON.stringify(body));
    const toldAll = async () =>
      coletor.of(trace.traceId).filter(({ name }) => name === 'POST aviso').length >= 3 ? true : undefined;
    await until(toldAll, 'the changes of the note are told');
    const spans = await spansOf(coletor, trace.traceId, ['transmitir', 'POST aviso'], trace.spanId);
    const paths = spans.map((one) => pathTo(spans, one, trace.spanId).join(' > '));
    assert.ok(paths.includes(`${DOOR} > gravar > avisar > POST aviso`), paths.join('\n'));
    assert.equal(spans.find(({ name }) => name === 'POST aviso')!.about['http.response.status_code'], 204);
    assert.equal(spans.find(({ name }) => name === 'avisar')!.about['nfse.webhook'], webhook.body.webhook.id);
    assert.ok(told.length >= 3 && told.every((headers) => headers['traceparent'] === undefined));
  });

  test('a large body is answered in another thread, in the same trace', async () => {
    const trace = beginTrace();
    const long = exampleXml({ serie: '3', nDPS: '1' }).replace('</DPS>', `${' '.repeat(40_000)}</DPS>`);
    const { status, body } = await post(trace.traceparent, long);
    assert.equal(status, 201, JSON.stringify(body));
    const names = [DOOR, 'corpo grande', 'gravar', 'commit', 'transmitir'];
    const spans = await spansOf(coletor, trace.traceId, names, trace.spanId);
    const paths = spans.map((one) => pathTo(spans, one, trace.spanId).join(' > '));
    assert.ok(paths.includes(`${DOOR} > corpo grande > gravar > commit`), paths.join('\n'));
    assert.equal(spans.find(({ name }) => name === 'corpo grande')!.about['thread.name'], 'corpos_grandes');
  });

  test('a refusal ends its trace at the door, and is no failure; pages and health checks have none', async () => {
    const trace = beginTrace();
    const { status } = await post(trace.traceparent, '<DPS/>');
    assert.equal(status, 422);
    const [door] = await spansOf(coletor, trace.traceId, [DOOR]);
    assert.deepEqual([door!.status, door!.about['http.response.status_code']], [0, 422]);
    const other = beginTrace();
    for (const page of ['/health/live', '/health/ready', '/docs', '/nada']) {
      await ask(`${service.address}${page}`, { headers: { traceparent: other.traceparent } });
    }
    const last = beginTrace();
    await post(last.traceparent, '<DPS/>');
    await spansOf(coletor, last.traceId, [DOOR]);
    assert.deepEqual(coletor.of(other.traceId), []);
  });
});

describe('a collector that is not there', () => {
  const issueTwenty = async (address: string, first: number): Promise<void> => {
    for (let number = first; number < first + 20; number += 1) {
      const headers = { 'Content-Type': 'application/xml', traceparent: beginTrace().traceparent };
      const body = exampleXml({ serie: '1', nDPS: String(number) });
      const { status } = await request(address, '/integracao/api/v1/nfse/v101', { method: 'POST', headers, body });
      assert.equal(status, 201);
    }
  };

  for (const kind of ['refuses', 'never answers'] as const) {
    const keepsNobody = async (): Promise<void> => {
      const silent = net.createServer(() => undefined).listen(0, '127.0.0.1');
      await new Promise((resolve) => silent.once('listening', resolve));
      const { port } = silent.address() as net.AddressInfo;
      const sockets = new Set<net.Socket>();
      silent.on('connection', (socket) => sockets.add(socket));
      if (kind === 'refuses') await new Promise((resolve) => silent.close(resolve));
      const service = await startService({
        NFSE_DATA_DIR: await readyDataDir(),
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
        OTEL_BSP_SCHEDULE_DELAY: '50',
        NFSE_ESPERA_AO_ENCERRAR: '0',
      });
      onEnd(() => service.end('SIGKILL'));
      await issueTwenty(service.address, 1);
      const TOLD = /o coletor não recebe os traces/g;
      await until(async () => TOLD.exec(service.output()) ?? undefined, 'the log tells of the collector');
      await issueTwenty(service.address, 101);
      const awake = countTimeAwake();
      await service.end('SIGTERM');
      const ms = awake();
      for (const socket of sockets) socket.destroy();
      if (kind === 'never answers') silent.close();
      assert.ok((service.output().match(TOLD) ?? []).length <= 2, service.output());
      assert.doesNotMatch(service.output(), /Unhandled|ECONNREFUSED[\s\S]*at /);
      assert.ok(ms < 30_000, `it took ${ms} ms to end`);
    };
    test(`one that ${kind} keeps nobody, and is told of once by each thread`, () => unlessStoodStill(keepsNobody));
  }
});

test('without a collector the SDK of OpenTelemetry is loaded by no process and no thread', async () => {
  const coletor = await startColetor();
  const loadedBy = async (more: NodeJS.ProcessEnv): Promise<string> => {
    const file = path.join(await freshDataDir(), 'carregados');
    writeFileSync(file, '');
    const service = await startService({
      NFSE_DATA_DIR: await readyDataDir(),
      NFSE_TEST_LOADED: file,
      NODE_OPTIONS: `--import ${path.join(ROOT, 'test/support/loaded.mjs')}`,
      NFSE_ESPERA_AO_ENCERRAR: '0',
      ...more,
    });
    onEnd(() => service.end('SIGINT'));
    const long = exampleXml({ serie: '3', nDPS: '1' }).replace('</DPS>', `${' '.repeat(40_000)}</DPS>`);
    for (const body of [exampleXml({ serie: '1', nDPS: '1' }), long]) {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/xml' }, body };
      assert.equal((await request(service.address, '/integracao/api/v1/nfse/v101', init)).status, 201);
    }
    await service.end('SIGINT');
    return readFileSync(file, 'utf8');
  };
  assert.equal(await loadedBy({ OTEL_TRACES_SAMPLER: 'always_on' }), '');
  assert.match(await loadedBy(toSend(coletor)), /@opentelemetry\/sdk-trace/);
});

/**
 * The watchers of the service, and those who may not watch: one scrape of all parts, one judgement in three forms, and nothing for a
 * stranger.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { freshFolder } from '../../../test/support/openssl.ts';
import { ownPort } from '../../../test/support/ports.ts';
import {
  ifThere,
  nfse,
  ROOT,
  readyDataDir,
  type ServiceProcess,
  serverProcesses,
  startServiceProcess,
} from '../../../test/support/process.ts';
import { SHOWN } from '../../../test/support/quadro.ts';
import { countTimeAwake, unlessStoodStill } from '../../../test/support/standstill.ts';
import { createAuthority, SERVER_EXTENSIONS } from '../../../test/support/tls.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { until } from '../../../test/support/until.ts';
import { ALERTS } from '../../base/measures/alerts.ts';
import { judge } from '../../base/measures/checks.ts';
import { METRICS, type Sample } from '../../base/measures/metrics.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { PANELS } from '../../published/grafana.ts';
import type { Saude } from './saude.ts';

const WATCHED = ['/metrics', '/health/live', '/health/detalhe'];
const UNKNOWN = '/nao-existe';
const ISSUE = '/integracao/api/v1/nfse/v101';
/** Size limit of a page that has all pictures. */
const PICTURE_MAX = 40_000;

type Answer = { readonly status: number; readonly type: string | undefined; readonly text: string };

function ask(port: number, url: string, options: http.RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = http.request({ host: '127.0.0.1', port, path: url, agent: false, ...options }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode!, type: answer.headers['content-type'], text }));
    });
    asked.on('error', reject).end();
  });
}

/** The values of a metric under the given labels, in Prometheus' own text format. */
function valuesOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): readonly number[] {
  return text.split('\n').flatMap((line) => {
    const [, found, inside = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const fits = Object.entries(labels).every(([label, one]) => inside.split(',').includes(`${label}="${one}"`));
    return found === name && fits ? [Number(value)] : [];
  });
}
const sumOf = (...asked: Parameters<typeof valuesOf>): number => valuesOf(...asked).reduce((sum, one) => sum + one, 0);

async function issue(address: string, number: number): Promise<number> {
  const headers = { 'Content-Type': 'application/xml', Connection: 'close' };
  const body = exampleXml({ serie: '7', nDPS: String(number) });
  return (await fetch(`${address}${ISSUE}`, { method: 'POST', headers, body })).status;
}

describe('a service of two processes, watched', () => {
  let dataDir: string;
  let env: NodeJS.ProcessEnv;
  let port: number;
  let painel: number;
  let service: ServiceProcess;
  const metrics = async (): Promise<string> => (await ask(port, '/metrics')).text;

  before(async () => {
    dataDir = await readyDataDir();
    port = await ownPort();
    painel = await ownPort();
    const ports = { NFSE_PAINEL_PORTA: String(painel), NFSE_VIGIA_PORTA: String(port) };
    env = { NFSE_DATA_DIR: dataDir, ...ports, NFSE_PROCESSOS: '2', NFSE_LOG_LEVEL: 'error' };
    service = await startServiceProcess(env);
  });

  const answering = (): readonly number[] =>
    readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number)
      .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serving-process'));

  test('one scrape adds up all processes, and what a process had counted outlives it', async () => {
    for (let number = 1; number <= 40; number += 1) assert.equal(await issue(service.address, number), 201);
    // A part that does not answer in time on a slow machine is missing in one look.
    const text = await until(async () => {
      const all = await metrics();
      const parts = valuesOf(all, 'nfse_parte_responde');
      return parts.length >= 6 && parts.every((one) => one === 1) ? all : undefined;
    }, 'every part answers');
    assert.equal(sumOf(text, 'nfse_notas_total', { municipio: 'integracao', estado: 'emitida' }), 40);
    const posted = { porta: 'publica', metodo: 'POST', status: '201' };
    assert.equal(sumOf(text, 'nfse_requisicoes_total', posted), 40);
    assert.equal(sumOf(text, 'nfse_requisicao_duracao_seconds_count', { metodo: 'POST', porta: 'publica' }), 40);
    assert.equal(sumOf(text, 'nfse_gravacao_grupo_documentos_sum', { documento: 'nota' }), 40);
    await until(
      async () =>
        sumOf(await metrics(), 'nfse_adn_respostas_total', { documento: 'nota', resposta: 'aceita' }) === 40 ||
        undefined,
      'all are authorised',
    );
    const [dead] = answering();
    process.kill(dead!, 'SIGKILL');
    await until(
      async () => sumOf(await metrics(), 'nfse_reinicios_total', { parte: 'processo' }) === 1 || undefined,
      'its end',
    );
    assert.equal(sumOf(await metrics(), 'nfse_requisicoes_total', posted), 40);
    assert.equal(sumOf(await metrics(), 'nfse_notas_total', { estado: 'emitida' }), 40);
    await until(
      async () =>
        (answering().length === 2 &&
          (await ask(port, '/health/detalhe')).text.includes('"NfseParteNaoResponde","status":"ok"')) ||
        undefined,
      'another process',
    );
  });

  test('a label takes nothing that a client makes up', async () => {
    for (let one = 0; one < 30; one += 1) {
      await fetch(`${service.address}/inventado-${one}/api/v1/nfse/x${one}`);
      await fetch(`${service.address}/docs/erros/E${one}`, { method: one % 2 === 0 ? 'PROPFIND' : 'PURGE' });
    }
    const text = await metrics();
    assert.doesNotMatch(text, /inventado|PROPFIND|PURGE|x29/);
    assert.ok(sumOf(text, 'nfse_requisicoes_total', { metodo: 'outro' }) === 30);
    assert.ok(text.split('\n').length < 1_000);
  });

  test('promtool has nothing against a name, and each is one that is declared', async (t) => {
    const text = await metrics();
    const told = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    assert.deepEqual(
      told.filter((name) => !(name in METRICS)),
      [],
    );
    const promtool = toolOr('promtool', 'prometheus');
    if (promtool === undefined) return t.skip('promtool is not here');
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
    assert.equal(`${stdout}${stderr}`, '');
    assert.equal(status, 0);
  });

  test('who comes by a proxy, by another name or by another method gets what an address gets that there is not', async () => {
    const strangers: readonly http.RequestOptions[] = [
      ...['X-Forwarded-For', 'X-Real-IP', 'Via', 'Forwarded', 'X-Forwarded-Host'].map((name) => ({
        headers: { [name]: '127.0.0.1' },
      })),
      ...['atacante.exemplo', `localhost.atacante.exemplo:${port}`, '127.0.0.1.nip.io', 'localhost@x'].map((host) => ({
        headers: { Host: host },
      })),
      ...['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'].map((method) => ({ method })),
    ];
    for (const options of strangers) {
      const unknown = await ask(port, UNKNOWN, options);
      for (const url of WATCHED)
        assert.deepEqual(await ask(port, url, options), unknown, `${url} ${JSON.stringify(options)}`);
    }
    for (const url of WATCHED) assert.equal((await ask(port, url)).status, 200, url);
    // The public port refuses every caller.
    for (const url of ['/metrics', '/health/detalhe']) assert.equal((await fetch(service.address + url)).status, 404);
  });

  test('a proxy on this machine as nginx makes it without a header, before the console and the public door, relays nothing', async (t) => {
    const nginx = toolOr('nginx', 'nginx');
    if (nginx === undefined) return t.skip('nginx is not here');
    const folder = freshFolder();
    const ports = [await ownPort(), await ownPort()];
    const targets = [`127.0.0.1:${painel}`, new URL(service.address).host];
    const servers = targets.map(
      (target, at) => `server { listen 127.0.0.1:${ports[at]}; location / { proxy_pass http://${target}; } }`,
    );
    const temporaries = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    writeFileSync(
      path.join(folder, 'nginx.conf'),
      `daemon off; error_log stderr; pid ${folder}/pid; events {} http { access_log off; ${[...temporaries, ...servers].join(' ')} }`,
    );
    const proxy = spawn(nginx, ['-p', folder, '-c', 'nginx.conf'], { stdio: 'ignore' });
    try {
      for (const at of ports) {
        const unknown = await until(() => ask(at, UNKNOWN).catch(() => undefined), 'nginx answers');
        assert.equal(unknown.status, 404);
        for (const url of ['/metrics', '/health/detalhe']) assert.equal((await ask(at, url)).status, 404, url);
        // Everybody may learn that the public port lives, and nothing more.
        assert.doesNotMatch((await ask(at, '/health/live')).text, /versao/);
      }
      for (const url of WATCHED) assert.equal((await ask(port, url)).status, 200, 'on this machine, without a proxy');
    } finally {
      const ended = new Promise((resolve) => proxy.once('exit', resolve));
      proxy.kill();
      await ended;
    }
  });

  test('the version and the commit are told to who watches, and to nobody else', async () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const { stdout } = spawnSync('git', ['-C', ROOT, 'rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
    const commit = stdout?.trim() ? { commit: stdout.trim() } : {};
    assert.deepEqual(JSON.parse((await ask(port, '/health/live')).text), { status: 'OK', versao: version, ...commit });
    assert.equal(await (await fetch(`${service.address}/health/live`)).text(), '{"status":"OK"}');
  });

  test('nfse saude says the same in the line of a plugin, and in JSON', async () => {
    // A part that misses the time limit on a slow machine is reported, and so is a pending look. Both reports end a
    // while later.
    const { code, out, err } = await until(async () => {
      const told = await nfse(['saude'], env);
      return /A parte \S+ do processo \d+ não responde|^UNKNOWN: /m.test(told.out) ? undefined : told;
    }, 'every part answers');
    // The table shipped with the program lacks a rate; the current date decides the code.
    assert.ok(code === 0 || code === 1, out + err);
    const [line, ...rest] = out.trimEnd().split('\n');
    assert.match(line!, /^NFSE (?:OK|WARNING) - [^|]+ \| (?:[a-z_]+=-?[\d.]+[s%]?;[\d.]*:?;[\d.]*:? ?)+$/);
    assert.equal(rest.length, code === 0 ? 0 : 2 * rest.filter((one) => /^WARNING: /.test(one)).length, out);
    // One of two looks may fall into such a moment.
    await until(async () => {
      const json = await nfse(['saude', '--json'], env);
      const saude: Saude = JSON.parse(json.out);
      const detail: Saude = JSON.parse((await ask(port, '/health/detalhe')).text);
      assert.equal(json.code, { ok: 0, aviso: 1, critico: 2, desconhecido: 3 }[saude.status]);
      const [said, shown] = [saude, detail].map(({ problemas }) => problemas.map(({ nome }) => nome).join());
      return said === shown || undefined;
    }, 'the same problems in both');
  });

  test('what is told in hundredths is hundredths, as its limits are', async () => {
    const detail: Saude = JSON.parse((await ask(port, '/health/detalhe')).text);
    const text = await metrics();
    const [free, total] = ['livre', 'total'].map((what) => sumOf(text, `nfse_disco_${what}_bytes`));
    const disco = detail.verificacoes.find(({ nome }) => nome === 'NfseDiscoCheio')!;
    assert.deepEqual([disco.unidade, disco.aviso, disco.critico], ['%', 10, 5]);
    assert.ok(Math.abs(disco.valor! - (100 * free!) / total!) < 1, `${disco.valor} % of ${free} in ${total}`);
  });

  test('nfse saude says on standard output, and as critical, that the settings cannot be read', async () => {
    const file = path.join(freshFolder(), 'nfse.env');
    writeFileSync(file, 'NFSE_NAO_EXISTE=1\n');
    for (const [given, said] of [
      [file, /não existe o ajuste NFSE_NAO_EXISTE/],
      [`${file}.outro`, /o arquivo de ajustes não existe/],
    ] as const) {
      const { code, out } = await nfse(['saude', '--config', given], env);
      assert.equal(code, 2, out);
      const [line] = out.split('\n');
      assert.match(line!, /^NFSE CRITICAL - Os ajustes não servem/);
      assert.match(line!, said);
    }
  });

  test('without the database it answers in a moment, and says that the database is away', async () => {
    assert.equal((await fetch(`${service.address}/docs`)).status, 200);
    await until(
      async () => sumOf(await metrics(), 'nfse_requisicoes_total') > 0 || undefined,
      'the request is counted',
    );
    const server = serverProcesses(dataDir);
    for (const pid of server) ifThere(() => process.kill(pid, 'SIGSTOP'));
    try {
      await until(
        async () => valuesOf(await metrics(), 'nfse_banco_disponivel')[0] === 0 || undefined,
        'the database is away',
      );
      let fastest = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < 5; tries += 1) {
        const awake = countTimeAwake();
        assert.ok(sumOf(await metrics(), 'nfse_requisicoes_total') > 0);
        fastest = Math.min(fastest, awake());
      }
      assert.ok(fastest < 1_000, `${fastest} ms`);
      const { code, out } = await nfse(['saude'], env);
      assert.equal(code, 2);
      assert.match(out, /^NFSE CRITICAL - O banco de dados não aceita gravações/);
    } finally {
      for (const pid of server) ifThere(() => process.kill(pid, 'SIGCONT'));
    }
    await until(
      async () => valuesOf(await metrics(), 'nfse_banco_disponivel')[0] === 1 || undefined,
      'the database is back',
    );
  });

  test('nfse saude of a service that is down, of one that says nothing here, and of one without a listener', async () => {
    await service.end('SIGINT');
    const down = await nfse(['saude'], env);
    assert.equal(down.code, 2);
    assert.match(
      down.out,
      /^NFSE CRITICAL - O serviço não responde em http:\/\/127\.0\.0\.1:\d+\/health\/detalhe \(ECONNREFUSED\)\.\nCRITICAL: .+\n {2}Suba-o/,
    );
    const other = http.createServer((_request, response) => response.writeHead(404).end('x')).listen(port, '127.0.0.1');
    const strange = await nfse(['saude'], env);
    other.close();
    assert.equal(strange.code, 2);
    assert.match(strange.out, /NFSE_VIGIA_REDES/);
    const silent = http.createServer(() => undefined).listen(port, '127.0.0.1');
    const stopped = await nfse(['saude'], env);
    silent.close().closeAllConnections();
    assert.equal(stopped.code, 2);
    assert.match(stopped.out, /^NFSE CRITICAL - O serviço aceita a conexão em \S+, e não responde em 8 s\.\n/);
    const off = await nfse(['saude', '--json'], { ...env, NFSE_VIGIA_PORTA: '0' });
    assert.equal(off.code, 2);
    assert.match(JSON.parse(off.out).problemas[0].o_que, /NFSE_VIGIA_PORTA=0/);
  });

  test('another machine sees it where its network is named, and only there', async (t) => {
    const own = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
    if (own === undefined) return t.skip('this machine has no address but its own');
    for (const [redes, expected] of [
      ['198.51.100.0/24', 404],
      [`198.51.100.0/24,${own}`, 200],
    ] as const) {
      const more = { NFSE_PAINEL_HOST: '0.0.0.0', NFSE_VIGIA_REDES: redes, NFSE_PROCESSOS: '1' };
      const one = await startServiceProcess({ ...env, ...more });
      for (const url of WATCHED) assert.equal((await ask(port, url, { host: own })).status, expected, url);
      assert.equal((await ask(port, '/metrics', { host: own, headers: { 'X-Forwarded-For': own } })).status, 404);
      // The parts of one process are those of two.
      if (expected === 200) {
        await unlessStoodStill(async () => {
          const parts = valuesOf((await ask(port, '/metrics', { host: own })).text, 'nfse_parte_responde');
          assert.deepEqual(parts, [1, 1, 1]);
        });
      }
      await one.end('SIGINT');
    }
  });
});

test('with a TLS of its own the service is asked by the certificate of its settings, and no other one is believed', async () => {
  const { certFile, keyFile } = createAuthority('servidores').issue('nfse.exemplo.gov.br', SERVER_EXTENSIONS);
  const other = createAuthority('outros').issue('nfse.exemplo.gov.br', SERVER_EXTENSIONS);
  const ports = { NFSE_PAINEL_PORTA: String(await ownPort()), NFSE_VIGIA_PORTA: String(await ownPort()) };
  const env = { NFSE_DATA_DIR: await readyDataDir(), ...ports };
  const own = { ...env, NFSE_TLS_CERTIFICADO: certFile, NFSE_TLS_CHAVE: keyFile };
  const service = await startServiceProcess(own);
  // The part that reads the value may be late on a slow machine.
  const valor = await until(async () => {
    const { verificacoes }: Saude = JSON.parse((await nfse(['saude', '--json'], own)).out);
    return verificacoes.find(({ nome }) => nome === 'NfseCertificadoVence')?.valor ?? undefined;
  }, 'the certificate is read');
  const end = Date.parse(new X509Certificate(readFileSync(certFile)).validTo);
  assert.ok(Math.abs(valor - (end - Date.now()) / 1_000) < 600, `${valor}`);
  const deceived = await nfse(['saude'], {
    ...env,
    NFSE_TLS_CERTIFICADO: other.certFile,
    NFSE_TLS_CHAVE: other.keyFile,
  });
  assert.equal(deceived.code, 2);
  assert.match(deceived.out, /outro certificado/);
  await service.end('SIGINT');
});

test('the board and the alerts ask for nothing that is not measured', () => {
  const queries = [
    ...PANELS.flatMap(({ queries }) => queries.map(([expr]) => expr)),
    ...ALERTS.map(({ expr }) => expr),
  ];
  const names = queries.flatMap((expr) => expr.match(/nfse_\w+/g) ?? []);
  const unknown = names.filter(
    (name) => !(name in METRICS) && !(name.replace(/_(?:bucket|sum|count)$/, '') in METRICS),
  );
  assert.deepEqual(unknown, []);
  const asked = new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
  // Every metric is on a board, except the version and the inputs of other numbers.
  const unasked = Object.keys(METRICS).filter((name) => !asked.has(name));
  assert.deepEqual(unasked, ['nfse_versao_info', 'nfse_inicio_timestamp_seconds']);
});

test('the page has a picture of each fault, of the panels that the board has now', () => {
  const read = (file: string): string => readFileSync(path.join(ROOT, 'docs/site', file), 'utf8');
  const named = [...read('quadro.md').matchAll(/^\{\{quadro-([a-z-]+)\}\}$/gm)].map(([, name]) => name!);
  assert.deepEqual(named.toSorted(), Object.keys(SHOWN).toSorted());
  const always = PANELS.filter(({ kind }) => kind !== 'timeseries').map(({ title }) => title);
  for (const [name, titles] of Object.entries(SHOWN)) {
    const picture = read(`quadro/${name}.html`);
    for (const title of [...always, ...titles]) assert.ok(picture.includes(`>${title}</text>`), `${name}: ${title}`);
    assert.ok(picture.length < PICTURE_MAX, `${name}: ${picture.length}`);
  }
});

test('each limit is the first value that is still well', () => {
  const at = (name: Sample['name'], value: number, more: readonly Sample[] = []): readonly string[] =>
    judge([{ name, labels: { municipio: 'a', documento: 'nota', uso: 'adn' }, value }, ...more], 0).map(
      ({ check, gravidade }) => `${check.nome}/${gravidade}`,
    );
  assert.deepEqual(at('nfse_espera_mais_antiga_seconds', 600), []);
  assert.deepEqual(at('nfse_espera_mais_antiga_seconds', 600.1), ['NfseNotasEsperando/aviso']);
  assert.deepEqual(at('nfse_espera_mais_antiga_seconds', 3_600.1), ['NfseNotasEsperando/critico']);
  assert.deepEqual(at('nfse_certificado_vence_timestamp_seconds', 30 * 86_400), []);
  assert.deepEqual(at('nfse_certificado_vence_timestamp_seconds', 30 * 86_400 - 1), ['NfseCertificadoVence/aviso']);
  assert.deepEqual(at('nfse_certificado_vence_timestamp_seconds', -1), ['NfseCertificadoVence/critico']);
  const disk: Sample = { name: 'nfse_disco_total_bytes', labels: {}, value: 100 };
  const free = (value: number) =>
    judge([disk, { name: 'nfse_disco_livre_bytes', labels: {}, value }], 0).map(({ gravidade }) => gravidade);
  assert.deepEqual([free(10), free(9), free(4)], [[], ['aviso'], ['critico']]);
  assert.deepEqual(judge([{ ...disk, name: 'nfse_disco_livre_bytes' }], 0), []);
});

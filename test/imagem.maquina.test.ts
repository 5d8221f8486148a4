/**
 * The image and its neighbours: the compose file is valid, and names existing files. If a container engine has the image, it runs as
 * compose runs it. The image is `NFSE_TEST_IMAGEM=nfse`, built by the command at the head of the Containerfile.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { CLOSE_MAX_MS } from '../src/base/http/end-in-order.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { DRAIN_DEFAULT_S } from '../src/published/http-limits.ts';
import { readConfig } from '../src/wiring/config.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf } from './support/database.ts';
import { ask, authorised, emit, noteByKey } from './support/http.ts';
import { freshFolder } from './support/openssl.ts';
import { ownPort } from './support/ports.ts';
import { ROOT } from './support/process.ts';
import { openOverTcp } from './support/replica.ts';
import { until } from './support/until.ts';

const compose = readFileSync(path.join(ROOT, 'deploy/compose.yaml'), 'utf8');
const containerfile = readFileSync(path.join(ROOT, 'deploy/Containerfile'), 'utf8');

/** The compose client of this machine, if it has one; the test installs none. */
const CLIENT = [['docker', 'compose'], ['docker-compose'], ['podman-compose']].find(
  ([program, ...args]) => spawnSync(program!, [...args, 'version'], { stdio: 'ignore' }).status === 0,
);

describe('the compose file', () => {
  test('is one', { skip: CLIENT === undefined ? 'there is no client of compose here' : false }, () => {
    const folder = freshFolder();
    mkdirSync(path.join(folder, 'segredos'));
    writeFileSync(path.join(folder, 'segredos/banco-senha'), 'x');
    // docker-compose version 1 does not know a project name.
    writeFileSync(path.join(folder, 'compose.yaml'), compose.replace(/^name: .*\n/m, ''));
    const [program, ...args] = CLIENT!;
    const { status, stdout, stderr } = spawnSync(program!, [...args, '-f', 'compose.yaml', 'config'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    for (const service of ['rede', 'banco', 'nfse', 'proxy']) assert.match(stdout, new RegExp(`^  ${service}:$`, 'm'));
  });

  test('waits for the end of the service, and gives nginx what its file names', () => {
    const [, grace] = /^ {2}nfse:\n[\s\S]*?stop_grace_period: (\d+)s/m.exec(compose)!;
    assert.ok(Number(grace) >= Math.max(90, DRAIN_DEFAULT_S + CLOSE_MAX_MS / 1_000));
    const nginx = readFileSync(path.join(ROOT, 'deploy/nginx.conf'), 'utf8');
    for (const [, folder] of nginx.matchAll(/ssl_certificate(?:_key)? (\S+)\/[^/]+;/g))
      assert.ok(compose.includes(`:${folder}:ro`), folder!);
    // The proxy and the service share one machine: the service's default address, and its trusted proxies.
    const { host, port, certificateHeader } = readConfig({ NFSE_CLIENT_CERT_HEADER: 'X-Client-Cert' }, false);
    assert.ok(nginx.includes(`server ${host}:${port};`) && certificateHeader!.proxies.check(host));
    assert.equal(compose.match(/network_mode: service:rede/g)?.length, 2);
  });
});

test('the Containerfile brings the service alone, and runs it without rights', () => {
  const npm = /npm@(\d+)/.exec(containerfile)![1];
  assert.ok(Number(npm) >= 10, 'npm 9 does not read our lock');
  assert.match(containerfile, /^USER \d+:\d+$/m);
  assert.match(containerfile, /^ENTRYPOINT \["nfse"\]\nCMD \["serve"\]$/m);
});

const { NFSE_TEST_IMAGEM: IMAGE } = process.env;
/** The engine of this machine that has the image. */
const ENGINE = ['docker', 'podman'].find(
  (one) => IMAGE !== undefined && spawnSync(one, ['image', 'inspect', IMAGE], { stdio: 'ignore' }).status === 0,
);
const WITHOUT =
  'NFSE_TEST_IMAGEM names no image of an engine here: build one, podman build -f deploy/Containerfile -t nfse .';

test('the image issues, ends in order when it is stopped, and has lost nothing', {
  skip: ENGINE === undefined && WITHOUT,
}, async () => {
  const engine = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(ENGINE!, [...args], { encoding: 'utf8' });
    assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  const [port, name] = [await ownPort(), `nfse-teste-${process.pid}`];
  const settings = {
    DATABASE_URL: databaseUrlOf(await openOverTcp()),
    PORT: String(port),
    NFSE_PAINEL_PORTA: String(await ownPort()),
  };
  onEnd(() => spawnSync(ENGINE!, ['rm', '--force', name]));
  const closed = [
    '--read-only',
    '--tmpfs',
    '/tmp',
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
    '--init',
  ];
  const env = Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  engine('run', '--detach', '--name', name, '--network', 'host', ...closed, ...env, IMAGE!);
  const address = `http://127.0.0.1:${port}`;
  const untilReady = () =>
    until(async () => {
      const answer = await ask(`${address}/health/ready`).catch(() => undefined);
      return answer?.status === 200 ? true : undefined;
    }, 'the service in its container');
  await untilReady();
  assert.equal(engine('exec', name, 'id', '-u'), /^USER (\d+):/m.exec(containerfile)![1]);
  assert.match(engine('exec', name, 'nfse', 'municipio', 'listar'), /^integracao /m);

  const issued = await emit(address, exampleXml());
  assert.equal(issued.status, 201);
  const chave = String(issued.body.chave_acesso);
  const before = await authorised(address, chave);
  engine('stop', '--time', '120', name);
  assert.equal(engine('inspect', '--format', '{{.State.ExitCode}}', name), '0');
  engine('start', name);
  await untilReady();
  assert.deepEqual((await noteByKey(address, chave)).body, before.body);
});

/** The image and its neighbours, as far as they can be judged without an engine of containers: the compose file is read, and names what there is. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { CLOSE_MAX_MS, DRAIN_DEFAULT_S } from '../src/doors/rest/end-in-order.ts';
import { readConfig } from '../src/wiring/config.ts';
import { freshFolder } from './support/openssl.ts';
import { ROOT } from './support/process.ts';

const compose = readFileSync(path.join(ROOT, 'deploy/compose.yaml'), 'utf8');
const containerfile = readFileSync(path.join(ROOT, 'deploy/Containerfile'), 'utf8');

/** The client of this machine, if it has one; nothing is installed for it. */
const CLIENT = [['docker', 'compose'], ['docker-compose'], ['podman-compose']].find(
  ([program, ...args]) => spawnSync(program!, [...args, 'version'], { stdio: 'ignore' }).status === 0,
);

describe('the compose file', () => {
  test('is one', { skip: CLIENT === undefined ? 'there is no client of compose here' : false }, () => {
    const folder = freshFolder();
    mkdirSync(path.join(folder, 'segredos'));
    writeFileSync(path.join(folder, 'segredos/banco-senha'), 'x');
    // The first generation of docker-compose knows no name of a project.
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
    // Between them is only this machine: where the service listens by itself, and whom it believes.
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

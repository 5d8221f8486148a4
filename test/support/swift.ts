/** A store that speaks S3: a complete OpenStack Swift of Debian, on a folder of the test. It verifies every signature. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AwsClient } from 'aws4fetch';
import type { Bucket } from '../../src/base/book/arquivo-s3.ts';
import { onEnd } from './cleanup.ts';
import { isFree, ownPort } from './ports.ts';
import { toolOr } from './tools.ts';
import { until } from './until.ts';

const PROGRAM = toolOr('swift-proxy-server', 'swift-proxy swift-account swift-container swift-object');

/** The `skip` reason if Swift is missing; false if it is installed. */
export const noSwift = PROGRAM === undefined && 'there is no swift here';

const KINDS = ['object', 'container', 'account'];
const SEGREDO = 'segredo-de-ensaio';
/** The filters of a request, each with its settings. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  catch_errors: [],
  // The filter has no servers: Swift works without a cache, but requires the filter.
  memcache: [],
  listing_formats: [],
  s3api: [],
  tempauth: [`user_nfse_arquivo = ${SEGREDO} .admin`],
  slo: [],
  copy: [],
};

export type Swift = {
  readonly bucket: Bucket;
  /** A request to the bucket, signed; the text of its answer. */
  ask(method: string, path: string, body?: Buffer<ArrayBuffer>): Promise<string>;
  /** Stops answering, but still accepts connections, like a store that hangs. */
  freeze(): void;
  thaw(): void;
};

/** Starts a Swift with one empty bucket. */
export async function startSwift(): Promise<Swift> {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-swift-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, 'disco'));
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(path.join(folder, name), `${lines.join('\n')}\n`);
  const usual = (port: number): readonly string[] => [
    '[DEFAULT]',
    'bind_ip = 127.0.0.1',
    `bind_port = ${port}`,
    'workers = 0',
    `user = ${process.env['USER'] ?? 'root'}`,
    `swift_dir = ${folder}`,
    `devices = ${folder}`,
    'mount_check = false',
    'log_level = WARNING',
  ];
  write('swift.conf', [
    '[swift-hash]',
    'swift_hash_path_suffix = ensaio',
    '[storage-policy:0]',
    'name = unica',
    'default = yes',
  ]);
  const ports: number[] = [];
  for (const kind of KINDS) {
    const port = await ownPort();
    ports.push(port);
    write(`${kind}-server.conf`, [
      ...usual(port),
      '[pipeline:main]',
      `pipeline = ${kind}-server`,
      `[app:${kind}-server]`,
      `use = egg:swift#${kind}`,
    ]);
    const build = (...args: readonly string[]) =>
      spawnSync('swift-ring-builder', [`${kind}.builder`, ...args], { cwd: folder });
    build('create', '4', '1', '1');
    build('add', `r1z1-127.0.0.1:${port}/disco`, '1');
    build('rebalance');
  }
  const port = await ownPort();
  write('proxy-server.conf', [
    ...usual(port),
    '[pipeline:main]',
    `pipeline = ${Object.keys(FILTERS).join(' ')} proxy-server`,
    '[app:proxy-server]',
    'use = egg:swift#proxy',
    'account_autocreate = true',
    'error_suppression_interval = 1',
    ...Object.entries(FILTERS).flatMap(([name, more]) => [`[filter:${name}]`, `use = egg:swift#${name}`, ...more]),
  ]);
  let output = '';
  const children: ChildProcess[] = [];
  const start = (kind: string): void => {
    const child = spawn(`swift-${kind}-server`, [path.join(folder, `${kind}-server.conf`)], {
      env: { ...process.env, SWIFT_DIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    children.push(child);
  };
  onEnd(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });
  for (const kind of KINDS) start(kind);
  // The proxy does not retry a server for a minute after it was once unreachable.
  const listen = async (port: number) => ((await isFree(port)) ? undefined : true);
  for (const port of ports) await until(() => listen(port), `a server of Swift listens; ${output}`);
  start('proxy');
  const bucket: Bucket = {
    nome: 'arquivo',
    prefixo: 'ensaio/um',
    endpoint: `http://127.0.0.1:${port}`,
    regiao: 'us-east-1',
    chave: 'nfse:arquivo',
    segredo: SEGREDO,
    sessao: undefined,
  };
  const client = new AwsClient({ accessKeyId: bucket.chave, secretAccessKey: SEGREDO, service: 's3', retries: 0 });
  let said = '';
  await until(async () => {
    const answer = await client.fetch(`${bucket.endpoint}/${bucket.nome}`, { method: 'PUT' }).catch(() => undefined);
    said = `${answer?.status} ${await answer?.text()}`;
    return answer?.ok ? true : undefined;
  }, 'the bucket is made').catch((error) => {
    throw new Error(`${said}\n${output}`, { cause: error });
  });
  const proxy = children.at(-1)!;
  return {
    bucket,
    ask: async (method, path, body) => {
      const answer = await client.fetch(`${bucket.endpoint}/${bucket.nome}/${path}`, { method, body: body ?? null });
      return answer.text();
    },
    freeze: () => void proxy.kill('SIGSTOP'),
    thaw: () => void proxy.kill('SIGCONT'),
  };
}

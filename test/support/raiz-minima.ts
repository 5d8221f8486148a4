/**
 * The life of the archive in a root that has only glibc and a shell, without a network. The account owns the data alone. The script is a
 * process with its own namespaces, where it may mount at will. It prints the results as JSON.
 *
 *     unshare --net --mount --pid --fork node raiz-minima.ts ROOT UID
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { until } from './until.ts';

const [, , ROOT, UID] = process.argv as [string, string, string, string];
const ADDRESS = 'http://127.0.0.1:8080';

export type Life = {
  readonly version: string;
  readonly issued: number;
  readonly found: number;
  readonly read: { readonly asked: number; readonly missing: readonly string[] };
  readonly ends: readonly (number | null)[];
  readonly readyMs: readonly number[];
  readonly output: string;
};

const env = { PATH: '/bin', NFSE_DATA_DIR: '/data', NFSE_LOG_LEVEL: 'warn', NFSE_ESPERA_AO_ENCERRAR: '0' };

function inRoot(...command: readonly string[]): readonly [string, readonly string[]] {
  return ['/usr/sbin/chroot', [`--userspec=${UID}:${UID}`, ROOT, ...command]];
}

let output = '';

async function serve(): Promise<{ readonly child: ChildProcess; readonly readyMs: number }> {
  const began = performance.now();
  const child = spawn(...inRoot('/opt/nfse/bin/nfse', 'serve'), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`not ready:\n${output}`);
    return (await fetch(`${ADDRESS}/health/ready`).catch(() => undefined))?.ok || undefined;
  }, 'the service is ready');
  return { child, readyMs: Math.round(performance.now() - began) };
}

async function end({ child }: { readonly child: ChildProcess }, signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(child, 'exit');
  child.kill(signal);
  return (await ended)[0] as number | null;
}

/** Follows all links of the documentation, and returns the number of requests and the missing addresses. The page of a code has no file. */
async function readAll(): Promise<{ readonly asked: number; readonly missing: readonly string[] }> {
  const asked = new Set(['/docs']);
  const missing: string[] = [];
  for (const url of asked) {
    const answer = await fetch(ADDRESS + url);
    const text = await answer.text();
    if (!answer.ok) missing.push(`${url} ${answer.status}`);
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    for (const [, link] of text.matchAll(/(?:href|src)="([^"#]+)/g)) {
      const { origin, pathname } = new URL(link!.replaceAll('&amp;', '&'), ADDRESS + url);
      if (origin === ADDRESS && /^\/docs(?!\/erros\/)/.test(pathname)) asked.add(pathname);
    }
  }
  return { asked: asked.size, missing };
}

execFileSync('ip', ['link', 'set', 'lo', 'up']);
execFileSync('mount', ['-t', 'proc', 'proc', path.join(ROOT, 'proc')]);
execFileSync('mount', ['--rbind', '/dev', path.join(ROOT, 'dev')]);
const opt = path.join(ROOT, 'opt');
execFileSync('mount', ['--bind', opt, opt]);
execFileSync('mount', ['-o', 'remount,ro,bind', opt]);

const version = execFileSync(...inRoot('/opt/nfse/bin/nfse', '--version'), { env, encoding: 'utf8' });
const first = await serve();
const dps = readFileSync(path.join(opt, 'nfse/examples/dps.xml'));
const headers = { 'content-type': 'application/xml' };
const issued = await fetch(`${ADDRESS}/integracao/api/v1/nfse/v101`, { method: 'POST', headers, body: dps });
const { chave_acesso: key } = (await issued.json()) as { readonly chave_acesso: string };
const ends = [await end(first, 'SIGTERM')];
const second = await serve();
const found = await fetch(`${ADDRESS}/integracao/api/v1/nfse/${key}`);
const read = await readAll();
ends.push(await end(second, 'SIGINT'));
const readyMs = [first.readyMs, second.readyMs];
process.stdout.write(
  JSON.stringify({ version, issued: issued.status, found: found.status, read, ends, readyMs, output }),
);

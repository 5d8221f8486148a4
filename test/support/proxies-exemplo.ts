/** The proxies of `deploy/` with other ports and file paths, and requests by curl through them. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onEnd } from './cleanup.ts';
import { freshFolder } from './openssl.ts';
import { isFree, ownPort } from './ports.ts';
import { ROOT } from './process.ts';
import type { Pem } from './tls.ts';
import { toolOr } from './tools.ts';
import { until } from './until.ts';

export const SITE = 'nfse.exemplo.gov.br';
export const PAINEL = 'painel.exemplo.gov.br';

/** The ports of the service and its console, and the certificate of the proxy. */
export type Behind = { readonly port: number; readonly painelPort: number; readonly pem: Pem; readonly ca: string };
type Ports = { readonly https: number; readonly http: number };

export type Kind = {
  readonly name: string;
  readonly file: string;
  /** Undefined: the proxy is not installed. */
  readonly program: string | undefined;
  /** The arguments that keep it in the foreground. `folder`: its own folder. */
  prepare(text: string, folder: string, behind: Behind, ports: Ports): readonly string[];
};

/** Replaces texts of a file; each of them must be there. */
function replaceAll(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((done, [from, to]) => {
    assert.ok(done.includes(from), `the file says nowhere: ${from}`);
    return done.replaceAll(from, to);
  }, text);
}

/** A machine without IPv6 refuses to listen on it. */
const withoutIpv6 = (text: string, line: RegExp): string =>
  existsSync('/proc/net/if_inet6') ? text : text.replaceAll(line, '');

export const NGINX: Kind = {
  name: 'nginx',
  file: 'nginx.conf',
  program: toolOr('nginx', 'nginx'),
  prepare: (text, folder, { port, painelPort, pem }, { https, http }) => {
    const site = replaceAll(withoutIpv6(text, /^ +listen \[::\].*\n/gm), [
      ['listen 443 ', `listen ${https} `],
      ['listen 80;', `listen ${http};`],
      ['127.0.0.1:8080', `127.0.0.1:${port}`],
      ['127.0.0.1:8081', `127.0.0.1:${painelPort}`],
      ['/etc/nfse/tls/certificado.pem', pem.certFile],
      ['/etc/nfse/tls/chave.pem', pem.keyFile],
    ])
      .replaceAll('listen [::]:443 ', `listen [::]:${https} `)
      .replaceAll('listen [::]:80;', `listen [::]:${http};`);
    writeFileSync(path.join(folder, 'nfse'), site);
    const isRoot = process.getuid?.() === 0;
    // Debian includes the site inside of `http`.
    const main = `${isRoot ? 'user root;' : ''} pid ${folder}/pid; error_log stderr warn; events {}
http { access_log off; include ${folder}/nfse;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')} }`;
    writeFileSync(path.join(folder, 'main.conf'), main);
    return ['-p', folder, '-c', path.join(folder, 'main.conf'), '-g', 'daemon off;'];
  },
};

export const HAPROXY: Kind = {
  name: 'HAProxy',
  file: 'haproxy.cfg',
  program: toolOr('haproxy', 'haproxy ca-certificates'),
  prepare: (text, folder, { port, painelPort, pem }, { https, http }) => {
    writeFileSync(path.join(folder, 'nfse.pem'), pem.cert + pem.key, { mode: 0o600 });
    const config = replaceAll(withoutIpv6(text, /^ +bind :::.*\n/gm), [
      ['bind :443 ', `bind :${https} `],
      ['bind :80\n', `bind :${http}\n`],
      ['127.0.0.1:8080', `127.0.0.1:${port}`],
      ['127.0.0.1:8081', `127.0.0.1:${painelPort}`],
      ['/etc/haproxy/nfse.pem', `${folder}/nfse.pem`],
      ['  user haproxy\n  group haproxy\n', ''],
    ])
      .replaceAll('bind :::443 ', `bind :::${https} `)
      .replaceAll('bind :::80 ', `bind :::${http} `);
    writeFileSync(path.join(folder, 'haproxy.cfg'), config);
    return ['-W', '-db', '-f', path.join(folder, 'haproxy.cfg')];
  },
};

export const CADDY: Kind = {
  name: 'Caddy',
  file: 'Caddyfile',
  program: toolOr('caddy', 'caddy'),
  prepare: (text, folder, { port, painelPort, pem }, { https, http }) => {
    const config = replaceAll(text, [
      ['{\n\tservers {', `{\n\tadmin off\n\thttps_port ${https}\n\thttp_port ${http}\n\tservers {`],
      ['127.0.0.1:8080', `127.0.0.1:${port}`],
      ['127.0.0.1:8081', `127.0.0.1:${painelPort}`],
      ['/etc/nfse/tls/certificado.pem', pem.certFile],
      ['/etc/nfse/tls/chave.pem', pem.keyFile],
    ]);
    writeFileSync(path.join(folder, 'Caddyfile'), config);
    return ['run', '--config', path.join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  },
};

export type Answer = {
  readonly status: number;
  readonly version: string;
  readonly head: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  readonly body: any;
};

export type Through = {
  readonly port: number;
  /** The output of the program. */
  output(): string;
  /** Sends a request by curl; the address is the public one, without a port. `options`: additional options of curl. */
  ask(address: string, ...options: readonly string[]): Promise<Answer>;
  /** The same, with a file of unknown length. */
  pipe(file: string, address: string, ...options: readonly string[]): Promise<Answer>;
};

export async function startProxy(kind: Kind, behind: Behind): Promise<Through> {
  const folder = freshFolder();
  const home = path.join(folder, 'casa');
  mkdirSync(home);
  const ports = { https: await ownPort(), http: await ownPort() };
  const text = readFileSync(path.join(ROOT, 'deploy', kind.file), 'utf8');
  const args = kind.prepare(text, folder, behind, ports);
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  const child = spawn(kind.program!, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  onEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  await until(async () => {
    assert.equal(child.exitCode, null, output);
    return (await isFree(ports.https)) ? undefined : true;
  }, `${kind.name} listens`);
  let asked = 0;
  const askFrom = async (file: string | undefined, address: string, options: readonly string[]): Promise<Answer> => {
    asked += 1;
    const [head, body] = [path.join(folder, `${asked}.head`), path.join(folder, `${asked}.body`)];
    writeFileSync(body, '');
    const { protocol, hostname } = new URL(address);
    const said = await curl(
      [
        ...['--connect-to', `${hostname}:443:127.0.0.1:${ports.https}`],
        ...['--connect-to', `${hostname}:80:127.0.0.1:${ports.http}`],
        ...(protocol === 'https:' ? ['--cacert', behind.ca] : []),
        ...['-D', head, '-o', body, '-w', '%{http_code} %{http_version}', ...options, address],
        ...(file === undefined ? [] : ['-T', '-']),
      ],
      file,
    );
    const [status, version] = said.split(' ');
    const bytes = readFileSync(body, 'utf8');
    return { status: Number(status), version: version!, head: readFileSync(head, 'utf8'), body: readJson(bytes) };
  };
  return {
    port: ports.https,
    output: () => output,
    ask: (address, ...options) => askFrom(undefined, address, options),
    pipe: (file, address, ...options) => askFrom(file, address, options),
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function curl(args: readonly string[], piped: string | undefined): Promise<string> {
  const env = { ...process.env, no_proxy: '*', NO_PROXY: '*' };
  return new Promise((resolve, reject) => {
    const child = execFile('curl', ['-sS', '--max-time', '600', ...args], { env }, (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${args.join(' ')}: ${err}`)),
    );
    // It may end before it has read all.
    child.stdin!.on('error', () => undefined);
    if (piped === undefined) child.stdin!.end();
    else createReadStream(piped).pipe(child.stdin!);
  });
}

/** The configuration of docs/site/disponibilidade.md for the machines of a run, and the Debian programs that read it. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './process.ts';

const PAGE = path.join(ROOT, 'docs/site/disponibilidade.md');

export const PACKAGES = {
  etcd: 'etcd-server',
  patroni: 'patroni',
  patronictl: 'patroni',
  haproxy: 'haproxy',
  postgres: 'postgresql',
} as const;

/** The path of each program; for PostgreSQL, the folder of its programs. */
export type Programs = Readonly<Record<keyof typeof PACKAGES, string>> & {
  /** Patroni before 3.0.3 may take over a lock of another member through etcd's third protocol (D-410). */
  readonly wantsEtcd2: boolean;
};

/** Replication is synchronous, as on the page, or asynchronous. */
export type Modo = 'sincrono' | 'assincrono';

/** `network`: the prefix that replaces the `10.0.0.` of the page. */
export type Run = { readonly network: string; readonly programs: Programs; readonly modo: Modo };
export type Machine = { readonly name: string; readonly folder: string; readonly host: string };

/** The programs; or a text that says what to install, if one is missing. */
export function findPrograms(): Programs | string {
  const [postgres] = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => versionOf(b) - versionOf(a));
  const found = {
    etcd: whereIs('etcd'),
    patroni: whereIs('patroni'),
    patronictl: whereIs('patronictl'),
    haproxy: whereIs('haproxy'),
    postgres,
  };
  const missing = Object.entries(PACKAGES).filter(([name]) => found[name as keyof typeof found] === undefined);
  if (missing.length > 0) return `apt-get install ${[...new Set(missing.map(([, name]) => name))].join(' ')}`;
  const { stdout } = spawnSync(found.patroni!, ['--version'], { encoding: 'utf8' });
  const [major, minor, patch] = /(\d+)\.(\d+)\.(\d+)/.exec(stdout)!.slice(1).map(Number);
  const wantsEtcd2 = major! < 3 || (major === 3 && minor === 0 && patch! < 3);
  return { ...(found as Record<keyof typeof PACKAGES, string>), wantsEtcd2 };
}

function whereIs(name: string): string | undefined {
  const script = 'PATH="$PATH:/usr/sbin" && command -v "$0"';
  const { stdout, status } = spawnSync('sh', ['-c', script, name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function versionOf(folder: string): number {
  return Number(/\/(\d+)\/bin$/.exec(folder)?.[1] ?? 0);
}

/** A code block of the page, found by its language. */
function blockOf(language: 'ini' | 'yaml' | 'haproxy'): string {
  const [, block] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (block === undefined) throw new Error(`${PAGE} has no block of ${language}`);
  return block;
}

/** Replaces parts of a text; each part must be there. */
function replaced(text: string, changes: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (changed.split(from).length === 1) throw new Error(`the page has no ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}

/** The page's Patroni configuration for this member: its name, its addresses, its folders. */
export function patroniConfig({ network, programs, modo }: Run, { name, folder, host }: Machine): string {
  const text = replaced(blockOf('yaml'), [
    ['name: banco1\n', `name: ${name}\n`],
    [/(listen|connect_address): 10\.0\.0\.1:/g, `$1: ${host}:`],
    ['10.0.0.0/24', '127.0.0.0/8'],
    ['10.0.0.', network],
    ['/var/lib/postgresql/15/nfse', `${folder}/pg`],
    [/\/usr\/lib\/postgresql\/\d+\/bin/g, programs.postgres],
    ['/var/lib/postgresql/', `${folder}/`],
    ['/var/run/postgresql', folder],
  ]);
  const spoken = programs.wantsEtcd2 ? text : replaced(text, [['\netcd:\n', '\netcd3:\n']]);
  if (modo === 'sincrono') return spoken;
  return replaced(spoken, [
    ['synchronous_mode: true', 'synchronous_mode: false'],
    ['synchronous_mode_strict: true', 'synchronous_mode_strict: false'],
  ]);
}

export function haproxyConfig(network: string): string {
  return replaced(blockOf('haproxy'), [
    ['127.0.0.1:5000', `${network}9:5000`],
    ['10.0.0.', network],
  ]);
}

const V2 = 'ETCD_ENABLE_V2=true';

/** The configuration of etcd, as environment variables. */
export function etcdConfig({ network, programs }: Run, { name, folder, host }: Machine): NodeJS.ProcessEnv {
  const text = replaced(blockOf('ini'), [
    ['ETCD_NAME=banco1', `ETCD_NAME=${name}`],
    [/^(ETCD_(?:LISTEN|INITIAL_ADVERTISE|ADVERTISE)_\w+)=http:\/\/10\.0\.0\.1:/gm, `$1=http://${host}:`],
    ['10.0.0.', network],
    ['/var/lib/etcd/nfse', `${folder}/etcd`],
  ]);
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.startsWith('ETCD_') && (programs.wantsEtcd2 || line !== V2))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

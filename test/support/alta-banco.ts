/**
 * Three PostgreSQL servers under Patroni and etcd, with HAProxy in front, as docs/site/disponibilidade.md describes them. Their
 * configuration is read from that page. Each run has its own addresses of the loopback network, so the ports are those of the page.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, type ClientConfig } from '../../src/base/pg/pg.ts';
import { etcdConfig, haproxyConfig, type Modo, type Programs, patroniConfig } from './alta-configuracao.ts';
import { onEnd } from './cleanup.ts';
import { isFree } from './ports.ts';
import { serverProcesses } from './process.ts';
import { until } from './until.ts';

const MEMBERS = ['banco1', 'banco2', 'banco3'] as const;
const NETWORK_TRIES = 50;
const STATUS_WITHIN_MS = 1_500;
/** Bytes of replication lag above which a follower does not count as ready. */
const LAG_MAX = 1_048_576;
const SERVICO = { user: 'nfse', password: 'SENHA-DO-SERVICO', database: 'nfse' } as const;
/** Lines of each log that a failure shows. */
const LAST_LINES = 15;
/** An environment variable that marks the processes of a run, so that they can be found. */
const MARK = 'NFSE_TEST_ALTA_PASTA';

export type Member = {
  readonly name: string;
  readonly folder: string;
  /** Its own address, without a port. */
  readonly host: string;
  etcd: ChildProcess;
  patroni: ChildProcess;
};

/** A member as Patroni reports it. */
type Seen = {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
  readonly lag?: unknown;
};

export type Banco = {
  readonly folder: string;
  readonly members: readonly Member[];
  /** URLs of the service's database, through HAProxy and as a list of hosts. */
  readonly urls: { readonly haproxy: string; readonly lista: string };
  readonly connection: ClientConfig;
  /** Waits until one member leads and two follow it, one of them synchronously if the mode asks for it. */
  untilWhole(): Promise<Member>;
  /** All processes of PostgreSQL of a member. */
  serversOf(member: Member): readonly number[];
  /** The PostgreSQL processes of a member that send the log to its followers. */
  sendersOf(member: Member): readonly number[];
  startEtcd(member: Member): ChildProcess;
  startPatroni(member: Member): ChildProcess;
  /** The switchover as an operator does it. */
  switchover(): Promise<void>;
  /** The last lines of the log of each program. */
  lastWords(): string;
};

type Place = {
  readonly folder: string;
  readonly programs: Programs;
  readonly network: string;
  readonly modo: Modo;
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
};

export async function openBanco(programs: Programs, modo: Modo): Promise<Banco> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-alta-'));
  chmodSync(folder, 0o755);
  const account = serverAccount();
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  process.env[MARK] = folder;
  watchOver(folder);
  const place: Place = { folder, programs, network: await freeNetwork(), modo, account };
  const members = MEMBERS.map((name, index) => memberOf(place, name, `${place.network}${index + 1}`));
  for (const member of members) member.etcd = startEtcd(place, member);
  for (const member of members) member.patroni = startPatroni(place, member);
  const haproxyFile = path.join(folder, 'haproxy.cfg');
  writeFileSync(haproxyFile, haproxyConfig(place.network));
  startProgram(place, 'haproxy', programs.haproxy, ['-db', '-f', haproxyFile]);

  const untilWhole = (): Promise<Member> =>
    until(async () => {
      const leader = wholeLeader(await lookAt(members), modo);
      return leader === undefined ? undefined : members.find(({ name }) => name === leader);
    }, 'one leads and all others follow');
  await untilWhole();
  const connection = { ...SERVICO, host: `${place.network}9`, port: 5000 };
  await createDatabase(connection);
  const url = (hosts: string): string => `postgres://${SERVICO.user}:${SERVICO.password}@${hosts}/${SERVICO.database}`;
  const hosts = members.map(({ host }) => `${host}:5432`).join(',');
  return {
    folder,
    members,
    urls: { haproxy: url(`${connection.host}:5000`), lista: `${url(hosts)}?target_session_attrs=read-write` },
    connection,
    untilWhole,
    serversOf: (member) => serverProcesses(member.folder),
    sendersOf: (member) => serverProcesses(member.folder).filter(isSender),
    startEtcd: (member) => startEtcd(place, member),
    startPatroni: (member) => startPatroni(place, member),
    switchover: async () => switchOver(place, await untilWhole()),
    lastWords: () => lastWordsIn(folder),
  };
}

/** PostgreSQL does not run as root; the account of Debian's package does. */
function serverAccount(): Place['account'] {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('postgres:'));
  if (line === undefined) throw new Error('there is no account `postgres`, which the package of PostgreSQL makes');
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * Ends all processes of a folder, and removes it. PostgreSQL overwrites its environment, so its processes are known by their working
 * directory. A suspended process does not notice the end of its server.
 */
const GUARD = `trap '' INT TERM HUP
read -r _
for turn in 1 2 3 4 5; do
  marked=$(grep -lszxF "$1" /proc/[0-9]*/environ)
  for p in /proc/[0-9]*; do
    read -r comm 2>/dev/null <"$p/comm" && [ "$comm" = postgres ] || continue
    case $(readlink "$p/cwd") in "$2"/*) marked="$marked $p/";; esac
  done
  [ -z "$marked" ] && break
  for p in $marked; do p=\${p#/proc/} && kill -9 "\${p%%/*}" 2>/dev/null; done
  sleep 0.2
done
rm -rf "$2"`;

/** A shell that waits for the end of this process, even after a SIGKILL, and then cleans up. */
function watchOver(folder: string): void {
  const env: NodeJS.ProcessEnv = { ...process.env };
  delete env[MARK];
  const guard = spawn('sh', ['-c', GUARD, 'sh', `${MARK}=${folder}`, folder], {
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  onEnd(async () => {
    guard.stdin!.end();
    await once(guard, 'exit');
  });
}

/** A network of the loopback range in which the ports of the page are free. */
async function freeNetwork(): Promise<string> {
  for (let tried = 0; tried < NETWORK_TRIES; tried += 1) {
    const drawn = process.pid + tried * 257;
    const network = `127.${1 + ((drawn >> 8) % 250)}.${1 + (drawn % 250)}.`;
    const wanted = [
      ...[1, 2, 3].flatMap((one) => [5432, 8008, 2379, 2380].map((port) => [one, port] as const)),
      [9, 5000] as const,
    ];
    const free = await Promise.all(wanted.map(([host, port]) => isFree(port, `${network}${host}`)));
    if (free.every(Boolean)) return network;
  }
  throw new Error('the ports 5000, 5432, 8008, 2379 and 2380 are taken on all addresses of this machine');
}

function memberOf(place: Place, name: string, host: string): Member {
  const folder = path.join(place.folder, name);
  mkdirSync(folder);
  if (place.account !== undefined) chownSync(folder, place.account.uid, place.account.gid);
  const own = { name, folder, host } as Member;
  writeFileSync(path.join(folder, 'patroni.yml'), patroniConfig(place, own), { mode: 0o644 });
  return own;
}

function startEtcd(place: Place, member: Member): ChildProcess {
  return startProgram(place, `${member.name}/etcd`, place.programs.etcd, [], etcdConfig(place, member));
}

function startPatroni(place: Place, { name, folder }: Member): ChildProcess {
  return startProgram(place, `${name}/patroni`, place.programs.patroni, [path.join(folder, 'patroni.yml')]);
}

/** The program's output goes to a log in the folder, under its name. */
function startProgram(
  { folder, account }: Place,
  name: string,
  program: string,
  args: readonly string[],
  env = {},
): ChildProcess {
  const log = openSync(path.join(folder, `${name}.log`), 'a');
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
    ...account,
  });
  closeSync(log);
  return child;
}

/** Each member's view of the whole; undefined for a member that does not answer. */
function lookAt(members: readonly Member[]): Promise<readonly (readonly Seen[] | undefined)[]> {
  return Promise.all(
    members.map(({ host }) =>
      fetch(`http://${host}:8008/cluster`, { signal: AbortSignal.timeout(STATUS_WITHIN_MS) })
        .then(async (response) => ((await response.json()) as { readonly members: readonly Seen[] }).members)
        .catch(() => undefined),
    ),
  );
}

/**
 * The name of the leader, if all members agree; undefined while something is missing. A member that was stopped reports its old state for a
 * while.
 */
function wholeLeader(views: readonly (readonly Seen[] | undefined)[], modo: Modo): string | undefined {
  const leaders = new Set(views.map((seen) => (seen === undefined ? undefined : leaderIn(seen, modo))));
  return leaders.size === 1 ? [...leaders][0] : undefined;
}

function leaderIn(seen: readonly Seen[], modo: Modo): string | undefined {
  const leader = seen.find(({ role, state }) => role === 'leader' && state === 'running');
  const followers = seen.filter(
    (one) =>
      one !== leader &&
      ['running', 'streaming'].includes(one.state) &&
      one.timeline === leader?.timeline &&
      Number(one.lag) <= LAG_MAX,
  );
  const isCovered = modo === 'assincrono' || followers.some(({ role }) => role === 'sync_standby');
  return followers.length === MEMBERS.length - 1 && isCovered ? leader?.name : undefined;
}

async function createDatabase(where: ClientConfig): Promise<void> {
  const client = await until(async () => {
    const one = new Client({ ...where, user: 'postgres', password: 'SENHA-DO-ADMINISTRADOR', database: 'postgres' });
    one.on('error', () => undefined);
    return one.connect().then(
      () => one,
      () => undefined,
    );
  }, 'HAProxy leads to the primary');
  const { user, password, database } = SERVICO;
  await client.query(`create role ${user} login password '${password}'`);
  await client.query(`create database ${database} owner ${user}`);
  await client.end();
}

async function switchOver({ programs, folder }: Place, leader: Member): Promise<void> {
  const args = ['-c', path.join(leader.folder, 'patroni.yml'), 'switchover', '--leader', leader.name, '--force'];
  const child = spawn(programs.patronictl, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`patronictl switchover ended with ${code}`);
}

function isSender(pid: number): boolean {
  return /: walsender /.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
}

function lastWordsIn(folder: string): string {
  return globSync(path.join(folder, '**/*.log'))
    .map((file) => `${file}:\n${readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n')}\n`)
    .join('\n');
}

/**
 * Starts a server on an unpacked copy, recovers it, and hands it to the caller that judges it. No other client reaches the server. The
 * archived log is opened segment by segment as the server asks for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  access,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from '../../../packages/postgres-embutido/src/lock.ts';
import { Client, type ClientConfig } from '../../base/pg/pg.ts';
import { ignoreError, ignoreLoss, ignoring } from '../../base/traces/ignoring.ts';
import { SYSTEM_SETTINGS } from './ajustes.files.ts';
import { type Account, giveTo, type Programa, type Progresso } from './arquivos.files.ts';
import { findMudados } from './catalogo.rows.ts';
import { CopiaRecusada, collectUpTo, unseal } from './cifra.files.ts';
import { findCodigo, readOutros } from './codigo.rows.ts';
import type { Caminho } from './wal.files.ts';

/** The order for a recovery. `archives`: the log that the server writes from now on belongs to the archive. */
export type Recuperar = {
  readonly cluster: string;
  readonly caminho: Caminho;
  readonly identities: readonly string[];
  readonly momento: Date | undefined;
  readonly archives: boolean;
  readonly usuario: string;
  readonly banco: string;
  /** Major version of PostgreSQL. */
  readonly major: number;
  /** Receives the findings of other databases on a server that is not ours alone; undefined: they lead to a refusal. */
  readonly tellOutros: ((found: readonly string[]) => void) | undefined;
};

export type Recuperado = {
  readonly connection: ClientConfig;
  /** Moment of the last transaction that was replayed, as PostgreSQL prints it. */
  readonly ultima: string | undefined;
  /** Stops the server in order; its data is then on the disk. */
  stop(): Promise<void>;
};

/** Time for which a restore command waits for this process to provide the file. */
const ASKED_MAX_S = 600;
const POLL_MS = 25;
/** Largest segment that PostgreSQL supports. */
const SEGMENT_MAX = 2 ** 30;
const SOCKET_PREFIX = 'nfse-volta-';
const STOP_MAX_MS = 120_000;

/**
 * Environment variable with the script's folder. A name within a command would be interpreted by a shell, and by PostgreSQL (`%f`), and may
 * contain anything.
 */
const FOLDER = 'NFSE_VOLTA';
/** Requests a segment by a file, and takes the answer. An exit code above 125 ends the recovery; 1 means that there is no such segment. */
const FETCH = `asked="$${FOLDER}/$1"
: > "$asked.quer"
tries=0
until [ -e "$asked.pronto" ] || [ -e "$asked.falta" ] || [ -e "$asked.erro" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt ${ASKED_MAX_S * 40} ]; then exit 255; fi
  sleep 0.025
done
rm -f "$asked.quer"
if [ -e "$asked.erro" ]; then exit 255; fi
if [ -e "$asked.falta" ]; then rm -f "$asked.falta"; exit 1; fi
mv "$asked.pronto" "$2"
`;

/** Recovers a cluster, judges its code, and only then returns a server that accepts sessions. Throws {@link CopiaRecusada}. */
export async function recoverCluster(programa: Programa, asked: Recuperar, show: Progresso): Promise<Recuperado> {
  if (process.platform === 'win32')
    throw new CopiaRecusada('copiar se pode no Windows; conferir e restaurar, só em Linux e macOS.');
  const { cluster, caminho, momento } = asked;
  const { folder, socket, args, giveBack } = await layRecovery(programa, asked);
  const recovery = argsOf({
    restore_command: `sh "$${FOLDER}/trazer.sh" "%f" "%p"`,
    recovery_target_timeline: String(caminho.linha),
    recovery_target_time: momento?.toISOString().replace('Z', '+00') ?? '',
    recovery_target_action: 'promote',
  });
  const feeder = new Feeder(folder, asked, programa.account, show);
  const start = (...more: readonly string[]): Run =>
    new Run(
      spawn(
        programa.program,
        ['-D', cluster, ...args, ...argsOf({ unix_socket_directories: `"${socket}"` }), ...more],
        {
          ...programa.spawnOptions,
          env: { ...programa.spawnOptions.env, [FOLDER]: folder },
          stdio: ['ignore', 'ignore', 'pipe'],
        },
      ),
      feeder,
    );
  const clear = async (): Promise<void> => {
    await feeder.end();
    for (const one of [folder, socket]) await rm(one, { recursive: true, force: true });
  };
  const connection = { host: socket, port: 5432, user: asked.usuario, database: asked.banco, options: OWN_OPTIONS };
  let run = start(...recovery);
  try {
    // The server's output is watched instead of a connection: a session would run code of the copy.
    await run.untilReady();
    if (momento === undefined) feeder.needLast();
    const ultima = run.lastMoment();
    await run.stop();
    await refuseElsewhere(cluster);
    await judgeCodigo(programa, asked, args, show);
    run = start();
    await run.untilWritable(connection);
    return {
      connection,
      ultima,
      stop: async () => {
        await run.stop();
        await giveBack();
        await clear();
      },
    };
  } catch (error) {
    await run.stop();
    await clear();
    throw error;
  }
}

/** Writes the files of the recovery, and returns the settings that override the copy's. */
async function layRecovery({ account }: Programa, { cluster, archives, major }: Recuperar) {
  const folder = `${cluster}.trazer`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  await giveTo(folder, account);
  // The path of a socket must be short.
  const short = existsSync('/tmp') ? '/tmp' : tmpdir();
  await sweepLeftovers(short, SOCKET_PREFIX);
  const socket = await mkdtemp(path.join(short, `${SOCKET_PREFIX}${process.pid}-`));
  await chmod(socket, 0o700);
  await giveTo(socket, account);
  const lay = async (name: string, content: string): Promise<string> => {
    const file = path.join(folder, name);
    await writeFile(file, content);
    await giveTo(file, account);
    return file;
  };
  await writeFile(path.join(cluster, 'recovery.signal'), '');
  await giveTo(path.join(cluster, 'recovery.signal'), account);
  const giveBack = await setAside(cluster, folder);
  await lay('trazer.sh', FETCH);
  const args = argsOf({
    ...PRIVATE,
    ...(major >= EVENT_TRIGGERS_SINCE && { event_triggers: 'off' }),
    config_file: await lay('conf', ''),
    hba_file: await lay('hba', 'local all all trust\n'),
    ident_file: await lay('ident', ''),
    archive_mode: archives ? 'on' : 'off',
  });
  return { folder, socket, args, giveBack };
}

/** Versions from this one on can run an event trigger at login, and have a setting that prevents it. */
const EVENT_TRIGGERS_SINCE = 17;

const argsOf = (settings: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** The files alone are judged first: a session would trust them. */
async function judgeCodigo(
  programa: Programa,
  { cluster, banco, tellOutros }: Recuperar,
  args: readonly string[],
  show: Progresso,
): Promise<void> {
  const refuse = (recusas: readonly string[]): void => {
    if (recusas.length > 0) throw new CopiaRecusada(whyRefused(recusas));
  };
  show(0, 'comparando os catálogos da cópia com os do PostgreSQL');
  const { achados, chamadas } = await findMudados(programa, cluster);
  refuse(achados);
  show(0.5, 'conferindo o que da cópia rodaria');
  refuse(await findCodigo(programa, { cluster, banco, args }, chamadas));
  for (const outro of await readOutros(programa, { cluster, banco, args })) {
    const found = await findCodigo(programa, { cluster, banco: outro, args }, chamadas);
    const named = found.map((one) => `no banco ${outro}: ${one}`);
    if (tellOutros === undefined) refuse(named);
    else if (named.length > 0) tellOutros(named);
  }
}

const REFUSED_TOLD_MAX = 50;

function whyRefused(recusas: readonly string[]): string {
  const told = recusas.slice(0, REFUSED_TOLD_MAX).join('; ');
  const more = recusas.length > REFUSED_TOLD_MAX ? `; e outros ${recusas.length - REFUSED_TOLD_MAX}` : '';
  return `a cópia traz o que rodaria com os direitos do banco, e o programa não fez: ${told}${more}. Nada disso rodou, e nada foi restaurado. Se não sabe de onde veio, trate o banco como invadido, e use uma cópia de antes; se é de um administrador seu, tire-o do banco e faça outra cópia (nfse copia fazer).`;
}

/** The replayed log may have created a tablespace. */
async function refuseElsewhere(cluster: string): Promise<void> {
  const names = await readdir(path.join(cluster, 'pg_tblspc'));
  if (names.length > 0)
    throw new CopiaRecusada(
      `o WAL que segue a cópia criou um tablespace (${names.join(', ')}), que leva a dados de fora dela: esta cópia não os tem.`,
    );
}

/** Options that override settings of roles and databases. */
const OWN_OPTIONS = '-c statement_timeout=0 -c lock_timeout=0 -c default_transaction_read_only=off';

/**
 * Removes the settings of the copied server from the cluster during the recovery, and returns the function that restores them. A promoted
 * replica still has the command that empties its archive, and another recovery target than ours.
 */
async function setAside(cluster: string, folder: string): Promise<() => Promise<void>> {
  const [there, aside] = [cluster, folder].map((one) => path.join(one, SYSTEM_SETTINGS)) as [string, string];
  const isHeld = await rename(there, aside).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return false;
    },
  );
  return async () => {
    if (isHeld) await rename(aside, there);
  };
}

/** Settings that override those of the copied cluster: no other client reaches it, and it sends nothing out (D-659). */
const PRIVATE: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: '5432',
  ssl: 'off',
  shared_preload_libraries: '',
  session_preload_libraries: '',
  local_preload_libraries: '',
  // A worker of the server would evaluate expressions of the copy, or connect to an address that the copy names.
  autovacuum: 'off',
  autovacuum_freeze_max_age: '2000000000',
  autovacuum_multixact_freeze_max_age: '2000000000',
  max_logical_replication_workers: '0',
  jit: 'off',
  archive_library: '',
  archive_command: '',
  primary_conninfo: '',
  synchronous_standby_names: '',
  hot_standby: 'off',
  log_destination: 'stderr',
  logging_collector: 'off',
  lc_messages: 'C',
  log_timezone: 'UTC',
  log_line_prefix: '',
  log_min_messages: 'log',
  log_statement: 'none',
  max_connections: '40',
  shared_buffers: '128MB',
  huge_pages: 'off',
  max_wal_senders: '0',
  max_worker_processes: '8',
  fsync: 'on',
};

/** Provides the segments that the server asks for, and the one after each. */
class Feeder {
  /** The reason why the log cannot be continued. */
  problem: Error | undefined;
  private readonly folder: string;
  private readonly asked: Recuperar;
  private readonly account: Account;
  private readonly show: Progresso;
  private readonly handed = new Set<string>();
  private isOver = false;
  private readonly work: Promise<void>;

  constructor(folder: string, asked: Recuperar, account: Account, show: Progresso) {
    this.folder = folder;
    this.asked = asked;
    this.account = account;
    this.show = show;
    this.work = this.serve();
  }

  /** A recovery without a moment must reach the end of the log, or the rest would be lost without notice. */
  needLast(): void {
    const last = this.asked.caminho.segmentos.at(-1);
    if (last === undefined || this.handed.has(last)) return;
    throw new CopiaRecusada(`o PostgreSQL não aplicou o WAL até o fim, o segmento ${last}: a cópia não está inteira.`);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.work;
  }

  private async serve(): Promise<void> {
    while (!this.isOver) {
      const names = await readdir(this.folder).catch(() => []);
      for (const name of names.filter((one) => one.endsWith('.quer')))
        await this.answer(name.slice(0, -'.quer'.length));
      await pause(POLL_MS);
    }
  }

  private async answer(name: string): Promise<void> {
    const place = path.join(this.folder, name);
    if (['pronto', 'falta', 'erro'].some((ending) => existsSync(`${place}.${ending}`))) return;
    const { segmentos, arquivos, julgados } = this.asked.caminho;
    // Only segments of the way are provided: a segment after a gap would belong to another history.
    const file = /^[0-9A-F]{24}$/.test(name) && !segmentos.includes(name) ? undefined : arquivos.get(name);
    try {
      if (file === undefined) await this.lay(`${place}.falta`);
      else await this.open(file, `${place}.pronto`, julgados.get(name)?.sha256);
      if (file !== undefined) this.handed.add(name);
      const at = segmentos.indexOf(name);
      if (at >= 0) this.show((at + 1) / segmentos.length, `aplicando o WAL, segmento ${at + 1} de ${segmentos.length}`);
    } catch (error) {
      this.problem = error as Error;
      await this.lay(`${place}.erro`).catch(ignoring('the problem before is the one to tell'));
    }
  }

  private lay(target: string): Promise<void> {
    return this.put(target, '');
  }

  private async open(file: string, target: string, sha256: string | undefined): Promise<void> {
    return this.put(target, await unseal(file, this.asked.identities, collectUpTo(SEGMENT_MAX), sha256));
  }

  /** A file gets its name once it is complete and owned by the server: the waiting script takes it away at once. */
  private async put(target: string, content: Buffer | string): Promise<void> {
    const partial = `${target}.parcial`;
    await writeFile(partial, content, { mode: 0o600 });
    await giveTo(partial, this.account);
    await rename(partial, target);
  }
}

const SAID_MAX = 200;
const READY = 'LOG:  database system is ready to accept connections';

/** The server's process and its output. */
class Run {
  private readonly child: ChildProcess;
  private readonly feeder: Feeder;
  private readonly said: string[] = [];
  private readonly ended: Promise<void>;
  private isEnded = false;

  constructor(child: ChildProcess, feeder: Feeder) {
    this.child = child;
    this.feeder = feeder;
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.isEnded = true;
        resolve();
      };
      child.once('exit', end);
      child.once('error', (error) => {
        this.said.push(error.message);
        end();
      });
    });
    let rest = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      // Connections that come too early produce these lines many times a second.
      this.said.push(
        ...lines.filter((line) => !/FATAL: {2}the database system is|^DETAIL: {2}(Hot standby|Consistent)/.test(line)),
      );
      this.said.splice(0, this.said.length - SAID_MAX);
    });
  }

  /** Waits until the server accepts sessions, without a session. */
  async untilReady(): Promise<void> {
    while (!this.said.includes(READY)) {
      if (this.isEnded) throw this.whyEnded();
      await pause(POLL_MS);
    }
  }

  async untilWritable(connection: ClientConfig): Promise<void> {
    for (;;) {
      if (this.isEnded) throw this.whyEnded();
      const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
      client.on('error', ignoreLoss);
      try {
        await client.connect();
        const { rows } = await client.query<{ done: boolean }>('select not pg_is_in_recovery() as done');
        if (rows[0]!.done) return;
      } catch {
        ignoreError('the server is not ready yet, and makes progress as long as the process lives');
      } finally {
        await client.end().catch(ignoreLoss);
      }
      await pause(4 * POLL_MS);
    }
  }

  lastMoment(): string | undefined {
    const all = this.said.join('\n');
    const [, stopped] = /recovery stopping (?:before|after) (?:commit|abort) .*, time (.+)/.exec(all) ?? [];
    const [, last] = /last completed transaction was at log time (.+)/.exec(all) ?? [];
    return last ?? stopped;
  }

  async stop(): Promise<void> {
    if (!this.isEnded) this.child.kill('SIGINT');
    const timer = setTimeout(() => this.child.kill('SIGQUIT'), STOP_MAX_MS);
    await this.ended;
    clearTimeout(timer);
  }

  private whyEnded(): Error {
    const all = this.said.join('\n');
    if (this.feeder.problem !== undefined) return this.feeder.problem;
    if (/recovery ended before configured recovery target was reached/.test(all)) {
      const last = this.lastMoment();
      return new CopiaRecusada(
        `o WAL arquivado acaba antes do momento pedido${last === undefined ? '' : `; a última transação que ele tem é de ${last}`}. Sem --ate volta-se até ela.`,
      );
    }
    if (/requested recovery stop point is before consistent recovery point/.test(all)) {
      return new CopiaRecusada(
        'o momento pedido é de antes do fim desta cópia: use uma mais antiga, ou um momento posterior.',
      );
    }
    if (/WAL ends before end of online backup/.test(all)) {
      return new CopiaRecusada('a cópia não tem o WAL até o seu fim, e o arquivado também não: ela não serve.');
    }
    return new CopiaRecusada(
      `o PostgreSQL não recuperou a cópia. O que ele disse:\n${this.said.slice(-15).join('\n')}`,
    );
  }
}

/** The server's account must be able to enter every folder of the path. */
export async function needEntry(folder: string, { spawnOptions, account }: Programa): Promise<void> {
  if (account === undefined) return;
  const child = spawn('/bin/sh', ['-c', 'cd "$0"', folder], { ...spawnOptions, stdio: 'ignore' });
  const code = await new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  if (code === 0) return;
  throw new CopiaRecusada(
    `o usuário ${account.name}, que roda o PostgreSQL no lugar do root, não entra em ${folder}: dê-lhe passagem (chmod o+x) em todas as pastas desse caminho.`,
  );
}

/**
 * Deletes the remains of a killed command in a folder, with its server, unless the command is still running. A folder that everybody may
 * write to is cleaned of our own files only: a name of another user could lead to any server.
 */
export async function sweepLeftovers(parent: string, prefix: string): Promise<void> {
  const isOpen = ((await lstat(parent).catch(() => undefined))?.mode ?? 0) & 0o002;
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const found = await lstat(path.join(parent, name)).catch(() => undefined);
    if (found?.isDirectory() !== true || (isOpen && found.uid !== process.getuid?.())) continue;
    const owner = Number(name.slice(prefix.length).split('-')[0]);
    if (isAlive(owner)) continue;
    const cluster = path.join(parent, name, 'pg');
    const [pid] = (await readFile(path.join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (Number(pid) > 0 && (await worksIn(Number(pid), cluster))) {
      process.kill(Number(pid), 'SIGQUIT');
      while (await worksIn(Number(pid), cluster)) await pause(POLL_MS);
    }
    await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return true;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === (await realpath(folder).catch(() => folder));
}

/** Whether a program can be run here. */
export function isThere(program: string): Promise<boolean> {
  return access(program).then(
    () => true,
    () => false,
  );
}

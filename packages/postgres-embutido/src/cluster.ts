/**
 * The cluster on disk: its creation, its settings and its log. A rename puts a whole, synced cluster under its final
 * name, or none. Nothing here starts a server, or ever deletes a cluster.
 */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries.ts';
import {
  absent,
  canEnter,
  codeOf,
  giveAllTo,
  giveTo,
  type Logger,
  logFolderOf,
  namedFileOf,
  type Place,
  run,
  sweepLeftovers,
  Unusable,
} from './place.ts';

/** The connection to the server: a Unix socket in a private folder or, on Windows, the loopback with a password. */
export type Transport = 'socket' | 'tcp';

const LOG_MAX_BYTES = 10 * 1024 * 1024;
const TAIL_MAX_BYTES = 3_000;

type Setting = readonly [name: string, value: string, why: string];

/**
 * Settings for two cores, a few GB of memory and many small transactions. Values were measured on such a machine where
 * the text says so.
 */
const SETTINGS: readonly Setting[] = [
  ['max_connections', '60', 'serviço, CLI e folga; cada conexão é um processo'],
  ['shared_buffers', '256MB', 'cabe num notebook e segura os índices em uso'],
  ['effective_cache_size', '1GB', 'estimativa modesta do cache do sistema, para o planejador'],
  ['huge_pages', 'off', 'em contêineres, tentar usá-las pode derrubar o servidor'],
  ['random_page_cost', '1.1', 'discos SSD: leitura aleatória custa quase o mesmo que a sequencial'],
  [
    'max_parallel_workers_per_gather',
    '0',
    'consultas curtas em dois núcleos; e dispensa /dev/shm, pequeno em contêineres',
  ],
  ['jit', 'off', 'consultas curtas: compilar custa mais que executar'],
  ['io_method', 'sync', 'três processos a menos; medido, sem diferença em gravações pequenas'],
  ['fsync', 'on', 'uma transação confirmada sobrevive à queda de energia'],
  ['full_page_writes', 'on', 'idem, com a página gravada pela metade'],
  ['synchronous_commit', 'on', 'idem; gravações simultâneas compartilham o mesmo fsync'],
  ['wal_compression', 'off', 'só há pglz: medido, 5% menos WAL e até 10% menos inserções por segundo'],
  ['wal_buffers', '16MB', 'um segmento inteiro, para que rajadas não esperem espaço'],
  ['min_wal_size', '256MB', 'recicla segmentos em vez de criá-los a cada rajada'],
  ['max_wal_size', '2GB', 'espaça os checkpoints em rajadas; ainda se recupera em menos de um minuto'],
  ['checkpoint_timeout', '10min', 'menos páginas inteiras no WAL sem alongar a recuperação'],
  ['checkpoint_completion_target', '0.9', 'espalha a gravação do checkpoint para não atrasar as transações'],
  ['autovacuum', 'on', 'as filas são tabelas muito atualizadas'],
  ['timezone', 'UTC', 'instantes não dependem da máquina'],
  ['log_timezone', 'UTC', 'idem'],
  ['logging_collector', 'off', 'o serviço já guarda a saída de erro em postgres.log e limita seu tamanho'],
  ['log_line_prefix', '%m [%p] ', 'instante e processo'],
  ['log_min_messages', 'log', 'erros de SQL vão a quem os causou; aqui, só a vida do servidor'],
  ['log_min_error_statement', 'panic', 'comandos podem conter dados pessoais'],
  ['log_error_verbosity', 'terse', 'detalhes de erros também'],
];

const TRANSPORT_SETTINGS: Readonly<Record<Transport, readonly Setting[]>> = {
  socket: [
    ['listen_addresses', '', 'nenhuma porta de rede: só o socket, numa pasta de modo 0700'],
    ['unix_socket_permissions', '0700', 'só a conta do servidor e o root'],
  ],
  tcp: [
    ['listen_addresses', '127.0.0.1', 'só a própria máquina, com senha'],
    ['unix_socket_directories', '', 'o acesso é pela porta'],
  ],
};

/** A partial segment is completed after this time: the largest loss when the disk fails. */
const SEGMENT_MAX_S = 30;

/** `basic_archive` writes a file whole and synced, or not at all, in a process of the server itself. */
function archivingOf(folder: string): readonly Setting[] {
  return [
    ['archive_mode', 'on', 'cada segmento do WAL, quando completo, é deixado para a cópia contínua'],
    ['archive_library', 'basic_archive', 'inteiro e gravado no disco, ou nada'],
    ['basic_archive.archive_directory', folder.replaceAll("'", "''"), 'de onde o serviço o leva'],
    ['archive_timeout', `${SEGMENT_MAX_S}s`, 'também o que não encheu'],
  ];
}

/**
 * Leaves a cluster at the place that its account can serve. A missing one is created when a transport is given. A
 * process that has had its cluster gives no transport: an unmounted disk must not turn into an empty database.
 */
export async function ensureCluster(
  place: Place,
  binaries: Binaries,
  creating: Transport | undefined,
  log: Logger,
): Promise<void> {
  const version = await versionOf(place.location);
  if (version === undefined) {
    if (creating === undefined) {
      throw new Error(
        `O banco que estava em ${place.location} sumiu. Restaure-o (ou monte o disco) e reinicie o serviço.`,
      );
    }
    await refuseOtherContents(place.location);
    const began = performance.now();
    await createCluster(place, binaries, creating);
    const ms = Math.round(performance.now() - began);
    log.info({ location: place.location, ms }, 'banco de dados criado');
  } else if (version !== binaries.major) {
    throw new Unusable(
      `O banco em ${place.location} é do PostgreSQL ${version} e esta versão do serviço traz o ${binaries.major}. ` +
        `Migre-o com pg_upgrade ou volte à versão anterior do serviço.`,
    );
  }
  await linkEntry(place, version !== undefined, log);
  await handOver(place, log);
  if (!(await canEnter(place.location, place.runAs))) {
    throw new Unusable(
      `O usuário ${place.runAs?.name ?? 'atual'}, dono do banco, não consegue entrar em ${place.location}. ` +
        `Dê a ele passagem (chmod o+x) em todas as pastas desse caminho.`,
    );
  }
  await writeSettings(place, log);
}

/** Only a cluster for TCP has a password. */
export async function passwordOf(place: Place): Promise<string | undefined> {
  return readFile(namedFileOf(place, 'password'), 'utf8').catch(absent);
}

/** The number that initdb drew for this cluster; the first eight bytes of its control file. */
export async function systemIdOf(location: string): Promise<string> {
  const control = await readFile(join(location, 'global', 'pg_control'));
  return control.readBigUInt64LE(0).toString();
}

export function logPathOf(place: Place): string {
  return join(place.dataDir, 'postgres.log');
}

/** Opens the log to append; the server inherits it. No link is followed: root may be writing in another account's folder. */
export async function openLog(place: Place): Promise<FileHandle> {
  const path = logPathOf(place);
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
    const file = await open(path, flags, 0o640);
    if (place.runAs) await file.chown(place.runAs.uid, place.runAs.gid);
    return file;
  } catch (cause) {
    throw new Unusable(
      `Não foi possível abrir o log do PostgreSQL em ${path} (${codeOf(cause)}). Confira as permissões.`,
      { cause },
    );
  }
}

/**
 * Keeps the log below its limit, and one older log beside it. The server appends, so truncating the file is safe
 * meanwhile. Several processes may do this at once: the older log is whole before the log is truncated.
 */
export async function boundLog(place: Place): Promise<void> {
  const path = logPathOf(place);
  if (((await stat(path).catch(absent))?.size ?? 0) <= LOG_MAX_BYTES) return;
  const file = await openLog(place);
  try {
    const end = await readEnd(file, 0, LOG_MAX_BYTES);
    // Another process has truncated the log since it was measured.
    if (end.length < LOG_MAX_BYTES) return;
    await replaceFile(`${path}.1`, end, 0o640, place);
    await file.truncate();
  } finally {
    await file.close();
  }
}

/** The end of the text that was logged since a position. */
export async function logSince(place: Place, position: number, maxBytes = TAIL_MAX_BYTES): Promise<string> {
  const file = await openLog(place);
  try {
    return (await readEnd(file, position, maxBytes)).toString().trim();
  } finally {
    await file.close();
  }
}

async function readEnd(file: FileHandle, from: number, maxBytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  const start = Math.max(from, size - maxBytes);
  const end = Buffer.alloc(Math.max(0, size - start));
  let filled = 0;
  while (filled < end.length) {
    const { bytesRead } = await file.read(end, filled, end.length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return end.subarray(0, filled);
}

/**
 * Replaces a file by a whole new one. Root writes into a folder of another account: no link can be prepared under a
 * random name.
 */
async function replaceFile(path: string, content: string | Buffer, mode: number, { runAs }: Place): Promise<void> {
  const unfinished = `${path}.new-`;
  await sweepLeftovers(dirname(path), basename(unfinished));
  const fresh = `${unfinished}${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(fresh, 'wx', mode);
    try {
      await file.writeFile(content);
      if (runAs) await file.chown(runAs.uid, runAs.gid);
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    // The failure before is thrown, and a later start sweeps the leftover.
    await rm(fresh, { force: true }).catch(() => {});
    throw error;
  }
}

async function versionOf(location: string): Promise<string | undefined> {
  return (await readFile(join(location, 'PG_VERSION'), 'utf8').catch(absent))?.trim();
}

async function refuseOtherContents(location: string): Promise<void> {
  const contents = await readdir(location).catch(absent);
  if (contents === undefined || contents.length === 0) return;
  throw new Error(
    `${location} não está vazio e não é um banco do PostgreSQL (falta PG_VERSION). ` +
      `Restaure o banco que havia ali, ou mova essa pasta para que um novo seja criado.`,
  );
}

/** Another program may be preparing a cluster for this place: a new one would be mistaken for it. */
async function refuseUnfinished({ location, staging }: Place): Promise<void> {
  if (staging === undefined) return;
  const parent = dirname(location);
  const unfinished = (await readdir(parent).catch(absent))?.find((name) => name.startsWith(staging));
  if (unfinished === undefined) return;
  throw new Error(
    `Não há banco em ${location}, e em ${join(parent, unfinished)} está um que se restaurava para ali: nenhum novo é criado. ` +
      'Espere que a restauração termine. Se ela foi interrompida, dê o comando outra vez; se não a quer, apague essa pasta.',
  );
}

async function createCluster(place: Place, binaries: Binaries, transport: Transport): Promise<void> {
  await refuseUnfinished(place);
  let work: string | undefined;
  try {
    await sweepLeftovers(place.home, 'pg.new-');
    work = await mkdtemp(join(place.home, 'pg.new-'));
    await giveTo(work, place.runAs);
    const cluster = join(work, 'cluster');
    await initialise(cluster, place, binaries, transport);
    // An empty folder may have been prepared for the cluster; rmdir removes no other.
    await rmdir(place.location).catch(() => {});
    await rename(cluster, place.location);
    await syncFolder(dirname(place.location));
  } catch (cause) {
    // Another process was faster, and its cluster serves as well.
    if ((await versionOf(place.location)) !== undefined) return;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const advice = /could not look up effective user ID/.test(reason)
      ? 'O PostgreSQL exige que a conta que o executa tenha uma linha em /etc/passwd: crie-a (useradd) ou use outra conta.'
      : `Confira o espaço em disco e as permissões de ${place.home}, ou escolha outro diretório de dados.`;
    throw new Unusable(`Não foi possível criar o banco de dados em ${place.location}: ${reason}\n${advice}`, { cause });
  } finally {
    if (work !== undefined) await rm(work, { recursive: true, force: true });
  }
}

/** Nothing is synced until all is written; then everything is synced once. */
async function initialise(cluster: string, place: Place, binaries: Binaries, transport: Transport) {
  const { name, runAs } = place;
  const access = ['--auth-local=trust', '--auth-host=reject'];
  const password = join(dirname(cluster), 'password');
  if (transport === 'tcp') {
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
    await giveTo(password, runAs);
    access.splice(0, 2, '--auth=scram-sha-256', `--pwfile=${password}`);
  }
  // The sort order is that of code points, with Unicode case mapping, the same on every machine; no ICU.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const identity = ['-D', cluster, `--username=${name}`, ...locale, ...access];
  await mustRun(binaries.initdb, [...identity, '--no-sync', '--no-instructions'], runAs);

  // A single-user server renames the database before the cluster is put in its place. The administrative database of
  // initdb is as empty as a new one, and a rename saves copying three hundred files.
  const output = await mustRun(
    binaries.postgres,
    ['--single', '-F', '-D', cluster, 'template1'],
    runAs,
    `ALTER DATABASE postgres RENAME TO ${name};\n`,
  );
  if (/\b(ERROR|FATAL|PANIC): /.test(output)) throw new Error(output);
  if (transport === 'tcp') await rename(password, join(cluster, basename(namedFileOf(place, 'password'))));
  await mustRun(binaries.initdb, ['--sync-only', '-D', cluster], runAs);
}

async function mustRun(...asked: Parameters<typeof run>): Promise<string> {
  const { ok, output } = await run(...asked);
  if (!ok) throw new Error(output);
  return output;
}

/** A rename survives a power cut only after the folder itself is synced; Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function linkEntry(place: Place, old: boolean, log: Logger): Promise<void> {
  if (place.entry === place.location) return;
  try {
    await symlink(place.location, place.entry);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  if (!old) return;
  // The data folder was emptied, but its cluster lay elsewhere: finding old data again is better than hiding it.
  log.warn(
    { location: place.location },
    `já havia um banco deste diretório de dados em ${place.location} e ele continua em uso; para começar vazio, apague-o`,
  );
}

/** A backup restored by root belongs to root; the server's account must own all of it. */
async function handOver(place: Place, log: Logger): Promise<void> {
  const { runAs, location } = place;
  if (!runAs || (await stat(location)).uid !== 0) return;
  log.info({ location, usuario: runAs.name }, `banco pertencia ao root; passa a pertencer a ${runAs.name}`);
  await giveAllTo(location, runAs);
}

async function openLogFolder({ location, runAs }: Place): Promise<string> {
  const folder = logFolderOf(location);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await giveTo(folder, runAs);
  return folder;
}

/** The settings are written at each start, so that a new version of the service updates old clusters. */
async function writeSettings(place: Place, log: Logger): Promise<void> {
  const transport: Transport = (await passwordOf(place)) === undefined ? 'socket' : 'tcp';
  const identity: Setting = ['cluster_name', place.name, 'identifica os processos em ps'];
  const path = namedFileOf(place, 'conf');
  const before = await readFile(path, 'utf8').catch(absent);
  const archived = before?.includes("archive_library = 'basic_archive'") === true;
  const archives = place.archives ?? archived;
  if (archived && !archives) {
    log.warn(
      { location: place.location },
      'o WAL deste banco era arquivado, e deixa de ser: a cópia contínua para aqui',
    );
  }
  const archiving = archives ? archivingOf(await openLogFolder(place)) : [];
  const lines = [...TRANSPORT_SETTINGS[transport], identity, ...SETTINGS, ...archiving].map(
    ([name, value, why]) => `${`${name} = '${value}'`.padEnd(44)} # ${why}`,
  );
  const text = [
    '# Escrito pelo serviço a cada partida do servidor: não edite.',
    '# Para mudar um valor use ALTER SYSTEM, que prevalece sobre este arquivo.',
    "include_if_exists 'postgresql.conf'",
    ...lines,
    '',
  ].join('\n');
  if (before === text) return;
  await replaceFile(path, text, 0o600, place);
}

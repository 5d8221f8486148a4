/** Opens the database for a command or the service, and closes it again. */
import path from 'node:path';
import type { Announce } from '../base/book/claim-notas.ts';
import { gravacaoStore } from '../base/book/gravacao.ts';
import type { OnStored } from '../base/book/recent.ts';
import { durabilityWarnings } from '../base/pg/durability.ts';
import { openEmbedded } from '../base/pg/embedded.ts';
import { newerMigrations, UnreleasedSchemaError } from '../base/pg/migrate.ts';
import type { Db } from '../base/pg/open.ts';
import type { Connection } from '../base/pg/servers.ts';
import { unavailabilityOf } from '../base/pg/unavailable.ts';
import type { DatabaseUrl } from '../base/terminal/database-url.ts';
import { ignoring } from '../base/traces/ignoring.ts';
import { takeChave } from './auditoria-chave.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import { openLoggedPool } from './logged-pool.ts';
import { migrate } from './migrate.ts';
import { createStore, type Store } from './store.ts';

export type OpenStore = {
  readonly store: Store;
  /** The connection by which another thread reaches the same database. */
  readonly connection: Connection;
  /** The location of the data, for the operator; without password. */
  readonly location: string;
  /** The folder of the complete log files of an embedded server. */
  readonly logFolder: string | undefined;
  /** Migrations applied just now. */
  readonly applied: readonly string[];
  /** The settings of the server that risk data in a crash, in Portuguese; queried from the server. */
  durabilityWarnings(): Promise<readonly string[]>;
  /** The same error, or the remedy if our own command has closed the database to writes. */
  explain(error: unknown): Promise<unknown>;
  close(): Promise<void>;
};

/** The interval in which a running process checks whether a newer program has migrated the schema. */
const NEWER_EVERY_MS = 60_000;

export type OpenStoreOptions = {
  readonly onStored?: OnStored;
  readonly announce?: Announce;
  /** Allows long statements, for a command for which only the operator waits. */
  readonly isPatient?: true;
  /** The maximum number of connections, if it differs from that for requests. */
  readonly connections?: number;
  /** Receives the progress of a long update of the schema; otherwise it is logged. */
  readonly tell?: (text: string) => void;
  /** Aborts such an update; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
};

/** The embedded server or the one of DATABASE_URL, its schema brought up to date. */
export async function openStore(config: Config, log: Logger, options: OpenStoreOptions = {}): Promise<OpenStore> {
  const { onStored, announce, isPatient, signal, tell = (text) => log.info(`atualização do banco: ${text}`) } = options;
  const reached = await reachDatabase(config, log, options.connections, isPatient);
  const { server, connection, pool } = reached;
  const watch = watchForNewer(pool, log);
  const close = (): Promise<void> => {
    clearInterval(watch);
    return reached.close();
  };
  const explain = async (error: unknown): Promise<unknown> => {
    if (unavailabilityOf(error) !== 'read_only') return error;
    const isClosed = await gravacaoStore(pool)
      .isClosed()
      .catch(() => false);
    return isClosed ? new Error(CLOSED, { cause: error }) : error;
  };
  try {
    const applied = await migrate(pool, tell, signal);
    const store = createStore(pool, onStored, announce);
    await takeChave(config, { store, log, isCommand: isPatient === true });
    return {
      store,
      connection,
      location: server?.location ?? config.databaseUrl!.location,
      logFolder: server?.logFolder,
      applied,
      durabilityWarnings: () => durabilityWarnings(pool),
      explain,
      close,
    };
  } catch (error) {
    const explained = await explain(error);
    await close().catch(ignoring('the failure to open is the one to tell'));
    if (explained !== error) throw explained;
    throw server !== undefined && error instanceof UnreleasedSchemaError ? unreleasedIn(config.dataDir) : error;
  }
}

/** The same without a check of its schema. */
export async function reachDatabase(
  { databaseUrl, dataDir, isPooled, connections, copias }: Config,
  log: Logger,
  max = connections.serving,
  isPatient?: true,
) {
  const archives = archivesOf(copias, isPatient);
  const server =
    databaseUrl === undefined ? await openEmbedded({ dataDir: path.resolve(dataDir), log, archives }) : undefined;
  const connection = server?.connection ?? connectionTo(databaseUrl!, isPooled);
  const pool = openLoggedPool({ ...connection, max }, log, isPatient);
  const close = async (): Promise<void> => {
    await pool.end();
    await server?.stop();
  };
  return { server, connection, pool, close };
}

/** The service decides; a command may run without its settings, and therefore changes nothing. */
function archivesOf(copias: Config['copias'], isCommand: boolean | undefined): boolean | undefined {
  return copias !== undefined || (isCommand === true ? undefined : false);
}

const CLOSED =
  'este banco está fechado a gravações, como nfse banco mudar o deixa. Se a mudança terminou, ponha em DATABASE_URL o banco novo. Se ela morreu no meio, dê o mesmo comando de novo, e ele continua; ou com --desistir, e este banco volta a aceitar gravações.';

function unreleasedIn(dataDir: string): UnreleasedSchemaError {
  const folder = path.resolve(dataDir);
  return new UnreleasedSchemaError(
    `O banco de dados embutido na pasta ${folder}`,
    `Guarde a pasta com outro nome (mv ${folder} ${folder}-antes) e dê o comando outra vez, ou ponha o nome de uma pasta nova em NFSE_DATA_DIR.`,
  );
}

/**
 * Warns once when a newer program has changed the schema. The service continues, because schema changes are compatible with older programs.
 */
function watchForNewer(pool: Db, log: Logger): NodeJS.Timeout {
  let isWarned = false;
  const look = async (): Promise<void> => {
    const migracoes = isWarned ? [] : await newerMigrations(pool);
    if (migracoes.length === 0) return;
    isWarned = true;
    log.warn(
      { migracoes },
      'um programa mais novo atualizou o banco; este processo continua atendendo, mas não parte outra vez: troque-o pela versão nova',
    );
  };
  const unseen = ignoring('the next statement of the service reports it');
  return setInterval(() => void look().catch(unseen), NEWER_EVERY_MS).unref();
}

/** A single server is used as it is named; several are distinguished. */
function connectionTo({ servers, options: ownOptions }: DatabaseUrl, isPooled: boolean): Connection {
  if (isPooled && ownOptions !== undefined) throw new Error(OPTIONS_POOLED);
  const where = servers.length === 1 ? { connectionString: servers[0]!.connectionString } : { servers };
  return { isPooled, ownOptions, ...where };
}

const OPTIONS_POOLED =
  'options= em DATABASE_URL não passa por um PgBouncer. Retire-o, e dê o que ele diz ao usuário: alter role … in database … set ….';

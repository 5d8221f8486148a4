/** The embedded PostgreSQL with the names of this project; `packages/postgres-embutido` runs its server. */
import {
  type EmbeddedOptions,
  type EmbeddedServer,
  findServer,
  type Logger,
  NotReady,
  openEmbedded as open,
  systemIdOf,
  takeTurn,
} from '../../../packages/postgres-embutido/src/embedded.ts';
import { Client } from './pg.ts';
import { EmbutidoMudo } from './unavailable.ts';

export type { EmbeddedServer };

/** Name of the database, of its user and of the files beside its data. */
export const NAME = 'nfse';

/** Prefix of folders beside the data in which a backup is restored before it moves to its place. */
export const STAGING = 'restauracao-';

type Options = Pick<EmbeddedOptions, 'dataDir' | 'log' | 'transport' | 'archives'>;

export async function openEmbedded(options: Options): Promise<EmbeddedServer> {
  const wayOut = 'Para usar um PostgreSQL já instalado, defina DATABASE_URL.';
  const createClient = (config: ConstructorParameters<typeof Client>[0]) => new Client(config);
  try {
    return await open({ ...options, name: NAME, wayOut, staging: STAGING, createClient });
  } catch (error) {
    throw error instanceof NotReady ? new EmbutidoMudo(error.message, error) : error;
  }
}

/** Finds the cluster of a data folder, and its server program, without starting it. */
export const findEmbedded = (dataDir: string, log: Logger) => findServer(NAME, dataDir, log);

/** Exclusive right to make backups in a folder, among the processes of this machine; undefined: another process has it. */
export const takeCopyTurn = (folder: string) => takeTurn({ name: `${NAME}-copia`, location: folder });

/** Exclusive right to add the log files of its server to the backups. */
export const takeLogTurn = (logFolder: string) => takeTurn({ name: `${NAME}-wal`, location: logFolder });

/** The system identifier that initdb drew for a cluster, read from its files. */
export const readSistema = (location: string): Promise<string> => systemIdOf(location);

/** The embedded PostgreSQL as this project names it; its server is the work of `packages/postgres-embutido`. */
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

/** The database, its user and the files beside its data are called so. */
export const NAME = 'nfse';

/** Folders beside the data begin so in which a copy is brought to life, before it comes to its place. */
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

/** Where the cluster of a data folder lies, and the program that serves it, without starting it. */
export const findEmbedded = (dataDir: string, log: Logger) => findServer(NAME, dataDir, log);

/** The turn to make copies into a folder: of the processes of this machine one has it; undefined for the others. */
export const takeCopyTurn = (folder: string) => takeTurn({ name: `${NAME}-copia`, location: folder });

/** The turn to take the log that its server has left to the copies. */
export const takeLogTurn = (logFolder: string) => takeTurn({ name: `${NAME}-wal`, location: logFolder });

/** The number that initdb drew for a cluster, read off its files. */
export const readSistema = (location: string): Promise<string> => systemIdOf(location);

/** The database opened, and closed again: what every command needs that keeps or reads something. */
import path from 'node:path';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import { openEmbedded } from './store/embedded/embedded.ts';
import { migrate } from './store/migrate.ts';
import type { OnStored } from './store/notas.ts';
import { openPool } from './store/open.ts';
import type { PoolConfig } from './store/pg.ts';
import { createStore, type Store } from './store/store.ts';

export type OpenStore = {
  readonly store: Store;
  /** How another thread reaches the same database. */
  readonly connection: PoolConfig;
  /** Where the data lies, for the operator; no password. */
  readonly location: string;
  /** Migrations applied just now. */
  readonly applied: readonly string[];
  close(): Promise<void>;
};

export type OpenStoreOptions = {
  readonly onStored?: OnStored;
  /** Gets how far an update of the schema is, where it takes time; otherwise the log does. */
  readonly tell?: (text: string) => void;
};

/** The embedded server or the one of DATABASE_URL, its schema brought up to date. */
export async function openStore(config: Config, log: Logger, options: OpenStoreOptions = {}): Promise<OpenStore> {
  const { onStored, tell = (text) => log.info(`atualização do banco: ${text}`) } = options;
  const server =
    config.databaseUrl === undefined ? await openEmbedded({ dataDir: path.resolve(config.dataDir), log }) : undefined;
  const connection: PoolConfig = server?.connection ?? { connectionString: config.databaseUrl };
  const pool = openPool(connection, (error) =>
    log.warn({ err: error }, 'uma conexão ociosa com o banco se perdeu; outra é aberta'),
  );
  const close = async (): Promise<void> => {
    await pool.end();
    await server?.stop();
  };
  try {
    const applied = await migrate(pool, tell);
    const store = createStore(pool, onStored);
    return { store, connection, location: server?.location ?? locationOf(config.databaseUrl!), applied, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

function locationOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

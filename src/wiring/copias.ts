/** The dependencies of the copy commands: the folder, the live database, the server's place, and a world on a recovered one. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { findEmbedded, takeCopyTurn } from '../base/pg/embedded.ts';
import { openPool } from '../base/pg/open.ts';
import { Client, type ClientConfig } from '../base/pg/pg.ts';
import { askServer, type Connection } from '../base/pg/servers.ts';
import { CopiaRecusada } from '../subjects/copias/cifra.files.ts';
import { copiaNumeros } from '../subjects/copias/numeros.rows.ts';
import type { CopiasWorld } from '../subjects/copias/world.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import { openStore } from './open-store.ts';
import { openWorld } from './open-world.ts';
import { createStore } from './store.ts';

/** Connections for the queries of one command. */
const CONNECTIONS = 4;

export function openCopias(
  config: Config,
  log: Logger,
  tell: (text: string) => void,
  needData: () => Promise<void>,
): CopiasWorld {
  const { copias, databaseUrl, dataDir, isPooled } = config;
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return {
    now: Date.now,
    pasta: copias?.pasta,
    chave: copias?.chave,
    programa: version,
    isEmbedded: databaseUrl === undefined,
    live: async (work) => {
      if (isPooled) throw new CopiaRecusada(POOLED);
      await needData();
      const opened = await openStore(config, log, { isPatient: true, tell });
      try {
        return await work({ connection: await chooseServer(opened.connection), logFolder: opened.logFolder });
      } finally {
        await opened.close();
      }
    },
    lugar: (folder = path.resolve(dataDir)) => findEmbedded(folder, log),
    takeTurn: takeCopyTurn,
    on: async (connection, work) => {
      const pool = openPool({ ...connection, max: CONNECTIONS }, () => undefined, true);
      const { world, close } = openWorld(createStore(pool), log);
      try {
        return await work(world, copiaNumeros(pool));
      } finally {
        await close();
        await pool.end();
      }
    },
  };
}

const POOLED =
  'por um PgBouncer não se copia o servidor. Dê a este comando o endereço do próprio PostgreSQL em DATABASE_URL, sem NFSE_PGBOUNCER.';

/** The one of several servers that accepts writes. */
export async function chooseServer({
  servers,
  isPooled: _,
  ownOptions: __,
  ...config
}: Connection): Promise<ClientConfig> {
  for (const { connectionString } of servers ?? []) {
    const own = { ...config, connectionString };
    if ((await askServer(new Client(own))) === 'writes') return own;
  }
  return config;
}

/** What the commands of copies are given: the folder, the live database, the server's place, and a world on a recovered one. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CopiasWorld } from '../flows/copia-world.ts';
import { CopiaRecusada } from '../store/copia-cifra.ts';
import { copiaNumeros } from '../store/copia-numeros.ts';
import { findEmbedded, takeCopyTurn } from '../store/embedded.ts';
import { openPool } from '../store/open.ts';
import { Client, type ClientConfig } from '../store/pg.ts';
import { askServer, type Connection } from '../store/servers.ts';
import { createStore } from '../store/store.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import { openStore } from './open-store.ts';
import { openWorld } from './open-world.ts';

/** The questions of one command. */
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

/** Of several servers the one that takes writes. */
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
